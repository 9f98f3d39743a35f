package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/term"
)

// outputFlags say how and where a result is written.
type outputFlags struct {
	format  string
	file    string
	noColor bool
	width   int
	formats []string
}

func (f *outputFlags) add(cmd *cobra.Command, formats ...string) {
	f.formats = formats
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formats[0], "`FORMAT` of the output: "+list(formats))
	flags.StringVarP(&f.file, "output", "o", "", "write to `FILE` instead of the screen")
	flags.BoolVar(&f.noColor, "no-color", false, "no colour; NO_COLOR does the same")
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
	if f.width < 0 {
		return usage(cmd, "--width %d must be 1 or more", f.width)
	}
	return oneOf(cmd, "format", f.format, f.formats)
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

// write sends a result to its file or to the standard output. A file appears
// only when it is whole.
func (a *app) write(f outputFlags, do func(io.Writer) error) error {
	if f.file == "" || f.file == "-" {
		out := bufio.NewWriterSize(a.stdout, 64<<10)
		if err := do(out); err != nil {
			return err
		}
		return out.Flush()
	}
	if err := writeFile(f.file, do); err != nil {
		return fmt.Errorf("writing %s: %w", f.file, err)
	}
	return nil
}

func writeFile(path string, do func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".fclog-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	out := bufio.NewWriterSize(tmp, 64<<10)
	if err = do(out); err != nil {
		return err
	}
	if err = out.Flush(); err != nil {
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// complete offers words for a flag to the shell.
func complete(cmd *cobra.Command, flag string, words []string) {
	// It only fails for a flag that does not exist, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
