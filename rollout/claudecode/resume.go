package claudecode

import (
	"fmt"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// smallestLoss is the size in tokens below which a loss at a resume cannot be
// told from noise.
const smallestLoss = 100

// detectResume finds a run that a new process began. A resumed process builds
// its messages from the plain path to the root and so loses the calls whose
// results hang beside it. The log has no line for that; the recorded input falls
// behind by about their size, and the cached prefix ends at the first of them.
// Seen in 2.0.77 against what was sent, and in totals of 2.1.1 to the token.
func (rb *rebuild) detectResume(st *state, r *response, usage rollout.Usage) {
	if st.total == nil || usage.Input == nil || st.last == nil || st.last.model != r.model {
		return
	}
	if usage.CacheRead != nil && *usage.CacheRead > *st.total*95/100 {
		return
	}
	missing := *st.total + int64(rb.outputSize(st.last)+st.added) - *usage.Input
	if missing < smallestLoss/2 {
		return
	}
	lost, size := rb.besidePath(st, r)
	if size < smallestLoss || missing < size/2 {
		return
	}
	for _, e := range lost {
		st.chain.Remove(e)
	}
	st.results = slices.DeleteFunc(st.results, func(c *clearable) bool { return slices.Contains(lost, c.entry) })
	rest := *st.total - size
	st.total = &rest
	rb.b.Problem(rollout.Problem{File: rb.f.path, Line: r.first.number, Kind: "resume-loss",
		Detail: fmt.Sprintf("a resume seems to have lost %d parts of parallel calls; they are taken as not sent from here on", len(lost))})
}

// besidePath finds the calls, with their results, whose result is no ancestor of
// the response, and their rough size.
func (rb *rebuild) besidePath(st *state, r *response) (entries []*rollout.Entry, size int64) {
	onPath, _ := path(r.first, func(*line) bool { return false })
	answered := map[string]bool{}
	for _, l := range onPath {
		for _, b := range l.blocks {
			if b.typ == "tool_result" {
				answered[b.id] = true
			}
		}
	}
	for _, e := range st.chain.Alive() {
		it := rb.s.Items[e.Item]
		if it.CallID == "" || answered[it.CallID] || rb.results[it.CallID] == nil {
			continue
		}
		entries = append(entries, e)
		size += int64(roughTokens(rb.s.Texts[e.Text].Chars))
	}
	return entries, size
}
