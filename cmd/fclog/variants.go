package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/nearest"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/variants"
)

func variantsCommand(a *app) *cobra.Command {
	f := &outputFlags{}
	cmd := &cobra.Command{
		Use:   "variants [NAME]",
		Short: "What can be replayed, with its options",
		Long: `variants lists the policies that 'fclog replay' knows. With NAME it tells what one of
them does, what it needs from a log, what could go wrong and how it is set.`,
		Example: `  fclog variants
  fclog variants mask
  fclog variants --format json`,
		Args:              checked(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions(variantNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, names []string) error { return a.variants(cmd, f, names) },
	}
	f.add(cmd, "term", "json")
	return cmd
}

func (a *app) variants(cmd *cobra.Command, f *outputFlags, names []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	list := variants.All()
	if len(names) == 1 {
		v, ok := variants.Find(names[0])
		if !ok {
			return usage(cmd, "no variant %q%s; there are %s", names[0], nearest.Hint(names[0], variantNames()), strings.Join(variantNames(), ", "))
		}
		list = []replay.Variant{v}
	}
	o := report.Options{Width: a.columns(*f), Color: a.color(*f), UTF8: a.utf8(*f)}
	return a.write(*f, func(w io.Writer) error {
		switch {
		case f.format == "json":
			return report.VariantsJSON(w, list)
		case len(names) == 1:
			return report.VariantHelp(w, list[0], o)
		}
		return report.VariantList(w, list, o)
	})
}
