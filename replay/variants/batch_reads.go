package variants

import (
	"fmt"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// strictWord is the length of a word that ties a call to an earlier result where
// the merge must be certain.
const strictWord = 3

// BatchReads merges serial chains of independent read-only calls into one
// response.
func BatchReads() replay.Variant {
	return checked(replay.Variant{
		Name:  "batch-reads",
		Title: "independent read-only calls share one response",
		Doc: "A chain is a row of consecutive responses of one run that each asked for exactly one read-only call, none of which seems to rest on the " +
			"result before it: no word of 6 or more characters in its arguments stands in that result unless it stands in the earlier arguments. " +
			"n calls become one response, so n-1 requests go. The removal is certain where not even a word of 3 characters ties the call to any " +
			"result it would no longer have seen. The arguments are produced by the first response instead; everything stays in later requests.",
		Needs:     []string{"which response made which call", "tool results"},
		AsksModel: true,
		Plan:      planBatchReads,
	})
}

func planBatchReads(v replay.View, _ replay.Values) replay.Plan {
	b := &batcher{turns: newTurns(v)}
	for _, chain := range b.answered {
		b.mergeChain(chain)
	}
	if n := len(b.plan.Removals); n > 0 {
		b.plan.Warnings = append(b.plan.Warnings,
			fmt.Sprintf("%s merged; whether a call rests on an earlier result is judged by common words alone.", times(n, "read-only call", "read-only calls")))
	}
	return b.plan
}

// batcher is a batch-reads plan under way.
type batcher struct {
	*turns
	plan replay.Plan
}

// mergeChain goes along the answered requests of a chain. since is where the
// calls begin that certainly share a response with the current one.
func (b *batcher) mergeChain(chain []int) {
	since := 0
	for k, i := range chain {
		if k == 0 || !b.follows(chain[k-1], i) {
			since = k
			continue
		}
		certain := true
		for _, earlier := range chain[since:k] {
			certain = certain && !b.rests(i, earlier, strictWord)
		}
		if !certain {
			since = k
		}
		b.plan.Removals = append(b.plan.Removals, replay.Removal{Request: i, Certain: certain, Moved: b.moved(i), Why: "serial-read"})
	}
}

// follows says whether a response only asked for one more read-only call that
// does not rest on what the response before it asked for.
func (b *batcher) follows(before, i int) bool {
	return b.Session.Requests[before].Run == b.Session.Requests[i].Run && b.singleRead(before) && b.singleRead(i) && !b.rests(i, before, dependingWord)
}

// singleRead says whether a response asked for one read-only call and nothing else.
func (b *batcher) singleRead(request int) bool {
	if len(b.calls[request]) != 1 || b.Removed(request) {
		return false
	}
	c := b.Session.Calls[b.calls[request][0]]
	return c.ReadOnly && c.Ran && c.Poll == rollout.NoPoll
}

// rests says whether the call of a request rests on the result of an earlier one.
func (b *batcher) rests(request, earlier, chars int) bool {
	c, e := b.Session.Calls[b.calls[request][0]], b.Session.Calls[b.calls[earlier][0]]
	return dependsOn(b.Session.Texts[c.Args].S, b.Session.Texts[e.Args].S, b.recorded(e.ResultItem), chars)
}

// moved is the part of a response that the first response produces instead: the
// arguments of its call.
func (b *batcher) moved(request int) int64 {
	c := b.Session.Calls[b.calls[request][0]]
	n := round(b.provider(request, rollout.ToolCall, b.argsSize(c)))
	if output := b.Session.Requests[request].Usage.Output; output != nil {
		return min(n, *output)
	}
	return n
}
