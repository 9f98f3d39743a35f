package apilog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Members under which a span's messages are handed to the parser.
const (
	spanSystem   = "system"
	spanTools    = "tools"
	spanMessages = "messages"
)

// messageEvents are the events that carry one message each, with its role.
var messageEvents = map[string]string{
	"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
	"gen_ai.tool.message": "tool", "gen_ai.choice": "assistant",
}

// Attributes that messages from events are gathered in.
const (
	saidInput  = "fclog.said.input"
	saidOutput = "fclog.said.output"
)

// mergeEvent puts what an event says beside the attributes of its span.
func mergeEvent(a members, e otlpEvent) {
	attributes := plain(e.Attributes)
	name := first(e.Name, e.EventName)
	role, ok := messageEvents[name]
	if !ok {
		for key, v := range attributes {
			if strings.HasPrefix(key, "gen_ai.") && !a.has(key) {
				a[key] = v
			}
		}
		return
	}
	into := saidInput
	if name == "gen_ai.choice" {
		into = saidOutput
	}
	list := decode[[]jsontext.Value](a[into])
	raw, err := marshal(eventMessage(attributes, e.Body, role))
	if err != nil {
		return
	}
	list = append(list, raw)
	texts := make([]string, len(list))
	for i, m := range list {
		texts[i] = string(m)
	}
	a[into] = jsontext.Value("[" + strings.Join(texts, ",") + "]")
}

// eventMessage is the message of an event: its body, an attribute that holds it
// as JSON, or the attributes themselves.
func eventMessage(attributes members, body otlpValue, role string) members {
	m := decode[members](object(body.json()))
	if len(m) == 0 {
		m = decode[members](object(attributes.get("gen_ai.event.content")))
	}
	if len(m) == 0 {
		m = attributes
	}
	if inner := decode[members](object(m["message"])); len(inner) > 0 {
		m = inner
	}
	for _, name := range []string{"content", "tool_calls"} {
		if v := object(m[name]); len(v) > 0 {
			m[name] = v
		}
	}
	if !m.has("role") {
		m["role"] = jsontext.Value(`"` + role + `"`)
	}
	return m
}

// spanBody is the request of a span in one form for all dialects. cut says that
// an attribute was too long for its exporter.
func spanBody(a members) (raw jsontext.Value, cut bool) {
	parts := members{}
	take := func(name string, candidates ...jsontext.Value) {
		for _, v := range candidates {
			if len(v) == 0 || v.Kind() == 'n' {
				continue
			}
			if opened := object(v); opened.Kind() != '"' || name != spanMessages {
				parts[name] = opened
				return
			}
			if s := strings.TrimSpace(str(v)); strings.HasPrefix(s, "[") || strings.HasPrefix(s, "{") {
				cut = true
				continue
			}
			parts[name] = jsontext.Value(`[{"role":"user","content":` + string(v) + `}]`)
			return
		}
	}
	take(spanSystem, a["gen_ai.system_instructions"])
	take(spanTools, a["gen_ai.tool.definitions"], flat(a, "llm.tools."), flat(a, "llm.request.functions."))
	take(spanMessages, a["gen_ai.input.messages"], flat(a, "gen_ai.prompt."), flat(a, "llm.input_messages."), a[saidInput], a["gen_ai.prompt"])
	if parts[spanTools].Kind() == '"' || parts[spanSystem].Kind() == '"' && strings.HasPrefix(str(parts[spanSystem]), "[{") {
		cut = true
	}
	return body(parts), cut
}

func spanOutput(a members) (raw jsontext.Value, ok bool) {
	for _, v := range []jsontext.Value{a["gen_ai.output.messages"], flat(a, "gen_ai.completion."), flat(a, "llm.output_messages."), a[saidOutput], a["gen_ai.completion"]} {
		if len(v) == 0 || v.Kind() == 'n' {
			continue
		}
		if opened := object(v); opened.Kind() != '"' {
			return opened, true
		}
		return jsontext.Value(`[{"role":"assistant","content":` + string(v) + `}]`), true
	}
	return nil, false
}

// tree is attributes with dotted names put back into objects and lists.
type tree struct {
	value    jsontext.Value
	children map[string]*tree
}

