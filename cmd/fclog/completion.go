package main

import (
	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/nearest"
)

// addCompletion adds cobra's completion command, with examples and with a hint where a
// shell is mistyped.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	completion.Example = `  fclog completion bash > fclog.bash
  fclog completion zsh > _fclog`
	var shells []string
	for _, sub := range completion.Commands() {
		shells = append(shells, sub.Name())
		sub.Example = "  fclog completion " + sub.Name() + "\n  fclog completion " + sub.Name() + " --no-descriptions"
	}
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	completion.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return usage(cmd, "no completion for %q%s", args[0], nearest.Hint(args[0], shells))
	}
}
