package measure

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// boundDefaults corrects factors that no pair was there to fit. What is logged of a
// request cannot take more tokens than its whole input: where a default would make
// it so for most requests, which happens to short sessions whose log holds
// everything, the factor is the one that the input allows.
func boundDefaults(s *rollout.Session, m *Measured, list []Calibration) {
	counted := perRequest(s, func(i int) int64 { return value(m.Spans[i].Tokens) })
	messages := messageCounts(s, fitsOf(list, FitAll))
	for i := range list {
		c := &list[i]
		if c.Kind != "" || !strings.HasPrefix(c.Method, MethodDefault) {
			continue
		}
		var points []point
		for k, r := range s.Requests {
			if r.Model == c.Model && r.Status == rollout.Answered && r.Usage.Input != nil {
				points = append(points, point{y: float64(*r.Usage.Input) - c.FramingPerMessage*messages[k], x: float64(counted[k])})
			}
		}
		if most := factorOf(points, 0, c.Factor); most < c.Factor {
			c.Factor = max(most, minFactor)
			c.FactorLow, c.FactorHigh = c.Factor, c.Factor
		}
	}
}
