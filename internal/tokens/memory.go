package tokens

import "strings"

// What is remembered falls on one slot of a table by its hash and takes the place
// of what was there: nothing to clean up, and no more memory with more text. The
// table of pieces is as large as a core's own cache allows, that of lines larger: a
// line is worth a look into the memory.

const (
	pieceBits  = 15
	longerBits = 12
	lineBits   = 18
)

// maxPiece is the longest piece that a pieceKey holds.
const maxPiece = 14

// pieceKey is a piece of 2 to maxPiece bytes, filled up with zeros, and behind it
// its length, which tells zeros of its own from those. In a table the last byte
// is its count: as many as it has bytes at most.
type pieceKey struct{ low, high uint64 }

// keyBits is what of high is the key.
const keyBits = 1<<56 - 1

// keyOf returns the key of the first size bytes of a text.
func keyOf(text string, size int) pieceKey {
	if len(text) < 16 {
		var buf [16]byte
		copy(buf[:], text)
		text = string(buf[:])
	}
	k := pieceKey{load64(text), load64(text[8:])}
	if size <= 8 {
		return pieceKey{k.low & (1<<(8*size) - 1), uint64(size) << 48}
	}
	return pieceKey{k.low, k.high&(1<<(8*(size-8))-1) | uint64(size)<<48}
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// slot spreads keys with the odd constants of xxHash.
func (k pieceKey) slot() uint64 {
	h := (k.low ^ k.high*0x9e3779b185ebca87) * 0xc2b2ae3d27d4eb4f
	return (h ^ h>>29) * 0x9e3779b185ebca87 >> (64 - pieceBits)
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
	maxLine = 1<<12 - 1
)

// lineSlot knows its line by 116 bits of a hash: among 10 billion lines two alike
// are to be expected with a chance of 1 in 10^15. The lowest 12 bits are the count,
// which is at most maxLine.
type lineSlot struct{ high, low uint64 }

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
