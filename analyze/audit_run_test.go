package analyze

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

func audit(t *testing.T, data tables) *Audit {
	t.Helper()
	a, err := RunAudit(context.Background(), data.open(t))
	require.NoError(t, err)
	return a
}

// See handBuilt for where the figures come from.
func TestAuditOfHandBuiltSession(t *testing.T) {
	a := audit(t, handBuilt())

	want := Totals{
		Sessions: 1, Runs: 1, Requests: 4, AnsweredRequests: 4,
		InputTokens: ptr(int64(5414)), CacheReadTokens: ptr(int64(3304)), OutputTokens: ptr(int64(140)),
		UncachedInputTokens: ptr(int64(5414 - 3304)),
		CostPartial:         true, // no price is known
		CountedTokens:       1350,
		FramingTokens:       ptr(int64(4 + 12 + 20 + 28)),
		UnloggedTokens:      ptr(int64(4000)),
		CalibratedTokens:    ptr(int64(1350)),
		PeakInputTokens:     ptr(int64(1603)),
		Calls:               3, RepeatedCalls: 1, RepeatedCallsStrict: 1,
	}
	assert.Equal(t, want, a.Totals)
	require.Len(t, a.Sessions, 1)
	assert.Equal(t, want, a.Sessions[0].Own)
	assert.Equal(t, want, a.Sessions[0].Inclusive)
	assert.Equal(t, []string{"m1"}, a.Sessions[0].Models)
	assert.Equal(t, start, a.Sessions[0].StartedAt.UTC())

	// carried = tokens x requests: reads 200 x 3 + 200 x 1, prompt 100 x 4, shell
	// result 50 x 2, read calls 10 x 3 + 10 x 1, shell call 5 x 2.
	type row struct {
		kind, tool             string
		items, tokens, carried int64
	}
	var got []row
	billed := 0.0
	for _, s := range a.Composition {
		r := row{kind: s.Kind, items: s.Items, tokens: s.Tokens, carried: s.CarriedTokens}
		if s.Tool != nil {
			r.tool = *s.Tool
		}
		got = append(got, r)
		billed += *s.BilledTokens
		assert.InDelta(t, *s.BilledTokens/5414, *s.Share, 1e-9)
	}
	assert.Equal(t, []row{
		{"tool_result", "read", 2, 400, 800},
		{"user_text", "", 1, 100, 400},
		{"tool_result", "bash", 1, 50, 100},
		{"tool_call", "read", 2, 20, 40},
		{"tool_call", "bash", 1, 5, 10},
		{"framing", "", 0, 0, 64},
		{"unlogged", "", 0, 0, 4000},
	}, got)
	assert.InDelta(t, 5414, billed, 1e-6)

	top := a.TopItems[0]
	assert.Equal(t, int64(600), top.CarriedTokens)
	assert.Equal(t, int64(3), top.Requests)
	assert.Equal(t, "/p/a.go", *top.What)

	require.Len(t, a.RepeatedCalls, 1)
	assert.Equal(t, RepeatedCall{
		SessionID: "a", Tool: "read", Args: ptr(`{"path":"/p/a.go"}`), Times: 2, Repeats: 1, StrictRepeats: 1,
		Tokens: 200, CarriedTokens: 200, Class: "read",
	}, a.RepeatedCalls[0])

	// Request 4 read 1,000 of the 1,385 before it, and 1,000 is what is unlogged.
	require.Len(t, a.CacheBreaks, 1)
	assert.Equal(t, "block-before-conversation", a.CacheBreaks[0].Cause)
	assert.Equal(t, int64(385), a.CacheBreaks[0].LostTokens)
	assert.InDelta(t, 385.0/5414, *a.CacheBreaks[0].ShareOfInput, 1e-9)

	assert.Equal(t, []GrowthPoint{
		{1, ptr(int64(1104)), "run", []string{"run"}}, {2, ptr(int64(1322)), "", []string{}}, {3, ptr(int64(1385)), "", []string{}},
		{4, ptr(int64(1603)), "cache-break", []string{"cache-break"}},
	}, a.Growth)
	assert.Equal(t, []Missing{{"reminders", 1}, {"system prompt", 1}}, a.Missing)
}

func TestSavingsOfHandBuiltSession(t *testing.T) {
	a := audit(t, handBuilt())
	type row struct {
		technique      string
		once           *int64
		carried        int64
		requests       *int64
		basis          Basis
		publishedKnown bool
	}
	n := func(v int64) *int64 { return &v }
	var got []row
	for _, s := range a.Savings {
		got = append(got, row{s.Technique, s.AddressableTokens, *s.AddressableCarriedTokens, s.AddressableRequests, s.Basis, s.Published != nil})
		assert.InDelta(t, float64(*s.AddressableCarriedTokens)/5414, *s.Share, 1e-9, s.Technique)
		assert.NotEmpty(t, s.Note, s.Technique)
	}
	assert.Equal(t, []row{
		{"output-compression", n(50), 100, nil, Counted, false},    // the shell result, carried twice
		{"line-number-prefixes", n(40), 80, nil, Counted, false},   // 20 x 3 + 20 x 1
		{"recurring-block", n(1000), 4000, nil, Estimated, true},   // nothing logged, 1,000 unlogged x 4
		{"inline-batching", n(0), 0, n(0), Estimated, false},       // no polls
		{"repeats-and-re-reads", n(210), 210, nil, Counted, false}, // second read: 10 + 200, carried once
		{"serial-chains", nil, 0, n(0), Estimated, false},          // the shell call stands between the reads
		{"cache-breaks", nil, 385, nil, Measured, true},
	}, got)
	assert.Contains(t, a.Savings[0].Note, "log 100 %")
}

