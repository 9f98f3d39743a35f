package codex

import (
	"fmt"
	"github.com/fclog/fclog/rollout/logfile"
	"strings"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
)

// parts splits a response item into what is sent separately.
func (b *builder) parts(it *item) []part {
	switch it.Type.V {
	case "message":
		return b.messageParts(it)
	case "reasoning":
		return b.reasoningParts(it)
	case "function_call_output", "custom_tool_call_output":
		return b.outputParts(it)
	case "tool_search_output", "additional_tools":
		b.saw.tools = true
		b.saw.allTools = b.saw.allTools || it.Type.V == "additional_tools"
		return []part{{text: it.whole, item: rollout.Item{Kind: rollout.ToolDefinitions, Role: rollout.RoleDeveloper, Label: it.Type.V, Origin: rollout.Logged}}}
	case "agent_message":
		return []part{{text: it.whole, item: rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Label: "agent_message", Origin: rollout.Logged}}}
	case "compaction", "compaction_summary", "context_compaction":
		b.saw.opaqueSummary = true
		return []part{{sealed: it.sealed.or(" "), item: rollout.Item{Kind: rollout.Summary, Role: rollout.RoleAssistant, Label: "compaction", Origin: rollout.Logged}}}
	case "configuration_update":
		return []part{{text: it.whole, item: rollout.Item{Kind: rollout.Reminder, Role: rollout.RoleDeveloper, Label: it.Type.V, Origin: rollout.Logged}}}
	}
	return []part{b.callPart(it)}
}

func (b *builder) messageParts(it *item) []part {
	var out []part
	for i, c := range it.Content.V {
		cl := classifyPart(it, i)
		p := part{text: c.V.Text.V, item: rollout.Item{Kind: cl.kind, Role: roleOf(it.Role.V), Label: cl.label, Origin: rollout.Logged}}
		switch {
		case c.V.ImageURL.OK:
			p = b.imagePart(c.V, roleOf(it.Role.V), "")
		case c.V.Encrypted.V != "":
			p.sealed = sealedText(c.V.Encrypted.V)
		case p.text == "":
			continue
		}
		if cl.kind == rollout.SystemPrompt {
			b.systemPart(cl)
		}
		out = append(out, p)
	}
	return out
}

// systemPart makes room for a base prompt that is sent as a message: it stands
// in the metadata as well and must count once.
func (b *builder) systemPart(cl class) {
	if cl.label == "model_switch" || b.base == nil {
		return
	}
	b.chain.Remove(b.base)
	b.baseSent = true
}

func (b *builder) imagePart(c content, role rollout.Role, tool string) part {
	p := part{sealed: sealedText(first(c.ImageURL.V, " ")), item: rollout.Item{Kind: rollout.Image, Role: role, Tool: tool, Origin: rollout.Logged}}
	tokens, ok := images.Tokens(b.model, c.ImageURL.V)
	if !ok {
		tokens = images.DefaultTokens
	}
	p.item.Tokens = &tokens
	return p
}

// reasoningParts gives the readable summary and the encrypted text, which go
// back separately. The encrypted text has the size the response's usage gives.
func (b *builder) reasoningParts(it *item) []part {
	var out []part
	add := func(parts []logfile.Lenient[content], label string) {
		for _, c := range parts {
			if c.V.Text.V != "" {
				out = append(out, part{text: c.V.Text.V, item: rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Label: label, Origin: rollout.Logged}})
			}
		}
	}
	add(it.Summary.V, "summary")
	if it.sealed.bytes > 0 && b.summariesFree() {
		for i := range out {
			free := int64(0)
			out[i].item.Tokens = &free
		}
	}
	add(it.Content.V, "")
	if it.sealed.bytes > 0 {
		b.saw.encrypted = true
		out = append(out, part{sealed: it.sealed, item: rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Label: "encrypted", Origin: rollout.Logged, Tokens: b.reasoningTokens()}})
	}
	return out
}

// summariesFree says whether the readable summary beside encrypted reasoning
// costs nothing when it goes back. OpenAI's recorded input grows by the reasoning
// tokens alone: over some 400 requests of 0.104–0.145 the growth is explained to
// within two tokens without the summaries, and not with them. Other providers
// are not known.
func (b *builder) summariesFree() bool {
	return b.provider == "" || b.provider == "openai"
}

