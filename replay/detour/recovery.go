package detour

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"encoding/json"

	"github.com/fclog/fclog/rollout"
)

// reach is how many requests after a result a recovery is looked for (§6 of the
// design: within three requests).
const reach = 3

// Outcome is what followed an output.
type Outcome string

const (
	Nothing   Outcome = "not"       // nothing went back to it
	Rerun     Outcome = "rerun"     // the same look again: after an edit, a failure, or at something that grows
	Recovered Outcome = "recovered" // a part of it that was not shown, or the rest, was asked for
)

// history is a session prepared for classification.
type history struct {
	s     *rollout.Session
	looks [][]look
	at    map[place][]int // calls by chain and request number
}

type place struct{ chain, request int }

func newHistory(s *rollout.Session) *history {
	h := &history{s: s, looks: make([][]look, len(s.Calls)), at: map[place][]int{}}
	for i, c := range s.Calls {
		h.looks[i] = looks(s, c)
		if c.Request >= 0 && c.Parent == "" {
			r := s.Requests[c.Request]
			p := place{r.Chain, r.Number}
			h.at[p] = append(h.at[p], i)
		}
	}
	return h
}

// classify says what followed the output of a call, whether it was cut or whole:
// the calls of the next three requests of its chain are compared with it. Calls of
// the same response do not count, the model had not seen the output yet.
func (h *history) classify(call int) Outcome {
	c := h.s.Calls[call]
	if c.Request < 0 {
		return Nothing
	}
	r := h.s.Requests[c.Request]
	out := Nothing
	for n := r.Number + 1; n <= r.Number+reach; n++ {
		for _, later := range h.at[place{r.Chain, n}] {
			switch h.compare(call, later) {
			case Recovered:
				return Recovered
			case Rerun:
				out = Rerun
			}
		}
	}
	return out
}

// compare says what a later call is to an earlier one.
func (h *history) compare(call, later int) Outcome {
	c, d := h.s.Calls[call], h.s.Calls[later]
	switch {
	case d.Denied || d.Class == rollout.EditTool || d.Class == rollout.TodoTool:
		return Nothing
	case c.Handle != "" && d.Recovers == c.Handle && !h.edited(call, later, c.Handle):
		return Recovered
	case c.Class != d.Class && !textual(c) || !textual(d):
		return Nothing
	}
	first, second := commandOf(h.s, c), commandOf(h.s, d)
	same := c.Tool == d.Tool && h.sameArgs(c, d, first, second)
	switch {
	case same && !h.anyEdit(call, later) && limitOf(h.s, d) > limitOf(h.s, c) && c.Truncated != rollout.NotTruncated:
		return Recovered
	case same:
		return Rerun
	}
	return h.compareLooks(call, later, sleeps(first) || sleeps(second))
}

func (h *history) sameArgs(c, d rollout.Call, first, second string) bool {
	if first != "" || second != "" {
		return first == second
	}
	return h.s.Texts[c.Args].S == h.s.Texts[d.Args].S
}

// textual calls print text that another call could narrow.
func textual(c rollout.Call) bool {
	return c.Class == rollout.ShellTool || c.Class == rollout.ReadTool || c.Class == rollout.SearchTool
}

func (h *history) compareLooks(call, later int, waits bool) Outcome {
	out := Nothing
	for _, a := range h.looks[call] {
		for _, b := range h.looks[later] {
			switch o := h.compareLook(a, b, call, later); {
			case o == Recovered && !waits:
				return Recovered
			case o != Nothing:
				out = Rerun
			}
		}
	}
	return out
}

func (h *history) compareLook(a, b look, call, later int) Outcome {
	switch {
	case a.kind == readLook && b.kind == readLook && a.shows(b.path):
		return h.unlessEdited(a.part != b.part || a.whole, call, later, b.path)
	case a.kind == readLook && b.kind == searchLook && a.shows(b.path):
		return h.unlessEdited(true, call, later, b.path)
	case a.kind == searchLook && b.kind == readLook && a.path != "" && samePath(a.path, b.path):
		return h.unlessEdited(true, call, later, b.path)
	case a.kind == searchLook && b.kind == searchLook:
		return h.searches(a, b, call, later)
	case a.kind == runLook && b.kind == runLook:
		return h.runs(a, b, call, later)
	}
	return Nothing
}

