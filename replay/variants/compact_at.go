package variants

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// CompactAt compacts the conversation when a request reaches a size.
func CompactAt() replay.Variant {
	return checked(replay.Variant{
		Name:  "compact-at",
		Title: "the conversation is compacted when a request reaches a size",
		Doc: "After the first request that carries the threshold, an extra request writes a summary; from the next one on everything older than the last " +
			"user turns is gone, and the summary stands in front of the conversation, which breaks the cached prefix once. Again whenever the threshold is reached " +
			"and at least as much as the summary can go. Recorded compactions stay where they were; the variant says which of them would have come later or not at all. " +
			"A compaction loses detail: the model may come back for it.",
		Options: []replay.Option{
			whole("tokens", 100000, 1, "input tokens of a request that trigger a compaction, as the provider counts"),
			whole("keep", 2, 0, "user turns kept as they are; 0 keeps only what the last response brought"),
			whole("summary", 1024, 0, "tokens of the summary"),
		},
		Plan: planCompactAt,
	})
}

func planCompactAt(v replay.View, values replay.Values) replay.Plan {
	c := &compactor{
		turns: newTurns(v), threshold: float64(number(values, "tokens")), keep: number(values, "keep"), summary: int64(number(values, "summary")),
		resultOf: callsOfItems(v.Session),
	}
	for chain := range c.answered {
		c.walkChain(chain)
	}
	c.say()
	return c.plan
}

// compactor is a compact-at plan under way.
type compactor struct {
	*turns
	plan      replay.Plan
	threshold float64 // provider tokens
	keep      int
	summary   int64 // raw tokens

	resultOf  []int // by item: the call whose result it is; -1 none
	stuck     int   // chains that passed the threshold with nothing to drop
	estimated bool  // a request's input was unknown
}

// chainState is what the variant has done to a chain so far.
type chainState struct {
	spans   []int        // of the chain, in payload order
	gone    map[int]bool // by item: compacted away
	edited  map[int]bool // by span
	less    []float64    // by request number: provider tokens dropped, as differences
	summary int          // index of the addition in force; -1 none
}

func (c *compactor) walkChain(chain int) {
	st := &chainState{
		spans: c.chainSpans(chain), gone: map[int]bool{}, edited: map[int]bool{}, less: make([]float64, c.last[chain]+2), summary: -1,
	}
	recorded := c.recordedCompactions(chain)
	under, size := 0.0, 0.0 // of the request before: under the variant and as recorded
	less, summed, passed := 0.0, 0, false
	for _, i := range c.answered[chain] {
		r := c.Session.Requests[i]
		for len(recorded) > 0 && recorded[0] <= r.Number {
			c.meetRecorded(placing{chain, recorded[0]}, size, under, st)
			recorded = recorded[1:]
		}
		for summed < r.Number {
			summed++
			less += st.less[summed]
		}
		size = c.sizeOf(i)
		under = size - less
		if st.summary >= 0 {
			under += c.summaryTokens(i)
		}
		compactedNext := len(recorded) > 0 && recorded[0] == r.Number+1
		if c.Removed(i) || r.Base >= 0 || under < c.threshold || r.Number >= c.last[chain] || compactedNext {
			continue
		}
		passed = !c.compact(i, st) || passed
	}
	if passed && len(st.gone) == 0 {
		c.stuck++
	}
}

// sizeOf is the input of a request; where that is unknown, its raw count.
func (c *compactor) sizeOf(request int) float64 {
	if input := c.Session.Requests[request].Usage.Input; input != nil {
		return float64(*input)
	}
	c.estimated = true
	return float64(c.Sizes.Requests[request].Counted)
}

func (c *compactor) chainSpans(chain int) []int {
	var out []int
	for i, sp := range c.Session.Spans {
		if sp.Chain == chain {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(c.Session.Spans[a].Position, c.Session.Spans[b].Position) })
	return out
}

