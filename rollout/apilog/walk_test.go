package apilog_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/apilog"
)

// The walk below reads bodies in another way than the package: with the standard
// library, by the documentation of the four APIs, without interning.

type object map[string]json.RawMessage

func open(t *testing.T, raw []byte) object {
	t.Helper()
	var o object
	require.NoError(t, json.Unmarshal(raw, &o), "%.80s", raw)
	return o
}

func list(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

func (o object) text(name string) string {
	var s string
	_ = json.Unmarshal(o[name], &s)
	return s
}

func tight(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// walk collects the texts of a body in order.
type walk struct {
	t   *testing.T
	out []string
}

func (w *walk) say(s string) {
	if s != "" {
		w.out = append(w.out, s)
	}
}

func (w *walk) body(raw json.RawMessage) []string {
	o := open(w.t, raw)
	for _, tool := range list(o["tools"]) {
		if f, ok := open(w.t, tool)["functionDeclarations"]; ok {
			for _, one := range list(f) {
				w.say(tight(one))
			}
			continue
		}
		w.say(tight(tool))
	}
	for _, name := range []string{"system", "instructions"} {
		w.content(o[name])
	}
	if sys, ok := o["systemInstruction"]; ok {
		for _, p := range list(open(w.t, sys)["parts"]) {
			w.say(open(w.t, p).text("text"))
		}
	}
	for _, m := range list(o["messages"]) {
		w.message(open(w.t, m))
	}
	if s := o.text("input"); s != "" {
		w.say(s)
	}
	for _, it := range list(o["input"]) {
		w.item(it)
	}
	for _, c := range list(o["contents"]) {
		for _, p := range list(open(w.t, c)["parts"]) {
			w.gemini(open(w.t, p))
		}
	}
	return w.out
}

func (w *walk) message(m object) {
	w.say(m.text("reasoning_content"))
	before := len(w.out)
	w.content(m["content"])
	if m.text("role") == "tool" && len(w.out) == before {
		w.out = append(w.out, "")
	}
	for _, c := range list(m["tool_calls"]) {
		f := open(w.t, open(w.t, c)["function"])
		w.say(tight(json.RawMessage(f.text("arguments"))))
	}
}

func (w *walk) content(raw json.RawMessage) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		w.say(s)
		return
	}
	for _, one := range list(raw) {
		b := open(w.t, one)
		switch b.text("type") {
		case "text", "input_text", "output_text":
			w.say(b.text("text"))
		case "thinking":
			w.say(b.text("thinking"))
		case "tool_use":
			w.say(tight(b["input"]))
		case "tool_result":
			before := len(w.out)
			w.content(b["content"])
			if len(w.out) == before {
				w.out = append(w.out, "")
			}
		case "image":
			w.say(open(w.t, b["source"]).text("data"))
		case "image_url":
			w.say(open(w.t, b["image_url"]).text("url"))
		case "input_image":
			w.say(b.text("image_url"))
		default:
			w.t.Fatalf("the walk does not know block %q", b.text("type"))
		}
	}
}

func (w *walk) item(raw json.RawMessage) {
	it := open(w.t, raw)
	switch kind := it.text("type"); kind {
	case "message", "":
		w.content(it["content"])
	case "reasoning":
		for _, s := range list(it["summary"]) {
			w.say(open(w.t, s).text("text"))
		}
		w.say(it.text("encrypted_content"))
	case "function_call":
		w.say(tight(json.RawMessage(it.text("arguments"))))
	case "custom_tool_call":
		w.say(it.text("input"))
	case "function_call_output", "custom_tool_call_output":
		w.content(it["output"])
	default:
		w.say(tight(raw))
	}
}

func (w *walk) gemini(p object) {
	switch {
	case p["functionCall"] != nil:
		w.say(tight(open(w.t, p["functionCall"])["args"]))
	case p["functionResponse"] != nil:
		r := open(w.t, open(w.t, p["functionResponse"])["response"])
		w.say(r.text("output") + r.text("error"))
	case p["inlineData"] != nil:
		w.say(open(w.t, p["inlineData"]).text("data"))
	case p["fileData"] != nil:
		w.say(open(w.t, p["fileData"]).text("fileUri"))
	default:
		w.say(p.text("text"))
	}
}

// key makes a payload comparable: the sums of its texts, in order.
func key(texts []string) string {
	var b strings.Builder
	for _, s := range texts {
		sum := sha256.Sum256([]byte(s))
		b.WriteString(hex.EncodeToString(sum[:8]) + " ")
	}
	return b.String()
}

// payloads are what every request of a file carries, after reading.
func payloads(t *testing.T, path string) []string {
	t.Helper()
	sessions, err := apilog.Read(context.Background(), path)
	require.NoError(t, err)
	var out []string
	for _, s := range sessions {
		for _, r := range s.Requests {
			out = append(out, payload(s, r))
		}
	}
	slices.Sort(out)
	return out
}

func payload(s *rollout.Session, r rollout.Request) string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	var b strings.Builder
	for _, sp := range spans {
		h := s.Texts[sp.Text].Hash
		b.WriteString(hex.EncodeToString(h[:8]) + " ")
	}
	return b.String()
}

