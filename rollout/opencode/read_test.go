package opencode

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const testdata = "../../testdata/opencode"

func sessionsOf(t *testing.T, path string) []*rollout.Session {
	t.Helper()
	all, err := Read(context.Background(), path)
	require.NoError(t, err)
	return all
}

func one(t *testing.T, name string) *rollout.Session {
	t.Helper()
	all := sessionsOf(t, filepath.Join(testdata, name))
	require.Len(t, all, 1)
	return all[0]
}

// totals are what testdata/opencode/README.md counts.
type totals struct{ requests, input, cacheRead, cacheWrite, output, reasoning, calls int64 }

var byHand = map[string]totals{
	"ses_port01": {11, 45262, 35972, 5780, 415, 30, 10},
	"ses_port02": {2, 1900, 900, 0, 50, 0, 1},
	"ses_long01": {6, 8700, 5100, 0, 150, 0, 3},
	"ses_old01":  {4, 10000, 6000, 0, 140, 15, 2},
}

func totalsOf(s *rollout.Session) totals {
	sum := totals{requests: int64(len(s.Requests)), calls: int64(len(s.Calls))}
	add := func(into *int64, v *int64) {
		if v != nil {
			*into += *v
		}
	}
	for _, r := range s.Requests {
		add(&sum.input, r.Usage.Input)
		add(&sum.cacheRead, r.Usage.CacheRead)
		add(&sum.cacheWrite, r.Usage.CacheWrite)
		add(&sum.output, r.Usage.Output)
		add(&sum.reasoning, r.Usage.Reasoning)
	}
	return sum
}

func TestTotals(t *testing.T) {
	seen := map[string]int{}
	for _, file := range []string{"port.export.json", "port-survey.export.json", "compaction.export.json", "storage/session/p1/ses_old01.json", "opencode.db"} {
		for _, s := range sessionsOf(t, filepath.Join(testdata, file)) {
			seen[s.ID]++
			assert.Equal(t, byHand[s.ID], totalsOf(s), "%s of %s", s.ID, file)
			for _, r := range s.Reported {
				assert.Equal(t, byHand[s.ID].input, *r.Usage.Input, s.ID)
				assert.Equal(t, byHand[s.ID].output, *r.Usage.Output, s.ID)
			}
		}
	}
	assert.Equal(t, map[string]int{"ses_port01": 2, "ses_port02": 2, "ses_long01": 2, "ses_old01": 1}, seen)
}

// texts lists what a request of a chain carried; opaque data shows as #.
func texts(s *rollout.Session, chain, number int) []string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == chain && sp.First <= number && number <= sp.Last {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	var out []string
	for _, sp := range spans {
		text := s.Texts[sp.Text]
		if text.Opaque {
			out = append(out, "#")
			continue
		}
		if s.Items[sp.Item].Kind == rollout.ToolResult && len(text.S) > 35 {
			text.S = text.S[:30]
		}
		out = append(out, text.S)
	}
	return out
}

func TestPayload(t *testing.T) {
	s := one(t, "port.export.json")
	first := []string{"Move the service to port 9090.", `Called the Read tool with the following input: {"filePath":"notes.txt"}`, "#"}
	assert.Equal(t, first, texts(s, 0, 1), "the ignored part and the text file are not sent, the picture is")
	step := []string{"Find the constant first.", "I look for the port.", `{"pattern":"Port"}`, `{"filePath":"/home/u/app/main.go","limit":2}`,
		"Found 1 matches\n/home/u/app/ma", "<path>/home/u/app/main.go</pat"}
	assert.Equal(t, append(slices.Clone(first), step...), texts(s, 0, 2), "all calls of a step, then all results")
	assert.Equal(t, texts(s, 0, 4), texts(s, 0, 5), "a retry carries the payload too")

	aborted := texts(s, 0, 10)
	assert.Equal(t, "Answer briefly.", aborted[0], "the system text of the message")
	assert.NotContains(t, aborted, "Half an ans", "a failed message is not sent again")
	last := texts(s, 0, 11)
	assert.Equal(t, []string{"Say so in the docs.", "I open the docs.", `{"filePath":"docs.md"}`, interrupted, "Go on, with the other model."}, last[len(last)-5:])
	assert.NotContains(t, last, "Answer briefly.")
}

func TestRequests(t *testing.T) {
	s := one(t, "port.export.json")
	type line struct {
		id      string
		status  rollout.Status
		attempt int
		model   string
	}
	var got []line
	for _, r := range s.Requests {
		got = append(got, line{r.ID, r.Status, r.Attempt, r.Model})
		assert.Equal(t, 0, r.Chain)
		assert.Equal(t, r.Status == rollout.Answered, r.Usage.Input != nil, "zeros before an answer are no usage")
	}
	const claude = "claude-sonnet-4-6"
	assert.Equal(t, []line{
		{"msg_port01_02", rollout.Answered, 1, claude}, {"msg_port01_03", rollout.Answered, 1, claude}, {"msg_port01_04", rollout.Answered, 1, claude},
		{"prt_port01_019", rollout.Errored, 1, claude}, {"msg_port01_05", rollout.Answered, 2, claude},
		{"msg_port01_06", rollout.Answered, 1, claude}, {"msg_port01_07", rollout.Answered, 1, claude}, {"msg_port01_08", rollout.Errored, 1, claude},
		{"msg_port01_09", rollout.Answered, 1, claude}, {"msg_port01_11", rollout.CutOff, 1, claude}, {"msg_port01_13", rollout.Answered, 1, "gpt-5"},
	}, got)
	assert.InDelta(t, 0.02, *s.Requests[0].LoggedUSD, 1e-9)
	assert.Nil(t, s.Requests[0].DurationMS, "the message also waits for its tools")
	assert.EqualValues(t, 2000, *s.Requests[10].DurationMS)
	assert.Equal(t, []string{"system prompt", "tool definitions", "title request"}, s.Missing)
	assert.Equal(t, "/home/u/app", s.CWD)
	assert.Empty(t, s.Agent)
}

