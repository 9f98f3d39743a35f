package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/fclog/fclog/internal/bug"
	"github.com/fclog/fclog/internal/redact"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/rollout"
)

// SchemaVersion is the version of the machine-readable output. Keys are added,
// never renamed or removed.
const SchemaVersion = 1

// topContributions is how many contributions a variant's estimate keeps.
const topContributions = 50

// RunOptions join the engine with what lives outside of it.
type RunOptions struct {
	Workers int                                           // recordings at a time; 0: one per processor
	Detours func(recs []Recording, plans []Plan) *Detours // nil: no estimate of detours
	Trials  func(share float64, recs []Recording) *int64  // nil: no estimate of trials
}

// Report is what a run found out.
type Report struct {
	SchemaVersion int          `json:"schema_version"`
	Sessions      []SessionRef `json:"sessions"`
	Baseline      Totals       `json:"baseline"`
	Variants      []Estimate   `json:"variants"`
	CacheModel    CacheError   `json:"cache_model"`
	Warnings      []string     `json:"warnings"`
}

// SessionRef names a session of a report.
type SessionRef struct {
	SessionID   string `json:"session_id"`
	Source      string `json:"source"`
	File        string `json:"file"`
	Requests    int64  `json:"requests"`               // its own
	Compactions int64  `json:"compactions"`            // times its conversation was summarised
	Usage       bool   `json:"usage"`                  // the log holds token figures
	NoUsage     int64  `json:"requests_without_usage"` // own answered requests without an input figure
}

// outcomes are a recording's results under every use.
type outcomes struct {
	base   Outcome // under the empty plan
	plans  []Plan
	low    []Outcome
	high   []Outcome
	errors []cacheMiss
	later  []int // by use: compactions that would have come later
}

// Run estimates every use over all recordings together. The cache parameters that
// providers do not publish are fitted, for each recording, on the other half of
// them; a single recording has the published ones. When ctx ends, so does the run,
// with its error and no report.
func (e *Engine) Run(ctx context.Context, recs []Recording, uses []Use, o RunOptions) (*Report, error) {
	if len(recs) == 0 {
		return nil, errors.New("no sessions to replay")
	}
	engines := e.folds(recs)
	results := make([]outcomes, len(recs))
	each(len(recs), o.Workers, func(i int) { results[i] = engines[i%len(engines)].all(ctx, recs[i], uses) })
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("replaying: %w", err)
	}
	report := &Report{SchemaVersion: SchemaVersion, CacheModel: engines[0].cacheError(results)}
	for i, rec := range recs {
		report.Sessions = append(report.Sessions, refOf(rec.Session))
		report.Baseline.merge(results[i].base.Total)
	}
	report.Warnings = recordingWarnings(report)
	for u, use := range uses {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("replaying: %w", err)
		}
		report.Variants = append(report.Variants, estimate(recs, results, u, use, report, o))
	}
	if err := report.withoutSecrets(); err != nil {
		return nil, fmt.Errorf("replaying: %w", err)
	}
	return report, nil
}

// withoutSecrets takes keys and passwords out of the commands and paths that a report
// names: it is passed on.
func (r *Report) withoutSecrets() error {
	var names []*string
	for _, v := range r.Variants {
		for i := range v.Top {
			names = append(names, &v.Top[i].What)
		}
	}
	return redact.Each(names)
}

// each calls work for 0 to n-1, a bounded number at a time.
func each(n, workers int, work func(int)) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	var panics bug.Carrier
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				panics.Do(func() { work(i) })
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	panics.Drop()
}

// folds returns an engine for the recordings of even and one for those of odd
// index, each with the cache parameters that the others show. Texts are counted
// once for all.
func (e *Engine) folds(recs []Recording) []*Engine {
	shared := *e
	shared.Count = remember(e.Count)
	if len(recs) < 2 {
		return []*Engine{&shared}
	}
	out := []*Engine{}
	for fold := range 2 {
		var others []Recording
		for i, rec := range recs {
			if i%2 != fold {
				others = append(others, rec)
			}
		}
		fitted := shared
		fitted.Cache = shared.FitCache(others)
		out = append(out, &fitted)
	}
	return out
}

