package pi

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// piece is what one entry puts into payloads.
type piece struct {
	entry      int
	items      []int
	entries    []*rollout.Entry // parallel to items while the piece is carried
	messages   int64            // messages it is sent as
	calls      []openCall       // of an assistant message, those without a result yet
	model      string           // of an assistant message: who made it
	compaction bool
	kept       int // of a compaction: first entry kept; -1 none
}

// openCall is a call as it waits for its result.
type openCall struct {
	id, tool string
	item     int
}

// branch is one path of the tree under construction.
type branch struct {
	chain   *rollout.Chain
	tip     int      // last entry on it; -1 none
	pieces  []*piece // of the whole path from the root, carried or not
	visible []*piece // what the next request carries, in order
	failed  int      // attempts in a row that brought no answer
	sent    int64    // messages that visible is sent as
	made    string   // who made the newest response
	sealed  []*piece // of visible, those with encrypted reasoning
}

// walk goes over the entries in file order, each on its branch.
func (r *reader) walk() {
	if n := len(r.entries); n > 0 {
		for i := n - 1; i >= 0; i = r.entries[i].parent {
			r.entries[i].onLeaf = true
		}
	}
	r.owner = make([]*branch, len(r.entries))
	main := &branch{chain: r.b.Chain(), tip: -1}
	r.branches = append(r.branches, main)
	for i, e := range r.entries {
		br := r.branchOf(i, e, main)
		r.owner[i], br.tip = br, i
		r.enter(br, i, e)
	}
}

// branchOf is the branch an entry continues: the main one on the path to the
// last entry, else its parent's unless the parent was already continued.
func (r *reader) branchOf(i int, e *entry, main *branch) *branch {
	if e.onLeaf {
		return main
	}
	if e.parent >= 0 && !r.entries[e.parent].onLeaf && r.owner[e.parent].tip == e.parent {
		return r.owner[e.parent]
	}
	return r.fork(e.parent)
}

// fork starts a branch with the path that ends at an entry.
func (r *reader) fork(parent int) *branch {
	br := &branch{chain: r.b.Chain(), tip: parent}
	r.branches = append(r.branches, br)
	if parent < 0 {
		return br
	}
	for _, p := range r.pathTo(parent) {
		dup := *p
		dup.entries, dup.items, dup.calls = nil, slices.Clone(p.items), slices.Clone(p.calls)
		br.pieces = append(br.pieces, &dup)
	}
	r.place(br, shown(br.pieces))
	return br
}

// pathTo is the pieces on the path to an entry. They are the first ones of its
// branch: what followed came later.
func (r *reader) pathTo(at int) []*piece {
	on := map[int]bool{}
	for i := at; i >= 0; i = r.entries[i].parent {
		on[i] = true
	}
	var out []*piece
	for _, p := range r.owner[at].pieces {
		if on[p.entry] {
			out = append(out, p)
		}
	}
	return out
}

// shown is what of a path goes out: the newest compaction's summary, what it
// kept, and all that follows; other compactions only cut.
func shown(path []*piece) []*piece {
	last := -1
	for i, p := range path {
		if p.compaction {
			last = i
		}
	}
	if last < 0 {
		return path
	}
	out := []*piece{path[last]}
	for i, p := range path {
		switch {
		case i == last || p.compaction:
		case i > last, path[last].kept >= 0 && p.entry >= path[last].kept:
			out = append(out, p)
		}
	}
	return out
}

// place makes pieces the whole payload of a branch.
func (r *reader) place(br *branch, pieces []*piece) {
	for _, p := range br.visible {
		for _, e := range p.entries {
			br.chain.Remove(e)
		}
	}
	br.visible, br.sealed, br.sent = nil, nil, 0
	for _, p := range pieces {
		r.put(br, p)
	}
}

// put adds a piece at the end of a branch's payload.
func (r *reader) put(br *branch, p *piece) {
	p.entries = p.entries[:0]
	for _, item := range p.items {
		p.entries = append(p.entries, br.chain.Add(rollout.SlotConversation, item))
	}
	if slices.ContainsFunc(p.items, r.isSealed) {
		br.sealed = append(br.sealed, p)
	}
	br.visible = append(br.visible, p)
	br.sent += p.messages
}

// isSealed tells encrypted reasoning.
func (r *reader) isSealed(item int) bool {
	it := r.b.Session.Items[item]
	return it.Kind == rollout.Reasoning && r.b.Session.Texts[it.Text].Opaque
}

// drop takes items out of a piece that is carried.
func (r *reader) drop(br *branch, p *piece, gone func(item int) bool) {
	var items []int
	var entries []*rollout.Entry
	for i, item := range p.items {
		if gone(item) {
			br.chain.Remove(p.entries[i])
			continue
		}
		items, entries = append(items, item), append(entries, p.entries[i])
	}
	p.items, p.entries = items, entries
}

// append adds the piece of a new entry.
func (r *reader) append(br *branch, p *piece) {
	br.pieces = append(br.pieces, p)
	r.put(br, p)
}

// enter acts on one entry.
func (r *reader) enter(br *branch, i int, e *entry) {
	switch e.Type.V {
	case "message":
		r.message(br, i, e)
	case "compaction":
		r.compaction(br, i, e)
	case "branch_summary":
		r.summary(br, i, e, branchOpening+e.Summary.V+branchClosing)
	case "custom_message":
		r.custom(br, i, e.CustomType.V, e.Content)
	}
}
