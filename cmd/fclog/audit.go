package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/replay/fleet"
	"github.com/fclog/fclog/rollout"
)

type auditFlags struct {
	selectionFlags
	fleetFlags
	outputFlags
	dataset string
	prices  []string
	demo    bool
	compact bool
	top     int
	afresh  bool
	text    bool
	redact  bool
	fleet   *fleet.Audit // what many sessions of a dataset show; nil a handful
}

func auditCommand(a *app) *cobra.Command {
	f := &auditFlags{}
	cmd := &cobra.Command{
		Use:   "audit [PATH…]",
		Short: "What every token of a session was spent on, and how large each saving is",
		Long: `audit reads session logs and reports what every token was spent on, how large
each possible saving is at most, where the prompt cache broke and what was done
twice.

PATH is a log file, a folder of logs, a dataset made by 'fclog import', or - for
the standard input. Without PATH it takes the newest session on this machine and
says which.`,
		Example: `  fclog audit --demo
  fclog audit --demo --top 3 --format md
  fclog audit
  fclog audit session.jsonl
  fclog audit ~/.codex/sessions --since 2026-01-01 --model gpt-5.3-codex
  fclog audit session.jsonl --format md -o report.md
  fclog audit dataset --sample 500
  fclog audit session.jsonl --format html -o report.html
  zcat session.jsonl.gz | fclog audit - --format json`,
		RunE: func(cmd *cobra.Command, paths []string) error { return a.audit(cmd, f, paths) },
	}
	f.selectionFlags.add(cmd)
	f.fleetFlags.add(cmd)
	f.outputFlags.add(cmd, "term", "md", "json", "html")
	flags := cmd.Flags()
	flags.StringVar(&f.dataset, "dataset", "", "keep what is imported in `FOLDER`, so that it is not read again")
	flags.StringArrayVar(&f.prices, "prices", nil, "`FILE` of prices that override the built-in ones; may be repeated")
	flags.BoolVar(&f.demo, "demo", false, "report on the bundled session")
	flags.BoolVar(&f.compact, "compact", false, "JSON on one line")
	flags.BoolVar(&f.afresh, "no-cache", false, "read all logs, also where nothing has changed since the last audit")
	flags.IntVar(&f.top, "top", report.DefaultTop, "rows `N` of every ranked list")
	flags.BoolVar(&f.redact, "redact", false, redactUsage)
	flags.BoolVar(&f.text, "with-text", false, "show the beginnings of logged texts on the HTML page")
	return cmd
}

func (f *auditFlags) check(cmd *cobra.Command, paths []string) error {
	switch {
	case f.demo && len(paths) > 0:
		return usage(cmd, "--demo reports on the bundled session and takes no PATH")
	case f.top < 1:
		return usage(cmd, "--top %d must be 1 or more", f.top)
	case f.compact && f.format != "json":
		return usage(cmd, "--compact goes with --format json")
	case f.text && f.format != "html":
		return usage(cmd, "--with-text goes with --format html")
	}
	return f.outputFlags.check(cmd)
}

func (a *app) audit(cmd *cobra.Command, f *auditFlags, paths []string) error {
	if err := f.check(cmd, paths); err != nil {
		return err
	}
	sel, zone, err := f.selection(cmd)
	if err != nil {
		return err
	}
	if err := f.choose(cmd, &sel); err != nil {
		return err
	}
	r := request{paths: paths, selection: sel, zone: zone, keep: f.dataset, demo: f.demo, prices: f.prices, redact: f.redact}
	shown, err := a.rememberedAudit(cmd.Context(), r, f)
	if err != nil {
		return whereError(cmd, err)
	}
	result := shown.Audit
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Top: f.top, Location: zone}
	err = a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			if f.fleet != nil {
				return report.FleetAuditJSON(w, result, f.fleet, !f.compact)
			}
			return report.JSON(w, result, !f.compact)
		case "md":
			return f.below(w, report.Markdown(w, result, o), o)
		case "html":
			shown.Fleet = f.fleet
			return report.HTML(w, shown, o)
		}
		return f.below(w, report.Terminal(w, result, o), o)
	})
	if err != nil {
		return err
	}
	return withoutRequests(result)
}

// withoutRequests is an error where many records hold no request: zeros are no
// result there, but a log that was not understood.
func withoutRequests(result *analyze.Audit) error {
	notUnderstood := func(p analyze.Problem) bool { return p.Kind == rollout.NoRequests }
	if result.Totals.Requests+result.Totals.ReportedSessions > 0 || !slices.ContainsFunc(result.Problems, notUnderstood) {
		return nil
	}
	return fmt.Errorf("%w: the records of these logs hold no request; 'fclog formats' lists the versions that are read", errNothing)
}

// below writes what many sessions show below their audit.
func (f *auditFlags) below(w io.Writer, err error, o report.Options) error {
	switch {
	case err != nil || f.fleet == nil:
		return err
	case f.format == "md":
		return report.FleetAuditMarkdown(w, f.fleet)
	}
	return report.FleetAuditTerminal(w, f.fleet, o)
}

// rememberedAudit takes the audit from an earlier run where nothing has changed
// since. Pages with pictures are made afresh.
func (a *app) rememberedAudit(ctx context.Context, r request, f *auditFlags) (report.HTMLAudit, error) {
	if f.afresh || f.format == "html" || f.sample > 0 {
		return a.runAudit(ctx, r, f)
	}
	m := a.remember(ctx, r)
	if m == nil {
		return a.runAudit(ctx, r, f)
	}
	if known, err := m.load(a, r); known != nil || err != nil {
		return report.HTMLAudit{Audit: known}, err
	}
	out, err := a.runAudit(ctx, r, f)
	if err == nil {
		m.keep(out.Audit)
	}
	return out, err
}

// runAudit does the work; when it returns, nothing temporary is left.
func (a *app) runAudit(ctx context.Context, r request, f *auditFlags) (report.HTMLAudit, error) {
	var out report.HTMLAudit
	err := a.withDB(ctx, r, func(s *source, db *analyze.DB) (err error) {
		if out.Audit, err = analyze.RunAudit(ctx, db); err != nil {
			return err
		}
		if len(out.Audit.Sessions) == 0 {
			return fmt.Errorf("%w: no session matches the selection", errNothing)
		}
		s.rename(out.Audit)
		if s.temp == "" || r.keep != "" || f.sample > 0 {
			if f.fleet, err = auditFleet(ctx, db, out.Audit, f.top); err != nil {
				return err
			}
		}
		if f.format != "html" {
			return nil
		}
		if out.Charts, err = analyze.RunCharts(ctx, db, out.Audit); err != nil || !f.text {
			return err
		}
		out.Texts, err = analyze.ItemTexts(ctx, db, out.Charts)
		return err
	})
	return out, err
}

// rename puts the user's names in place of temporary ones and adds the files
// that were not used.
func (s *source) rename(result *analyze.Audit) {
	for i := range result.Sessions {
		result.Sessions[i].File = s.name(result.Sessions[i].File)
	}
	result.Problems = append(result.Problems, s.problems()...)
	for i := range result.Problems {
		result.Problems[i].File = s.name(result.Problems[i].File)
	}
}

// closing closes in a defer; its error counts unless there is one already.
func closing(close func() error, err *error) {
	if closeErr := close(); *err == nil {
		*err = closeErr
	}
}
