package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
)

type compareFlags struct {
	selectionFlags
	outputFlags
	prices     []string
	predicted  string
	parallel   int
	experiment string
	compact    bool
	top        int
	demo       bool
	save       string
	variant    string
}

func compareCommand(a *app) *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare BASE CANDIDATE | compare FOLDER | compare REPORT",
		Short: "Two arms of a real A/B: what changed, by which factor, and whether it is chance",
		Long: `compare sets two arms of a real A/B side by side, from the logs that their runs left
behind: tokens factored into requests times tokens per request, with bootstrap
intervals, the noise floor and a verdict by the shipping criterion (cost falls while
pass rate and repeated calls hold).

BASE and CANDIDATE are folders of logs, single logs, or datasets. Trials are paired by
task: the case of the suite, the checksum or name in a result.json beside the log, else
what the user asked for. FOLDER holds the trials of both arms where Harbor's result.json
tells them apart by model and settings; the arm whose name sorts first is the base.
REPORT is a report of FreeCode's 'eval ab', or its
experiments.jsonl.`,
		Example: `  fclog compare --demo
  fclog compare --demo --format json
  fclog compare runs/base runs/candidate
  fclog compare runs/base runs/candidate --format html -o compare.html
  fclog compare runs/base runs/candidate --predicted replay.json
  fclog compare runs/base runs/candidate --predicted replay.json --variant compress --save dataset
  fclog compare runs/base runs/candidate --expect-parallel 2 --format json
  fclog compare ~/.freecode/eval-ab/2026-03-14.json
  fclog compare evals/experiments.jsonl --experiment 2026-09-04-coding-1`,
		Args: checked(func(cmd *cobra.Command, paths []string) error {
			if !f.demo {
				return cobra.RangeArgs(1, 2)(cmd, paths)
			}
			if len(paths) > 0 {
				return errors.New("--demo compares the bundled sessions and takes no BASE")
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, paths []string) error { return a.compare(cmd, f, paths) },
	}
	f.selectionFlags.add(cmd)
	f.outputFlags.add(cmd, "term", "md", "json", "html")
	flags := cmd.Flags()
	flags.StringArrayVar(&f.prices, "prices", nil, "`FILE` of prices that override the built-in ones; may be repeated")
	flags.StringVar(&f.predicted, "predicted", "", "`FILE` of 'fclog replay --format json', set beside what was measured")
	flags.StringVar(&f.variant, "variant", "", "`VARIANT` of the prediction that CANDIDATE ran; with --save needed where several were replayed")
	flags.StringVar(&f.save, "save", "", "keep what became of the prediction in `DATASET`, for 'fclog outcomes' and later replays; needs --predicted")
	flags.IntVar(&f.parallel, "expect-parallel", 0, "check that some response of every trial asks for `N` calls at once, 2 or more")
	flags.StringVar(&f.experiment, "experiment", "", "only the experiment of that `NAME` in REPORT")
	flags.BoolVar(&f.demo, "demo", false, "compare the bundled session with the same work without line numbers in reads")
	flags.BoolVar(&f.compact, "compact", false, "JSON on one line")
	flags.IntVar(&f.top, "top", report.DefaultTop, "tasks `N` to list")
	return cmd
}

func (f *compareFlags) check(cmd *cobra.Command, paths []string) error {
	switch {
	case f.parallel != 0 && f.parallel < 2:
		return usage(cmd, "--expect-parallel %d must be 2 or more", f.parallel)
	case f.top < 1:
		return usage(cmd, "--top %d must be 1 or more", f.top)
	case f.compact && f.format != "json":
		return usage(cmd, "--compact goes with --format json")
	case f.variant != "" && f.predicted == "":
		return usage(cmd, "--variant chooses from a prediction: give --predicted FILE, the JSON of a replay")
	case f.save != "" && f.predicted == "":
		return usage(cmd, "--save keeps what became of a prediction: give --predicted FILE, the JSON of a replay")
	case f.experiment != "" && len(paths) == 2:
		return usage(cmd, "--experiment goes with one REPORT")
	}
	return f.outputFlags.check(cmd)
}

