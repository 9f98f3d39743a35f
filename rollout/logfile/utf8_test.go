package logfile

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// TestValidUTF8 has the examples of the Unicode Standard, version 15, tables
// 3-8 to 3-11, and others worked out by hand from table 3-7. "?" stands for
// U+FFFD.
func TestValidUTF8(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"valid text", "a é 漢 😀 \u0000", "a é 漢 😀 \u0000"},
		{"valid U+FFFD", "\uFFFD", "\uFFFD"},
		{"table 3-8, not shortest form", "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "????????A"},
		{"table 3-9, surrogates", "\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "????????A"},
		{"table 3-10, other ill-formed", "\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "?????A??B"},
		{"table 3-11, truncated", "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "????A"},
		{"four bytes, second too low", "\xF0\x80\x80\x41", "???A"},
		{"lone continuation", "\x80", "?"},
		{"cut at the end", "ab\xF0\x9F\x98", "ab?"},
		{"cut two-byte", "\xC3", "?"},
		{"two-byte then ASCII", "\xC3(", "?("},
		{"above U+10FFFF", "\xF5\x80\x80\x80", "????"},
		{"lead after lead", "\xE2\x82\xE2\x82\xAC", "?€"},
	} {
		got, replaced := ValidUTF8([]byte(c.in))
		want := c.want
		if !strings.Contains(c.in, "?") {
			want = strings.ReplaceAll(want, "?", "\uFFFD")
		}
		assert.Equal(t, want, string(got), c.name)
		if utf8.ValidString(c.in) {
			assert.Zero(t, replaced, c.name)
		} else {
			assert.Equal(t, strings.Count(want, "\uFFFD"), replaced, c.name)
		}
	}
}

// TestValidUTF8Properties: the result is valid, keeps every valid character in
// order, and does nothing to valid text.
func TestValidUTF8Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		got, replaced := ValidUTF8(in)
		if !utf8.Valid(got) {
			t.Fatalf("%x became the invalid %x", in, got)
		}
		if utf8.Valid(in) != (replaced == 0) {
			t.Fatalf("%x: %d replaced", in, replaced)
		}
		// Go's own decoder replaces byte by byte: the characters it finds are the
		// same, only the number of replacements may be larger.
		if a, b := strings.ReplaceAll(string(got), replacement, ""), strings.ReplaceAll(strings.ToValidUTF8(string(in), ""), replacement, ""); a != b {
			t.Fatalf("%x: kept %q, want %q", in, a, b)
		}
	})
}
