package opencode

import (
	"math"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// empty reports counts as OpenCode writes them before a response has come.
func (t *tokenCounts) empty() bool {
	return t.Total.V == 0 && t.Input.V == 0 && t.Output.V == 0 && t.Reasoning.V == 0 && t.Cache.V.Read.V == 0 && t.Cache.V.Write.V == 0
}

// possible reports counts that can be tokens of one request.
func (t *tokenCounts) possible() bool {
	for _, n := range []int64{t.Total.V, t.Input.V, t.Output.V, t.Reasoning.V, t.Cache.V.Read.V, t.Cache.V.Write.V} {
		if n < 0 || n > rollout.MaxTokens {
			return false
		}
	}
	return true
}

// sums says how the counts of a step add up to the whole of its tokens.
type sums struct {
	cacheInside     bool // input includes what was read from and written to the cache
	reasoningInside bool // output includes the reasoning
	sure            bool // the logged total agrees
}

// addUp finds the reading of the counts under which they give their total.
// Without a total the counts are those of older versions, whose output is the
// provider's own figure.
func (t *tokenCounts) addUp() sums {
	cache := t.Cache.V.Read.V + t.Cache.V.Write.V
	if !t.Total.OK {
		return sums{reasoningInside: t.Reasoning.V <= t.Output.V}
	}
	for _, s := range []sums{{}, {reasoningInside: true}, {cacheInside: true}, {cacheInside: true, reasoningInside: true}} {
		total := t.Input.V + t.Output.V
		if !s.cacheInside {
			total += cache
		}
		if !s.reasoningInside {
			total += t.Reasoning.V
		}
		if total == t.Total.V && (!s.cacheInside || cache <= t.Input.V) && (!s.reasoningInside || t.Reasoning.V <= t.Output.V) {
			s.sure = true
			return s
		}
	}
	return sums{}
}

// usage turns logged counts into the model's: input with the cache, output with
// the reasoning.
func (t *tokenCounts) usage() (rollout.Usage, sums) {
	s := t.addUp()
	read, write, reasoning := t.Cache.V.Read.V, t.Cache.V.Write.V, t.Reasoning.V
	input, output := t.Input.V, t.Output.V
	if !s.cacheInside {
		input += read + write
	}
	if !s.reasoningInside {
		output += reasoning
	}
	u := rollout.Usage{}
	set(&u.Input, t.Input, input)
	set(&u.Output, t.Output, output)
	set(&u.Reasoning, t.Reasoning, reasoning)
	set(&u.CacheRead, t.Cache.V.Read, read)
	set(&u.CacheWrite, t.Cache.V.Write, write)
	return u, s
}

func set(into **int64, logged number, n int64) {
	if logged.OK {
		*into = &n
	}
}

// counts gives a request its usage and cost. Nothing but zeros is what stands
// there before an answer comes: no usage.
func (r *builder) counts(req *rollout.Request, t logfile.Lenient[tokenCounts], cost logfile.Lenient[float64], line int) {
	if !t.OK || t.V.empty() {
		return
	}
	if !t.V.possible() {
		r.problem("impossible-usage", line, "token counts that no request can have were left out")
		return
	}
	u, s := t.V.usage()
	if t.V.Total.OK && !s.sure {
		r.problem("usage-inconsistent", line, "the token counts of a request do not add up to their total")
	}
	req.Usage = u
	req.OutputFinal = u.Output != nil
	req.LoggedUSD = dollars(cost)
}

func dollars(cost logfile.Lenient[float64]) *float64 {
	if !cost.OK || math.IsNaN(cost.V) || cost.V < 0 || cost.V > rollout.MaxUSD {
		return nil
	}
	return &cost.V
}

// reported is what the session object says about the session as a whole.
func (r *builder) reported(i sessionInfo) {
	if !i.Tokens.OK || i.Tokens.V.empty() {
		return
	}
	t := i.Tokens.V
	if !t.possible() {
		r.problem("impossible-usage", r.doc.line, "token counts that no session can have were left out")
		return
	}
	t.Total = number{V: t.Input.V + t.Output.V + t.Reasoning.V + t.Cache.V.Read.V + t.Cache.V.Write.V, OK: true}
	u, _ := t.usage()
	r.s.Reported = append(r.s.Reported, rollout.Reported{Usage: u, CostUSD: dollars(i.Cost), Line: r.doc.line})
}

// lateCalls is how many cached calls a suspicion of their input needs.
const lateCalls = 3

// inclusiveInput notes sessions of versions that may have logged the input with
// the cached part in it: every cached call then has more input than cache.
func (r *builder) inclusiveInput() {
	cached := 0
	for _, m := range r.doc.messages {
		t := m.Tokens.V
		if m.Role.V != "assistant" || t.Cache.V.Read.V <= 0 {
			continue
		}
		if t.Total.OK || t.Cache.V.Write.V > 0 || t.Input.V <= t.Cache.V.Read.V {
			return
		}
		cached++
	}
	if cached >= lateCalls {
		r.problem("usage-inconsistent", r.doc.line, "the input of every cached request exceeds its cached part: this version may count that part twice")
	}
}
