package apilog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func testdata(name string) string { return filepath.Join("..", "..", "testdata", "api-log", name) }

func read(t testing.TB, path string) []*rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	return sessions
}

// file writes lines to a new log.
func file(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	return path
}

// totals are sums over all requests; missing counts as nothing.
type totals struct {
	sessions, requests                    int
	input, read, write, output, reasoning int64
}

func sumUp(sessions []*rollout.Session) totals {
	sum := totals{sessions: len(sessions)}
	add := func(to *int64, v *int64) {
		if v != nil {
			*to += *v
		}
	}
	for _, s := range sessions {
		sum.requests += len(s.Requests)
		for _, r := range s.Requests {
			add(&sum.input, r.Usage.Input)
			add(&sum.read, r.Usage.CacheRead)
			add(&sum.write, r.Usage.CacheWrite)
			add(&sum.output, r.Usage.Output)
			add(&sum.reasoning, r.Usage.Reasoning)
		}
	}
	return sum
}

// TestTotals has the numbers of testdata/api-log/README.md, counted by hand.
func TestTotals(t *testing.T) {
	for name, want := range map[string]totals{
		"claude-trace.jsonl": {2, 12, 9425 + 650, 7545, 1330, 289 + 30, 0},
		"chat.jsonl":         {1, 4, 740, 384, 0, 56, 12},
		"responses.jsonl":    {1, 4, 2030, 1408, 0, 102, 30},
		"gemini.har":         {1, 3, 1680, 960, 0, 62, 22},
		"litellm.jsonl":      {2, 4, 750, 100, 150, 28, 0},
		"langfuse.json":      {2, 3, 240, 120, 0, 19, 0},
		"helicone.jsonl":     {1, 3, 55, 0, 0, 7, 0},
		"bodies.jsonl":       {3, 4, 0, 0, 0, 0, 0},
		"otlp.jsonl":         {8, 9, 1623, 278, 0, 152, 0},
	} {
		assert.Equal(t, want, sumUp(read(t, testdata(name))), name)
	}
}

// TestTrace walks through the richest file.
func TestTrace(t *testing.T) {
	sessions := read(t, testdata("claude-trace.jsonl"))
	require.Len(t, sessions, 2)
	main, sub := sessions[0], sessions[1]
	assert.Equal(t, "7c1f0000-0000-4000-8000-000000000001", main.ID)
	assert.Equal(t, main.ID, sub.ParentID)
	assert.Equal(t, "toolu_4", sub.ParentCall)
	assert.Equal(t, time.Unix(1777885200, 0).UTC(), main.Started)

	var kinds []rollout.RequestKind
	var status []rollout.Status
	var chains, runs, attempts []int
	for _, r := range main.Requests {
		kinds, status = append(kinds, r.Kind), append(status, r.Status)
		chains, runs, attempts = append(chains, r.Chain), append(runs, r.Run), append(attempts, r.Attempt)
	}
	turn := rollout.KindTurn
	assert.Equal(t, []rollout.RequestKind{rollout.KindTitle, turn, turn, turn, turn, turn, turn, rollout.KindCompaction, turn, turn}, kinds)
	a := rollout.Answered
	assert.Equal(t, []rollout.Status{a, rollout.Errored, a, a, a, a, a, a, a, rollout.CutOff}, status)
	assert.Equal(t, []int{1, 0, 0, 0, 0, 0, 0, 2, 0, 0}, chains)
	assert.Equal(t, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, runs)
	assert.Equal(t, []int{1, 1, 2, 1, 1, 1, 1, 1, 1, 1}, attempts)
	assert.EqualValues(t, 2000, *main.Requests[0].DurationMS)
	assert.EqualValues(t, 900, *main.Requests[2].Usage.CacheWrite5m)
	assert.True(t, main.Requests[2].OutputFinal)

	calls := byID(main)
	require.Len(t, calls, 8)
	cut := calls["toolu_1"]
	assert.Equal(t, []any{rollout.ShellTool, "go test ./...", rollout.Recoverable, "/tmp/harbor/toolu_1.txt", true, 2},
		[]any{cut.Class, cut.Command, cut.Truncated, cut.Handle, *cut.Failed, cut.Request})
	back := calls["toolu_2"]
	assert.Equal(t, []any{rollout.ReadTool, "100:40", cut.Handle, "want 3, got 4"},
		[]any{back.Class, back.Range, back.Recovers, main.Texts[main.Items[back.ResultItem].Text].S})
	assert.Nil(t, back.Failed, "not told")
	assert.Equal(t, []any{rollout.AgentTool, sub.ID}, []any{calls["toolu_4"].Class, calls["toolu_4"].Child})
	assert.Equal(t, []any{"bash_1", true}, []any{calls["toolu_5"].Task, calls["toolu_5"].Starts})
	assert.Equal(t, []any{"bash_1", rollout.PollEmpty}, []any{calls["toolu_6"].Task, calls["toolu_6"].Poll})
	assert.Equal(t, []any{true, false, "tide/tide.go"}, []any{calls["toolu_8"].Denied, calls["toolu_8"].Ran, calls["toolu_8"].Path})

	count := map[rollout.ItemKind]int{}
	for _, it := range main.Items {
		count[it.Kind]++
	}
	assert.Equal(t, 5, count[rollout.ToolDefinitions], "the sub-agent's are its own, the compaction's the same")
	assert.Equal(t, 1, count[rollout.Summary])
	assert.Equal(t, 1, count[rollout.Reminder])
	assert.Equal(t, 1, count[rollout.Image])
	assert.Equal(t, 8, count[rollout.ToolCall])
	assert.Equal(t, 8, count[rollout.ToolResult])
}

