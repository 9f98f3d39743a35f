package variants

import (
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout/measure"
)

// clearStub stands where a cleared result stood.
const clearStub = "[old tool result cleared]"

// ClearToolResults is context clearing as providers offer it.
func ClearToolResults() replay.Variant {
	return checked(replay.Variant{
		Name:  "clear-tool-results",
		Title: "clear old tool results when the input passes a threshold",
		Doc: "When the input of a request exceeds the trigger, all tool results but the newest are replaced by a placeholder, as Anthropic's context editing does " +
			"(clear_tool_uses; its defaults are trigger 100000 and keep 3). Nothing is cleared while that would free less than clear_at_least. " +
			"A result is never cleared in the first request that carries it. Every clearing breaks the cached prefix at the oldest result cleared.",
		Options: []replay.Option{
			whole("trigger", 100000, 1, "input tokens above which results are cleared"),
			whole("keep", 3, 0, "newest tool results that stay"),
			whole("clear_at_least", 0, 0, "tokens that a clearing must free, or it waits"),
		},
		Needs: []string{"text of tool results", "usage; without it the logged items alone stand for the input"},
		Plan:  planClear,
	})
}

func planClear(v replay.View, values replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	trigger, keep, least := float64(number(values, "trigger")), number(values, "keep"), float64(number(values, "clear_at_least"))
	stubs := newStubber(v, clearStub, "cleared")
	inputs := newInputs(v)
	cleared := map[[2]int]bool{} // chain, call
	walk(v, func(k int, seen []observation) {
		r := v.Session.Requests[k]
		for _, o := range seen {
			if o.call >= 0 && cleared[[2]int{r.Chain, o.call}] {
				stubs.replace(o, r.Number)
			}
		}
		factor := inputs.factor[r.Model]
		input := inputs.of(k) - factor*float64(stubs.savedIn(seen))
		if r.Base >= 0 || input <= trigger {
			return
		}
		var due []observation
		frees := 0.0
		for _, o := range seen[:max(len(seen)-keep, 0)] {
			if !o.unseen && stubs.pending(o) {
				due = append(due, o)
				frees += factor * float64(stubs.saving(o))
			}
		}
		if frees < least {
			return
		}
		for _, o := range due {
			cleared[[2]int{r.Chain, o.call}] = true
			stubs.replace(o, r.Number)
		}
	})
	plan := stubs.plan()
	if inputs.counted {
		plan.Warnings = append(plan.Warnings, "requests without usage were measured against the trigger by their logged items alone")
	}
	return plan
}

// savedIn is what stubs in place already save in a payload, in raw tokens.
func (b *stubber) savedIn(seen []observation) int64 {
	sum := int64(0)
	for _, o := range seen {
		for i, span := range o.spans {
			if b.done[span] {
				sum += b.spanSaving(span, i == 0)
			}
		}
	}
	return sum
}

// inputs knows the input of every request in provider tokens, less what earlier
// variants save.
type inputs struct {
	v       replay.View
	factor  map[string]float64 // by model: provider tokens per raw token
	less    []int64            // raw tokens that earlier variants save, by request
	counted bool               // an input was taken from the logged items
}

func newInputs(v replay.View) *inputs {
	in := &inputs{v: v, factor: map[string]float64{}, less: savedBefore(v)}
	for _, r := range v.Session.Requests {
		in.factor[r.Model] = 1
	}
	for _, c := range v.Sizes.Calibration {
		if c.Fit == measure.FitAll && c.Kind == "" {
			in.factor[c.Model] = c.Factor
		}
	}
	return in
}

// of is the input of a request. An attempt without usage sent what was counted.
func (in *inputs) of(k int) float64 {
	r := in.v.Session.Requests[k]
	saved := in.factor[r.Model] * float64(in.less[k])
	if r.Usage.Input != nil {
		return float64(*r.Usage.Input) - saved
	}
	in.counted = true
	return in.factor[r.Model]*float64(in.v.Sizes.Requests[k].Counted) - saved
}

// savedBefore sums, by request, the raw tokens that the variants before this one
// save, by differences along the chains.
func savedBefore(v replay.View) []int64 {
	s := v.Session
	diffs := map[[2]int]int64{}
	for i, sp := range s.Spans {
		if !v.Dropped(i) && (v.Opaque(i) || v.Text(i) == s.Texts[sp.Text].S) {
			continue
		}
		recorded := int64(0)
		if n := v.Sizes.Spans[i].Tokens; n != nil {
			recorded = *n
		}
		less := recorded - carried(v, i)
		diffs[[2]int{sp.Chain, sp.First}] += less
		diffs[[2]int{sp.Chain, sp.Last + 1}] -= less
	}
	out := make([]int64, len(s.Requests))
	running := map[int]int64{}
	for i, r := range s.Requests {
		running[r.Chain] += diffs[[2]int{r.Chain, r.Number}]
		out[i] = running[r.Chain]
	}
	return out
}
