package bootstrap_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/replay/bootstrap"
)

// fleet draws sessions of which the true ratio is known.
type fleet struct {
	name     string
	sessions int
	truth    float64
	draw     func(*rand.Rand) bootstrap.Point
}

// saved is the share that one session saves: nothing in three of ten, else
// 0.5 × U × V - 0.02 of two uniform draws, which is also negative at times. Its mean
// is 0.7 × (0.5/4 - 0.02) = 0.0735.
func saved(r *rand.Rand) float64 {
	if r.Float64() < 0.3 {
		return 0
	}
	return 0.5*r.Float64()*r.Float64() - 0.02
}

const meanSaved = 0.0735

func lognormal(sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) }
}

// pareto of a shape below 2 has no variance.
func pareto(shape float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/shape) }
}

func independent(size func(*rand.Rand) float64) func(*rand.Rand) bootstrap.Point {
	return func(r *rand.Rand) bootstrap.Point {
		x := size(r)
		return bootstrap.Point{X: x, Y: x * saved(r)}
	}
}

func fleets() []fleet {
	// Large sessions save twice the share: E[x (a + b·1{x > 1})] / E[x]. For
	// log-normal x of σ, the part of Σx above 1 is Φ(σ): the truth is
	// meanSaved × (1 + Φ(1.2)).
	above := 0.5 * (1 + math.Erf(1.2/math.Sqrt2))
	return []fleet{
		{"sizes alike", 100, meanSaved, independent(func(r *rand.Rand) float64 { return 1 + r.Float64() })},
		{"log-normal 1", 100, meanSaved, independent(lognormal(1))},
		{"log-normal 1.5", 100, meanSaved, independent(lognormal(1.5))},
		{"log-normal 1.5, many", 300, meanSaved, independent(lognormal(1.5))},
		{"Pareto 1.8, no variance", 200, meanSaved, independent(pareto(1.8))},
		{"one in five is dearer", 100, 0.8*meanSaved - 0.2*0.1, func(r *rand.Rand) bootstrap.Point {
			x := lognormal(1.3)(r)
			if r.Float64() < 0.2 {
				return bootstrap.Point{X: x, Y: -0.1 * x}
			}
			return bootstrap.Point{X: x, Y: x * saved(r)}
		}},
		{"large ones save twice", 200, meanSaved * (1 + above), func(r *rand.Rand) bootstrap.Point {
			x := lognormal(1.2)(r)
			y := x * saved(r)
			if x > 1 {
				y *= 2
			}
			return bootstrap.Point{X: x, Y: y}
		}},
	}
}

// TestCoverage: of 1,000 fleets of each kind, the 95 % interval holds the truth in 93
// to 97 %, heavy-tailed sizes included.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const simulated, draws = 1000, 399
	for _, f := range fleets() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			covered := simulate(f, simulated, func(p []bootstrap.Point) bool {
				i, ok := bootstrap.Ratio(p, draws, 1)
				return ok && i.Low <= f.truth && f.truth <= i.High
			})
			share := float64(covered) / simulated
			t.Logf("covers the truth in %.1f %%", 100*share)
			assert.GreaterOrEqual(t, share, 0.93)
			assert.LessOrEqual(t, share, 0.97)
		})
	}
}

// simulate counts the fleets for which holds is true, each of a seed of its own.
func simulate(f fleet, n int, holds func([]bootstrap.Point) bool) int {
	var wg sync.WaitGroup
	counts := make([]int, 2)
	for part := range counts {
		wg.Go(func() {
			points := make([]bootstrap.Point, f.sessions)
			for i := part; i < n; i += len(counts) {
				random := rand.New(rand.NewPCG(11, uint64(i)))
				for k := range points {
					points[k] = f.draw(random)
				}
				if holds(points) {
					counts[part]++
				}
			}
		})
	}
	wg.Wait()
	return counts[0] + counts[1]
}

func TestByHand(t *testing.T) {
	t.Parallel()
	// Left out one by one of (1,1) (1,0): the ratio is 0 or 1, around 1/2: deviations
	// -1/2 and 1/2. SE² = 1/2 × (1/4 + 1/4) = 1/4.
	i, ok := bootstrap.Ratio([]bootstrap.Point{{X: 1, Y: 1}, {X: 1, Y: 0}}, 99, 1)
	require.True(t, ok)
	assert.InDelta(t, 0.5, i.Ratio, 1e-12)
	assert.InDelta(t, 0.5, i.Error, 1e-12)
	assert.InDelta(t, 2, i.Effective, 1e-12)
	assert.True(t, i.Thin())

	_, ok = bootstrap.Ratio([]bootstrap.Point{{X: 3, Y: 1}, {X: 0, Y: 0}}, 99, 1)
	assert.False(t, ok, "one cluster tells no spread")

	i, ok = bootstrap.Ratio([]bootstrap.Point{{X: 2, Y: 1}, {X: 4, Y: 2}, {X: 6, Y: 3}}, 99, 1)
	require.True(t, ok)
	assert.InDelta(t, 0.5, i.Low, 1e-9, "all alike: no spread")
	assert.InDelta(t, 0.5, i.High, 1e-9)
}

