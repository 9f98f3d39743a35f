package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/detour"
	"github.com/fclog/fclog/replay/fleet"
	"github.com/fclog/fclog/replay/variants"
)

// handful is how many sessions are replayed together in memory; more are a fleet,
// replayed one by one.
const handful = 20

// fleetFlags choose among many sessions.
type fleetFlags struct {
	where  string
	sample int
	seed   int64
}

func (f *fleetFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.where, "where", "", "only sessions that meet this SQL `CONDITION` over the columns of the table sessions, such as \"agent_version LIKE '1.4%'\"")
	flags.IntVar(&f.sample, "sample", 0, "only `N` of the sessions, drawn by a hash of their IDs")
	flags.Int64Var(&f.seed, "seed", 1, "another `NUMBER` draws another --sample")
}

func (f *fleetFlags) choose(cmd *cobra.Command, sel *analyze.Selection) error {
	if err := positive(cmd, "sample", f.sample); err != nil {
		return err
	}
	if f.where == "" && cmd.Flags().Changed("where") {
		return usage(cmd, "--where is empty")
	}
	sel.Where, sel.Sample, sel.Seed = f.where, f.sample, 0
	if f.sample > 0 {
		sel.Seed = f.seed
	}
	return nil
}

// whereError makes what is wrong with --where an error of usage.
func whereError(cmd *cobra.Command, err error) error {
	if errors.Is(err, analyze.ErrCondition) || errors.Is(err, analyze.ErrFunction) {
		return usage(cmd, "--where: %w", err)
	}
	return err
}

// fleetReplay is a replay of more sessions than are held in memory.
type fleetReplay struct {
	*app
	flags    *replayFlags
	source   *source
	fleet    *analyze.Fleet
	sessions []analyze.FleetSession
	uses     []replay.Use
	keys     []analyze.EstimateKey // by use
	date     string                // newest of the prices
	engine   *replay.Engine
	tokens   *tokens.Tokens
	into     string // where estimates are written
}

// fleetOf opens what a request names as a fleet, if it is one; else nil.
func (a *app) fleetOf(ctx context.Context, f *replayFlags, r request, s *source, uses []replay.Use) (*fleetReplay, error) {
	if f.together() || f.shard == "" && f.sample == 0 && dataset.SessionRows(s.dir, handful) <= handful {
		return nil, nil
	}
	sel := r.selection
	sel.Parts = s.parts
	fl, err := analyze.OpenFleet(ctx, analyze.Options{Dataset: s.dir, Selection: sel, TZ: r.zone})
	if err != nil {
		return nil, err
	}
	w := &fleetReplay{app: a, flags: f, source: s, fleet: fl, uses: uses, into: s.dir, tokens: tokens.New()}
	if w.sessions, err = fl.Sessions(ctx); err != nil {
		return nil, errors.Join(err, fl.Close())
	}
	if f.shard == "" && f.sample == 0 && len(w.sessions) <= handful {
		return nil, fl.Close()
	}
	if s.temp != "" && r.keep == "" || f.noSave {
		w.into = fl.Aside()
	}
	if err := w.price(); err != nil {
		return nil, errors.Join(err, fl.Close())
	}
	return w, nil
}

// together says that what was asked for takes all sessions at once.
func (f *replayFlags) together() bool {
	return f.calibrate || f.diff || f.text || f.emit != ""
}

// price makes the engine and the keys of the estimates.
func (w *fleetReplay) price() error {
	book, err := w.priceBook(w.flags.prices)
	if err != nil {
		return err
	}
	cache, err := replay.DefaultCache()
	if err != nil {
		return err
	}
	w.engine = &replay.Engine{Count: w.tokens.Count, Price: ratesOf(book), Cache: cache}
	hash, date, err := bookOf(book)
	if err != nil {
		return err
	}
	w.date = date
	for _, use := range w.uses {
		w.keys = append(w.keys, analyze.EstimateKey{Variant: use.Name, Options: fleet.Options(use), Rules: fleet.Rules + "." + dataset.Importer, Prices: hash})
	}
	return nil
}

// bookOf tells a price book from others, and how new it is.
func bookOf(book *pricing.Book) (hash, date string, err error) {
	rows := book.Rows()
	for i := range rows {
		date = max(date, rows[i].Date)
		rows[i].File = "" // the same prices from another file are the same
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), date, nil
}

// lasting says whether what a use makes of a session follows from its name and
// settings: other programs, prompts in files and rules of one's own may change.
func lasting(use replay.Use) bool {
	for _, step := range use.Steps {
		known := slices.ContainsFunc(variants.All(), func(v replay.Variant) bool { return v.Name == step.Variant.Name })
		if !known || step.Variant.Name == "exec" || step.Variant.Name == "prompt" {
			return false
		}
	}
	return true
}

// result adds up what is known of the fleet.
func (w *fleetReplay) result(ctx context.Context) (*report.Replay, error) {
	rates, learnt, err := w.rates(ctx)
	if err != nil {
		return nil, err
	}
	out := &report.Replay{
		Report: &replay.Report{SchemaVersion: replay.SchemaVersion, Warnings: []string{}},
		Fleet: &fleet.Report{
			Sessions: int64(len(w.sessions)), Population: w.fleet.Population, Learnt: learnt,
			Clusters: "sessions of one task, else a session with its sub-agents",
			Method:   "studentised bootstrap with the jackknife's standard error, 95 %",
		},
	}
	at := map[string]analyze.FleetSession{}
	for _, s := range w.sessions {
		at[idOf(s)] = s
		out.Report.Sessions = append(out.Report.Sessions, replay.SessionRef{SessionID: s.ID, Source: s.Source, File: w.source.name(s.File)})
	}
	slices.SortFunc(out.Report.Sessions, func(a, b replay.SessionRef) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.SessionID, b.SessionID))
	})
	for u, use := range w.uses {
		r, err := w.sum(ctx, u, at, rates, out.Report)
		if err != nil {
			return nil, err
		}
		out.Report.Baseline = r.Baseline
		out.Report.Variants = append(out.Report.Variants, r.Estimate)
		out.Variants = append(out.Variants, report.ReplayVariant{Title: titleOf(use)})
		out.Fleet.Variants = append(out.Fleet.Variants, r.Fleet)
		if u == 0 {
			out.Report.Warnings = append(out.Report.Warnings, fleetWarnings(r, len(w.sessions))...)
		}
	}
	return out, nil
}

