// Package bootstrap bounds the ratio of two sums over sessions, such as tokens saved
// by tokens sent, where sizes are heavy-tailed: a few sessions are most of a fleet.
//
// # Method
//
// What is drawn are clusters: all sessions of one task, else a session with its
// sub-agents. The estimate is R = Σy / Σx. Its standard error is that of the
// jackknife over clusters, which knows how much one large cluster weighs:
//
//	SE² = (n-1)/n × Σ (R₋ᵢ - mean)²
//
// The interval is that of the studentised bootstrap (bootstrap-t; Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993, §12.5): n clusters with
// replacement, t* = (R* - R) / SE*, and the bounds R - t*(97.5 %) SE and
// R - t*(2.5 %) SE. No bound lies nearer than that of Student's t with
//
//	degrees of freedom = (Σx)² / Σx² - 1
//
// the number of clusters of equal size that would weigh as much: draws without the
// largest cluster look more certain than they are.
//
// # Why this method
//
// The test simulates 1,000 fleets of several kinds and counts how often the interval
// holds the truth. With log-normal sizes (σ = 1.5, 100 sessions, the largest a tenth
// of all) the plain percentile interval holds it in 90 % and BCa in 88 %, because
// the draws inherit the sample's own light tail. This one holds it in 94 %. Below 30
// clusters, or where the share itself grows with the size of a session, no method
// based on the sample alone is right: there it holds the truth in about nine of ten
// cases, and Thin says so.
package bootstrap

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// Draws is how many draws reports make.
	Draws = 2000
	// Seed of the draws: the same clusters have the same interval.
	Seed = 20_261_201
	// Level is the share of fleets whose truth an interval should hold.
	Level = 0.95
)

// Point is one cluster.
type Point struct {
	X float64 // size, such as recorded input tokens
	Y float64 // what is set against it, such as tokens saved
}

// Interval is a ratio of sums with its bounds.
type Interval struct {
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Error     float64 `json:"standard_error"`
	Clusters  int     `json:"clusters"`
	Effective float64 `json:"effective_clusters"` // clusters of equal size that would weigh as much
}

// Thin says that so few clusters carry the ratio that its interval may be too narrow.
func (i Interval) Thin() bool { return i.Clusters < 30 || i.Effective < thinClusters }

// Open says that one cluster is most of the sum, fewer than two of equal weight: how
// far another like it may lie off is unknown, and the bounds tell nothing.
func (i Interval) Open() bool { return i.Error > 0 && i.Effective < 2-1e-9 }

// Alike says that all clusters show the same ratio: how far another may lie off is
// unknown, and that the bounds are one tells nothing.
func (i Interval) Alike() bool { return i.Low == i.High }

// Within holds the bounds between low and high, beyond which the ratio cannot lie.
func (i Interval) Within(low, high float64) Interval {
	i.Low, i.High = math.Min(math.Max(i.Low, low), high), math.Max(math.Min(i.High, high), low)
	return i
}

// OfSample bounds the ratio over all the sessions that n were drawn from: what is
// known of n of them is not open any more, by the finite population correction
// √(1 - n/N). A sample of all leaves no doubt.
func (i Interval) OfSample(n, population int64) Interval {
	left := math.Sqrt(math.Max(0, 1-float64(n)/float64(max(population, 1))))
	i.Low, i.High, i.Error = i.Ratio-left*(i.Ratio-i.Low), i.Ratio+left*(i.High-i.Ratio), left*i.Error
	return i
}

// thinClusters of equal weight are too few to tell a tail by.
const thinClusters = 8

