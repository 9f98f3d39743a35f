package analyze

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// threeBases: session a has usage per request and totals besides; b has totals
// alone, by model and all together; c has totals by model alone; d has nothing but
// one request's cost; e costs what its log says, for want of a price.
func threeBases() tables {
	b := &builder{}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		b.session(dataset.Session{SessionID: id})
	}
	reported := func(session string, model *string, input, read, output *int64, cost *float64) {
		b.reported = append(b.reported, dataset.Reported{Part: partOf(session), SessionID: session, Model: model,
			InputTokens: input, CacheReadTokens: read, OutputTokens: output, CostUSD: cost})
	}
	n := func(v int64) *int64 { return &v }
	priced := dataset.Request{Model: ptr("listed"), InputTokens: n(1000), OutputTokens: n(100)}
	b.request("a", priced)
	reported("a", nil, n(5000), nil, n(500), ptr(9.0))

	silent := dataset.Request{Model: ptr("listed")}
	b.request("b", silent)
	b.request("b", silent)
	reported("b", nil, n(3000), n(2000), n(300), nil)
	reported("b", ptr("listed"), n(2900), n(2000), n(300), nil)

	b.request("c", dataset.Request{Model: ptr("listed")})
	b.request("c", dataset.Request{Model: ptr("unlisted")})
	reported("c", ptr("listed"), n(100), nil, n(10), ptr(5.0))
	reported("c", ptr("unlisted"), n(200), nil, n(20), ptr(7.0))

	b.request("d", dataset.Request{Model: ptr("listed"), LoggedUSD: ptr(0.25)})
	reported("e", nil, nil, nil, nil, ptr(0.5))
	b.prices = []Price{{Model: "listed", Input: ptr(2.0), CacheRead: ptr(0.5), Output: ptr(10.0), Date: "2026-10-24"}}
	return b.tables
}

func TestTotalsOfSessionsReportedAsAWhole(t *testing.T) {
	a := audit(t, threeBases())
	require.Len(t, a.Sessions, 5)
	type figures struct {
		input, read, uncached, output *int64
		cost, logged                  *float64
		reported, without             int64
	}
	n := func(v int64) *int64 { return &v }
	for i, want := range []figures{
		// 1,000 × 2 + 100 × 10 millionths; what the log reports replaces nothing.
		{n(1000), nil, n(1000), n(100), ptr(0.003), nil, 0, 0},
		// The row of all models: 1,000 × 2 + 2,000 × 0.5 + 300 × 10 millionths.
		{n(3000), n(2000), n(1000), n(300), ptr(0.006), nil, 1, 0},
		// 100 × 2 + 10 × 10 millionths, and 7 as logged for the model without a price.
		{n(300), nil, n(300), n(30), ptr(7.0003), ptr(7.0), 1, 0},
		{nil, nil, nil, nil, ptr(0.25), ptr(0.25), 0, 1},
		{nil, nil, nil, nil, ptr(0.5), ptr(0.5), 1, 0},
	} {
		s := a.Sessions[i].Own
		got := figures{s.InputTokens, s.CacheReadTokens, s.UncachedInputTokens, s.OutputTokens, s.CostUSD, s.LoggedCostUSD, s.ReportedSessions, s.RequestsWithoutUsage}
		if want.cost != nil {
			require.NotNil(t, got.cost, a.Sessions[i].SessionID)
			assert.InDelta(t, *want.cost, *got.cost, 1e-12, a.Sessions[i].SessionID)
			got.cost = want.cost
		}
		assert.Equal(t, want, got, a.Sessions[i].SessionID)
		assert.False(t, s.CostPartial, a.Sessions[i].SessionID)
	}
	assert.EqualValues(t, 3, a.Totals.ReportedSessions)
	assert.EqualValues(t, 1000+3000+300, *a.Totals.InputTokens)
}

// perColumn: two requests of 30 and 40 output tokens without an input, of which a
// report of 900 input (600 read), 99 output and 20 reasoning is known in session a; in b one of the
// requests lacks the output too; in c the report has no input; d is a subscription's.
func perColumn() tables {
	b := &builder{}
	n := func(v int64) *int64 { return &v }
	for _, id := range []string{"a", "b", "c", "d"} {
		b.session(dataset.Session{SessionID: id})
		second := dataset.Request{Model: ptr("listed"), OutputTokens: n(40), Subscription: id == "d"}
		if id == "b" {
			second.OutputTokens = nil
		}
		b.request(id, dataset.Request{Model: ptr("listed"), OutputTokens: n(30), Subscription: id == "d"})
		b.request(id, second)
		whole := dataset.Reported{Part: partOf(id), SessionID: id, Model: ptr("listed"), InputTokens: n(900), CacheReadTokens: n(600), OutputTokens: n(99), ReasoningTokens: n(20)}
		if id == "c" {
			whole.InputTokens, whole.CacheReadTokens = nil, nil
		}
		b.reported = append(b.reported, whole)
	}
	b.prices = []Price{{Model: "listed", Input: ptr(2.0), CacheRead: ptr(0.5), Output: ptr(10.0), Date: "2026-10-24"}}
	return b.tables
}

