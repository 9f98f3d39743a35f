package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

type queryFlags struct {
	selectionFlags
	outputFlags
	prices []string
	demo   bool
	redact bool
	list   bool
	name   string
	limit  int

	clickHouse bool
}

func queryCommand(a *app) *cobra.Command {
	f := &queryFlags{}
	cmd := &cobra.Command{
		Use:   "query DATASET ['SQL']",
		Short: "Ask a dataset with SQL or a question that comes with fclog",
		Long: `query runs one SELECT statement of DuckDB's SQL over the tables of a dataset, or
one of the questions that come with fclog. DATASET may also be a log file or a
folder of logs; it is then imported for this one question. With --demo there is no
DATASET: the bundled session is asked. SQL reads the dataset and nothing else: no
other file, no network, no extension. It writes nothing but the FILE of -o.

Tables: sessions, requests, items, spans, calls, texts, other_billed,
calibration, problems, prices, session_tree, estimates, outcomes.

CSV is that of RFC 4180: fields keep every character of the logs, quoted where
needed, control characters too; only a screen gets them escaped. Text that a
spreadsheet would run as a formula (it begins with = + - @, a tab or a line break)
gets an apostrophe in front; JSON and Parquet keep it as it is.`,
		Example: `  fclog query --demo --name cache-breaks
  fclog query --demo 'SELECT tool, count(*) AS calls FROM calls GROUP BY 1 ORDER BY 2 DESC'
  fclog query --list
  fclog query dataset --clickhouse --name usage-by-model -o model.sql
  fclog query https://s3.example.org/logs/dataset --clickhouse -o tables.sql
  fclog query dataset 'SELECT model, sum(input_tokens) FROM requests GROUP BY 1'
  fclog query dataset --name usage-by-day --tz Europe/Berlin --format csv -o days.csv`,
		Args: checked(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.query(cmd, f, args) },
	}
	f.selectionFlags.add(cmd)
	f.outputFlags.add(cmd, "term", "csv", "json", "parquet")
	flags := cmd.Flags()
	flags.BoolVar(&f.demo, "demo", false, "ask the bundled session; there is no DATASET then")
	flags.BoolVar(&f.redact, "redact", false, redactUsage)
	flags.BoolVar(&f.list, "list", false, "list the questions that come with fclog")
	flags.StringVar(&f.name, "name", "", "ask the question of that `NAME`")
	flags.IntVar(&f.limit, "limit", 0, "most rows `N` of a ranking question")
	flags.StringArrayVar(&f.prices, "prices", nil, "`FILE` of prices that override the built-in ones; may be repeated")
	flags.BoolVar(&f.clickHouse, "clickhouse", false, "print what makes the tables of DATASET in ClickHouse, with --name the question too; nothing is asked, so DATASET may be an address: https://HOST/BUCKET/dataset")
	complete(cmd, "name", questionNames())
	return cmd
}

func questionNames() []string {
	questions, err := analyze.Questions()
	if err != nil {
		return nil
	}
	names := make([]string, len(questions))
	for i, q := range questions {
		names[i] = q.Name
	}
	return names
}

func (f *queryFlags) check(cmd *cobra.Command, args []string) error {
	if f.demo {
		args = append([]string{"the bundled session"}, args...)
	}
	switch {
	case len(args) > 2:
		return usage(cmd, "--demo asks the bundled session and takes no DATASET")
	case len(args) == 0:
		return usage(cmd, "DATASET is missing")
	case f.name == "" && len(args) < 2:
		return usage(cmd, "what to ask is missing: give SQL, or --name and a name from 'fclog query --list'")
	case f.name != "" && len(args) == 2:
		return usage(cmd, "give SQL or --name, not both")
	case f.format == "parquet" && f.file == "":
		return usage(cmd, "--format parquet needs -o FILE")
	}
	if err := positive(cmd, "limit", f.limit); err != nil {
		return err
	}
	return f.outputFlags.check(cmd)
}

func (a *app) query(cmd *cobra.Command, f *queryFlags, args []string) (err error) {
	if f.list {
		if err := f.outputFlags.check(cmd); err != nil {
			return err
		}
		return a.listQuestions(f)
	}
	if f.name != "" {
		if err := oneOf(cmd, "name", f.name, questionNames()); err != nil {
			return err
		}
	}
	if f.clickHouse {
		return a.clickHouse(cmd, f, args)
	}
	if err := f.check(cmd, args); err != nil {
		return err
	}
	sel, zone, err := f.selection(cmd)
	if err != nil {
		return err
	}
	r := request{selection: sel, zone: zone, prices: f.prices, demo: f.demo, redact: f.redact}
	if !f.demo {
		r.paths, args = args[:1], args[1:]
	}
	return a.withDB(cmd.Context(), r, func(s *source, db *analyze.DB) error {
		a.warnSkipped(s)
		// A file that cannot be written is noticed before the question is asked.
		return a.write(f.outputFlags, func(w io.Writer) error {
			rows, err := f.ask(cmd.Context(), db, args)
			if errors.Is(err, analyze.ErrNotQuery) {
				return usage(cmd, "%w", err)
			}
			if err != nil {
				return err
			}
			defer rows.Close()
			return a.writeRows(w, f.outputFlags, rows)
		})
	})
}

// withDB opens what a request names, and closes it afterwards.
func (a *app) withDB(ctx context.Context, r request, do func(*source, *analyze.DB) error) (err error) {
	s, err := a.open(ctx, r)
	if err != nil {
		return err
	}
	defer closing(s.close, &err)
	return a.withSource(ctx, s, r, func(db *analyze.DB) error { return do(s, db) })
}

// withSource opens the selected sessions of a source, and closes them afterwards.
func (a *app) withSource(ctx context.Context, s *source, r request, do func(*analyze.DB) error) (err error) {
	if s.temp == "" || r.keep != "" {
		a.hint(s.dir)
	}
	db, err := a.analysis(ctx, s, r)
	if err != nil {
		return err
	}
	defer closing(db.Close, &err)
	return do(db)
}

func (f *queryFlags) ask(ctx context.Context, db *analyze.DB, args []string) (*sql.Rows, error) {
	if f.name != "" {
		return analyze.Ask(ctx, db, f.name, analyze.Params{TZ: f.tz, Limit: f.limit})
	}
	rows, err := db.Query(ctx, args[0])
	if err != nil {
		return nil, fmt.Errorf("running the SQL: %w", err)
	}
	return rows, nil
}

// listQuestions prints every question with what it answers.
func (a *app) listQuestions(f *queryFlags) error {
	questions, err := analyze.Questions()
	if err != nil {
		return err
	}
	theme := term.NewTheme(a.color(f.outputFlags))
	width := min(a.columns(f.outputFlags), 100)
	return a.write(f.outputFlags, func(w io.Writer) error {
		for _, q := range questions {
			lead := theme.Strong.Render(q.Name) + "  "
			for _, line := range term.Wrap(q.Title, max(width-term.Width(lead), 20)) {
				if _, err := fmt.Fprintln(w, lead+line); err != nil {
					return err
				}
				lead = strings.Repeat(" ", term.Width(lead))
			}
			for _, line := range term.Wrap(strings.Join(strings.Fields(q.Doc), " "), width-4) {
				fmt.Fprintf(w, "    %s\n", theme.Faint.Render(line))
			}
		}
		return nil
	})
}
