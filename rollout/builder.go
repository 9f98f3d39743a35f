package rollout

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"unicode/utf8"
)

// Slot is the region of a payload an entry stands in; regions follow each other
// in the order of their values.
type Slot int

const (
	SlotTools Slot = iota
	SlotSystem
	SlotContext
	SlotConversation
	SlotTail
)

// slotBits leaves room for 2^40 entries in one slot.
const slotBits = 40

// Builder collects a session. Readers add items to chains as the log tells of
// them and record each request; the builder turns that into spans.
type Builder struct {
	Session *Session
	texts   map[textKey]TextID
	chains  []*Chain
}

// textKey tells a readable text from opaque data of the same content.
type textKey struct {
	hash   [32]byte
	opaque bool
}

// NewBuilder starts a session of the named log format.
func NewBuilder(source string) *Builder {
	return &Builder{
		Session: &Session{Source: source},
		texts:   map[textKey]TextID{},
	}
}

// Text stores s, once however often it comes, and returns its ID. s must be
// valid UTF-8 (see the logfile package).
func (b *Builder) Text(s string) TextID {
	hash := sumOf(s)
	return b.intern(Text{Hash: hash, S: s, Chars: utf8.RuneCountInString(s), Bytes: len(s)})
}

// OpaqueText stores only hash and size of data that has no words: image data,
// encrypted reasoning.
func (b *Builder) OpaqueText(data string) TextID {
	hash := sumOf(data)
	return b.intern(Text{Hash: hash, Chars: utf8.RuneCountInString(data), Bytes: len(data), Opaque: true})
}

// OpaqueSum is OpaqueText for data that the reader did not keep: its SHA-256,
// Unicode code points and bytes.
func (b *Builder) OpaqueSum(hash [32]byte, chars, bytes int) TextID {
	return b.intern(Text{Hash: hash, Chars: chars, Bytes: bytes, Opaque: true})
}

// sumOf is the SHA-256 of s. A text is copied bit by bit, not as a whole.
func sumOf(s string) (sum [sha256.Size]byte) {
	var buf [4 << 10]byte
	if len(s) <= len(buf) {
		return sha256.Sum256(buf[:copy(buf[:], s)])
	}
	h := sha256.New()
	for len(s) > 0 {
		n := copy(buf[:], s)
		h.Write(buf[:n])
		s = s[n:]
	}
	h.Sum(sum[:0])
	return sum
}

func (b *Builder) intern(t Text) TextID {
	key := textKey{t.Hash, t.Opaque}
	if id, ok := b.texts[key]; ok {
		return id
	}
	id := TextID(len(b.Session.Texts))
	b.Session.Texts = append(b.Session.Texts, t)
	b.texts[key] = id
	return id
}

// Item adds an item and returns its index.
func (b *Builder) Item(it Item) int {
	b.Session.Items = append(b.Session.Items, it)
	return len(b.Session.Items) - 1
}

// Call adds a tool call and returns its index.
func (b *Builder) Call(c Call) int {
	b.Session.Calls = append(b.Session.Calls, c)
	return len(b.Session.Calls) - 1
}

// Problem notes something that could not be read or reconciled.
func (b *Builder) Problem(p Problem) {
	if p.Count == 0 {
		p.Count = 1
	}
	b.Session.Problems = append(b.Session.Problems, p)
}

// Chain starts a new, empty chain. The first is the main chain.
func (b *Builder) Chain() *Chain {
	c := &Chain{b: b, ID: len(b.chains), alive: map[*Entry]struct{}{}}
	b.chains = append(b.chains, c)
	return c
}

// Finish closes all open spans and returns the session.
func (b *Builder) Finish() *Session {
	for _, c := range b.chains {
		for e := range c.alive {
			c.close(e)
		}
		c.alive = nil
	}
	slices.SortFunc(b.Session.Spans, func(x, y Span) int {
		return cmp.Or(cmp.Compare(x.Chain, y.Chain), cmp.Compare(x.First, y.First), cmp.Compare(x.Position, y.Position))
	})
	return b.Session
}

