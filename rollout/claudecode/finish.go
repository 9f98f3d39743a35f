package claudecode

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

func unmarshal(raw jsontext.Value, v any) { _ = logfile.Unmarshal(raw, v) }

// describe fills the head of the session.
func (rb *rebuild) describe() {
	s, c := rb.s, rb.conv
	s.ID, s.File = rb.f.session, rb.f.path
	s.AgentVersion, s.CWD, s.Started, s.Ended = c.version, c.cwd, c.started, c.ended
	s.Records, s.ForkedFrom = c.records, c.forkedFrom
	if c.agent != "" {
		s.ID, s.ParentID, s.ParentCall = rb.f.session+"/"+c.agent, rb.f.session, c.parentCall
		s.Agent = firstOf(c.agentType, "sub-agent")
	}
}

// finish reads the results that no request carried any more, ties up loose ends
// and checks.
func (rb *rebuild) finish() (*rollout.Session, error) {
	for _, l := range rb.conv.lines {
		if l.typ == "user" && l.items == nil && l.has("tool_result") {
			rb.makeItems(l)
		}
	}
	rb.missingResults()
	rb.missing()
	s := rb.b.Finish()
	return s, rollout.Check(s)
}

// missingResults notes calls that were never answered.
func (rb *rebuild) missingResults() {
	for _, c := range rb.s.Calls {
		if !c.Ran && !c.Denied && rb.s.Items[c.ArgsItem].Tool != "" && c.ResultItem < 0 && c.Class != rollout.WebTool {
			rb.f.fold("missing-result", "calls have no result in the log", c.Line)
		}
	}
}

// missing lists what this log does not hold.
func (rb *rebuild) missing() {
	has := map[rollout.ItemKind]bool{}
	unread := false
	attached := slices.ContainsFunc(rb.conv.lines, func(l *line) bool { return l.typ == "attachment" && len(l.blocks) > 0 })
	for _, it := range rb.s.Items {
		has[it.Kind] = true
		unread = unread || (it.Kind == rollout.Reasoning && rb.s.Texts[it.Text].Opaque)
	}
	for _, m := range []struct {
		absent bool
		phrase string
	}{
		{!has[rollout.SystemPrompt], "system prompt"},
		{!has[rollout.ToolDefinitions], "tool definitions"},
		{!has[rollout.ProjectContext], "project context"},
		{!rb.seenSystem && !attached, "reminders"},
		{unread, "reasoning text"},
		{len(rb.s.OtherBilled) > 0, "compaction request"},
		{!rb.seenSystem, "helper requests"},
		{rb.seenSystem, "billing header of the system prompt"},
	} {
		if m.absent {
			rb.s.Missing = append(rb.s.Missing, m.phrase)
		}
	}
}
