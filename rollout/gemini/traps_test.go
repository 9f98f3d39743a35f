package gemini

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

const head = `{"sessionId":"s-1","projectHash":"p","startTime":"2026-05-04T09:00:00.000Z","kind":"main"}`

// write puts records, one a line, behind a header.
func write(t testing.TB, records ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chat.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(head+"\n"+strings.Join(records, "\n")+"\n"), 0o644))
	return path
}

func prompt(id, s string) string {
	return fmt.Sprintf(`{"id":%q,"type":"user","content":[{"text":%q}]}`, id, s)
}

// reply is an answer; its 10 input tokens a call make sums easy.
func reply(id, s string) string {
	return fmt.Sprintf(`{"id":%q,"type":"gemini","content":%q,"model":"m","tokens":{"input":10,"output":2,"cached":0,"thoughts":3,"tool":0,"total":15}}`, id, s)
}

func kinds(s *rollout.Session) []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, fmt.Sprintf("%s×%d", p.Kind, p.Count))
	}
	return out
}

func TestTraps(t *testing.T) {
	for _, c := range []struct {
		name     string
		records  []string
		requests int
		last     []string // payload of the last request
		problems []string
	}{
		{"an answer written again counts once", []string{prompt("u", "hi"), reply("g", "a"), reply("g", "a"), prompt("v", "and"), reply("h", "b")},
			2, []string{"hi", "a", "and"}, nil},
		{"the last write of an answer wins, in its place", []string{prompt("u", "hi"), reply("g", "a"), prompt("v", "and"), reply("g", "a2"), reply("h", "b")},
			2, []string{"hi", "a2", "and"}, nil},
		{"a rewind drops the message and what follows", []string{prompt("u", "hi"), reply("g", "a"), prompt("v", "no"), reply("h", "b"), `{"$rewindTo":"v"}`, prompt("w", "yes"), reply("i", "c")},
			3, []string{"hi", "a", "yes"}, nil},
		{"a rewind to an unknown message drops all", []string{prompt("u", "hi"), reply("g", "a"), `{"$rewindTo":"nowhere"}`, prompt("w", "yes"), reply("i", "c")},
			2, []string{"yes"}, nil},
		{"messages of the header are requests of a converted file", []string{`{"sessionId":"s-1","projectHash":"p","messages":[` + prompt("u", "hi") + "," + reply("g", "a") + "," + prompt("v", "and") + "," + reply("h", "b") + "]}", prompt("w", "more"), reply("i", "c")},
			3, []string{"hi", "a", "and", "b", "more"}, nil},
		{"an answer that a checkpoint repeats is no new request", []string{prompt("u", "hi"), reply("g", "a"), `{"$set":{"messages":[` + prompt("u", "hi") + "," + reply("g", "a") + "]}}", prompt("v", "and"), reply("h", "b")},
			2, []string{"hi", "a", "and"}, nil},
		{"a result without counts or user message counts once", []string{prompt("u", "hi"), `{"id":"g","type":"gemini","content":"","model":"m","tokens":{"input":10,"output":1},"toolCalls":[{"id":"c","name":"glob","args":{},"result":"x.go","status":"success"}]}`, reply("h", "b")},
			2, []string{"hi", "{}", "x.go"}, nil},
		{"a user message of results stands for those beside the calls", []string{prompt("u", "hi"), `{"id":"g","type":"gemini","content":"","model":"m","tokens":{"input":10,"output":1},"toolCalls":[{"id":"c","name":"glob","args":{},"result":[{"functionResponse":{"id":"c","name":"glob","response":{"output":"x.go"}}}],"status":"success"}]}`,
			`{"id":"r","type":"user","content":[{"functionResponse":{"id":"c","name":"glob","response":{"output":"x.go"}}}]}`, reply("h", "b")},
			2, []string{"hi", "{}", "x.go"}, nil},
		{"a response of another form is sent whole", []string{`{"id":"r","type":"user","content":[{"functionResponse":{"id":"q","name":"mcp","response":{"a": 1, "output":"x"}}}]}`, reply("h", "b")},
			1, []string{`{"a":1,"output":"x"}`}, nil},
		{"thoughts are not sent", []string{prompt("u", "hi"), `{"id":"g","type":"gemini","content":[{"text":"secret plan","thought":true},{"text":"a"}],"model":"m","tokens":{"input":10,"output":1}}`, prompt("v", "and"), reply("h", "b")},
			2, []string{"hi", "a", "and"}, nil},
		{"what the screen alone showed is not sent", []string{prompt("u", "hi"), `{"id":"n","type":"info","content":"news"}`, `{"id":"w","type":"warning","content":"careful"}`, `{"id":"e","type":"error","content":"no such command"}`, reply("g", "a")},
			1, []string{"hi"}, nil},
		{"unknown records are counted", []string{prompt("u", "hi"), `{"novel":1}`, `{"novel":2}`, `{"id":"x","type":"oracle","content":"?"}`, reply("g", "a")},
			1, []string{"hi"}, []string{"unknown-record×2", "unknown-record×1"}},
		{"a broken line costs itself alone", []string{prompt("u", "hi"), `{"id":"x","type":"user","con`, reply("g", "a")},
			1, []string{"hi"}, []string{"bad-json×1"}},
		{"odd members cost themselves alone", []string{prompt("u", "hi"), `{"id":"g","type":"gemini","content":7,"model":[1],"tokens":{"input":10,"output":1},"toolCalls":[3,{"id":4,"name":"glob","args":"x"}],"thoughts":{"a":1}}`, prompt("v", "and"), reply("h", "b")},
			2, []string{"hi", `"x"`, "and"}, []string{"bad-record×1", "missing-result×1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readOne(t, write(t, c.records...))
			assert.Equal(t, c.problems, kinds(s))
			require.Len(t, s.Requests, c.requests)
			assert.Equal(t, c.last, payload(s, c.requests))
		})
	}
}

