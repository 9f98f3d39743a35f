package apilog

import (
	"github.com/fclog/fclog/rollout"
)

// chain is one conversation under construction: what its next request carries,
// slot by slot.
type chain struct {
	b       *builder
	c       *rollout.Chain
	slots   [3]slot
	alive   map[int]bool // items that stand in it
	last    *exchange
	attempt int
}

// slot is one region of the payload: parts and their entries, side by side.
type slot struct {
	at      rollout.Slot
	list    int32
	parts   []int32
	entries []*rollout.Entry
}

func (b *builder) chain() *chain {
	c := &chain{b: b, c: b.b.Chain(), alive: map[int]bool{}}
	for i, at := range []rollout.Slot{rollout.SlotTools, rollout.SlotSystem, rollout.SlotConversation} {
		c.slots[i].at = at
	}
	return c
}

// load makes the chain carry what a call carries and returns the parts of the
// conversation that are new to it.
func (c *chain) load(x *exchange) []int32 {
	var fresh []int32
	for i, list := range []int32{x.lists.tools, x.lists.system, x.lists.conversation} {
		fresh = c.change(&c.slots[i], list)
	}
	return fresh
}

// change turns a slot's list into another one. Entries that stay keep their
// spans; one that was rewritten in place is replaced; what follows an insertion
// is put behind it anew.
func (c *chain) change(s *slot, list int32) []int32 {
	if s.list == list {
		return nil
	}
	common := c.common(s.list, list)
	want := c.tail(list, common)
	d := &change{c: c, s: s, old: s.parts[common:], entries: s.entries[common:], want: want}
	fresh := d.run()
	s.parts = append(s.parts[:common:common], want...)
	s.entries = append(s.entries[:common:common], d.out...)
	s.list = list
	return fresh
}

// common is the length of the longest common beginning of two lists.
func (c *chain) common(a, b int32) int {
	nodes := c.b.r.st.nodes
	for a != b {
		switch {
		case nodes[a].depth > nodes[b].depth:
			a = nodes[a].parent
		case nodes[b].depth > nodes[a].depth:
			b = nodes[b].parent
		default:
			a, b = nodes[a].parent, nodes[b].parent
		}
	}
	return int(nodes[a].depth)
}

// tail is a list from a place on.
func (c *chain) tail(list int32, from int) []int32 {
	nodes := c.b.r.st.nodes
	out := make([]int32, int(nodes[list].depth)-from)
	for ; int(nodes[list].depth) > from; list = nodes[list].parent {
		out[int(nodes[list].depth)-from-1] = nodes[list].part
	}
	return out
}

// change is the work of turning the end of one list into that of another.
type change struct {
	c       *chain
	s       *slot
	old     []int32
	entries []*rollout.Entry
	want    []int32
	out     []*rollout.Entry
	lastOld map[int32]int // last place of a part in old
	lastNew map[int32]int
}

func (d *change) run() []int32 {
	d.lastOld, d.lastNew = places(d.old), places(d.want)
	var fresh []int32
	i, j := 0, 0
	for i < len(d.old) && j < len(d.want) {
		stays, known := d.comes(d.lastNew, d.old[i], j), d.comes(d.lastOld, d.want[j], i)
		switch {
		case d.old[i] == d.want[j]:
			d.out = append(d.out, d.entries[i])
			i, j = i+1, j+1
		case !stays && !known:
			fresh = append(fresh, d.want[j])
			d.c.swap(d.entries[i], d.old[i], d.want[j])
			d.out = append(d.out, d.entries[i])
			i, j = i+1, j+1
		case !stays:
			d.c.remove(d.entries[i])
			i++
		default:
			// Something came in before parts that stay, or they changed places.
			return append(fresh, d.rest(i, j)...)
		}
	}
	return append(fresh, d.rest(i, j)...)
}

// comes tells whether a part stands in a list at or behind a place.
func (d *change) comes(last map[int32]int, id int32, from int) bool {
	at, ok := last[id]
	return ok && at >= from
}

func places(list []int32) map[int32]int {
	out := make(map[int32]int, len(list))
	for i, id := range list {
		out[id] = i
	}
	return out
}

// rest takes out what is left of the old list and adds what is left of the new.
func (d *change) rest(i, j int) []int32 {
	before := map[int32]int{}
	for k, e := range d.entries[i:] {
		before[d.old[i+k]]++
		d.c.remove(e)
	}
	var fresh []int32
	for _, id := range d.want[j:] {
		if before[id] > 0 {
			before[id]--
		} else {
			fresh = append(fresh, id)
		}
		d.out = append(d.out, d.c.add(d.s.at, id))
	}
	return fresh
}

func (c *chain) remove(e *rollout.Entry) {
	delete(c.alive, e.Item)
	c.c.Remove(e)
}

func (c *chain) add(at rollout.Slot, id int32) *rollout.Entry {
	item := c.itemFor(id)
	c.alive[item] = true
	pt := c.b.r.st.parts[id]
	return c.c.AddText(at, item, c.b.text(pt.text), c.b.tokens(pt))
}

// swap changes an entry in place: the same item with another text where both
// are of one call, one tool or one system prompt, else another item.
func (c *chain) swap(e *rollout.Entry, old, id int32) {
	was, pt := c.b.r.st.parts[old], c.b.r.st.parts[id]
	text := c.b.text(pt.text)
	if sameThing(was, pt) {
		c.c.Replace(e, text, c.b.tokens(pt))
		c.b.answered(e.Item, id)
		return
	}
	delete(c.alive, e.Item)
	item := c.itemFor(id)
	c.alive[item] = true
	c.c.Swap(e, item)
	c.c.Replace(e, text, c.b.tokens(pt))
}

// sameThing tells a part that was rewritten from one that took another's place.
func sameThing(a, b part) bool {
	if a.kind != b.kind || a.role != b.role || a.callID != b.callID {
		return false
	}
	switch a.kind {
	case rollout.SystemPrompt, rollout.Reminder:
		return true
	case rollout.ToolDefinitions:
		return a.tool == b.tool
	}
	return a.callID != ""
}

// itemFor is the item of a part: one that stands in another chain, or stood here,
// or that a response brought; else a new one.
func (c *chain) itemFor(id int32) int {
	for _, i := range c.b.items[id] {
		if !c.alive[i] {
			return i
		}
	}
	pt := c.b.r.st.parts[id]
	if pt.callID != "" {
		for _, i := range c.b.byCall[callKey{pt.kind, pt.callID}] {
			if !c.alive[i] && c.b.b.Session.Items[i].Request >= 0 {
				return i
			}
		}
	}
	i := c.b.item(id, -1)
	switch pt.kind {
	case rollout.ToolCall:
		c.b.call(i, id, -1, nil)
	case rollout.ToolResult, rollout.Image:
		c.b.answered(i, id)
	}
	return i
}
