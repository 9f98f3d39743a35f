package compress

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// FreeCode's limits of the copy of a result that the model sees, in UTF-16 code units.
const (
	maxModelOutput = 30_000 // MAX_MODEL_OUTPUT_CHARS
	cutTail        = 6_000  // kept from the end
)

// Cut shortens a text longer than max UTF-16 code units to its two ends, as
// FreeCode does: the head up to the last line break at or before unit max-tail,
// the tail from behind the first line break at or after unit length-tail, or from
// exactly there where no line breaks. The marker between them names the handle.
func Cut(text, handle string, max, tail int) (out string, cut bool) {
	if !longer(text, max) {
		return text, false
	}
	total := units(text)
	tail = min(tail, max)
	return cutHead(text, max-tail) + cutMarker(total, handle) + cutEnd(text, total-tail), true
}

// cutMarker is FreeCode's text between the ends of a cut.
func cutMarker(total int, handle string) string {
	return fmt.Sprintf("\n\n... [truncated %d chars total — use the `output` tool with id=\"%s\" (offset, limit, or pattern) to read the omitted middle] ...\n\n", total, handle)
}

// cutHead returns the text before the last line break at or before a unit.
func cutHead(text string, unit int) string {
	at, split := byteAt(text, unit)
	to := at
	if at < len(text) && text[at] == '\n' && !split {
		to++
	}
	if i := strings.LastIndexByte(text[:to], '\n'); i >= 0 {
		return text[:i]
	}
	if split {
		return text[:at] + string(utf8.RuneError)
	}
	return text[:at]
}

// cutEnd returns the text behind the first line break at or after a unit.
func cutEnd(text string, unit int) string {
	at, split := byteAt(text, unit)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return text[at+i+1:]
	}
	if split {
		_, size := utf8.DecodeRuneInString(text[at:])
		return string(utf8.RuneError) + text[at+size:]
	}
	return text[at:]
}

// byteAt returns the index of the character that holds a UTF-16 unit, and whether
// the unit is the second half of that character.
func byteAt(text string, unit int) (at int, split bool) {
	n := 0
	for i, r := range text {
		if n >= unit {
			return i, false
		}
		n++
		if r > 0xffff {
			if n == unit {
				return i, true
			}
			n++
		}
	}
	return len(text), false
}

// units is the length of a text as JavaScript counts it: UTF-16 code units.
func units(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// longer says whether a text has more than n units; a text has at most as many
// units as bytes.
func longer(text string, n int) bool { return len(text) > n && units(text) > n }
