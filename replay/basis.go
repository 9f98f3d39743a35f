package replay

import (
	"fmt"
	"math"
	"strings"

	"github.com/fclog/fclog/rollout/measure"
)

// basis is requests whose tokens rest on the same kind of factor, and the range of
// those factors.
type basis struct {
	requests  int64
	low, high float64
}

func (b *basis) add(factor float64) {
	if b.requests == 0 {
		b.low, b.high = factor, factor
	}
	b.requests++
	b.low, b.high = min(b.low, factor), max(b.high, factor)
}

func (b *basis) factor() string {
	low, high := fmt.Sprintf("%.2f", b.low), fmt.Sprintf("%.2f", b.high)
	switch {
	case low != high:
		return low + " to " + high + " provider tokens for one counted, by session and model"
	case math.Abs(b.low-1) < 1e-9 && math.Abs(b.high-1) < 1e-9:
		return "one provider token for one counted"
	}
	return low + " provider tokens for one counted"
}

// basisOf says what the token figures rest on: the model's own tokenizer, a factor
// fitted on the recorded usage, or a usual factor where too few requests were there
// to fit one. Where requests differ it says how many rest on which.
func basisOf(recs []Recording) string {
	var own, fitted, usual basis
	for _, rec := range recs {
		byModel := calibrationsOf(rec)
		for _, r := range rec.Session.Requests {
			if r.Inherited {
				continue
			}
			c, ok := byModel[r.Model]
			switch method := strings.TrimSuffix(c.Method, measure.TextSuffix); {
			case rec.Sizes.Public || method == measure.MethodPublic:
				own.add(1)
			case method == measure.MethodFitted:
				fitted.add(c.Factor)
			case ok:
				usual.add(c.Factor)
			default:
				usual.add(1)
			}
		}
	}
	parts := []string{}
	all := own.requests + fitted.requests + usual.requests
	say := func(b basis, what, detail string) {
		if b.requests == 0 {
			return
		}
		if b.requests < all {
			what += fmt.Sprintf(" for %d of %d requests", b.requests, all)
		}
		parts = append(parts, what+detail)
	}
	say(own, "counted with the model's own tokenizer", "")
	say(fitted, "calibrated", ": "+fitted.factor())
	say(usual, "estimated, not calibrated", ", as too few requests tell the factor: "+usual.factor())
	if len(parts) == 0 {
		return "no requests"
	}
	return strings.Join(parts, "; ")
}

// calibrationsOf finds the general factor of each model.
func calibrationsOf(rec Recording) map[string]measure.Calibration {
	out := map[string]measure.Calibration{}
	for _, c := range rec.Sizes.Calibration {
		if c.Fit == measure.FitAll && c.Kind == "" {
			out[c.Model] = c
		}
	}
	return out
}
