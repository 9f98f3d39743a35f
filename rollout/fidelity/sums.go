package fidelity

import (
	"math"
	"slices"
)

// OrderKept reports whether all parts that both sides hold stand in the same order.
func (p Pair) OrderKept() bool { return p.Moved == 0 }

// UnloggedError is |predicted − sent| of the tokens the log does not hold, as a
// share of UnloggedOf; nil where the log holds no usage.
func (p Pair) UnloggedError() *float64 {
	if p.UnloggedPredicted == nil || p.UnloggedOf <= 0 {
		return nil
	}
	e := math.Abs(float64(*p.UnloggedPredicted-p.UnloggedSent)) / float64(p.UnloggedOf)
	return &e
}

// Pairs lists the pairs of all sessions.
func (r Result) Pairs() []Pair {
	var out []Pair
	for _, s := range r.Sessions {
		out = append(out, s.Pairs...)
	}
	return out
}

// SumOf adds up pairs.
func SumOf(pairs []Pair) Sums {
	var s Sums
	var errors []float64
	for _, p := range pairs {
		s.Requests++
		s.LoggedTokens += p.LoggedTokens
		s.MatchedTokens += p.MatchedTokens
		s.Extra += p.Extra
		if p.OrderKept() {
			s.OrderKept++
		}
		if p.Usage != nil && *p.Usage {
			s.Usage++
		} else if p.Usage != nil {
			s.UsageOff++
		}
		if e := p.UnloggedError(); e != nil {
			errors = append(errors, *e)
		}
	}
	if s.LoggedTokens > 0 {
		share := float64(s.MatchedTokens) / float64(s.LoggedTokens)
		s.Share = &share
	}
	if len(errors) > 0 {
		slices.Sort(errors)
		s.UnloggedWorst, s.UnloggedMedian = &errors[len(errors)-1], &errors[len(errors)/2]
	}
	return s
}
