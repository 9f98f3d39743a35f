package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/detour"
	"github.com/fclog/fclog/replay/variants"
)

type outcomesFlags struct {
	outputFlags
	demo    bool
	compact bool
	top     int
}

func outcomesCommand(a *app) *cobra.Command {
	f := &outcomesFlags{}
	cmd := &cobra.Command{
		Use:   "outcomes DATASET",
		Short: "How good past predictions were: what replays said, and what A/Bs then showed",
		Long: `outcomes lists the A/Bs that 'fclog compare --predicted FILE --variant NAME --save DATASET' kept,
beside what the replay had predicted: tokens per request and requests, each as a
factor, and the detours found. Then it says how often a prediction lay inside the
interval of the measurement, and whether predictions err to one side.`,
		Example: `  fclog outcomes --demo
  fclog outcomes --demo --format json`,
		Args: checked(func(cmd *cobra.Command, args []string) error {
			if f.demo {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		}),
		RunE: func(cmd *cobra.Command, args []string) error { return a.outcomes(cmd, f, args) },
	}
	f.outputFlags.add(cmd, "term", "md", "json")
	flags := cmd.Flags()
	flags.BoolVar(&f.demo, "demo", false, "show the bundled A/B beside the replay of its first arm")
	flags.BoolVar(&f.compact, "compact", false, "JSON on one line")
	flags.IntVar(&f.top, "top", report.DefaultTop, "outcomes `N` to list, the latest")
	return cmd
}

func (a *app) outcomes(cmd *cobra.Command, f *outcomesFlags, args []string) error {
	switch {
	case f.compact && f.format != "json":
		return usage(cmd, "--compact goes with --format json")
	case f.top < 1:
		return usage(cmd, "--top %d must be 1 or more", f.top)
	}
	if err := f.outputFlags.check(cmd); err != nil {
		return err
	}
	list, err := a.pastOutcomes(cmd.Context(), f, args)
	if err != nil {
		return err
	}
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Top: f.top}
	return a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.OutcomesJSON(w, list, !f.compact)
		case "md":
			return report.OutcomesMarkdown(w, list, o)
		}
		return report.OutcomesTerminal(w, list, o)
	})
}

func (a *app) pastOutcomes(ctx context.Context, f *outcomesFlags, args []string) (list []compare.Outcome, err error) {
	if f.demo {
		return a.demoOutcome(ctx)
	}
	if !dataset.Is(args[0]) {
		return nil, fmt.Errorf("%w: %w", errNothing, dataset.Check(args[0]))
	}
	fl, err := analyze.OpenFleet(ctx, analyze.Options{Dataset: args[0]})
	if err != nil {
		return nil, err
	}
	defer closing(fl.Close, &err)
	kept, err := fl.Outcomes(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range kept {
		list = append(list, compare.Outcome(o))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s holds no outcome yet: 'fclog compare BASE CANDIDATE --predicted replay.json --save %s' adds one", errNothing, args[0], args[0])
	}
	return list, nil
}

// demoOutcome replays the first arm of the bundled A/B and compares both.
func (a *app) demoOutcome(ctx context.Context) ([]compare.Outcome, error) {
	use, err := variants.ParseWith(nil, "no-line-numbers")
	if err != nil {
		return nil, err
	}
	recs, _, err := a.recorded(ctx, request{demo: true})
	if err != nil {
		return nil, err
	}
	shown, err := a.replayAll(ctx, &replayFlags{}, recs, []replay.Use{use})
	if err != nil {
		return nil, err
	}
	book, err := a.priceBook(nil)
	if err != nil {
		return nil, err
	}
	var arms [2][]compare.Trial
	for i := range arms {
		if arms[i], _, err = a.trials(ctx, request{demo: true, candidate: i == 1}, compare.Prices(book)); err != nil {
			return nil, err
		}
	}
	predicted := compare.PredictionsOf(shown.Report)
	result := compare.Compare(arms[0], arms[1], compare.Options{Names: [2]string{"bundled session", "without line numbers"}, Predicted: predicted})
	from, until := spanOf(arms)
	return []compare.Outcome{compare.OutcomeOf(result, predicted[0], from, until)}, nil
}

// keep adds the outcomes of a comparison to the dataset that --save names.
func (f *compareFlags) keep(result *compare.Result, arms [2][]compare.Trial, predicted []compare.Prediction) error {
	if f.save == "" || !result.Comparable() {
		return nil
	}
	from, until := spanOf(arms)
	for _, p := range predicted {
		o := compare.OutcomeOf(result, p, from, until)
		if err := dataset.SaveOutcome(f.save, sourceOf(arms), dataset.Outcome(o)); err != nil {
			return err
		}
	}
	return nil
}

// spanOf is when the first and the last trial of an A/B started, in Unix milliseconds;
// nil where no log says.
func spanOf(arms [2][]compare.Trial) (from, until *int64) {
	for _, arm := range arms {
		for _, t := range arm {
			if t.Started.IsZero() {
				continue
			}
			at := t.Started.UnixMilli()
			if from == nil || at < *from {
				from = &at
			}
			if until == nil || at > *until {
				until = &at
			}
		}
	}
	return from, until
}

// sourceOf is the log format of all trials; "report" without trials.
func sourceOf(arms [2][]compare.Trial) string {
	source := ""
	for _, arm := range arms {
		for _, t := range arm {
			if source != "" && t.Source != source {
				return "several"
			}
			source = t.Source
		}
	}
	if source == "" {
		return "report"
	}
	return source
}

// foundIn is what outcomes say of detours.
func foundIn(list []dataset.Outcome) []detour.Found {
	var out []detour.Found
	for _, o := range list {
		if o.LossyItems == nil || o.DetoursFound == nil || o.DetoursFoundLow == nil || o.DetoursFoundHigh == nil {
			continue
		}
		out = append(out, detour.Found{Items: *o.LossyItems, Extra: *o.DetoursFound, Low: *o.DetoursFoundLow, High: *o.DetoursFoundHigh, Trials: o.Trials})
	}
	return out
}
