package logfile

import (
	"encoding/binary"
	"math/bits"
)

// deepest is the nesting up to which valueEnd vouches for a value.
const deepest = 256

// valueEnd returns where the JSON value that b begins with ends, 0 where it is
// not sure of it: then the decoder of the library has the word, also on what is
// wrong. It accepts nothing that the library does not, and checks no UTF-8.
func valueEnd(b []byte) int {
	var object [deepest]bool // by depth: inside an object, not a list
	depth, i := 0, 0
	for {
		if i = blanks(b, i); i >= len(b) {
			return 0
		}
		c := b[i]
		if c == '{' || c == '[' {
			if depth == deepest {
				return 0
			}
			object[depth] = c == '{'
			depth++
			if i = blanks(b, i+1); i >= len(b) {
				return 0
			}
			if b[i] != c+2 { // } and ] stand two behind { and [
				if c == '{' {
					if i = nameEnd(b, i); i == 0 {
						return 0
					}
				}
				continue
			}
			i, depth = i+1, depth-1
		} else if i = scalarEnd(b, i); i == 0 {
			return 0
		}
		for more := false; !more; {
			if depth == 0 {
				return i
			}
			if i = blanks(b, i); i >= len(b) {
				return 0
			}
			switch in := object[depth-1]; {
			case b[i] == ',':
				i, more = i+1, true
				if in {
					if i = nameEnd(b, blanks(b, i)); i == 0 {
						return 0
					}
				}
			case b[i] == '}' && in, b[i] == ']' && !in:
				i, depth = i+1, depth-1
			default:
				return 0
			}
		}
	}
}

func blanks(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// nameEnd passes a name at i and the colon behind it.
func nameEnd(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return 0
	}
	if i = stringEnd(b, i+1); i == 0 {
		return 0
	}
	if i = blanks(b, i); i >= len(b) || b[i] != ':' {
		return 0
	}
	return i + 1
}

func scalarEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i+1)
	case 't':
		return wordEnd(b, i, "true")
	case 'f':
		return wordEnd(b, i, "false")
	case 'n':
		return wordEnd(b, i, "null")
	}
	return numberEnd(b, i)
}

func wordEnd(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return 0
	}
	return i + len(word)
}

func numberEnd(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	end := digitsEnd(b, i)
	if end == i || b[i] == '0' && end > i+1 {
		return 0
	}
	i = end
	if i < len(b) && b[i] == '.' {
		if end = digitsEnd(b, i+1); end == i+1 {
			return 0
		}
		i = end
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if end = digitsEnd(b, i); end == i {
			return 0
		}
		i = end
	}
	return i
}

func digitsEnd(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func marks(b []byte) uint64 {
	w := binary.LittleEndian.Uint64(b)
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
}

// plainEnd returns the first of the bytes from i on that is a quote, a backslash
// or a control character, looking at eight at a time: of those that the sums mark,
// the lowest is right.
func plainEnd(b []byte, i int) int {
	for ; len(b)-i >= 8; i += 8 {
		if found := marks(b[i:]); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// stringEnd returns where the string ends whose opening quote stands before i.
func stringEnd(b []byte, i int) int {
	for {
		if len(b)-i >= 8 {
			found := marks(b[i:])
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		} else if i = plainEnd(b, i); i >= len(b) {
			return 0
		}
		if b[i] == '"' {
			return i + 1
		}
		if b[i] != '\\' || i+1 >= len(b) {
			return 0
		}
		switch b[i+1] {
		case 'n', '"', '\\', 't', 'r', '/', 'b', 'f':
			i += 2
		case 'u':
			if _, ok := hex4(b[i+2:]); !ok {
				return 0
			}
			i += 6
		default:
			return 0
		}
	}
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
