package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape undoes the escapes of JSON strings once. offsets[i] is where byte i of
// the result stands in s; it has one entry more, for the end. A line of a text that
// goes on after a backslash at its end is joined, as shells do.
func unescape(s string) (out string, offsets []int32, changed bool) {
	if !strings.Contains(s, `\`) || len(s) > 1<<30 {
		return s, nil, false
	}
	b := make([]byte, 0, len(s))
	offsets = make([]int32, 0, len(s)+1)
	add := func(at int, bytes ...byte) {
		for range bytes {
			offsets = append(offsets, int32(at))
		}
		b = append(b, bytes...)
	}
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			add(i, s[i])
			i++
			continue
		}
		plain, n := escaped(s[i+1:])
		if n == 0 {
			add(i, s[i])
			i++
			continue
		}
		changed = true
		add(i, plain...)
		i += 1 + n
	}
	offsets = append(offsets, int32(len(s)))
	return string(b), offsets, changed
}

// escaped is what the characters behind a backslash stand for, and how many they
// are; 0 they are no escape.
func escaped(s string) (plain []byte, n int) {
	switch s[0] {
	case '"', '\\', '/', '\'':
		return []byte{s[0]}, 1
	case 'n':
		return []byte{'\n'}, 1
	case 'r':
		return []byte{'\r'}, 1
	case 't':
		return []byte{'\t'}, 1
	case '\n':
		return nil, 1
	case 'u':
		if len(s) < 5 {
			return nil, 0
		}
		r, err := strconv.ParseUint(s[1:5], 16, 16)
		if err != nil {
			return nil, 0
		}
		return utf8.AppendRune(nil, rune(r)), 5
	case 'x':
		if len(s) < 3 {
			return nil, 0
		}
		c, err := strconv.ParseUint(s[1:3], 16, 8)
		if err != nil {
			return nil, 0
		}
		return []byte{byte(c)}, 3
	}
	return nil, 0
}