// flat gathers the attributes below a prefix; nil without any.
func flat(a members, prefix string) jsontext.Value {
	root := &tree{children: map[string]*tree{}}
	for key, v := range a {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		at := root
		for name := range strings.SplitSeq(rest, ".") {
			if at.children[name] == nil {
				at.children[name] = &tree{children: map[string]*tree{}}
			}
			at = at.children[name]
		}
		at.value = v
	}
	if len(root.children) == 0 {
		return nil
	}
	return root.json()
}

func (t *tree) json() jsontext.Value {
	if len(t.children) == 0 {
		return t.value
	}
	names := make([]string, 0, len(t.children))
	numbered := true
	for name := range t.children {
		_, err := strconv.Atoi(name)
		numbered = numbered && err == nil
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		i, _ := strconv.Atoi(x)
		j, _ := strconv.Atoi(y)
		if numbered && i != j {
			return i - j
		}
		return strings.Compare(x, y)
	})
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = string(t.children[name].json())
		if !numbered {
			key, _ := jsontext.AppendQuote(nil, name)
			parts[i] = string(key) + ":" + parts[i]
		}
	}
	if numbered {
		return jsontext.Value("[" + strings.Join(parts, ",") + "]")
	}
	return jsontext.Value("{" + strings.Join(parts, ",") + "}")
}

// spanMessage is a message of any dialect.
type spanMessage struct {
	Role       logfile.Lenient[string]           `json:"role"`
	Parts      logfile.Lenient[[]jsontext.Value] `json:"parts"`
	Content    jsontext.Value                    `json:"content"`
	Contents   logfile.Lenient[[]jsontext.Value] `json:"contents"`
	ToolCalls  logfile.Lenient[[]jsontext.Value] `json:"tool_calls"`
	ToolCallID logfile.Lenient[string]           `json:"tool_call_id"`
	ID         logfile.Lenient[string]           `json:"id"`
	Name       logfile.Lenient[string]           `json:"name"`
	Message    jsontext.Value                    `json:"message"`
}

type spanPart struct {
	Type      logfile.Lenient[string] `json:"type"`
	Content   jsontext.Value          `json:"content"`
	Text      logfile.Lenient[string] `json:"text"`
	ID        logfile.Lenient[string] `json:"id"`
	Name      logfile.Lenient[string] `json:"name"`
	Arguments jsontext.Value          `json:"arguments"`
	Response  jsontext.Value          `json:"response"`
	Result    jsontext.Value          `json:"result"`
	Modality  logfile.Lenient[string] `json:"modality"`
	URI       logfile.Lenient[string] `json:"uri"`
	FileID    logfile.Lenient[string] `json:"file_id"`
}

type spanCall struct {
	ID        logfile.Lenient[string]   `json:"id"`
	Name      logfile.Lenient[string]   `json:"name"`
	Arguments jsontext.Value            `json:"arguments"`
	Function  logfile.Lenient[function] `json:"function"`
	Inner     jsontext.Value            `json:"tool_call"`
}

func (p *parser) spanPayload(raw jsontext.Value) payload {
	m := decode[members](raw)
	out := payload{}
	for _, tool := range decode[[]jsontext.Value](m[spanTools]) {
		p.spanTool(tool)
	}
	out.tools = p.take()
	p.spanParts(m[spanSystem], part{kind: rollout.SystemPrompt, role: rollout.RoleSystem})
	out.system = p.take()
	list := decode[[]jsontext.Value](m[spanMessages])
	leading := true
	for _, one := range list {
		leading = leading && spanRole(one) == rollout.RoleSystem
		p.spanMessage(one, leading)
		if leading {
			out.system = append(out.system, p.take()...)
			continue
		}
		out.conversation = append(out.conversation, p.take()...)
	}
	out.messages = int64(len(list))
	return out
}

func spanRole(raw jsontext.Value) rollout.Role {
	m := decode[spanMessage](raw)
	if m.Message.Kind() == '{' {
		return spanRole(m.Message)
	}
	return roleOf(m.Role.V)
}

// spanTool is a definition: an object, its JSON in a string, or OpenInference's
// wrapping of it.
func (p *parser) spanTool(raw jsontext.Value) {
	raw = object(raw)
	inner := decode[struct {
		Tool struct {
			Schema jsontext.Value `json:"json_schema"`
		} `json:"tool"`
	}](raw)
	if len(inner.Tool.Schema) > 0 {
		raw = object(inner.Tool.Schema)
	}
	p.tool(raw)
}

