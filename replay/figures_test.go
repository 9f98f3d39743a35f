package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// Some logs hold the output of requests and not their input, or the other way
// round. What is known stays known, and an empty plan saves nothing of it.
func TestFiguresAreUnknownOneByOne(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name          string
		input, output *int64
	}{
		{"both", count(5000), count(40)},
		{"output alone", nil, count(40)},
		{"input alone", count(5000), nil},
		{"neither", nil, nil},
	} {
		h := three(time.Minute)
		for i := range h.Session.Requests {
			h.Session.Requests[i].Usage = rollout.Usage{Input: c.input, Output: c.output}
		}
		r, v := report(t, h.recording(t), Plan{})
		times3 := func(n *int64) *int64 {
			if n == nil {
				return nil
			}
			return count(3 * *n)
		}
		zero := func(n *int64) *int64 {
			if n == nil {
				return nil
			}
			return count(0)
		}
		assert.Equal(t, times3(c.input), r.Baseline.InputTokens, c.name)
		assert.Equal(t, times3(c.output), r.Baseline.OutputTokens, c.name)
		assert.Equal(t, r.Baseline.InputTokens, v.InputTokens, c.name)
		assert.Equal(t, r.Baseline.OutputTokens, v.OutputTokens, c.name)
		assert.Equal(t, zero(c.input), v.StaticSavingTokens, c.name)
		assert.Equal(t, zero(c.output), v.StaticSavingOutputTokens, c.name)
		assert.Equal(t, c.input != nil && c.output != nil, v.CostUSD != nil, c.name)
		assert.Equal(t, r.Baseline.CostUSD, v.CostUSD, c.name)
	}
	both, err := handEngine(t).Run(t.Context(), []Recording{outputs(t, 7), outputs(t, 8)}, []Use{fixed("v", Plan{})}, RunOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3*7+3*8, *both.Variants[0].OutputTokens)
	assert.EqualValues(t, 0, *both.Variants[0].StaticSavingOutputTokens)
}

// outputs is a session of three requests of which the log holds the output alone.
func outputs(t *testing.T, each int64) Recording {
	h := three(time.Minute)
	for i := range h.Session.Requests {
		h.Session.Requests[i].Usage = rollout.Usage{Output: &each}
	}
	return h.recording(t)
}

// What costs more as it is affords no request, whether it adds text or requests.
func TestBreakEvenOfWhatCostsMore(t *testing.T) {
	rec := three(time.Minute).recording(t)
	_, longer := report(t, rec, Plan{Edits: []Edit{edit(1, 2, 1500)}})
	_, more := report(t, rec, Plan{Extras: []Extra{{After: 1, More: 10, Output: 5}}})
	for _, v := range []Estimate{longer, more} {
		require.Less(t, *v.StaticSavingTokens, int64(0))
		require.NotNil(t, v.BreakEvenRequestsTokens)
		require.NotNil(t, v.BreakEvenRequestsUSD)
		assert.Zero(t, *v.BreakEvenRequestsTokens)
		assert.Zero(t, *v.BreakEvenRequestsUSD)
	}
	_, idle := report(t, rec, Plan{})
	assert.Nil(t, idle.BreakEvenRequestsTokens, "nothing is saved and nothing cut")
}
