package sweagent

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/conversation"
	"github.com/fclog/fclog/rollout/logfile"
)

type piece = conversation.Piece

// group is the pieces of one message.
type group struct {
	sign   string // what of the message is sent
	role   string
	pieces []*piece
}

// dialog is one conversation with the model.
type dialog struct {
	r      *run
	conv   *conversation.Conversation
	groups []*group
}

func (r *run) dialog() *dialog {
	return &dialog{r: r, conv: conversation.New(r.b, r.b.Chain())}
}

// set makes the messages those of the next request. Messages are known again by
// what of them is sent; one whose text changed, by its place.
func (d *dialog) set(msgs []message, open []*open) {
	groups := make([]*group, len(msgs))
	unused := map[string][]*group{}
	for i, g := range d.groups {
		if i >= len(msgs) || msgs[i].sent != g.sign {
			unused[g.sign] = append(unused[g.sign], g)
		}
	}
	for i := range msgs {
		s := msgs[i].sent
		if i < len(d.groups) && d.groups[i].sign == s {
			groups[i] = d.groups[i]
		} else if u := unused[s]; len(u) > 0 {
			groups[i], unused[s] = u[0], u[1:]
		}
	}
	for i := range msgs {
		if groups[i] == nil {
			groups[i] = d.group(msgs, i, open)
		}
	}
	d.groups = groups
	var all []*piece
	for _, g := range groups {
		all = append(all, g.pieces...)
	}
	d.conv.Set(all)
	for _, o := range open {
		o.settle(d.r)
	}
}

// group makes the pieces of a message that is new, or stands in the place of one
// that was sent with another text.
func (d *dialog) group(msgs []message, i int, open []*open) *group {
	m := &msgs[i]
	g := &group{sign: m.sent, role: role(m)}
	g.pieces = d.r.pieces(m, d.answers(msgs, i))
	if i < len(d.groups) && d.groups[i].role == g.role && len(d.groups[i].pieces) == len(g.pieces) {
		for j, p := range g.pieces {
			old := d.groups[i].pieces[j]
			p.Kind, p.Tool, p.CallID, p.Label, p.Match = old.Kind, old.Tool, old.CallID, old.Label, old.Match
		}
		return g
	}
	for _, p := range g.pieces {
		d.r.count++
		p.Match = strconv.Itoa(d.r.count)
		d.r.tie(p, m, open)
	}
	return g
}

// answers tells a user message that brings what came of an answer.
func (d *dialog) answers(msgs []message, i int) bool {
	if i == 0 || role(&msgs[i-1]) != "assistant" || msgs[i-1].Demo.V {
		return false
	}
	return role(&msgs[i]) == "user"
}

// role is the role of a message; items of the Responses API have none.
func role(m *message) string {
	switch {
	case m.Role.V != "":
		return m.Role.V
	case m.Object.V == "response":
		return "assistant"
	case m.Type.V == "function_call_output":
		return "tool"
	}
	return ""
}

// sign is what of a message is sent, in a form of no meaning but to compare.
func sign(m *message) string {
	var b strings.Builder
	b.WriteString(role(m))
	for _, p := range parts(m.Content) {
		b.WriteString("\x00" + p.Text.V + p.Image.URL.V)
	}
	for _, l := range [][]jsontext.Value{m.Calls.V, m.CallIDs.V, m.Thinking.V} {
		for _, raw := range l {
			b.WriteString("\x01" + string(raw))
		}
	}
	b.WriteString("\x02" + m.CallID.V + m.ItemID.V + string(m.ItemText))
	return b.String()
}

// pieces are the parts of a message as they are sent.
func (r *run) pieces(m *message, result bool) []*piece {
	var out []*piece
	add := func(kind rollout.ItemKind, role rollout.Role, s string) *piece {
		it := rollout.Item{Kind: kind, Role: role, Origin: rollout.Logged, Request: -1, Text: r.b.Text(s)}
		out = append(out, &piece{Item: it, Index: -1})
		return out[len(out)-1]
	}
	kind, as := kindOf(m, result)
	for _, raw := range m.Thinking.V {
		if s := thought(raw); s != "" {
			add(rollout.Reasoning, rollout.RoleAssistant, s)
		}
	}
	for _, p := range parts(m.Content) {
		switch {
		case p.Image.URL.V != "":
			out = append(out, r.image(p.Image.URL.V, as))
		case p.Text.V != "" || kind == rollout.ToolResult:
			if p := add(kind, as, p.Text.V); m.Demo.V || m.Kind.V == "demonstration" {
				p.Label = "demonstration"
			}
		}
	}
	for _, t := range calls(m) {
		p := add(rollout.ToolCall, rollout.RoleAssistant, argsText(t.Function.Args))
		p.Tool, p.CallID = t.Function.Name.V, t.ID.V
	}
	if role(m) == "tool" && m.ItemText != nil {
		add(rollout.ToolResult, rollout.RoleTool, words(m.ItemText))
	}
	return out
}

func kindOf(m *message, result bool) (rollout.ItemKind, rollout.Role) {
	switch role(m) {
	case "system":
		return rollout.SystemPrompt, rollout.RoleSystem
	case "developer":
		return rollout.SystemPrompt, rollout.RoleDeveloper
	case "assistant":
		return rollout.AssistantText, rollout.RoleAssistant
	case "tool":
		return rollout.ToolResult, rollout.RoleTool
	}
	switch {
	case m.Demo.V || m.Kind.V == "demonstration":
		return rollout.ProjectContext, rollout.RoleUser
	case m.Extra.V.Interrupt.V != "":
		return rollout.Reminder, rollout.RoleUser
	case result:
		return rollout.ToolResult, rollout.RoleUser
	}
	return rollout.UserText, rollout.RoleUser
}

// calls are the calls of an answer, in either form of the API.
func calls(m *message) []toolCall {
	var out []toolCall
	for _, raw := range m.Calls.V {
		var t toolCall
		if logfile.Unmarshal(raw, &t) == nil {
			out = append(out, t)
		}
	}
	for _, it := range items(m) {
		if it.Type.V == "function_call" {
			t := toolCall{ID: it.CallID}
			t.Function.Name, t.Function.Args = it.Name, it.Args
			out = append(out, t)
		}
	}
	return out
}

func thought(raw jsontext.Value) string {
	var t struct {
		Thinking text `json:"thinking"`
	}
	if logfile.Unmarshal(raw, &t) != nil {
		return ""
	}
	return t.Thinking.V
}

func (r *run) image(url string, as rollout.Role) *piece {
	it := rollout.Item{Kind: rollout.Image, Role: as, Origin: rollout.Logged, Request: -1, Text: r.b.OpaqueText(url)}
	if n, ok := images.Tokens(r.model, url); ok {
		it.Tokens = &n
	}
	return &piece{Item: it, Index: -1}
}
