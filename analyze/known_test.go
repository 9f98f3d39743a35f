package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/devdata"
)

// Four answered requests: all known; no usage; no output; a snapshot of the
// output. Only the last is a snapshot, as the second and third have no output.
func TestUnknownUsageIsNeitherSnapshotNorZero(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(1000, 800, 10, 300, 4))
	b.request("a", dataset.Request{CountedTokens: 310})
	noOutput := usage(2000, 1000, 0, 320, 8)
	noOutput.OutputTokens = nil
	b.request("a", noOutput)
	b.request("a", usage(3000, 2000, 5, 330, 12))
	for i := 1; i < 4; i++ {
		b.requests[i].OutputFinal = false
	}
	got := audit(t, b.tables).Totals
	assert.Equal(t, int64(1), got.NonFinalOutputs)
	assert.Equal(t, int64(1), got.RequestsWithoutUsage)
	assert.Equal(t, int64(2), got.RequestsWithoutOutput)
	assert.Equal(t, int64(1000+2000+3000), *got.InputTokens)
	assert.Equal(t, int64(300+310+320+330), got.CountedTokens, "content is counted without usage too")
	assert.Equal(t, int64(300+320+330), *got.CalibratedTokens)
	assert.Equal(t, *got.InputTokens, *got.CalibratedTokens+*got.FramingTokens+*got.UnloggedTokens)
}

// A request compacts, breaks the cache and begins a run, all in one.
func TestGrowthKeepsAllEventsOfARequest(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(10_000, 9_000, 10, 1000, 0))
	second := usage(4_000, 100, 10, 500, 0)
	second.Run = 2
	b.request("a", second)
	b.carry("a", "user_text", "", 1000, 1, 1)
	b.carry("a", "summary", "", 500, 2, 2)
	got := audit(t, b.tables).Growth
	require.Len(t, got, 2)
	assert.Equal(t, []string{"run"}, got[0].Events)
	assert.Equal(t, []string{"compaction", "cache-break", "run"}, got[1].Events)
	assert.Equal(t, "compaction", got[1].Event)
}

// The first request carries 50,000 tokens with an input of 10,000, the second
// exceeds its input by 2,000 of 10,000 only, the third by 500 of 100.
func TestContentThatExceedsTheInputIsAProblem(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(10_000, 0, 1, 50_000, 0))
	b.request("a", usage(10_000, 0, 1, 12_000, 0))
	b.request("a", usage(100, 0, 1, 600, 0))
	assert.Equal(t, []Problem{{
		File: "/logs/a.jsonl", Kind: "content-exceeds-input", Count: 1,
		Detail: "the content logged for requests with 10,000 input tokens exceeds them by 40,000 tokens: it was not sent as logged, or the usage is wrong",
	}}, audit(t, b.tables).Problems)
}

// main (model m) started child (model n), which started grandchild (model m);
// the log of a fourth is not there.
func TestSubAgentsDeselectedWereRead(t *testing.T) {
	dir := t.TempDir()
	add := func(id, parent, model string) *dataset.Rows {
		p := session("codex", id, day(1, 0))
		p.Sessions[0].Models = []string{model}
		if parent != "" {
			p.Sessions[0].ParentSessionID = &parent
		}
		addRequest(p, "r-"+id, nil)
		return p
	}
	main := add("main", "", "m")
	for i, child := range []string{"child", "gone"} {
		main.Calls = append(main.Calls, dataset.Call{Part: main.Sessions[0].Part, SessionID: "main", Call: int64(i), CallID: child, RequestIndex: num(int64(0)), Tool: "spawn", Class: "agent", ChildSession: num(child), Ran: true})
	}
	child, grandchild := add("child", "main", "n"), add("grandchild", "child", "m")
	write(t, dir, main, child, grandchild)
	for _, c := range []struct {
		name string
		sel  Selection
		want LeftOut
	}{
		{"all", Selection{}, LeftOut{SubAgentSessions: 1}},
		{"by model", Selection{Model: "m"}, LeftOut{SubAgentSessions: 1, Deselected: 1}},
		{"by session", Selection{Session: "main"}, LeftOut{SubAgentSessions: 1, Deselected: 2}},
		{"not read", Selection{Parts: []string{main.Sessions[0].Part}}, LeftOut{SubAgentSessions: 2}},
		{"not the parent", Selection{Model: "n"}, LeftOut{Deselected: 1}},
	} {
		a, err := RunAudit(t.Context(), open(t, Options{Dataset: dir, Selection: c.sel}))
		require.NoError(t, err)
		assert.Equal(t, c.want, a.LeftOut, c.name)
	}
}

// The identity of Totals, on every recorded session.
func TestTotalsAddUpOnRealLogs(t *testing.T) {
	for _, folder := range []string{"freecode", "codex", "claude", "wire"} {
		a, err := RunAudit(t.Context(), openLogs(t, devdata.Dir(t, folder)))
		require.NoError(t, err)
		known := 0
		for _, s := range a.Sessions {
			if s.Own.InputTokens != nil {
				known++
				assert.Equal(t, *s.Own.InputTokens, *s.Own.CalibratedTokens+*s.Own.FramingTokens+*s.Own.UnloggedTokens, s.File)
			}
		}
		assert.Positive(t, known, folder)
		billed := 0.0
		for _, x := range a.Composition {
			billed += *x.BilledTokens
		}
		assert.InEpsilon(t, float64(*a.Totals.InputTokens), billed, 1e-4, folder)
	}
}

// Two snapshots: 5 tokens of an answer that is 12 long, and 50 of one of 12. The first
// lacks 7, the second nothing. A final output of 5 lacks nothing either.
func TestUnreportedOutput(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	for i, output := range []int64{5, 50, 5} {
		b.request("a", usage(100, 0, output, 10, 0))
		b.requests[i].OutputFinal = i == 2
		b.item("a", dataset.Item{Kind: "assistant_text", RequestIndex: ptr(int64(i))}, 12)
	}
	b.session(dataset.Session{SessionID: "b"})
	b.request("b", usage(100, 0, 5, 10, 0))
	got := audit(t, b.tables)
	assert.Equal(t, ptr(int64(12-5)), got.Totals.UnreportedOutputTokens)
	assert.Equal(t, int64(5+50+5+5), *got.Totals.OutputTokens, "the sum is what the log holds")
	for _, s := range got.Sessions {
		if s.SessionID == "b" {
			assert.Nil(t, s.Own.UnreportedOutputTokens)
		}
	}
}
