package replay

import (
	"context"
	"errors"
	"fmt"
)

// Single is one recording under one use, by itself: what estimates of many
// recordings are added up from.
type Single struct {
	Base      Totals // as recorded
	Estimate  Estimate
	Plan      Plan
	Extra     ExtraRequest
	Lossy     bool  // the model could miss something that was cut
	AsksModel bool  // no rule of the harness brings it about
	Later     int64 // recorded compactions that would have come later or not at all
}

// Singles works out every use for one recording as if there were no other: cache
// parameters are the published ones, and there is no estimate of detours. What
// comes out depends on the recording, the uses, prices and rules alone.
func (e *Engine) Singles(ctx context.Context, rec Recording, uses []Use) ([]Single, error) {
	if rec.Session == nil {
		return nil, errors.New("no session to replay")
	}
	recs := []Recording{rec}
	results := []outcomes{e.folds(recs)[0].all(ctx, rec, uses)}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("replaying: %w", err)
	}
	report := &Report{Sessions: []SessionRef{refOf(rec.Session)}, Baseline: results[0].base.Total}
	out := make([]Single, len(uses))
	for u, use := range uses {
		s := sums{}
		s.add(rec, results[0], u)
		out[u] = Single{
			Base: results[0].base.Total, Estimate: estimate(recs, results, u, use, report, RunOptions{}), Plan: results[0].plans[u],
			Extra: results[0].low[u].ExtraRequest, Lossy: s.lossy, AsksModel: asksModel(use), Later: int64(s.later),
		}
		if out[u].Estimate.Unsupported != nil {
			out[u].Estimate.unchanged(results[0].base.Total)
		}
	}
	return out, nil
}

// unchanged fills in the figures of a recording that a variant leaves as it was.
func (e *Estimate) unchanged(base Totals) {
	s := sums{base: base, low: base, high: base}
	if base.InputTokens == nil {
		s.silent++
	}
	if base.OutputTokens == nil {
		s.mute++
	}
	s.fill(e, base)
}

// Judge is the verdict on an estimate, or "" where it changes nothing or the saving
// is unknown. lossy says that something was cut that the model could miss, asksModel
// that no rule of the harness brings the change about; counted is all text that was
// recorded, in raw tokens.
func Judge(e Estimate, lossy, asksModel bool, counted int64) string {
	if e.Idle() {
		return ""
	}
	return verdict(e, !lossy && !asksModel, emptied(e.SavedCountedTokens, counted))
}

// BreakEven is how many requests a saving pays for, of which n cost so much in all:
// 0 where there is no saving, nil where that is unknown.
func BreakEven(saving, cost float64, n int64) *float64 { return affords(saving, cost, n) }
