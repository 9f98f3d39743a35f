package codex

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func sample(t testing.TB, name string) *rollout.Session {
	t.Helper()
	return readOne(t, filepath.Join("..", "..", "testdata", "codex", name))
}

// TestSampleTotals holds the sums of testdata/codex/README.md, which shows them
// term by term.
func TestSampleTotals(t *testing.T) {
	for name, want := range map[string]sums{
		"poll-0.104.jsonl":             {requests: 4, input: 21035, cacheRead: 15232, output: 215, reasoning: 100},
		"resume-0.57.jsonl":            {requests: 3, input: 3300, cacheRead: 1000, output: 150},
		"fork-parent.jsonl":            {requests: 2, input: 6100, cacheRead: 3000, output: 80},
		"fork-child.jsonl":             {requests: 1, input: 3200, cacheRead: 3072, output: 20},
		"fork-sibling-old-times.jsonl": {requests: 1, input: 3200, cacheRead: 3072, output: 20},
		"compaction-0.118.jsonl":       {requests: 7, input: 15290, cacheRead: 9900, output: 160},
		"code-mode-0.160.jsonl":        {requests: 3, input: 27220, cacheRead: 18048, output: 85, cacheWrite: 9000, cacheWriteKnown: true},
		"pre-envelope.jsonl":           {requests: 2},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, want, sumOf(sample(t, name))) })
	}
}

const (
	permissions = "<permissions instructions>\nEverything is allowed.\n</permissions instructions>"
	agentsMD    = "# AGENTS.md instructions for /src/demo\n\n<INSTRUCTIONS>\nRun the tests before you finish.\n</INSTRUCTIONS>"
	environment = "<environment_context>\n  <cwd>/src/demo</cwd>\n  <shell>bash</shell>\n</environment_context>"
)

// texts lists a request's payload; opaque parts as "(opaque)".
func texts(s *rollout.Session, request int) []string {
	var out []string
	for _, sp := range payload(s, s.Requests[request]) {
		if s.Texts[sp.Text].Opaque {
			out = append(out, "(opaque)")
			continue
		}
		out = append(out, s.Texts[sp.Text].S)
	}
	return out
}

func kinds(s *rollout.Session, request int) []rollout.ItemKind {
	var out []rollout.ItemKind
	for _, sp := range payload(s, s.Requests[request]) {
		out = append(out, s.Items[sp.Item].Kind)
	}
	return out
}

func problemKinds(s *rollout.Session) []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, p.Kind)
	}
	return out
}

func TestPollPayloads(t *testing.T) {
	s := sample(t, "poll-0.104.jsonl")
	first := []string{"You are a coding agent.", permissions, agentsMD, environment, "run the tests"}
	assert.Equal(t, first, texts(s, 0))
	assert.Equal(t, []rollout.ItemKind{rollout.SystemPrompt, rollout.Reminder, rollout.ProjectContext, rollout.ProjectContext, rollout.UserText}, kinds(s, 0))
	calls := []string{
		`{"cmd":"go test ./...","yield_time_ms":1000}`,
		`{"cmd":"sed -n '1,40p' main.go"}`,
		"Chunk ID: a1b2c3\nWall time: 1.0010 seconds\nProcess running with session ID 7\nOriginal token count: 0\nOutput:\n",
		"Chunk ID: b2c3d4\nWall time: 0.0500 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\npackage main\n",
	}
	assert.Equal(t, append(append(append([]string{}, first...), "**Running tests**", "(opaque)"), calls...), texts(s, 1))
	// The last request begins a new turn: its input, 5335, is what the one before
	// left (5400 + 30) without the 100 tokens of reasoning, and a prompt of about five.
	last := append(append(append([]string{}, first...), calls...),
		`{"session_id":7,"chars":"","yield_time_ms":5000}`,
		"Chunk ID: d4e5f6\nWall time: 4.0000 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\nok  demo  4.1s\n",
		"All tests pass.", "thank you")
	assert.Equal(t, last, texts(s, 3))
	assert.Empty(t, s.Problems)
}

