package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/report"
)

func verifyCommand(a *app) *cobra.Command {
	f := &outputFlags{}
	cmd := &cobra.Command{
		Use:   "verify DATASET",
		Short: "Check a dataset: every file, reference, sum and hash",
		Long: `verify reads a dataset to its last byte and says what is wrong, in which file, and
what to do. It checks that files are whole and where they belong, that every
reference leads to a row, that no row is missing or stands twice, that texts are
those of their hashes, and that what spans carried adds up to what requests counted.
It changes nothing.

It exits with 0 if the dataset is sound, 1 if something is wrong, 3 if there is no
dataset. Leftovers of a killed import are listed and are no fault.`,
		Example: `  fclog import --demo -o dataset
  fclog verify dataset
  fclog verify dataset --format json`,
		Args: checked(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.verify(cmd, f, args[0]) },
	}
	f.add(cmd, "term", "md", "json")
	return cmd
}

func (a *app) verify(cmd *cobra.Command, f *outputFlags, dir string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	var missing *fs.PathError
	if _, err := os.Stat(dir); errors.As(err, &missing) {
		return fmt.Errorf("%w: %w", errNothing, missingFile(missing))
	}
	if !dataset.Is(dir) {
		return fmt.Errorf("%w: %w", errNothing, dataset.Check(dir))
	}
	v, err := analyze.Verify(cmd.Context(), dir)
	if err != nil {
		return err
	}
	err = a.write(*f, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.WriteJSON(w, v, true)
		case "md":
			return report.VerifyMarkdown(w, v)
		}
		return report.VerifyTerminal(w, v, report.Options{Width: a.columns(*f), Color: a.color(*f), UTF8: a.utf8(*f)})
	})
	if err == nil && !v.Sound {
		err = fmt.Errorf("dataset %s is not sound", dir)
	}
	return err
}