// remember keeps the counts of texts.
func remember(count CountText) CountText {
	type key struct{ encoding, text string }
	var known sync.Map
	return func(encoding, text string) int64 {
		if n, ok := known.Load(key{encoding, text}); ok {
			return n.(int64)
		}
		n := count(encoding, text)
		known.Store(key{encoding, text}, n)
		return n
	}
}

// all works out every use for one recording, as far as ctx lets it.
func (e *Engine) all(ctx context.Context, rec Recording, uses []Use) outcomes {
	if ctx.Err() != nil {
		return outcomes{}
	}
	l := e.ledger(rec)
	out := outcomes{base: l.evaluate(Plan{}, false), errors: l.cacheMisses()}
	for _, use := range uses {
		plan := e.Plan(ctx, rec, use)
		if ctx.Err() != nil {
			return outcomes{}
		}
		low := l.evaluate(plan, false)
		high := low
		if hasUncertain(plan) {
			high = l.evaluate(plan, true)
		}
		out.plans = append(out.plans, plan)
		out.low = append(out.low, low)
		out.high = append(out.high, high)
		out.later = append(out.later, l.postponed(low))
	}
	return out
}

func hasUncertain(p Plan) bool {
	for _, r := range p.Removals {
		if !r.Certain {
			return true
		}
	}
	return false
}

func refOf(s *rollout.Session) SessionRef {
	ref := SessionRef{SessionID: s.ID, Source: s.Source, File: s.File, Compactions: int64(len(compactions(s)))}
	for _, r := range s.Requests {
		if !r.Inherited {
			ref.Requests++
			ref.Usage = ref.Usage || r.Usage.Input != nil
			if r.Status == rollout.Answered && r.Usage.Input == nil {
				ref.NoUsage++
			}
		}
	}
	return ref
}

// recordingWarnings say what every estimate of a report suffers from.
func recordingWarnings(r *Report) []string {
	var out []string
	single, silent, compacted, partly := 0, 0, int64(0), int64(0)
	for _, s := range r.Sessions {
		compacted += s.Compactions
		if s.Usage {
			partly += s.NoUsage
		}
		switch {
		case s.Requests == 1:
			single++
		case s.Requests > 0 && !s.Usage:
			silent++
		}
	}
	if single > 0 {
		out = append(out, sessionsOf(single, len(r.Sessions), "a single request: nothing is carried on there, so a saving over a whole task cannot show"))
	}
	if silent > 0 {
		out = append(out, sessionsOf(silent, len(r.Sessions), usageMissing(silent == len(r.Sessions) && r.Baseline.OutputTokens != nil)+": savings are known as counted tokens alone"))
	}
	if partly > 0 {
		out = append(out, term.Count(partly, "answered request holds", "answered requests hold")+" no usage: nothing is counted as saved there")
	}
	if compacted > 0 {
		out = append(out, term.Count(compacted, "compaction stays where it was", "compactions stay where they were")+" recorded")
	}
	if r.Baseline.CostPartial && r.Baseline.CostUSD != nil {
		out = append(out, "some requests have no known price: USD figures cover the others")
	}
	return out
}

// usageMissing names what a session lacks of which the input is not known.
func usageMissing(output bool) string {
	if output {
		return "no input usage"
	}
	return "no usage"
}

// sessionsOf says that some of all sessions hold something.
func sessionsOf(some, all int, what string) string {
	hold := "hold"
	if some == 1 {
		hold = "holds"
	}
	return fmt.Sprintf("%d of %s %s %s", some, term.Count(int64(all), "session", "sessions"), hold, what)
}
