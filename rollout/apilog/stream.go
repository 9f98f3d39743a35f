package apilog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// events are the data of an event stream, in order.
func events(stream string) []jsontext.Value {
	var out []jsontext.Value
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
		if v := jsontext.Value(strings.TrimSpace(data)); ok && v.Kind() == '{' && v.IsValid() {
			out = append(out, v)
		}
	}
	return out
}

// event is one event of a stream of any API.
type event struct {
	Type     logfile.Lenient[string]        `json:"type"`
	ID       logfile.Lenient[string]        `json:"id"`
	Model    logfile.Lenient[string]        `json:"model"`
	Index    logfile.Lenient[int64]         `json:"index"`
	Message  jsontext.Value                 `json:"message"`
	Block    jsontext.Value                 `json:"content_block"`
	Delta    logfile.Lenient[delta]         `json:"delta"`
	Choices  logfile.Lenient[[]chunkChoice] `json:"choices"`
	Item     jsontext.Value                 `json:"item"`
	Response jsontext.Value                 `json:"response"`
	Usage    jsontext.Value                 `json:"usage"`
	Error    jsontext.Value                 `json:"error"`

	Candidates jsontext.Value `json:"candidates"`
	Metadata   jsontext.Value `json:"usageMetadata"`
}

// delta is what one event adds, to a block of Anthropic or a choice of Chat.
type delta struct {
	Text      logfile.Lenient[string]     `json:"text"`
	Thinking  logfile.Lenient[string]     `json:"thinking"`
	Signature logfile.Lenient[string]     `json:"signature"`
	Partial   logfile.Lenient[string]     `json:"partial_json"`
	Content   logfile.Lenient[string]     `json:"content"`
	Reasoning logfile.Lenient[string]     `json:"reasoning"`
	Thought   logfile.Lenient[string]     `json:"reasoning_content"`
	ToolCalls logfile.Lenient[[]fragment] `json:"tool_calls"`
}

type chunkChoice struct {
	Index logfile.Lenient[int64] `json:"index"`
	Delta delta                  `json:"delta"`
}

// fragment is a piece of a call in a Chat stream.
type fragment struct {
	Index    logfile.Lenient[int64]   `json:"index"`
	ID       logfile.Lenient[string]  `json:"id"`
	Function logfile.Lenient[callBit] `json:"function"`
}

type callBit struct {
	Name      logfile.Lenient[string] `json:"name"`
	Arguments logfile.Lenient[string] `json:"arguments"`
}

// piece is a block or call that a stream puts together.
type piece struct {
	block     block
	text      strings.Builder
	thinking  strings.Builder
	signature strings.Builder
	partial   strings.Builder
}

// assembly is what a stream said so far.
type assembly struct {
	pieces    map[string]*piece
	order     []string
	usage     usageMerge
	done      bool
	text      strings.Builder
	reasoning strings.Builder
}

func (s *assembly) piece(kind string, index int64) *piece {
	key := kind + strconv.FormatInt(index, 10)
	pc, ok := s.pieces[key]
	if !ok {
		pc = &piece{}
		s.pieces[key] = pc
		s.order = append(s.order, key)
	}
	return pc
}

// fromEvents reads a streamed response. A stream that was cut has no final
// usage; what came is kept.
func (x *exchange) fromEvents(p *parser, list []jsontext.Value) {
	s := &assembly{pieces: map[string]*piece{}}
	for _, raw := range list {
		x.event(p, s, raw)
	}
	s.emit(p)
	x.outputs = append(x.outputs, p.take()...)
	if u, ok := s.usage.result(); ok {
		x.usage = &u
	}
	x.final = s.done
	x.answered = x.answered || len(x.outputs) > 0 || x.usage != nil
}

func (x *exchange) event(p *parser, s *assembly, raw jsontext.Value) {
	e := decode[event](raw)
	switch {
	case e.Type.V == "error" || e.Error.Kind() == '{':
		x.failed = true
	case strings.HasPrefix(e.Type.V, "response."):
		x.responsesEvent(p, s, e)
	case e.Type.V != "" && len(e.Choices.V) == 0:
		x.anthropicEvent(s, e)
	case e.Candidates.Kind() == '[' || e.Metadata.Kind() == '{':
		x.geminiEvent(p, s, raw)
	case e.Response.Kind() == '{':
		x.geminiEvent(p, s, e.Response)
	default:
		x.chatEvent(s, e)
	}
}

func (x *exchange) anthropicEvent(s *assembly, e event) {
	switch e.Type.V {
	case "message_start":
		a := decode[answer](e.Message)
		x.id, x.model = first(a.ID.V, x.id), first(a.Model.V, x.model)
		s.usage.add(a.Usage)
	case "content_block_start":
		s.piece("b", e.Index.V).block = decode[block](e.Block)
	case "content_block_delta":
		pc := s.piece("b", e.Index.V)
		pc.text.WriteString(e.Delta.V.Text.V)
		pc.thinking.WriteString(e.Delta.V.Thinking.V)
		pc.signature.WriteString(e.Delta.V.Signature.V)
		pc.partial.WriteString(e.Delta.V.Partial.V)
	case "message_delta":
		s.usage.add(e.Usage)
		s.done = true
	}
}

