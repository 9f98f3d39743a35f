package replay

import (
	"cmp"
	"slices"
)

// fenwick holds numbers by rank; sums over the first ranks take logarithmic time.
type fenwick []float64

func (f fenwick) add(rank int, v float64) {
	for i := rank + 1; i < len(f); i += i & -i {
		f[i] += v
	}
}

// below sums the numbers of all ranks smaller than rank.
func (f fenwick) below(rank int) float64 {
	sum := 0.0
	for i := rank; i > 0; i -= i & -i {
		sum += f[i]
	}
	return sum
}

// sharedPrefixes works out for every request what it has in common with the one
// before it. inputs are the provider tokens of each payload, nil where unknown: such
// requests, and those in removed, are nobody's predecessor and have none. breaks say
// where the recording differs first, for shared.unedited; nil: not asked for.
func (l *ledger) sharedPrefixes(pieces []piece, inputs []*int64, removed map[int]bool, breaks []shared) []shared {
	out := make([]shared, len(inputs))
	for i := range out {
		out[i] = shared{from: -1, breakAt: noBreak}
	}
	byChain := map[int][]*piece{}
	for i := range pieces {
		byChain[pieces[i].chain] = append(byChain[pieces[i].chain], &pieces[i])
	}
	for chain, requests := range l.chains {
		for _, list := range l.byModel(requests, inputs, removed) {
			w := l.newWalk(l.factors[list[0]], byChain[chain])
			for _, i := range list {
				changes := w.changes(i)
				out[i] = w.compare(i, changes, inputs)
				w.step(i, changes, &out[i], inputs, breaks)
			}
		}
	}
	for i, r := range l.rec.Session.Requests {
		if r.Base >= 0 && inputs[i] != nil && !removed[i] {
			out[i] = l.onBase(i, inputs, removed)
		}
	}
	return out
}

// byModel lists the requests that can be each other's predecessors: every model
// has a cache of its own. Those on a base have that for a predecessor.
func (l *ledger) byModel(requests []int, inputs []*int64, removed map[int]bool) map[string][]int {
	out := map[string][]int{}
	for _, i := range requests {
		if r := l.rec.Session.Requests[i]; r.Base < 0 && inputs[i] != nil && !removed[i] {
			out[r.Model] = append(out[r.Model], i)
		}
	}
	return out
}

// onBase is what a request has in common with the one whose payload it sends again.
func (l *ledger) onBase(i int, inputs []*int64, removed map[int]bool) shared {
	requests := l.rec.Session.Requests
	base := requests[i].Base
	if inputs[base] == nil || removed[base] || requests[base].Model != requests[i].Model {
		return shared{from: -1, breakAt: noBreak}
	}
	n := float64(min(*inputs[base], *inputs[i]))
	return shared{from: base, tokens: n, unedited: n, breakAt: noBreak}
}

// walk follows the requests of one model along a chain and keeps, by position, the
// provider tokens of what the last one carried.
type walk struct {
	l         *ledger
	factors   *factors
	positions []int64
	byFirst   []*piece // not yet begun
	byLast    []*piece // not yet ended
	tree      fenwick
	at        int // index of the last request; -1 none yet
}

func (l *ledger) newWalk(f *factors, pieces []*piece) *walk {
	w := &walk{l: l, factors: f, at: -1, byFirst: slices.Clone(pieces), byLast: slices.Clone(pieces)}
	slices.SortStableFunc(w.byFirst, func(a, b *piece) int { return cmp.Compare(a.first, b.first) })
	slices.SortStableFunc(w.byLast, func(a, b *piece) int { return cmp.Compare(a.last, b.last) })
	for _, p := range pieces {
		w.positions = append(w.positions, p.position)
	}
	slices.Sort(w.positions)
	w.positions = slices.Compact(w.positions)
	w.tree = make(fenwick, len(w.positions)+1)
	return w
}

// change is a piece that one of two payloads has and the other has not.
type change struct {
	*piece
	gone bool
}

// changes lists what is different in a request's payload from the last one's, in
// order of position. Pieces that came and went between them are in neither.
func (w *walk) changes(i int) []change {
	number, before := w.l.rec.Session.Requests[i].Number, 0
	if w.at >= 0 {
		before = w.l.rec.Session.Requests[w.at].Number
	}
	var out []change
	for len(w.byLast) > 0 && w.byLast[0].last < number {
		if p := w.byLast[0]; p.first <= before {
			out = append(out, change{p, true})
		}
		w.byLast = w.byLast[1:]
	}
	for len(w.byFirst) > 0 && w.byFirst[0].first <= number {
		if p := w.byFirst[0]; p.last >= number {
			out = append(out, change{p, false})
		}
		w.byFirst = w.byFirst[1:]
	}
	slices.SortStableFunc(out, func(a, b change) int { return cmp.Compare(a.position, b.position) })
	return out
}

// breakAt is the position of the first real difference: the same text again at the
// same place is none.
func (l *ledger) breakAt(changes []change) int64 {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].position == changes[0].position {
			n++
		}
		if n != 2 || changes[0].gone == changes[1].gone || !l.same(*changes[0].piece, *changes[1].piece) {
			return changes[0].position
		}
		changes = changes[n:]
	}
	return noBreak
}

// compare works out the shared prefix of a request before the walk steps to it.
func (w *walk) compare(i int, changes []change, inputs []*int64) shared {
	out := shared{from: w.at, breakAt: w.l.breakAt(changes)}
	if w.at >= 0 {
		out.tokens = min(w.prefix(out.breakAt, inputs), float64(*inputs[i]))
	}
	return out
}

// prefix is what the last request carried in front of a position: its input less
// what stood from there on. Where that is more than half of what is logged, the
// error of all those counts would end up in the prefix; then it cannot be more than
// the front and what stood before the position.
func (w *walk) prefix(position int64, inputs []*int64) float64 {
	input := float64(*inputs[w.at])
	if position == noBreak {
		return input
	}
	before := w.tree.below(w.rank(position))
	behind := w.tree.below(len(w.positions)) - before
	n := input - behind
	if front := w.l.front[w.at]; before < behind && front != nil {
		n = min(n, *front+before)
	}
	return max(0, n)
}

func (w *walk) rank(position int64) int {
	rank, _ := slices.BinarySearch(w.positions, position)
	return rank
}

// step makes a request the last one. What it would share with the one before, if
// the first difference were where the recording has it, is what it carries itself in
// front of that place.
func (w *walk) step(i int, changes []change, out *shared, inputs []*int64, breaks []shared) {
	for _, c := range changes {
		tokens := w.factors.of(c.kind) * float64(c.raw)
		if c.gone {
			tokens = -tokens
		}
		w.tree.add(w.rank(c.position), tokens)
	}
	w.at = i
	out.unedited = out.tokens
	if breaks != nil && out.from >= 0 {
		out.unedited = w.prefix(breaks[i].breakAt, inputs)
	}
}
