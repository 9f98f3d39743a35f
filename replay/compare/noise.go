package compare

import "math"

// publishedSD is the SD of the log ratio of tokens between two whole-suite runs of
// the same arm, from FreeCode's published A/A runs. It says nothing about trials.
const publishedSD = 0.185

// minFreedom is the fewest degrees of freedom a spread is taken from.
const minFreedom = 3

const (
	fromTrials    = "these trials"
	fromTasks     = "the changes of these tasks"
	fromPublished = "FreeCode's published A/A runs (whole suites)"
)

// Noise is what two runs of the same arm differ by.
type Noise struct {
	SD      float64 `json:"sd_log_ratio"` // of the log ratio of the arms' sums
	Floor   float64 `json:"floor"`        // 1.96 SD: 95 % of differences by chance are smaller
	Basis   string  `json:"basis"`        // these trials, or the published spread
	Freedom int     `json:"degrees_of_freedom"`
}

// own says that the spread is that of the trials at hand.
func (n *Noise) own() bool { return n != nil && n.Basis == fromTrials }

// within is the pooled variance of ln(num/den) within the tasks of each arm, over
// single trials.
func within(s strata) (variance float64, freedom int) {
	var squares float64
	for _, task := range s {
		for _, points := range task {
			q, f := spread(points)
			squares, freedom = squares+q, freedom+f
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return squares / float64(freedom), freedom
}

// spread is the sum of squares of ln(num/den) about its mean and its degrees of freedom.
func spread(points []point) (squares float64, freedom int) {
	var logs []float64
	for _, p := range points {
		if p.n == 1 && p.num > 0 && p.den > 0 {
			logs = append(logs, math.Log(p.num/p.den))
		}
	}
	if len(logs) < 2 {
		return 0, 0
	}
	m := mean(logs)
	for _, v := range logs {
		squares += (v - m) * (v - m)
	}
	return squares, len(logs) - 1
}

// noiseOf is the noise floor of a log ratio; nil where nothing tells it.
func (m metric) noiseOf(s strata) *Noise {
	if m.difference || len(s) == 0 {
		return nil
	}
	variance, freedom := within(s)
	if freedom >= minFreedom {
		sd := math.Sqrt(variance * weights(s))
		return &Noise{SD: sd, Floor: 1.96 * sd, Basis: fromTrials, Freedom: freedom}
	}
	if m.name == "tokens" {
		return &Noise{SD: publishedSD, Floor: 1.96 * publishedSD, Basis: fromPublished}
	}
	return nil
}

// weights is Σ over arms and tasks of (share of the task in its arm)² / trials.
func weights(s strata) float64 {
	all := totals(s)
	var sum float64
	for _, task := range s {
		for arm, points := range task {
			var one sums
			one.addMean(points)
			share := one.num / all[arm].num
			var n float64
			for _, p := range points {
				n += p.n
			}
			sum += share * share / n
		}
	}
	return sum
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// variance is the sample variance; 0 for fewer than two values.
func variance(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m := mean(v)
	var sum float64
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return sum / float64(len(v)-1)
}
