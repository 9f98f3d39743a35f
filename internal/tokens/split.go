package tokens

import (
	"unicode"
	"unicode/utf8"
)

// The splitters cut the first piece off a text exactly as the encodings' regular
// expressions do (leftmost alternative first, greedy, with backtracking), but by
// hand: in time linear in the text, whatever it holds.
//
// o200k_base:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	and the last three as above

// class is a set of properties of a rune that the expressions ask for.
type class uint8

const (
	letter   class = 1 << iota // \p{L}
	number                     // \p{N}
	space                      // \s
	newline                    // \r \n
	head                       // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	tail                       // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	noPrefix = letter | number | newline
	noSymbol = letter | number | space
	wide     = 1 << 6 // a byte that is part of a rune outside ASCII
)

// classTable holds the class of every rune: one page of 256 runes for each upper
// part that has any class at all, and the empty page for the others.
type classTable struct {
	bytes [256]class // of the ASCII runes, and wide
	pages [(unicode.MaxRune + 1) >> 8]*[256]class
}

func newClassTable() *classTable {
	t := &classTable{}
	empty := new([256]class)
	for i := range t.pages {
		t.pages[i] = empty
	}
	set := func(table *unicode.RangeTable, c class) {
		for _, r := range table.R16 {
			t.addRange(empty, rune(r.Lo), rune(r.Hi), rune(r.Stride), c)
		}
		for _, r := range table.R32 {
			t.addRange(empty, rune(r.Lo), rune(r.Hi), rune(r.Stride), c)
		}
	}
	set(unicode.L, letter)
	set(unicode.N, number)
	set(unicode.White_Space, space)
	for _, table := range []*unicode.RangeTable{unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M} {
		set(table, head)
	}
	for _, table := range []*unicode.RangeTable{unicode.Ll, unicode.Lm, unicode.Lo, unicode.M} {
		set(table, tail)
	}
	t.addRange(empty, '\n', '\n', 1, newline)
	t.addRange(empty, '\r', '\r', 1, newline)
	copy(t.bytes[:], t.pages[0][:utf8.RuneSelf])
	for i := utf8.RuneSelf; i < len(t.bytes); i++ {
		t.bytes[i] = wide
	}
	return t
}

func (t *classTable) addRange(empty *[256]class, lo, hi, stride rune, c class) {
	for r := lo; r <= hi; r += stride {
		if t.pages[r>>8] == empty {
			t.pages[r>>8] = new([256]class)
		}
		t.pages[r>>8][r&0xff] |= c
	}
}

