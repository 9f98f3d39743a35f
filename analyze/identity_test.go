package analyze

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/analyze/dataset"
)

// sums reads the two sides of the identity: what the spans add up to, and what
// the counting requests carried.
func sums(t require.TestingT, db *DB) (spans, requests int64) {
	rows, err := db.Query(context.Background(), `SELECT
		(SELECT coalesce(sum(coalesce(tokens, 0) * requests), 0)::BIGINT FROM carried),
		(SELECT coalesce(sum(counted_tokens), 0)::BIGINT FROM requests WHERE counts)`)
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(&spans, &requests))
	return spans, requests
}

// The fork copied the first two of the original's responses without saying so:
// the original owns them. The fork's prompt rides in 3 requests of which 1 counts.
func TestCopiedResponsesCountOnce(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "original"})
	b.session(dataset.Session{SessionID: "fork", StartedAt: ptr(start.UnixMilli() + 1000)})
	for i, n := range []int64{1, 2} {
		for _, id := range []string{"original", "fork"} {
			r := usage(100*n, 0, 1, 10, 0)
			r.ResponseID = ptr([]string{"r1", "r2"}[i])
			b.request(id, r)
		}
	}
	b.request("fork", usage(500, 0, 1, 10, 0))
	b.carry("original", "user_text", "", 10, 1, 2)
	b.carry("fork", "user_text", "", 10, 1, 3)
	b.call("fork", 1, dataset.Call{Class: "read"})

	a := audit(t, b.tables)
	assert.Equal(t, int64(3), a.Totals.Requests)
	assert.Equal(t, int64(100+200+500), *a.Totals.InputTokens)
	assert.Equal(t, int64(0), a.Totals.Calls, "the call belongs to a copied response")
	assert.Equal(t, int64(10*2+10*1), a.Composition[0].CarriedTokens)
	assert.Equal(t, int64(10*3), a.Totals.CountedTokens)
}

// A compaction request sends the whole of request 2 again and adds a prompt of 7.
func TestBaseRequestsWeighOnTheirBase(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(100, 0, 1, 10, 0))
	b.request("a", usage(200, 0, 1, 10+20, 0))
	compaction := usage(250, 0, 1, 10+20+7, 0)
	compaction.Kind, compaction.Chain, compaction.Request, compaction.BaseRequestIndex = "compaction", 1, 1, ptr(int64(1))
	b.request("a", compaction)
	b.carry("a", "user_text", "", 10, 1, 2)
	b.carry("a", "tool_result", "bash", 20, 2, 2)
	prompt := b.item("a", dataset.Item{Kind: "user_text"}, 7)
	b.span("a", prompt, 1, 1, 1)
	db := b.open(t)

	spans, requests := sums(t, db)
	assert.Equal(t, int64(10+30+37), requests)
	assert.Equal(t, requests, spans)
	var got [][2]int64
	for _, row := range ask(t, db, "composition-per-request", Params{}) {
		if row["chain"] == int64(1) && row["kind"] != "framing" && row["kind"] != "unlogged" {
			got = append(got, [2]int64{row["request"].(int64), row["tokens"].(int64)})
		}
	}
	assert.Equal(t, [][2]int64{{1, 20}, {1, 17}}, got, "tool_result 20, user_text 10 + 7")
}

// Over any sessions with inherited, copied, failed and base requests: what spans
// add up to is what the counting requests carried, in total and per request.
func TestSpansAddUpToRequests(t *testing.T) {
	fewerChecks(t, "30") // each opens a database
	rapid.Check(t, func(rt *rapid.T) {
		b := &builder{}
		for _, id := range []string{"a", "b", "c"} {
			generate(rt, b, id)
		}
		db := b.open(t)
		defer db.Close()
		spans, requests := sums(rt, db)
		assert.Equal(rt, requests, spans)

		composition := int64(0)
		for _, row := range ask(t, db, "composition", Params{}) {
			if row["kind"] != "framing" && row["kind"] != "unlogged" {
				composition += row["carried_tokens"].(int64)
			}
		}
		assert.Equal(rt, requests, composition)

		perRequest := int64(0)
		for _, row := range ask(t, db, "composition-per-request", Params{}) {
			if row["kind"] != "framing" && row["kind"] != "unlogged" {
				perRequest += row["tokens"].(int64)
			}
		}
		assert.Equal(rt, requests, perRequest)
	})
}

// fewerChecks lowers rapid's number of checks for one test, unless the command
// line asks for another number.
func fewerChecks(t *testing.T, n string) {
	checks := flag.Lookup("rapid.checks")
	if checks == nil || checks.Value.String() != checks.DefValue {
		return
	}
	require.NoError(t, flag.Set("rapid.checks", n))
	t.Cleanup(func() { _ = flag.Set("rapid.checks", checks.DefValue) })
}

// generate adds a session of two chains whose counted tokens are added up the slow
// way, request by request and span by span.
func generate(t *rapid.T, b *builder, id string) {
	b.session(dataset.Session{SessionID: id})
	first := len(b.requests)
	numbers := []int64{0, 0}
	n := rapid.IntRange(1, 8).Draw(t, "requests")
	for i := range n {
		chain := rapid.Int64Range(0, 1).Draw(t, "chain")
		numbers[chain]++
		r := usage(10_000, 0, 1, 0, 5)
		r.Chain, r.Request = chain, numbers[chain]
		r.Inherited = rapid.Bool().Draw(t, "inherited")
		r.ResponseID = known(rapid.SampledFrom([]string{"", "r1", "r2", "r3"}).Draw(t, "response"))
		r.Kind = rapid.SampledFrom([]string{"turn", "compaction"}).Draw(t, "kind")
		if rapid.Bool().Draw(t, "failed") {
			r.Status, r.InputTokens, r.CacheReadTokens, r.OutputTokens = "error", nil, nil, nil
			r.CalibratedTokens, r.FramingTokens, r.UnloggedTokens = nil, nil, nil
		}
		if i > 0 && rapid.Bool().Draw(t, "based") {
			r.BaseRequestIndex = ptr(rapid.Int64Range(0, int64(i-1)).Draw(t, "base"))
		}
		b.request(id, r)
	}
	for range rapid.IntRange(0, 10).Draw(t, "spans") {
		chain := rapid.Int64Range(0, 1).Draw(t, "of chain")
		if numbers[chain] == 0 {
			continue
		}
		from := rapid.Int64Range(1, numbers[chain]).Draw(t, "from")
		to := rapid.Int64Range(from, numbers[chain]).Draw(t, "to")
		kind := rapid.SampledFrom([]string{"user_text", "tool_result", "reminder"}).Draw(t, "item kind")
		item := b.item(id, dataset.Item{Kind: kind}, rapid.Int64Range(0, 100).Draw(t, "tokens"))
		b.span(id, item, chain, from, to)
	}
	for i := first; i < len(b.requests); i++ {
		r := &b.requests[i]
		for _, s := range b.spans {
			if s.SessionID == id && s.Chain == r.Chain && s.FirstRequest <= r.Request && r.Request <= s.LastRequest {
				r.CountedTokens += *s.Tokens
			}
		}
		if r.BaseRequestIndex != nil {
			r.CountedTokens += b.requests[first+int(*r.BaseRequestIndex)].CountedTokens
		}
	}
}
