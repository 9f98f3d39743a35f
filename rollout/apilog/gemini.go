package apilog

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// geminiBody is a body of generateContent. Names also come in snake case.
type geminiBody struct {
	Model    logfile.Lenient[string]           `json:"model"`
	Contents logfile.Lenient[[]jsontext.Value] `json:"contents"`
	System   jsontext.Value                    `json:"systemInstruction"`
	Snake    jsontext.Value                    `json:"system_instruction"`
	Tools    jsontext.Value                    `json:"tools"`
	Session  logfile.Lenient[string]           `json:"session_id"`
	Config   logfile.Lenient[geminiConfig]     `json:"generationConfig"`
}

type geminiConfig struct {
	MaxTokens logfile.Lenient[int64] `json:"maxOutputTokens"`
}

type geminiContent struct {
	Role  logfile.Lenient[string]           `json:"role"`
	Parts logfile.Lenient[[]jsontext.Value] `json:"parts"`
}

type geminiPart struct {
	Text     logfile.Lenient[string]         `json:"text"`
	Thought  logfile.Lenient[bool]           `json:"thought"`
	Call     logfile.Lenient[geminiFunction] `json:"functionCall"`
	Response logfile.Lenient[geminiFunction] `json:"functionResponse"`
	Inline   logfile.Lenient[geminiData]     `json:"inlineData"`
	File     logfile.Lenient[geminiData]     `json:"fileData"`
}

type geminiFunction struct {
	ID       logfile.Lenient[string] `json:"id"`
	Name     logfile.Lenient[string] `json:"name"`
	Args     jsontext.Value          `json:"args"`
	Response jsontext.Value          `json:"response"`
	Parts    jsontext.Value          `json:"parts"`
}

type geminiData struct {
	MIME logfile.Lenient[string] `json:"mimeType"`
	Data logfile.Lenient[string] `json:"data"`
	URI  logfile.Lenient[string] `json:"fileUri"`
}

func (p *parser) geminiPayload(raw jsontext.Value) payload {
	b := decode[geminiBody](raw)
	p.model = b.Model.V
	out := payload{model: b.Model.V, tools: p.tools(b.Tools), messages: int64(len(b.Contents.V)), session: b.Session.V}
	if b.Config.V.MaxTokens.OK {
		out.maxTokens = &b.Config.V.MaxTokens.V
	}
	system := b.System
	if len(system) == 0 {
		system = b.Snake
	}
	out.system = p.geminiSystem(system)
	p.calls = &unnamedCalls{}
	for _, c := range b.Contents.V {
		p.geminiContent(c)
	}
	out.conversation = p.take()
	return out
}

func (p *parser) geminiSystem(raw jsontext.Value) []int32 {
	base := part{kind: rollout.SystemPrompt, role: rollout.RoleSystem}
	if raw.Kind() == '"' {
		p.add(base, str(raw))
	}
	for _, one := range decode[geminiContent](raw).Parts.V {
		p.add(base, decode[geminiPart](one).Text.V)
	}
	return p.take()
}

func (p *parser) geminiContent(raw jsontext.Value) {
	c := decode[geminiContent](raw)
	for _, one := range c.Parts.V {
		p.geminiPart(one, roleOf(c.Role.V))
	}
}

func (p *parser) geminiPart(raw jsontext.Value, role rollout.Role) {
	g := decode[geminiPart](raw)
	switch {
	case g.Call.OK:
		f := g.Call.V
		args := f.Args
		if len(args) == 0 {
			args = jsontext.Value("{}")
		}
		call := part{kind: rollout.ToolCall, role: rollout.RoleAssistant, tool: f.Name.V, callID: f.ID.V}
		call.callID = p.calls.called(call.callID, call.tool, compact(args))
		p.add(call, compact(args))
	case g.Response.OK:
		p.geminiResult(g.Response.V)
	case g.Inline.OK:
		p.geminiBlob(raw, g.Inline.V, part{role: role})
	case g.File.OK:
		p.geminiBlob(raw, g.File.V, part{role: role})
	case g.Text.OK && g.Thought.V:
		p.add(part{kind: rollout.Reasoning, role: rollout.RoleAssistant}, g.Text.V)
	case g.Text.OK:
		p.text(part{role: role}, g.Text.V)
	default:
		p.geminiForeign(raw, role)
	}
}

// geminiForeign keeps a part of a type that is not known, as its JSON; a bare
// signature of the reasoning is no content.
func (p *parser) geminiForeign(raw jsontext.Value, role rollout.Role) {
	members := decode[map[string]jsontext.Value](raw)
	delete(members, "thoughtSignature")
	delete(members, "thought")
	if len(members) > 0 {
		p.foreign(raw, "part", part{role: role})
	}
}

// geminiResult is the response of a function: its output or error where that is
// a text, else the whole object.
func (p *parser) geminiResult(f geminiFunction) {
	base := part{kind: rollout.ToolResult, role: rollout.RoleTool, tool: f.Name.V, callID: p.calls.answered(f.ID.V, f.Name.V)}
	r := decode[struct {
		Output jsontext.Value `json:"output"`
		Error  jsontext.Value `json:"error"`
	}](f.Response)
	switch {
	case r.Output.Kind() == '"':
		p.add(base, str(r.Output))
	case r.Error.Kind() == '"':
		base.outcome = failed
		p.add(base, str(r.Error))
	default:
		p.add(base, compact(f.Response))
	}
	for _, one := range decode[[]jsontext.Value](f.Parts) {
		if d := decode[geminiPart](one).Inline; d.OK {
			p.geminiBlob(one, d.V, base)
		}
	}
}

func (p *parser) geminiBlob(raw jsontext.Value, d geminiData, base part) {
	base.kind, base.outcome = rollout.Image, notTold
	if mime := d.MIME.V; len(mime) < 6 || mime[:6] != "image/" {
		base.kind, base.label = rollout.UserText, "file"
	}
	p.opaque(base, first(d.Data.V, d.URI.V, compact(raw)))
}

// unnamedCalls gives IDs to calls that carry none: of what they ask, and how
// often that was asked before, so that the same call keeps its ID when its
// history is sent again or shortened.
type unnamedCalls struct {
	times map[string]int
	open  map[string][]string // IDs of unanswered calls by tool, oldest first
}

func (u *unnamedCalls) called(id, tool, args string) string {
	if u == nil {
		return id
	}
	if u.times == nil {
		u.times, u.open = map[string]int{}, map[string][]string{}
	}
	if id == "" {
		sum := sha256.Sum256([]byte(tool + "\x00" + args))
		id = tool + "-" + hex.EncodeToString(sum[:4])
		u.times[id]++
		id += "-" + strconv.Itoa(u.times[id])
	}
	u.open[tool] = append(u.open[tool], id)
	return id
}

func (u *unnamedCalls) answered(id, tool string) string {
	if u == nil {
		return id
	}
	open := u.open[tool]
	for i, one := range open {
		if id == "" || one == id {
			u.open[tool] = append(open[:i:i], open[i+1:]...)
			return one
		}
	}
	return id
}
