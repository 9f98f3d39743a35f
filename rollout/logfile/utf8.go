package logfile

import "unicode/utf8"

// replacement is U+FFFD in UTF-8.
const replacement = "\uFFFD"

// ValidUTF8 returns b with every maximal subpart of an ill-formed sequence
// replaced by one U+FFFD (the practice of the Unicode Standard, chapter 3.9, and
// of the WHATWG decoder), and how many were replaced. Valid input is returned as
// it is.
func ValidUTF8(b []byte) ([]byte, int) {
	if utf8.Valid(b) {
		return b, 0
	}
	out := make([]byte, 0, len(b)+16)
	replaced := 0
	for len(b) > 0 {
		if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
			out = append(out, b[:size]...)
			b = b[size:]
			continue
		}
		out = append(out, replacement...)
		b = b[illFormed(b):]
		replaced++
	}
	return out, replaced
}

// illFormed is the length of the maximal subpart that starts an ill-formed
// sequence: the longest prefix that could have begun a character, else 1.
func illFormed(b []byte) int {
	want, low, high := lead(b[0])
	n := 1
	for n < len(b) && n < want {
		if b[n] < low || b[n] > high {
			break
		}
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

// lead gives, for a leading byte, the length of its sequence and the range of
// the second byte (Unicode Standard, table 3-7).
func lead(c byte) (want int, low, high byte) {
	switch {
	case c >= 0xc2 && c <= 0xdf:
		return 2, 0x80, 0xbf
	case c == 0xe0:
		return 3, 0xa0, 0xbf
	case c == 0xed:
		return 3, 0x80, 0x9f
	case c >= 0xe1 && c <= 0xef:
		return 3, 0x80, 0xbf
	case c == 0xf0:
		return 4, 0x90, 0xbf
	case c >= 0xf1 && c <= 0xf3:
		return 4, 0x80, 0xbf
	case c == 0xf4:
		return 4, 0x80, 0x8f
	}
	return 1, 0, 0
}
