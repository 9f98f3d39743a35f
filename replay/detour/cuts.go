package detour

import (
	"cmp"
	"slices"

	"github.com/fclog/fclog/replay"
)

// cuts is a plan as a matcher sees it.
type cuts struct {
	m      *matcher
	edits  []replay.Edit
	bySpan map[int][]int // edits of a span, in order of From
	last   []int         // by edit: number of the last request it holds for
	kept   [][]int32     // by edit: features of what it leaves; nil: not yet looked for
	texts  map[string][]int32
	used   []bool // by edit: what it cuts was said while it held, and stood nowhere else in the payload
	before []bool // by edit: what it cuts had been said before the model first saw it
}

func newCuts(m *matcher, plan replay.Plan) *cuts {
	n := len(plan.Edits)
	c := &cuts{m: m, edits: plan.Edits, bySpan: map[int][]int{}, last: make([]int, n), kept: make([][]int32, n), texts: map[string][]int32{}, used: make([]bool, n), before: make([]bool, n)}
	for i, e := range plan.Edits {
		c.bySpan[e.Span] = append(c.bySpan[e.Span], i)
	}
	for span, list := range c.bySpan {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(c.edits[a].From, c.edits[b].From) })
		for k, i := range list {
			c.last[i] = m.s.Spans[span].Last
			if k+1 < len(list) {
				c.last[i] = min(c.last[i], c.edits[list[k+1]].From-1)
			}
		}
	}
	return c
}

// leaves says whether a feature is in what an edit leaves.
func (c *cuts) leaves(edit int, feature int32) bool {
	if c.kept[edit] == nil {
		c.kept[edit] = c.keptOf(c.edits[edit].Text)
	}
	_, found := slices.BinarySearch(c.kept[edit], feature)
	return found
}

func (c *cuts) keptOf(text string) []int32 {
	if f, ok := c.texts[text]; ok {
		return f
	}
	f := append([]int32{}, c.m.find(text)...) // never nil
	c.texts[text] = f
	return f
}

// judge fills in used of the lossy edits, and before where that is asked for, for a
// session without others beside it: it is the null of used. It goes feature by
// feature: where each stands is worked out once for all edits that cut it.
func (c *cuts) judge(before bool) {
	open := c.openEdits()
	cut := make([]bool, len(c.m.first)) // by feature
	for span := range open {
		for _, f := range c.m.hits[c.m.s.Spans[span].Text] {
			cut[f] = true
		}
	}
	var p places
	for i, yes := range cut {
		f := int32(i)
		if !yes {
			continue
		}
		if lost := c.lost(f, open, before); len(lost) > 0 {
			c.feature(f, lost, before, &p)
		}
	}
}

// openEdits lists the lossy edits by their spans.
func (c *cuts) openEdits() map[int][]int {
	open := map[int][]int{}
	for i, e := range c.edits {
		if e.Lossy {
			open[e.Span] = append(open[e.Span], i)
		}
	}
	return open
}

// lost lists the edits that cut a feature and are not settled yet.
func (c *cuts) lost(f int32, open map[int][]int, before bool) []int {
	var out []int
	for _, t := range c.m.holding(f) {
		for _, span := range c.m.spans[t] {
			for _, i := range open[span] {
				if (!c.used[i] || before && !c.before[i]) && !c.leaves(i, f) {
					out = append(out, i)
				}
			}
		}
	}
	return out
}

// feature settles what one feature says of the edits that cut it.
func (c *cuts) feature(f int32, lost []int, before bool, p *places) {
	all := p.of(c.stands(f, false, p))
	c.m.aloneAt(f, all, p)
	for _, i := range lost {
		sp := c.m.s.Spans[c.edits[i].Span]
		c.used[i] = c.used[i] || p.said(sp.Chain, nowhere, c.edits[i].From, c.last[i]) || p.said(sp.Chain, sp.Item, c.edits[i].From, c.last[i])
	}
	if !before {
		return
	}
	first := c.m.firstUses(f, p)
	others := p.of(c.stands(f, true, p))
	for _, i := range lost {
		sp := c.m.s.Spans[c.edits[i].Span]
		if number, ok := first[sp.Chain]; ok && number < sp.First {
			item := others.at(sp.Chain, c.edits[i].From)
			c.before[i] = c.before[i] || item == nowhere || item == sp.Item
		}
	}
}