// bodies are the request bodies of a file, found by what its name says of it.
func bodies(t *testing.T, path string) []json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []json.RawMessage
	switch filepath.Base(path) {
	case "gemini.har":
		for _, e := range list(open(t, open(t, data)["log"])["entries"]) {
			if post := open(t, open(t, e)["request"])["postData"]; post != nil {
				out = append(out, json.RawMessage(open(t, post).text("text")))
			}
		}
		return out
	case "langfuse.json":
		for _, row := range list(data) {
			o := open(t, row)
			switch in := o["input"]; {
			case o.text("type") != "GENERATION":
			case in[0] == '"':
				out = append(out, json.RawMessage(`{"messages":`+o.text("input")+`}`))
			default:
				out = append(out, in)
			}
		}
		return out
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		o := open(t, bytes.Clone(lines.Bytes()))
		switch {
		case o["model_parameters"] != nil:
			out = append(out, json.RawMessage(`{"messages":`+string(o["messages"])+`,"tools":`+string(open(t, o["model_parameters"])["tools"])+`}`))
		case o["proxy_server_request"] != nil:
			out = append(out, o["proxy_server_request"])
		case o["request_body"] != nil && o["request_body"][0] == '"':
			out = append(out, json.RawMessage(o.text("request_body")))
		case o["request_body"] != nil:
			out = append(out, o["request_body"])
		case o["request"] != nil:
			q := open(t, o["request"])
			if q["body"] == nil {
				out = append(out, o["request"])
			} else if !strings.Contains(q.text("url"), "count_tokens") {
				out = append(out, q["body"])
			}
		default:
			out = append(out, json.RawMessage(lines.Text()))
		}
	}
	return out
}

func checkPayloads(t *testing.T, path string) {
	t.Helper()
	var want []string
	for _, b := range bodies(t, path) {
		want = append(want, key((&walk{t: t}).body(b)))
	}
	slices.Sort(want)
	assert.Equal(t, want, payloads(t, path), path)
}

// TestPayloadsAreBodies: every request carries exactly the parts of its body, in
// order. The two files whose bodies are not whole have tests of their own.
func TestPayloadsAreBodies(t *testing.T) {
	for _, name := range []string{"claude-trace.jsonl", "chat.jsonl", "gemini.har", "langfuse.json", "litellm.jsonl", "helicone.jsonl", "bodies.jsonl"} {
		checkPayloads(t, testdata(name))
	}
}

func TestRealPayloadsAreBodies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(devdata.Dir(t, "api-log"), "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		checkPayloads(t, path)
	}
}

func testdata(name string) string { return filepath.Join("..", "..", "testdata", "api-log", name) }

// TestServerSideHistory: bodies that name earlier responses or items carry what
// those held. The reference parts are the reasoning and call of the first
// response, spelled out here.
func TestServerSideHistory(t *testing.T) {
	raw := bodies(t, testdata("responses.jsonl"))
	parts := func(i int) []string { return (&walk{t: t}).body(raw[i]) }
	names := func(s string) bool { return strings.Contains(s, "item_reference") }
	first := []string{"Look first.", "gAAAAABopaque", `{"cmd":"cat go.mod"}`}
	patch := "*** Begin Patch\n*** Update File: go.mod\n-module old\n+module new\n*** End Patch"
	frame := parts(0)[:4] // three tools and the instructions

	second := append(slices.Clone(parts(0)), first...)
	second = append(second, slices.DeleteFunc(parts(1)[6:], names)...)
	third := append(slices.Clone(second), patch)
	third = append(third, parts(2)[4:]...)
	want := []string{key(parts(0)), key(second), key(third), key(append(slices.Clone(frame), parts(3)[4:]...))}
	slices.Sort(want)
	assert.Equal(t, want, payloads(t, testdata("responses.jsonl")))
}

// TestSpanPayloads: the parts of every dialect, written out. Spans without
// messages carry nothing.
func TestSpanPayloads(t *testing.T) {
	tool := `{"type":"function","name":"bash","description":"Runs.","parameters":{"type":"object"}}`
	first := []string{tool, "You are a tester.", "Run the tests"}
	want := []string{
		key(first), key(append(slices.Clone(first), "Run them.", `{"command":"make test"}`, "PASS")),
		key([]string{`{"description":"Adds.","name":"add","parameters":"{}"}`, "You add.", "One and one", `{"a":1,"b":1}`, "2"}),
		key([]string{tool, "You look.", "Where?"}), key([]string{"You greet.", "Hi"}), key([]string{"Ping"}), key([]string{"Alone"}), "", "",
	}
	slices.Sort(want)
	assert.Equal(t, want, payloads(t, testdata("otlp.jsonl")))
}

// TestStreamsAreDecoded keeps the base64 of the archive honest: it is what an
// archive holds for a body with another encoding.
func TestStreamsAreDecoded(t *testing.T) {
	data, err := os.ReadFile(testdata("gemini.har"))
	require.NoError(t, err)
	entry := open(t, list(open(t, open(t, data)["log"])["entries"])[1])
	content := open(t, open(t, entry["response"])["content"])
	plain, err := base64.StdEncoding.DecodeString(content.text("text"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(plain), "data: "))
}
