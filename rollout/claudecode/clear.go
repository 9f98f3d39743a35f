package claudecode

import (
	"fmt"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// clearedText stands in for a tool result that was cleared out of the context.
const clearedText = "[Old tool result content cleared]"

// clearable is a tool result standing in a chain.
type clearable struct {
	entry   *rollout.Entry
	item    int
	chars   int
	cleared bool
}

// roughTokens is a size good enough to fit a drop: code and logs in these
// sessions run at 2.2 to 3.7 characters a token.
func roughTokens(chars int) int { return chars / 3 }

// microcompact clears the results that a boundary lists.
func (rb *rebuild) microcompact(st *state, meta *microMeta) {
	text := rb.b.Text(clearedText)
	for _, c := range st.results {
		if slices.Contains(meta.Tools.V, rb.s.Items[c.item].CallID) && !c.cleared {
			st.chain.Replace(c.entry, text, nil)
			c.cleared = true
		}
	}
	for _, id := range meta.Attachments.V {
		if l := rb.own(id); l != nil {
			removeAll(st.chain, st.entries[l])
			st.entries[l] = nil
		}
	}
	st.total = nil
}

// A total that falls by more than silentDrop without a boundary means that old
// results were cleared; the last keptResults are assumed to stay.
const (
	silentDrop  = 1000
	keptResults = 5
)

// detectClearing finds a drop that no line explains and clears the oldest
// results until it is made up for. That is an assumption: the log only shows the
// totals.
func (rb *rebuild) detectClearing(st *state, r *response, usage rollout.Usage) {
	if st.total == nil || usage.Input == nil || st.last == nil || st.last.model != r.model {
		return
	}
	if *usage.Input >= *st.total-silentDrop {
		return
	}
	missing := *st.total + int64(rb.outputSize(st.last)+st.added) - *usage.Input
	n := rb.clearOldest(st, missing)
	rb.b.Problem(rollout.Problem{File: rb.f.path, Line: r.first.number, Kind: "silent-clearing",
		Detail: fmt.Sprintf("the recorded input falls without a compaction; the %d oldest tool results are assumed cleared", n)})
}

func (rb *rebuild) clearOldest(st *state, missing int64) int {
	if len(st.results) <= keptResults {
		return 0
	}
	n := 0
	for _, c := range st.results[:len(st.results)-keptResults] {
		gain := int64(roughTokens(c.chars - len(clearedText)))
		if c.cleared || gain <= 0 {
			continue
		}
		if missing < gain/2 {
			break
		}
		it := rb.s.Items[c.item]
		it.Origin, it.Text, it.Tokens, it.Label = rollout.Inferred, rb.b.Text(clearedText), nil, "cleared"
		st.chain.Swap(c.entry, rb.b.Item(it))
		c.cleared = true
		missing -= gain
		n++
	}
	return n
}

// outputSize is the size of a response in tokens, from usage where that is final.
func (rb *rebuild) outputSize(r *response) int {
	usage := r.usage.convert()
	if r.outputFinal(usage.Output) {
		return int(*usage.Output)
	}
	return roughTokens(r.visibleChars())
}
