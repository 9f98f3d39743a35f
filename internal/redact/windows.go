package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Expressions are slow, words are found fast: only what stands around the words of
// a rule is searched.

const (
	// around is how far a secret may stand from the word that tells of it, in bytes.
	around = 300
	// widest bounds how far a window is widened to a blank, so that it neither begins
	// nor ends within a secret.
	widest = 8000
)

// window is a stretch of a text.
type window struct{ from, to int }

// windows are the stretches to search, in order and apart from each other.
func (rule *rule) windows(l layer) []window {
	if rule.inside != nil {
		return []window{{0, len(l.text)}} // keys of many lines
	}
	var all []window
	for _, word := range rule.Words {
		end := 0 // of the last window of this word
		for at := 0; ; {
			i := strings.Index(l.lower[at:], word)
			if i < 0 {
				break
			}
			i += at
			at = i + len(word)
			if at+around < end {
				continue // all of it is in a window already
			}
			w := widened(l.text, i-around, at+around)
			all, end = append(all, w), w.to
		}
	}
	return joined(all)
}

// widened moves both ends of a stretch outwards to blanks.
func widened(text string, from, to int) window {
	from, to = max(from, 0), min(to, len(text))
	if i := strings.LastIndexAny(text[max(0, from-widest):from], " \n\t"); i >= 0 {
		from = max(0, from-widest) + i
	} else {
		from = max(0, from-widest)
	}
	rest := text[to:min(len(text), to+widest)]
	if i := strings.IndexAny(rest, " \n\t"); i >= 0 {
		return window{from, to + i}
	}
	return window{from, to + len(rest)}
}

// joined makes one of windows that touch.
func joined(all []window) []window {
	slices.SortFunc(all, func(x, y window) int { return cmp.Compare(x.from, y.from) })
	var out []window
	for _, w := range all {
		if n := len(out); n > 0 && w.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, w.to)
			continue
		}
		out = append(out, w)
	}
	return out
}

// lowered is s with small ASCII letters: every byte stays where it is.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