func TestCalls(t *testing.T) {
	s := one(t, "port.export.json")
	type facts struct {
		class    rollout.ToolClass
		path     string
		rng      string
		readOnly bool
		mutates  bool
		ran      bool
		denied   bool
		poll     rollout.PollClass
		cut      rollout.Truncation
		handle   string
		recovers string
		child    string
	}
	const saved = "/home/u/.local/share/opencode/tool-output/tool_01"
	const file = "/home/u/app/main.go"
	want := map[string]facts{
		"toolu_01": {class: rollout.SearchTool, readOnly: true, ran: true},
		"toolu_02": {class: rollout.ReadTool, path: file, rng: ":2", readOnly: true, ran: true},
		"toolu_03": {class: rollout.ShellTool, readOnly: true, ran: true, cut: rollout.Recoverable, handle: saved},
		"toolu_04": {class: rollout.ReadTool, path: saved, readOnly: true, ran: true, recovers: saved},
		"toolu_05": {class: rollout.ReadTool, path: file, rng: ":2", readOnly: true, ran: true},
		"toolu_06": {class: rollout.EditTool, path: file, mutates: true, ran: true},
		"toolu_07": {class: rollout.AgentTool, mutates: true, ran: true, child: "ses_port02"},
		"toolu_08": {class: rollout.ShellTool, readOnly: true, ran: true, poll: rollout.PollUnknown},
		"toolu_09": {class: rollout.ShellTool, mutates: true, denied: true},
		"toolu_10": {class: rollout.ReadTool, path: "docs.md", readOnly: true, ran: true},
	}
	require.Len(t, s.Calls, len(want))
	for _, c := range s.Calls {
		got := facts{c.Class, c.Path, c.Range, c.ReadOnly, c.Mutates, c.Ran, c.Denied, c.Poll, c.Truncated, c.Handle, c.Recovers, c.Child}
		assert.Equal(t, want[c.ID], got, c.ID)
		assert.GreaterOrEqual(t, c.ResultItem, 0, c.ID)
	}
	assert.Equal(t, s.Texts[s.Calls[1].Args], s.Texts[s.Calls[4].Args], "a repeat has equal arguments")
	assert.Equal(t, "cat build.log", s.Calls[2].Command)
	assert.Nil(t, s.Calls[9].Failed, "it never ended")
	assert.True(t, *s.Calls[8].Failed)
	assert.False(t, *s.Calls[2].Failed)
	assert.EqualValues(t, 50, *s.Calls[0].DurationMS)
}

func TestCompaction(t *testing.T) {
	s := one(t, "compaction.export.json")
	require.Len(t, s.Requests, 6)
	assert.Equal(t, rollout.KindCompaction, s.Requests[2].Kind)
	assert.Equal(t, 1, s.Requests[2].Chain, "its prompt is a transcript: nothing of the conversation")
	assert.Empty(t, texts(s, 1, 1))
	summary := []string{compactionLine, "## Objective\n- clean up the parser", `{"command":"go test ./..."}`, "ok  \tapp\t0.1s\n", "Continue if you have next steps."}
	assert.Equal(t, summary, texts(s, 0, 3), "request, summary, the kept tail, the rest")
	assert.Equal(t, append(slices.Clone(summary), `{"filePath":"b.go"}`, "<path>/home/u/app/b.go</path>\n"), texts(s, 0, 4))
	last := texts(s, 0, 5)
	assert.Contains(t, last, clearedResult, "pruned by then")
	assert.NotContains(t, last, "<path>/home/u/app/b.go</path>\n")
	assert.Contains(t, s.Missing, "compaction request")
	for _, it := range s.Items {
		if it.Kind == rollout.Summary {
			assert.Equal(t, 2, it.Request)
		}
	}
}

func TestOldTree(t *testing.T) {
	s := one(t, "storage/session/p1/ses_old01.json")
	assert.Empty(t, s.Problems)
	var ids []string
	for _, r := range s.Requests {
		ids = append(ids, r.ID)
		assert.Equal(t, 0, r.Chain)
	}
	assert.Equal(t, []string{"msg_old01_02", "msg_old01_02#2", "msg_old01_05", "msg_old01_07"}, ids, "steps are requests; a command the user ran is none")
	assert.EqualValues(t, 40, *s.Requests[0].Usage.Output, "without a total, output holds the reasoning")
	assert.Equal(t, []string{"What does main do?", "I read it.", `{"filePath":"/home/u/app/main.go"}`, "<file>\n00001| package main\n000"}, texts(s, 0, 2))
	assert.Equal(t, rollout.Recoverable, s.Calls[0].Truncated)
	assert.Equal(t, -1, s.Calls[1].Request, "the user's own command")
	assert.Equal(t, rollout.KindCompaction, s.Requests[2].Kind)
	assert.Contains(t, texts(s, 0, 3), "main.go\n", "the old summary was asked of the whole conversation")
	assert.Equal(t, []string{"Summary: main does nothing.", "Good."}, texts(s, 0, 4), "what follows has the summary only")
	for _, sp := range s.Spans {
		assert.NotEqual(t, "Undo this.", s.Texts[sp.Text].S, "an undone message is not sent")
	}
}
