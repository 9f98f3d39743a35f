package copilot

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const (
	fixtures = "../../testdata/copilot-cli"
	current  = "session-state/3b1e7c40-0000-4000-8000-00000000c0de/events.jsonl"
	subAgent = "9d2f0000-0000-4000-8000-0000000000aa"
)

func read(t *testing.T, file string) []*rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), filepath.Join(fixtures, file))
	require.NoError(t, err)
	return sessions
}

func sum(s *rollout.Session) (total []int64) {
	total = make([]int64, 5)
	for _, r := range s.Requests {
		for i, v := range []*int64{r.Usage.Input, r.Usage.CacheRead, r.Usage.CacheWrite, r.Usage.Output, r.Usage.Reasoning} {
			total[i] += value(v)
		}
	}
	return total
}

// The numbers stand, with their arithmetic, in testdata/copilot-cli/README.md.
func TestTotals(t *testing.T) {
	for _, c := range []struct {
		file     string
		session  int
		requests int
		totals   []int64 // input, cache read, cache write, output, reasoning
		problems []string
	}{
		{current, 0, 13, []int64{16050, 13312, 512, 320, 15}, nil},
		{current, 1, 2, []int64{640, 256, 0, 18, 0}, nil},
		{"flat-1.0.34.jsonl", 0, 3, []int64{0, 0, 0, 60, 0}, []string{"call-without-response"}},
		{"session_5a000000_history.json", 0, 2, make([]int64, 5), nil},
		{"session_5a000000_timeline.json", 0, 3, make([]int64, 5), []string{"display-only"}},
	} {
		s := read(t, c.file)[c.session]
		assert.Len(t, s.Requests, c.requests, c.file)
		assert.Equal(t, c.totals, sum(s), c.file)
		assert.Equal(t, c.problems, problems(s), c.file)
	}
}

func problems(s *rollout.Session) (out []string) {
	for _, p := range s.Problems {
		out = append(out, p.Kind)
	}
	return out
}

func TestReported(t *testing.T) {
	sessions := read(t, current)
	require.Len(t, sessions[0].Reported, 1)
	main, sub := sessions[0].Reported[0], sessions[1].Reported[0]
	assert.Equal(t, "gpt-5.4", main.Model)
	assert.Equal(t, []int64{13, 17900, 15104, 512, 380, 15}, []int64{*main.Requests, *main.Usage.Input, *main.Usage.CacheRead, *main.Usage.CacheWrite, *main.Usage.Output, *main.Usage.Reasoning})
	assert.Equal(t, []int64{2, 640, 18}, []int64{*sub.Requests, *sub.Usage.Input, *sub.Usage.Output})
	require.Len(t, sessions[0].OtherBilled, 1, "the compaction is told twice and counts once")
	o := sessions[0].OtherBilled[0]
	assert.Equal(t, "conversation-compaction", o.Kind)
	assert.Equal(t, []int64{1850, 1792, 60}, []int64{*o.Usage.Input, *o.Usage.CacheRead, *o.Usage.Output})

	old := read(t, "flat-1.0.34.jsonl")[0]
	assert.EqualValues(t, 3000, *old.Reported[0].Usage.Input)
	assert.Contains(t, old.Missing, "usage of requests")
}

// texts are the kinds and texts of what a request carried.
func texts(s *rollout.Session, request int) []string {
	var out []string
	for _, sp := range payload(s, request) {
		text := s.Texts[sp.Text].S
		if s.Texts[sp.Text].Opaque {
			text = "(opaque)"
		}
		out = append(out, string(s.Items[sp.Item].Kind)+": "+text)
	}
	return out
}

const stamp = "<current_datetime>2026-05-04T09:00:00Z</current_datetime>\n\n"

func TestPayloads(t *testing.T) {
	s := read(t, current)[0]
	assert.Equal(t, []string{
		"system_prompt: You mill flour.",
		"user_text: " + stamp + "Make the grinder tests pass.",
		"reasoning: Start with the grinder.",
		"assistant_text: I will look around.",
		`tool_call: {"pattern":"grind","-n":true}`,
		`tool_call: {"path":"/home/u/mill/grind.go","view_range":[1,3]}`,
		"tool_result: grind.go:3:func Grind() {}",
		"tool_result: package mill\n\nfunc Grind() {}",
	}, texts(s, 1), "results come in the order asked for")

	failed, retry := s.Requests[8], s.Requests[9]
	assert.Equal(t, []rollout.Status{rollout.Errored, rollout.Answered}, []rollout.Status{failed.Status, retry.Status})
	assert.Equal(t, []int{1, 2}, []int{failed.Attempt, retry.Attempt})
	assert.Nil(t, failed.Usage.Input)
	assert.Equal(t, texts(s, 8), texts(s, 9))
	last := texts(s, 8)
	assert.Equal(t, []string{"tool_result: Modified 1 file(s): grind.go", "tool_result: old_str was not found"}, last[len(last)-2:])

	background := texts(s, 10)
	assert.Equal(t, []string{
		"reminder: <system_notification>\nAgent \"survey\" is idle.\n</system_notification>",
		`tool_call: {"agent_id":"` + subAgent + `"}`,
		"tool_result: Agent is idle. agent_id: " + subAgent + ", status: idle\n\nThere is one.",
	}, background[len(background)-3:])

	assert.Equal(t, []string{
		"system_prompt: You mill flour.",
		"summary: Grind returns 1; the tests pass.",
		"user_text: " + stamp + "Thanks. What changed?",
	}, texts(s, 12))
	assert.Equal(t, []int{1, 1, 2}, []int{s.Requests[0].Run, s.Requests[11].Run, s.Requests[12].Run})
	assert.EqualValues(t, 1, *s.Requests[0].Messages)
	assert.EqualValues(t, 4, *s.Requests[1].Messages)
	assert.Equal(t, []int64{900, 400}, []int64{*s.Requests[0].DurationMS, *s.Requests[0].TTFTMS})
	assert.True(t, s.Requests[0].Subscription)

	var parts []string
	for _, it := range s.Items {
		if it.Request == 12 {
			parts = append(parts, s.Texts[it.Text].S)
		}
	}
	assert.Equal(t, []string{"", "One file: ", "grind.go."}, parts, "two messages of one response")
}