func (p *parser) spanParts(raw jsontext.Value, base part) {
	if raw.Kind() == '"' {
		p.text(base, str(raw))
	}
	for _, one := range decode[[]jsontext.Value](raw) {
		p.spanPart(one, base)
	}
}

func (p *parser) spanMessage(raw jsontext.Value, leading bool) {
	m := decode[spanMessage](raw)
	if m.Message.Kind() == '{' {
		p.spanMessage(m.Message, leading)
		return
	}
	base := part{role: roleOf(m.Role.V)}
	switch {
	case base.role == rollout.RoleTool:
		base.kind, base.callID, base.tool = rollout.ToolResult, first(m.ToolCallID.V, m.ID.V), m.Name.V
	case base.role == rollout.RoleSystem && leading:
		base.kind = rollout.SystemPrompt
	case base.role == rollout.RoleSystem:
		base.kind = rollout.Reminder
	}
	for _, one := range m.Parts.V {
		p.spanPart(one, base)
	}
	for _, one := range m.Contents.V {
		inner := decode[struct {
			Content jsontext.Value `json:"message_content"`
		}](one)
		p.block(inner.Content, base)
	}
	p.content(blocksInString(m.Content), base)
	for _, c := range m.ToolCalls.V {
		p.spanCall(c)
	}
}

// blocksInString opens content blocks that were written as a string.
func blocksInString(raw jsontext.Value) jsontext.Value {
	if s := strings.TrimSpace(str(raw)); strings.HasPrefix(s, "[{") && strings.Contains(s, `"type"`) {
		return object(raw)
	}
	return raw
}

func (p *parser) spanCall(raw jsontext.Value) {
	c := decode[spanCall](raw)
	if c.Inner.Kind() == '{' {
		p.spanCall(c.Inner)
		return
	}
	args := c.Arguments
	if len(args) == 0 {
		args = c.Function.V.Arguments
	}
	call := part{kind: rollout.ToolCall, role: rollout.RoleAssistant, callID: c.ID.V, tool: first(c.Name.V, c.Function.V.Name.V)}
	if len(args) == 0 {
		p.add(call, "")
		return
	}
	p.add(call, arguments(args))
}

func (p *parser) spanPart(raw jsontext.Value, base part) {
	if raw.Kind() == '"' {
		p.text(base, str(raw))
		return
	}
	s := decode[spanPart](raw)
	switch s.Type.V {
	case "text", "":
		p.text(base, first(str(s.Content), s.Text.V))
	case "reasoning":
		p.add(part{kind: rollout.Reasoning, role: rollout.RoleAssistant}, str(s.Content))
	case "tool_call":
		p.spanCall(raw)
	case "tool_call_response":
		result := part{kind: rollout.ToolResult, role: rollout.RoleTool, callID: s.ID.V}
		response := s.Response
		if len(response) == 0 {
			response = s.Result
		}
		if response.Kind() == '"' || len(response) == 0 {
			p.add(result, str(response))
			return
		}
		p.add(result, compact(response))
	case "blob", "file", "uri":
		base.kind = rollout.Image
		if s.Modality.V != "" && s.Modality.V != "image" {
			base.kind, base.label = rollout.UserText, s.Modality.V
		}
		p.opaque(base, first(str(s.Content), s.URI.V, s.FileID.V, compact(raw)))
	default:
		p.block(raw, base)
	}
}

// spanReply reads the output messages of a span.
func (x *exchange) spanReply(p *parser) {
	list := decode[[]jsontext.Value](x.response)
	if x.response.Kind() == '{' {
		list = []jsontext.Value{x.response}
	}
	for _, one := range list {
		p.spanMessage(one, false)
	}
	for i, id := range p.out {
		pt := p.st.parts[id]
		if pt.role != rollout.RoleAssistant && pt.kind == rollout.UserText {
			pt.role, pt.kind = rollout.RoleAssistant, rollout.AssistantText
			p.out[i] = p.st.part(pt)
		}
	}
	x.outputs = p.take()
	x.answered = x.answered || !x.failed && (len(x.outputs) > 0 || x.usage != nil)
}
