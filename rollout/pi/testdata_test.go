package pi

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const fixtures = "../../testdata/pi"

func read(t *testing.T, path string) *rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	return sessions[0]
}

func TestSubAgent(t *testing.T) {
	sessions, err := Read(context.Background(), filepath.Join(fixtures, "tree-v3.jsonl"))
	require.NoError(t, err)
	require.Len(t, sessions, 2)
	main, sub := sessions[0], sessions[1]
	assert.Equal(t, main.ID+"/t10/1", sub.ID)
	assert.Equal(t, []string{main.ID, "t10", "critic"}, []string{sub.ParentID, sub.ParentCall, sub.Agent})
	assert.Equal(t, []string{"user_text: Task: Judge the line."}, texts(sub, 0))
	requests, input, _, _, output := sum(sub)
	assert.Equal(t, []int64{1, 70, 9}, []int64{int64(requests), input, output})
	for _, c := range main.Calls {
		if c.ID == "t10" {
			assert.Equal(t, sub.ID, c.Child)
		}
	}
}

// sum adds up what requests of the session's own report.
func sum(s *rollout.Session) (requests int, input, read, write, output int64) {
	value := func(v *int64) int64 {
		if v == nil {
			return 0
		}
		return *v
	}
	for _, r := range s.Requests {
		if r.Inherited {
			continue
		}
		requests++
		input, read = input+value(r.Usage.Input), read+value(r.Usage.CacheRead)
		write, output = write+value(r.Usage.CacheWrite), output+value(r.Usage.Output)
	}
	return requests, input, read, write, output
}

