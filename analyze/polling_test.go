package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// poll adds a poll made by request n whose call and result ride from n + 1 to
// last.
func (b *builder) poll(session string, n int64, outcome string, result, last int64) {
	args := b.carry(session, "tool_call", "bashoutput", 3, n+1, last)
	out := b.carry(session, "tool_result", "bashoutput", result, n+1, last)
	b.call(session, n, dataset.Call{Tool: "bashoutput", Class: "poll", Poll: known(outcome), ReadOnly: true, ArgsItem: &args, ResultItem: &out})
}

// Requests: 1 starts a task, 2 and 3 only poll, 4 polls and edits, 5 ends the run,
// 6 (another run) only polls, 7 ends it.
func pollingSession() tables {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	for i := int64(1); i <= 7; i++ {
		r := usage(1000*i, 0, 10*i, 0, 0)
		r.Run = 1 + (i-1)/5
		b.request("a", r)
	}
	b.call("a", 1, dataset.Call{Class: "shell", StartsTask: true})
	b.poll("a", 2, "empty", 7, 5)
	b.poll("a", 3, "final", 90, 5)
	b.poll("a", 4, "lost", 1, 5)
	b.call("a", 4, dataset.Call{Class: "edit"})
	b.poll("a", 6, "progress", 20, 7)
	// What the requests count is what their spans hold.
	for i, counted := range []int64{0, 0, 10, 103, 107, 0, 23} {
		b.requests[i].CountedTokens, b.requests[i].CalibratedTokens = counted, ptr(counted)
	}
	return b.tables
}

func TestPollingEpisodes(t *testing.T) {
	rows := ask(t, pollingSession().open(t), "polling-episodes", Params{})
	require.Len(t, rows, 2)
	// n = 2: requests 2 and 3, input 2,000 + 3,000, output 20 + 30. Afterwards
	// requests 4 and 5 carry 3 + 7 + 3 + 90 = 103 tokens: 206.
	assert.Equal(t, map[string]any{
		"session_id": "a", "chain": int64(0), "run": int64(1), "first_request": int64(2), "last_request": int64(3),
		"requests_low": int64(1), "requests_high": int64(2), "polls": int64(2), "empty_polls": int64(1),
		"input_tokens": int64(5000), "output_tokens": int64(50), "tokens": int64(103), "carried_tokens": int64(206), "billed_tokens": 206.0,
	}, rows[0])
	// n = 1: request 6; afterwards request 7 carries 3 + 20.
	assert.Equal(t, int64(0), rows[1]["requests_low"])
	assert.Equal(t, int64(1), rows[1]["requests_high"])
	assert.Equal(t, int64(23), rows[1]["carried_tokens"])
}

func TestPollingInTheAudit(t *testing.T) {
	a := audit(t, pollingSession())
	assert.Equal(t, Polling{
		Episodes: 2, Polls: 3, EmptyPolls: 1, RequestsLow: 1, RequestsHigh: 3,
		InputTokens: ptr(int64(11000)), OutputTokens: ptr(int64(110)), PiggyBacked: 1, Basis: Estimated,
	}, a.Polling)
	inline := a.Savings[3]
	require.Equal(t, "inline-batching", inline.Technique)
	assert.Equal(t, int64(103+23), *inline.AddressableTokens)
	assert.Equal(t, int64(11000+110+206+23), *inline.AddressableCarriedTokens)
	assert.Equal(t, int64(3), *inline.AddressableRequests)
	assert.InDelta(t, (11000.0+206+23)/28000, *inline.Share, 1e-9) // of 1,000 + … + 7,000
}

// A serial chain: read x, read y (independent of x), read z (its path stood in
// y's result), read w, then a shell command and an answer.
func TestSerialChains(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	results := []string{"nothing of use", "see also /src/zebra.go", "nothing", "nothing"}
	for i := int64(1); i <= 6; i++ {
		b.request("a", usage(1000*i, 0, i, 0, 0))
	}
	for i, path := range []string{"/src/xylophone.go", "/src/yellow.go", "/src/zebra.go", "/src/walrus.go"} {
		hash := "result-" + path
		item := b.item("a", dataset.Item{Kind: "tool_result", Tool: ptr("read"), TextHash: hash}, 10)
		b.texts = append(b.texts, dataset.Text{Part: partOf("a"), SessionID: "a", TextHash: hash, Text: results[i]})
		b.call("a", int64(i+1), dataset.Call{Tool: "read", Class: "read", Args: ptr(`{"filePath":"` + path + `"}`), ReadOnly: true, ResultItem: &item})
	}
	b.call("a", 5, dataset.Call{Tool: "bash", Class: "shell"})
	rows := ask(t, b.open(t), "serial-chains", Params{})
	require.Len(t, rows, 2)
	for i, want := range [][5]int64{{1, 2, 2, 1, 2000}, {3, 4, 2, 1, 4000}} {
		got := rows[i]
		assert.Equal(t, want, [5]int64{
			got["first_request"].(int64), got["last_request"].(int64), got["calls"].(int64), got["removable_requests"].(int64), got["input_tokens"].(int64),
		})
	}
}

func TestBatchWidths(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(1, 0, 1, 0, 0))
	b.request("a", usage(1, 0, 1, 0, 0))
	b.request("a", usage(1, 0, 1, 0, 0))
	for _, c := range []struct {
		n        int64
		readOnly bool
	}{{1, true}, {1, true}, {2, true}, {2, false}, {3, true}} {
		b.call("a", c.n, dataset.Call{Class: "read", ReadOnly: c.readOnly})
	}
	assert.Equal(t, []map[string]any{
		{"session_id": "a", "width": int64(1), "responses": int64(1), "read_only_responses": int64(1), "calls": int64(1)},
		{"session_id": "a", "width": int64(2), "responses": int64(2), "read_only_responses": int64(1), "calls": int64(4)},
	}, ask(t, b.open(t), "batch-widths", Params{}))
}
