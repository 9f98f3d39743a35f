package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// turn is one request of an invented log, whose user's text is always the same.
type turn struct {
	id     string // of the response; "" the log has none
	at     int    // seconds after the begin; 0 unknown
	output int64  // tokens; 0 no usage
	result string // of its call; "" none
	origin rollout.Origin
	whole  string // what the result was cut from; "" it was not
}

// invented is a log file that holds what it is told to, whatever its bytes are.
func invented(t *testing.T, dir, id string, turns []turn, more ...func(*rollout.Session)) Input {
	t.Helper()
	in := logFile(t, dir, "a", fmt.Sprintf("%020d", time.Now().UnixNano())) // as long as the others
	in.Read = func(context.Context) ([]*rollout.Session, error) {
		b := rollout.NewBuilder("codex")
		b.Session.ID, b.Session.File, b.Session.Started = id, in.Path, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		chain := b.Chain()
		for i, u := range turns {
			addTurn(b, chain, i, u)
		}
		s := b.Finish()
		for _, f := range more {
			f(s)
		}
		return []*rollout.Session{s}, nil
	}
	return in
}

func addTurn(b *rollout.Builder, chain *rollout.Chain, i int, u turn) {
	chain.Add(rollout.SlotConversation, b.Item(rollout.Item{
		Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text("go on"),
	}))
	r := rollout.Request{ID: u.id, Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Model: "gpt-5", OutputFinal: true}
	if u.at > 0 {
		r.Time = b.Session.Started.Add(time.Duration(u.at) * time.Second)
	}
	if u.output > 0 {
		input := int64(1000)
		r.Usage = rollout.Usage{Input: &input, Output: &u.output}
	}
	index := chain.Request(r)
	if u.result == "" {
		return
	}
	call := rollout.Call{Request: index, ID: string(rune('A' + i)), Tool: "read", Class: rollout.ReadTool, Args: b.Text("{}"), ArgsItem: -1}
	call.ResultItem = b.Item(rollout.Item{
		Kind: rollout.ToolResult, Role: rollout.RoleTool, CallID: call.ID, Origin: u.origin, Request: -1, Text: b.Text(u.result),
	})
	if u.whole != "" {
		full := b.Text(u.whole)
		call.Full = &full
	}
	b.Call(call)
}

func billed(tokens int64) func(*rollout.Session) {
	return func(s *rollout.Session) {
		s.OtherBilled = append(s.OtherBilled, rollout.OtherBilled{Kind: "memory", Time: s.Started, Usage: rollout.Usage{Input: &tokens}})
	}
}

func reports(tokens int64) func(*rollout.Session) {
	return func(s *rollout.Session) {
		s.Reported = append(s.Reported, rollout.Reported{Usage: rollout.Usage{Input: &tokens}})
	}
}

// An older part goes only if nothing that was measured in it is missing from the new.
func TestNothingMeasuredIsLost(t *testing.T) {
	type session = []turn
	type more = []func(*rollout.Session)
	none := session{{id: "r1", at: 1, output: 7}}
	cases := []struct {
		name          string
		before, after session
		had, has      more
		kept          int
	}{
		{"a request more", session{{id: "r1", output: 7}}, session{{id: "r1", output: 7}, {id: "r2", output: 8}}, nil, nil, 0},
		{"an answer that was still coming", session{{id: "r1", output: 7}}, session{{id: "r1", output: 70}}, nil, nil, 0},
		{"the same without IDs", session{{at: 1, output: 7}}, session{{at: 1, output: 70}}, nil, nil, 0},
		{"usage that comes later", session{{at: 1}}, session{{at: 1, output: 7}}, nil, nil, 0},
		{"usage gone", session{{id: "r1", output: 7}, {id: "r2", output: 8}}, session{{id: "r1", output: 7}, {id: "r2"}}, nil, nil, 1},
		{"less usage", session{{id: "r1", output: 7}}, session{{id: "r1", output: 6}}, nil, nil, 1},
		{"usage gone, by time", session{{at: 1, output: 7}}, session{{at: 1}}, nil, nil, 1},
		{"a first request gone, and a later one come", session{{output: 7}, {output: 8}}, session{{output: 8}, {output: 9}}, nil, nil, 1},
		{"one of two equal requests gone", session{{output: 7}, {output: 7}}, session{{output: 7}}, nil, nil, 1},
		{"one of two at the same time gone", session{{at: 1, output: 7}, {at: 1, output: 9}}, session{{at: 1, output: 9}}, nil, nil, 1},
		{"responses named anew", session{{id: "a1", at: 1, output: 7}}, session{{id: "b1", at: 1, output: 7}}, nil, nil, 0},
		{"one of two named anew gone", session{{id: "a2", output: 7}, {id: "a1", output: 7}}, session{{id: "a1", output: 7}}, nil, nil, 1},
		{"a recomputed result gone", session{{result: "long", origin: rollout.Recomputed}}, session{{}}, nil, nil, 1},
		{"a recomputed result rewritten", session{{result: "long", origin: rollout.Recomputed}}, session{{result: "cut", origin: rollout.Recomputed}}, nil, nil, 1},
		{"a result that is logged by now", session{{result: "no result", origin: rollout.Recomputed}}, session{{result: "found", origin: rollout.Logged}}, nil, nil, 0},
		{"an inferred result gone", session{{result: "long", origin: rollout.Inferred}}, session{{}}, nil, nil, 1},
		{"an inferred result named", session{{result: "cut, id=?", origin: rollout.Inferred}}, session{{result: "cut, id=c", origin: rollout.Recomputed}}, nil, nil, 0},
		{"a whole output gone", session{{result: "cut", origin: rollout.Logged, whole: "whole"}}, session{{result: "cut", origin: rollout.Logged}}, nil, nil, 1},
		{"what else was billed gone", none, none, more{billed(5)}, nil, 1},
		{"what else was billed there", none, none, more{billed(5)}, more{billed(5)}, 0},
		{"a report grown", none, none, more{reports(5)}, more{reports(6)}, 0},
		{"a report gone", none, none, more{reports(5)}, nil, 1},
	}
	for _, c := range cases {
		for _, shared := range []bool{false, true} {
			logs, dir := t.TempDir(), t.TempDir()
			inputs := []Input{invented(t, logs, "S", c.before, c.had...)}
			if shared {
				inputs = append(inputs, logFile(t, logs, "b", "log B 1\none\n"))
			}
			_, err := Import(t.Context(), dir, inputs, Options{Scratch: true})
			require.NoError(t, err)
			sum, err := Import(t.Context(), dir, []Input{invented(t, logs, "S", c.after, c.has...)}, Options{Scratch: true})
			require.NoError(t, err)
			assert.Equal(t, Summary{Replaced: 1, Kept: c.kept, Sessions: 1}, counts(sum), "%s, with others: %t", c.name, shared)
		}
	}
}

