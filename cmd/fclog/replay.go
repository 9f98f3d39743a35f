package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/bug"
	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/detour"
	"github.com/fclog/fclog/replay/variants"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// usualVariants are what is replayed where nothing is asked for: all that need no
// setting and would save something.
const usualVariants = "compress no-line-numbers inline-batching batch-reads dedup-reads cap mask clear-tool-results tail-reminders drop-unused-tools"

type replayFlags struct {
	selectionFlags
	fleetFlags
	outputFlags
	variants  []string
	own       []string
	prices    []string
	demo      bool
	compact   bool
	details   bool
	diff      bool
	text      bool
	redact    bool
	lines     int
	top       int
	emit      string
	rates     string
	calibrate bool
	shard     string
	noSave    bool
	noLearn   bool
}

func replayCommand(a *app) *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay [PATH…] --variant NAME[:OPTION=VALUE,…][+NAME…] …",
		Short: "What sessions would have cost under another policy, and what could eat the saving",
		Long: `replay works out what recorded sessions would have cost under changed policies,
variants side by side: tokens and USD with the prompt cache modelled, at the
recorded path. What it cannot know it says apart: how many requests the model
might add to get back what was cut (detours), how many the saving can bear
(break-even), and how many paired trials a live A/B needs.

A variant is a name from 'fclog variants', with options behind a colon; + joins
several, applied in order. Without --variant it replays the usual ones.

More than a handful of sessions of a dataset are replayed one by one, and what is
found out is kept in it (the table estimates): the next run works out what is
missing. The report then has intervals, who wins and loses, and strata.

PATH is as for 'fclog audit'.`,
		Example: `  fclog replay --demo
  fclog replay --demo --variant mask:keep=5,batch=10 --diff --lines 5
  fclog replay session.jsonl --variant compress --variant no-line-numbers
  fclog replay ~/.codex/sessions --since 2026-01-01 --variant mask:keep=5,batch=10
  fclog replay session.jsonl --variant cap:max=10000+dedup-reads --diff
  fclog replay session.jsonl --variants own.yaml --emit texts
  fclog replay session.jsonl --format html -o replay.html
  fclog replay dataset --calibrate -o rates.json
  fclog replay dataset --variant compress --where "records > 2" --sample 500
  fclog replay dataset --variant compress --shard 3/8
  fclog replay session.jsonl --format json -o replay.json`,
		RunE: func(cmd *cobra.Command, paths []string) error { return a.replay(cmd, f, paths) },
	}
	f.selectionFlags.add(cmd)
	f.fleetFlags.add(cmd)
	f.outputFlags.add(cmd, "term", "md", "json", "html")
	flags := cmd.Flags()
	flags.StringVar(&f.shard, "shard", "", "replay only part `I/N` of the sessions of a dataset, such as 3/8, keep the estimates in it and report nothing")
	flags.BoolVar(&f.noSave, "no-save", false, "do not keep the estimates of more than a handful of sessions in the dataset")
	flags.BoolVar(&f.noLearn, "no-learn", false, "do not let past A/Bs in the dataset correct the base rates of detours")
	flags.StringArrayVarP(&f.variants, "variant", "V", nil, "`VARIANT` to replay, such as mask:keep=5 or compress+dedup-reads; may be repeated")
	flags.StringArrayVar(&f.own, "variants", nil, "YAML `FILE` of own variants; all of them are replayed where --variant names none")
	flags.StringArrayVar(&f.prices, "prices", nil, "`FILE` of prices that override the built-in ones; may be repeated")
	flags.BoolVar(&f.demo, "demo", false, "replay the bundled session")
	flags.BoolVar(&f.compact, "compact", false, "JSON on one line")
	flags.BoolVar(&f.details, "details", false, "list more of the largest contributions of each variant")
	flags.IntVar(&f.top, "top", report.DefaultTop, "list `N` contributions of each variant; with --diff show so many texts")
	flags.BoolVar(&f.diff, "diff", false, "show the largest edited texts before and after")
	flags.BoolVar(&f.text, "with-text", false, "show the largest edited texts before and after on the HTML page, as --diff does elsewhere")
	flags.BoolVar(&f.redact, "redact", false, redactUsage)
	flags.IntVar(&f.lines, "lines", 40, "lines `N` of each text that --diff shows")
	flags.StringVar(&f.emit, "emit", "", "write what the model would have seen of every edited text into `FOLDER`, which must be new or empty")
	flags.StringVar(&f.rates, "rates", "", "`FILE` of base rates of detours that --calibrate wrote")
	flags.BoolVar(&f.calibrate, "calibrate", false, "fit base rates of detours on the sessions and say how well they predict; -o FILE keeps them")
	complete(cmd, "variant", variantNames())
	return cmd
}

