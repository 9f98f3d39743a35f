package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	draws = 10_000
	seed  = 20_260_904
	level = 0.95
	// minArrangements is the least number of ways to deal the trials to the arms with
	// which a two-sided rearrangement test can reach 1 - level: 2/40 = 5 %.
	minArrangements = 40
)

// sums adds up the task means of one arm.
type sums struct{ num, den float64 }

// addMean adds the mean per trial of a task's points.
func (s *sums) addMean(points []point) {
	var n, num, den float64
	for _, p := range points {
		n, num, den = n+p.n, num+p.num, den+p.den
	}
	s.num += num / n
	s.den += den / n
}

// change is candidate against baseline; false where it has no value (a ratio with a 0).
func (m metric) change(a [arms]sums) (float64, bool) {
	base, candidate := a[0].num/a[0].den, a[1].num/a[1].den
	v := candidate - base
	if !m.difference {
		v = math.Log(candidate / base)
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

func totals(s strata) [arms]sums {
	var a [arms]sums
	for _, task := range s {
		for arm := range task {
			a[arm].addMean(task[arm])
		}
	}
	return a
}

// interval is the percentile bootstrap interval of a change over tasks; false
// where some draw has no value.
func (m metric) interval(s strata) (low, high float64, ok bool) {
	if len(s) == 0 {
		return 0, 0, false
	}
	random := rand.New(rand.NewPCG(seed, 0))
	values := make([]float64, draws)
	for i := range values {
		values[i], ok = m.change(draw(s, random))
		if !ok {
			return 0, 0, false
		}
	}
	slices.Sort(values)
	return rank(values, (1-level)/2), rank(values, (1+level)/2), true
}

// draw takes tasks with replacement, and trials within each.
func draw(s strata, random *rand.Rand) [arms]sums {
	var a [arms]sums
	var picked []point
	for range s {
		task := s[random.IntN(len(s))]
		for arm, points := range task {
			picked = picked[:0]
			for range points {
				picked = append(picked, points[random.IntN(len(points))])
			}
			a[arm].addMean(picked)
		}
	}
	return a
}

// rank is the smallest of sorted values that at least a share q of them do not exceed.
func rank(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// arrangements is the number of ways to deal the trials of each task to the arms.
// A tally of several trials is one thing to deal.
func arrangements(s strata) float64 {
	ways := 1.0
	for _, task := range s {
		ways *= binomial(len(task[0])+len(task[1]), len(task[0]))
	}
	return ways
}

func binomial(n, k int) float64 {
	v := 1.0
	for i := 1; i <= k; i++ {
		v = v * float64(n-k+i) / float64(i)
	}
	return v
}
