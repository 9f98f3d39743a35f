package claudecode

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// makeItems makes the items of a line that is not part of a response, once: one
// for each part that was sent.
func (rb *rebuild) makeItems(l *line) {
	if l.items != nil {
		return
	}
	l.items = rb.blockItems(l, l.blocks)
}

func (rb *rebuild) blockItems(l *line, blocks []block) []int {
	items := []int{}
	for _, b := range blocks {
		if b.typ != "tool_result" {
			rb.noteEnded(b.text)
			items = append(items, rb.b.Item(rb.inputItem(l, b)))
			continue
		}
		first := len(items)
		for _, part := range b.parts {
			items = append(items, rb.b.Item(rb.resultItem(b, part)))
		}
		rb.linkResult(l, b, items[first:])
	}
	return items
}

// inputItem is a part of a user message or attachment.
func (rb *rebuild) inputItem(l *line, b block) rollout.Item {
	it := rollout.Item{Role: inputRole(l), Origin: rollout.Logged, Request: -1}
	switch {
	case b.typ == "image":
		it.Kind = rollout.Image
	case b.typ == "document":
		it.Kind, it.Label = rollout.UserText, "document"
	case l.typ == "assistant":
		it.Kind, it.Label = rollout.AssistantText, "synthetic"
	default:
		it.Kind, it.Label = rb.textKind(l, b.text)
	}
	rb.setText(&it, b)
	return it
}

func inputRole(l *line) rollout.Role {
	switch {
	case l.typ == "assistant":
		return rollout.RoleAssistant
	case l.role == "system":
		return rollout.RoleSystem
	}
	return rollout.RoleUser
}

// textKind sorts a text that was sent by its line and its first words.
func (rb *rebuild) textKind(l *line, text string) (rollout.ItemKind, string) {
	switch {
	case l.summary:
		return rollout.Summary, ""
	case l.typ == "attachment":
		return attachmentKind(l.label, text)
	case l.sub == "local_command":
		return rollout.UserText, "local-command"
	case l.meta:
		return rollout.Reminder, "meta"
	}
	return plainKind(text)
}

func attachmentKind(typ, text string) (rollout.ItemKind, string) {
	switch {
	case contextTypes[typ]:
		return rollout.ProjectContext, typ
	case typ == "queued_command" && !strings.HasPrefix(text, "<task-notification>") && !strings.HasPrefix(text, "<system-reminder>"):
		return rollout.UserText, typ
	}
	return rollout.Reminder, typ
}

// plainKind sorts the text of a user message by how it starts.
func plainKind(text string) (rollout.ItemKind, string) {
	switch {
	case strings.HasPrefix(text, "<system-reminder>") && strings.HasSuffix(strings.TrimSpace(text), "</system-reminder>"):
		return rollout.Reminder, ""
	case strings.HasPrefix(text, "<task-notification>"):
		return rollout.Reminder, "task-notification"
	case strings.HasPrefix(text, "<local-command-"), strings.HasPrefix(text, "<command-name>"), strings.HasPrefix(text, "<bash-"):
		return rollout.UserText, "local-command"
	case strings.HasPrefix(text, "[Request interrupted by user"):
		return rollout.Reminder, "interrupted"
	case strings.Contains(text, "<system-reminder>"):
		return rollout.UserText, "with-reminder"
	}
	return rollout.UserText, ""
}

// resultItem is one part of a tool result.
func (rb *rebuild) resultItem(b, part block) rollout.Item {
	it := rollout.Item{Kind: rollout.ToolResult, Role: rollout.RoleUser, CallID: b.id, Origin: rollout.Logged, Request: -1}
	if call, ok := rb.calls[b.id]; ok {
		it.Tool = rb.s.Calls[call].Tool
	}
	switch {
	case part.typ == "image":
		it.Kind = rollout.Image
	case part.typ == "other":
		it.Label = part.name
	case strings.Contains(part.text, "<system-reminder>"):
		it.Label = "with-reminder"
	}
	rb.setText(&it, part)
	return it
}

func (rb *rebuild) setText(it *rollout.Item, b block) {
	if b.opaque == nil {
		it.Text = rb.b.Text(b.text)
		return
	}
	it.Text = rb.b.OpaqueSum(b.opaque.hash, b.opaque.chars, b.opaque.bytes)
	it.Tokens = b.opaque.tokens
}

// makeResponseItems makes the items of a response and its calls, once. In a
// damaged log a message can be carried before its response is met.
func (rb *rebuild) makeResponseItems(r *response) {
	if r.items != nil {
		rb.ownItems(r)
		return
	}
	r.items = []int{}
	unread := rb.unreadThinking(r)
	for _, b := range r.blocks {
		it := rollout.Item{Role: rollout.RoleAssistant, Origin: rollout.Logged, Request: r.request}
		switch b.typ {
		case "text":
			it.Kind = rollout.AssistantText
		case "thinking":
			it.Kind = rollout.Reasoning
		case "tool_use", "server_tool_use":
			it.Kind, it.Tool, it.CallID = rollout.ToolCall, b.name, b.id
		case "server_tool_result":
			it.Kind, it.CallID, it.Label = rollout.ToolResult, b.id, "server"
		case "image":
			it.Kind = rollout.Image
		default:
			it.Kind, it.Label = rollout.AssistantText, b.name
		}
		rb.setText(&it, b)
		if it.Kind == rollout.Reasoning && b.opaque != nil {
			it.Tokens, unread = unread, zeroIfKnown(unread)
		}
		item := rb.b.Item(it)
		r.items = append(r.items, item)
		if it.Kind == rollout.ToolCall {
			rb.makeCall(r, b, item)
		}
	}
}

// ownItems ties items that were made early to the request that produced them.
func (rb *rebuild) ownItems(r *response) {
	for _, item := range r.items {
		rb.s.Items[item].Request = r.request
		if call, ok := rb.calls[rb.s.Items[item].CallID]; ok && rb.s.Calls[call].ArgsItem == item {
			rb.s.Calls[call].Request = r.request
		}
	}
}

// unreadThinking is the exact size of the thinking whose text is not logged, nil
// where the log does not give it. Several such blocks share one figure: the
// first takes it.
func (rb *rebuild) unreadThinking(r *response) *int64 {
	if r.usage == nil {
		return nil
	}
	for _, b := range r.blocks {
		if b.typ == "thinking" && b.opaque == nil {
			return nil
		}
	}
	return r.usage.convert().Reasoning
}

func zeroIfKnown(v *int64) *int64 {
	if v == nil {
		return nil
	}
	return new(int64)
}