// TestReportedInputBesideOutputsOfRequests: what the log reports of a session stands
// in column by column.
func TestReportedInputBesideOutputsOfRequests(t *testing.T) {
	data := perColumn()
	a := audit(t, data)
	n := func(v int64) *int64 { return &v }
	require.Len(t, a.Sessions, 4)
	for i, want := range []struct {
		input, read, output       *int64
		reported, without, silent int64
	}{
		{n(900), n(600), n(30 + 40), 1, 0, 0},
		{n(900), n(600), n(99), 1, 0, 0},
		{nil, nil, n(30 + 40), 0, 2, 0},
		{n(900), n(600), n(30 + 40), 1, 0, 0},
	} {
		s, id := a.Sessions[i].Own, a.Sessions[i].SessionID
		assert.Equal(t, want.input, s.InputTokens, id)
		assert.Equal(t, want.read, s.CacheReadTokens, id)
		assert.Equal(t, want.output, s.OutputTokens, id)
		assert.Equal(t, want.reported, s.ReportedSessions, id)
		assert.Equal(t, want.without, s.RequestsWithoutUsage, id)
		assert.Equal(t, want.silent, s.RequestsWithoutOutput, id)
	}
	// (900 - 600) x 2 + 600 x 0.5 + 99 x 10 millionths, all as reported.
	require.NotNil(t, a.Sessions[0].Own.CostUSD)
	assert.InDelta(t, 0.00189, *a.Sessions[0].Own.CostUSD, 1e-12)
	assert.Nil(t, a.Sessions[3].Own.CostUSD, "a subscription pays by other means")
	var input, output int64
	for _, row := range ask(t, data.open(t), "usage-by-model", Params{TZ: "UTC"}) {
		input, output = input+row["input_tokens"].(int64), output+row["output_tokens"].(int64)
	}
	assert.EqualValues(t, 3*900, input)
	assert.EqualValues(t, 70+99+70+70, output)
}

// TestUsageQuestionsAddUp: by agent, model and day the sums are the audit's.
func TestUsageQuestionsAddUp(t *testing.T) {
	db := threeBases().open(t)
	for _, question := range []string{"usage-by-agent", "usage-by-model", "usage-by-day"} {
		var input, requests int64
		var cost float64
		for _, row := range ask(t, db, question, Params{TZ: "UTC"}) {
			if v, ok := row["input_tokens"].(int64); ok {
				input += v
			}
			requests += row["requests"].(int64)
			if v, ok := row["cost_usd"].(float64); ok {
				cost += v
			}
			assert.Equal(t, false, row["cost_partial"], question)
		}
		assert.EqualValues(t, 1000+3000+300, input, question)
		assert.EqualValues(t, 1+2+2+1, requests, question)
		assert.InDelta(t, 0.003+0.006+7.0003+0.25+0.5, cost, 1e-9, question)
	}
}

// TestLongRequestsHideThePrice: where one request could have been long enough for
// another price, a session's sum has none.
func TestLongRequestsHideThePrice(t *testing.T) {
	data := threeBases()
	above := int64(2999)
	data.prices[0].LongAbove = &above
	a := audit(t, data)
	assert.Nil(t, a.Sessions[1].Own.CostUSD)
	assert.True(t, a.Sessions[1].Own.CostPartial)
	above = 3000
	a = audit(t, data)
	assert.InDelta(t, 0.006, *a.Sessions[1].Own.CostUSD, 1e-12)
}

// TestOlderDatasetsAreRead: a dataset whose tables lack the newest columns, and
// one table altogether, answers with NULL there, and an import brings it up to date.
func TestOlderDatasetsAreRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, filled(t, "pa", true))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "reported")))
	type olderRequest struct {
		Part         string `parquet:"part,dict"`
		SessionID    string `parquet:"session_id,dict"`
		RequestIndex int64  `parquet:"request_index"`
		Chain        int64  `parquet:"chain"`
		Request      int64  `parquet:"request"`
		Kind         string `parquet:"kind,dict"`
		Run          int64  `parquet:"run"`
		Attempt      int64  `parquet:"attempt"`
		Inherited    bool   `parquet:"inherited"`
		Status       string `parquet:"status,dict"`
		InputTokens  *int64 `parquet:"input_tokens,optional"`
		OutputFinal  bool   `parquet:"output_final"`
		Subscription bool   `parquet:"subscription"`
		Counted      int64  `parquet:"counted_tokens"`
		Line         int64  `parquet:"line"`
	}
	files, err := filepath.Glob(filepath.Join(dir, "requests", "*", "*", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		rows := []olderRequest{{Part: "pa", SessionID: "pa", Kind: "turn", Run: 1, Attempt: 1, Request: 1, Status: "answered", InputTokens: ptr(int64(70))}}
		if filepath.Base(f) == "empty.parquet" {
			rows = nil
		}
		require.NoError(t, parquet.WriteFile(f, rows))
	}
	for range 2 {
		db, err := Open(t.Context(), Options{Dataset: dir})
		require.NoError(t, err)
		assert.Equal(t, []string{"70 ?"}, rowsOf(t, db, "SELECT input_tokens || ' ' || coalesce(logged_usd::VARCHAR, '?') FROM requests"))
		assert.Equal(t, []string{"0"}, rowsOf(t, db, "SELECT count(*) FROM reported"))
		require.NoError(t, db.Close())
		db, err = Open(t.Context(), Options{Dataset: dir, Selection: Selection{Session: "pa"}})
		require.NoError(t, err)
		assert.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM requests"))
		require.NoError(t, db.Close())
		_, err = dataset.Import(t.Context(), dir, nil, dataset.Options{})
		require.NoError(t, err)
	}
	needed, err := dataset.Complete(dir, t.TempDir())
	require.NoError(t, err)
	assert.False(t, needed)
}