func TestSubAgent(t *testing.T) {
	sessions := read(t, current)
	require.Len(t, sessions, 2)
	main, sub := sessions[0], sessions[1]
	assert.Equal(t, main.ID+"/"+subAgent, sub.ID)
	assert.Equal(t, []string{main.ID, "t11", "explore"}, []string{sub.ParentID, sub.ParentCall, sub.Agent})
	assert.Equal(t, []string{
		"system_prompt: You explore.", "user_text: " + stamp + "Count the tests.",
		`tool_call: {"pattern":"**/*_test.go"}`, "tool_result: grind_test.go",
	}, texts(sub, 1))
	assert.Equal(t, sub.ID, calls(main)["t11"].Child)
}

func calls(s *rollout.Session) map[string]rollout.Call {
	out := map[string]rollout.Call{}
	for _, c := range s.Calls {
		out[c.ID] = c
	}
	return out
}

func TestCalls(t *testing.T) {
	c := calls(read(t, current)[0])
	require.Len(t, c, 13)
	assert.Equal(t, []string{"/home/u/mill/grind.go", "1:3"}, []string{c["t2"].Path, c["t2"].Range})
	assert.Equal(t, rollout.SearchTool, c["t1"].Class)
	assert.Equal(t, []string{"/tmp/copilot-out-1.txt", "/tmp/copilot-out-1.txt"}, []string{c["t3"].Handle, c["t4"].Recovers})
	assert.Equal(t, rollout.Recoverable, c["t3"].Truncated)
	assert.Equal(t, "1:", c["t4"].Range)
	assert.True(t, c["t5"].Starts)
	for id, want := range map[string]rollout.PollClass{"t5": rollout.NoPoll, "t6": rollout.PollProgress, "t7": rollout.PollEmpty, "t8": rollout.PollFinal} {
		assert.Equal(t, want, c[id].Poll, id)
		assert.Equal(t, "soak", c[id].Task, id)
	}
	assert.Equal(t, []string{"grind.go", "/home/u/mill/README.md"}, []string{c["t9"].Path, c["t10"].Path})
	assert.Equal(t, []bool{false, true}, []bool{*c["t9"].Failed, *c["t10"].Failed})
	assert.Equal(t, []string{subAgent, subAgent}, []string{c["t11"].Task, c["1f2e0000-0000-4000-8000-0000000000bb"].Task})
	assert.Equal(t, rollout.PollFinal, c["1f2e0000-0000-4000-8000-0000000000bb"].Poll)
	assert.Equal(t, -1, c["1f2e0000-0000-4000-8000-0000000000bb"].Request, "no model asked for it")
	assert.Equal(t, c["t2"].Args, c["t12"].Args)
}

func TestOlder(t *testing.T) {
	s := read(t, "flat-1.0.34.jsonl")[0]
	assert.Equal(t, []string{
		"system_prompt: You mill flour.", "user_text: " + stamp + "List the files.",
		"reasoning: A look first.", `tool_call: {"intent":"Looking"}`, `tool_call: {"path":"/home/u/mill"}`, `tool_call: {"pattern":"*.md"}`,
		"tool_result: Intent logged", "tool_result: grind.go\nREADME.md", "tool_result: README.md",
	}, texts(s, 1))
	assert.Equal(t, []string{
		"system_prompt: You mill flour.", "assistant_text: Two files.", "user_text: " + stamp + "And the rest?",
	}, texts(s, 2))
	assert.Equal(t, "claude-sonnet-4.6", s.Requests[0].Model)
	assert.Equal(t, "m1", s.Requests[0].ID)
}

func TestLegacy(t *testing.T) {
	s := read(t, "session_5a000000_history.json")[0]
	assert.Equal(t, []string{
		"user_text: Read both.", "assistant_text: I read them.",
		`tool_call: {"command":"view","path":"/home/u/a"}`, `tool_call: {"command":"cat b"}`,
		"tool_result: 1. a text", "tool_result: b text\n<exited with exit code 0>",
	}, texts(s, 1))
	assert.Equal(t, []rollout.ToolClass{rollout.ReadTool, rollout.ShellTool}, []rollout.ToolClass{s.Calls[0].Class, s.Calls[1].Class})
	assert.Equal(t, 1, s.Records)

	s = read(t, "session_5a000000_timeline.json")[0]
	assert.Equal(t, []string{
		"user_text: Fix it.", "assistant_text: Looking.",
		`tool_call: {"command":"view","path":"/home/u/a"}`, `tool_call: {"command":"make"}`,
		"tool_result: a text", "tool_result: no rule",
		`tool_call: {"command":"str_replace","path":"/home/u/a","old_str":"x","new_str":"y"}`, "tool_result: done",
	}, texts(s, 2))
	for _, it := range s.Items {
		assert.Equal(t, rollout.Inferred, it.Origin)
	}
	assert.Contains(t, s.Missing, "results as sent")
	assert.Equal(t, rollout.EditTool, s.Calls[2].Class)
	assert.True(t, *s.Calls[1].Failed)
}
