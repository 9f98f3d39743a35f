package replay

import (
	"cmp"
	"math"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// Outcome is a session under a plan. Inherited requests are in Requests, as the
// others refer to them, and in no sum.
type Outcome struct {
	Requests      []RequestOutcome // parallel to the session's
	Extras        []RequestOutcome // parallel to the plan's
	Total         Totals           // requests that are left, and what removed ones still produce
	Extra         Totals           // the requests the plan adds; not in Total
	Removed       int64            // requests taken out
	CacheReadLost *int64           // tokens no longer read because sent text changed or requests went; nil without cache figures
	Clamped       int64            // requests whose cache read was clamped to what is possible
	SavedLow      *float64         // whole input tokens saved with the factors at the lower end of their spread, extras apart; nil without usage
	SavedHigh     *float64         // the same at the upper end
	ExtraRequest  ExtraRequest
	Contributions []Contribution // largest first
	Warnings      []string
}

// RequestOutcome is one request under a plan. Tokens are the provider's unless
// noted; nil is unknown, as in the recording.
type RequestOutcome struct {
	Removed    bool  // not made: its sizes are 0, its output is what moved elsewhere
	Counted    int64 // raw tokens of the spans it carries, its base included
	Input      *int64
	CacheRead  *int64
	CacheWrite *int64
	Output     *int64
	CostUSD    *float64
}

// Totals are sums over requests. A sum is nil where no request has the figure.
type Totals struct {
	Requests         int64    `json:"requests"`
	CountedTokens    int64    `json:"counted_tokens"` // raw
	InputTokens      *int64   `json:"input_tokens"`
	CacheReadTokens  *int64   `json:"cache_read_tokens"`
	CacheWriteTokens *int64   `json:"cache_write_tokens"`
	OutputTokens     *int64   `json:"output_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	CostPartial      bool     `json:"cost_partial"` // some requests with usage have no price: cost_usd is a part
}

func (t *Totals) add(r RequestOutcome) {
	if !r.Removed {
		t.Requests++
	}
	t.CountedTokens += r.Counted
	accumulate(&t.InputTokens, r.Input)
	accumulate(&t.CacheReadTokens, r.CacheRead)
	accumulate(&t.CacheWriteTokens, r.CacheWrite)
	accumulate(&t.OutputTokens, r.Output)
	accumulate(&t.CostUSD, r.CostUSD)
	t.CostPartial = t.CostPartial || r.Input != nil && r.CostUSD == nil
}

func (t *Totals) merge(o Totals) {
	t.Requests += o.Requests
	t.CountedTokens += o.CountedTokens
	accumulate(&t.InputTokens, o.InputTokens)
	accumulate(&t.CacheReadTokens, o.CacheReadTokens)
	accumulate(&t.CacheWriteTokens, o.CacheWriteTokens)
	accumulate(&t.OutputTokens, o.OutputTokens)
	accumulate(&t.CostUSD, o.CostUSD)
	t.CostPartial = t.CostPartial || o.CostPartial
}

// accumulate adds what is known; a sum of nothing known stays nil.
func accumulate[T int64 | float64](sum **T, v *T) {
	if v == nil {
		return
	}
	if *sum == nil {
		*sum = new(T)
	}
	**sum += *v
}

// sum fills in the totals over the requests of this session.
func (v *evaluation) sum(out *Outcome) {
	for i, r := range v.rec.Session.Requests {
		if r.Inherited {
			continue
		}
		o := out.Requests[i]
		out.Total.add(o)
		if o.Removed {
			out.Removed++
		}
		if o.Input != nil {
			low, high := v.low[i], v.high[i]
			if o.Removed {
				low, high = float64(*r.Usage.Input), float64(*r.Usage.Input)
			}
			accumulate(&out.SavedLow, &low)
			accumulate(&out.SavedHigh, &high)
		}
		if o.CacheRead != nil && !o.Removed && v.clamped(i) {
			out.Clamped++
		}
		if v.families[i] != nil && o.CacheRead != nil && !o.Removed {
			lost := v.lost(i, *o.CacheRead)
			accumulate(&out.CacheReadLost, &lost)
		}
	}
	for _, sum := range []*float64{out.SavedLow, out.SavedHigh} {
		if sum != nil {
			*sum = float64(whole(*sum))
		}
	}
	for _, x := range out.Extras {
		out.Extra.add(x)
	}
}

// lost is what a request no longer reads from the cache because the plan moves its
// first difference from the one before it towards the front: sent text has changed,
// or the request that would have written it is gone. Where the difference stays at
// its place, what is left between the two is rounding and the error of the counts.
func (v *evaluation) lost(i int, read int64) int64 {
	if v.shared[i].breakAt >= v.before[i].breakAt {
		return 0
	}
	return max(0, v.read(i, v.shared[i].unedited)-read)
}

// contributions lists what each edited item and each removed request saves by
// itself, largest first.
func (v *evaluation) contributions() []Contribution {
	type key struct {
		item int
		why  string
	}
	byItem := map[key]*Contribution{}
	s := v.rec.Session
	calls := callsByItem(s)
	var order []key
	for _, e := range v.lay.edits {
		p := v.plain[e.Span]
		k := key{s.Spans[e.Span].Item, e.Why}
		c := byItem[k]
		if c == nil {
			it := s.Items[k.item]
			c = &Contribution{SessionID: s.ID, Item: k.item, What: whatOf(s, callOf(e, k.item, calls)), Tool: it.Tool, Why: e.Why, Before: p.raw, After: e.raw}
			byItem[k] = c
			order = append(order, k)
		}
		c.Requests += int64(v.requests.between(p.chain, e.From, e.last))
		c.SavedTokens += v.carriedFactors(p.kind).between(p.chain, e.From, e.last) * float64(p.raw-e.raw)
	}
	var out []Contribution
	for _, k := range order {
		out = append(out, *byItem[k])
	}
	out = append(out, v.removalContributions()...)
	slices.SortStableFunc(out, func(a, b Contribution) int { return cmp.Compare(math.Abs(b.SavedTokens), math.Abs(a.SavedTokens)) })
	return out
}

func (v *evaluation) removalContributions() []Contribution {
	s := v.rec.Session
	first := map[int]int{}
	for i, c := range s.Calls {
		if _, ok := first[c.Request]; !ok {
			first[c.Request] = i
		}
	}
	var out []Contribution
	seen := map[int]bool{}
	for _, r := range v.plan.Removals {
		if !v.removed[r.Request] || seen[r.Request] || s.Requests[r.Request].Inherited {
			continue
		}
		seen[r.Request] = true
		c := Contribution{SessionID: s.ID, Item: -1, Why: r.Why, Before: value(s.Requests[r.Request].Usage.Input), Requests: 1, Uncertain: !r.Certain}
		c.SavedTokens = float64(c.Before)
		if call, ok := first[r.Request]; ok {
			c.What, c.Tool = whatOf(s, call), s.Calls[call].Tool
		}
		out = append(out, c)
	}
	return out
}

// callsByItem finds the call of an item: its arguments or its result.
func callsByItem(s *rollout.Session) map[int]int {
	out := map[int]int{}
	for i, c := range s.Calls {
		for _, item := range []int{c.ArgsItem, c.ResultItem} {
			if item >= 0 {
				out[item] = i
			}
		}
	}
	return out
}

func callOf(e sizedEdit, item int, calls map[int]int) int {
	if call, ok := calls[item]; ok {
		return call
	}
	return e.Call
}

// whatOf says in the log's own words what a call was about.
func whatOf(s *rollout.Session, call int) string {
	if call < 0 || call >= len(s.Calls) {
		return ""
	}
	c := s.Calls[call]
	return cmp.Or(c.Path, c.Command, s.Texts[c.Args].S)
}

// ExtraRequest is what requests that make up for a plan would cost, if one
// followed each place where the plan cuts.
type ExtraRequest struct {
	Points int64    // places: lossy edits, where there are any, else all edits; and removals
	Tokens float64  // input and output, summed over the points with usage
	Known  int64    // points with usage
	USD    *float64 // nil where the price of any of them is unknown
}

// extraRequest puts one more request behind each place where the plan cuts: the
// payload at that place, cached as the model says, the mean output, and what comes
// back, carried by the requests that carried what was cut.
func (v *evaluation) extraRequest() ExtraRequest {
	out := ExtraRequest{}
	output := v.meanOutput()
	usd := 0.0
	priced := true
	for _, p := range v.points() {
		out.Points++
		if v.input[p.request] == nil {
			continue
		}
		out.Known++
		back := v.factors[p.request].of(p.kind) * float64(p.cut)
		out.Tokens += float64(*v.input[p.request]) + output + back*p.carried
		_, split, cost := v.again(p.request, *v.input[p.request], int64(math.Round(output)))
		if cost == nil {
			priced = false
			continue
		}
		usd += *cost + v.carryUSD(p.request, back, p.carried, split)
	}
	if priced && out.Known > 0 {
		out.USD = &usd
	}
	return out
}

// carryUSD is what tokens cost that come back: once as new input, then from the
// cache where there is one.
func (v *evaluation) carryUSD(request int, tokens, times float64, split writeSplit) float64 {
	if times <= 0 {
		return 0
	}
	n := int64(math.Round(tokens))
	r := *v.rates[request]
	first := r.cost(n, 0, split.scaled(n, v.write), 0)
	if v.families[request] == nil {
		return first + (times-1)*r.cost(n, 0, writeSplit{}, 0)
	}
	return first + (times-1)*r.cost(n, n, writeSplit{}, 0)
}

// point is a place where a plan cuts.
type point struct {
	request int
	kind    rollout.ItemKind
	cut     int64   // raw tokens that could come back
	carried float64 // requests that would carry them
}

func (v *evaluation) points() []point {
	lossy := slices.ContainsFunc(v.lay.edits, func(e sizedEdit) bool { return e.Lossy })
	var out []point
	for _, e := range v.lay.edits {
		p := v.plain[e.Span]
		request := v.chains[p.chain][e.From-1]
		if lossy && !e.Lossy || v.rec.Session.Requests[request].Inherited {
			continue
		}
		out = append(out, point{request, p.kind, max(0, p.raw-e.raw), v.requests.between(p.chain, e.From+1, e.last)})
	}
	for request := range v.rec.Session.Requests {
		if v.removed[request] && !v.rec.Session.Requests[request].Inherited {
			out = append(out, point{request: request})
		}
	}
	return out
}

// meanOutput is the mean output of the session's own answered requests.
func (v *evaluation) meanOutput() float64 {
	sum, n := 0.0, 0.0
	for _, r := range v.rec.Session.Requests {
		if !r.Inherited && r.Usage.Output != nil {
			sum += float64(*r.Usage.Output)
			n++
		}
	}
	return sum / max(n, 1)
}
