package variants

import (
	"cmp"
	"slices"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// observation is what one call brought back, as a request carries it: all its
// parts, in payload order.
type observation struct {
	call   int // -1: the log has no such call
	spans  []int
	unseen bool // no request before this one carried it
}

// walk visits the requests of all chains in order and shows what each carries of
// tool results, oldest first.
func walk(v replay.View, visit func(request int, seen []observation)) {
	s := v.Session
	part := map[int]int{} // item to its call
	for _, r := range resultsOf(s) {
		part[r.item] = r.call
	}
	shown := map[int]bool{} // by item
	starts := map[[2]int][]int{}
	for i, sp := range s.Spans {
		if _, ok := part[sp.Item]; ok && !v.Dropped(i) {
			starts[[2]int{sp.Chain, sp.First}] = append(starts[[2]int{sp.Chain, sp.First}], i)
		}
	}
	alive := map[int][]int{}
	for k, r := range s.Requests {
		spans := slices.DeleteFunc(alive[r.Chain], func(i int) bool { return s.Spans[i].Last < r.Number })
		spans = append(spans, starts[[2]int{r.Chain, r.Number}]...)
		slices.SortFunc(spans, func(a, b int) int { return cmp.Compare(s.Spans[a].Position, s.Spans[b].Position) })
		alive[r.Chain] = spans
		if v.Removed(k) {
			continue
		}
		visit(k, group(s, spans, part, shown))
		for _, span := range spans {
			shown[s.Spans[span].Item] = true
		}
	}
}

// group puts the parts of one call together, at the place of the first.
func group(s *rollout.Session, spans []int, part map[int]int, shown map[int]bool) []observation {
	var out []observation
	at := map[int]int{}
	for _, span := range spans {
		item := s.Spans[span].Item
		call := part[item]
		i, ok := at[call]
		if !ok || call < 0 {
			i = len(out)
			out = append(out, observation{call: call})
			at[call] = i
		}
		out[i].spans = append(out[i].spans, span)
		out[i].unseen = out[i].unseen || !shown[item]
	}
	return out
}

// worthwhile is how many tokens a stub must save in a request: below that no policy
// would break the cached prefix, and what the agent cleared itself stays its stub.
const worthwhile = 20

// stubber replaces observations that were sent before by a stub, late.
type stubber struct {
	v     replay.View
	stub  string
	why   string
	saves map[int]int64 // by span: raw tokens that stubbing it saves; 0: it stays
	done  map[int]bool  // by span
	edits []replay.Edit
}

func newStubber(v replay.View, stub, why string) *stubber {
	return &stubber{v: v, stub: stub, why: why, saves: map[int]int64{}, done: map[int]bool{}}
}

// saving is what a request saves when the observation becomes a stub. Further parts
// of one observation are dropped: the stub stands for all.
func (b *stubber) saving(o observation) int64 {
	sum := int64(0)
	for i, span := range o.spans {
		sum += b.spanSaving(span, i == 0)
	}
	return sum
}

func (b *stubber) spanSaving(span int, first bool) int64 {
	if n, ok := b.saves[span]; ok {
		return n
	}
	n := carried(b.v, span)
	if first && !b.v.Opaque(span) {
		n -= b.v.Count(b.v.Sizes.Encoding, b.stub)
	}
	if n < worthwhile || first && b.v.Opaque(span) && b.v.Kind(span) != rollout.Image {
		n = 0
	}
	b.saves[span] = n
	return n
}

// replace puts the stub in place of an observation from a request on.
func (b *stubber) replace(o observation, from int) {
	for i, span := range o.spans {
		if b.done[span] || b.spanSaving(span, i == 0) == 0 {
			continue
		}
		b.done[span] = true
		e := replay.Edit{Span: span, From: from, Text: b.stub, Call: o.call, Lossy: true, Why: b.why}
		if i > 0 || b.v.Opaque(span) {
			e.Text, e.Drop = "", true
		}
		b.edits = append(b.edits, e)
	}
}

func (b *stubber) plan() replay.Plan {
	sortEdits(b.edits)
	return replay.Plan{Edits: b.edits}
}

// pending says whether an observation holds anything that is worth replacing.
func (b *stubber) pending(o observation) bool {
	for i, span := range o.spans {
		if !b.done[span] && b.spanSaving(span, i == 0) > 0 {
			return true
		}
	}
	return false
}