func variantNames() []string {
	var names []string
	for _, v := range variants.All() {
		names = append(names, v.Name)
	}
	return names
}

func (f *replayFlags) check(cmd *cobra.Command, paths []string) error {
	switch {
	case f.demo && len(paths) > 0:
		return usage(cmd, "--demo replays the bundled session and takes no PATH")
	case f.top < 1:
		return usage(cmd, "--top %d must be 1 or more", f.top)
	case f.shard != "" && f.together():
		return usage(cmd, "--shard replays sessions one by one: leave out --calibrate, --diff, --with-text and --emit")
	case f.lines < 1:
		return usage(cmd, "--lines %d must be 1 or more", f.lines)
	case f.compact && f.format != "json":
		return usage(cmd, "--compact goes with --format json")
	case f.diff && f.format == "json":
		return usage(cmd, "--diff goes with --format term or md; --emit FOLDER writes the whole texts")
	case f.diff && f.format == "html":
		return usage(cmd, "--diff shows logged text: with --format html that is --with-text")
	case f.text && f.format != "html":
		return usage(cmd, "--with-text goes with --format html")
	case f.calibrate && (len(f.variants) > 0 || len(f.own) > 0 || f.rates != "" || f.diff || f.text || f.emit != ""):
		return usage(cmd, "--calibrate fits base rates and replays nothing: leave out --variant, --variants, --rates, --diff, --with-text and --emit")
	}
	f.details = f.details || cmd.Flags().Changed("top") && !f.diff && !f.text
	return f.outputFlags.check(cmd)
}

func (a *app) replay(cmd *cobra.Command, f *replayFlags, paths []string) error {
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
	uses, err := a.uses(cmd, f)
	if err != nil {
		return err
	}
	if err := checkEmit(f.emit); err != nil {
		return err
	}
	r := request{paths: paths, selection: sel, zone: zone, demo: f.demo, prices: f.prices, redact: f.redact}
	return whereError(cmd, a.replayRequest(cmd.Context(), f, r, uses))
}

// replayRequest replays what a request names: a handful of sessions together, more
// one by one.
func (a *app) replayRequest(ctx context.Context, f *replayFlags, r request, uses []replay.Use) (err error) {
	s, err := a.open(ctx, r)
	if err != nil {
		return err
	}
	defer closing(s.close, &err)
	w, err := a.fleetOf(ctx, f, r, s, uses)
	if err != nil {
		return err
	}
	if w != nil {
		a.warnSkipped(s)
		return a.replayFleet(ctx, w)
	}
	recs, leftOut, err := a.recordedIn(ctx, s, r)
	if err != nil {
		return err
	}
	if f.calibrate {
		return a.calibrate(ctx, f, recs)
	}
	shown, err := a.replayAll(ctx, f, recs, uses)
	if err != nil {
		return err
	}
	shown.LeftOut = leftOut
	return a.writeReplay(f, shown)
}

