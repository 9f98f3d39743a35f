package variants

import (
	"regexp"
	"strings"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// citation finds the ways to name a line: "line 12", "lines 12-34", "L12",
// "main.go:12", and the arguments of tools that take a part of a file. Bare numbers
// are none: most of them count something else.
var citation = regexp.MustCompile(`(?i)\blines?:?\s+(\d+)(?:\s*(?:-|–|to|and|,)\s*(\d+))?` +
	`|\b(?-i:L)(\d+)\b` +
	`|[\w/-]\.\w{1,8}:(\d+)` +
	`|"(?:offset|start_line|end_line|startLine|endLine|start|line|view_range|insert_line)"\s*:\s*\[?"?(\d+)(?:\s*,\s*(\d+))?` +
	`|\bsed\s+-n\s+\\?["']?(\d+)(?:,(\d+))?p`)

var numberPattern = regexp.MustCompile(`\d+`)

// countCitations counts the items the model wrote that name a line by a number
// which, in what their request carried, stood only in prefixes the edits drop.
func countCitations(v replay.View, edits []replay.Edit) int {
	if len(edits) == 0 {
		return 0
	}
	c := newCitations(v, edits)
	n := 0
	for i, it := range v.Session.Items {
		if it.Request < 0 || v.Session.Requests[it.Request].Inherited || v.Session.Texts[it.Text].Opaque {
			continue
		}
		if c.cites(i) {
			n++
		}
	}
	return n
}

// citations knows which payload holds a number where.
type citations struct {
	v        replay.View
	prefixes map[string][]int // number to the spans in whose dropped prefixes it stands
	texts    map[string][]int // number to the spans that hold it elsewhere
}

func newCitations(v replay.View, edits []replay.Edit) *citations {
	c := &citations{v: v, prefixes: map[string][]int{}, texts: map[string][]int{}}
	edited := map[int]string{}
	for _, e := range edits {
		edited[e.Span] = e.Text
		for _, n := range droppedNumbers(v.Text(e.Span), e.Text) {
			c.prefixes[n] = append(c.prefixes[n], e.Span)
		}
	}
	for i := range v.Session.Spans {
		text, ok := edited[i]
		if !ok {
			text = v.Text(i)
		}
		for n := range distinctNumbers(text) {
			if _, dropped := c.prefixes[n]; dropped {
				c.texts[n] = append(c.texts[n], i)
			}
		}
	}
	return c
}

// droppedNumbers lists the numbers in front of the lines that differ.
func droppedNumbers(before, after string) []string {
	from, to := strings.Split(before, "\n"), strings.Split(after, "\n")
	if len(from) != len(to) {
		return nil
	}
	var out []string
	for i := range from {
		if from[i] == to[i] {
			continue
		}
		if n := plain(numberPattern.FindString(from[i])); n != "" {
			out = append(out, n)
		}
	}
	return out
}

func distinctNumbers(text string) map[string]bool {
	out := map[string]bool{}
	for _, n := range numberPattern.FindAllString(text, -1) {
		out[plain(n)] = true
	}
	return out
}

// plain drops leading zeros.
func plain(number string) string { return strings.TrimLeft(number, "0") }

// cites says whether an item names a line by a number of a dropped prefix alone.
func (c *citations) cites(item int) bool {
	s := c.v.Session
	it := s.Items[item]
	r := s.Requests[it.Request]
	for _, match := range citation.FindAllStringSubmatch(s.Texts[it.Text].S, -1) {
		for _, n := range match[1:] {
			n = plain(n)
			if n != "" && c.aliveAt(c.prefixes[n], r) && !c.aliveAt(c.texts[n], r) {
				return true
			}
		}
	}
	return false
}

// aliveAt says whether a request carried any of the spans.
func (c *citations) aliveAt(spans []int, r rollout.Request) bool {
	for _, i := range spans {
		sp := c.v.Session.Spans[i]
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			return true
		}
	}
	return false
}
