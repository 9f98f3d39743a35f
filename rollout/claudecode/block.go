package claudecode

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout/logfile"
)

// opaque is data without words. The data itself is not kept.
type opaque struct {
	hash   [32]byte
	chars  int
	bytes  int
	tokens *int64 // price of an image; nil unknown
}

func newOpaque(data string) *opaque {
	return &opaque{hash: sha256.Sum256([]byte(data)), chars: utf8.RuneCountInString(data), bytes: len(data)}
}

// block is one content block.
type block struct {
	typ    string
	text   string  // as sent; arguments as compact JSON
	opaque *opaque // instead of text
	id     string  // of the call it makes or answers
	name   string  // of the tool
	failed bool
	parts  []block // of a tool result
	canon  string  // canonical JSON, kept only where requests are logged by hash
}

type rawBlock struct {
	Type      string                       `json:"type"`
	Text      logfile.Lenient[string]      `json:"text"`
	Thinking  logfile.Lenient[string]      `json:"thinking"`
	Signature logfile.Lenient[string]      `json:"signature"`
	Data      logfile.Lenient[string]      `json:"data"`
	ID        logfile.Lenient[string]      `json:"id"`
	Name      logfile.Lenient[string]      `json:"name"`
	Input     jsontext.Value               `json:"input"`
	ToolUse   logfile.Lenient[string]      `json:"tool_use_id"`
	Content   jsontext.Value               `json:"content"`
	IsError   logfile.Lenient[bool]        `json:"is_error"`
	Source    logfile.Lenient[blockSource] `json:"source"`
}

type blockSource struct {
	Type logfile.Lenient[string] `json:"type"`
	Data logfile.Lenient[string] `json:"data"`
	URL  logfile.Lenient[string] `json:"url"`
}

// blockReader turns content into blocks.
type blockReader struct {
	model   string         // last one named, for the price of images
	canon   bool           // keep canonical JSON
	unknown map[string]int // blocks of types that are not known
}

// content reads a message's content, a string or an array of blocks.
func (br *blockReader) content(raw jsontext.Value) (blocks []block, plain bool) {
	switch raw.Kind() {
	case '"':
		var s string
		if logfile.Decode(raw, &s) != nil {
			return nil, true
		}
		b := block{typ: "text", text: s}
		if br.canon {
			b.canon = canonicalText(s)
		}
		return []block{b}, true
	case '[':
		var raws []jsontext.Value
		if logfile.Decode(raw, &raws) != nil {
			return nil, false
		}
		for _, r := range raws {
			blocks = append(blocks, br.block(r))
		}
	}
	return blocks, false
}

func (br *blockReader) block(raw jsontext.Value) block {
	var r rawBlock
	if raw.Kind() != '{' || logfile.Decode(raw, &r) != nil {
		return block{typ: "other", text: compact(raw)}
	}
	b := br.known(r, raw)
	if br.canon {
		b.canon = canonical(raw)
	}
	return b
}

func (br *blockReader) known(r rawBlock, raw jsontext.Value) block {
	switch r.Type {
	case "text":
		return block{typ: r.Type, text: r.Text.V}
	case "thinking":
		if r.Thinking.V == "" {
			return block{typ: r.Type, opaque: newOpaque(r.Signature.V)}
		}
		return block{typ: r.Type, text: r.Thinking.V}
	case "redacted_thinking":
		return block{typ: "thinking", opaque: newOpaque(r.Data.V)}
	case "tool_use", "server_tool_use":
		return block{typ: r.Type, text: arguments(r.Input), id: r.ID.V, name: r.Name.V}
	case "tool_result":
		parts, _ := br.content(r.Content)
		return block{typ: r.Type, id: r.ToolUse.V, failed: r.IsError.V, parts: parts}
	case "image":
		return br.image(r.Source.V)
	case "document":
		return br.document(r)
	}
	if strings.HasSuffix(r.Type, "_tool_result") {
		return block{typ: "server_tool_result", text: compact(r.Content), id: r.ToolUse.V}
	}
	if r.Type != "tool_reference" && br.unknown != nil {
		br.unknown[r.Type]++
	}
	return block{typ: "other", name: r.Type, text: compact(raw)}
}

func (br *blockReader) image(src blockSource) block {
	data := src.Data.V + src.URL.V
	o := newOpaque(data)
	if n, ok := images.Tokens(br.model, data); ok {
		o.tokens = &n
	}
	return block{typ: "image", opaque: o}
}

func (br *blockReader) document(r rawBlock) block {
	if r.Source.V.Type.V == "text" {
		return block{typ: "document", text: r.Source.V.Data.V}
	}
	return block{typ: "document", opaque: newOpaque(r.Source.V.Data.V + r.Source.V.URL.V)}
}

// arguments is a call's input as sent. Before 2.1.92 it could be logged as a
// JSON string; then its text is the input.
func arguments(raw jsontext.Value) string {
	if raw.Kind() != '"' {
		return compact(raw)
	}
	var s string
	if logfile.Decode(raw, &s) != nil {
		return compact(raw)
	}
	if jsontext.Value(s).IsValid() {
		return compact(jsontext.Value(s))
	}
	return s
}

func compact(raw jsontext.Value) string {
	if len(raw) == 0 {
		return ""
	}
	s, err := logfile.Compact(raw)
	if err != nil {
		return string(raw)
	}
	return s
}

// canonical is the form the agent hashes: sorted keys, no spaces, without cache
// marks and without the caller of a call.
func canonical(raw jsontext.Value) string {
	var v any
	if logfile.Unmarshal(raw, &v) != nil {
		return ""
	}
	return marshalSorted(strip(v))
}

func canonicalText(s string) string { return marshalSorted(s) }

func marshalSorted(v any) string {
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return ""
	}
	sorted := jsontext.Value(out)
	if sorted.Canonicalize() != nil {
		return string(out)
	}
	return string(sorted)
}

func strip(v any) any {
	switch x := v.(type) {
	case map[string]any:
		delete(x, "cache_control")
		if x["type"] == "tool_use" {
			delete(x, "caller")
		}
		for _, member := range x {
			strip(member)
		}
	case []any:
		for _, member := range x {
			strip(member)
		}
	}
	return v
}
