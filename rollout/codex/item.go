package codex

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// side tells the direction of a response item.
type side uint8

const (
	sideNone   side = iota // never sent
	sideInput              // sent to the model
	sideOutput             // produced by the model
)

var itemSides = map[string]side{
	"reasoning":               sideOutput,
	"function_call":           sideOutput,
	"custom_tool_call":        sideOutput,
	"local_shell_call":        sideOutput,
	"web_search_call":         sideOutput,
	"tool_search_call":        sideOutput,
	"image_generation_call":   sideOutput,
	"function_call_output":    sideInput,
	"custom_tool_call_output": sideInput,
	"tool_search_output":      sideInput,
	"agent_message":           sideInput,
	"compaction":              sideInput,
	"compaction_summary":      sideInput,
	"context_compaction":      sideInput,
	"additional_tools":        sideInput,
	"configuration_update":    sideInput,
	"ghost_snapshot":          sideNone,
	"compaction_trigger":      sideNone,
}

// itemOf decodes the response item of a record.
func itemOf(rec record) *item {
	it := newItem(rec.payload)
	if rec.typ == typeAgentMsg {
		it.Type.V = "agent_message"
	}
	it.settle(rec.payload)
	return it
}

func newItem(raw []byte) *item {
	it := &item{}
	if logfile.Decode(orNull(raw), it) != nil {
		return &item{}
	}
	return it
}

// settle derives what is asked for more than once, and lets go of the record.
func (it *item) settle(raw []byte) {
	it.outputs, it.listed = outputParts(it.Output), it.Output.Kind() == '['
	it.sealed = sealedValue(it.Encrypted)
	switch s, _ := sideOf(it); {
	case s == sideOutput && it.Type.V != "message" && it.Type.V != "reasoning":
		it.call = callText(it)
	case sentWhole[it.Type.V]:
		it.whole = wholeText(raw)
	}
	it.Arguments, it.Output, it.Action, it.Encrypted = nil, nil, nil, nil
}

// sentWhole are the types of items whose JSON is the text that is sent.
var sentWhole = map[string]bool{"tool_search_output": true, "additional_tools": true, "agent_message": true, "configuration_update": true}

// sealed stands for data without words, which is not kept.
type sealed struct {
	hash         [sha256.Size]byte
	chars, bytes int // 0: nothing there
}

func sealedText(data string) sealed {
	return sealed{sha256.Sum256([]byte(data)), utf8.RuneCountInString(data), len(data)}
}

// sealedValue is sealedText of a JSON string.
func sealedValue(raw jsontext.Value) sealed {
	if raw.Kind() != '"' {
		return sealed{}
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		return sealedText(within[string](raw))
	}
	data := raw[1 : len(raw)-1]
	return sealed{sha256.Sum256(data), utf8.RuneCount(data), len(data)}
}

// or is another where there is nothing.
func (s sealed) or(other string) sealed {
	if s.bytes > 0 {
		return s
	}
	return sealedText(other)
}

func sideOf(it *item) (s side, known bool) {
	if it.Type.V == "message" {
		if it.Role.V == "assistant" {
			return sideOutput, true
		}
		return sideInput, true
	}
	s, known = itemSides[it.Type.V]
	return s, known
}

// isOutput says whether an item answers a call.
func isOutput(it *item) bool {
	switch it.Type.V {
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		return true
	}
	return false
}

// needsOutput says whether a call is answered by an item of its own; the others
// run on the server.
func needsOutput(it *item) bool {
	switch it.Type.V {
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		return true
	}
	return false
}

// isUserPrompt says whether an item is what a person wrote.
func isUserPrompt(it *item) bool {
	if it.Type.V != "message" || it.Role.V != "user" {
		return false
	}
	for i, c := range it.Content.V {
		if classifyPart(it, i).human && (c.V.Text.V != "" || c.V.ImageURL.OK) {
			return true
		}
	}
	return false
}

func joinText(parts []logfile.Lenient[content]) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.V.Text.V)
	}
	return b.String()
}

// outputParts returns the elements of an output, which is a string or a list.
func outputParts(raw jsontext.Value) []content {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	if raw.Kind() == '"' {
		return []content{{Type: logfile.Lenient[string]{V: "input_text", OK: true}, Text: logfile.Lenient[string]{V: within[string](raw), OK: true}}}
	}
	if raw.Kind() != '[' {
		text, _ := logfile.Compact(raw)
		return []content{{Type: logfile.Lenient[string]{V: "input_text", OK: true}, Text: logfile.Lenient[string]{V: text, OK: true}}}
	}
	var out []content
	for _, c := range within[[]logfile.Lenient[content]](raw) {
		out = append(out, c.V)
	}
	return out
}

// callText is what a call carries: its arguments as compact JSON, or free text.
func callText(it *item) string {
	switch it.Type.V {
	case "custom_tool_call":
		return it.Input.V
	case "local_shell_call", "web_search_call":
		return compactOr(it.Action, "")
	case "image_generation_call":
		return ""
	}
	if it.Arguments.Kind() == '"' {
		args := within[string](it.Arguments)
		return compactOr([]byte(args), args)
	}
	return compactOr(it.Arguments, "")
}

func compactOr(raw []byte, fallback string) string {
	if len(raw) == 0 {
		return fallback
	}
	text, err := logfile.Compact(raw)
	if err != nil || !utf8.ValidString(text) {
		return fallback
	}
	return text
}

// wholeText is an item as compact JSON without the members that are written but
// not sent.
func wholeText(raw []byte) string {
	dec := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var b strings.Builder
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return compactOr(raw, "")
	}
	b.WriteByte('{')
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			break
		}
		name = name.Clone()
		val, err := dec.ReadValue()
		if err != nil {
			break
		}
		if string(name) == `"internal_chat_message_metadata_passthrough"` {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(string(name) + ":" + compactOr(val, "null"))
	}
	b.WriteByte('}')
	return b.String()
}

// bytesPerToken is Codex's own rule of thumb for text.
const bytesPerToken = 4

// visibleSize estimates the tokens of an item's readable text.
func visibleSize(it *item) int64 {
	var n float64
	for _, c := range it.Content.V {
		n += textSize(c.V.Text.V)
	}
	if s, _ := sideOf(it); s == sideOutput && it.Type.V != "message" && it.Type.V != "reasoning" {
		n += textSize(it.call) + textSize(it.Name.V)
	}
	for _, c := range it.outputs {
		n += textSize(c.Text.V)
	}
	return int64(n)
}

// wideTokens is what a character outside ASCII costs, roughly: Japanese and
// Korean take two to three characters for two tokens.
const wideTokens = 0.7

func textSize(s string) float64 {
	ascii, wide := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] < utf8.RuneSelf:
			ascii++
		case utf8.RuneStart(s[i]):
			wide++
		}
	}
	return float64(ascii)/bytesPerToken + wideTokens*float64(wide)
}

// encryptedSize is Codex's own estimate of the bytes inside encrypted reasoning
// of that base64 length; at least 1 when there is any.
func encryptedSize(it *item) int64 {
	if it.Type.V != "reasoning" || it.sealed.bytes == 0 {
		return 0
	}
	return max(int64(it.sealed.bytes)*3/4-650, 1)
}

// plainWord keeps of a type name what a name is made of.
func plainWord(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-. ", r):
			return r
		}
		return -1
	}, s)
	return out[:min(len(out), 60)]
}

func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil
}
