// Package redact finds keys and passwords in text and puts placeholders in their
// place. Its rules are a data file, rules.json.
//
// A whole scanner such as gitleaks is not used: it brings a rule engine, Git and
// archive readers and some hundred modules for what are 26 patterns here.
package redact

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Redactor replaces secrets. The same secret has the same placeholder in all texts
// of one Redactor: [redacted:KIND:NUMBER], numbered in order of appearance. The
// number says nothing of the secret, as a hash of a short password would. It is
// not safe for concurrent use.
type Redactor struct {
	rules  *ruleSet
	known  map[string]string // secret to placeholder
	counts map[string]int    // placeholders by kind
	spread []string          // secrets that are replaced wherever they stand, longest first
	// Replaced is how many places were replaced so far.
	Replaced int64
}

// New returns a Redactor that knows no secret yet.
func New() (*Redactor, error) {
	rules, err := loaded()
	if err != nil {
		return nil, err
	}
	return &Redactor{rules: rules, known: map[string]string{}, counts: map[string]int{}}, nil
}

// found is a stretch of a text to replace.
type found struct {
	from, to    int
	placeholder string
}

// Learn finds the secrets of a text, so that Text replaces them also where nothing
// around them tells what they are. Learn all texts first, in their order.
func (r *Redactor) Learn(text string) { r.find(text) }

// Text returns the text with its secrets replaced; the same string if there are none.
func (r *Redactor) Text(text string) string {
	places := append(r.find(text), r.again(text)...)
	if len(places) == 0 {
		return text
	}
	slices.SortFunc(places, func(x, y found) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(y.to, x.to)) })
	var b strings.Builder
	at := 0
	for _, p := range places {
		if p.from < at {
			if p.to > at { // they overlap: what the second has more of goes, too
				at = p.to
			}
			continue
		}
		b.WriteString(text[at:p.from])
		b.WriteString(p.placeholder)
		at = p.to
		r.Replaced++
	}
	b.WriteString(text[at:])
	return b.String()
}

// maxLayers is how often escapes are undone: JSON in JSON in JSON.
const maxLayers = 3

// layer is a text with some escapes undone.
type layer struct {
	text, lower string
	back        []int32 // where its bytes stand in the text; nil: it is the text
	last        bool    // nothing is left to undo
}

// place maps a stretch of the layer to the text.
func (l layer) place(from, to int) (int, int) {
	if l.back == nil {
		return from, to
	}
	return int(l.back[from]), int(l.back[to])
}

// layers are the text and what its escapes stand for.
func layers(text string) []layer {
	out := []layer{{text: text, lower: lowered(text)}}
	for range maxLayers {
		above := out[len(out)-1]
		next, back, changed := unescape(above.text)
		if !changed {
			break
		}
		if above.back != nil {
			for i := range back {
				back[i] = above.back[back[i]]
			}
		}
		out = append(out, layer{text: next, lower: lowered(next), back: back})
	}
	out[len(out)-1].last = true
	return out
}

// find looks for secrets by their form and what stands around them.
func (r *Redactor) find(text string) []found {
	var out []found
	for _, l := range layers(text) {
		for i := range r.rules.Rules {
			if rule := &r.rules.Rules[i]; rule.applies(l) {
				out = append(out, r.matches(rule, l)...)
			}
		}
	}
	return out
}

// applies tells whether a rule may find something. Rules that replace parts look at
// plain text only: the n of an escaped line break would pass for a part.
func (rule *rule) applies(l layer) bool {
	if rule.inside != nil && !l.last {
		return false
	}
	return slices.ContainsFunc(rule.Words, func(w string) bool { return strings.Contains(l.lower, w) })
}

func (r *Redactor) matches(rule *rule, l layer) []found {
	var out []found
	for _, w := range rule.windows(l) {
		text := l.text[w.from:w.to]
		for _, m := range rule.pattern().FindAllStringSubmatchIndex(text, -1) {
			from, to := secretOf(m)
			for _, part := range r.parts(rule, text, from, to) {
				part.from, part.to = l.place(w.from+part.from, w.from+part.to)
				out = append(out, part)
			}
		}
	}
	return out
}

// secretOf is the first group of a match that took part, else all of it.
func secretOf(m []int) (from, to int) {
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// parts are the stretches of a match to replace, none if it is no secret.
func (r *Redactor) parts(rule *rule, text string, from, to int) []found {
	secret := text[from:to]
	if rule.inside == nil {
		if !r.isSecret(rule, secret) {
			return nil
		}
		return []found{{from, to, r.placeholder(rule, secret)}}
	}
	if to == len(text) {
		secret = secret[:min(len(secret), maxKey)] // its end was cut off: what follows is other text
	}
	var out []found
	for _, m := range rule.inside().FindAllStringIndex(secret, -1) {
		line := secret[m[0]:m[1]]
		if len(out) == 0 && bits(line) < minKeyBits {
			continue // words before a key, or a key that is spoken of only
		}
		p := r.known[line]
		switch {
		case p != "":
		case len(out) > 0:
			p = out[0].placeholder // all lines of a key are one secret
			r.learn(line, p)
		default:
			p = r.placeholder(rule, line)
		}
		out = append(out, found{from + m[0], from + m[1], p})
	}
	return out
}

// maxKey is the most bytes of a private key whose end is missing: RSA keys of 4096
// bits have about 3,300.
const maxKey = 4000

// minKeyBits is the least entropy of the first line of a key. 64 random characters
// of base64 have 5.2 bits on average; source code between quotes has about 4.
const minKeyBits = 3.8

func (r *Redactor) isSecret(rule *rule, secret string) bool {
	switch {
	case strings.HasPrefix(secret, "[redacted:"), rule.not != nil && rule.not().MatchString(secret):
		return false
	case rule.Mixed && !mixed(secret), bits(secret) < rule.MinBits:
		return false
	}
	return !r.rules.placeholder().MatchString(secret)
}

func mixed(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, unicode.IsDigit)
}

func (r *Redactor) placeholder(rule *rule, secret string) string {
	if p, ok := r.known[secret]; ok {
		return p
	}
	r.counts[rule.ID]++
	p := fmt.Sprintf("[redacted:%s:%d]", rule.ID, r.counts[rule.ID])
	r.learn(secret, p)
	return p
}

const (
	// spreadLength and spreadBits tell secrets from words: what is shorter or plainer
	// is replaced only where its place tells that it is one.
	spreadLength = 10
	spreadBits   = 2.8
)

func (r *Redactor) learn(secret, placeholder string) {
	r.known[secret] = placeholder
	if len(secret) < spreadLength || bits(secret) < spreadBits || !mixed(secret) {
		return
	}
	i, _ := slices.BinarySearchFunc(r.spread, secret, func(x, y string) int { return cmp.Or(len(y)-len(x), cmp.Compare(x, y)) })
	r.spread = slices.Insert(r.spread, i, secret)
}

// again finds known secrets wherever they stand.
func (r *Redactor) again(text string) []found {
	if len(r.spread) == 0 {
		return nil
	}
	var out []found
	for _, l := range layers(text) {
		for _, secret := range r.spread {
			for at := 0; ; {
				i := strings.Index(l.text[at:], secret)
				if i < 0 {
					break
				}
				from, to := l.place(at+i, at+i+len(secret))
				out = append(out, found{from, to, r.known[secret]})
				at += i + len(secret)
			}
		}
	}
	return out
}

// bits is the entropy of a string in bits a byte (Shannon 1948).
func bits(s string) float64 {
	if s == "" {
		return 0
	}
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