func byID(s *rollout.Session) map[string]rollout.Call {
	out := map[string]rollout.Call{}
	for _, c := range s.Calls {
		out[c.ID] = c
	}
	return out
}

// TestOutputsAreTied: what a response produced is the item the next body carries,
// not another one of the same text.
func TestOutputsAreTied(t *testing.T) {
	for _, name := range []string{"claude-trace.jsonl", "chat.jsonl", "responses.jsonl", "gemini.har", "litellm.jsonl", "langfuse.json", "helicone.jsonl"} {
		for _, s := range read(t, testdata(name)) {
			for _, sp := range s.Spans {
				it := s.Items[sp.Item]
				if it.Role == rollout.RoleAssistant {
					assert.GreaterOrEqual(t, it.Request, 0, "%s: a %s of no response", name, it.Kind)
				}
			}
		}
	}
}

func TestProblemsAreTold(t *testing.T) {
	for name, want := range map[string][]string{
		"claude-trace.jsonl": {"other-call"}, "gemini.har": {"other-call"}, "responses.jsonl": {"partial-body"},
		"litellm.jsonl": {"redacted-body"}, "otlp.jsonl": {"partial-body"}, "chat.jsonl": nil, "helicone.jsonl": nil, "langfuse.json": nil, "bodies.jsonl": nil,
	} {
		var kinds []string
		for _, s := range read(t, testdata(name)) {
			for _, p := range s.Problems {
				kinds = append(kinds, p.Kind)
			}
		}
		assert.Equal(t, want, kinds, name)
	}
}

func TestSpansOfAgents(t *testing.T) {
	sessions := read(t, testdata("otlp.jsonl"))
	s := sessions[0]
	assert.Equal(t, "conv-1", s.ID)
	assert.Equal(t, "tester", s.Agent)
	assert.EqualValues(t, 4000, *byID(s)["call_o1"].DurationMS, "from its execute_tool span")
	assert.Equal(t, []string{"o-1", "o-2"}, []string{s.Requests[0].ID, s.Requests[1].ID})
	last := sessions[len(sessions)-1]
	assert.Equal(t, []string{"request bodies", "parts of some bodies"}, last.Missing)
}

func TestDetect(t *testing.T) {
	for in, want := range map[string]bool{
		`{"model":"m","messages":[{"role":"user","content":"x"}]}`:                             true,
		`{"model":"m","input":"x"}`:                                                            true,
		`{"contents":[{"parts":[{"text":"x"}]}]}`:                                              true,
		`{"request":{"model":"m","messages":[]},"response":null}`:                              true,
		`{"request":{"url":"https://api/v1/messages","body":{"messages":[]}},"response":null}`: true,
		`{"log":{"entries":[]}}`:                                                               true,
		`{"resourceSpans":[{"x":"\"gen_ai."},{"key":"gen_ai.system"}]}`:                        true,
		`{"resourceSpans":[{"key":"http.method"}]}`:                                            false,
		`{"messages":[{"role":"user","content":"x"}],"info":{}}`:                               false,
		`{"messages":[{"role":"user","content":"x"}]}`:                                         false,
		`{"type":"user","message":{"role":"user","content":"x"},"sessionId":"s"}`:              false,
		`{"type":"SPAN","trace_id":"t","usage_details":{}}`:                                    false,
		`{"log":{"version":1}}`:                                                                false,
		`{"request":"x"}`:                                                                      false,
		`{}`:                                                                                   false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(in)}), in)
	}
}

// TestBodiesThatWereNotKept: gateways that keep no prompts still say what a call
// cost. Calls of other kinds are no requests.
func TestBodiesThatWereNotKept(t *testing.T) {
	for name, line := range map[string]string{
		"spend row": `{"request_id":"a","call_type":"acompletion","messages":{},"proxy_server_request":{},"prompt_tokens":7,"completion_tokens":2,"session_id":"s","startTime":"2026-05-04T09:00:00Z"}`,
		"helicone":  `{"request_id":"a","request_created_at":"2026-05-04T09:00:00Z","signed_body_url":"https://example.org/a","prompt_tokens":7,"completion_tokens":2,"properties":{"Helicone-Session-Id":"s"}}`,
		"langfuse":  `{"id":"a","type":"GENERATION","trace_id":"t","session_id":"s","usage_details":{"input":7,"output":2},"input":null,"start_time":"2026-05-04 09:00:00"}`,
	} {
		s := read(t, file(t, line))[0]
		assert.Equal(t, "s", s.ID, name)
		assert.Equal(t, []string{"request bodies"}, s.Missing, name)
		assert.Equal(t, totals{1, 1, 7, 0, 0, 2, 0}, sumUp([]*rollout.Session{s}), name)
		assert.Equal(t, "a", s.Requests[0].ID, name)
	}
	_, err := Read(context.Background(), file(t, `{"request_id":"a","call_type":"aembedding","messages":{},"proxy_server_request":{},"prompt_tokens":7}`))
	assert.ErrorContains(t, err, "no call of a model")
}
