package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// three costs 3,000 × 3.75, then 3,000 × 0.3 + 500 × 3.75, then 3,500 × 0.3 + 700 ×
// 3.75 for its input, 17,700 USD a million, and 300 times the price of its output.
// Cutting the result of 500 to 200, three fifths of it, saves 300 × 3.75 where it is
// written and 300 × 0.3 where it is read: 1,215. That is what it is whatever the
// output costs, and a share of all that the session cost.
func TestSavingIsOfTheWholeCost(t *testing.T) {
	early, late := Plan{Edits: []Edit{edit(1, 2, 200)}}, Plan{Edits: []Edit{edit(0, 3, 100)}}
	for _, c := range []struct {
		name        string
		plan        Plan
		output      float64 // USD a million
		saved, cost float64 // millionths of USD; cost is the recorded one
		tokens      int64   // saved of 10,700
	}{
		{"output at five times the input", early, 15, 1215, 17_700 + 300*15, 600},
		{"output at fifty times the input", early, 150, 1215, 17_700 + 300*150, 600},
		{"output for nothing", early, 0, 1215, 17_700, 600},
		// 900 of the prompt less, but 1,300 are written and 2,000 read instead of 700 and 3,500.
		{"fewer tokens, dearer", late, 15, -(1300-700)*3.75 + (3500-2000)*0.3, 17_700 + 300*15, 900},
		{"nothing changed", Plan{}, 15, 0, 17_700 + 300*15, 0},
	} {
		e := handEngine(t)
		e.Price = func(_, _ string) (Rates, bool) { return Rates{3, 0.3, 3.75, 6, c.output, nil, nil}, true }
		r, err := e.Run(t.Context(), []Recording{three(time.Minute).recording(t)}, []Use{fixed("v", c.plan)}, RunOptions{})
		require.NoError(t, err, c.name)
		v := r.Variants[0]
		assert.InDelta(t, c.cost*1e-6, *r.Baseline.CostUSD, 1e-12, c.name)
		assert.InDelta(t, c.saved*1e-6, *v.StaticSavingUSD, 1e-12, c.name)
		assert.InDelta(t, c.saved/c.cost, *v.StaticSavingUSDShare, 1e-9, c.name)
		assert.Equal(t, c.tokens, *v.StaticSavingTokens, c.name)
		assert.InDelta(t, float64(c.tokens)/10_700, *v.StaticSavingShare, 1e-9, c.name)
	}
}

// What has no price, or costs nothing, has no share of the cost, and one priced
// session of two has it of its own cost.
func TestShareOfAnUnknownCost(t *testing.T) {
	plan, recs := Plan{Edits: []Edit{edit(1, 2, 200)}}, []Recording{three(time.Minute).recording(t)}
	for name, price := range map[string]func(string, string) (Rates, bool){
		"no price": func(_, _ string) (Rates, bool) { return Rates{}, false },
		"free":     func(_, _ string) (Rates, bool) { return Rates{}, true },
	} {
		e := handEngine(t)
		e.Price = price
		r, err := e.Run(t.Context(), recs, []Use{fixed("v", plan)}, RunOptions{})
		require.NoError(t, err, name)
		assert.Nil(t, r.Variants[0].StaticSavingUSDShare, name)
		assert.NotNil(t, r.Variants[0].StaticSavingShare, name)
	}
	other := three(time.Minute)
	for i := range other.Session.Requests {
		other.Session.Requests[i].Model = "unpriced"
	}
	e := handEngine(t)
	known := e.Price
	e.Price = func(provider, model string) (Rates, bool) {
		if model == "unpriced" {
			return Rates{}, false
		}
		return known(provider, model)
	}
	r, err := e.Run(t.Context(), append(recs, other.recording(t)), []Use{fixed("v", plan)}, RunOptions{})
	require.NoError(t, err)
	assert.True(t, r.Baseline.CostPartial)
	assert.InDelta(t, 1215.0/22_200, *r.Variants[0].StaticSavingUSDShare, 1e-9)
}