// Ratio bounds Σy / Σx. It does not depend on the order of points. ok is false with
// fewer than two clusters of any size: nothing tells how they differ.
func Ratio(points []Point, draws int, seed uint64) (out Interval, ok bool) {
	points = sized(points)
	if len(points) < 2 {
		return out, false
	}
	s := sum(points)
	out = Interval{Ratio: s.y / s.x, Clusters: len(points), Effective: s.x * s.x / s.xx}
	out.Error = jackknife(points, s)
	out.Low, out.High = out.Ratio, out.Ratio
	if out.Error == 0 {
		return out, true
	}
	t := studentised(points, out.Ratio, draws, rand.New(rand.NewPCG(seed, uint64(len(points)))))
	least := studentQuantile(math.Max(out.Effective-1, 2))
	up, down := least, least
	if len(t) > 0 {
		up, down = math.Max(least, -rank(t, (1-Level)/2)), math.Max(least, rank(t, (1+Level)/2))
	}
	out.Low, out.High = out.Ratio-down*out.Error, out.Ratio+up*out.Error
	return out, true
}

// sized are the points that weigh anything, in a fixed order.
func sized(points []Point) []Point {
	var out []Point
	for _, p := range points {
		if p.X > 0 {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Point) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	return out
}

type sums struct{ x, y, xx float64 }

func sum(points []Point) sums {
	var s sums
	for _, p := range points {
		s.x += p.X
		s.y += p.Y
		s.xx += p.X * p.X
	}
	return s
}

// jackknife is the standard error of Σy / Σx when one cluster at a time is left out.
func jackknife(points []Point, s sums) float64 {
	ratio := s.y / s.x
	var first, second float64
	for _, p := range points {
		if p.X >= s.x {
			continue // drawn alone: nothing is left
		}
		d := (s.y-p.Y)/(s.x-p.X) - ratio
		first += d
		second += d * d
	}
	n := float64(len(points))
	return math.Sqrt(math.Max(0, second-first*first/n) * (n - 1) / n)
}

// studentised draws clusters and returns (R* - R) / SE*, sorted. A draw of one
// cluster over and over has no error of its own and is left out.
func studentised(points []Point, ratio float64, draws int, random *rand.Rand) []float64 {
	out := make([]float64, 0, draws)
	drawn := make([]Point, len(points))
	for range draws {
		for i := range drawn {
			drawn[i] = points[random.IntN(len(points))]
		}
		s := sum(drawn)
		if se := jackknife(drawn, s); se > 0 {
			out = append(out, (s.y/s.x-ratio)/se)
		}
	}
	slices.Sort(out)
	return out
}

// rank is the value of rank q × (n + 1), the nearest one where that is none.
func rank(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)+1)-1e-9)) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// studentQuantile is the 97.5 % quantile of Student's t, by the expansion of
// Abramowitz and Stegun, 26.7.5: to 0.002 from 3 degrees of freedom on.
func studentQuantile(degrees float64) float64 {
	const z = 1.959963984540054
	g1 := (math.Pow(z, 3) + z) / 4
	g2 := (5*math.Pow(z, 5) + 16*math.Pow(z, 3) + 3*z) / 96
	g3 := (3*math.Pow(z, 7) + 19*math.Pow(z, 5) + 17*math.Pow(z, 3) - 15*z) / 384
	g4 := (79*math.Pow(z, 9) + 776*math.Pow(z, 7) + 1482*math.Pow(z, 5) - 1920*math.Pow(z, 3) - 945*z) / 92160
	return z + g1/degrees + g2/math.Pow(degrees, 2) + g3/math.Pow(degrees, 3) + g4/math.Pow(degrees, 4)
}

// Sampled is the standard error of Σy / Σx over a simple random sample of
// sessions against the same ratio over all the sessions it was drawn from:
//
//	SE = √((1 - n/N) / n × Σ(y - R x)² / (n - 1)) / mean x
//
// 1 - n/N is the finite population correction (Cochran, Sampling Techniques, 3rd
// edition, §6.4): a sample of all has no error. ok is false for fewer than two.
func Sampled(points []Point, population int64) (se float64, ok bool) {
	n := float64(len(points))
	s := sum(points)
	if n < 2 || s.x <= 0 {
		return 0, false
	}
	ratio, squares := s.y/s.x, 0.0
	for _, p := range points {
		e := p.Y - ratio*p.X
		squares += e * e
	}
	left := math.Max(0, 1-n/float64(population))
	return math.Sqrt(left/n*squares/(n-1)) / (s.x / n), true
}
