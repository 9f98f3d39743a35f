package pi

import (
	"strconv"
	"strings"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// What pi wraps around summaries, and says for results that never came.
const (
	summaryOpening = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	summaryClosing = "\n</summary>"
	branchOpening  = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	branchClosing  = "</summary>"
	noResult       = "No result provided"
	imageOnly      = "(see attached image)"
)

// message acts on a message entry.
func (r *reader) message(br *branch, i int, e *entry) {
	m := &e.Message.V
	switch m.Role.V {
	case "assistant":
		r.assistant(br, i, e, m)
	case "toolResult":
		r.result(br, i, e, m)
	case "user":
		r.user(br, i, rollout.UserText, "", m.Content)
	case "custom", "hookMessage":
		r.custom(br, i, m.CustomType.V, m.Content)
	case "bashExecution":
		r.bash(br, i, m)
	default:
		r.fold("unknown-record", e.line, "message role "+plain(m.Role.V)+" is not known; it was counted only", "role", m.Role.V)
	}
}

// input notes that something reached the model beside results: open calls get
// their stand-in results, and an agent that had stopped starts a run.
func (r *reader) input(br *branch) {
	r.settle(br)
	br.failed = 0
	if r.stopped {
		r.run, r.stopped = r.run+1, false
	}
}

func (r *reader) user(br *branch, i int, kind rollout.ItemKind, label string, content []byte) {
	r.input(br)
	p := &piece{entry: i, messages: 1}
	for _, b := range blocks(content) {
		switch b.Type.V {
		case "text":
			if strings.TrimSpace(b.Text.V) != "" {
				p.items = append(p.items, r.text(kind, rollout.RoleUser, label, b.Text.V, rollout.Logged))
			}
		case "image":
			p.items = append(p.items, r.image(rollout.RoleUser, "", "", b.Data.V))
		}
	}
	if len(p.items) > 0 {
		r.append(br, p)
	}
}

// custom is text of an extension, sent on the user's side.
func (r *reader) custom(br *branch, i int, label string, content []byte) {
	r.user(br, i, rollout.Reminder, label, content)
}

// bash is a shell command of the user's own, told to the model as text unless
// the user kept it out.
func (r *reader) bash(br *branch, i int, m *message) {
	if m.Excluded.V {
		return
	}
	r.input(br)
	item := r.text(rollout.UserText, rollout.RoleUser, "bash", bashText(m), rollout.Recomputed)
	r.append(br, &piece{entry: i, messages: 1, items: []int{item}})
}

// bashText is how pi tells a user's command to the model.
func bashText(m *message) string {
	text := "Ran `" + m.Command.V + "`\n"
	if m.Output.V == "" {
		text += "(no output)"
	} else {
		text += "```\n" + m.Output.V + "\n```"
	}
	switch {
	case m.Cancelled.V:
		text += "\n\n(command cancelled)"
	case m.ExitCode.OK && m.ExitCode.V != 0:
		text += "\n\nCommand exited with code " + strconv.FormatInt(m.ExitCode.V, 10)
	}
	if m.Truncated.V && m.FullPath.V != "" {
		text += "\n\n[Output truncated. Full output: " + m.FullPath.V + "]"
	}
	return text
}

// summary is a piece that stands in for conversation elsewhere.
func (r *reader) summary(br *branch, i int, e *entry, text string) *piece {
	r.input(br)
	item := r.text(rollout.Summary, rollout.RoleUser, e.Type.V, text, rollout.Recomputed)
	p := &piece{entry: i, messages: 1, items: []int{item}}
	r.append(br, p)
	if !e.FromHook.V {
		r.b.Session.OtherBilled = append(r.b.Session.OtherBilled, rollout.OtherBilled{Kind: e.Type.V, Time: e.time(), Line: e.line})
	}
	return p
}

// compaction cuts the path. It needs no input and starts no run.
func (r *reader) compaction(br *branch, i int, e *entry) {
	r.settle(br)
	stopped, run := r.stopped, r.run
	p := r.summary(br, i, e, summaryOpening+e.Summary.V+summaryClosing)
	r.stopped, r.run = stopped, run
	p.compaction, p.kept = true, r.firstKept(i, e)
	r.place(br, shown(br.pieces))
}

// firstKept is the entry a compaction keeps the path from; -1 none. Version 1
// counts lines, the header being 0.
func (r *reader) firstKept(i int, e *entry) int {
	for at := e.parent; at >= 0; at = r.entries[at].parent {
		switch {
		case e.FirstKept.OK && r.entries[at].ID.V == e.FirstKept.V:
			return at
		case e.FirstKept.OK || !e.KeptIndex.OK:
		case int64(r.entries[at].line-1) <= e.KeptIndex.V:
			return at
		}
	}
	return -1
}

// text makes an item of a readable text.
func (r *reader) text(kind rollout.ItemKind, role rollout.Role, label, text string, origin rollout.Origin) int {
	return r.b.Item(rollout.Item{Kind: kind, Role: role, Label: label, Origin: origin, Request: -1, Text: r.b.Text(text)})
}

func (r *reader) image(role rollout.Role, tool, callID, data string) int {
	tokens, ok := images.Tokens(r.model, data)
	if !ok {
		tokens = images.DefaultTokens
	}
	return r.b.Item(rollout.Item{
		Kind: rollout.Image, Role: role, Tool: tool, CallID: callID, Origin: rollout.Logged, Request: -1,
		Text: r.b.OpaqueText(data), Tokens: &tokens,
	})
}

// result is the result of a call; its text parts go out as one.
func (r *reader) result(br *branch, i int, e *entry, m *message) {
	parts := blocks(m.Content)
	text := joined(parts)
	p := &piece{entry: i, messages: 1}
	var pictures []int
	for _, b := range parts {
		if b.Type.V == "image" {
			pictures = append(pictures, r.image(rollout.RoleTool, m.ToolName.V, m.CallID.V, b.Data.V))
		}
	}
	origin := rollout.Logged
	if text == "" && len(pictures) > 0 {
		text, origin = imageOnly, rollout.Recomputed
	}
	item := r.b.Item(rollout.Item{
		Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: m.ToolName.V, CallID: m.CallID.V,
		Origin: origin, Request: -1, Text: r.b.Text(text),
	})
	p.items = append([]int{item}, pictures...)
	r.answer(br, m.CallID.V)
	r.append(br, p)
	r.outcome(e, m, item, text)
}

// answer takes a call off those that wait for a result.
func (r *reader) answer(br *branch, id string) {
	for i := len(br.pieces) - 1; i >= 0; i-- {
		p := br.pieces[i]
		for k, c := range p.calls {
			if c.id == id {
				p.calls = append(p.calls[:k:k], p.calls[k+1:]...)
				return
			}
		}
		if p.model != "" {
			return
		}
	}
}

// settle deals with calls that never got a result before the conversation goes
// on: pi sends a stand-in for each; version 1 leaves the calls out.
func (r *reader) settle(br *branch) {
	for i := len(br.pieces) - 1; i >= 0; i-- {
		p := br.pieces[i]
		if p.model == "" {
			continue
		}
		open := p.calls
		p.calls = nil
		r.stopped = r.stopped || len(open) > 0
		if len(open) > 0 && r.first() {
			r.drop(br, p, func(item int) bool { return waits(open, item) })
			return
		}
		for _, c := range open {
			item := r.b.Item(rollout.Item{
				Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: c.tool, CallID: c.id,
				Origin: rollout.Recomputed, Request: -1, Text: r.b.Text(noResult),
			})
			r.append(br, &piece{entry: p.entry, messages: 1, items: []int{item}})
		}
		return
	}
}

func waits(open []openCall, item int) bool {
	for _, c := range open {
		if c.item == item {
			return true
		}
	}
	return false
}

// first says whether the file is of version 1.
func (r *reader) first() bool { return r.header != nil && !r.header.Version.OK }

// encrypted is what of a thinking part goes back without being readable: the
// encrypted content of an OpenAI item, redacted thinking, or the signature where
// nothing else is left of the thinking.
func encrypted(b block) string {
	if strings.HasPrefix(b.Signature.V, "{") {
		var item struct {
			Content str `json:"encrypted_content"`
		}
		if logfile.Unmarshal([]byte(b.Signature.V), &item) == nil {
			return item.Content.V
		}
	}
	if b.Redacted.V || b.Thinking.V == "" {
		return b.Signature.V
	}
	return ""
}