// recordedCompactions lists the request numbers of a chain at which a summary
// first stood.
func (c *compactor) recordedCompactions(chain int) []int {
	var out []int
	for i, sp := range c.Session.Spans {
		if sp.Chain == chain && c.Kind(i) == rollout.Summary && sp.First > 1 && c.spans[sp.Item][0] == i {
			out = append(out, sp.First)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// meetRecorded ends the variant's summary where a recorded one takes over, and
// says what the recorded compaction would have found.
func (c *compactor) meetRecorded(at placing, recorded, under float64, st *chainState) {
	what := fmt.Sprintf("The recorded compaction before request %d", at.number)
	if at.chain > 0 {
		what += fmt.Sprintf(" of chain %d", at.chain)
	}
	switch {
	case st.summary >= 0:
		c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(
			"%s would have come later or not at all: about %s tokens instead of %s stood before it. It is left where it was.", what, term.Exact(round(under)), term.Exact(round(recorded))))
		c.plan.Additions[st.summary].Last = at.number - 1
		st.summary = -1
	case recorded > 0 && recorded < c.threshold:
		c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(
			"%s came at %s tokens, below the threshold: the variant would have postponed it. It is left where it was.", what, term.Exact(round(recorded))))
	}
}

// summaryTokens is what the provider of a request counts for the summary.
func (c *compactor) summaryTokens(request int) float64 {
	return c.provider(request, rollout.Summary, c.summary)
}

// compact drops what is older than the kept turns after a request. It reports
// whether that was more than the summary adds.
func (c *compactor) compact(request int, st *chainState) bool {
	old, tokens := c.older(request, st)
	if len(old) == 0 || tokens <= c.summaryTokens(request) {
		return false
	}
	for _, span := range old {
		st.gone[c.Session.Spans[span].Item] = true
	}
	for _, span := range st.spans {
		c.dropSpan(request, span, st)
	}
	if st.summary >= 0 {
		c.plan.Additions[st.summary].Last = c.Session.Requests[request].Number
	}
	c.addSummary(request, st)
	return true
}

// older lists the spans that a compaction after a request takes away, and what
// they come to at the next request.
func (c *compactor) older(request int, st *chainState) (spans []int, tokens float64) {
	r := c.Session.Requests[request]
	border := c.border(r)
	for _, i := range st.spans {
		sp := c.Session.Spans[i]
		alive := sp.First <= r.Number && sp.Last > r.Number
		if !alive || sp.Position < frontEnd || sp.Position >= border || st.gone[sp.Item] || c.Dropped(i) {
			continue
		}
		spans = append(spans, i)
		tokens += c.provider(request, c.Kind(i), known(c.Sizes.Spans[i].Tokens))
	}
	return spans, tokens
}

// border is the position from which on the conversation is kept: the first of the
// last user turns that the request carried.
func (c *compactor) border(r rollout.Request) int64 {
	if c.keep == 0 {
		return tailStart
	}
	var turns []int64
	for i, sp := range c.Session.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last && c.Kind(i) == rollout.UserText && sp.Position >= frontEnd {
			turns = append(turns, sp.Position)
		}
	}
	if len(turns) <= c.keep {
		return frontEnd
	}
	slices.Sort(turns)
	return turns[len(turns)-c.keep]
}

// dropSpan takes a span of a compacted item out of the requests after the
// compaction, also one that begins later: the item comes back in another form.
func (c *compactor) dropSpan(request, span int, st *chainState) {
	sp := c.Session.Spans[span]
	from := max(sp.First, c.Session.Requests[request].Number+1)
	if !st.gone[sp.Item] || st.edited[span] || sp.Last < from || c.Dropped(span) {
		return
	}
	st.edited[span] = true
	c.plan.Edits = append(c.plan.Edits, replay.Edit{Span: span, From: from, Drop: true, Call: c.resultOf[sp.Item], Lossy: true, Why: "compacted"})
	tokens := c.provider(request, c.Kind(span), known(c.Sizes.Spans[span].Tokens))
	st.less[from] += tokens
	st.less[sp.Last+1] -= tokens
}

func (c *compactor) addSummary(request int, st *chainState) {
	r := c.Session.Requests[request]
	size := c.summary
	st.summary = len(c.plan.Additions)
	c.plan.Additions = append(c.plan.Additions, replay.Addition{
		Chain: r.Chain, First: r.Number + 1, Last: c.last[r.Chain], Position: frontEnd, Kind: rollout.Summary, Tokens: &size, Why: "summary",
	})
	c.plan.Extras = append(c.plan.Extras, replay.Extra{
		After: request, More: c.broughtBy(request), Output: round(c.summaryTokens(request)), Why: "summary",
	})
}

// broughtBy is the raw size of what the response of a request and its results
// add to the payload that is summarised.
func (c *compactor) broughtBy(request int) int64 {
	sum := int64(0)
	results := map[int]bool{}
	for _, call := range c.calls[request] {
		results[c.Session.Calls[call].ResultItem] = true
	}
	for item, it := range c.Session.Items {
		if (it.Request == request || results[item]) && len(c.spans[item]) > 0 {
			sum += c.size(item)
		}
	}
	return sum
}

func (c *compactor) say() {
	if c.estimated {
		c.plan.Warnings = append(c.plan.Warnings, "Some requests have no recorded input; their counted tokens stood against the threshold, without what the log does not hold.")
	}
	switch {
	case c.stuck > 0 && c.keep == 0:
		c.plan.Warnings = append(c.plan.Warnings, times(c.stuck, "conversation", "conversations")+" passed the threshold with nothing older to compact.")
	case c.stuck > 0:
		c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(
			"%s passed the threshold with no more than %s: nothing older to compact. keep=0 compacts inside a turn.",
			times(c.stuck, "conversation", "conversations"), times(c.keep, "user turn", "user turns")))
	}
}
