package analyze

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// constant gives a request the constant part 990, between 980 and 1,005.
func constant(r dataset.Request) dataset.Request {
	r.ConstantTokens, r.ConstantLow, r.ConstantHigh, r.ConstantMethod = ptr(int64(990)), ptr(int64(980)), ptr(int64(1005)), ptr("first-request")
	return r
}

// Two turns leave over 1,000 and 1,030, of which 990 are constant: 1,980 of 2,030. A
// compaction leaves over 500, of which nothing is known. An attempt without usage
// carried the constant part too.
func TestUnlogged(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a", Models: []string{"m1"}})
	b.request("a", constant(usage(1104, 0, 20, 100, 4)))
	b.request("a", constant(usage(1238, 0, 20, 200, 8)))
	b.request("a", constant(dataset.Request{Status: "error"}))
	compaction := usage(700, 0, 50, 196, 4)
	compaction.Kind = "compaction"
	b.request("a", compaction)
	audit, err := RunAudit(context.Background(), b.open(t))
	require.NoError(t, err)

	u := audit.Unlogged
	assert.EqualValues(t, 2530, *u.Tokens)
	assert.EqualValues(t, 1980, *u.ConstantTokens)
	assert.EqualValues(t, 1960, *u.ConstantLow)
	assert.EqualValues(t, 2010, *u.ConstantHigh)
	assert.EqualValues(t, 50, *u.ChangingTokens)
	assert.EqualValues(t, 500, *u.UndividedTokens)
	assert.EqualValues(t, 1, u.BlindRequests)
	assert.EqualValues(t, 990, *u.BlindTokens)
	assert.EqualValues(t, 980, *u.BlindLow)
	assert.EqualValues(t, 1005, *u.BlindHigh)
	assert.Equal(t, *audit.Totals.UnloggedTokens, *u.Tokens, "the same figure as in the totals")
	assert.Equal(t, *u.Tokens, *u.ConstantTokens+*u.ChangingTokens+*u.UndividedTokens)

	require.Len(t, u.Constants, 2, "the turns and the compaction")
	for _, c := range u.Constants {
		if c.Tokens == nil {
			assert.Nil(t, c.Method)
			assert.EqualValues(t, 1, c.Requests)
			continue
		}
		assert.Equal(t, "first-request", *c.Method)
		assert.EqualValues(t, 990, *c.Tokens)
		assert.EqualValues(t, 2, c.Requests)
		assert.EqualValues(t, 1, c.BlindRequests)
	}
}

// TestConstantIsNoMoreThanIsUnlogged: in session a two turns leave over 1,000 and 900,
// less than 2 x 990: all 1,900 are constant, and nothing changes. In b a turn leaves
// over 20 less than nothing.
func TestConstantIsNoMoreThanIsUnlogged(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a", Models: []string{"m1"}})
	b.request("a", constant(usage(1104, 0, 20, 100, 4)))
	b.request("a", constant(usage(1108, 0, 20, 200, 8)))
	b.session(dataset.Session{SessionID: "b", Models: []string{"m1"}})
	b.request("b", constant(usage(84, 0, 20, 100, 4)))
	u := audit(t, b.tables).Unlogged
	assert.EqualValues(t, 1900-20, *u.Tokens)
	assert.EqualValues(t, 1900, *u.ConstantTokens)
	assert.EqualValues(t, 3*980, *u.ConstantLow)
	assert.EqualValues(t, 3*1005, *u.ConstantHigh)
	assert.EqualValues(t, 0, *u.ChangingTokens)
	assert.EqualValues(t, -20, *u.UndividedTokens)
}

// TestPayloadTellsWhatIsConstant: with and without usage.
func TestPayloadTellsWhatIsConstant(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a", Models: []string{"m1"}})
	b.request("a", constant(usage(1104, 0, 20, 100, 4)))
	b.request("a", constant(dataset.Request{Status: "error"}))
	b.request("a", usage(700, 0, 50, 196, 4))
	var got []PayloadRequest
	require.NoError(t, Payload(context.Background(), b.open(t), PayloadOptions{}, func(p PayloadRequest) error {
		got = append(got, p)
		return nil
	}))
	require.Len(t, got, 3)
	for _, p := range got[:2] {
		assert.EqualValues(t, 990, *p.ConstantTokens)
		assert.EqualValues(t, 980, *p.ConstantLow)
		assert.EqualValues(t, 1005, *p.ConstantHigh)
		assert.Equal(t, "first-request", *p.ConstantMethod)
	}
	assert.Nil(t, got[1].UnloggedTokens)
	assert.Nil(t, got[2].ConstantTokens)
}
