package variants

import (
	"github.com/fclog/fclog/rollout"
)

// What the audit takes for a cache break and its causes (steps in its SQL).
const (
	breakTokens   = 256  // smaller losses are rounding
	lifetimeShort = 300  // seconds
	lifetimeLong  = 3600 // where the session writes the 1 h cache
)

// stepJudge finds why the cached prefix ended between two requests, as the audit
// does.
type stepJudge struct {
	*turns
	ended, begun map[placing][]int // spans by their last and first request
	front        [][]int64         // by chain and number: raw tokens in front of the conversation
	compactions  []int             // by request: compaction requests up to it
	caches       map[string]bool   // models that report the cache
	lifetime     int64
}

func newStepJudge(t *turns) *stepJudge {
	j := &stepJudge{turns: t, ended: map[placing][]int{}, begun: map[placing][]int{}, caches: map[string]bool{}, lifetime: lifetimeShort}
	for _, n := range t.last {
		j.front = append(j.front, make([]int64, n+2))
	}
	for i, sp := range t.Session.Spans {
		j.begun[placing{sp.Chain, sp.First}] = append(j.begun[placing{sp.Chain, sp.First}], i)
		j.ended[placing{sp.Chain, sp.Last}] = append(j.ended[placing{sp.Chain, sp.Last}], i)
		if sp.Position < frontEnd {
			j.front[sp.Chain][sp.First] += known(t.Sizes.Spans[i].Tokens)
			j.front[sp.Chain][sp.Last+1] -= known(t.Sizes.Spans[i].Tokens)
		}
	}
	for _, sums := range j.front {
		for n := 1; n < len(sums); n++ {
			sums[n] += sums[n-1]
		}
	}
	n := 0
	for _, r := range t.Session.Requests {
		if r.Kind == rollout.KindCompaction {
			n++
		}
		j.compactions = append(j.compactions, n)
		j.caches[r.Model] = j.caches[r.Model] || known(r.Usage.CacheRead) > 0 || known(r.Usage.CacheWrite) > 0
		if known(r.Usage.CacheWrite1h) > 0 {
			j.lifetime = lifetimeLong
		}
	}
	return j
}

// blockBreaks lists the requests of a chain whose prefix ended at an unlogged
// block in front of the conversation.
func (j *stepJudge) blockBreaks(chain int) []int {
	var out []int
	before := -1
	for _, i := range j.answered[chain] {
		if j.Session.Requests[i].Usage.Input == nil {
			continue
		}
		if before >= 0 && j.blockBroke(before, i) {
			out = append(out, i)
		}
		before = i
	}
	return out
}

func (j *stepJudge) blockBroke(before, i int) bool {
	a, b := j.Session.Requests[before], j.Session.Requests[i]
	read := known(b.Usage.CacheRead)
	if !j.caches[b.Model] || read == 0 || *a.Usage.Input-read <= breakTokens {
		return false
	}
	if a.Model != b.Model || a.Run != b.Run || j.compactions[i] > j.compactions[before] || j.logged(before, i) {
		return false
	}
	if !a.Time.IsZero() && !b.Time.IsZero() && b.Time.Unix()-a.Time.Unix() > j.lifetime {
		return false
	}
	unlogged := max(known(j.Sizes.Requests[before].Unlogged), known(j.Sizes.Requests[i].Unlogged), 0)
	return read <= unlogged+j.front[b.Chain][b.Number]+breakTokens
}

// logged says whether logged content explains the break: something in front of or
// inside the conversation changed, or a summary came.
func (j *stepJudge) logged(before, i int) bool {
	a, b := j.Session.Requests[before], j.Session.Requests[i]
	for n := a.Number; n < b.Number; n++ {
		for _, span := range j.ended[placing{a.Chain, n}] {
			if j.Session.Spans[span].Position < tailStart {
				return true
			}
		}
		for _, span := range j.begun[placing{a.Chain, n + 1}] {
			if j.Session.Spans[span].Position < frontEnd || j.Kind(span) == rollout.Summary {
				return true
			}
		}
	}
	return false
}
