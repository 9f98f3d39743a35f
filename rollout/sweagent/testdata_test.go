package sweagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

const invented = "../../testdata/swe-agent/"

type totals struct {
	requests, calls                     int
	input, cacheRead, output, reasoning int64
	micros                              int64 // of USD
}

func total(s *rollout.Session) totals {
	t := totals{requests: len(s.Requests), calls: len(s.Calls)}
	for _, r := range s.Requests {
		t.input += value(r.Usage.Input)
		t.cacheRead += value(r.Usage.CacheRead)
		t.output += value(r.Usage.Output)
		t.reasoning += value(r.Usage.Reasoning)
		if r.LoggedUSD != nil {
			t.micros += int64(*r.LoggedUSD*1e6 + 0.5)
		}
	}
	return t
}

// TestTotals: the numbers of testdata/swe-agent/README.md.
func TestTotals(t *testing.T) {
	for name, want := range map[string]totals{
		"tools-1.1.traj":    {requests: 6, calls: 6},
		"messages-1.0.traj": {requests: 2, calls: 2},
		"windowed-0.7.traj": {requests: 5, calls: 5},
		"retry-1.1.traj":    {requests: 2, calls: 2},
		"mini-1.traj.json":  {requests: 5, calls: 4, input: 2860, cacheRead: 2048, output: 117, reasoning: 40, micros: 30000},
		"mini-2.traj.json":  {requests: 4, calls: 4, input: 1670, cacheRead: 1088, output: 72, reasoning: 5, micros: 7000},
	} {
		s := readOne(t, invented+name)
		assert.Equal(t, want, total(s), name)
		assert.Empty(t, s.Problems, name)
		for _, r := range s.Requests {
			assert.Equal(t, want.input > 0, r.Usage.Input != nil, "%s: usage of a request is known or it is not", name)
		}
	}
}

func TestReported(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	f := func(v float64) *float64 { return &v }
	for name, want := range map[string]rollout.Reported{
		"tools-1.1.traj":    {Requests: n(7), Usage: rollout.Usage{Input: n(950), Output: n(31)}, CostUSD: f(0.05)},
		"messages-1.0.traj": {Requests: n(2)},
		"windowed-0.7.traj": {Requests: n(5), Usage: rollout.Usage{Input: n(4000), Output: n(120)}, CostUSD: f(0.3)},
		"retry-1.1.traj":    {Requests: n(4), Usage: rollout.Usage{Input: n(60), Output: n(4)}, CostUSD: f(0.04)},
		"mini-1.traj.json":  {Requests: n(5), CostUSD: f(0.03)},
		"mini-2.traj.json":  {Requests: n(4), CostUSD: f(0.007)},
	} {
		want.Line = 1
		assert.Equal(t, []rollout.Reported{want}, readOne(t, invented+name).Reported, name)
	}
}

// payload lists the texts that a request carried, in order.
func payload(s *rollout.Session, r rollout.Request) []string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	var out []string
	for _, sp := range spans {
		out = append(out, s.Texts[sp.Text].S)
	}
	return out
}

// sent lists the texts of a query by walking its JSON: thinking, content, and
// arguments as compact JSON.
func sent(t *testing.T, query []any) []string {
	t.Helper()
	var out []string
	for _, q := range query {
		m := q.(map[string]any)
		if blocks, ok := m["thinking_blocks"].([]any); ok {
			for _, b := range blocks {
				out = append(out, b.(map[string]any)["thinking"].(string))
			}
		}
		switch c := m["content"].(type) {
		case string:
			if c != "" || m["role"] == "tool" {
				out = append(out, c)
			}
		case []any:
			for _, p := range c {
				out = append(out, p.(map[string]any)["text"].(string))
			}
		}
		if calls, ok := m["tool_calls"].([]any); ok {
			for _, c := range calls {
				var b bytes.Buffer
				require.NoError(t, json.Compact(&b, []byte(c.(map[string]any)["function"].(map[string]any)["arguments"].(string))))
				out = append(out, b.String())
			}
		}
	}
	return out
}

