package gemini

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// call is a tool call the file has named.
type call struct {
	c      *chat
	index  int    // in Session.Calls
	owner  string // message that made it
	result bool   // what came of it is known
}

// asked names a call by what it asks for.
type asked struct {
	tool string
	args rollout.TextID
}

// piece is the call as it is sent.
func (k *call) piece() *piece {
	it := k.c.b.Session.Calls[k.index].ArgsItem
	return &piece{Item: k.c.b.Session.Items[it], Index: it}
}

// restated is a call part of a content: of an answer whose calls are known, or of
// history that a checkpoint writes anew, where its ID may be missing.
func (c *chat) restated(e *entry, f *functionCall) *piece {
	if known := c.calls[f.ID.V]; known != nil && f.ID.V != "" {
		return known.piece()
	}
	args := argsText(f.Args)
	if known := c.asked[asked{f.Name.V, c.b.Text(args)}]; known != nil {
		return known.piece()
	}
	return c.add(e, f.ID.V, f.Name.V, args).piece()
}

// take records a call of an answer, or what a later record tells of it.
func (c *chat) take(e *entry, t *toolCall) *call {
	k := c.calls[t.ID.V]
	if k == nil || k.owner != e.ID.V && e.request >= 0 {
		k = c.add(e, t.ID.V, t.Name.V, argsText(t.Args))
	}
	call := &c.b.Session.Calls[k.index]
	if call.Time.IsZero() {
		call.Time = at(t.Timestamp)
	}
	if t.AgentID.V != "" {
		call.Child = t.AgentID.V
	}
	c.status(call, t.Status.V)
	return k
}

func argsText(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	return compact(raw)
}

// add records a new call.
func (c *chat) add(e *entry, id, tool, args string) *call {
	given := id
	if given == "" {
		given = "call-" + itoa(len(c.b.Session.Calls)+1)
	}
	for base, n := given, 2; c.ids[given]; n++ {
		given = base + "#" + itoa(n)
	}
	c.ids[given] = true
	out := rollout.Call{Request: e.request, ID: given, Tool: tool, Args: c.b.Text(args), ResultItem: -1, Time: at(e.Timestamp), Line: e.line}
	out.ArgsItem = c.b.Item(rollout.Item{Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: tool, CallID: given,
		Origin: rollout.Logged, Request: e.request, Text: out.Args})
	c.describeCall(&out, args)
	k := &call{c: c, index: c.b.Call(out), owner: e.ID.V}
	c.asked[asked{tool, out.Args}] = k
	if id != "" {
		c.calls[id] = k
	}
	return k
}

// resultOf makes the pieces of what stands with a call as its result: function
// responses and data, or plain text in some old files.
func (c *chat) resultOf(k *call, t *toolCall) []*piece {
	var out []*piece
	for _, p := range parts(t.Result) {
		switch {
		case p.Response.OK:
			out = append(out, c.response(&p.Response.V, k)...)
		case p.Inline.OK && len(out) > 0:
			out = append(out, c.data(&p.Inline.V, rollout.RoleTool, out[0]))
		case p.Text.V != "":
			out = append(out, c.result(t.ID.V, t.Name.V, p.Text.V, k))
		}
	}
	return out
}

// settle ties a result to its call, and learns from it the first time.
func (c *chat) settle(k *call, p *piece, s string) {
	call := &c.b.Session.Calls[k.index]
	if p.Tool == "" {
		p.Tool = call.Tool
	}
	if k.result {
		p.Index = call.ResultItem
		return
	}
	k.result = true
	call.ResultItem = c.b.Item(p.Item)
	p.Index = call.ResultItem
	c.outcome(call, s)
}

// status is what the recorder says of a call.
func (c *chat) status(call *rollout.Call, status string) {
	if call.Denied {
		return
	}
	failed := status == "error"
	switch status {
	case "success", "error":
		call.Ran = true
	case "cancelled":
	default:
		return
	}
	if call.Failed == nil || failed {
		call.Failed = &failed
	}
	if status == "cancelled" {
		call.Failed = nil
	}
}

// refused matches the results of calls that a rule or the user did not let run.
func refused(s string) bool {
	return strings.Contains(s, "did not allow tool call") || strings.Contains(s, "denied by policy") ||
		strings.HasPrefix(s, "Command injection detected")
}