func TestPollRequestsAndCalls(t *testing.T) {
	s := sample(t, "poll-0.104.jsonl")
	assert.Equal(t, []int{1, 1, 1, 2}, []int{s.Requests[0].Run, s.Requests[1].Run, s.Requests[2].Run, s.Requests[3].Run})
	for _, r := range s.Requests {
		assert.Equal(t, "gpt-5.3-codex", r.Model)
		assert.Equal(t, "openai", r.Provider)
		assert.True(t, r.Subscription)
		assert.Nil(t, r.Usage.CacheWrite)
	}
	// Three messages at first; then reasoning, two calls and two outputs more.
	assert.EqualValues(t, 3, *s.Requests[0].Messages)
	assert.EqualValues(t, 8, *s.Requests[1].Messages)

	require.Len(t, s.Calls, 3)
	run, read, poll := s.Calls[0], s.Calls[1], s.Calls[2]
	assert.Equal(t, rollout.ShellTool, run.Class)
	assert.Equal(t, "go test ./...", run.Command)
	assert.Equal(t, "7", run.Task)
	assert.True(t, run.Starts)
	assert.Nil(t, run.Failed, "it still runs")
	assert.EqualValues(t, 1001, *run.DurationMS)
	assert.True(t, read.ReadOnly)
	assert.Equal(t, "main.go", read.Path)
	assert.Equal(t, "1:40", read.Range)
	assert.Equal(t, rollout.PollTool, poll.Class)
	assert.Equal(t, rollout.PollFinal, poll.Poll)
	assert.Equal(t, "7", poll.Task)
	assert.False(t, *poll.Failed)

	var reasoning []int64
	for _, it := range s.Items {
		if it.Kind == rollout.Reasoning {
			reasoning = append(reasoning, *it.Tokens)
		}
	}
	assert.Equal(t, []int64{0, 100}, reasoning, "summary and encrypted text")
}

func TestResume(t *testing.T) {
	s := sample(t, "resume-0.57.jsonl")
	assert.Equal(t, []string{
		"<user_instructions>\n\nBe brief.\n\n</user_instructions>", environment, "rename a.go", "(opaque)",
		`{"command":["bash","-lc","mv a.go b.go"],"workdir":"/src/demo"}`,
		"Exit code: 1\nWall time: 0.5 seconds\nOutput:\nmv: \"a.go\" is\n",
		"*** Begin Patch\n*** Update File: b.go\n@@\n-a\n+b\n*** End Patch",
		`{"command":["go","build","./..."]}`,
		"aborted",
		"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM b.go\n",
		"go on",
	}, texts(s, 2))
	assert.Equal(t, []string{"totals-disagree", "missing-result"}, problemKinds(s))
	assert.Equal(t, "gpt-5-codex", s.Requests[0].Model, "named only later")
	assert.Equal(t, "mv a.go b.go", s.Calls[0].Command)
	assert.True(t, *s.Calls[0].Failed)
	assert.Equal(t, "b.go", s.Calls[1].Path)
	assert.False(t, s.Calls[2].Ran)
	assert.Contains(t, s.Missing, "system prompt")
}

func TestForks(t *testing.T) {
	for _, name := range []string{"fork-child.jsonl", "fork-sibling-old-times.jsonl"} {
		t.Run(name, func(t *testing.T) {
			s := sample(t, name)
			assert.Equal(t, "019c9000-0000-7000-8000-0000000000f0", s.ParentID)
			assert.Equal(t, s.ParentID, s.ForkedFrom)
			assert.Equal(t, "worker", s.Agent)
			require.Len(t, s.Requests, 3)
			assert.True(t, s.Requests[0].Inherited)
			assert.True(t, s.Requests[1].Inherited)
			assert.False(t, s.Requests[2].Inherited)
			assert.Equal(t, []string{"You are a coding agent.", agentsMD, environment, "write a parser", "The parser is written.", "review it"}, texts(s, 2))
			assert.Empty(t, s.Problems)
		})
	}
	assert.False(t, sample(t, "fork-child.jsonl").SpawnedAt.IsZero())
}

