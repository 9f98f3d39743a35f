// Package conversation keeps a chain equal to a list of pieces, for logs that say
// what a whole conversation was at a request instead of what was added to it.
package conversation

import "github.com/fclog/fclog/rollout"

// Piece is one separately sent part of a conversation.
type Piece struct {
	rollout.Item        // as it is sent now
	Index        int    // of its item in the session; -1: one is made when it is first sent
	Match        string // pieces of one kind and Match are the same content; "" those of one text
	entry        *rollout.Entry
}

// Conversation is a chain and the pieces that stand in it.
type Conversation struct {
	b      *rollout.Builder
	chain  *rollout.Chain
	pieces []*Piece
	placed map[int]bool // items that stand in the chain
}

// New starts a conversation on an empty chain.
func New(b *rollout.Builder, chain *rollout.Chain) *Conversation {
	return &Conversation{b: b, chain: chain, placed: map[int]bool{}}
}

// Pieces are the pieces of all coming requests, in order.
func (c *Conversation) Pieces() []*Piece { return c.pieces }

// Chain is where the requests of the conversation are recorded.
func (c *Conversation) Chain() *rollout.Chain { return c.chain }

// key is what makes two pieces the same content.
type key struct {
	kind rollout.ItemKind
	name string
	text rollout.TextID
}

func (p *Piece) key() key {
	if p.Match != "" {
		return key{kind: p.Kind, name: p.Match}
	}
	return key{p.Kind, p.Tool, p.Text}
}

// Set makes the pieces of all coming requests these. What stays keeps its item;
// what changed keeps it too and gets another text; what moved gets another
// position. What comes twice is two items.
func (c *Conversation) Set(want []*Piece) {
	same := 0
	for same < len(want) && same < len(c.pieces) && want[same] == c.pieces[same] {
		same++
	}
	rest := want[same:]
	gone := c.take(rest, c.pieces[same:])
	for _, p := range gone {
		c.chain.Remove(p.entry)
		delete(c.placed, p.Index)
	}
	entries := make([]*rollout.Entry, 0, len(rest))
	for _, p := range rest {
		c.place(p)
		entries = append(entries, p.entry)
	}
	if same < len(c.pieces) {
		c.chain.Reorder(entries)
	}
	c.pieces = want
}

// take lets pieces stand in for equal old ones, in order, and returns the old ones
// that are left.
func (c *Conversation) take(want, old []*Piece) []*Piece {
	found := map[key][]*Piece{}
	for _, p := range old {
		found[p.key()] = append(found[p.key()], p)
	}
	for _, p := range want {
		k := p.key()
		if len(found[k]) == 0 {
			p.entry = nil
			continue
		}
		c.keep(p, found[k][0])
		found[k] = found[k][1:]
	}
	var left []*Piece
	for _, p := range old {
		if k := p.key(); len(found[k]) > 0 {
			left, found[k] = append(left, found[k][0]), found[k][1:]
		}
	}
	return left
}

func (c *Conversation) keep(p, old *Piece) {
	p.entry, p.Index = old.entry, old.Index
	p.Request = c.b.Session.Items[p.Index].Request
	c.chain.Replace(p.entry, p.Text, p.Tokens)
}

// place puts a piece into the chain that is not there yet.
func (c *Conversation) place(p *Piece) {
	if p.entry != nil {
		return
	}
	if p.Index >= 0 && c.placed[p.Index] {
		p.Label, p.Index = "repeated", -1
	}
	if p.Index < 0 {
		p.Index = c.b.Item(p.Item)
	}
	c.placed[p.Index] = true
	p.entry = c.chain.AddText(rollout.SlotConversation, p.Index, p.Text, p.Tokens)
}
