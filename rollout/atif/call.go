package atif

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// call adds a tool call with its arguments and returns its index.
func (w *walk) call(s *step, c toolCall, request int) int {
	args := w.b.Text(argumentsText(s, c))
	item := w.add(rollout.Item{Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: c.Name.V, CallID: c.ID.V, Request: request, Text: args})
	call := rollout.Call{
		Request: request, ID: w.callID(c.ID.V), Tool: c.Name.V, Args: args, ArgsItem: item, ResultItem: -1,
		Time: parseTime(s.Time.V), Inherited: s.Copied.V, Line: s.line,
	}
	describe(&call, c.Arguments)
	i := w.b.Call(call)
	if c.ID.V != "" {
		w.calls[c.ID.V] = i
	}
	return i
}

// argumentsText is the arguments as sent. Codex sends a patch as plain text; its
// converter wraps it into an object and keeps the text beside.
func argumentsText(s *step, c toolCall) string {
	var wrapped struct {
		Input logfile.Lenient[string] `json:"input"`
	}
	if raw := s.Extra.V.RawArguments; raw.OK && len(s.Calls.V) == 1 && logfile.Unmarshal(c.Arguments, &wrapped) == nil && wrapped.Input.OK && wrapped.Input.V == raw.V {
		return raw.V
	}
	if c.Arguments.Kind() == '"' {
		var text string
		_ = logfile.Unmarshal(c.Arguments, &text)
		return text
	}
	if len(c.Arguments) == 0 {
		return ""
	}
	text, err := logfile.Compact(c.Arguments)
	if err != nil {
		return string(c.Arguments)
	}
	return text
}

func (w *walk) callID(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; w.used[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	w.used[unique] = true
	return unique
}

// results adds what came back for the calls of a step.
func (w *walk) results(s *step, made []int) {
	list := s.Observation.V.Results.V
	for i, r := range list {
		if !r.OK {
			w.fold("bad-record", s.line, "a result is no JSON object; it was skipped")
			continue
		}
		w.result(s, r.V, w.answered(s, r.V, made, i, len(list)))
	}
	// A terminal shows one screen for all key strokes of a step.
	if len(list) == 1 && !list[0].V.CallID.OK {
		for _, i := range made {
			w.b.Session.Calls[i].Ran = true
		}
	}
}

// answered is the call a result belongs to: by its ID, else by its place, else
// the last one of the step; -1 none.
func (w *walk) answered(s *step, r result, made []int, place, results int) int {
	if id := r.CallID.V; id != "" {
		if i, ok := w.calls[id]; ok {
			return i
		}
		w.fold("result-without-call", s.line, "a tool result answers a call that is not in the log")
		return -1
	}
	switch {
	case len(made) == 0:
		return -1
	case results == len(made):
		return made[place]
	}
	return made[len(made)-1]
}

func (w *walk) result(s *step, r result, call int) {
	o := w.output(s, r)
	it := rollout.Item{Kind: rollout.ToolResult, Role: rollout.RoleTool, Origin: o.origin, Request: -1}
	switch {
	case call >= 0:
		c := &w.b.Session.Calls[call]
		it.Tool, it.CallID = c.Tool, c.ID
	case s.Source.V == "system":
		it.Kind, it.Role = rollout.Reminder, rollout.RoleUser
	default:
		it.Role = rollout.RoleUser
	}
	first := -1
	for _, text := range o.texts {
		it.Text = w.b.Text(text)
		if i := w.add(it); first < 0 {
			first = i
		}
	}
	w.images = w.images || o.images > 0
	if call < 0 {
		return
	}
	w.started(call, r)
	if c := &w.b.Session.Calls[call]; !c.Ran && !c.Denied {
		c.ResultItem = first
		settle(c, o)
	}
}

// started notes the sub-agents that a result names: embedded ones find their
// call by it, others are files of their own.
func (w *walk) started(call int, r result) {
	for _, raw := range r.Subagents.V {
		ref := subagentRef(raw)
		for _, id := range []string{ref.Trajectory.V, ref.Session.V} {
			if id != "" {
				w.children[id] = call
			}
		}
		c := &w.b.Session.Calls[call]
		if c.Class == rollout.OtherTool {
			c.Class = rollout.AgentTool
		}
		if c.Child == "" {
			c.Child = sessionID(&document{root: root{Session: ref.Session, Trajectory: ref.Trajectory}})
		}
	}
}

type reference struct {
	Session    logfile.Lenient[string] `json:"session_id"`
	Trajectory logfile.Lenient[string] `json:"trajectory_id"`
}

// subagentRef reads a reference: an object, or the bare ID.
func subagentRef(raw jsontext.Value) reference {
	var ref reference
	if raw.Kind() == '"' {
		_ = logfile.Unmarshal(raw, &ref.Trajectory)
		return ref
	}
	_ = logfile.Unmarshal(raw, &ref)
	return ref
}

// unanswered notes the calls without a result, but for those the run ended at.
func (w *walk) unanswered() {
	calls, requests := w.b.Session.Calls, w.b.Session.Requests
	for i := range calls {
		if c := &calls[i]; !c.Ran && !c.Denied && !c.Inherited && c.Request >= 0 && c.Request < len(requests)-1 {
			w.fold("missing-result", c.Line, "a tool call has no result in the log")
		}
	}
}

// output is what a tool brought back, as far as it was sent.
type output struct {
	texts  []string
	images int
	origin rollout.Origin
	failed *bool
}

func (o output) text() string { return strings.Join(o.texts, "") }

// output is a result's true text: the one kept apart by the converter, else the
// content without what the converter put in.
func (w *walk) output(s *step, r result) output {
	for _, raw := range []logfile.Lenient[rawResult]{r.Extra.V.Raw, s.Extra.V.Result.V.Raw, s.Extra.V.Raw} {
		if !raw.OK || raw.V.CallID.V != "" && raw.V.CallID.V != r.CallID.V || len(raw.V.Content) == 0 {
			continue
		}
		o := output{origin: rollout.Logged, failed: known(raw.V.IsError)}
		if o.texts, o.images = w.parts(raw.V.Content); len(o.texts)+o.images > 0 {
			return o
		}
	}
	o := output{origin: rollout.Logged, failed: known(s.Extra.V.IsError)}
	if len(s.Observation.V.Results.V) > 1 {
		o.failed = nil
	}
	o.texts, o.images = w.parts(r.Content)
	if w.d.Agent.V.Name.V == claudeAgent && len(o.texts) == 1 {
		text, failed := strip(o.texts[0])
		if text != o.texts[0] {
			o.texts, o.origin = []string{text}, rollout.Recomputed
		}
		if failed {
			o.failed = &failed
		}
	}
	return o
}

func known(b logfile.Lenient[bool]) *bool {
	if !b.OK {
		return nil
	}
	return &b.V
}

const failureMark = "\n\n[error] tool reported failure"

// strip takes off what the Claude Code converter adds to a result: the mark of a
// failure, the tool's data as JSON, and the text once more as standard output.
func strip(text string) (string, bool) {
	text, failed := strings.CutSuffix(text, failureMark)
	if i := strings.LastIndex(text, "\n[metadata] {"); i >= 0 && jsontext.Value(text[i+len("\n[metadata] "):]).IsValid() {
		text = strings.TrimSuffix(text[:i], "\n")
	}
	if head, again, found := strings.Cut(text, "\n\n[stdout]\n"); found && strings.TrimSpace(head) == strings.TrimSpace(again) {
		text = head
	}
	return text, failed
}