func TestCompactions(t *testing.T) {
	s := sample(t, "compaction-0.118.jsonl")
	assert.Equal(t, rollout.KindCompaction, s.Requests[2].Kind)
	summary := "Another model worked on this. Its summary:\nThe user wanted the files counted; there are 12."
	assert.Equal(t, []string{"You are a coding agent.", permissions, environment, "count the files", summary, "and the folders?"}, texts(s, 3))
	assert.Equal(t, []string{"You are a coding agent.", "count the files", "(opaque)"}, texts(s, 4))
	assert.Equal(t, []string{"You are a coding agent.", "count the files", "(opaque)", "Anything else?", "keep them"}, texts(s, 6), "after the rollback")

	var spans []rollout.Span
	for _, sp := range s.Spans {
		if s.Texts[sp.Text].S == "count the files" {
			spans = append(spans, sp)
		}
	}
	require.Len(t, spans, 3, "one before, between and after the compactions")
	for _, sp := range spans {
		assert.Equal(t, spans[0].Item, sp.Item, "the same item")
	}
	for _, it := range s.Items {
		if it.Kind == rollout.Summary && s.Texts[it.Text].S == summary {
			assert.Equal(t, 2, it.Request, "written by the compaction request")
		}
	}
	require.Len(t, s.OtherBilled, 1)
	assert.EqualValues(t, 1020, *s.OtherBilled[0].Usage.Input)
	assert.True(t, s.OtherBilled[0].Estimate)
	assert.Empty(t, s.Problems)
}

func TestCodeMode(t *testing.T) {
	s := sample(t, "code-mode-0.160.jsonl")
	assert.Equal(t, []string{
		`{"type":"additional_tools","id":"at_1","role":"developer","tools":[{"type":"custom","name":"exec","description":"Runs JavaScript."}]}`,
		"You are a coding agent.", agentsMD, environment, "start the soak test",
		"const r = await tools.exec_command({\"cmd\":\"./soak.sh\"});\ntext(r.output);\n",
		"Script running with cell ID 4\nWall time 10.0 seconds\nOutput:\n",
		`{"cell_id":"4","yield_time_ms":10000}`,
		"Script completed\nWall time 5.5 seconds\nOutput:\n", "soak passed\n",
	}, texts(s, 2))
	assert.Equal(t, "resp_1", s.Requests[0].ID)
	start, wait := s.Calls[0], s.Calls[1]
	assert.Equal(t, "./soak.sh", start.Command)
	assert.Equal(t, "cell 4", start.Task)
	assert.True(t, start.Starts)
	assert.Equal(t, "exec_command", s.Items[start.ArgsItem].Label)
	assert.Equal(t, rollout.PollFinal, wait.Poll)
	assert.Equal(t, "cell 4", wait.Task)
	require.Equal(t, []string{"unknown-record"}, problemKinds(s))
	assert.Equal(t, 2, s.Problems[0].Count)
}

func TestPreEnvelope(t *testing.T) {
	s := sample(t, "pre-envelope.jsonl")
	assert.Equal(t, "5973b6c0-94b8-487b-a530-2aeb6098ae0e", s.ID)
	assert.Equal(t, time.Date(2025, 8, 7, 17, 24, 21, 101_000_000, time.UTC), s.Started)
	for _, r := range s.Requests {
		assert.Equal(t, rollout.Usage{}, r.Usage)
		assert.Equal(t, rollout.Answered, r.Status)
	}
	assert.Equal(t, []string{"fix the test", `{"command":["ls"]}`, `{"output":"a.go\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`}, texts(s, 1))
	assert.Contains(t, s.Missing, "usage")
	assert.Empty(t, s.Problems)
}
