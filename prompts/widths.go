package prompts

import (
	"cmp"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// Width is how often responses of a session asked for a number of calls at once:
// what the rule on parallel calls does in practice.
type Width struct {
	Calls     int   `json:"calls"`               // in one response
	Responses int64 `json:"responses"`           // with that many
	ReadOnly  int64 `json:"read_only_responses"` // those in which no call could change anything
}

// Widths counts the batches of a session, narrow ones first. Inherited calls are
// left out.
func Widths(s *rollout.Session) []Width {
	type batch struct {
		calls    int
		mutating bool
	}
	batches := map[int]batch{}
	for _, c := range s.Calls {
		if c.Request < 0 || c.Inherited {
			continue
		}
		b := batches[c.Request]
		b.calls++
		b.mutating = b.mutating || !c.ReadOnly
		batches[c.Request] = b
	}
	byCalls := map[int]Width{}
	for _, b := range batches {
		w := byCalls[b.calls]
		w.Calls = b.calls
		w.Responses++
		if !b.mutating {
			w.ReadOnly++
		}
		byCalls[b.calls] = w
	}
	var out []Width
	for _, w := range byCalls {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Width) int { return cmp.Compare(a.Calls, b.Calls) })
	return out
}
