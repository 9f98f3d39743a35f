package detour

import (
	"fmt"
	"math"

	"github.com/fclog/fclog/internal/term"
)

// Found is what a live A/B showed of a variant whose lossy edits were counted before:
// the extra requests, at the size of the prediction, with their 95 % bounds.
type Found struct {
	Items  int64 // lossy edits of the prediction
	Extra  float64
	Low    float64
	High   float64
	Trials int64 // of the smaller arm
}

// Lesson is what A/Bs did to base rates.
type Lesson struct {
	Outcomes int     // that could teach anything
	Weight   float64 // cases that they count as together
	Factor   float64 // net rates were multiplied with it
}

const (
	// mostPrior bounds how many cases the logs' own rate counts as against A/Bs, which
	// see the variant itself and not something like it.
	mostPrior = maxStrength
	// mostFactor bounds what A/Bs may do to a rate.
	mostFactor = 2
)

// Learn lets A/Bs correct the rates, cautiously. Of every outcome
//
//	p = extra requests / lossy edits
//	σ = (high - low) / (2 × 1.96 × lossy edits)
//	w = min(net (1 - net) / σ², trials)
//
// w is the number of cases whose rate would be known as well as the A/B knows p, and
// never more than its trials. It follows from the noise of the A/B and not from what
// the A/B found, and p may lie below 0 or above 1 by chance: held at 0, or weighed by
// itself, what is above the truth would count for more than what is below. The overall
// net rate is the mean of Beta(m × net, m × (1 - net)), m its cases but at most 100;
// with the outcomes it is
//
//	net' = (m × net + Σ w p) / (m + Σ w)
//
// Every net rate is multiplied with net'/net, held between 1/2 and 2. Bounds only
// widen: the lower one falls with a factor below 1, the upper one rises with one above.
// Without outcomes, or a net rate of 0, the rates stay as they are.
func (r Rates) Learn(list []Found) (Rates, *Lesson) {
	net := r.Overall.Net
	lesson := Lesson{Factor: 1}
	sum := 0.0
	for _, f := range list {
		p, w := f.weigh(net)
		if w > 0 {
			lesson.Outcomes++
			lesson.Weight += w
			sum += w * p
		}
	}
	if lesson.Outcomes == 0 || net <= 0 {
		return r, nil
	}
	m := math.Min(float64(r.Overall.Cases), mostPrior)
	lesson.Factor = (m*net + sum) / (m + lesson.Weight) / net
	lesson.Factor = math.Min(mostFactor, math.Max(1/float64(mostFactor), lesson.Factor))
	return r.times(lesson), &lesson
}

// weigh is the rate that an outcome shows, and the cases it counts as.
func (f Found) weigh(net float64) (p, w float64) {
	sigma := (f.High - f.Low) / (2 * 1.96 * float64(f.Items))
	if f.Items <= 0 || f.Trials <= 0 || !(sigma > 0) || math.IsInf(sigma, 0) {
		return 0, 0
	}
	return f.Extra / float64(f.Items), math.Min(net*(1-net)/(sigma*sigma), float64(f.Trials))
}

func (r Rates) times(l Lesson) Rates {
	strata := make([]Stratum, len(r.Strata))
	for i, s := range r.Strata {
		strata[i] = s.times(l.Factor)
	}
	r.Overall, r.Strata = r.Overall.times(l.Factor), strata
	r.Source += fmt.Sprintf("; net rates × %.2f, as %s found", l.Factor, term.Count(int64(l.Outcomes), "past A/B", "past A/Bs"))
	return r
}

func (s Stratum) times(factor float64) Stratum {
	s.Net = math.Min(1, s.Net*factor)
	s.NetLow *= math.Min(1, factor)
	s.NetHigh = math.Min(1, s.NetHigh*math.Max(1, factor))
	return s
}
