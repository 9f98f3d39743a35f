package detour

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
)

// enough is how many truncated outputs, and how many whole ones, logs must hold
// before their own rates are used: with fewer, the interval of the overall rate
// alone is wider than ±18 points.
const enough = 30

// FromLogs returns the base rates of the recordings, or the orientation figures
// where they hold too few cases; Source says which and why.
func FromLogs(recs []replay.Recording) Rates {
	return orOrientation(fit(observeAll(recs)), int64(len(recs)))
}

// orOrientation are rates of so many sessions, or the orientation figures where they
// rest on too little.
func orOrientation(r Rates, sessions int64) Rates {
	if r.Overall.Cases >= enough && r.Overall.NullCases >= enough {
		r.Sessions = sessions
		return r
	}
	o := Orientation()
	o.Source = fmt.Sprintf("%s (these logs hold %s and %s to compare with, %d of each are needed)", o.Source,
		term.Count(r.Overall.Cases, "truncated output", "truncated outputs"), term.Count(r.Overall.NullCases, "whole one", "whole ones"), enough)
	return o
}

func observeAll(recs []replay.Recording) []observation {
	var out []observation
	for _, rec := range recs {
		out = append(out, observe(rec)...)
	}
	return out
}

// tally counts cases and recoveries.
type tally struct{ cases, recoveries int64 }

func (t tally) plus(recovered bool) tally {
	t.cases++
	if recovered {
		t.recoveries++
	}
	return t
}

func (t tally) and(u tally) tally { return tally{t.cases + u.cases, t.recoveries + u.recoveries} }

// rate of everything together, with the Jeffreys prior so that it is never 0 or 1.
func (t tally) rate() float64 {
	return (float64(t.recoveries) + jeffreys) / (float64(t.cases) + 2*jeffreys)
}

// fit pools the observations: every stratum is drawn towards the overall rate as
// if it held PriorCases more cases of it (Beta-binomial).
func fit(seen []observation) Rates {
	cut, whole := map[stratum]tally{}, map[stratum]tally{}
	for _, o := range seen {
		if o.marker == Whole {
			whole[o.stratum] = whole[o.stratum].plus(o.recovered)
		} else {
			cut[o.stratum] = cut[o.stratum].plus(o.recovered)
		}
	}
	return fitTallies(cut, whole)
}

// fitTallies is fit for outputs that have been counted.
func fitTallies(cut, whole map[stratum]tally) Rates {
	r := Rates{SchemaVersion: schemaVersion, Source: "these logs"}
	all, allWhole := sum(cut), sum(comparable(whole, cut))
	r.PriorCases, r.NullPriorCases = strength(cut), strength(whole)
	p := pooled{rate: all.rate(), null: allWhole.rate(), strength: r.PriorCases, nullStrength: r.NullPriorCases}
	for key, t := range cut {
		s := Stratum{Agent: key.agent, Kind: key.kind, Band: key.band, Marker: key.marker}
		p.fill(&s, t, whole[key.uncut()])
		r.Strata = append(r.Strata, s)
	}
	slices.SortFunc(r.Strata, byKey)
	r.Overall = average(r.Strata, all, p)
	for _, kind := range kinds(r.Strata) {
		r.Strata = append(r.Strata, p.ofKind(kind, r.Strata))
	}
	return r
}

// comparable keeps the whole outputs that some stratum of cut ones is compared with.
func comparable(whole, cut map[stratum]tally) map[stratum]tally {
	out := map[stratum]tally{}
	for key := range cut {
		if t, ok := whole[key.uncut()]; ok {
			out[key.uncut()] = t
		}
	}
	return out
}

func sum(m map[stratum]tally) tally {
	var t tally
	for _, u := range m {
		t = t.and(u)
	}
	return t
}

func byKey(a, b Stratum) int {
	return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Band, b.Band), cmp.Compare(a.Marker, b.Marker))
}

// pooled holds what strata are drawn to.
type pooled struct{ rate, null, strength, nullStrength float64 }

func (p pooled) fill(s *Stratum, cut, whole tally) {
	s.Cases, s.Recoveries = cut.cases, cut.recoveries
	s.NullCases, s.NullRecoveries = whole.cases, whole.recoveries
	s.Rate, s.Low, s.High = posterior(cut, p.rate, p.strength)
	s.NullRate, s.NullLow, s.NullHigh = posterior(whole, p.null, p.nullStrength)
	s.subtract()
}