// queries compares every rebuilt payload with the query of its step.
func queries(t *testing.T, path string) int {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var doc struct {
		Trajectory []struct {
			Query []any `json:"query"`
		} `json:"trajectory"`
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	s := readOne(t, path)
	require.Len(t, s.Requests, len(doc.Trajectory))
	for i, step := range doc.Trajectory {
		assert.Equal(t, sent(t, step.Query), payload(s, s.Requests[i]), "request %d", i+1)
		assert.EqualValues(t, len(step.Query), *s.Requests[i].Messages)
	}
	return len(doc.Trajectory)
}

func TestQueriesAreThePayloads(t *testing.T) {
	assert.Equal(t, 6, queries(t, invented+"tools-1.1.traj"))
	s := readOne(t, invented+"tools-1.1.traj")
	for i, want := range []int{0, 0, 0, 0, 1, 2} {
		stubs := 0
		for _, text := range payload(s, s.Requests[i]) {
			if strings.HasPrefix(text, "Old environment output") {
				stubs++
			}
		}
		assert.Equal(t, want, stubs, "query %d", i+1)
	}
	results := 0
	for _, it := range s.Items {
		if it.Kind == rollout.ToolResult {
			results++
		}
	}
	assert.Equal(t, 5, results, "a shortened result is the same item; the last one was never sent")
}

func TestCalls(t *testing.T) {
	yes, no := true, false
	s := readOne(t, invented+"tools-1.1.traj")
	assert.Equal(t, []string{"functions.bash:0", "functions.str_replace_editor:0", "functions.str_replace_editor:0#2", "functions.str_replace_editor:0#3", "functions.bash:0#2", "functions.submit:0"}, ids(s))
	for i, want := range []rollout.Call{
		{Class: rollout.ShellTool, Command: "ls /repo", ReadOnly: true},
		{Class: rollout.ReadTool, Path: "/repo/big.go", ReadOnly: true, Truncated: rollout.Recoverable, Handle: "/repo/big.go", Failed: &no},
		{Class: rollout.ReadTool, Path: "/repo/big.go", Range: "9:11", ReadOnly: true, Recovers: "/repo/big.go", Failed: &no},
		{Class: rollout.EditTool, Path: "/repo/big.go", Mutates: true, Failed: &yes},
		{Class: rollout.ShellTool, Command: "cat run.log", ReadOnly: true, Truncated: rollout.Lost},
		{Class: rollout.OtherTool},
	} {
		got := s.Calls[i]
		assert.Equal(t, i, got.Request)
		assert.EqualValues(t, 250, *got.DurationMS)
		assert.Equal(t, s.Items[got.ArgsItem].Text, got.Args)
		assert.Equal(t, i < 5, got.ResultItem >= 0)
		assert.Equal(t, i == 4, got.Full != nil)
		got.Request, got.ID, got.Tool, got.Args, got.ArgsItem, got.ResultItem = 0, "", "", 0, 0, 0
		got.Ran, got.Line, got.DurationMS, got.Full = false, 0, nil, nil
		assert.Equal(t, want, got, "call %d", i)
	}
	assert.Equal(t, "line one"+strings.Repeat(" and more of it", 20), s.Texts[*s.Calls[4].Full].S)
}

func ids(s *rollout.Session) []string {
	var out []string
	for _, c := range s.Calls {
		out = append(out, c.ID)
	}
	return out
}

func TestTextCommands(t *testing.T) {
	s := readOne(t, invented+"windowed-0.7.traj")
	var got []string
	for _, c := range s.Calls {
		assert.Equal(t, -1, c.ArgsItem, "the command is part of the answer's text")
		got = append(got, fmt.Sprintf("%s %s %s%s %s>%s", c.Tool, c.Class, c.Path, c.Command, c.Truncated, c.Recovers))
	}
	assert.Equal(t, []string{"open read app.py recoverable>", "scroll_down read app.py recoverable>app.py", "bash shell python app.py >", "edit edit app.py >", "submit other  >"}, got)
	assert.True(t, *s.Calls[2].Failed, "a timeout")
	assert.Contains(t, s.Missing, "what history processors left out")
	assert.Equal(t, "demonstration", s.Items[1].Label)
}

func TestAttempts(t *testing.T) {
	s := readOne(t, invented+"retry-1.1.traj")
	assert.Equal(t, [2]int{0, 1}, [2]int{s.Requests[0].Chain, s.Requests[1].Chain}, "an attempt begins anew")
	assert.Equal(t, [2]int{1, 2}, [2]int{s.Requests[0].Run, s.Requests[1].Run})
	assert.Equal(t, []string{"You fix programs.", "Fix issue 12 in /repo."}, payload(s, s.Requests[1]))
}

func TestMini(t *testing.T) {
	s := readOne(t, invented+"mini-1.traj.json")
	last := payload(s, s.Requests[4])
	assert.Len(t, last, 10)
	for _, text := range s.Texts {
		assert.NotContains(t, text.S, "very long", "the submission was never sent")
	}
	assert.Equal(t, "gen-1", s.Requests[0].ID)
	assert.Equal(t, "lost", string(s.Calls[1].Truncated))
	assert.Equal(t, rollout.PollUnknown, s.Calls[2].Poll)
	assert.True(t, *s.Calls[2].Failed)
	assert.NotContains(t, s.Missing, "tool definitions", "none where commands stand in the text")

	s = readOne(t, invented+"mini-2.traj.json")
	assert.Equal(t, []string{"Use the bash tool.", "Fix issue 17.", `{"command":"ls"}`, `{"command":"cat run.log"}`, `{"returncode": 0, "output": "main.go"}`,
		`{"returncode": 1, "output_head": "line one", "output_tail": "more", "elided_chars": 500, "warning": "long"}`,
		"Your last answer had no tool call.", "Submitting.", `{"command":"git diff"}`, `{"returncode": 0, "output": "diff"}`}, payload(s, s.Requests[3]))
	require.NotNil(t, s.Calls[1].Full)
	assert.Equal(t, "line one"+strings.Repeat(" and much more", 40), s.Texts[*s.Calls[1].Full].S)
	assert.Equal(t, "acme/responder", s.Requests[2].Model)
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		`{"trajectory":[],"history":[]}`:                                     true,
		`{"trajectory":[{"action":"a","observation":"o"}],"history":[]}`:     true,
		`{"trajectory":[{"step_id":1}],"history":[]}`:                        false,
		`{"history":[{"role":"system","agent":"primary","content":"x"}]}`:    true,
		`{"history":[{"role":"user","content":"x"}]}`:                        false,
		`{"trajectory_format":"mini-swe-agent-1.1","messages":[]}`:           true,
		`{"trajectory_format":"other","messages":[]}`:                        false,
		`{"trajectory":{"a":1},"history":[]}`:                                false,
		`{"model":"m","messages":[{"role":"user"}]}`:                         false,
		`{"sessionId":"s","projectHash":"p","messages":[{"type":"gemini"}]}`: false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(text)}), text)
	}
	assert.False(t, Detect(nil))
}