func (b *builder) reasoningTokens() *int64 {
	p := b.byPlan[b.request]
	if p == nil {
		return nil
	}
	k := b.reasoned[b.request]
	b.reasoned[b.request]++
	if k >= len(p.reasoning) {
		return nil
	}
	return &p.reasoning[k]
}

func (b *builder) callPart(it *item) part {
	p := part{text: it.call, item: rollout.Item{Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: toolName(it), Label: it.Namespace.V, Origin: rollout.Logged}}
	switch it.Type.V {
	case "custom_tool_call":
		if p.item.Tool == "exec" {
			p.item.Label = parseScript(p.text).label()
		}
	case "image_generation_call":
		img := b.imagePart(content{ImageURL: it.Result}, rollout.RoleAssistant, p.item.Tool)
		p.sealed, p.item.Tokens = img.sealed, img.item.Tokens
	case "web_search_call":
		b.saw.webSearch = true
	}
	return p
}

func toolName(it *item) string {
	switch it.Type.V {
	case "local_shell_call":
		return "local_shell"
	case "web_search_call":
		return "web_search"
	case "tool_search_call":
		return "tool_search"
	case "image_generation_call":
		return "image_generation"
	}
	return first(it.Name.V, "unknown")
}

// outputParts gives the texts of an output as they were sent: the JSON form of
// old shells re-rendered where Codex did so, tools that do not cut their own
// output cut to the size with which it enters the history.
func (b *builder) outputParts(it *item) []part {
	tool, class, label := b.answeredTool(it)
	budget := b.historyBytes
	var out []part
	for _, c := range it.outputs {
		p := part{text: c.Text.V, item: rollout.Item{Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: tool, Label: label, Origin: rollout.Logged}}
		switch {
		case c.ImageURL.OK:
			out = append(out, b.imagePart(c, rollout.RoleTool, tool))
			continue
		case c.Encrypted.V != "":
			p.sealed = sealedText(c.Encrypted.V)
		case p.text == "" && it.listed:
			continue
		default:
			b.recompute(&p, class, tool, &budget)
		}
		out = append(out, p)
	}
	return out
}

func (b *builder) recompute(p *part, class rollout.ToolClass, tool string, budget *int64) {
	if cut, did := b.cutJSONForm(p.text); did {
		p.text, p.item.Origin = cut, rollout.Recomputed
		return
	}
	if s, ok := parseShellJSON(p.text); ok && b.rerendered() && (class == rollout.ShellTool || class == rollout.EditTool) {
		p.text, p.item.Origin = s.plainForm(), rollout.Recomputed
	}
	if truncatesItself(class, tool) {
		return
	}
	if cut, did := cutMiddle(p.text, max(*budget, 0)); did {
		p.text, p.item.Origin = cut, rollout.Recomputed
	}
	*budget -= int64(len(p.text))
}

// oldLimit is what an output could have in the history up to 0.58, in bytes.
const oldLimit = 10 << 10

// cutJSONForm repeats a cut of 0.57 and 0.58: the JSON form is one long line, of
// which a limit made for many lines left the first half of its budget and a
// mark. What was left is no JSON any more and went out as it was.
func (b *builder) cutJSONForm(text string) (string, bool) {
	minor, _ := b.f.minorVersion()
	if len(text) <= oldLimit || minor != 57 && minor != 58 {
		return text, false
	}
	if _, ok := parseShellJSON(text); !ok {
		return text, false
	}
	head := strings.ToValidUTF8(text[:oldLimit/2], "")
	return fmt.Sprintf("%s\n[... output truncated to fit %d bytes ...]\n\n", head, oldLimit), true
}

// rerendered says whether the JSON form of shell outputs went out as plain
// text: it did while apply_patch was a free-form tool.
func (b *builder) rerendered() bool {
	if b.f.patchTool {
		return true
	}
	return strings.HasPrefix(b.model, "gpt-5") && strings.Contains(b.model, "codex")
}

// answeredTool names the tool whose call an output answers.
func (b *builder) answeredTool(it *item) (tool string, class rollout.ToolClass, label string) {
	c, ok := b.calls[it.CallID.V]
	if !ok {
		return it.Name.V, rollout.OtherTool, ""
	}
	call := b.b.Session.Calls[c]
	if call.ArgsItem >= 0 {
		label = b.b.Session.Items[call.ArgsItem].Label
	}
	return call.Tool, call.Class, label
}
