package measure

import (
	"math"

	"github.com/fclog/fclog/rollout"
)

// Explanation says how much of the recorded growth of the inputs a session's items
// explain.
type Explanation struct {
	Pairs     int            // pairs scored: usable, second request odd
	Explained *float64       // 1 − Σ|residual| / Σ|growth|; nil without scored pairs
	LeftOut   map[string]int // pairs left out, by reason
}

// Explained scores one model of a session on the requests that its even fit did
// not see. It is the reference for the SQL question; doc.go has the formula.
func Explained(s *rollout.Session, m *Measured, model string) Explanation {
	f := fitsOf(m.Calibration, FitEven)[model]
	out := Explanation{LeftOut: map[string]int{}}
	missed, total := 0.0, 0.0
	for _, p := range pairs(s, m) {
		if s.Requests[p.from].Model != model {
			continue
		}
		if p.leftOut != "" {
			out.LeftOut[p.leftOut]++
			continue
		}
		if s.Requests[p.to].Number%2 == 0 {
			continue
		}
		out.Pairs++
		missed += math.Abs(p.growth - f.predict(p))
		total += math.Abs(p.growth)
	}
	if total > 0 {
		score := 1 - missed/total
		out.Explained = &score
	}
	return out
}
