package atif

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const fixtures = "../../testdata/atif"

// The expected values are counted by hand; see testdata/atif/README.md.
func TestHandCountedTotals(t *testing.T) {
	type totals struct {
		id                         string
		requests                   int
		input, read, write, output int64
	}
	for file, want := range map[string][]totals{
		"demo-1.7.trajectory.json": {
			{"run-7/t-1", 4, 2100 + 2200 + 2300 + 2400, 1920 + 2048 + 2176 + 2304, 0, 31 + 20 + 25 + 5},
			{"run-7/t-2", 1, 500, 0, 0, 9},
		},
		"demo-1.7.trajectory.cont-1.json": {{"run-7/t-3", 1, 900, 0, 0, 4}},
		"claude-1.2.trajectory.json":      {{"5d0c0000-0000-4000-8000-000000000001", 2, 1000 + 200 + 1250 + 60, 990 + 1240, 200 + 60, 3 + 1}},
		"exclusive-1.7.trajectory.json":   {{"01EXCL", 2, 3 + 700 + 1 + 700 + 30, 700, 700 + 30, 20 + 6}},
	} {
		sessions, err := Read(context.Background(), filepath.Join(fixtures, file))
		require.NoError(t, err)
		var got []totals
		for _, s := range sessions {
			input, read, write, output := usageSums(s)
			got = append(got, totals{s.ID, len(s.Requests), input, read, write, output})
		}
		assert.Equal(t, want, got, file)
	}
}

func TestDemo(t *testing.T) {
	sessions, err := Read(context.Background(), filepath.Join(fixtures, "demo-1.7.trajectory.json"))
	require.NoError(t, err)
	s, child := sessions[0], sessions[1]
	var cost float64
	for _, r := range s.Requests {
		cost += *r.LoggedUSD
		assert.True(t, r.OutputFinal)
		assert.Equal(t, "openai gpt-5.2", r.Provider+" "+r.Model)
	}
	assert.InDelta(t, 0.0030, cost, 1e-12)
	require.Len(t, s.Reported, 1)
	assert.InDelta(t, 0.0030, *s.Reported[0].CostUSD, 1e-12)
	assert.Equal(t, []string{"folded-calls"}, kinds(s), "totals agree with the steps")
	assert.Equal(t, []string{"c1", "c2", "c3", "c1#2"}, callIDs(s))
	read := s.Calls[1]
	assert.Equal(t, "read tide.go 10:20", string(read.Class)+" "+read.Path+" "+read.Range)
	assert.True(t, *s.Calls[0].Failed)
	assert.False(t, *s.Calls[3].Failed)
	assert.Equal(t, "ok tides 0.2s\nExit code: 0", s.Texts[s.Items[s.Calls[3].ResultItem].Text].S, "the second use of an ID gets its own result")
	assert.Equal(t, []string{s.ID, "c3", child.ID}, []string{child.ParentID, child.ParentCall, s.Calls[2].Child})
	assert.Equal(t, rollout.AgentTool, s.Calls[2].Class)
	assert.Equal(t, []string{
		"tool_definitions", "tool_definitions", "system_prompt", "user_text",
		"reasoning", "assistant_text", "tool_call", "tool_call", "tool_result", "tool_result",
		"assistant_text", "tool_call", "tool_result", "reminder", "reminder",
	}, carried(s, 3), "what the third request carried: the check of the harness in front of it, in order")
	assert.Contains(t, s.Missing, "images")
	assert.NotContains(t, s.Missing, "system prompt")
	assert.NotContains(t, s.Missing, "tool definitions")
	assert.Equal(t, 18, s.Requests[0].Line, "the step's own line")
}

// carried lists the kinds of the items of a request of the main chain.
func carried(s *rollout.Session, number int) []string {
	var out []string
	order := map[int64]rollout.Span{}
	var positions []int64
	for _, sp := range s.Spans {
		if sp.Chain == 0 && sp.First <= number && number <= sp.Last {
			order[sp.Position] = sp
			positions = append(positions, sp.Position)
		}
	}
	for len(positions) > 0 {
		least := 0
		for i, p := range positions {
			if p < positions[least] {
				least = i
			}
		}
		out = append(out, string(s.Items[order[positions[least]].Item].Kind))
		positions = append(positions[:least], positions[least+1:]...)
	}
	return out
}

