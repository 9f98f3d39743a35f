package tokens

import (
	"strings"

	"github.com/zeebo/xxh3"
)

// What is remembered falls on one slot of a table by its hash and takes the place
// of what was there: nothing to clean up, and no more memory with more text. The
// tables are as large as a core's own cache allows.

const (
	pieceBits  = 14
	longerBits = 12
	lineBits   = 15
)

// maxPiece is the longest piece that a pieceKey holds.
const maxPiece = 16

// pieceKey is a piece of 2 to maxPiece bytes: its first and last 8 (which overlap
// or are filled up with zeros) and its length tell it from all others.
type pieceKey struct {
	first, last uint64
	size        uint32
}

type pieceSlot struct {
	key   pieceKey // size 0: empty
	count uint8    // a piece has at most as many tokens as bytes
}

func keyOf(piece string) pieceKey {
	n := len(piece)
	k := pieceKey{size: uint32(n)}
	switch {
	case n >= 8:
		k.first, k.last = load64(piece), load64(piece[n-8:])
	case n >= 4:
		k.first, k.last = uint64(load32(piece)), uint64(load32(piece[n-4:]))
	default:
		k.first, k.last = uint64(piece[0])|uint64(piece[1])<<8, uint64(piece[n-1])
	}
	return k
}

func load64(s string) uint64 {
	return uint64(load32(s)) | uint64(load32(s[4:]))<<32
}

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// slot spreads keys with the odd constants of xxHash.
func (k pieceKey) slot() uint64 {
	h := (k.first ^ uint64(k.size)<<56) * 0x9e3779b185ebca87
	h = (h ^ h>>32 ^ k.last) * 0xc2b2ae3d27d4eb4f
	return h >> (64 - pieceBits)
}

// longerKey is the longest piece of those above maxPiece that is remembered.
const longerKey = 46

type longerSlot struct {
	key   [longerKey]byte
	size  uint8 // 0: empty
	count uint8
}

// Lines shorter than minLine are as fast counted as looked up; longer ones than
// maxLine seldom come again.
const (
	minLine = 12
	maxLine = 1 << 12
)

// lineSlot knows its line by a hash of 128 bits: among 10 billion lines two alike
// are to be expected with a chance of 1 in 7 × 10^18.
type lineSlot struct {
	key   xxh3.Uint128
	count uint32
}

// lineEnd returns where a text can be cut so that both sides, counted apart, have
// the pieces of the whole: behind a line break, where no piece can reach across.
// Pieces that hold a line break are two: white space up to the last line break of
// its run, and symbols with the line breaks (in o200k_base also slashes) right
// behind them. So neither may go on: the break must be the last of its run of
// white space, and no slash may follow. Anything but ASCII there is left alone.
func lineEnd(text string) int {
	at := 0
	for {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
		next := at
		for next < len(text) && (text[next] == ' ' || text[next] == '\t') {
			next++
		}
		if next == len(text) {
			return len(text)
		}
		if c := text[next]; c > ' ' && c < 0x7f && text[at] != '/' {
			return at
		}
	}
}
