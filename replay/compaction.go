package replay

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// compactions lists, in order, the first requests whose conversation had been
// summarised: by a request that does so, or by a summary that begins there.
func compactions(s *rollout.Session) []int {
	index := map[place]int{}
	for i, r := range s.Requests {
		index[place{r.Chain, r.Number}] = i
	}
	found := map[int]bool{}
	for _, sp := range s.Spans {
		if s.Items[sp.Item].Kind != rollout.Summary {
			continue
		}
		if i := index[place{sp.Chain, sp.First}]; sp.First > 1 && !s.Requests[i].Inherited {
			found[i] = true
		}
	}
	var out []int
	for i := range s.Requests {
		if found[i] {
			out = append(out, i)
		}
	}
	return out
}

// postponed counts the compactions that an agent with the recorded trigger would
// not have made yet: the input before the compaction, with the plan, stays below
// one that did not set it off before.
func (l *ledger) postponed(o Outcome) int {
	n := 0
	for _, i := range compactions(l.rec.Session) {
		r := l.rec.Session.Requests[i]
		list := l.chains[r.Chain][:r.Number-1]
		list = slices.DeleteFunc(slices.Clone(list), func(k int) bool {
			u := l.rec.Session.Requests[k].Usage
			return u.Input == nil || o.Requests[k].Removed
		})
		if len(list) == 0 {
			continue
		}
		last := list[len(list)-1]
		trigger := l.lastHarmless(list)
		if *o.Requests[last].Input < trigger {
			n++
		}
	}
	return n
}

// lastHarmless is the input that the trigger must lie above, as far as the
// recording tells: that of the request before the last one, if it was smaller.
func (l *ledger) lastHarmless(list []int) int64 {
	last := *l.rec.Session.Requests[list[len(list)-1]].Usage.Input
	if len(list) < 2 {
		return last
	}
	return min(last, *l.rec.Session.Requests[list[len(list)-2]].Usage.Input)
}
