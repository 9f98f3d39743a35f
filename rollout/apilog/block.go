package apilog

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// block is a content block of Anthropic Messages, Chat Completions or Responses.
// Their types do not clash, and gateways mix them.
type block struct {
	Type      logfile.Lenient[string] `json:"type"`
	Text      logfile.Lenient[string] `json:"text"`
	Refusal   logfile.Lenient[string] `json:"refusal"`
	Thinking  logfile.Lenient[string] `json:"thinking"`
	Signature logfile.Lenient[string] `json:"signature"`
	Data      logfile.Lenient[string] `json:"data"`
	ID        logfile.Lenient[string] `json:"id"`
	Name      logfile.Lenient[string] `json:"name"`
	Input     jsontext.Value          `json:"input"`
	ToolUseID logfile.Lenient[string] `json:"tool_use_id"`
	Content   jsontext.Value          `json:"content"`
	IsError   logfile.Lenient[bool]   `json:"is_error"`
	Source    logfile.Lenient[source] `json:"source"`
	ImageURL  jsontext.Value          `json:"image_url"`
	ToolName  logfile.Lenient[string] `json:"tool_name"`
	Encrypted logfile.Lenient[string] `json:"encrypted_content"`
}

// source is where an Anthropic image or document comes from.
type source struct {
	Type logfile.Lenient[string] `json:"type"`
	Data logfile.Lenient[string] `json:"data"`
	URL  logfile.Lenient[string] `json:"url"`
}

// content adds what a message's content holds: a string or blocks. base says
// under which role, and to which call it belongs.
func (p *parser) content(raw jsontext.Value, base part) {
	switch raw.Kind() {
	case '"':
		p.text(base, str(raw))
	case '[':
		for _, one := range decode[[]jsontext.Value](raw) {
			p.block(one, base)
		}
	case '{':
		p.block(raw, base)
	}
}

// text adds a text under a role, as a part of the call that base names, if any.
func (p *parser) text(base part, s string) {
	if base.kind == "" {
		base.kind = textKind(base.role, s)
	}
	p.add(base, s)
}

func (p *parser) block(raw jsontext.Value, base part) {
	if raw.Kind() == '"' {
		p.text(base, str(raw))
		return
	}
	b := decode[block](raw)
	switch t := b.Type.V; {
	case t == "text" || t == "input_text" || t == "output_text" || t == "summary_text" || t == "reasoning_text" || t == "" && b.Text.OK:
		p.textBlock(b, base)
	case t == "refusal":
		p.text(base, b.Refusal.V)
	case t == "thinking":
		p.thinking(b)
	case t == "redacted_thinking":
		p.opaque(part{kind: rollout.Reasoning, role: rollout.RoleAssistant, label: "encrypted"}, b.Data.V)
	case strings.HasSuffix(t, "tool_use"):
		p.add(part{kind: rollout.ToolCall, role: rollout.RoleAssistant, tool: b.Name.V, callID: b.ID.V}, compact(b.Input))
	case strings.HasSuffix(t, "tool_result"):
		p.result(b)
	case t == "image" || t == "image_url" || t == "input_image":
		p.image(raw, b, base)
	case t == "document":
		p.document(raw, b, base)
	case t == "tool_reference":
		base.label = t
		p.text(base, first(b.ToolName.V, compact(raw)))
	default:
		p.foreign(raw, t, base)
	}
}

func (p *parser) textBlock(b block, base part) {
	if b.Text.V == "" && b.Encrypted.V != "" {
		if base.kind == "" {
			base.kind = textKind(base.role, "")
		}
		p.opaque(base, b.Encrypted.V)
		return
	}
	p.text(base, b.Text.V)
}

// foreign keeps a block of a type that is not known, as its JSON.
func (p *parser) foreign(raw jsontext.Value, label string, base part) {
	base.label = label
	p.text(base, compact(raw))
}

// thinking is readable reasoning, or a signature alone.
func (p *parser) thinking(b block) {
	base := part{kind: rollout.Reasoning, role: rollout.RoleAssistant}
	if b.Thinking.V != "" {
		p.add(base, b.Thinking.V)
		return
	}
	base.label = "encrypted"
	p.opaque(base, b.Signature.V)
}

// result adds a tool result: its content is a string or blocks of their own.
func (p *parser) result(b block) {
	base := part{kind: rollout.ToolResult, role: rollout.RoleTool, callID: b.ToolUseID.V}
	if b.IsError.OK {
		base.outcome = succeeded
		if b.IsError.V {
			base.outcome = failed
		}
	}
	p.resultContent(b.Content, base)
}

// resultContent adds the content of a result; one without any is an empty part,
// so that the call has its answer.
func (p *parser) resultContent(raw jsontext.Value, base part) {
	before := len(p.out)
	p.content(raw, base)
	if len(p.out) == before {
		p.add(base, "")
	}
}

func (p *parser) image(raw jsontext.Value, b block, base part) {
	img := part{kind: rollout.Image, role: base.role, callID: base.callID}
	link := decode[struct {
		URL logfile.Lenient[string] `json:"url"`
	}](b.ImageURL)
	data := first(b.Source.V.Data.V, b.Source.V.URL.V, str(b.ImageURL), link.URL.V)
	if data == "" {
		data = compact(raw)
	}
	p.opaque(img, data)
}

// document is a file beside the text: plain text is read, other data has no
// words.
func (p *parser) document(raw jsontext.Value, b block, base part) {
	base.label = "document"
	switch {
	case b.Source.V.Type.V == "text":
		p.text(base, b.Source.V.Data.V)
	case b.Source.V.Type.V == "content":
		inner := decode[struct {
			Source struct {
				Content jsontext.Value `json:"content"`
			} `json:"source"`
		}](raw)
		p.content(inner.Source.Content, base)
	default:
		if base.kind == "" {
			base.kind = rollout.UserText
		}
		p.opaque(base, first(b.Source.V.Data.V, b.Source.V.URL.V, compact(raw)))
	}
}
