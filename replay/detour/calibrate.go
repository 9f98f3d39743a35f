package detour

import (
	"maps"
	"math"
	"slices"

	"github.com/fclog/fclog/replay"
)

// Calibration says how well rates predict sessions they were not fitted on. Each
// truncated output is predicted from the other sessions.
type Calibration struct {
	Cases        int64    `json:"cases"`
	Folds        int64    `json:"folds"`
	ECE          float64  `json:"expected_calibration_error"`         // mean |predicted − observed| over ten bins, weighted by cases
	Brier        float64  `json:"brier_score"`                        // mean squared error
	OverallECE   float64  `json:"overall_expected_calibration_error"` // the same when the overall rate is predicted for every case
	OverallBrier float64  `json:"overall_brier_score"`
	Difference   float64  `json:"brier_difference"`                // Brier - OverallBrier; below 0: the strata predict better
	Error        *float64 `json:"brier_difference_standard_error"` // of that difference, case by case; nil: fewer than two cases
	Better       bool     `json:"better_than_overall"`             // by more than one standard error: the strata tell something
}

// maxFolds bounds the work; up to here every session is a fold of its own.
const maxFolds = 20

// Calibrate fits the base rates of the recordings and checks them by
// cross-validation over sessions; a sub-agent stays in the fold of the session
// that started it. Unlike FromLogs it never falls back to the orientation figures.
func Calibrate(recs []replay.Recording) Rates {
	seen := observeAll(recs)
	r := fit(seen)
	r.Sessions = int64(len(recs))
	r.Calibration = crossValidate(seen)
	return r
}

// prediction is a probability beside what happened.
type prediction struct {
	p         float64
	recovered bool
}

// crossValidate returns nil where there are not two families of sessions with
// truncated outputs.
func crossValidate(seen []observation) *Calibration {
	folds := foldsOf(seen)
	if len(folds) < 2 {
		return nil
	}
	var own, overall []prediction
	for _, held := range folds {
		var rest, test []observation
		for _, o := range seen {
			switch {
			case !held[o.family]:
				rest = append(rest, o)
			case o.marker != Whole:
				test = append(test, o)
			}
		}
		r := fit(rest)
		for _, o := range test {
			own = append(own, prediction{r.For(o.agent, o.kind, o.band, o.marker).Rate, o.recovered})
			overall = append(overall, prediction{r.Overall.Rate, o.recovered})
		}
	}
	c := &Calibration{
		Cases: int64(len(own)), Folds: int64(len(folds)),
		ECE: calibrationError(own), Brier: brier(own),
		OverallECE: calibrationError(overall), OverallBrier: brier(overall),
	}
	c.Difference, c.Error = difference(own, overall)
	c.Better = c.Error != nil && -c.Difference > *c.Error
	return c
}

// difference is the mean difference of squared errors of two predictions of the same
// cases, with its standard error.
func difference(a, b []prediction) (mean float64, standardError *float64) {
	n := float64(len(a))
	squares := 0.0
	for i := range a {
		d := a[i].squaredError() - b[i].squaredError()
		mean += d / n
		squares += d * d
	}
	if len(a) < 2 {
		return mean, nil
	}
	se := math.Sqrt(max(0, squares-n*mean*mean) / (n - 1) / n)
	return mean, &se
}

func (p prediction) squaredError() float64 { return (p.p - p.outcome()) * (p.p - p.outcome()) }

// foldsOf deals the families that hold truncated outputs into folds, in order of
// their names.
func foldsOf(seen []observation) []map[string]bool {
	families := map[string]bool{}
	for _, o := range seen {
		if o.marker != Whole {
			families[o.family] = true
		}
	}
	folds := make([]map[string]bool, min(len(families), maxFolds))
	for i, f := range slices.Sorted(maps.Keys(families)) {
		k := i % len(folds)
		if folds[k] == nil {
			folds[k] = map[string]bool{}
		}
		folds[k][f] = true
	}
	return folds
}

func brier(ps []prediction) float64 {
	total := 0.0
	for _, p := range ps {
		total += p.squaredError()
	}
	return total / float64(len(ps))
}

func (p prediction) outcome() float64 {
	if p.recovered {
		return 1
	}
	return 0
}

// bins of equal width for the calibration error.
const bins = 10

func calibrationError(ps []prediction) float64 {
	var predicted, observed [bins]float64
	for _, p := range ps {
		b := min(bins-1, int(p.p*bins))
		predicted[b] += p.p
		observed[b] += p.outcome()
	}
	total := 0.0
	for b := range bins {
		total += math.Abs(predicted[b] - observed[b])
	}
	return total / float64(len(ps))
}