// TestOddDocuments: what no version writes costs what is odd and nothing else.
func TestOddDocuments(t *testing.T) {
	for _, c := range []struct {
		doc      string
		requests int
		kinds    []string
	}{
		{`{"trajectory":[7,{"action":"ls","query":[{"role":"user","content":"x"}]}],"history":[]}`, 1, []string{"bad-record"}},
		{`{"trajectory":[{"action":"ls","response":"I look","query":[{"role":"user","content":"x"},{"role":9}]}],"history":{}}`, 1, nil},
		{`{"trajectory":[{"query":[{"role":"user","content":"x"}]},{"query":[{}]},{"query":[]}],"history":[]}`, 1, nil},
		{`{"trajectory":[],"history":[{"role":"tool","agent":"a","content":"x"},{"role":"assistant","agent":"a","content":"y"}],"info":{"model_stats":{"tokens_sent":-5,"instance_cost":-1,"api_calls":9007199254740993}}}`, 1, []string{"result-without-call", "bad-number", "bad-number"}},
		{`{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"assistant","content":"a","extra":{"response":{"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens_details":{"reasoning_tokens":4}}}}}]}`, 1, []string{"usage-inconsistent", "usage-inconsistent"}},
		{`{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"assistant","content":"a","extra":{"response":{"usage":{"prompt_tokens":-5,"completion_tokens":1e300}}}}]}`, 1, []string{"bad-number"}},
		{`{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"assistant","content":"a"},5]} {"more":1}`, 1, []string{"response-without-usage", "unknown-record"}},
	} {
		path := filepath.Join(t.TempDir(), "x.traj")
		require.NoError(t, os.WriteFile(path, []byte(c.doc), 0o644))
		s := readOne(t, path)
		assert.Len(t, s.Requests, c.requests, c.doc)
		var kinds []string
		for _, p := range s.Problems {
			kinds = append(kinds, p.Kind)
			if p.Count > 1 {
				kinds = append(kinds, p.Kind)
			}
		}
		assert.Subset(t, append(kinds, ""), append(c.kinds, ""), c.doc)
		assert.Equal(t, c.kinds == nil, kinds == nil, "%s: %v", c.doc, kinds)
	}
}