// uses are the variants asked for: by name, else the own ones, else the usual ones.
func (a *app) uses(cmd *cobra.Command, f *replayFlags) ([]replay.Use, error) {
	var own []variants.Own
	for _, file := range f.own {
		list, err := variants.Load(file)
		if err != nil {
			return nil, err
		}
		own = append(own, list...)
	}
	specs := f.variants
	switch {
	case f.calibrate:
		return nil, nil
	case len(specs) == 0 && len(own) > 0:
		for _, o := range own {
			specs = append(specs, o.Name)
		}
	case len(specs) == 0:
		specs = strings.Fields(usualVariants)
		a.warn("the usual variants; --variant names others, 'fclog variants' lists them")
	}
	var uses []replay.Use
	seen := map[string]bool{}
	for _, spec := range specs {
		use, err := variants.ParseWith(own, spec)
		if err != nil {
			return nil, usage(cmd, "--variant: %w", err)
		}
		if err := variants.CheckInputs(use); errors.Is(err, variants.ErrUnreadable) {
			return nil, fmt.Errorf("--variant: %w", err)
		} else if err != nil {
			return nil, usage(cmd, "--variant: %w", err)
		}
		if seen[use.Name] {
			return nil, usage(cmd, "--variant %s is given twice", use.Name)
		}
		seen[use.Name] = true
		uses = append(uses, use)
	}
	return uses, nil
}

// recorded reads what a request names and measures it, and counts the sub-agents that
// are known but not among it; when it returns, nothing temporary is left.
func (a *app) recorded(ctx context.Context, r request) (recs []replay.Recording, leftOut int64, err error) {
	s, err := a.open(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	defer closing(s.close, &err)
	return a.recordedIn(ctx, s, r)
}

// recordedIn is recorded for a source that is open.
func (a *app) recordedIn(ctx context.Context, s *source, r request) (recs []replay.Recording, leftOut int64, err error) {
	err = a.withSource(ctx, s, r, func(db *analyze.DB) error {
		a.warnSkipped(s)
		sessions, err := db.Recordings(ctx)
		if err != nil {
			return err
		}
		if leftOut, err = leftOutOf(ctx, db); err != nil {
			return err
		}
		if len(sessions) == 0 {
			return fmt.Errorf("%w: no session matches the selection", errNothing)
		}
		for _, session := range sessions {
			session.File = s.name(session.File)
		}
		recs, err = atOnce(ctx, func() ([]replay.Recording, error) { return measured(sessions), nil })
		return err
	})
	return recs, leftOut, err
}

func leftOutOf(ctx context.Context, db *analyze.DB) (n int64, err error) {
	rows, err := analyze.Ask(ctx, db, "left-out", analyze.Params{})
	if err != nil {
		return 0, err
	}
	defer closing(rows.Close, &err)
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// measured sizes sessions, a few at a time.
func measured(sessions []*rollout.Session) []replay.Recording {
	recs := make([]replay.Recording, len(sessions))
	counter := tokens.New()
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	var panics bug.Carrier
	for i, s := range sessions {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			panics.Do(func() { recs[i] = replay.Recording{Session: s, Sizes: measure.Measure(s, counter)} })
		})
	}
	wg.Wait()
	panics.Drop()
	return recs
}

func (a *app) replayAll(ctx context.Context, f *replayFlags, recs []replay.Recording, uses []replay.Use) (*report.Replay, error) {
	shown, err := atOnce(ctx, func() (*report.Replay, error) { return a.replayed(ctx, f, recs, uses) })
	if err == nil && f.emit != "" {
		if err = emit(ctx, f.emit, shown); err != nil {
			err = fmt.Errorf("writing to %s: %w", f.emit, err)
		}
	}
	return shown, err
}

// replayed works out all estimates.
func (a *app) replayed(ctx context.Context, f *replayFlags, recs []replay.Recording, uses []replay.Use) (*report.Replay, error) {
	engine, err := a.engine(f.prices)
	if err != nil {
		return nil, err
	}
	rates, err := f.baseRates(recs)
	if err != nil {
		return nil, err
	}
	estimator := detour.NewEstimator(recs, rates)
	result, err := engine.Run(ctx, recs, uses, replay.RunOptions{
		Detours: func(_ []replay.Recording, plans []replay.Plan) *replay.Detours { return estimator.Estimate(plans) },
		Trials:  compare.TrialsNeeded,
	})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	shown := shownReplay(result, recs, uses)
	if f.diff || f.text || f.emit != "" {
		for i, use := range uses {
			if shown.Variants[i].Changes, err = changes(ctx, engine, recs, use); err != nil {
				return nil, err
			}
		}
	}
	return shown, nil
}

