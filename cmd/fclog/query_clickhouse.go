package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
)

// clickHouse prints what makes the tables of a dataset in ClickHouse and, with
// --name, the question. Of the dataset no row is read.
func (a *app) clickHouse(cmd *cobra.Command, f *queryFlags, args []string) error {
	if len(args) != 1 {
		return usage(cmd, "--clickhouse takes a DATASET and nothing else")
	}
	if flag := f.notForClickHouse(cmd); flag != "" {
		return usage(cmd, "--clickhouse takes no --%s: it prints SQL over the whole dataset", flag)
	}
	if err := positive(cmd, "limit", f.limit); err != nil {
		return err
	}
	if _, _, err := f.selection(cmd); err != nil {
		return err
	}
	// What is in an object store is not looked at: fclog opens no connection.
	if !analyze.InObjectStore(args[0]) {
		if err := dataset.Check(args[0]); err != nil {
			return err
		}
	}
	text, err := a.clickHouseSQL(f, args[0])
	if err != nil {
		return err
	}
	return a.write(f.outputFlags, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func (a *app) clickHouseSQL(f *queryFlags, dir string) (string, error) {
	book, err := a.priceBook(f.prices)
	if err != nil {
		return "", err
	}
	text, err := analyze.ClickHouseTables(dir, prices(book))
	if err != nil || f.name == "" {
		return text, err
	}
	question, err := analyze.ClickHouseQuestion(f.name, analyze.Params{TZ: f.tz, Limit: f.limit})
	return text + "\n-- " + f.name + "\n" + question, err
}

// notForClickHouse is a flag that was given and would change nothing; "" none.
func (f *queryFlags) notForClickHouse(cmd *cobra.Command) (name string) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"clickhouse", "name", "tz", "limit", "prices", "output", "no-pager", "debug"}, flag.Name) {
			name = flag.Name
		}
	})
	return name
}