func callIDs(s *rollout.Session) []string {
	var out []string
	for _, c := range s.Calls {
		out = append(out, c.ID)
	}
	return out
}

func TestContinuation(t *testing.T) {
	path := filepath.Join(fixtures, "demo-1.7.trajectory.cont-1.json")
	s := readOne(t, path)
	assert.Equal(t, []string{"run-7/t-1", "run-7/t-1"}, []string{s.ForkedFrom, s.ParentID}, "one run with what it continues")
	assert.Equal(t, []string{filepath.Join(fixtures, "demo-1.7.trajectory.json")}, Depends(path))
	assert.Nil(t, Depends(filepath.Join(fixtures, "demo-1.7.trajectory.json")))
	assert.Equal(t, []string{"totals-disagree"}, kinds(s))
	assert.Equal(t, []string{"tool_definitions", "tool_definitions", "user_text", "assistant_text", "user_text"}, carried(s, 1), "the copied context is carried")
}

func TestClaudeConverter(t *testing.T) {
	s := readOne(t, filepath.Join(fixtures, "claude-1.2.trajectory.json"))
	assert.Equal(t, []string{"user_text", "assistant_text", "tool_call", "tool_call", "tool_result", "tool_result"}, carried(s, 2),
		"results follow the whole response; the reasoning was the text null")
	text := func(i int) string { return s.Texts[s.Items[s.Calls[i].ResultItem].Text].S }
	assert.Equal(t, "     1→hello\n     2→\n", text(0), "the true text, its padding kept")
	assert.Equal(t, "Exit code 1\nno tests", text(1), "once, without data and mark")
	assert.Equal(t, rollout.Recomputed, s.Items[s.Calls[1].ResultItem].Origin)
	assert.True(t, *s.Calls[1].Failed)
	assert.EqualValues(t, 150, *s.Requests[0].Usage.CacheWrite5m)
	assert.EqualValues(t, 50, *s.Requests[0].Usage.CacheWrite1h)
	assert.EqualValues(t, 4250+660, *s.Reported[0].Usage.Input)
	assert.Equal(t, []string{"totals-disagree"}, kinds(s))
	assert.False(t, s.Requests[0].OutputFinal)
}

func TestCodexConverter(t *testing.T) {
	for trial, want := range map[string][5]int64{
		"low/one__a1": {6, 6, 9000, 6000, 300}, "low/one__a2": {7, 7, 11000, 8000, 400},
		"medium/one__b1": {6, 6, 8000, 5000, 500}, "medium/one__b2": {8, 8, 14000, 11000, 700},
	} {
		s := readOne(t, filepath.Join(fixtures, "runs", trial, "agent", "trajectory.json"))
		u := s.Reported[0].Usage
		assert.Equal(t, want, [5]int64{int64(len(s.Requests)), int64(len(s.Calls)), *u.Input, *u.CacheRead, *u.Output}, trial)
		assert.EqualValues(t, want[4]/10, *u.Reasoning)
		assert.Equal(t, s.Reported, s.Whole())
		assert.Equal(t, "*** Begin Patch\n*** Add File: tide.txt\n+low 04:12\n*** End Patch", s.Texts[s.Calls[2].Args].S)
		assert.Equal(t, "tide.txt", s.Calls[2].Path)
		start, empty, final := s.Calls[3], s.Calls[4], s.Calls[5]
		assert.Equal(t, []any{"7", true, rollout.PollEmpty, "7", rollout.PollFinal, "7"},
			[]any{start.Task, start.Starts, empty.Poll, empty.Task, final.Poll, final.Task})
		assert.Nil(t, start.Failed)
		assert.True(t, *final.Failed)
		assert.EqualValues(t, 5000, *empty.DurationMS)
		assert.Equal(t, s.Calls[0].Request, s.Calls[1].Request, "4 ms apart: one response")
		assert.Equal(t, []string{"requests-estimated"}, kinds(s))
	}
}