func (a *app) compare(cmd *cobra.Command, f *compareFlags, paths []string) error {
	if err := f.check(cmd, paths); err != nil {
		return err
	}
	if f.save != "" {
		if err := dataset.Check(f.save); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
	}
	o := compare.Options{ExpectParallel: f.parallel}
	if f.predicted != "" {
		predicted, err := compare.ReadPredictions(f.predicted)
		if err != nil {
			return err
		}
		if o.Predicted, err = f.chosen(cmd, predicted); err != nil {
			return err
		}
	}
	if f.demo {
		paths = []string{"bundled session", "without line numbers"}
	}
	if len(paths) == 1 {
		return a.compareReport(cmd, f, paths[0], o)
	}
	if !f.demo && same(paths) {
		return usage(cmd, "BASE and CANDIDATE are the same: %s", paths[1])
	}
	result, err := a.compareLogs(cmd, f, paths, o)
	if err != nil {
		return err
	}
	if err := worthShowing(result); err != nil {
		return err
	}
	return a.writeComparison(f, result)
}

// chosen are the predictions that the A/B is set beside. One A/B is evidence about the
// variant that its candidate ran alone: nothing is kept of variants replayed beside it.
func (f *compareFlags) chosen(cmd *cobra.Command, all []compare.Prediction) ([]compare.Prediction, error) {
	var names []string
	for _, p := range all {
		if p.Variant == f.variant {
			return []compare.Prediction{p}, nil
		}
		names = append(names, p.Variant)
	}
	switch {
	case f.variant != "":
		return nil, usage(cmd, "--variant %s is not in %s, which predicts %s", f.variant, f.predicted, strings.Join(names, ", "))
	case f.save != "" && len(all) > 1:
		return nil, usage(cmd, "--save keeps what became of one variant: --variant NAME says which of %s the candidate ran", strings.Join(names, ", "))
	}
	return all, nil
}

func trialsOf(arm compare.Arm) string { return term.Count(arm.Trials, "trial", "trials") }

// same says that two paths are one file or folder.
func same(paths []string) bool {
	a, err := os.Stat(paths[0])
	if err != nil {
		return false
	}
	b, err := os.Stat(paths[1])
	return err == nil && os.SameFile(a, b)
}

func (a *app) compareLogs(cmd *cobra.Command, f *compareFlags, paths []string, o compare.Options) (*compare.Result, error) {
	sel, zone, err := f.selection(cmd)
	if err != nil {
		return nil, err
	}
	book, err := a.priceBook(f.prices)
	if err != nil {
		return nil, err
	}
	var arms [2][]compare.Trial
	var notes []string
	for i, path := range paths {
		r := request{paths: []string{path}, selection: sel, zone: zone, prices: f.prices, demo: f.demo, candidate: i == 1}
		trials, warnings, err := a.trials(cmd.Context(), r, compare.Prices(book))
		if err != nil {
			return nil, ofArm(path, err)
		}
		arms[i] = trials
		for _, w := range warnings {
			notes = append(notes, [2]string{"baseline: ", "candidate: "}[i]+w)
		}
	}
	o.Names = armNames(paths)
	result := compare.Compare(arms[0], arms[1], o)
	result.Warnings = append(result.Warnings, notes...)
	return result, f.keep(result, arms, o.Predicted)
}

// armNames are the last parts of two paths, more of them where they are equal.
func armNames(paths []string) [2]string {
	base, candidate := filepath.Base(filepath.Clean(paths[0])), filepath.Base(filepath.Clean(paths[1]))
	if base == candidate {
		return [2]string{paths[0], paths[1]}
	}
	return [2]string{base, candidate}
}

