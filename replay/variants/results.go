package variants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// result is one part of a tool result, with the call it answers and the spans
// that carried it.
type result struct {
	item  int
	call  int // -1: the log has no such call
	spans []int
}

// resultsOf lists the parts of tool results, images among them, in item order.
func resultsOf(s *rollout.Session) []result {
	spans := make([][]int, len(s.Items))
	for i, sp := range s.Spans {
		spans[sp.Item] = append(spans[sp.Item], i)
	}
	calls := callsOfItems(s)
	var out []result
	for i, it := range s.Items {
		part := it.Kind == rollout.ToolResult || it.Kind == rollout.Image && calls[i] >= 0
		if part && len(spans[i]) > 0 {
			out = append(out, result{item: i, call: calls[i], spans: spans[i]})
		}
	}
	return out
}

// callsOfItems names the call that each item answers, -1 for none. Where an agent
// gave one ID to several calls, a further part belongs to the result before it.
func callsOfItems(s *rollout.Session) []int {
	byItem, byID := map[int]int{}, map[string]int{}
	for i, c := range s.Calls {
		byID[c.ID] = i
		if c.ResultItem >= 0 {
			byItem[c.ResultItem] = i
		}
	}
	out := make([]int, len(s.Items))
	for i, it := range s.Items {
		out[i] = -1
		if it.Kind != rollout.ToolResult && it.Kind != rollout.Image {
			continue
		}
		call, ok := byItem[i]
		if !ok && it.CallID != "" {
			call, ok = byID[it.CallID]
		}
		if !ok {
			continue
		}
		out[i] = call
		if it.CallID != "" {
			byID[it.CallID] = call
		}
	}
	return out
}

// noResults says why a log cannot support a variant that works on the text of
// tool results, or "" where it can.
func noResults(s *rollout.Session) string {
	ran := false
	for _, c := range s.Calls {
		ran = ran || c.Ran
	}
	if !ran {
		return ""
	}
	for _, it := range s.Items {
		if it.Kind == rollout.ToolResult && !s.Texts[it.Text].Opaque {
			return ""
		}
	}
	return "this log does not hold the text of tool results"
}

// rewrite is what an early edit makes of a text.
type rewrite struct {
	text   string
	lossy  bool
	why    string
	longer bool // also where it makes the text longer
}

// rewriteResults edits the results for which change has another text, each span
// from its first request on, so that no cached prefix breaks. An edit that would
// not make the text shorter in tokens is left out, unless longer ones are allowed. A
// text that holds all of the old one has lost nothing, whatever change says.
func rewriteResults(v replay.View, longer bool, change func(r result, text string) (rewrite, bool)) []replay.Edit {
	var edits []replay.Edit
	for _, r := range resultsOf(v.Session) {
		for _, span := range r.spans {
			if v.Opaque(span) || v.Dropped(span) {
				continue
			}
			text := v.Text(span)
			to, ok := change(r, text)
			if !ok || to.text == text || !longer && !to.longer && !shorter(v, span, to.text) {
				continue
			}
			edits = append(edits, replay.Edit{Span: span, From: v.Session.Spans[span].First, Text: to.text, Call: r.call, Lossy: to.lossy && !strings.Contains(to.text, text), Why: to.why})
		}
	}
	sortEdits(edits)
	return edits
}

func sortEdits(edits []replay.Edit) {
	slices.SortFunc(edits, func(a, b replay.Edit) int {
		return cmp.Or(cmp.Compare(a.Span, b.Span), cmp.Compare(a.From, b.From))
	})
}

// shorter says whether a text has fewer tokens than what the span carries now.
func shorter(v replay.View, span int, text string) bool {
	return v.Count(v.Sizes.Encoding, text) < carried(v, span)
}

// carried is the raw size of what a span carries under the variants before.
func carried(v replay.View, span int) int64 {
	if v.Dropped(span) {
		return 0
	}
	recorded := v.Session.Texts[v.Session.Spans[span].Text].S
	if text := v.Text(span); text != recorded {
		return v.Count(v.Sizes.Encoding, text)
	}
	if n := v.Sizes.Spans[span].Tokens; n != nil {
		return *n
	}
	return 0
}

// classesText lists the tool classes, for help and errors.
func classesText() string {
	var names []string
	for _, c := range toolClasses {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

var toolClasses = []rollout.ToolClass{
	rollout.ShellTool, rollout.ReadTool, rollout.SearchTool, rollout.EditTool, rollout.TodoTool,
	rollout.PollTool, rollout.RetrieveTool, rollout.AgentTool, rollout.WebTool, rollout.OtherTool,
}

// selector says which results a variant works on: those of a tool, or of a class
// of tools. The zero selector takes all.
type selector struct {
	tool  string
	class rollout.ToolClass
}

func (sel selector) takes(s *rollout.Session, r result) bool {
	if sel.tool != "" && s.Items[r.item].Tool != sel.tool && (r.call < 0 || s.Calls[r.call].Tool != sel.tool) {
		return false
	}
	return sel.class == "" || r.call >= 0 && s.Calls[r.call].Class == sel.class
}

// classOption restricts a variant to the results of one class of tools.
func classOption() replay.Option {
	return replay.Option{Name: "class", Doc: "only results of this class of tools: " + classesText() + "; empty: of all", Check: func(value string) error {
		if value == "" || slices.Contains(toolClasses, rollout.ToolClass(value)) {
			return nil
		}
		return fmt.Errorf("want one of %s, or nothing, got %q", classesText(), value)
	}}
}

// maxLonger is by how many bytes all results of a session together may grow under a
// rule or a program of the user's: the longest contexts hold a quarter of it.
const maxLonger = 16 << 20

// growth watches over texts that get longer. The zero growth is ready to use.
type growth struct {
	bytes   int
	refused int
}

// takes says whether a text may become another one.
func (g *growth) takes(before, after string) bool {
	more := max(0, len(after)-len(before))
	if g.bytes+more > maxLonger {
		return g.refuse()
	}
	g.bytes += more
	return true
}

// refuse counts a text that stays as it was; it is always false.
func (g *growth) refuse() bool {
	g.refused++
	return false
}

func (g *growth) warnings(session string) []string {
	if g.refused == 0 {
		return nil
	}
	return []string{fmt.Sprintf("session %s: %s: the new text is too long (results may grow by %d MiB in all); left as before",
		session, times(g.refused, "result", "results"), maxLonger>>20)}
}