// stands lists the stretches of requests whose payloads hold a feature, as the plan
// leaves them. The model's own words are no place of what had been said before.
func (c *cuts) stands(f int32, notOwn bool, p *places) []stretch {
	out := p.stretches[:0]
	s := c.m.s
	for _, t := range c.m.holding(f) {
		for _, i := range c.m.spans[t] {
			sp := s.Spans[i]
			if notOwn && s.Items[sp.Item].Request >= 0 {
				continue
			}
			list := c.bySpan[i]
			whole := sp.Last
			if len(list) > 0 {
				whole = min(whole, c.edits[list[0]].From-1)
			}
			out = addStretch(out, stretch{sp.Chain, sp.First, whole, sp.Item})
			for _, e := range list {
				if c.leaves(e, f) {
					out = addStretch(out, stretch{sp.Chain, max(sp.First, c.edits[e].From), c.last[e], sp.Item})
				}
			}
		}
	}
	p.stretches = out
	return out
}

func addStretch(list []stretch, s stretch) []stretch {
	if s.first > s.last {
		return list
	}
	return append(list, s)
}

// stretch is the requests of a chain, by number, that carry an item.
type stretch struct{ chain, first, last, item int }

const (
	nowhere = -1
	sundry  = -2
)

// places is room to work out where one feature stands.
type places struct {
	stretches []stretch
	borders   []border
	steps     timeline
	items     map[int]int // stretches of an item that have begun and not ended
	alone     []lonely
	first     map[int]int
}

// border is where an item begins (1) or ends (-1) to stand.
type border struct{ chain, number, item, by int }

// timeline says from which request of a chain on which item alone holds a feature:
// an item, nowhere or sundry (more than one).
type timeline []stretch

// of turns stretches into the items that hold the feature at each request.
func (p *places) of(list []stretch) timeline {
	p.borders, p.steps = p.borders[:0], p.steps[:0]
	for _, s := range list {
		p.borders = append(p.borders, border{s.chain, s.first, s.item, 1}, border{s.chain, s.last + 1, s.item, -1})
	}
	slices.SortFunc(p.borders, func(a, b border) int { return cmp.Or(cmp.Compare(a.chain, b.chain), cmp.Compare(a.number, b.number)) })
	if p.items == nil {
		p.items = map[int]int{}
	}
	clear(p.items)
	sum := 0 // of the items that stand: where it is one, that one
	for i, b := range p.borders {
		was := p.items[b.item]
		p.items[b.item] = was + b.by
		switch {
		case was+b.by == 0:
			delete(p.items, b.item)
			sum -= b.item
		case was == 0:
			sum += b.item
		}
		if i+1 < len(p.borders) && p.borders[i+1].chain == b.chain && p.borders[i+1].number == b.number {
			continue
		}
		item := sundry
		switch len(p.items) {
		case 0:
			item = nowhere
		case 1:
			item = sum
		}
		p.steps = append(p.steps, stretch{chain: b.chain, first: b.number, item: item})
	}
	return p.steps
}

// at is the item that alone holds the feature in a request; nowhere or sundry.
func (t timeline) at(chain, number int) int {
	i, exact := slices.BinarySearchFunc(t, stretch{chain: chain, first: number}, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.chain, b.chain), cmp.Compare(a.first, b.first))
	})
	if !exact {
		i--
	}
	if i < 0 || t[i].chain != chain {
		return nowhere
	}
	return t[i].item
}

// lonely is a request whose response said a feature that at most one item held.
type lonely struct{ chain, item, number int }

func compareLonely(a, b lonely) int {
	return cmp.Or(cmp.Compare(a.chain, b.chain), cmp.Compare(a.item, b.item), cmp.Compare(a.number, b.number))
}

// aloneAt lists the uses of a feature that at most one item held then.
func (m *matcher) aloneAt(f int32, t timeline, p *places) {
	p.alone = p.alone[:0]
	for u := m.first[f]; u >= 0; u = m.uses[u].next {
		r := m.s.Requests[m.uses[u].request]
		if item := t.at(r.Chain, r.Number); item != sundry {
			p.alone = append(p.alone, lonely{r.Chain, item, r.Number})
		}
	}
	slices.SortFunc(p.alone, compareLonely)
}

// said says whether the feature was said in a stretch of requests while that item
// alone held it.
func (p *places) said(chain, item, first, last int) bool {
	i, _ := slices.BinarySearchFunc(p.alone, lonely{chain, item, first}, compareLonely)
	return i < len(p.alone) && p.alone[i].chain == chain && p.alone[i].item == item && p.alone[i].number <= last
}

// firstUses is, by chain, the number of the first request that said a feature.
func (m *matcher) firstUses(f int32, p *places) map[int]int {
	if p.first == nil {
		p.first = map[int]int{}
	}
	clear(p.first)
	for u := m.first[f]; u >= 0; u = m.uses[u].next {
		r := m.s.Requests[m.uses[u].request]
		if n, ok := p.first[r.Chain]; !ok || r.Number < n {
			p.first[r.Chain] = r.Number
		}
	}
	return p.first
}
