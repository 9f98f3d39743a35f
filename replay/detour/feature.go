package detour

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// window is the length of a stretch that counts as the same text, in characters
// (§6 of the design), and minSolid how many of them must be letters or digits, so
// that rulers and indentation are no match.
const (
	window   = 12
	minSolid = 8
	// minDigits is the shortest number that says something by itself.
	minDigits = 3
	// minPath is the shortest path that does.
	minPath = 4
)

// base of the rolling hash: an odd 64-bit constant (the golden ratio, as in
// Knuth's multiplicative hashing).
const base = 0x9E3779B97F4A7C15

// features calls yield with the hash of every stretch, number and path of a text,
// in one pass and without memory that grows with it.
func features(text string, yield func(uint64)) {
	stretches(text, yield)
	tokens(text, yield)
}

// stretches rolls a hash over every window of characters.
func stretches(text string, yield func(uint64)) {
	drop := uint64(1)
	for range window - 1 {
		drop *= base
	}
	var ring [window]rune
	var hash uint64
	solid, n := 0, 0
	for _, r := range text {
		at := n % window
		if n >= window {
			hash -= uint64(ring[at]) * drop
			solid -= weight(ring[at])
		}
		ring[at] = r
		hash = hash*base + uint64(r)
		solid += weight(r)
		if n++; n >= window && solid >= minSolid {
			yield(mix(hash))
		}
	}
}

func weight(r rune) int {
	if r < utf8.RuneSelf {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return 1
		}
		return 0
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return 1
	}
	return 0
}

// tokens finds whole numbers and paths. A token hashes apart from stretches.
func tokens(text string, yield func(uint64)) {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && tokenByte[text[i]] {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			token(text[start:i], yield)
			start = -1
		}
	}
}

// tokenByte are the characters of numbers and paths.
var tokenByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/' || c == '.' || c == '_' || c == '-'
	}
	return t
}()

func token(s string, yield func(uint64)) {
	s = strings.Trim(s, ".-_")
	if slash := strings.IndexByte(s, '/'); slash >= 0 && len(s) >= minPath && hasLetter(s) {
		yield(hashToken(s))
	}
	numbers(s, yield)
}

func numbers(s string, yield func(uint64)) {
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		alone := (i == 0 || !isLetter(s[i-1])) && (end == len(s) || !isLetter(s[end]))
		if alone && end-i >= minDigits {
			yield(hashToken(s[i:end]))
		}
		i = end
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func hasLetter(s string) bool {
	for i := range len(s) {
		if isLetter(s[i]) {
			return true
		}
	}
	return false
}

func hashToken(s string) uint64 {
	h := uint64(len(s)) + 1
	for i := range len(s) {
		h = h*base + uint64(s[i])
	}
	return mix(^h)
}

// mix spreads the bits of a hash (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// said is what the model wrote in a text: of JSON arguments the values, so that
// escapes do not hide a match.
func said(text string) string {
	if !strings.HasPrefix(text, "{") {
		return text
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	var b bytes.Buffer
	appendValues(&b, v)
	return b.String()
}

func appendValues(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			appendValues(b, v[k])
		}
	case []any:
		for _, e := range v {
			appendValues(b, e)
		}
	case json.Number:
		b.WriteString(v.String())
		b.WriteByte('\n')
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	}
}
