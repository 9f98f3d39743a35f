package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOutcomeByHand: a replay of 200 requests, 20 of them removed, and an A/B that
// took 10 % more requests than its base.
func TestOutcomeByHand(t *testing.T) {
	t.Parallel()
	p := Prediction{
		Variant: "cap", Sessions: 7, BaselineRequests: new(int64(200)), Requests: new(int64(180)), BaselineInput: new(int64(1000)), Input: new(int64(800)),
		Detours: new(20.0), LossyItems: new(int64(50)), ShareLow: new(0.1), ShareHigh: new(0.3), Verdict: "worth an A/B",
	}
	r := &Result{
		PairedTasks: 13, Baseline: Arm{Name: "base", Trials: 13}, Candidate: Arm{Name: "candidate", Trials: 12}, Verdict: Verdict{Verdict: "rejected"},
		Deltas: Deltas{
			Requests:         &Delta{Change: new(math.Log(1.1)), Low: new(math.Log(0.9)), High: new(math.Log(1.3))},
			TokensPerRequest: &Delta{Change: new(math.Log(0.9)), Low: new(math.Log(0.85)), High: new(math.Log(0.95))},
		},
	}
	o := OutcomeOf(r, p, nil, nil)
	assert.Equal(t, []int64{13, 12, 7}, []int64{o.Tasks, o.Trials, o.Sessions})
	assert.InDelta(t, 0.2, *o.Share, 1e-12)
	assert.InDelta(t, math.Log(0.9), *o.LnRequests, 1e-12)
	// 1.1 × 200 = 220 requests where 180 were left: 40 more, 0 to 80.
	assert.InDelta(t, 40, *o.DetoursFound, 1e-9)
	assert.InDelta(t, 0, *o.DetoursFoundLow, 1e-9)
	assert.InDelta(t, 80, *o.DetoursFoundHigh, 1e-9)
	// 180 + 20 expected detours are the 200 of the base.
	assert.InDelta(t, 0, *o.WithDetours(), 1e-12)
	assert.Equal(t, "worth an A/B", *o.Predicted)
}

// TestRecordByHand: of two predictions one lies inside; the errors are 0.1 and -0.02.
func TestRecordByHand(t *testing.T) {
	t.Parallel()
	at := func(predicted, measured, low, high float64) Outcome {
		return Outcome{LnPerRequest: &predicted, MeasuredPerRequest: &measured, MeasuredPerRequestLow: &low, MeasuredPerRequestHigh: &high}
	}
	r := RecordOf([]Outcome{at(-0.2, -0.1, -0.15, -0.05), at(-0.1, -0.12, -0.2, 0), {Variant: "without figures"}})
	assert.Equal(t, 2, r.PerRequest.Outcomes)
	assert.Equal(t, 1, r.PerRequest.Inside)
	assert.Equal(t, 2, r.PerRequest.Bounded)
	assert.Zero(t, RecordOf([]Outcome{at(0, 0, 0, 0)}).PerRequest.Bounded, "one task has no interval")
	assert.InDelta(t, 0.04, *r.PerRequest.Error, 1e-12)
	// Deviations ±0.06: variance 0.0072, of the mean 0.0036.
	assert.InDelta(t, 0.06, *r.PerRequest.Spread, 1e-12)
	assert.Zero(t, r.Requests.Outcomes)
	assert.Nil(t, r.Requests.Error)
	require.Zero(t, RecordOf(nil).PerRequest.Inside)
}
