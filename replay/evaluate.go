package replay

import (
	"maps"
	"math"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// Evaluate works out every request of a recording under a plan. high also takes
// out the requests whose removal is not certain.
func (e *Engine) Evaluate(rec Recording, plan Plan, high bool) Outcome {
	return e.ledger(rec).evaluate(plan, high)
}

// evaluation is one plan being worked out. Slices by request index.
type evaluation struct {
	*ledger
	plan    Plan
	lay     layout
	removed map[int]bool
	moved   map[int]int64
	fixed   map[int]bool
	saved   []int64   // raw tokens less than recorded, on the request itself and its base
	input   []*int64  // of the payload, also where the request is removed
	low     []float64 // what the saving would be with the factors at the ends of their spread
	high    []float64
	shared  []shared
}

func (l *ledger) evaluate(plan Plan, high bool) Outcome {
	v := &evaluation{ledger: l, plan: plan, lay: l.lay(plan)}
	v.markRequests(high)
	v.sizePayloads()
	v.shared = l.before
	if len(v.lay.edits)+len(v.lay.added)+len(v.removed) > 0 {
		v.shared = l.sharedPrefixes(v.lay.pieces, v.input, v.removed, l.before)
	}
	out := Outcome{Warnings: v.lay.warnings}
	for i := range l.rec.Session.Requests {
		out.Requests = append(out.Requests, v.request(i))
	}
	for _, x := range plan.Extras {
		out.Extras = append(out.Extras, v.extra(x))
	}
	v.sum(&out)
	out.Contributions = v.contributions()
	out.ExtraRequest = v.extraRequest()
	return out
}

func (v *evaluation) markRequests(high bool) {
	v.removed, v.moved, v.fixed = map[int]bool{}, map[int]int64{}, map[int]bool{}
	for _, r := range v.plan.Removals {
		if (r.Certain || high) && r.Request >= 0 && r.Request < len(v.factors) && !v.removed[r.Request] {
			v.removed[r.Request] = true
			v.moved[r.Request] = r.Moved
		}
	}
	for _, f := range v.plan.Fixes {
		v.fixed[f.Request] = true
	}
}

// sizePayloads turns the changes of the plan into tokens of every request, by
// differences along the chains: first where a change begins and ends, then one
// walk over the requests.
func (v *evaluation) sizePayloads() {
	n := len(v.factors)
	v.saved, v.low, v.high = make([]int64, n), make([]float64, n), make([]float64, n)
	saving := make([]float64, n)
	differences := v.differences()
	for _, kind := range slices.Sorted(maps.Keys(differences)) {
		diff, raw := differences[kind], make([]int64, n)
		running := map[int]int64{}
		for i, r := range v.rec.Session.Requests {
			running[r.Chain] += diff[place{r.Chain, r.Number}]
			raw[i] = running[r.Chain]
			if r.Base >= 0 {
				raw[i] += raw[r.Base]
			}
			low, high := v.factors[i].spread(kind)
			v.saved[i] += raw[i]
			saving[i] += v.factors[i].of(kind) * float64(raw[i])
			v.low[i] += low * float64(raw[i])
			v.high[i] += high * float64(raw[i])
		}
	}
	v.input = make([]*int64, n)
	sum := wholes{}
	for i, r := range v.rec.Session.Requests {
		if r.Usage.Input == nil {
			continue
		}
		less := whole(saving[i])
		if !r.Inherited && !v.removed[i] {
			less = sum.next(saving[i])
		}
		left := max(0, *r.Usage.Input-less)
		v.input[i] = &left
	}
}

// wholes deals out a sum of fractions in whole tokens: what has been dealt out so
// far is always the whole part of the sum so far. Rounding each request by itself
// would let the errors of many requests add up.
type wholes struct {
	sum   float64
	given int64
}

func (w *wholes) next(tokens float64) int64 {
	w.sum += tokens
	n := whole(w.sum) - w.given
	w.given += n
	return n
}

// whole is the largest whole number of tokens that has been saved: rounding down
// keeps a sum over recordings below what their sums make together. Sums of factors
// come out a hair below whole tokens.
func whole(tokens float64) int64 { return int64(math.Floor(tokens + 1e-6)) }

// place is a request number of a chain.
type place struct{ chain, number int }

// differences says, by kind of item, where raw tokens begin to be saved (positive)
// and where that ends.
func (v *evaluation) differences() map[rollout.ItemKind]map[place]int64 {
	out := map[rollout.ItemKind]map[place]int64{}
	add := func(kind rollout.ItemKind, chain, first, last int, raw int64) {
		if out[kind] == nil {
			out[kind] = map[place]int64{}
		}
		out[kind][place{chain, first}] += raw
		out[kind][place{chain, last + 1}] -= raw
	}
	for _, e := range v.lay.edits {
		p := v.plain[e.Span]
		add(p.kind, p.chain, e.From, e.last, p.raw-e.raw)
	}
	for _, p := range v.lay.added {
		add(p.kind, p.chain, p.first, p.last, -p.raw)
	}
	return out
}

// request is one recorded request under the plan.
func (v *evaluation) request(i int) RequestOutcome {
	r := v.rec.Session.Requests[i]
	if v.removed[i] {
		return v.gone(i)
	}
	out := RequestOutcome{Counted: v.rec.Sizes.Requests[i].Counted - v.saved[i], Input: v.input[i], Output: r.Usage.Output}
	if out.Input == nil {
		return out
	}
	if r.Usage.CacheRead != nil {
		read := v.read(i, v.shared[i].tokens)
		out.CacheRead = &read
	}
	recorded := splitOf(r.Usage)
	split := recorded.scaled(*out.Input-value(out.CacheRead), v.write)
	if recorded.known {
		out.CacheWrite = &split.write
	}
	if v.rates[i] != nil && out.Output != nil {
		usd := v.rates[i].cost(*out.Input, value(out.CacheRead), split, *out.Output)
		out.CostUSD = &usd
	}
	return out
}

// gone is a request that the plan takes out: what is left of it is the output that
// another response produces instead.
func (v *evaluation) gone(i int) RequestOutcome {
	u := v.rec.Session.Requests[i].Usage
	out := RequestOutcome{Removed: true}
	zero := func(recorded *int64) *int64 {
		if recorded == nil {
			return nil
		}
		return new(int64)
	}
	out.Input, out.CacheRead, out.Output = zero(u.Input), zero(u.CacheRead), zero(u.Output)
	if splitOf(u).known {
		out.CacheWrite = new(int64)
	}
	if out.Output != nil {
		*out.Output = v.moved[i]
	}
	if v.rates[i] != nil && out.Input != nil && out.Output != nil {
		usd := v.rates[i].cost(0, 0, writeSplit{}, *out.Output)
		out.CostUSD = &usd
	}
	return out
}

// read is the cache read of a request whose payload shares a prefix with the one
// before it: as the model says, plus what the recording had beyond that, unchanged.
// Only what no request can read is clamped: less than nothing, more than its input.
func (v *evaluation) read(i int, prefix float64) int64 {
	return min(max(0, v.unclamped(i, prefix)), *v.input[i])
}

// unclamped is the cache read before it is clamped. A fixed break serves all that is
// shared.
func (v *evaluation) unclamped(i int, prefix float64) int64 {
	if v.families[i] == nil {
		return value(v.rec.Session.Requests[i].Usage.CacheRead)
	}
	from := v.shared[i].from
	n := v.predict(i, prefix, from, false) + v.residual[i]
	if v.fixed[i] {
		n = max(n, v.predict(i, prefix, from, true))
	}
	return n
}

// clamped says whether a request could not read what the model and the recording
// together say.
func (v *evaluation) clamped(i int) bool {
	n := v.unclamped(i, v.shared[i].tokens)
	return n < 0 || n > *v.input[i]
}

// extra is a request that the plan adds: the payload of a recorded one and more,
// of which the cache serves what it serves of that payload.
func (v *evaluation) extra(x Extra) RequestOutcome {
	if x.After < 0 || x.After >= len(v.factors) {
		return RequestOutcome{}
	}
	out := RequestOutcome{Counted: v.rec.Sizes.Requests[x.After].Counted - v.saved[x.After] + x.More, Output: &x.Output}
	if v.input[x.After] == nil {
		return out
	}
	input := *v.input[x.After] + int64(math.Round(v.factors[x.After].base*float64(x.More)))
	out.Input = &input
	read, split, usd := v.again(x.After, input, x.Output)
	if v.families[x.After] != nil {
		out.CacheRead = &read
	}
	if v.write.known {
		out.CacheWrite = &split.write
	}
	out.CostUSD = usd
	return out
}

// again is the cache read, the rest and the price of sending the payload of a
// request once more with an input of that many tokens.
func (v *evaluation) again(after int, input, output int64) (read int64, split writeSplit, usd *float64) {
	r := v.rec.Session.Requests[after]
	if f := v.families[after]; f != nil {
		warm := min(v.warm(after), input)
		read = min(f.served(r.Model, float64(warm)), input)
	}
	split = splitOf(r.Usage).scaled(input-read, v.write)
	if v.rates[after] != nil {
		cost := v.rates[after].cost(input, read, split, output)
		usd = &cost
	}
	return read, split, usd
}

// warm is how much of a request's payload was just sent: all of it, or where the
// request is removed what the one before it carried.
func (v *evaluation) warm(i int) int64 {
	list := v.chains[v.rec.Session.Requests[i].Chain]
	for n := v.rec.Session.Requests[i].Number - 1; n >= 0; n-- {
		if k := list[n]; !v.removed[k] && v.input[k] != nil {
			return min(*v.input[k], *v.input[i])
		}
	}
	return 0
}