// The numbers stand, with their arithmetic, in testdata/pi/README.md.
func TestTotals(t *testing.T) {
	for _, c := range []struct {
		file                              string
		requests                          int
		input, read, write, output, total int64
	}{
		{"tree-v3.jsonl", 14, 45590, 38860, 4820, 435, 14},
		{"fork-v3.jsonl", 1, 3155, 3000, 150, 25, 2},
		{"linear-v1.jsonl", 4, 400, 0, 0, 30, 4},
	} {
		s := read(t, filepath.Join(fixtures, c.file))
		requests, input, cacheRead, cacheWrite, output := sum(s)
		assert.Equal(t, c.requests, requests, c.file)
		assert.Equal(t, []int64{c.input, c.read, c.write, c.output}, []int64{input, cacheRead, cacheWrite, output}, c.file)
		assert.Len(t, s.Requests, int(c.total), c.file)
		assert.Empty(t, s.Problems, c.file)
	}
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

func at(t *testing.T, s *rollout.Session, line int) int {
	t.Helper()
	for i, r := range s.Requests {
		if r.Line == line {
			return i
		}
	}
	require.Fail(t, "no request", "line %d", line)
	return -1
}

func TestTreePayloads(t *testing.T) {
	s := read(t, filepath.Join(fixtures, "tree-v3.jsonl"))
	retry := s.Requests[at(t, s, 18)]
	failed := s.Requests[at(t, s, 17)]
	assert.Equal(t, rollout.Errored, failed.Status)
	assert.Nil(t, failed.Usage.Input, "zeros of a failed call are no usage")
	assert.Equal(t, []int{1, 2}, []int{failed.Attempt, retry.Attempt})
	assert.Equal(t, texts(s, at(t, s, 17)), texts(s, at(t, s, 18)))

	branch, main := at(t, s, 24), at(t, s, 30)
	assert.Equal(t, []int{1, 0}, []int{s.Requests[branch].Chain, s.Requests[main].Chain})
	stem := texts(s, at(t, s, 22))
	assert.Equal(t, append(stem, "assistant_text: Fixed: the first item was left out.", "user_text: Also speed it up."), texts(s, branch))
	assert.Equal(t, append(stem,
		"assistant_text: Fixed: the first item was left out.",
		"summary: The following is a summary of a branch that this conversation came back from:\n\n<summary>\nSpeed was looked at; nothing to gain.</summary>",
		"user_text: Ran `git status -s`\n```\n M src/cart.py\n```",
		"reminder: Every change needs a line in CHANGES.",
		"user_text: Write that line.",
	), texts(s, main), "the abandoned answer is not in it, nor the command kept from the model")

	compacted := []string{
		"summary: The conversation history before this point was compacted into the following summary:\n\n<summary>\nThe totals are fixed; CHANGES is under way.\n</summary>",
		"user_text: Write that line.",
		`tool_call: {"agent":"scout","task":"Find the format of CHANGES."}`,
		`tool_call: {"path":"CHANGES","content":"- totals hold all items\n"}`,
		"tool_result: One dash a line.",
		"tool_result: No result provided",
		"user_text: Go on.",
	}
	assert.Equal(t, compacted, texts(s, at(t, s, 35)))
	assert.Equal(t, append(compacted, "reasoning: The line is still missing.", "assistant_text: It is written now.", "user_text: Thanks."),
		texts(s, at(t, s, 37)), "another model cannot read the encrypted reasoning")

	runs := []int{}
	for _, line := range []int{4, 22, 24, 30, 35, 37} {
		runs = append(runs, s.Requests[at(t, s, line)].Run)
	}
	assert.Equal(t, []int{1, 1, 2, 3, 4, 5}, runs)
	assert.EqualValues(t, 1, *s.Requests[0].Messages)
	assert.EqualValues(t, 6, *s.Requests[at(t, s, 35)].Messages, "two calls are one message")
	assert.InDelta(t, 0.0125, *s.Requests[0].LoggedUSD, 1e-12)
	assert.Nil(t, s.Requests[2].LoggedUSD, "zero is no price")
	assert.Equal(t, "msg_a1", s.Requests[0].ID)
	assert.Equal(t, "e0000010@1777885230000", failed.ID, "15 entries of 2 seconds after 09:00")
}

func TestTreeCalls(t *testing.T) {
	s := read(t, filepath.Join(fixtures, "tree-v3.jsonl"))
	calls := map[string]rollout.Call{}
	for _, c := range s.Calls {
		calls[c.ID] = c
	}
	require.Len(t, calls, 11)
	assert.Equal(t, "grep -rn total src", calls["t1"].Command)
	assert.True(t, calls["t1"].ReadOnly)
	assert.Equal(t, []string{"src/cart.py", ""}, []string{calls["t2"].Path, calls["t2"].Range})
	assert.True(t, calls["t3"].Starts)
	for id, poll := range map[string]rollout.PollClass{"t3": rollout.NoPoll, "t4": rollout.PollUnknown, "t5": rollout.PollEmpty} {
		assert.Equal(t, "/tmp/check.log", calls[id].Task, id)
		assert.Equal(t, poll, calls[id].Poll, id)
	}
	assert.Equal(t, rollout.Recoverable, calls["t6"].Truncated)
	assert.Equal(t, "/tmp/pi-bash-01.log", calls["t6"].Handle)
	assert.True(t, *calls["t6"].Failed)
	assert.Equal(t, "/tmp/pi-bash-01.log", calls["t7"].Recovers)
	assert.Equal(t, "1:2", calls["t7"].Range)
	assert.Equal(t, rollout.NotTruncated, calls["t7"].Truncated, "it ends where it was asked to")
	assert.True(t, calls["t8"].Mutates)
	assert.Equal(t, rollout.AgentTool, calls["t10"].Class)
	assert.Equal(t, -1, calls["t11"].ResultItem)
	assert.False(t, calls["t11"].Ran)

	var other []string
	for _, o := range s.OtherBilled {
		other = append(other, o.Kind)
	}
	assert.Equal(t, []string{"branch_summary", "subagent", "compaction"}, other)
	assert.EqualValues(t, []int64{100, 20}, []int64{*s.OtherBilled[1].Usage.Input, *s.OtherBilled[1].Usage.Output})
	assert.Contains(t, s.Missing, "compaction request")
}

func TestForkIsInherited(t *testing.T) {
	s := read(t, filepath.Join(fixtures, "fork-v3.jsonl"))
	parent := read(t, filepath.Join(fixtures, "tree-v3.jsonl"))
	assert.Equal(t, parent.ID, s.ForkedFrom)
	assert.Equal(t, []bool{true, false}, []bool{s.Requests[0].Inherited, s.Requests[1].Inherited})
	assert.Equal(t, parent.Requests[0].ID, s.Requests[0].ID)
	assert.True(t, s.Calls[0].Inherited)
	assert.Equal(t, texts(parent, 1), texts(s, 1), "the stem is the parent's")
}

func TestVersionOne(t *testing.T) {
	s := read(t, filepath.Join(fixtures, "linear-v1.jsonl"))
	assert.Equal(t, []string{
		"user_text: One", "assistant_text: First answer.", "user_text: Two", "assistant_text: Half an", "user_text: Three",
	}, texts(s, 2))
	assert.Equal(t, []string{
		"summary: The conversation history before this point was compacted into the following summary:\n\n<summary>\nTwo questions were answered.\n</summary>",
		"user_text: Three", `tool_call: {"path":"."}`, "tool_result: a.txt\nb.txt", "user_text: Four",
	}, texts(s, 3))
	assert.Equal(t, rollout.CutOff, s.Requests[1].Status)
	assert.False(t, s.Requests[1].OutputFinal)
}
