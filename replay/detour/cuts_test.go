package detour

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Several edits of several spans, some that begin late, follow each other or are not
// lossy, against the search edit by edit.
func TestJudgeAgainstEditByEdit(t *testing.T) {
	words := []string{"alpha-bravo-1", "charlie-delta", "echo-foxtrot-", "golf-hotel-ii"}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string) string {
			return fmt.Sprint(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, label))
		}
		var turns []turn
		for i := range rapid.IntRange(2, 6).Draw(t, "turns") {
			turns = append(turns, turn{said: pick("said"), calls: []act{sh(fmt.Sprint("run ", i)).gave(pick("result"))}})
		}
		s := sessionOf(t, "s", pick("task"), turns...)
		s = withSecondSpans(t, s)
		plan := replay.Plan{}
		for span, sp := range s.Spans {
			for from := sp.First; from <= sp.Last; from++ {
				if rapid.IntRange(0, 3).Draw(t, "edit") == 0 {
					plan.Edits = append(plan.Edits, replay.Edit{Span: span, From: from, Text: pick("kept"), Call: -1, Lossy: rapid.Bool().Draw(t, "lossy")})
				}
			}
		}
		m := newMatcher(s, sayings(s))
		got := newCuts(m, plan)
		got.judge(true)
		slow := newSlowCuts(plan)
		for i, e := range plan.Edits {
			if e.Lossy {
				assert.Equal(t, m.usedLater(slow, i), got.used[i], "used, edit %d", i)
				assert.Equal(t, m.saidBefore(slow, i), got.before[i], "before, edit %d", i)
			}
		}
	})
}

// withSecondSpans lets some items stand at a second place of the payload too.
func withSecondSpans(t *rapid.T, s *rollout.Session) *rollout.Session {
	for _, sp := range slices.Clone(s.Spans) {
		if rapid.IntRange(0, 4).Draw(t, "twice") == 0 {
			sp.First = rapid.IntRange(sp.First, sp.Last).Draw(t, "first")
			s.Spans = append(s.Spans, sp)
		}
	}
	return s
}

// slowCuts judges edit by edit, looking at every text for every use.
type slowCuts struct {
	edits  []replay.Edit
	bySpan map[int][]int // edits of a span, in order of From
	kept   map[string][]int32
}

func newSlowCuts(plan replay.Plan) *slowCuts {
	c := &slowCuts{edits: plan.Edits, bySpan: map[int][]int{}, kept: map[string][]int32{}}
	for i, e := range plan.Edits {
		c.bySpan[e.Span] = append(c.bySpan[e.Span], i)
	}
	for _, list := range c.bySpan {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(c.edits[a].From, c.edits[b].From) })
	}
	return c
}

// at returns the edit that holds for a span at a request; -1 none.
func (c *slowCuts) at(span, number int) int {
	found := -1
	for _, i := range c.bySpan[span] {
		if c.edits[i].From <= number {
			found = i
		}
	}
	return found
}

// keptOf returns the features of what an edit leaves.
func (m *matcher) keptOf(c *slowCuts, edit int) []int32 {
	text := c.edits[edit].Text
	if f, ok := c.kept[text]; ok {
		return f
	}
	f := m.find(text)
	c.kept[text] = f
	return f
}

// usedLater says whether anything of what an edit cuts was said while the edit
// held, and stood nowhere else in the payload then.
func (m *matcher) usedLater(c *slowCuts, edit int) bool {
	sp := m.s.Spans[c.edits[edit].Span]
	return m.anyLost(c, edit, func(feature int32) bool {
		for u := m.first[feature]; u >= 0; u = m.uses[u].next {
			r := m.s.Requests[m.uses[u].request]
			if r.Chain != sp.Chain || r.Number < c.edits[edit].From || r.Number > sp.Last || c.at(c.edits[edit].Span, r.Number) != edit {
				continue
			}
			if !m.elsewhere(c, edit, feature, r.Number, false) {
				return true
			}
		}
		return false
	})
}

// saidBefore is the null of usedLater for a session without others beside it:
// whether what was cut had been said before the model first saw it. The model's
// own words of that time are no place it could stand in.
func (m *matcher) saidBefore(c *slowCuts, edit int) bool {
	sp := m.s.Spans[c.edits[edit].Span]
	return m.anyLost(c, edit, func(feature int32) bool {
		for u := m.first[feature]; u >= 0; u = m.uses[u].next {
			r := m.s.Requests[m.uses[u].request]
			if r.Chain == sp.Chain && r.Number < sp.First && !m.elsewhere(c, edit, feature, c.edits[edit].From, true) {
				return true
			}
		}
		return false
	})
}

// anyLost tries every feature that the text had and the edit does not leave.
func (m *matcher) anyLost(c *slowCuts, edit int, try func(feature int32) bool) bool {
	kept := m.keptOf(c, edit)
	for _, f := range m.hits[m.s.Spans[c.edits[edit].Span].Text] {
		if _, stays := slices.BinarySearch(kept, f); !stays && try(f) {
			return true
		}
	}
	return false
}

// elsewhere says whether a feature stands in another item of the payload, as the
// plan leaves it.
func (m *matcher) elsewhere(c *slowCuts, edit int, feature int32, number int, notOwn bool) bool {
	self := m.s.Spans[c.edits[edit].Span]
	for _, t := range m.holding(feature) {
		for _, i := range m.spans[t] {
			sp := m.s.Spans[i]
			if sp.Chain != self.Chain || number < sp.First || number > sp.Last || sp.Item == self.Item {
				continue
			}
			if notOwn && m.s.Items[sp.Item].Request >= 0 {
				continue
			}
			other := c.at(i, number)
			if other < 0 {
				return true
			}
			if _, stays := slices.BinarySearch(m.keptOf(c, other), feature); stays {
				return true
			}
		}
	}
	return false
}

// Every result says the same, every response repeats it, and each result is cut one
// request later. Edit by edit that takes seconds for 125 results.
func BenchmarkJudge(b *testing.B) {
	const text = "the quick brown fox reads src/main.go:1234 and jumps over"
	for _, n := range []int{250, 500, 1000, 2000} {
		var turns []turn
		for i := range n {
			turns = append(turns, turn{said: text, calls: []act{sh(fmt.Sprint("run ", i)).gave(text)}})
		}
		s := sessionOf(b, "s", "task", turns...)
		plan := replay.Plan{}
		for span, sp := range s.Spans {
			if s.Items[sp.Item].Kind == rollout.ToolResult && sp.First < sp.Last {
				plan.Edits = append(plan.Edits, replay.Edit{Span: span, From: sp.First + 1, Call: -1, Lossy: true})
			}
		}
		m := newMatcher(s, sayings(s))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				newCuts(m, plan).judge(true)
			}
		})
	}
}
