// Package tokens counts tokens with the public vocabularies o200k_base and
// cl100k_base, which are part of the binary: counting never needs a network.
//
// The counts are those of tiktoken's encode_ordinary: text that looks like a
// special token is plain text. tiktoken-go is the reference in the tests; its
// regular expressions and its merge are quadratic in one long run of a character
// class, so the splitter (split.go) and the merges (merge.go, backtrack.go) here are our own.
// Most of a log comes again: counts of pieces and of lines are remembered (memory.go).
package tokens

import (
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Names of the encodings.
const (
	O200K  = "o200k_base"
	CL100K = "cl100k_base"
)

// Tokens counts tokens. Each vocabulary is loaded at its first use. It is safe
// for concurrent use.
type Tokens struct {
	classes func() *classTable
	o200k   func() *counter
	cl100k  func() *counter
	texts   texts
}

// New returns a counter. It loads nothing yet.
func New() *Tokens {
	t := &Tokens{classes: sync.OnceValue(newClassTable)}
	t.o200k = sync.OnceValue(func() *counter { return newCounter(O200K, t.classes(), splitO200K) })
	t.cl100k = sync.OnceValue(func() *counter { return newCounter(CL100K, t.classes(), splitCL100K) })
	return t
}

// Count returns the tokens of text. An encoding it does not know counts as
// o200k_base, the stand-in for every model without a public tokenizer.
func (t *Tokens) Count(encoding, text string) int64 {
	if text == "" {
		return 0
	}
	if encoding == CL100K {
		return t.cl100k().count(text)
	}
	return t.o200k().count(text)
}

// EncodingFor returns the encoding to count a model's tokens with. public says
// that it is the model's own, so that counts are exact; else it is a stand-in.
// Source of the names: tiktoken's model table.
func EncodingFor(model string) (encoding string, public bool) {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, family := range []string{"gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "codex", "o1", "o3", "o4"} {
		if inFamily(name, family) {
			return O200K, true
		}
	}
	for _, family := range []string{"gpt-4", "gpt-3.5"} {
		if inFamily(name, family) {
			return CL100K, true
		}
	}
	return O200K, false
}

// inFamily says whether name is the family's or goes on from it with a separator,
// so that "o1" does not take "o10".
func inFamily(name, family string) bool {
	rest, ok := strings.CutPrefix(name, family)
	if !ok || rest == "" {
		return ok
	}
	c := rest[0]
	return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
}

// counter counts with one encoding.
type counter struct {
	vocab   *vocabulary
	classes *classTable
	split   func(*classTable, string) int
	table   func() *mergeTable // for long pieces, made at the first one
	idle    chan *scratch      // what earlier counts worked with, and remember
}

// scratch is what one count works with: buffers of the merges, and the counts of
// short pieces and of lines seen before. Its size is bounded: 5 MB.
type scratch struct {
	parts  []part
	merger merger
	pieces [1 << pieceBits]pieceKey
	longer [1 << longerBits]longerSlot
	lines  [1 << lineBits]lineSlot
}

func newCounter(encoding string, classes *classTable, split func(*classTable, string) int) *counter {
	c := &counter{vocab: loadVocabulary(encoding), classes: classes, split: split, idle: make(chan *scratch, runtime.GOMAXPROCS(0))}
	c.table = sync.OnceValue(func() *mergeTable { return newMergeTable(c.vocab) })
	return c
}

// borrow returns a scratch that nobody else works with.
func (c *counter) borrow() *scratch {
	select {
	case s := <-c.idle:
		return s
	default:
		return new(scratch)
	}
}

// giveBack keeps as many for later as can be at work at once.
func (c *counter) giveBack(s *scratch) {
	select {
	case c.idle <- s:
	default:
	}
}

// count sums the tokens of the lines of text. An invalid byte counts as the
// replacement character, as in tiktoken-go.
func (c *counter) count(text string) int64 {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	s := c.borrow()
	defer c.giveBack(s)
	var total int64
	for len(text) > 0 {
		n := lineEnd(text)
		total += c.line(s, text[:n])
		text = text[n:]
	}
	return total
}

// line counts the tokens of a text that lineEnd has cut.
func (c *counter) line(s *scratch, line string) int64 {
	if len(line) < minLine || len(line) > maxLine {
		return c.sum(s, line)
	}
	key := xxh3.HashString128(line)
	slot := &s.lines[key.Lo>>(64-lineBits)]
	low := key.Lo << 12
	if slot.high != key.Hi || slot.low&^maxLine != low {
		slot.high, slot.low = key.Hi, low|uint64(c.sum(s, line))
	}
	return int64(slot.low & maxLine)
}

// sum adds the tokens of the pieces of a text.
func (c *counter) sum(s *scratch, text string) int64 {
	var total int64
	for len(text) > 0 {
		n := c.split(c.classes, text)
		switch {
		case n == 1:
			total++
		case n <= maxPiece:
			total += int64(c.shortPiece(s, text, n))
		default:
			total += int64(c.longPiece(s, text[:n]))
		}
		text = text[n:]
	}
	return total
}

// longPiece counts the tokens of a piece above maxPiece.
func (c *counter) longPiece(s *scratch, piece string) int {
	hash := xxh3.HashString(piece)
	if _, ok := c.vocab.find(piece, hash); ok {
		return 1
	}
	if len(piece) > longerKey {
		return c.merge(s, piece)
	}
	slot := &s.longer[hash>>(64-longerBits)]
	if int(slot.size) == len(piece) && string(slot.key[:slot.size]) == piece {
		return int(slot.count)
	}
	n := c.merge(s, piece)
	slot.size = uint8(copy(slot.key[:], piece))
	slot.count = uint8(n)
	return n
}

// shortPiece counts the piece of 2 to maxPiece bytes that a text begins with.
func (c *counter) shortPiece(s *scratch, text string, size int) int {
	key := keyOf(text, size)
	slot := &s.pieces[key.slot()]
	if slot.low == key.low && slot.high&keyBits == key.high {
		return int(slot.high >> 56)
	}
	piece, n := text[:size], 1
	if _, ok := c.vocab.find(piece, xxh3.HashString(piece)); !ok {
		n = c.merge(s, piece)
	}
	*slot = pieceKey{key.low, key.high | uint64(n)<<56}
	return n
}
