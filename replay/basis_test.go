package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout/measure"
)

// with gives a recording a factor.
func with(rec Recording, factor float64, method string) Recording {
	rec.Sizes.Public = false
	rec.Sizes.Calibration = []measure.Calibration{{Model: "claude-x", Fit: measure.FitAll, Method: method, Factor: factor, FactorLow: factor, FactorHigh: factor}}
	return rec
}

// One token less at a factor of 0.6, carried by three requests: the sums are 0.6,
// 1.2 and 1.8, of which 0, 1 and 1 are whole. One token more: -0.6, -1.2 and -1.8
// are -1, -2 and -2 rounded down.
func TestWholeTokensAddUp(t *testing.T) {
	rec := with(three(time.Minute).recording(t), 0.6, measure.MethodFitted)
	o := handEngine(t).Evaluate(rec, Plan{Edits: []Edit{edit(0, 1, 999)}}, false)
	assert.Equal(t, []int64{3000, 3499, 4200}, inputs(o))
	assert.EqualValues(t, 1, *o.SavedLow)
	assert.EqualValues(t, 1, *o.SavedHigh)
	o = handEngine(t).Evaluate(rec, Plan{Edits: []Edit{edit(0, 1, 1001)}}, false)
	assert.Equal(t, []int64{3001, 3501, 4200}, inputs(o))
}

// Ten recordings that save 1.8 tokens each save 18 in truth; 10 × 1 are told, never
// 10 × 2.
func TestRecordingsNeverSaveMoreThanTheirSum(t *testing.T) {
	var recs []Recording
	for range 10 {
		recs = append(recs, with(three(time.Minute).recording(t), 0.6, measure.MethodFitted))
	}
	r, err := handEngine(t).Run(t.Context(), recs, []Use{fixed("v", Plan{Edits: []Edit{edit(1, 2, 499), edit(2, 3, 699)}})}, RunOptions{})
	if assert.NoError(t, err) {
		assert.EqualValues(t, 10, *r.Variants[0].StaticSavingTokens)
		assert.EqualValues(t, 10, *r.Variants[0].StaticSavingSpreadLow)
	}
}

func TestBasis(t *testing.T) {
	plain := func() Recording { return three(time.Minute).recording(t) } // three requests each
	fitted := func(factor float64) Recording { return with(plain(), factor, measure.MethodFitted) }
	usual := func(factor float64) Recording {
		return with(plain(), factor, measure.MethodDefault+measure.TextSuffix)
	}
	none := plain()
	none.Sizes.Public = false
	for _, c := range []struct {
		want string
		recs []Recording
	}{
		{"counted with the model's own tokenizer", []Recording{plain(), with(plain(), 1, measure.MethodPublic+measure.TextSuffix)}},
		{"calibrated: 1.05 provider tokens for one counted", []Recording{fitted(1.05)}},
		{"calibrated: 1.05 to 1.20 provider tokens for one counted, by session and model", []Recording{fitted(1.2), fitted(1.05)}},
		{"estimated, not calibrated, as too few requests tell the factor: one provider token for one counted", []Recording{none, usual(1)}},
		{"estimated, not calibrated, as too few requests tell the factor: 1.10 provider tokens for one counted", []Recording{usual(1.1)}},
		{
			"counted with the model's own tokenizer for 3 of 12 requests; calibrated for 6 of 12 requests: 1.05 provider tokens for one counted; " +
				"estimated, not calibrated for 3 of 12 requests, as too few requests tell the factor: 1.10 provider tokens for one counted",
			[]Recording{plain(), fitted(1.05), fitted(1.05), usual(1.1)},
		},
	} {
		assert.Equal(t, c.want, basisOf(c.recs))
	}
}
