package gemini

import (
	"strings"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/conversation"
	"github.com/fclog/fclog/rollout/logfile"
)

// piece is one part of a content as it is sent. A result is the same content for
// as long as it is of the same call, all else for as long as its text is the same:
// checkpoints give messages new IDs and calls none.
type piece = conversation.Piece

// render makes the pieces of a message.
func (c *chat) render(e *entry) {
	e.pieces, e.results = nil, nil
	if e.Type.V == "gemini" {
		c.renderAnswer(e)
		return
	}
	restated := false
	for _, p := range parts(e.Content) {
		switch {
		case p.Response.OK:
			e.pieces = append(e.pieces, c.response(&p.Response.V, nil)...)
		case p.Inline.OK:
			e.pieces = append(e.pieces, c.data(&p.Inline.V, rollout.RoleUser, nil))
		case p.Text.V != "":
			piece := c.userText(e, p.Text.V)
			restated = restated || piece.Kind == rollout.ProjectContext || piece.Kind == rollout.Summary
			c.prompted = c.prompted || !restated
			e.pieces = append(e.pieces, piece)
		}
	}
}

// userText is a typed prompt, or one of the texts the harness sends as the user.
func (c *chat) userText(e *entry, s string) *piece {
	it := rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: c.b.Text(s)}
	switch start := strings.TrimSpace(s); {
	case strings.HasPrefix(start, "<session_context>"):
		it.Kind, it.Label = rollout.ProjectContext, "session_context"
	case strings.HasPrefix(start, "System: "):
		it.Kind = rollout.Reminder
	case strings.HasPrefix(start, "<state_snapshot>"):
		it.Kind = rollout.Summary
		c.compacted(e, it.Text)
	}
	return &piece{Item: it, Index: -1}
}

// compacted notes the call that wrote a summary: it was billed and is not logged.
func (c *chat) compacted(e *entry, summary rollout.TextID) {
	if c.summed[summary] {
		return
	}
	c.summed[summary] = true
	c.b.Session.OtherBilled = append(c.b.Session.OtherBilled, rollout.OtherBilled{
		Kind: "chat compression", Time: at(e.Timestamp), Provider: "google", Line: e.line,
	})
}

// renderAnswer makes the pieces of a model message: texts, then calls. Results
// that stand with the calls are kept apart, as they are sent after all of them.
func (c *chat) renderAnswer(e *entry) {
	named := map[string]bool{}
	for _, p := range parts(e.Content) {
		switch {
		case p.Thought.V:
		case p.Call.OK:
			named[p.Call.V.ID.V] = p.Call.V.ID.V != ""
			e.pieces = append(e.pieces, c.restated(e, &p.Call.V))
		case p.Inline.OK:
			e.pieces = append(e.pieces, c.data(&p.Inline.V, rollout.RoleAssistant, nil))
		case p.Text.V != "":
			e.pieces = append(e.pieces, c.answerText(e, p.Text.V))
		}
	}
	for i, raw := range e.ToolCalls.V {
		var t toolCall
		if logfile.Unmarshal(raw, &t) != nil {
			c.fold("bad-record", e.line, "a tool call could not be read; it was skipped")
			continue
		}
		if t.ID.V == "" {
			t.ID.V = e.ID.V + "/" + itoa(i)
		}
		call := c.take(e, &t)
		if !named[t.ID.V] {
			e.pieces = append(e.pieces, call.piece())
		}
		e.results = append(e.results, c.resultOf(call, &t)...)
	}
}

// answerText is text of the model. An answer's own text is an item at once, so
// that it counts even where no request follows.
func (c *chat) answerText(e *entry, s string) *piece {
	p := &piece{Index: -1, Item: rollout.Item{Kind: rollout.AssistantText, Role: rollout.RoleAssistant,
		Origin: rollout.Logged, Request: e.request, Text: c.b.Text(s)}}
	if e.request < 0 {
		return p
	}
	known, ok := c.said[said{e.request, p.Text}]
	if !ok {
		known = c.b.Item(p.Item)
		c.said[said{e.request, p.Text}] = known
	}
	p.Index = known
	return p
}

// said names a text of an answer.
type said struct {
	request int
	text    rollout.TextID
}

// response is a function response: the result of a call, and data within it.
func (c *chat) response(f *functionResponse, known *call) []*piece {
	if known == nil {
		known = c.calls[f.ID.V]
	}
	p := c.result(f.ID.V, f.Name.V, responseText(f.Response), known)
	out := []*piece{p}
	for _, raw := range f.Parts.V {
		var part part
		if logfile.Unmarshal(raw, &part) == nil && part.Inline.OK {
			out = append(out, c.data(&part.Inline.V, rollout.RoleTool, p))
		}
	}
	return out
}

// result is the text that came of a call.
func (c *chat) result(id, tool, s string, known *call) *piece {
	p := &piece{Index: -1, Item: rollout.Item{Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: tool, CallID: id,
		Origin: rollout.Logged, Request: -1, Text: c.b.Text(s)}}
	p.Match = id
	if known != nil {
		p.CallID = c.b.Session.Calls[known.index].ID
		p.Match = p.CallID
		c.settle(known, p, s)
	}
	return p
}

// data is an image or other content without words; of is the result it came with.
func (c *chat) data(b *blob, role rollout.Role, of *piece) *piece {
	it := rollout.Item{Kind: rollout.Image, Role: role, Label: b.MimeType.V, Origin: rollout.Logged, Request: -1, Text: c.b.OpaqueText(b.Data.V)}
	if of != nil {
		it.Tool, it.CallID = of.Tool, of.CallID
	}
	if n, ok := images.Tokens(c.model(), b.Data.V); ok && strings.HasPrefix(b.MimeType.V, "image/") {
		it.Tokens = &n
	}
	return &piece{Item: it, Index: -1}
}

// model is the model named last.
func (c *chat) model() string {
	for i := len(c.b.Session.Requests) - 1; i >= 0; i-- {
		if m := c.b.Session.Requests[i].Model; m != "" {
			return m
		}
	}
	return "gemini"
}

// contents counts the turns of one role in a row, each one content on the wire.
func contents(pieces []*piece) int64 {
	n, last := int64(0), ""
	for _, p := range pieces {
		role := "user"
		if p.Role == rollout.RoleAssistant {
			role = "model"
		}
		if role != last {
			n, last = n+1, role
		}
	}
	return n
}
