package detour

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLearnByHand: the overall net rate 0.2 of 50 cases; an A/B of 40 trials found 40
// extra requests of 100 lossy edits, 20.8 to 59.2.
func TestLearnByHand(t *testing.T) {
	t.Parallel()
	r := Rates{
		Source:  "these logs",
		Overall: Stratum{Cases: 50, Net: 0.2, NetLow: 0.1, NetHigh: 0.3},
		Strata:  []Stratum{{Kind: "log", Cases: 9, Net: 0.4, NetLow: 0.2, NetHigh: 0.9}},
	}
	// p = 0.4; σ = 38.4 / 392 = 0.09796; w = 0.2 × 0.8 / 0.009596 = 16.674.
	// net' = (50 × 0.2 + 16.674 × 0.4) / 66.674 = 16.670 / 66.674 = 0.25002; factor 1.2501.
	got, lesson := r.Learn([]Found{{Items: 100, Extra: 40, Low: 20.8, High: 59.2, Trials: 40}})
	require.NotNil(t, lesson)
	assert.Equal(t, 1, lesson.Outcomes)
	assert.InDelta(t, 16.674, lesson.Weight, 0.01)
	assert.InDelta(t, 1.2501, lesson.Factor, 0.0005)
	assert.InDelta(t, 0.25002, got.Overall.Net, 0.0001)
	assert.InDelta(t, 0.1, got.Overall.NetLow, 1e-12, "the lower bound stays")
	assert.InDelta(t, 0.37502, got.Overall.NetHigh, 0.0002)
	assert.InDelta(t, 1.0, got.Strata[0].NetHigh, 1e-12, "never above 1")
	assert.InDelta(t, 0.4, r.Strata[0].Net, 1e-12, "what it was given is left alone")
	assert.Contains(t, got.Source, "1 past A/B")

	// With 5 trials it counts as 5 cases: (10 + 2) / 55 = 0.21818.
	_, lesson = r.Learn([]Found{{Items: 100, Extra: 40, Low: 20.8, High: 59.2, Trials: 5}})
	assert.InDelta(t, 0.21818/0.2, lesson.Factor, 0.0001)

	// Fewer requests than predicted lower the rates, to no less than a half.
	many := []Found{}
	for range 200 {
		many = append(many, Found{Items: 100, Extra: -30, Low: -40, High: -20, Trials: 40})
	}
	got, lesson = r.Learn(many)
	assert.InDelta(t, 0.5, lesson.Factor, 1e-12)
	assert.InDelta(t, 0.05, got.Overall.NetLow, 1e-12)
	assert.InDelta(t, 0.3, got.Overall.NetHigh, 1e-12, "the upper bound stays")
}

// TestLearnKeepsWhatIsRight: where the rate of the logs is the truth and A/Bs are noisy,
// what they teach averages out, however noisy they are.
func TestLearnKeepsWhatIsRight(t *testing.T) {
	t.Parallel()
	const truth, items, fleets, outcomes = 0.1, 100, 400, 40
	random := rand.New(rand.NewPCG(1, 2))
	for _, sigma := range []float64{0.05, 0.3, 1} {
		sum := 0.0
		for range fleets {
			var list []Found
			for range outcomes {
				extra := items * (truth + sigma*random.NormFloat64())
				list = append(list, Found{Items: items, Extra: extra, Low: extra - 1.96*items*sigma, High: extra + 1.96*items*sigma, Trials: 50})
			}
			_, lesson := Rates{Overall: Stratum{Cases: 100, Net: truth}}.Learn(list)
			sum += lesson.Factor
		}
		assert.InDelta(t, 1, sum/fleets, 0.03, "noise %.2f", sigma)
	}
}

func TestLearnNothing(t *testing.T) {
	t.Parallel()
	r := Rates{Overall: Stratum{Cases: 50, Net: 0.2}}
	for _, list := range [][]Found{nil, {{Items: 0, Extra: 3, Low: 1, High: 5, Trials: 9}}, {{Items: 10, Extra: 3, Low: 3, High: 3, Trials: 9}}, {{Items: 10, Extra: 3, Low: 1, High: 5}}} {
		got, lesson := r.Learn(list)
		assert.Nil(t, lesson)
		assert.Equal(t, r, got)
	}
	_, lesson := Rates{}.Learn([]Found{{Items: 10, Extra: 3, Low: 1, High: 5, Trials: 9}})
	assert.Nil(t, lesson, "no net rate to multiply")
}