func fleetWarnings(r fleet.Result, sessions int) []string {
	var out []string
	all := term.Count(int64(sessions), "session", "sessions")
	if r.Single > 0 {
		out = append(out, fmt.Sprintf("%d of %s hold a single request: nothing is carried on there, so a saving over a whole task cannot show", r.Single, all))
	}
	if r.Silent > 0 {
		out = append(out, fmt.Sprintf("%d of %s hold no input usage: they are in no figure of provider tokens or USD", r.Silent, all))
	}
	if r.Baseline.CostPartial && r.Baseline.CostUSD != nil {
		out = append(out, "some requests have no known price: USD figures cover the others")
	}
	return out
}

// sum adds up the estimates of one use and fills in what the report says of sessions.
func (w *fleetReplay) sum(ctx context.Context, u int, at map[string]analyze.FleetSession, rates detour.Rates, rep *replay.Report) (fleet.Result, error) {
	s := fleet.NewSum(w.uses[u])
	requests := map[string]dataset.Estimate{}
	err := w.fleet.Estimates(ctx, w.keys[u], func(source string, e dataset.Estimate) {
		row := w.row(source, e, at)
		s.Add(row)
		if u == 0 {
			requests[source+"\x00"+e.SessionID] = dataset.Estimate{RecordedRequests: e.RecordedRequests, RecordedInputTokens: e.RecordedInputTokens}
		}
	})
	if err != nil {
		return fleet.Result{}, err
	}
	for i := range rep.Sessions {
		if e, ok := requests[rep.Sessions[i].Source+"\x00"+rep.Sessions[i].SessionID]; ok {
			rep.Sessions[i].Requests, rep.Sessions[i].Usage = e.RecordedRequests, e.RecordedInputTokens != nil
		}
	}
	lossy, err := w.fleet.Lossy(ctx, w.keys[u])
	if err != nil {
		return fleet.Result{}, err
	}
	return s.Result(fleet.Setting{Population: w.fleet.Population, Lossy: lossyCounts(lossy), Rates: rates, Top: w.flags.top}), nil
}

// rates are the base rates to use: of the file named, else of the sessions, as
// outcomes have taught them.
func (w *fleetReplay) rates(ctx context.Context) (detour.Rates, *fleet.Learnt, error) {
	if w.flags.rates != "" {
		rates, err := detour.Load(w.flags.rates)
		return rates, nil, err
	}
	seen, err := w.fleet.Seen(ctx, w.keys[0])
	if err != nil {
		return detour.Rates{}, nil, err
	}
	rates := detour.FromCounts(seenCounts(seen), int64(len(w.sessions)))
	if w.flags.noLearn {
		return rates, nil, nil
	}
	outcomes, err := w.fleet.Outcomes(ctx)
	if err != nil {
		return detour.Rates{}, nil, err
	}
	rates, lesson := rates.Learn(foundIn(outcomes))
	if lesson == nil {
		return rates, nil, nil
	}
	return rates, &fleet.Learnt{Outcomes: lesson.Outcomes, Weight: lesson.Weight, Factor: lesson.Factor}, nil
}

// replayFleet replays a fleet and writes what came of it.
func (a *app) replayFleet(ctx context.Context, w *fleetReplay) (err error) {
	defer closing(w.fleet.Close, &err)
	if len(w.sessions) == 0 {
		return fmt.Errorf("%w: no session matches the selection", errNothing)
	}
	part, err := w.flags.whichShard()
	if err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	if !part.None() && w.into == w.fleet.Aside() {
		return fmt.Errorf("--shard leaves estimates in a dataset for a later run: name a dataset, and leave out --no-save")
	}
	done, err := w.work(ctx, part)
	if err != nil {
		return err
	}
	if !part.None() {
		return a.writeShard(w, part, done)
	}
	shown, err := w.result(ctx)
	if err != nil {
		return err
	}
	return a.writeReplay(w.flags, shown)
}

// writeShard says what a shard did; the report is for a run over all of them.
func (a *app) writeShard(w *fleetReplay, part shard.Shard, done int) error {
	return a.write(w.flags.outputFlags, func(out io.Writer) error {
		if w.flags.format == "json" {
			return report.WriteJSON(out, struct {
				SchemaVersion int    `json:"schema_version"`
				Shard         string `json:"shard"`
				Replayed      int    `json:"replayed_sessions"`
				Variants      int    `json:"variants"`
			}{replay.SchemaVersion, part.String(), done, len(w.uses)}, !w.flags.compact)
		}
		_, err := fmt.Fprintf(out, "shard %s: %s replayed. The same command without --shard reports on all.\n", part, term.Count(int64(done), "session", "sessions"))
		return err
	})
}

func (f *replayFlags) whichShard() (shard.Shard, error) {
	if f.shard == "" {
		return shard.Shard{}, nil
	}
	return shard.Parse(f.shard)
}
