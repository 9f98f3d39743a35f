package detour

import (
	"slices"
	"strings"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Marker says in what way an output was cut.
type Marker string

const (
	Whole       Marker = ""             // nothing was cut
	Middle      Marker = "middle"       // a part is gone, nothing names it
	Handle      Marker = "handle"       // a note names the call whose stored output can be paged
	Persisted   Marker = "persisted"    // a preview and the path of a file with the whole
	FilePart    Marker = "file-part"    // the first lines of a file
	ListLimit   Marker = "list-limit"   // the first entries or matches
	Gone        Marker = "gone"         // the whole output is gone (edits only)
	LineNumbers Marker = "line-numbers" // only the line-number prefixes are gone (edits only)
)

// band is a size band of an output as the model saw it.
func band(chars int) string {
	switch {
	case chars < 2_000:
		return "<2K"
	case chars < 10_000:
		return "2K-10K"
	case chars < 30_000:
		return "10K-30K"
	}
	return ">=30K"
}

// stratum is what cases are grouped by.
type stratum struct {
	agent  string
	kind   compress.Kind
	band   string
	marker Marker
}

// uncut is the stratum of whole outputs that a stratum is compared with.
func (s stratum) uncut() stratum {
	s.marker = Whole
	return s
}

// observation is one output and what followed it.
type observation struct {
	stratum
	family    string // session, or the one that started it
	recovered bool
}

// observe lists the truncated outputs of a recording and, with marker Whole, the
// outputs of reads, searches and shell commands that were not. Outputs that no
// request followed are left out: nothing could have gone back to them.
func observe(rec replay.Recording) []observation {
	s := rec.Session
	h := newHistory(s)
	last := map[int]int{}
	for _, r := range s.Requests {
		last[r.Chain] = max(last[r.Chain], r.Number)
	}
	var out []observation
	for i, c := range s.Calls {
		if !observable(c) {
			continue
		}
		if r := s.Requests[c.Request]; r.Number >= last[r.Chain] {
			continue
		}
		text := s.Texts[s.Items[c.ResultItem].Text]
		out = append(out, observation{
			stratum:   stratum{s.Source, kindOf(s, c), band(text.Chars), markerOf(c, text.S)},
			family:    familyOf(s),
			recovered: h.classify(i) == Recovered,
		})
	}
	return out
}

// observable calls have a result that another call could go back to.
func observable(c rollout.Call) bool {
	if c.Inherited || c.Request < 0 || c.ResultItem < 0 || c.Parent != "" || c.Poll != rollout.NoPoll {
		return false
	}
	if textual(c) {
		return !c.Starts
	}
	return c.Truncated != rollout.NotTruncated && !slices.Contains(
		[]rollout.ToolClass{rollout.PollTool, rollout.TodoTool, rollout.EditTool}, c.Class)
}

func familyOf(s *rollout.Session) string {
	if s.ParentID != "" {
		return s.Source + "/" + s.ParentID
	}
	return s.Source + "/" + s.ID
}

// markerOf tells from the call and the text the model saw how it was cut.
func markerOf(c rollout.Call, text string) Marker {
	end := text[max(0, len(text)-300):]
	switch {
	case c.Truncated == rollout.NotTruncated:
		return Whole
	case strings.HasPrefix(text, "<persisted-output>"):
		return Persisted
	case c.Handle != "" && c.Handle == c.Path:
		return FilePart
	case c.Class == rollout.SearchTool && (c.Truncated == rollout.Recoverable || strings.Contains(end, "truncated at ") || strings.Contains(end, "Results are truncated.")):
		return ListLimit
	case c.Truncated == rollout.Recoverable:
		return Handle
	}
	return Middle
}
