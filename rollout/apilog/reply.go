package apilog

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// answer is a response body of any API.
type answer struct {
	ID         logfile.Lenient[string]   `json:"id"`
	ResponseID logfile.Lenient[string]   `json:"responseId"`
	Model      logfile.Lenient[string]   `json:"model"`
	Version    logfile.Lenient[string]   `json:"modelVersion"`
	Content    jsontext.Value            `json:"content"`
	Choices    logfile.Lenient[[]choice] `json:"choices"`
	Output     jsontext.Value            `json:"output"`
	Candidates logfile.Lenient[[]struct {
		Content jsontext.Value `json:"content"`
	}] `json:"candidates"`
	Usage    jsontext.Value          `json:"usage"`
	Metadata jsontext.Value          `json:"usageMetadata"`
	Error    jsontext.Value          `json:"error"`
	Type     logfile.Lenient[string] `json:"type"`
	Status   logfile.Lenient[string] `json:"status"`
	Inner    jsontext.Value          `json:"response"`
	Streamed jsontext.Value          `json:"streamed_data"`
}

type choice struct {
	Message jsontext.Value `json:"message"`
}

// reply reads the response of an exchange.
func (x *exchange) reply(p *parser) {
	if x.api == spanAPI {
		x.spanReply(p)
		return
	}
	raw := x.response
	if raw.Kind() == '"' {
		x.stream, raw = str(raw), nil
	}
	if s := strings.TrimLeft(x.stream, " \t\r\n"); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		if v := jsontext.Value(s); v.IsValid() {
			raw = v
		}
	}
	if raw.Kind() == '[' {
		x.fromEvents(p, decode[[]jsontext.Value](raw))
		return
	}
	if raw.Kind() == '{' {
		x.fromBody(p, raw)
		return
	}
	if x.stream != "" {
		x.fromEvents(p, events(x.stream))
	}
}

// fromBody reads a response that is one object.
func (x *exchange) fromBody(p *parser, raw jsontext.Value) {
	a := decode[answer](raw)
	if a.Streamed.Kind() == '[' {
		x.fromEvents(p, decode[[]jsontext.Value](a.Streamed))
		return
	}
	if a.Inner.Kind() == '{' && len(a.Candidates.V) == 0 {
		a = decode[answer](a.Inner)
	}
	x.final = true
	x.take(p, a)
}

// take reads what an answer holds: ID, model, usage and the parts of its output.
func (x *exchange) take(p *parser, a answer) {
	x.id = first(a.ID.V, a.ResponseID.V, x.id)
	x.model = first(a.Model.V, x.model)
	if a.Error.Kind() == '{' || a.Error.Kind() == '"' || a.Type.V == "error" || a.Status.V == "failed" {
		x.failed = true
	}
	usage := a.Usage
	if len(usage) == 0 {
		usage = a.Metadata
	}
	if u, ok := readUsage(usage); ok {
		x.usage = &u
	}
	x.output(p, a)
	x.answered = x.answered || len(x.outputs) > 0 || x.usage != nil
}

func (x *exchange) output(p *parser, a answer) {
	switch {
	case len(a.Choices.V) > 0:
		p.addMessage(asAssistant(a.Choices.V[0].Message))
	case a.Output.Kind() == '[':
		x.outputItems(p, decode[[]jsontext.Value](a.Output))
		return
	case len(a.Candidates.V) > 0:
		p.geminiContent(modelContent(a.Candidates.V[0].Content))
	case len(a.Content) > 0:
		p.content(a.Content, part{role: rollout.RoleAssistant})
	}
	x.outputs = append(x.outputs, p.take()...)
}

// modelContent makes sure that a candidate speaks as the model.
func modelContent(raw jsontext.Value) jsontext.Value {
	c := decode[struct {
		Parts jsontext.Value `json:"parts"`
	}](raw)
	if c.Parts.Kind() != '[' {
		return nil
	}
	return jsontext.Value(`{"role":"model","parts":` + string(c.Parts) + `}`)
}

func asAssistant(raw jsontext.Value) message {
	m := decode[message](raw)
	m.Role.V = "assistant"
	return m
}

// outputItems reads the items of a Responses answer and keeps each under its ID:
// later bodies may only name them. What only names an item is no output.
func (x *exchange) outputItems(p *parser, items []jsontext.Value) {
	for _, raw := range items {
		parts := slices.DeleteFunc(slices.Clone(p.item(raw)), func(id int32) bool {
			return p.st.parts[id].label == reference
		})
		if id := decode[responseItem](raw).ID.V; id != "" {
			if x.itemIDs == nil {
				x.itemIDs = map[string][]int32{}
			}
			x.itemIDs[id] = parts
		}
		x.outputs = append(x.outputs, parts...)
	}
}
