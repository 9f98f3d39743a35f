package main

import (
	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/term"
)

// outputFlags say how and where a result is written.
type outputFlags struct {
	format  string
	file    string
	noColor bool
	noPager bool
	width   int
	formats []string
}

func (f *outputFlags) add(cmd *cobra.Command, formats ...string) {
	f.formats = formats
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formats[0], "`FORMAT` of the output: "+list(formats))
	flags.StringVarP(&f.file, "output", "o", "", "write to `FILE` instead of the screen; a new one is readable by you only")
	flags.BoolVar(&f.noColor, "no-color", false, "no colour; NO_COLOR does the same")
	flags.BoolVar(&f.noPager, "no-pager", false, "write straight to the screen; else what is longer goes through $FCLOG_PAGER, $PAGER or less")
	flags.IntVar(&f.width, "width", 0, "`COLUMNS` to use; default: those of the terminal, else 80")
	complete(cmd, "format", formats)
}

func list(words []string) string {
	s := ""
	for i, w := range words {
		switch {
		case i == 0:
			s = w
		case i == len(words)-1:
			s += " or " + w
		default:
			s += ", " + w
		}
	}
	return s
}

func (f *outputFlags) check(cmd *cobra.Command) error {
	if f.file == "-" {
		f.file = ""
	}
	if err := positive(cmd, "width", f.width); err != nil {
		return err
	}
	return oneOf(cmd, "format", f.format, f.formats)
}

// positive refuses less than 1 for a flag whose 0 stands for not given.
func positive(cmd *cobra.Command, flag string, value int) error {
	if value < 0 || value == 0 && cmd.Flags().Changed(flag) {
		return usage(cmd, "--%s %d must be 1 or more", flag, value)
	}
	return nil
}

// screen tells whether the result goes to a terminal.
func (a *app) screen(f outputFlags) bool { return f.file == "" && term.IsTerminal(a.stdout) }

func (a *app) color(f outputFlags) bool {
	return f.file == "" && !f.noColor && term.HasColor(a.stdout, a.getenv)
}

func (a *app) utf8(f outputFlags) bool {
	return f.file != "" || !term.IsTerminal(a.stdout) || term.IsUTF8(a.getenv)
}

func (a *app) columns(f outputFlags) int {
	switch {
	case f.width > 0:
		return f.width
	case f.file != "":
		return term.DefaultWidth
	}
	return term.WidthOf(a.stdout, a.getenv)
}

// complete offers words for a flag to the shell.
func complete(cmd *cobra.Command, flag string, words []string) {
	// It only fails for a flag that does not exist, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