// posterior is the mean of Beta(k + m·p, n − k + m·(1 − p)) and its interval.
func posterior(t tally, prior, strength float64) (mean, low, high float64) {
	a := float64(t.recoveries) + strength*prior
	b := float64(t.cases-t.recoveries) + strength*(1-prior)
	low, high = interval(a, b)
	return a / (a + b), low, high
}

// average is the rate over all cases; its null is that of the strata, weighted by
// their truncated outputs, so that both have the same mix of kinds and sizes.
func average(strata []Stratum, all tally, p pooled) Stratum {
	s := Stratum{Cases: all.cases, Recoveries: all.recoveries, Rate: all.rate()}
	s.Low, s.High = interval(float64(all.recoveries)+jeffreys, float64(all.cases-all.recoveries)+jeffreys)
	s.weighNull(strata, p)
	s.subtract()
	return s
}

// weighNull averages the nulls of strata by their cases. The bounds are averaged
// too, which is wider than the interval of the average.
func (s *Stratum) weighNull(strata []Stratum, p pooled) {
	if len(strata) == 0 {
		s.NullRate, s.NullLow, s.NullHigh = posterior(tally{}, p.null, p.nullStrength)
		return
	}
	counted := map[stratum]bool{}
	total := 0.0
	for _, t := range strata {
		w := float64(t.Cases)
		total += w
		s.NullRate += w * t.NullRate
		s.NullLow += w * t.NullLow
		s.NullHigh += w * t.NullHigh
		if cell := t.key().uncut(); !counted[cell] {
			counted[cell] = true
			s.NullCases += t.NullCases
			s.NullRecoveries += t.NullRecoveries
		}
	}
	s.NullRate, s.NullLow, s.NullHigh = s.NullRate/total, s.NullLow/total, s.NullHigh/total
}

func kinds(strata []Stratum) []compress.Kind {
	have := map[compress.Kind]bool{}
	for _, s := range strata {
		have[s.Kind] = true
	}
	return slices.Sorted(maps.Keys(have))
}

// ofKind is the stratum of one kind over all agents, sizes and markers.
func (p pooled) ofKind(kind compress.Kind, strata []Stratum) Stratum {
	var t tally
	var own []Stratum
	for _, s := range strata {
		if s.Kind == kind && s.Agent != "" {
			own = append(own, s)
			t = t.and(tally{s.Cases, s.Recoveries})
		}
	}
	s := Stratum{Kind: kind}
	p.fill(&s, t, tally{})
	s.NullRate, s.NullLow, s.NullHigh = 0, 0, 0
	s.weighNull(own, p)
	s.subtract()
	return s
}

// The prior is worth between minStrength and maxStrength cases; fixedStrength
// where the spread cannot be told: with fewer than three strata, with fewer than
// five cases a stratum (their spread is chance), or with all cases alike. Ten cases
// of its own then weigh as much as all the others.
const (
	minStrength   = 2
	maxStrength   = 100
	fixedStrength = 10
	thinStratum   = 5
)

// strength fits how far strata may lie from the overall rate, by moments
// (Kleinman, JASA 68, 1973): ρ = (S − p(1−p)(K−1)) / (p(1−p)(N − Σn²/N − (K−1))),
// S the spread between strata, and a prior of (1−ρ)/ρ cases.
func strength(strata map[stratum]tally) float64 {
	all := sum(strata)
	n := float64(all.cases)
	if len(strata) < 3 || n < thinStratum*float64(len(strata)) || all.recoveries == 0 || all.recoveries == all.cases {
		return fixedStrength
	}
	p := float64(all.recoveries) / n
	spread, squares := 0.0, 0.0
	for _, key := range slices.SortedFunc(maps.Keys(strata), compareStrata) { // floats add up to the same in one order only
		t := strata[key]
		m := float64(t.cases)
		d := float64(t.recoveries)/m - p
		spread += m * d * d
		squares += m * m
	}
	groups := float64(len(strata) - 1)
	free := n - squares/n - groups
	if free <= 0 {
		return fixedStrength
	}
	rho := (spread - p*(1-p)*groups) / (p * (1 - p) * free)
	if rho <= 0 {
		return maxStrength
	}
	return math.Min(maxStrength, math.Max(minStrength, (1-rho)/rho))
}