func TestUsage(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		tokens   string
		want     rollout.Usage
		final    bool
		problems []string
	}{
		{`{"input":100,"output":5,"cached":64,"thoughts":7,"tool":3,"total":115}`, rollout.Usage{Input: n(103), CacheRead: n(64), Output: n(12), Reasoning: n(7)}, true, nil},
		{`{"input":100,"output":5}`, rollout.Usage{Input: n(100), Output: n(5)}, true, nil},
		{`{"input":100,"output":5,"cached":200,"thoughts":0,"tool":0,"total":105}`, rollout.Usage{Input: n(100), Output: n(5), Reasoning: n(0)}, true, []string{"usage-inconsistent×1"}},
		{`{"input":100,"output":5,"total":99}`, rollout.Usage{Input: n(100), Output: n(5)}, true, []string{"usage-inconsistent×1"}},
		{`{"input":-1,"output":5}`, rollout.Usage{}, false, []string{"bad-number×1", "response-without-usage×1"}},
		{`{"input":9007199254740993,"output":5}`, rollout.Usage{}, false, []string{"bad-number×1", "response-without-usage×1"}},
		{`{"input":"many","output":5}`, rollout.Usage{}, false, []string{"bad-number×1", "response-without-usage×1"}},
	} {
		s := readOne(t, write(t, prompt("u", "hi"), `{"id":"g","type":"gemini","content":"a","model":"m","tokens":`+c.tokens+"}", reply("h", "b")))
		assert.Equal(t, c.want, s.Requests[0].Usage, c.tokens)
		assert.Equal(t, c.final, s.Requests[0].OutputFinal, c.tokens)
		assert.Equal(t, c.problems, kinds(s), c.tokens)
	}
	s := readOne(t, write(t, prompt("u", "hi"), `{"id":"g","type":"gemini","content":"","model":"m","tokens":null}`))
	assert.Equal(t, rollout.InFlight, s.Requests[0].Status, "a turn still open at the end")
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		head: true,
		`{"sessionId":"s","projectHash":"p","messages":[{"type":"user","content":"x"}]}`: true,
		`{"sessionId":"s","projectHash":"p","messages":[]}`:                              true,
		`{"sessionId":"s","projectHash":"p","messages":[{"type":"assistant"}]}`:          false,
		`{"sessionId":"s","projectHash":"p","startTime":"t","id":"x"}`:                   false,
		`{"sessionId":"s","type":"user","cwd":"/"}`:                                      false,
		`{"sessionId":"s","messages":[{"type":"user"}]}`:                                 false,
		`{"trajectory":[],"history":[]}`:                                                 false,
		`{}`:                                                                             false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(text)}), text)
	}
	assert.False(t, Detect(nil))
}

// TestDamage: a file cut anywhere, or with its tail lost to zeros, is read up to
// there.
func TestDamage(t *testing.T) {
	for _, file := range []string{mainFile, oldFile} {
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "chat")
		for cut := 1; cut < len(whole); cut += 97 {
			require.NoError(t, os.WriteFile(path, whole[:cut], 0o644))
			_, err := Read(context.Background(), path)
			require.NoError(t, err, "%s cut at %d", file, cut)
		}
		require.NoError(t, os.WriteFile(path, append(bytes.Clone(whole), make([]byte, 5000)...), 0o644))
		s := readOne(t, path)
		assert.Equal(t, total(readOne(t, file)), total(s), file)
		assert.Equal(t, []string{"nul-bytes×1"}, kinds(s), file)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{mainFile, stubFile, subFile, oldFile} {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(head + "\n" + prompt("u", "x") + "\n" + reply("u", "y") + "\n" + `{"$rewindTo":"u"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "chat")
		if os.WriteFile(path, data, 0o644) != nil {
			t.Skip()
		}
		_, err := Read(context.Background(), path)
		if !errors.Is(err, logfile.ErrNotLog) {
			require.NoError(t, err)
		}
	})
}
