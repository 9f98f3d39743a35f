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
		w := l.newWalk(requests, byChain[chain])
		for _, i := range requests {
			if inputs[i] == nil || removed[i] {
				continue
			}
			changes := w.changes(i)
			out[i] = w.compare(i, changes, inputs, removed, breaks)
			w.step(i, changes)
		}
	}
	return out
}

// walk follows one chain from request to request and keeps, by position, the
// provider tokens of what the last one carried, in the tokens of each model.
type walk struct {
	l         *ledger
	positions []int64
	byFirst   []*piece // not yet begun
	byLast    []*piece // not yet ended
	trees     map[*factors]fenwick
	at        int // index of the last request; -1 none yet
}

func (l *ledger) newWalk(requests []int, pieces []*piece) *walk {
	w := &walk{l: l, at: -1, byFirst: pieces, byLast: slices.Clone(pieces), trees: map[*factors]fenwick{}}
	slices.SortStableFunc(w.byFirst, func(a, b *piece) int { return cmp.Compare(a.first, b.first) })
	slices.SortStableFunc(w.byLast, func(a, b *piece) int { return cmp.Compare(a.last, b.last) })
	for _, p := range pieces {
		w.positions = append(w.positions, p.position)
	}
	slices.Sort(w.positions)
	w.positions = slices.Compact(w.positions)
	for _, i := range requests {
		if w.trees[l.factors[i]] == nil {
			w.trees[l.factors[i]] = make(fenwick, len(w.positions)+1)
		}
	}
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
func (w *walk) compare(i int, changes []change, inputs []*int64, removed map[int]bool, breaks []shared) shared {
	requests := w.l.rec.Session.Requests
	r := requests[i]
	out := shared{from: -1, breakAt: w.l.breakAt(changes)}
	longest := func(from int) float64 { return float64(min(*inputs[from], *inputs[i])) }
	switch {
	case w.at >= 0 && requests[w.at].Base == r.Base && requests[w.at].Model == r.Model:
		out.from = w.at
		out.tokens = min(w.prefix(i, out.breakAt, inputs), longest(w.at))
		out.unedited = out.tokens
		if breaks != nil {
			out.unedited = min(w.prefix(i, breaks[i].breakAt, inputs), longest(w.at))
		}
	case r.Base >= 0 && inputs[r.Base] != nil && !removed[r.Base] && requests[r.Base].Model == r.Model:
		out.from = r.Base
		out.tokens = longest(r.Base)
		out.unedited = out.tokens
	}
	return out
}

// prefix is what the last request carried in front of a position: its input less
// what stood from there on.
func (w *walk) prefix(i int, position int64, inputs []*int64) float64 {
	input := float64(*inputs[w.at])
	if position == noBreak {
		return input
	}
	tree := w.trees[w.l.factors[i]]
	return max(0, input-(tree.below(len(w.positions))-tree.below(w.rank(position))))
}

func (w *walk) rank(position int64) int {
	rank, _ := slices.BinarySearch(w.positions, position)
	return rank
}

// step makes a request the last one.
func (w *walk) step(i int, changes []change) {
	for _, c := range changes {
		tokens := float64(c.raw)
		if c.gone {
			tokens = -tokens
		}
		rank := w.rank(c.position)
		for f, tree := range w.trees {
			tree.add(rank, f.of(c.kind)*tokens)
		}
	}
	w.at = i
}
