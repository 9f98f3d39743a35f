package variants

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// DedupReads puts a stub in place of what a re-read brings back unchanged.
func DedupReads() replay.Variant {
	return checked(replay.Variant{
		Name:  "dedup-reads",
		Title: "a re-read of unchanged content becomes a stub",
		Doc: "A read whose content still stands, unchanged, in the result of an earlier read becomes a stub that names that read. " +
			"Both must be in the payload, and nothing that may have changed the file may lie between them. When the earlier result leaves the payload, " +
			"the later one is sent whole again. A read of a part counts where its numbered lines all stand in the earlier result. " +
			"Shell commands that show a file count where the same command ran before.",
		Needs: []string{"read calls with a path", "text of tool results"},
		Plan:  planDedupReads,
	})
}

func planDedupReads(v replay.View, _ replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	if why := noReadPaths(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	d := &deduper{v: v, reads: map[string][]*read{}}
	for _, r := range readsOf(v) {
		d.add(r)
	}
	sortEdits(d.edits)
	return replay.Plan{Edits: d.edits}
}

// noReadPaths says why reads cannot be told apart, or "" where they can.
func noReadPaths(s *rollout.Session) string {
	reads := false
	for _, c := range s.Calls {
		if c.Path != "" && (c.Class == rollout.ReadTool || c.Class == rollout.ShellTool) {
			return ""
		}
		reads = reads || c.Class == rollout.ReadTool
	}
	if reads {
		return "the read calls of this log name no path"
	}
	return ""
}

// read is a call that brought back the text of a file.
type read struct {
	call   int
	spans  []int
	stands []stretch // where its text is in the payload, whole
}

// stretch is a run of requests of a chain that carry a span.
type stretch struct {
	span        int
	first, last int
}

// readsOf lists the reads with a path and a single text as result, in call order.
func readsOf(v replay.View) []*read {
	s := v.Session
	parts := map[int][]result{}
	for _, r := range resultsOf(s) {
		if r.call >= 0 {
			parts[r.call] = append(parts[r.call], r)
		}
	}
	var out []*read
	for i, c := range s.Calls {
		fine := c.Ran && !c.Inherited && c.Request >= 0 && c.Path != "" && (c.Failed == nil || !*c.Failed) && len(parts[i]) == 1
		reads := c.Class == rollout.ReadTool || c.Class == rollout.ShellTool && c.ReadOnly
		if fine && reads {
			out = append(out, &read{call: i, spans: parts[i][0].spans})
		}
	}
	return out
}

type deduper struct {
	v     replay.View
	reads map[string][]*read // by path, earlier ones first
	edits []replay.Edit
}

// add stubs the spans of a read that repeat an earlier one, and notes where its
// own text stands whole.
func (d *deduper) add(b *read) {
	path := d.v.Session.Calls[b.call].Path
	for _, span := range b.spans {
		if d.v.Opaque(span) || d.v.Dropped(span) {
			continue
		}
		sp := d.v.Session.Spans[span]
		last := d.stub(b, span, d.reads[path])
		if last < sp.Last {
			b.stands = append(b.stands, stretch{span, max(last+1, sp.First), sp.Last})
		}
	}
	d.reads[path] = append(d.reads[path], b)
}

// stub replaces the text of a span for as long as an earlier read holds it, and
// returns the last request number that carries the stub, 0 for none.
func (d *deduper) stub(b *read, span int, earlier []*read) (last int) {
	sp := d.v.Session.Spans[span]
	for i := len(earlier) - 1; i >= 0; i-- {
		a := earlier[i]
		if !d.same(a, b) {
			continue
		}
		until := d.heldUntil(a, span)
		stub := fmt.Sprintf("[unchanged since an earlier read: the content stands above, in the result of call %s]", d.v.Session.Calls[a.call].ID)
		if until < sp.First || !shorter(d.v, span, stub) {
			continue
		}
		d.edits = append(d.edits, replay.Edit{Span: span, From: sp.First, Text: stub, Call: b.call, Why: "repeat"})
		if until < sp.Last {
			d.edits = append(d.edits, replay.Edit{Span: span, From: until + 1, Text: d.v.Text(span), Call: b.call, Why: "first-gone"})
		}
		return min(until, sp.Last)
	}
	return 0
}

// same says whether two reads asked for the same thing, the second while the first
// result was in the payload, and nothing between them may have changed it.
func (d *deduper) same(a, b *read) bool {
	s := d.v.Session
	if !d.standsAt(a, s.Requests[s.Calls[b.call].Request]) {
		return false
	}
	if s.Calls[b.call].Class == rollout.ShellTool {
		return d.repeats(a.call, b.call)
	}
	if s.Calls[a.call].Class != rollout.ReadTool || !overlap(s.Calls[a.call].Range, s.Calls[b.call].Range) {
		return false
	}
	for _, c := range s.Calls[a.call+1 : b.call] {
		if c.Ran && c.Mutates && (c.Path == "" || c.Path == s.Calls[b.call].Path) {
			return false
		}
	}
	return true
}

func (d *deduper) standsAt(a *read, r rollout.Request) bool {
	for _, h := range a.stands {
		if d.v.Session.Spans[h.span].Chain == r.Chain && h.first <= r.Number && r.Number <= h.last {
			return true
		}
	}
	return false
}

// overlap says whether two ranges "OFFSET:LIMIT" have a line in common.
func overlap(a, b string) bool {
	firstA, lastA := linesOf(a)
	firstB, lastB := linesOf(b)
	return firstA <= lastB && firstB <= lastA
}

func linesOf(span string) (first, last int) {
	offset, limit, _ := strings.Cut(span, ":")
	first, last = 1, math.MaxInt
	if n, err := strconv.Atoi(offset); err == nil {
		first = n
	}
	if n, err := strconv.Atoi(limit); err == nil && n < last-first {
		last = first + n - 1
	}
	return first, last
}

// repeats follows the strict repeats of a shell command back.
func (d *deduper) repeats(a, b int) bool {
	for b > a {
		b = d.v.Sizes.Calls[b].StrictRepeatOf
	}
	return b == a
}

// heldUntil is the last request number up to which every payload with the span,
// from its first on, also holds its content in a's result; 0 for none.
func (d *deduper) heldUntil(a *read, span int) int {
	s := d.v.Session
	sp := s.Spans[span]
	until := sp.First - 1
	for grown := true; grown; {
		grown = false
		for _, h := range a.stands {
			from := s.Spans[h.span]
			fits := from.Chain == sp.Chain && from.Position < sp.Position && h.first <= until+1 && h.last > until
			if fits && d.contains(h.span, span) {
				until, grown = h.last, true
			}
		}
	}
	if until < sp.First {
		return 0
	}
	return until
}

// contains says whether the content of a later result stands in an earlier one.
func (d *deduper) contains(earlier, later int) bool {
	a, b := body(d.v.Text(earlier)), body(d.v.Text(later))
	return a == b || holdsLines(a, b)
}

// body is a result without the head that Codex puts before the output of a command
// and that differs every time (wall time, chunk).
func body(text string) string {
	head, rest, ok := strings.Cut(text, "\nOutput:\n")
	if ok && (strings.Contains(head, "Wall time: ") || strings.HasPrefix(head, "Exit code: ")) && strings.Count(head, "\n") < 8 {
		return rest
	}
	return text
}

// holdsLines says whether all numbered lines of b stand in a, and b says nothing
// else but what a says, too, or what the tool adds about the part that was read.
func holdsLines(a, b string) bool {
	numberedB, otherB := splitNumbered(b)
	if len(numberedB) == 0 {
		return false
	}
	numberedA, otherA := splitNumbered(a)
	for line := range numberedB {
		if !numberedA[line] {
			return false
		}
	}
	for line := range otherB {
		note := line == "" || line[0] == '<' && !strings.HasPrefix(line, "<system-reminder>") || line[0] == '('
		if !note && !otherA[line] {
			return false
		}
	}
	return true
}

// splitNumbered separates the lines with a line number, number included, from the
// others.
func splitNumbered(text string) (numbered, other map[string]bool) {
	numbered, other = map[string]bool{}, map[string]bool{}
	stripped, _, ok := compress.LineNumbers(text)
	if !ok {
		return nil, nil
	}
	with, without := strings.Split(text, "\n"), strings.Split(stripped, "\n")
	for i, line := range with {
		if line != without[i] {
			numbered[strings.TrimLeft(line, " ")] = true
			continue
		}
		other[line] = true
	}
	return numbered, other
}
