package variants

import (
	"fmt"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Serialize makes every batch of calls a row of requests: what the session would
// have cost without parallel calls.
func Serialize() replay.Variant {
	return checked(replay.Variant{
		Name:  "serialize",
		Title: "one call per response: what the parallel-calls rule is worth here",
		Doc: "The opposite of batch-reads. A response that asked for n calls becomes n responses of one call, so n-1 requests come in addition. " +
			"Each carries the payload of the batch's request, what its response said, and the calls and results so far. The arguments are produced " +
			"either way; what the model would think or say before every single call is unknown and not counted, so this is a lower bound.",
		Needs:     []string{"which response made which call", "tool results"},
		AsksModel: true,
		Plan:      planSerialize,
	})
}

func planSerialize(v replay.View, _ replay.Values) replay.Plan {
	t := newTurns(v)
	var plan replay.Plan
	produced := t.saidBefore()
	batches, unknown := 0, 0
	for i := range t.Session.Requests {
		calls := t.batch(i)
		if len(calls) < 2 {
			continue
		}
		batches++
		more := produced[i]
		for _, c := range calls[:len(calls)-1] {
			call := t.Session.Calls[c]
			if call.ResultItem < 0 || t.Sizes.Items[call.ResultItem].Tokens == nil {
				unknown++
			}
			more += t.argsSize(call) + t.size(call.ResultItem)
			plan.Extras = append(plan.Extras, replay.Extra{After: i, More: more, Why: "serial-call"})
		}
	}
	if batches > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s of %d calls taken apart.", times(batches, "batch", "batches"), batches+len(plan.Extras)))
	}
	if unknown > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s of unknown size counted as nothing.", times(unknown, "result", "results")))
	}
	return plan
}

// batch lists the calls that the model itself made in one response; calls that a
// script made are not its own. None for requests that do not count.
func (t *turns) batch(request int) []int {
	r := t.Session.Requests[request]
	if r.Status != rollout.Answered || r.Inherited || t.Removed(request) {
		return nil
	}
	var out []int
	for _, c := range t.calls[request] {
		if t.Session.Calls[c].Parent == "" {
			out = append(out, c)
		}
	}
	return out
}

// argsSize is the raw size of a call's arguments as sent, of those logged where
// they were not sent.
func (t *turns) argsSize(c rollout.Call) int64 {
	if c.ArgsItem >= 0 && t.Sizes.Items[c.ArgsItem].Tokens != nil {
		return *t.Sizes.Items[c.ArgsItem].Tokens
	}
	return t.Count(t.Sizes.Encoding, t.Session.Texts[c.Args].S)
}

// saidBefore sums, by request, the raw size of what its response holds besides
// calls and what later requests carry.
func (t *turns) saidBefore() []int64 {
	out := make([]int64, len(t.Session.Requests))
	for item, it := range t.Session.Items {
		if it.Request >= 0 && it.Kind != rollout.ToolCall && len(t.spans[item]) > 0 {
			out[it.Request] += t.size(item)
		}
	}
	return out
}
