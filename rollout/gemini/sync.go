package gemini

import "github.com/fclog/fclog/rollout"

// payload lists the pieces of the list in the order they are sent. Results that
// stand with their calls count only where no user message holds them: newer
// versions write both, and a resume sends what its checkpoint says, twice if so.
func (c *chat) payload() []*piece {
	answered := map[string]bool{}
	for _, e := range c.list {
		if e.Type.V != "user" {
			continue
		}
		for _, p := range e.pieces {
			if p.Kind == rollout.ToolResult {
				answered[p.CallID] = true
			}
		}
	}
	var out, waiting []*piece
	for _, e := range c.list {
		if !e.joined {
			out, waiting = append(out, waiting...), nil
		}
		out = append(out, e.pieces...)
		for _, p := range e.results {
			if !answered[p.CallID] {
				waiting = append(waiting, p)
			}
		}
	}
	return append(out, waiting...)
}

// sync brings the chain to what the list holds now. Content that stays keeps its
// item: what is masked changes its text in place, what moves its position.
func (c *chat) sync() {
	want := c.payload()
	same := 0
	for same < len(want) && same < len(c.sent) && want[same] == c.sent[same] {
		same++
	}
	old := map[key][]*piece{}
	for _, p := range c.sent[same:] {
		old[p.key()] = append(old[p.key()], p)
	}
	for _, p := range want[same:] {
		if found := old[p.key()]; len(found) > 0 {
			old[p.key()] = found[1:]
			c.keep(p, found[0])
		} else {
			p.entry = nil
		}
	}
	for _, gone := range old {
		for _, p := range gone {
			c.chain.Remove(p.entry)
			delete(c.placed, p.item)
		}
	}
	entries := make([]*rollout.Entry, 0, len(want)-same)
	for _, p := range want[same:] {
		c.place(p)
		entries = append(entries, p.entry)
	}
	if same < len(c.sent) {
		c.chain.Reorder(entries)
	}
	c.sent = want
}

// keep lets a piece stand in for an equal one of the chain.
func (c *chat) keep(p, old *piece) {
	entry, item := old.entry, old.item
	p.entry, p.item = entry, item
	p.Request = c.b.Session.Items[item].Request
	c.placed[item] = p
	c.chain.Replace(entry, p.Text, p.Tokens)
}

// place puts a piece into the chain that is not there yet.
func (c *chat) place(p *piece) {
	if p.entry != nil {
		return
	}
	if _, twice := c.placed[p.item]; twice && p.item >= 0 {
		p.Label, p.item = "repeated", -1
	}
	if p.item < 0 {
		p.item = c.b.Item(p.Item)
	}
	c.placed[p.item] = p
	p.entry = c.chain.AddText(rollout.SlotConversation, p.item, p.Text, p.Tokens)
}