// shows says whether a look shows a file.
func (l look) shows(file string) bool {
	if l.path == "" || file == "" {
		return false
	}
	return samePath(l.path, file) || l.whole && inside(file, l.path)
}

// unlessEdited is a recovery unless it is the same look or the file was edited in
// between: then the model checks its edit.
func (h *history) unlessEdited(narrower bool, call, later int, file string) Outcome {
	if !narrower || h.edited(call, later, file) {
		return Rerun
	}
	return Recovered
}

// searches compares two searches: narrower is the same or a smaller place with a
// pattern that shares a word with the first, or the same pattern in a smaller
// place or another page of it.
func (h *history) searches(a, b look, call, later int) Outcome {
	if !inside(b.path, a.path) && !samePath(a.path, b.path) {
		return Nothing
	}
	samePlace := samePath(a.path, b.path) || clean(a.path) == clean(b.path)
	if a.within != "" && a.within != b.within {
		return Nothing
	}
	switch {
	case a.pattern == b.pattern && samePlace && a.within == b.within && a.part == b.part && a.filters == b.filters:
		return Rerun
	case a.pattern == b.pattern:
		return h.unlessAnyEdit(call, later)
	case !shareWord(a.pattern, b.pattern):
		return Nothing
	case len(alternatives(a.pattern)) == 1 && strings.Contains(a.pattern, b.pattern):
		return Rerun
	}
	return h.unlessAnyEdit(call, later)
}

// runs compares two other commands: the same one through another filter, or with
// more words that say which part.
func (h *history) runs(a, b look, call, later int) Outcome {
	equal := slices.Equal(a.words, b.words)
	switch {
	case equal && a.filters == b.filters:
		return Rerun
	case equal && (len(a.words) > 1 || b.filters != ""):
		return h.unlessAnyEdit(call, later)
	case len(a.words) > 1 && len(b.words) > len(a.words) && slices.Equal(a.words, b.words[:len(a.words)]):
		return h.unlessAnyEdit(call, later)
	}
	return Nothing
}

func (h *history) unlessAnyEdit(call, later int) Outcome {
	if h.anyEdit(call, later) || isTrue(h.s.Calls[call].Failed) && h.s.Calls[call].Truncated == rollout.NotTruncated {
		return Rerun
	}
	return Recovered
}

func isTrue(b *bool) bool { return b != nil && *b }

// edited says whether a call between the two changed a file.
func (h *history) edited(call, later int, file string) bool {
	return slices.ContainsFunc(h.s.Calls[call+1:max(later, call+1)], func(c rollout.Call) bool {
		if c.Class != rollout.EditTool {
			return false
		}
		return samePath(c.Path, file) || c.Path == "" && strings.Contains(h.s.Texts[c.Args].S, clean(file))
	})
}

// anyEdit says whether a call between the two changed any file.
func (h *history) anyEdit(call, later int) bool {
	return slices.ContainsFunc(h.s.Calls[call+1:max(later, call+1)], func(c rollout.Call) bool {
		return c.Class == rollout.EditTool
	})
}

// limitOf is the output limit that a call asks for; 0 none.
func limitOf(s *rollout.Session, c rollout.Call) int64 {
	var a struct {
		Max json.Number `json:"max_output_tokens"`
	}
	if json.Unmarshal([]byte(s.Texts[c.Args].S), &a) != nil {
		return 0
	}
	n, _ := strconv.ParseInt(a.Max.String(), 10, 64)
	return n
}

// alternatives are the branches of a pattern, in both spellings of "or".
func alternatives(pattern string) []string {
	return strings.Split(strings.ReplaceAll(pattern, `\|`, "|"), "|")
}

// minWord is the shortest word that says what a pattern looks for.
const minWord = 4

// shareWord says whether two patterns look for a common word.
func shareWord(a, b string) bool {
	have := map[string]bool{}
	for _, w := range patternWords(a) {
		have[w] = true
	}
	return slices.ContainsFunc(patternWords(b), func(w string) bool { return have[w] })
}

// patternWords are the words of a pattern that are long enough and no keyword
// that half of all patterns hold.
func patternWords(pattern string) []string {
	words := strings.FieldsFunc(pattern, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return slices.DeleteFunc(words, func(w string) bool { return len(w) < minWord || keywords[w] })
}

var keywords = map[string]bool{"func": true, "class": true, "function": true, "import": true, "from": true, "const": true, "type": true, "return": true, "export": true}
