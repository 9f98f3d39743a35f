package detour

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// saying is a text that the model produced, or that stands in for one.
type saying struct {
	request int // whose response held it
	text    string
}

// sayings lists what the model wrote in a session, in order of its requests:
// texts, reasoning with words, arguments. Inherited requests are left out.
func sayings(s *rollout.Session) []saying {
	var out []saying
	for _, it := range s.Items {
		if it.Request < 0 || s.Requests[it.Request].Inherited || s.Texts[it.Text].S == "" {
			continue
		}
		out = append(out, saying{it.Request, wordsOf(s, it)})
	}
	slices.SortStableFunc(out, func(a, b saying) int { return cmp.Compare(a.request, b.request) })
	return out
}

func wordsOf(s *rollout.Session, it rollout.Item) string {
	if it.Kind == rollout.ToolCall {
		return said(s.Texts[it.Text].S)
	}
	return s.Texts[it.Text].S
}

// foreign lays the words of other sessions over the timeline of this one: every
// saying keeps its request and its length, and holds other words.
func foreign(own []saying, others []saying) []saying {
	var out []saying
	rest := ""
	for _, o := range own {
		need := utf8.RuneCountInString(o.text)
		for need > 0 {
			if rest == "" {
				if len(others) == 0 {
					return out
				}
				rest, others = others[0].text, others[1:]
				continue
			}
			taken, left, n := takeRunes(rest, need)
			out = append(out, saying{o.request, taken})
			rest, need = left, need-n
		}
	}
	return out
}

// takeRunes splits off at most n characters.
func takeRunes(s string, n int) (taken, rest string, count int) {
	for i := range s {
		if count == n {
			return s[:i], s[i:], count
		}
		count++
	}
	return s, "", count
}

// matcher knows which features of what was said stand in which texts of a
// session. It is as large as what was said, not as the session.
type matcher struct {
	s     *rollout.Session
	ids   map[uint64]int32
	first []int32 // by feature: its first use
	uses  []use
	hits  [][]int32 // by text: the features it holds, sorted
	texts [][]rollout.TextID
	spans [][]int // by text: the spans that carry it
}

// use is one place where a feature was said; next chains those of a feature.
type use struct{ request, next int32 }

func newMatcher(s *rollout.Session, said []saying) *matcher {
	m := &matcher{s: s, ids: map[uint64]int32{}, spans: make([][]int, len(s.Texts))}
	for _, p := range said {
		features(p.text, func(f uint64) { m.note(f, int32(p.request)) })
	}
	for i, sp := range s.Spans {
		m.spans[sp.Text] = append(m.spans[sp.Text], i)
	}
	arguments := make([]bool, len(s.Texts))
	for _, it := range s.Items {
		arguments[it.Text] = arguments[it.Text] || it.Kind == rollout.ToolCall
	}
	m.hits = make([][]int32, len(s.Texts))
	m.texts = make([][]rollout.TextID, len(m.first))
	for t := range s.Texts {
		m.scan(rollout.TextID(t), arguments[t])
	}
	return m
}

func (m *matcher) note(f uint64, request int32) {
	id, ok := m.ids[f]
	if !ok {
		id = int32(len(m.first))
		m.ids[f] = id
		m.first = append(m.first, -1)
	}
	if head := m.first[id]; head >= 0 && m.uses[head].request == request {
		return
	}
	m.uses = append(m.uses, use{request, m.first[id]})
	m.first[id] = int32(len(m.uses) - 1)
}

func (m *matcher) scan(t rollout.TextID, arguments bool) {
	if len(m.spans[t]) == 0 {
		return
	}
	text := m.s.Texts[t].S
	if arguments {
		text = said(text)
	}
	m.hits[t] = m.find(text)
	for _, f := range m.hits[t] {
		m.texts[f] = append(m.texts[f], t)
	}
}

// find returns the features of a text that were said, sorted, each once.
func (m *matcher) find(text string) []int32 {
	var out []int32
	features(text, func(f uint64) {
		if id, ok := m.ids[f]; ok {
			out = append(out, id)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// cuts is a plan as the matcher sees it.
type cuts struct {
	edits  []replay.Edit
	bySpan map[int][]int // edits of a span, in order of From
	kept   map[string][]int32
}

func newCuts(plan replay.Plan) *cuts {
	c := &cuts{edits: plan.Edits, bySpan: map[int][]int{}, kept: map[string][]int32{}}
	for i, e := range plan.Edits {
		c.bySpan[e.Span] = append(c.bySpan[e.Span], i)
	}
	for _, list := range c.bySpan {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(c.edits[a].From, c.edits[b].From) })
	}
	return c
}

// at returns the edit that holds for a span at a request; -1 none.
func (c *cuts) at(span, number int) int {
	found := -1
	for _, i := range c.bySpan[span] {
		if c.edits[i].From <= number {
			found = i
		}
	}
	return found
}

// keptOf returns the features of what an edit leaves.
func (m *matcher) keptOf(c *cuts, edit int) []int32 {
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
func (m *matcher) usedLater(c *cuts, edit int) bool {
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
func (m *matcher) saidBefore(c *cuts, edit int) bool {
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
func (m *matcher) anyLost(c *cuts, edit int, try func(feature int32) bool) bool {
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
func (m *matcher) elsewhere(c *cuts, edit int, feature int32, number int, notOwn bool) bool {
	self := m.s.Spans[c.edits[edit].Span]
	for _, t := range m.texts[feature] {
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