// The same where an import was killed before it got to the older part: what the new one
// holds is read from its place.
func TestNothingMeasuredIsLostByAKilledImport(t *testing.T) {
	before := []turn{{id: "r1", output: 7}, {id: "r2", output: 8, result: "long", origin: rollout.Recomputed}}
	for want, after := range map[int][]turn{
		2: {{id: "r1", output: 7}, {id: "r2", result: "long", origin: rollout.Recomputed}},
		1: {{id: "r1", output: 7}, {id: "r2", output: 8, result: "long", origin: rollout.Recomputed}, {id: "r3", output: 9}},
	} {
		logs, dir, aside := t.TempDir(), t.TempDir(), t.TempDir()
		importInto(t, dir, invented(t, logs, "S", before))
		grown := invented(t, logs, "S", after)
		importInto(t, aside, grown)
		for name, content := range tree(t, aside) {
			logFile(t, dir, name, content)
		}
		assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, grown))
		assert.Len(t, all[Session](t, dir, "sessions"), want)
	}
}

// Only usage is gone, and the file is named by its content: what is kept for its numbers
// is the same conversation and may not count beside it.
func TestUsageGoneUnderAnotherID(t *testing.T) {
	before := []turn{{at: 1, output: 7}, {at: 2, output: 8}, {at: 3, output: 9}}
	for name, quiet := range map[string]bool{"with texts": false, "without": true} {
		logs, dir := t.TempDir(), t.TempDir()
		silence := func(s *rollout.Session) {
			if quiet {
				s.Items, s.Spans = nil, nil
			}
		}
		importInto(t, dir, invented(t, logs, "A", before, silence))
		sum := importInto(t, dir, invented(t, logs, "B", []turn{before[0], before[1], {at: 3}}, silence))
		assert.Equal(t, Summary{Replaced: 1, Kept: 1, Sessions: 1}, sum, name)
		assert.Equal(t, []string{"B"}, counted(t, dir), name)
	}
}

// A newer importer reads other numbers from the same log: the older part's are no loss.
// Where the log is shorter than it was, they may be.
func TestMeasuredByAnOlderImporter(t *testing.T) {
	for size, kept := range map[int64]int{0: 0, 1 << 20: 1} {
		logs, dir := t.TempDir(), t.TempDir()
		importInto(t, dir, invented(t, logs, "S", []turn{{id: "r1", output: 7}}))
		place := parts(t, dir)[0]
		var rows []Session
		require.NoError(t, scanFile(place, func(batch []Session) error { rows = append(rows, batch...); return nil }))
		rows[0].Importer, rows[0].FileBytes = "1", max(size, rows[0].FileBytes)
		require.NoError(t, sessionsTable(rows).write(createFile, place))
		require.NoError(t, filepath.WalkDir(dir, plain))
		assert.Equal(t, Summary{Replaced: 1, Kept: kept, Sessions: 1}, importInto(t, dir, invented(t, logs, "S", []turn{{id: "r1", output: 6}})))
	}
}
