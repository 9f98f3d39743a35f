package opencode

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// interrupted is what the model gets for a call that never ended.
const interrupted = "[Tool execution was interrupted]"

// result is what a call gave back, to be added behind all calls of its step.
type result struct {
	part  *part
	call  int
	text  string
	known bool
}

// call adds a tool call and its arguments.
func (r *builder) call(i int, p *part, request int, sent bool) *result {
	m := &r.doc.messages[i]
	st := p.State.V
	args := arguments(st.Input.Clone())
	id := r.callID(p)
	it := rollout.Item{Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: p.Tool.V, CallID: id, Text: r.b.Text(args)}
	asked := r.produced(i, it, request, sent)
	c := rollout.Call{Request: request, ID: id, Tool: p.Tool.V, Args: it.Text, ArgsItem: asked.item, ResultItem: -1,
		Time: at(st.Time.V.Start), DurationMS: between(st.Time.V.Start, st.Time.V.End), Inherited: r.inherited(m), Line: m.line}
	r.seen(c.Time)
	r.seen(at(st.Time.V.End))
	if c.Time.IsZero() {
		c.Time = m.created()
	}
	describe(&c, args)
	res := &result{part: p}
	res.text, res.known = outputOf(&st)
	r.ended(&c, &st, res)
	res.call = r.b.Call(c)
	if c.Child != "" {
		r.children[c.Child] = c.ID
	}
	return res
}

// callID is a call's own ID, made unique.
func (r *builder) callID(p *part) string {
	id := first(p.CallID.V, p.ID.V, "call")
	r.callIDs[id]++
	n := r.callIDs[id]
	if n == 1 {
		return id
	}
	unique := fmt.Sprintf("%s#%d", id, n)
	r.callIDs[unique]++
	return unique
}

func arguments(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	args, err := logfile.Compact(raw)
	if err != nil {
		return string(raw)
	}
	return args
}

// outputOf is the text a call gave back; false if the log holds none.
func outputOf(st *toolState) (string, bool) {
	switch st.Status.V {
	case stateCompleted:
		return st.Output.V, st.Output.OK
	case stateError:
		if m := st.Metadata.V; m.Interrupted.V && m.Output.OK {
			return m.Output.V, true
		}
		return st.Error.V, st.Error.OK
	}
	return "", false
}

// Errors of calls that never ran.
var refused = []string{"The user rejected permission to use this specific tool call", "The user has specified a rule which prevents you from using this specific tool call", "The user dismissed this question"}

// ended fills in how a call ended.
func (r *builder) ended(c *rollout.Call, st *toolState, res *result) {
	switch st.Status.V {
	case stateCompleted:
		failed := c.Class == rollout.ShellTool && st.Metadata.V.Exit.OK && st.Metadata.V.Exit.V != 0
		c.Ran, c.Failed = true, &failed
	case stateError:
		failed := true
		c.Failed = &failed
		c.Denied = startsWithAny(res.text, refused)
		c.Ran = !c.Denied && c.Tool != "invalid"
	case "running":
		c.Ran = true
	}
	if c.Tool == "invalid" {
		failed := true
		c.Ran, c.Failed = false, &failed
	}
	if c.Class == rollout.AgentTool {
		c.Child = first(st.Metadata.V.SessionID.V, childIn(res.text))
	}
	if res.known {
		truncation(c, res.text)
	}
	r.recovers(c)
	if c.Handle != "" {
		r.handles = append(r.handles, c.Handle)
	}
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// result adds what a call gave back. A call without an end gets OpenCode's line
// about that.
func (r *builder) result(i int, res *result, sent bool) {
	m, st := &r.doc.messages[i], &res.part.State.V
	c := &r.s.Calls[res.call]
	it := rollout.Item{Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: c.Tool, CallID: c.ID, Origin: rollout.Logged, Request: -1}
	text := res.text
	if !res.known {
		r.problem("missing-result", m.line, "a call has no result in the log")
		text, it.Origin = interrupted, rollout.Recomputed
	}
	it.Text = r.b.Text(text)
	item := r.b.Item(it)
	c.ResultItem = item
	if !sent {
		return
	}
	p := r.add(i, rollout.SlotConversation, item)
	r.pruned(p, st, false)
	for _, f := range st.Attachments.V {
		if !isMedia(f.Mime.V) {
			continue
		}
		it := rollout.Item{Role: rollout.RoleTool, Tool: c.Tool, CallID: c.ID, Request: -1}
		if item, ok := r.media(f.Mime.V, f.URL.V, it); ok {
			r.pruned(r.add(i, rollout.SlotConversation, item), st, true)
		}
	}
}

// pruned notes when pruning takes a result, or what came with it, out.
func (r *builder) pruned(p *placed, st *toolState, gone bool) {
	stamp := at(st.Time.V.Compacted)
	if stamp.IsZero() || st.Status.V != stateCompleted {
		return
	}
	p.clear, p.gone = stamp, gone
	r.clearLater(p)
}

// isMedia reports types that are sent as data.
func isMedia(mime string) bool {
	return strings.HasPrefix(mime, "image/") || mime == "application/pdf"
}