func TestOneClusterIsMostOfTheSum(t *testing.T) {
	t.Parallel()
	// 100² and four times 1: 104² / 10,004 = 1.08 clusters of equal weight.
	i, ok := bootstrap.Ratio([]bootstrap.Point{{X: 100, Y: 30}, {X: 1, Y: 0}, {X: 1, Y: 1}, {X: 1, Y: 0}, {X: 1, Y: 0}}, 99, 1)
	require.True(t, ok)
	assert.True(t, i.Open())
	i, ok = bootstrap.Ratio([]bootstrap.Point{{X: 2, Y: 1}, {X: 2, Y: 0}}, 99, 1)
	require.True(t, ok)
	assert.False(t, i.Open(), "two of equal weight")
}

func TestWithinAndOfSample(t *testing.T) {
	t.Parallel()
	i := bootstrap.Interval{Ratio: 0.6, Low: -0.2, High: 1.4, Error: 0.3}
	assert.Equal(t, bootstrap.Interval{Ratio: 0.6, Low: 0, High: 1, Error: 0.3}, i.Within(0, 1))
	// √(1 - 3/4) = 1/2.
	half := i.OfSample(3, 4)
	assert.InDelta(t, 0.2, half.Low, 1e-12)
	assert.InDelta(t, 1.0, half.High, 1e-12)
	assert.InDelta(t, 0.15, half.Error, 1e-12)
	assert.InDelta(t, 0.6, i.OfSample(4, 4).Low, 1e-12)
}

// TestSampleHoldsTheWhole: of samples of 60 from 200 heavy-tailed sessions the interval
// holds the share of all 200 more often than twice the classical standard error does,
// which knows nothing of the large sessions that were not drawn.
func TestSampleHoldsTheWhole(t *testing.T) {
	t.Parallel()
	const population, n, samples = 200, 60, 400
	random := rand.New(rand.NewPCG(3, 4))
	size := lognormal(2)
	all := make([]bootstrap.Point, population)
	for i := range all {
		x := size(random)
		all[i] = bootstrap.Point{X: x, Y: x * saved(random) * math.Min(1, x)}
	}
	var x, y float64
	for _, p := range all {
		x, y = x+p.X, y+p.Y
	}
	truth := y / x
	interval, classical := 0, 0
	for range samples {
		random.Shuffle(population, func(i, k int) { all[i], all[k] = all[k], all[i] })
		i, ok := bootstrap.Ratio(all[:n], 399, 1)
		se, _ := bootstrap.Sampled(all[:n], population)
		if math.Abs(i.Ratio-truth) <= 1.96*se {
			classical++
		}
		if i = i.OfSample(n, population); !ok || i.Low <= truth && truth <= i.High {
			interval++
		}
	}
	t.Logf("of %d samples: interval %d, classical error %d", samples, interval, classical)
	assert.Greater(t, interval, classical+samples/20)
	assert.GreaterOrEqual(t, float64(interval)/samples, 0.85)
}

// TestSampledByHand: three of nine sessions of sizes 1, 2, 3 that save 1, 1, 1.
func TestSampledByHand(t *testing.T) {
	t.Parallel()
	// R = 3/6; residuals 1/2, 0, -1/2; squares 1/2; / (n-1) = 1/4.
	// √((1 - 3/9)/3 × 1/4) / 2 = √(1/18) / 2.
	points := []bootstrap.Point{{X: 1, Y: 1}, {X: 2, Y: 1}, {X: 3, Y: 1}}
	se, ok := bootstrap.Sampled(points, 9)
	require.True(t, ok)
	assert.InDelta(t, math.Sqrt(1.0/18)/2, se, 1e-12)

	se, ok = bootstrap.Sampled(points, 3)
	require.True(t, ok)
	assert.Zero(t, se, "a sample of all has no error")

	_, ok = bootstrap.Sampled(points[:1], 9)
	assert.False(t, ok)
}

// TestSampledCovers: the stated error of a sample is the one its ratios really have.
func TestSampledCovers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	all := make([]bootstrap.Point, 1000)
	var x, y float64
	for i := range all {
		all[i] = independent(lognormal(0.7))(random)
		x, y = x+all[i].X, y+all[i].Y
	}
	var squares, stated float64
	const samples = 2000
	for range samples {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		points := all[:400]
		var sx, sy float64
		for _, p := range points {
			sx, sy = sx+p.X, sy+p.Y
		}
		squares += math.Pow(sy/sx-y/x, 2)
		se, ok := bootstrap.Sampled(points, int64(len(all)))
		require.True(t, ok)
		stated += se
	}
	assert.InEpsilon(t, math.Sqrt(squares/samples), stated/samples, 0.05)
}

// TestOrder: the interval is that of the clusters, in whatever order they come.
func TestOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(1, 1e6), 2, 20).Draw(t, "sizes")
		points := make([]bootstrap.Point, len(xs))
		for i, x := range xs {
			points[i] = bootstrap.Point{X: x, Y: x * rapid.Float64Range(-1, 1).Draw(t, "share")}
		}
		want, _ := bootstrap.Ratio(points, 49, 1)
		got, _ := bootstrap.Ratio(rapid.Permutation(points).Draw(t, "order"), 49, 1)
		assert.Equal(t, want, got)
		assert.LessOrEqual(t, want.Low, want.Ratio)
		assert.GreaterOrEqual(t, want.High, want.Ratio)
	})
}