// trials makes trials of the sessions under a path, with what a harness wrote beside
// their logs.
func (a *app) trials(ctx context.Context, r request, cost compare.Cost) ([]compare.Trial, []string, error) {
	recs, leftOut, err := a.recorded(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	trials, warnings := compare.Trials(recs, cost)
	if leftOut > 0 {
		warnings = append(warnings, term.Count(leftOut, "sub-agent session is left out, as its log is", "sub-agent sessions are left out, as their logs are")+" not among those read")
	}
	roots := rootsOf(recs)
	if len(roots) != len(trials) {
		return trials, warnings, nil
	}
	unread := 0
	for i := range trials {
		file := compare.HarborBeside(roots[i].Session.File)
		if file == "" {
			continue
		}
		result, err := compare.ReadHarbor(file)
		if err != nil {
			unread++
			continue
		}
		result.Apply(&trials[i])
	}
	if unread > 0 {
		warnings = append(warnings, term.Count(int64(unread), "result", "results")+" beside logs could not be read")
	}
	return trials, warnings, nil
}

// rootsOf are the sessions that no other one here started, as compare.Trials orders
// its trials.
func rootsOf(recs []replay.Recording) []replay.Recording {
	known := map[string]bool{}
	for _, r := range recs {
		known[r.Session.Source+"\x00"+r.Session.ID] = true
	}
	var out []replay.Recording
	for _, r := range recs {
		if r.Session.ParentID == "" || !known[r.Session.Source+"\x00"+r.Session.ParentID] {
			out = append(out, r)
		}
	}
	return out
}

// compareFolder compares the two arms that a harness tells apart in one folder.
func (a *app) compareFolder(cmd *cobra.Command, f *compareFlags, path string, o compare.Options) error {
	sel, zone, err := f.selection(cmd)
	if err != nil {
		return err
	}
	book, err := a.priceBook(f.prices)
	if err != nil {
		return err
	}
	trials, warnings, err := a.trials(cmd.Context(), request{paths: []string{path}, selection: sel, zone: zone, prices: f.prices}, compare.Prices(book))
	if err != nil {
		return err
	}
	names, arms, unknown := compare.ByArm(trials)
	switch {
	case len(names) == 0:
		return usage(cmd, "CANDIDATE is missing: name two folders, or one report; no result.json in %s tells an arm", path)
	case len(names) != 2:
		return usage(cmd, "%s holds the trials of %s, not of two: %q", path, term.Count(int64(len(names)), "arm", "arms"), names)
	}
	o.Names = [2]string(names)
	result := compare.Compare(arms[0], arms[1], o)
	result.Warnings = append(result.Warnings, warnings...)
	if unknown > 0 {
		result.Warnings = append(result.Warnings, term.Count(int64(unknown), "trial is", "trials are")+" left out: no result.json tells the arm")
	}
	if err := f.keep(result, [2][]compare.Trial(arms), o.Predicted); err != nil {
		return err
	}
	if err := worthShowing(result); err != nil {
		return err
	}
	return a.writeComparison(f, result)
}

// worthShowing is why a result says nothing; nil if it does.
func worthShowing(result *compare.Result) error {
	switch {
	case result.PairedTasks == 0:
		return fmt.Errorf("%w: no task is in both arms, by the case, the checksum or the prompt of %s in %s and %s in %s", errNothing,
			trialsOf(result.Baseline), result.Baseline.Name, trialsOf(result.Candidate), result.Candidate.Name)
	case !result.Comparable():
		return fmt.Errorf("%w: no task has a figure that both arms hold", errNothing)
	}
	return nil
}

func (a *app) compareReport(cmd *cobra.Command, f *compareFlags, path string, o compare.Options) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return a.compareFolder(cmd, f, path, o)
	}
	reports, err := compare.ReadEval(path)
	if err != nil {
		return err
	}
	var list []report.Experiment
	for _, rep := range reports {
		if f.experiment == "" || rep.ID == f.experiment || rep.Name() == f.experiment {
			list = append(list, report.Experiment{Name: rep.Name(), Recorded: rep.Verdict, Result: compare.FromReport(rep, o)})
		}
	}
	switch len(list) {
	case 0:
		return fmt.Errorf("%w: no experiment %q among %s", errNothing, f.experiment, strings.Join(namesOf(reports), ", "))
	case 1:
		if !list[0].Result.Comparable() {
			return fmt.Errorf("%w: %s holds nothing to compare: no case, and no total, has a figure on both sides", errNothing, path)
		}
		if err := f.keep(list[0].Result, [2][]compare.Trial{}, o.Predicted); err != nil {
			return err
		}
		return a.writeComparison(f, list[0].Result)
	}
	if f.save != "" {
		return usage(cmd, "--save keeps one comparison: --experiment NAME says which of %s", strings.Join(namesOf(reports), ", "))
	}
	if !slices.ContainsFunc(list, func(e report.Experiment) bool { return e.Result.Comparable() }) {
		return fmt.Errorf("%w: none of the %d experiments of %s has a case, or a total, with a figure on both sides", errNothing, len(list), path)
	}
	p := f.options(a)
	return a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.WriteJSON(w, list, !f.compact)
		case "md":
			return report.ExperimentsMarkdown(w, list, p)
		case "html":
			return report.ExperimentsHTML(w, list, p)
		}
		return report.ExperimentsTerminal(w, list, p)
	})
}

func namesOf(reports []*compare.EvalReport) []string {
	var names []string
	for _, r := range reports {
		names = append(names, r.Name())
	}
	return names
}

func (f *compareFlags) options(a *app) report.Options {
	return report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Top: f.top}
}

func (a *app) writeComparison(f *compareFlags, result *compare.Result) error {
	o := f.options(a)
	return a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.WriteJSON(w, result, !f.compact)
		case "md":
			return report.CompareMarkdown(w, result, o)
		case "html":
			return report.CompareHTML(w, result, o)
		}
		return report.CompareTerminal(w, result, o)
	})
}

// ofArm says which arm an error is of, where it does not say so itself.
func ofArm(path string, err error) error {
	if strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