func TestDamage(t *testing.T) {
	for _, name := range []string{"tools-1.1.traj", "mini-2.traj.json"} {
		whole, err := os.ReadFile(invented + name)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "x.traj")
		for cut := 1; cut < len(whole); cut += 97 {
			require.NoError(t, os.WriteFile(path, whole[:cut], 0o644))
			_, err := Read(context.Background(), path)
			require.NoError(t, err, "%s cut at %d", name, cut)
		}
		require.NoError(t, os.WriteFile(path, append(whole, make([]byte, 5000)...), 0o644))
		assert.Equal(t, total(readOne(t, invented+name)), total(readOne(t, path)), "zeros behind %s", name)
	}
}

// TestRealFiles: payloads and sums against the JSON read in another way.
func TestRealFiles(t *testing.T) {
	assert.Equal(t, 14, queries(t, devdata.Dir(t, "swe-agent", "dask-8685-kimi.traj")))
	old := readOne(t, devdata.Dir(t, "swe-agent", "pydicom-1458-v07.traj"))
	assert.Len(t, old.Requests, 12)
	assert.Empty(t, old.Problems)

	path := devdata.Dir(t, "swe-agent", "mini-sympy__sympy-13091.traj.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(data, &doc))
	s := readOne(t, path)
	assert.Empty(t, s.Problems)
	want, texts := totals{calls: len(s.Calls)}, []string{}
	for _, raw := range doc["messages"].([]any) {
		m := raw.(map[string]any)
		if m["role"] == "assistant" {
			u := m["extra"].(map[string]any)["response"].(map[string]any)["usage"].(map[string]any)
			want.input += int64(u["prompt_tokens"].(float64))
			want.output += int64(u["completion_tokens"].(float64))
			want.cacheRead += int64(u["prompt_tokens_details"].(map[string]any)["cached_tokens"].(float64))
			if d, ok := u["completion_tokens_details"].(map[string]any); ok {
				want.reasoning += int64(d["reasoning_tokens"].(float64))
			}
			want.micros += int64(u["cost"].(float64)*1e6 + 0.5)
			assert.Equal(t, texts, payload(s, s.Requests[want.requests]), "request %d", want.requests+1)
			want.requests++
		}
		texts = append(texts, m["content"].(string))
	}
	assert.Equal(t, want, total(s))
	assert.EqualValues(t, want.requests, *s.Reported[0].Requests)
	assert.InDelta(t, float64(want.micros)/1e6, *s.Reported[0].CostUSD, 1e-4)
}

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob(invented + "*.traj*")
	require.NoError(f, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		var small bytes.Buffer
		require.NoError(f, json.Compact(&small, data))
		f.Add(small.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.traj")
		if os.WriteFile(path, data, 0o644) != nil {
			t.Skip()
		}
		_, err := Read(context.Background(), path)
		if !errors.Is(err, logfile.ErrNotLog) {
			require.NoError(t, err)
		}
	})
}