// Chain is one growing conversation under construction.
type Chain struct {
	ID    int
	b     *Builder
	alive map[*Entry]struct{}
	count int   // requests recorded so far
	seq   int64 // last position given out within any slot
}

// Entry is one item standing in a chain's coming requests.
type Entry struct {
	Item     int
	Text     TextID
	tokens   *int64
	first    int
	position int64
}

// Add puts an item at the end of a slot: every request from the next one on
// carries it with the item's own text and size.
func (c *Chain) Add(slot Slot, item int) *Entry {
	it := c.b.Session.Items[item]
	return c.AddText(slot, item, it.Text, it.Tokens)
}

// AddText is Add with another text and size than the item's own.
func (c *Chain) AddText(slot Slot, item int, text TextID, tokens *int64) *Entry {
	c.seq++
	e := &Entry{Item: item, Text: text, tokens: tokens, first: c.count + 1, position: int64(slot)<<slotBits | c.seq}
	c.alive[e] = struct{}{}
	return e
}

// Remove takes an entry out of all coming requests. Removing one that is not
// there does nothing.
func (c *Chain) Remove(e *Entry) {
	if _, ok := c.alive[e]; !ok {
		return
	}
	c.close(e)
	delete(c.alive, e)
}

// Replace changes the text of an entry in place for all coming requests.
func (c *Chain) Replace(e *Entry, text TextID, tokens *int64) {
	if _, ok := c.alive[e]; !ok || e.Text == text {
		return
	}
	c.close(e)
	e.Text, e.tokens, e.first = text, tokens, c.count+1
}

// Reorder gives the entries, in the order named, the positions they hold between
// them now, for all coming requests. Entries that keep their position keep their
// span. All of them must stand in the chain.
func (c *Chain) Reorder(entries []*Entry) {
	positions := make([]int64, len(entries))
	for i, e := range entries {
		positions[i] = e.position
	}
	slices.Sort(positions)
	for i, e := range entries {
		if e.position == positions[i] {
			continue
		}
		c.close(e)
		e.position, e.first = positions[i], c.count+1
	}
}

// Swap puts another item in the place of an entry for all coming requests, with
// that item's own text and size: content that stands in for what was there.
func (c *Chain) Swap(e *Entry, item int) {
	if _, ok := c.alive[e]; !ok {
		return
	}
	c.close(e)
	it := c.b.Session.Items[item]
	e.Item, e.Text, e.tokens, e.first = item, it.Text, it.Tokens, c.count+1
}

// Alive returns the entries in payload order. It costs a sort: call it at
// compactions and rewinds, not at every request.
func (c *Chain) Alive() []*Entry {
	out := make([]*Entry, 0, len(c.alive))
	for e := range c.alive {
		out = append(out, e)
	}
	slices.SortFunc(out, func(x, y *Entry) int { return cmp.Compare(x.position, y.position) })
	return out
}

// Request records a request that carries everything alive now and returns its
// index in the session. Chain and Number are set here.
func (c *Chain) Request(r Request) int {
	c.count++
	r.Chain, r.Number = c.ID, c.count
	c.b.Session.Requests = append(c.b.Session.Requests, r)
	return len(c.b.Session.Requests) - 1
}

// Count is the number of requests recorded on the chain.
func (c *Chain) Count() int { return c.count }

// Fork starts a new chain that begins with the given entries of this one, for a
// branch that leaves the conversation. It returns the copies in the same order.
func (c *Chain) Fork(entries []*Entry) (*Chain, []*Entry) {
	fork := c.b.Chain()
	fork.seq = c.seq
	copies := make([]*Entry, len(entries))
	for i, e := range entries {
		dup := *e
		dup.first = 1
		copies[i] = &dup
		fork.alive[copies[i]] = struct{}{}
	}
	return fork, copies
}

func (c *Chain) close(e *Entry) {
	if e.first > c.count {
		return
	}
	c.b.Session.Spans = append(c.b.Session.Spans, Span{
		Item: e.Item, Chain: c.ID, First: e.first, Last: c.count,
		Position: e.position, Text: e.Text, Tokens: e.tokens,
	})
}
