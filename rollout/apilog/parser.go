package apilog

import (
	"crypto/sha256"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// payload is what one body carries, as parts in the order of the wire.
type payload struct {
	tools, system, conversation []int32
	messages                    int64  // messages, items or contents of the body
	previous                    string // response whose conversation the server puts before this
	references                  bool   // some parts are only named, not sent
	session                     string // session the body names; "" none
	model                       string
	maxTokens                   *int64
}

// parser turns JSON into parts. out collects those of the piece being parsed.
type parser struct {
	st    *store
	model string
	out   []int32
	calls *unnamedCalls
}

// decode reads a JSON value as far as its types fit.
func decode[T any](raw jsontext.Value) T {
	var v T
	if len(raw) > 0 && logfile.Unmarshal(raw, &v) != nil {
		var zero T
		return zero
	}
	return v
}

// str is the text of a JSON string; "" for everything else.
func str(raw jsontext.Value) string {
	if raw.Kind() != '"' {
		return ""
	}
	return decode[string](raw)
}

// compact is a JSON value without blanks, keys in their order.
func compact(raw jsontext.Value) string {
	s, err := logfile.Compact(raw)
	if err != nil {
		return string(raw)
	}
	return s
}

// arguments are call arguments as compact JSON. APIs that carry them as a string
// carry what the model wrote; what is no JSON stays as it is.
func arguments(raw jsontext.Value) string {
	if raw.Kind() != '"' {
		return compact(raw)
	}
	s := str(raw)
	if v := jsontext.Value(s); v.Kind() == '{' || v.Kind() == '[' {
		return compact(v)
	}
	return s
}

// take returns the parts collected since the last call.
func (p *parser) take() []int32 {
	out := p.out
	p.out = nil
	return out
}

// add puts a part with a text behind the others. Empty text is not sent, except
// as the result of a call.
func (p *parser) add(pt part, s string) {
	if s == "" && pt.kind != rollout.ToolResult && pt.kind != rollout.ToolCall {
		return
	}
	pt.text = p.st.internText(text{s: s, hash: sha256.Sum256([]byte(s)), chars: utf8.RuneCountInString(s), bytes: len(s)})
	p.out = append(p.out, p.st.part(pt))
}

// opaque puts data without words behind the others.
func (p *parser) opaque(pt part, data string) {
	if data == "" {
		return
	}
	t := text{hash: sha256.Sum256([]byte(data)), chars: utf8.RuneCountInString(data), bytes: len(data), opaque: true}
	if pt.kind == rollout.Image {
		t.image = images.DefaultTokens
		if n, ok := images.Tokens(p.model, data); ok {
			t.image = n
		}
	}
	pt.text = p.st.internText(t)
	p.out = append(p.out, p.st.part(pt))
}

// tools gives one part per tool definition.
func (p *parser) tools(raw jsontext.Value) []int32 {
	if raw.Kind() != '[' {
		return nil
	}
	return p.st.cached("tools", raw, func() []int32 {
		for _, tool := range decode[[]jsontext.Value](raw) {
			p.tool(tool)
		}
		return p.take()
	})
}

// definition is the members by which a tool is named in any API.
type definition struct {
	Name         logfile.Lenient[string]           `json:"name"`
	Type         logfile.Lenient[string]           `json:"type"`
	Function     logfile.Lenient[named]            `json:"function"`
	Declarations logfile.Lenient[[]jsontext.Value] `json:"functionDeclarations"`
	Snake        logfile.Lenient[[]jsontext.Value] `json:"function_declarations"`
}

type named struct {
	Name logfile.Lenient[string] `json:"name"`
}

func (p *parser) tool(raw jsontext.Value) {
	d := decode[definition](raw)
	for _, declarations := range [][]jsontext.Value{d.Declarations.V, d.Snake.V} {
		for _, one := range declarations {
			p.tool(one)
		}
	}
	if d.Declarations.OK || d.Snake.OK {
		return
	}
	name := first(d.Name.V, d.Function.V.Name.V, d.Type.V)
	if raw.Kind() == '"' {
		raw = jsontext.Value(str(raw))
	}
	p.add(part{kind: rollout.ToolDefinitions, role: rollout.RoleSystem, tool: name}, compact(raw))
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
