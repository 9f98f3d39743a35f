package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/nearest"
	"github.com/fclog/fclog/internal/term"
)

func rootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "fclog",
		Short: "Where the tokens of coding agent sessions go, and what could be saved",
		Long: `fclog reads the session logs that coding agents leave behind and tells what every
token was spent on and how large each possible saving is. It works offline and
never changes a log. It reads
` + agentTitles(80) + `.`,
		Example: `  fclog audit --demo                   the bundled session
  fclog replay --demo                  what it would have cost otherwise
  fclog audit                          the newest session on this machine
  fclog audit session.jsonl            one session
  fclog audit ~/.codex/sessions --since 2026-01-01
  fclog sessions                       what there is to look at
  fclog import ~/.codex -o kept        keep it as Parquet
  fclog query --list                   questions that come with fclog
  fclog query dataset 'SELECT model, sum(input_tokens) FROM requests GROUP BY 1'
  fclog payload session.jsonl --request 2
  fclog compare runs/base runs/candidate`,
		Version:                    version(),
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       knownCommand,
		PersistentPreRunE:          func(cmd *cobra.Command, args []string) error { return a.prepare(cmd, args) },
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().BoolVar(&a.debug, "debug", false, "also list every skipped file and what is behind an error")
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(auditCommand(a), importCommand(a), queryCommand(a), payloadCommand(a), sessionsCommand(a),
		replayCommand(a), compareCommand(a), outcomesCommand(a), variantsCommand(a), promptsCommand(a), verifyCommand(a), shardsCommand(a), formatsCommand(a))
	root.AddCommand(manCommand())
	addCompletion(root)
	checkHelp(root)
	return root
}

// knownCommand refuses words that name no command, with the nearest that does.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if args[0] == "version" {
		return usage(cmd, "unknown command %q, did you mean --version?", args[0])
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usage(cmd, "unknown command %q, did you mean %q?", args[0], near[0])
	}
	return usage(cmd, "unknown command %q", args[0])
}

func usage(cmd *cobra.Command, format string, args ...any) error {
	return usageError{err: fmt.Errorf(format, args...), help: cmd.CommandPath()}
}

// checked makes the error of an argument check a usage error.
func checked(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		switch {
		case err == nil:
			return nil
		case strings.HasPrefix(err.Error(), "requires at least"), strings.HasPrefix(err.Error(), "accepts"): // cobra's words
			return usage(cmd, "%s given; it is 'fclog %s'", term.Count(int64(len(args)), "argument", "arguments"), cmd.Use)
		}
		return usage(cmd, "%w", err)
	}
}

// oneOf refuses a value of a flag that is not in the list.
func oneOf(cmd *cobra.Command, flag, value string, allowed []string) error {
	for _, s := range allowed {
		if value == s {
			return nil
		}
	}
	return notOneOf(cmd, fmt.Sprintf("--%s %q", flag, value), value, allowed)
}

// notOneOf says what is allowed, the nearest first: lists may be long.
func notOneOf(cmd *cobra.Command, what, value string, allowed []string) error {
	if near := nearest.Hint(value, allowed); near != "" {
		return usage(cmd, "%s is unknown%s; there are %s", what, near, strings.Join(allowed, ", "))
	}
	return usage(cmd, "%s is not one of %s", what, strings.Join(allowed, ", "))
}
