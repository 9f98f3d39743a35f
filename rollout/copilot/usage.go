package copilot

import (
	"maps"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// tokens converts a usage. Impossible counts, and parts that exceed their whole,
// are left out; not ok says so.
func (u usage) tokens() (out rollout.Usage, ok bool) {
	ok = true
	take := func(n num) *int64 {
		switch {
		case n.OK && n.V >= 0 && n.V <= rollout.MaxTokens:
			return &n.V
		case n.OK || n.Odd:
			ok = false
		}
		return nil
	}
	out = rollout.Usage{Input: take(u.Input), CacheRead: take(u.CacheRead), CacheWrite: take(u.CacheWrite), Output: take(u.Output), Reasoning: take(u.Reasoning)}
	if out.Input != nil && value(out.CacheRead)+value(out.CacheWrite) > *out.Input {
		out.CacheRead, out.CacheWrite, ok = nil, nil, false
	}
	if out.Output != nil && value(out.Reasoning) > *out.Output {
		out.Reasoning, ok = nil, false
	}
	return out, ok
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// tokens converts a usage and notes what was left out of it.
func (r *reader) tokens(a *agent, u usage, line int) rollout.Usage {
	out, ok := u.tokens()
	if !ok {
		r.fold(a, "usage-inconsistent", line, "a token count is negative, impossibly large, no number, or larger than its whole; it was left out")
	}
	return out
}

// reported are the totals of a shutdown, by model.
func (r *reader) reported(a *agent, m metrics, line int) []rollout.Reported {
	var out []rollout.Reported
	for _, model := range slices.Sorted(maps.Keys(m)) {
		row := rollout.Reported{Model: model, Usage: r.tokens(a, m[model].V.Usage.V, line), Line: line}
		if n := m[model].V.Requests.V.Count; n.OK && n.V >= 0 {
			row.Requests = &n.V
		}
		out = append(out, row)
	}
	return out
}

// compare holds the requests against the totals of a shutdown, where every
// request has a usage of its own and nothing else was billed.
func (r *reader) compare(a *agent) {
	s := a.b.Session
	if len(s.Reported) == 0 || len(s.OtherBilled) > 0 || a.shutdown != len(s.Requests) || a.shared && len(r.agents) > 1 {
		return
	}
	var input, output, wantInput, wantOutput int64
	for _, q := range s.Requests {
		if q.Usage.Input == nil || q.Usage.Output == nil {
			return
		}
		input, output = input+*q.Usage.Input, output+*q.Usage.Output
	}
	for _, t := range s.Reported {
		wantInput, wantOutput = wantInput+value(t.Usage.Input), wantOutput+value(t.Usage.Output)
	}
	if input != wantInput || output != wantOutput {
		r.fold(a, "totals-disagree", s.Reported[0].Line, "the requests do not add up to the totals that the log states at its end; the requests are used")
	}
}