func (x *exchange) chatEvent(s *assembly, e event) {
	x.id, x.model = first(x.id, e.ID.V), first(e.Model.V, x.model)
	if e.Usage.Kind() == '{' {
		s.usage.add(e.Usage)
		s.done = true
	}
	for _, c := range e.Choices.V {
		if c.Index.V != 0 {
			continue
		}
		s.text.WriteString(c.Delta.Content.V)
		s.reasoning.WriteString(first(c.Delta.Thought.V, c.Delta.Reasoning.V))
		for _, f := range c.Delta.ToolCalls.V {
			pc := s.piece("c", f.Index.V)
			pc.block.Type.V = "tool_use"
			pc.block.ID.V = first(pc.block.ID.V, f.ID.V)
			pc.block.Name.V = first(pc.block.Name.V, f.Function.V.Name.V)
			pc.partial.WriteString(f.Function.V.Arguments.V)
		}
	}
}

// responsesEvent takes whole items as they are done; the last event repeats them
// with the usage.
func (x *exchange) responsesEvent(p *parser, s *assembly, e event) {
	switch e.Type.V {
	case "response.created":
		x.id = first(decode[answer](e.Response).ID.V, x.id)
	case "response.output_item.done":
		x.outputItems(p, []jsontext.Value{e.Item})
	case "response.completed", "response.incomplete", "response.failed":
		a := decode[answer](e.Response)
		if len(x.outputs) > 0 {
			a.Output = nil
		}
		x.take(p, a)
		s.usage.add(a.Usage)
		s.done = true
		x.failed = x.failed || e.Type.V == "response.failed"
	}
}

// geminiEvent is a chunk: a response of its own with a piece of the text. The
// usage of the last one counts.
func (x *exchange) geminiEvent(p *parser, s *assembly, raw jsontext.Value) {
	a := decode[answer](raw)
	x.id, x.model = first(a.ResponseID.V, x.id), first(x.model, a.Version.V)
	s.usage.replace(a.Metadata)
	s.done = s.done || len(a.Metadata) > 0
	if len(a.Candidates.V) == 0 {
		return
	}
	for _, one := range decode[geminiContent](a.Candidates.V[0].Content).Parts.V {
		g := decode[geminiPart](one)
		switch {
		case g.Text.OK && g.Thought.V:
			s.reasoning.WriteString(g.Text.V)
		case g.Text.OK:
			s.text.WriteString(g.Text.V)
		default:
			s.emitText(p)
			p.geminiPart(one, rollout.RoleAssistant)
		}
	}
}

func (s *assembly) emitText(p *parser) {
	p.add(part{kind: rollout.Reasoning, role: rollout.RoleAssistant}, s.reasoning.String())
	p.add(part{kind: rollout.AssistantText, role: rollout.RoleAssistant}, s.text.String())
	s.reasoning.Reset()
	s.text.Reset()
}

// emit gives the parser the parts that a stream put together.
func (s *assembly) emit(p *parser) {
	s.emitText(p)
	slices.SortStableFunc(s.order, func(a, b string) int {
		i, _ := strconv.Atoi(a[1:])
		j, _ := strconv.Atoi(b[1:])
		return i - j
	})
	for _, key := range s.order {
		s.pieces[key].emit(p)
	}
}

func (pc *piece) emit(p *parser) {
	b := pc.block
	b.Text.V += pc.text.String()
	b.Thinking.V += pc.thinking.String()
	b.Signature.V += pc.signature.String()
	switch t := b.Type.V; {
	case t == "thinking":
		p.thinking(b)
	case t == "redacted_thinking":
		p.opaque(part{kind: rollout.Reasoning, role: rollout.RoleAssistant, label: "encrypted"}, b.Data.V)
	case strings.HasSuffix(t, "tool_use"):
		p.add(part{kind: rollout.ToolCall, role: rollout.RoleAssistant, tool: b.Name.V, callID: b.ID.V}, pc.arguments())
	case strings.HasSuffix(t, "tool_result"):
		p.result(b)
	default:
		p.add(part{kind: rollout.AssistantText, role: rollout.RoleAssistant}, b.Text.V)
	}
}

// arguments are the fragments put together; without any, what the block began
// with.
func (pc *piece) arguments() string {
	s := pc.partial.String()
	if s == "" {
		if len(pc.block.Input) > 0 {
			return compact(pc.block.Input)
		}
		return s
	}
	if v := jsontext.Value(s); v.IsValid() {
		return compact(v)
	}
	return s
}
