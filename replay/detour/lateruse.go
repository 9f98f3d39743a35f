package detour

import (
	"cmp"
	"slices"
	"unicode/utf8"

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
	maybe sieve
	first []int32 // by feature: its first use
	uses  []use
	hits  [][]int32 // by text: the features it holds, sorted
	start []int     // by feature: where its texts begin in texts
	texts []rollout.TextID
	spans [][]int // by text: the spans that carry it
}

// use is one place where a feature was said; next chains those of a feature.
type use struct{ request, next int32 }

func newMatcher(s *rollout.Session, said []saying) *matcher {
	m := &matcher{s: s, ids: map[uint64]int32{}, spans: make([][]int, len(s.Texts))}
	for _, p := range said {
		features(p.text, func(f uint64) { m.note(f, int32(p.request)) })
	}
	m.maybe = newSieve(m.ids)
	for i, sp := range s.Spans {
		m.spans[sp.Text] = append(m.spans[sp.Text], i)
	}
	arguments := make([]bool, len(s.Texts))
	for _, it := range s.Items {
		arguments[it.Text] = arguments[it.Text] || it.Kind == rollout.ToolCall
	}
	m.hits = make([][]int32, len(s.Texts))
	for t := range s.Texts {
		m.scan(rollout.TextID(t), arguments[t])
	}
	m.invert()
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
}

// invert lists, by feature, the texts that hold it.
func (m *matcher) invert() {
	m.start = make([]int, len(m.first)+1)
	for _, list := range m.hits {
		for _, f := range list {
			m.start[f+1]++
		}
	}
	for f := range m.first {
		m.start[f+1] += m.start[f]
	}
	m.texts = make([]rollout.TextID, m.start[len(m.first)])
	next := slices.Clone(m.start)
	for t, list := range m.hits {
		for _, f := range list {
			m.texts[next[f]] = rollout.TextID(t)
			next[f]++
		}
	}
}

// holding lists the texts that hold a feature.
func (m *matcher) holding(f int32) []rollout.TextID { return m.texts[m.start[f]:m.start[f+1]] }

// find returns the features of a text that were said, sorted, each once.
func (m *matcher) find(text string) []int32 {
	var out []int32
	features(text, func(f uint64) {
		if !m.maybe.has(f) {
			return
		}
		if id, ok := m.ids[f]; ok {
			out = append(out, id)
		}
	})
	slices.Sort(out)
	return slices.Clone(slices.Compact(out)) // a feature may stand there many times: without that room
}

// sieve knows most of the features that were not said: a bit for each value of their
// lower bits, 16 to 32 bits for a feature. It stays in the processor's cache where the
// features themselves do not.
type sieve []uint64

func newSieve(ids map[uint64]int32) sieve {
	size := 1
	for size*4 < len(ids) {
		size *= 2
	}
	s := make(sieve, size)
	for f := range ids {
		s[f>>6&uint64(size-1)] |= 1 << (f & 63)
	}
	return s
}

func (s sieve) has(f uint64) bool { return s[f>>6&uint64(len(s)-1)]>>(f&63)&1 == 1 }