// engine prices plans by the price book and the shipped cache model.
func (a *app) engine(prices []string) (*replay.Engine, error) {
	book, err := a.priceBook(prices)
	if err != nil {
		return nil, err
	}
	cache, err := replay.DefaultCache()
	if err != nil {
		return nil, err
	}
	return &replay.Engine{Count: tokens.New().Count, Price: ratesOf(book), Cache: cache}, nil
}

// ratesOf hands the price book to the engine, which knows no price files.
func ratesOf(book *pricing.Book) func(provider, model string) (replay.Rates, bool) {
	return func(provider, model string) (replay.Rates, bool) {
		p, ok := book.Lookup(provider, model)
		if !ok {
			return replay.Rates{}, false
		}
		rates := flatRates(p.Rates)
		if p.LongContext != nil {
			long := flatRates(p.LongContext.Rates)
			rates.LongAbove, rates.Long = &p.LongContext.AboveInputTokens, &long
		}
		return rates, true
	}
}

func flatRates(r pricing.Rates) replay.Rates {
	r = r.Effective()
	return replay.Rates{Input: *r.Input, CacheRead: *r.CacheRead, CacheWrite5m: *r.CacheWrite5m, CacheWrite1h: *r.CacheWrite1h, Output: *r.Output}
}

// baseRates are those of the file named, else of the sessions themselves, which
// fall back to the orientation figures.
func (f *replayFlags) baseRates(recs []replay.Recording) (detour.Rates, error) {
	if f.rates != "" {
		return detour.Load(f.rates)
	}
	return detour.FromLogs(recs), nil
}

// shownReplay adds to a result what lives outside of the engine.
func shownReplay(result *replay.Report, recs []replay.Recording, uses []replay.Use) *report.Replay {
	out := &report.Replay{Report: result}
	source := commonSource(recs)
	for i, use := range uses {
		e := result.Variants[i]
		v := report.ReplayVariant{Title: titleOf(use)}
		if e.TrialsNeeded != nil {
			v.Need = compare.NeedOf(*e.StaticSavingShare, recs)
		}
		if line, ok := compare.LineFor(source, use, v.Need); ok && e.Unsupported == nil {
			v.Line = &line
		}
		out.Variants = append(out.Variants, v)
	}
	return out
}

func titleOf(use replay.Use) string {
	var titles []string
	for _, step := range use.Steps {
		titles = append(titles, cmp.Or(step.Variant.Title, step.Variant.Name))
	}
	return strings.Join(titles, ", then ")
}

// commonSource is the log format of all recordings; "" they differ.
func commonSource(recs []replay.Recording) string {
	source := recs[0].Session.Source
	for _, rec := range recs {
		if rec.Session.Source != source {
			return ""
		}
	}
	return source
}

func (a *app) writeReplay(f *replayFlags, shown *report.Replay) error {
	o := report.ReplayOptions{
		Options: report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Top: f.top},
		Details: f.details, Diff: f.diff || f.text, Lines: f.lines,
	}
	return a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.ReplayJSON(w, shown, !f.compact)
		case "md":
			return report.ReplayMarkdown(w, shown, o)
		case "html":
			return report.ReplayHTML(w, shown, o)
		}
		return report.ReplayTerminal(w, shown, o)
	})
}

// calibrate fits base rates. With -o the rates go to the file, and what they are
// worth to the standard output.
func (a *app) calibrate(ctx context.Context, f *replayFlags, recs []replay.Recording) error {
	rates, err := atOnce(ctx, func() (detour.Rates, error) { return detour.Calibrate(recs), nil })
	if err != nil {
		return err
	}
	if f.file != "" && f.file != "-" {
		if err := a.write(f.outputFlags, rates.Write); err != nil {
			return err
		}
		f.file = ""
		if f.format == "json" {
			return nil
		}
	}
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Top: f.top}
	return a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return rates.Write(w)
		case "md":
			return report.RatesMarkdown(w, rates, o)
		case "html":
			return report.RatesHTML(w, rates)
		}
		return report.RatesTerminal(w, rates, o)
	})
}