// Content scaled by a factor: shares are in the provider's tokens, and add up.
func TestSharesFollowTheCalibration(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a", Encoding: "o200k_base"})
	for _, counted := range []int64{100, 300} {
		r := usage(2*counted+50, 0, 0, counted, 10)
		r.CalibratedTokens, r.UnloggedTokens = ptr(2*counted), ptr(int64(40))
		b.request("a", r)
	}
	b.sessions[0].PublicEncoding = false
	b.carry("a", "user_text", "", 100, 1, 2)
	b.carry("a", "tool_result", "bash", 200, 2, 2)
	a := audit(t, b.tables)
	// Input 250 + 650 = 900. Prompt 100 x 2 requests x factor 2 = 400, result 400,
	// framing 20, unlogged 80.
	want := map[string]float64{"user_text": 400, "tool_result": 400, "framing": 20, "unlogged": 80}
	for _, s := range a.Composition {
		assert.InDelta(t, want[s.Kind], *s.BilledTokens, 1e-6, s.Kind)
		assert.InDelta(t, want[s.Kind]/900, *s.Share, 1e-9, s.Kind)
		assert.Equal(t, Calibrated, s.Basis)
	}
}

// Unknown stays null and lists stay lists.
func TestAuditOfNothing(t *testing.T) {
	out, err := json.Marshal(audit(t, tables{}))
	require.NoError(t, err)
	var a map[string]any
	require.NoError(t, json.Unmarshal(out, &a))
	for _, key := range []string{"sessions", "composition", "top_items", "repeated_calls", "cache_breaks", "savings", "growth", "other_billed", "counting", "missing", "problems"} {
		assert.IsType(t, []any{}, a[key], key)
	}
	totals := a["totals"].(map[string]any)
	assert.Nil(t, totals["input_tokens"])
	assert.Nil(t, totals["cost_usd"])
	assert.Equal(t, 0.0, totals["requests"])
}

// A main session with a sub-agent, which has a sub-agent itself; the second call
// of the main session started one that is not there, the third failed.
func TestInclusiveTotalsAndLeftOut(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "main"})
	b.session(dataset.Session{SessionID: "child", ParentSessionID: ptr("main"), ParentCallID: ptr("call-0"), Agent: ptr("explorer")})
	b.session(dataset.Session{SessionID: "grandchild", ParentSessionID: ptr("child")})
	for i, id := range []string{"main", "child", "grandchild"} {
		b.request(id, usage(int64(1000*(i+1)), 0, 10, 5, 1))
	}
	b.call("main", 1, dataset.Call{Class: "agent"})
	b.call("main", 1, dataset.Call{Class: "agent", ChildSession: ptr("gone")})
	b.call("main", 1, dataset.Call{Class: "agent", Failed: ptr(true)})
	a := audit(t, b.tables)
	inclusive := map[string]int64{}
	for _, s := range a.Sessions {
		inclusive[s.SessionID] = *s.Inclusive.InputTokens
	}
	assert.Equal(t, map[string]int64{"main": 6000, "child": 5000, "grandchild": 3000}, inclusive)
	assert.Equal(t, int64(6000), *a.Totals.InputTokens)
	assert.Equal(t, int64(1), a.LeftOut.SubAgentSessions)
}

// One request has a price: 1,000 tokens at 2 USD and 10 at 5 USD a million.
func TestCostIsPartialWhereSomethingHasNoPrice(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(1000, 0, 10, 0, 0))
	other := usage(1000, 0, 10, 0, 0)
	other.Model = ptr("m2")
	b.request("a", other)
	b.prices = []Price{{Model: "m1", Input: ptr(2.0), Output: ptr(5.0)}}
	a := audit(t, b.tables)
	assert.InDelta(t, (1000*2.0+10*5.0)/1e6, *a.Totals.CostUSD, 1e-12)
	assert.True(t, a.Totals.CostPartial)
}

func TestOtherBilledIsAddedUpByKind(t *testing.T) {
	b := &builder{}
	for _, id := range []string{"a", "b"} {
		b.session(dataset.Session{SessionID: id})
		b.otherBilled = append(b.otherBilled, dataset.OtherBilled{Part: partOf(id), SessionID: id, Kind: "warm", InputTokens: ptr(int64(7))})
	}
	b.otherBilled = append(b.otherBilled, dataset.OtherBilled{Part: partOf("b"), SessionID: "b", Kind: "memory"})
	assert.Equal(t, []OtherBilled{
		{Kind: "warm", Calls: 2, InputTokens: ptr(int64(14))},
		{Kind: "memory", Calls: 1},
	}, audit(t, b.tables).OtherBilled)
}

func TestUsageByDayTakesATimeZone(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	r := usage(100, 0, 1, 0, 0)
	r.Time = ptr(time.Date(2026, 1, 1, 23, 30, 0, 0, time.UTC).UnixMilli()) // 00:30 on the 2nd in Berlin
	b.request("a", r)
	db := b.open(t)
	day := func(tz string) string {
		return ask(t, db, "usage-by-day", Params{TZ: tz})[0]["day"].(time.Time).Format(time.DateOnly)
	}
	assert.Equal(t, "2026-01-01", day(""))
	assert.Equal(t, "2026-01-02", day("Europe/Berlin"))
}

func TestPublishedFiguresNameTheirSource(t *testing.T) {
	figures, err := published()
	require.NoError(t, err)
	for technique := range savingNotes {
		figure, ok := figures[technique]
		require.True(t, ok, technique)
		if figure == nil {
			continue
		}
		assert.NotEmpty(t, figure.Figure)
		assert.Regexp(t, `^https://`, figure.Source)
		_, err := time.Parse(time.DateOnly, figure.Date)
		assert.NoError(t, err)
	}
	assert.Len(t, figures, len(savingNotes))
}