// at returns the class of the rune at i and its bytes; 0 bytes at the end.
func (t *classTable) at(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if s[i] < utf8.RuneSelf {
		return t.bytes[s[i]], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return t.pages[r>>8][r&0xff], size
}

// run returns the end of the longest run from i whose runes have one of the
// classes wanted.
func (t *classTable) run(s string, i int, want class) int {
	for {
		c, size := t.at(s, i)
		if size == 0 || c&want == 0 {
			return i
		}
		i += size
	}
}

// splitO200K returns the length of the first piece of a text that is not empty.
func splitO200K(t *classTable, s string) int {
	if n := asciiO200K(t, s); n > 0 {
		return n
	}
	return runesO200K(t, s)
}

// asciiO200K is runesO200K for pieces of ASCII that end before more ASCII; 0 for
// others.
func asciiO200K(t *classTable, s string) int {
	c, i := t.bytes[s[0]], 0
	if c&number != 0 {
		return asciiDigits(t, s)
	}
	if c&noPrefix == 0 && len(s) > 1 {
		i = 1
	}
	switch c1 := t.bytes[s[i]]; {
	case c1&letter != 0:
		return asciiWord(t, s, i)
	case (c|c1)&wide != 0:
		return 0
	case c&space == 0:
		return asciiSymbols(t, s, 1)
	case s[0] == ' ' && i == 1 && c1&noSymbol == 0:
		return asciiSymbols(t, s, 2)
	}
	return asciiBlanks(t, s)
}

// asciiDigits matches \p{N}{1,3}.
func asciiDigits(t *classTable, s string) int {
	for i := 1; i < 3; i++ {
		if i == len(s) || t.bytes[s[i]]&(number|wide) == 0 {
			return i
		}
		if s[i] >= utf8.RuneSelf {
			return 0
		}
	}
	return 3
}

// asciiWord matches [A-Z]*[a-z]+ or [A-Z]+ at i, and an English ending.
func asciiWord(t *classTable, s string, i int) int {
	for i < len(s) && t.bytes[s[i]]&head != 0 {
		i++
	}
	for i < len(s) && t.bytes[s[i]]&tail != 0 {
		i++
	}
	switch {
	case i == len(s) || s[i] < utf8.RuneSelf && s[i] != '\'':
		return i
	case s[i] == '\'':
		return contraction(s, i)
	}
	return 0
}

// asciiSymbols matches the rest of [^\s\p{L}\p{N}]+[\r\n/]* from i on.
func asciiSymbols(t *classTable, s string, i int) int {
	for i < len(s) && t.bytes[s[i]]&(noSymbol|wide) == 0 {
		i++
	}
	if i < len(s) && s[i] >= utf8.RuneSelf {
		return 0
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	return i
}

// asciiBlanks is blanks for a run of white space that ends before ASCII.
func asciiBlanks(t *classTable, s string) int {
	i, breakEnd := 0, 0
	for ; i < len(s) && t.bytes[s[i]]&space != 0; i++ {
		if t.bytes[s[i]]&newline != 0 {
			breakEnd = i + 1
		}
	}
	switch {
	case i < len(s) && s[i] >= utf8.RuneSelf:
		return 0
	case breakEnd > 0:
		return breakEnd
	case i == len(s) || i == 1:
		return i
	}
	return i - 1
}

// runesO200K is splitO200K for text of any kind.
func runesO200K(t *classTable, s string) int {
	c, size := t.at(s, 0)
	if c&noPrefix == 0 {
		if end, ok := word(t, s, size, true); ok {
			return contraction(s, end)
		}
		if c&head == 0 {
			if end, ok := word(t, s, size, false); ok {
				return contraction(s, end)
			}
		}
	}
	if c&(head|tail) != 0 {
		end, ok := word(t, s, 0, true)
		if !ok {
			end, _ = word(t, s, 0, false)
		}
		return contraction(s, end)
	}
	if c&number != 0 {
		return digits(t, s)
	}
	if end, ok := symbols(t, s, c, size); ok {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n' || s[end] == '/') {
			end++
		}
		return end
	}
	return blanks(t, s)
}

// word matches head* tail+ from i (lower), or head+ tail* where the former has
// failed (not lower). In the first, head* gives back what it took until a rune
// that is also a tail is found: the last one of the run, as those behind it are
// upper case.
func word(t *classTable, s string, i int, lower bool) (end int, ok bool) {
	start, both := i, -1
	for {
		c, size := t.at(s, i)
		if size == 0 || c&head == 0 {
			if lower && c&tail != 0 {
				return t.run(s, i, tail), true
			}
			break
		}
		i += size
		if c&tail != 0 {
			both = i
		}
	}
	if lower {
		return both, both >= 0
	}
	return i, i > start
}

// contraction takes an English ending at i into the piece. Case does not matter;
// U+017F is an s in lower case, too.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	switch rest := s[i+1:]; rest[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(rest) > 1 && rest[1]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if len(rest) > 1 && rest[1]|0x20 == 'l' {
			return i + 3
		}
	default:
		if len(rest) > 1 && rest[:2] == "\u017f" {
			return i + 3
		}
	}
	return i
}

// splitCL100K returns the length of the first piece of a text that is not empty.
func splitCL100K(t *classTable, s string) int {
	if end := contraction(s, 0); end > 0 {
		return end
	}
	c, size := t.at(s, 0)
	if c&letter != 0 {
		return t.run(s, size, letter)
	}
	if c&noPrefix == 0 {
		if end := t.run(s, size, letter); end > size {
			return end
		}
	}
	if c&number != 0 {
		return digits(t, s)
	}
	if end, ok := symbols(t, s, c, size); ok {
		for end < len(s) && (s[end] == '\r' || s[end] == '\n') {
			end++
		}
		return end
	}
	return blanks(t, s)
}

// digits matches \p{N}{1,3}.
func digits(t *classTable, s string) int {
	end := 0
	for range 3 {
		c, size := t.at(s, end)
		if c&number == 0 {
			break
		}
		end += size
	}
	return end
}

// symbols matches " ?[^\s\p{L}\p{N}]+".
func symbols(t *classTable, s string, c class, size int) (int, bool) {
	end := 0
	if s[0] == ' ' {
		if c, size = t.at(s, 1); size == 0 {
			return 0, false
		}
		end = 1
	}
	if c&noSymbol != 0 {
		return 0, false
	}
	for end += size; ; end += size {
		if c, size = t.at(s, end); size == 0 || c&noSymbol != 0 {
			return end, true
		}
	}
}

// blanks matches \s*[\r\n]+, \s+(?!\S) and \s+ on a text that begins with white
// space: up to the last line break of the run, else all but its last rune, else
// all of it.
func blanks(t *classTable, s string) int {
	end, last, breakEnd := 0, 0, 0
	for {
		c, size := t.at(s, end)
		if size == 0 || c&space == 0 {
			break
		}
		last = end
		end += size
		if c&newline != 0 {
			breakEnd = end
		}
	}
	switch {
	case breakEnd > 0:
		return breakEnd
	case end == len(s) || last == 0:
		return end
	}
	return last
}
