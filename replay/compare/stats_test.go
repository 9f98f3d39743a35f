package compare

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// task is one task's trials: requests and tokens of each, by arm.
type task [arms][][2]int64

// trialsOf makes trials of tasks named a, b, c …; nothing but requests and tokens
// is recorded.
func trialsOf(tasks ...task) (out [arms][]Trial) {
	for i, task := range tasks {
		for arm, trials := range task {
			for _, v := range trials {
				t := Trial{Task: Task{Case: string(rune('a' + i))}}
				t.Requests, t.Input, t.Output = new(v[0]), new(v[1]-1), new(int64(1))
				out[arm] = append(out[arm], t)
			}
		}
	}
	return out
}

func compareTasks(tasks ...task) *Result {
	t := trialsOf(tasks...)
	return Compare(t[0], t[1], Options{})
}

func one(requests, tokens int64) [][2]int64 { return [][2]int64{{requests, tokens}} }

// enumerate lists the values of every equally likely draw: all ways to pick tasks,
// and within each picked one all ways to pick trials of either arm.
func enumerate(tasks []task, value func(base, candidate float64) float64) []float64 {
	var means [][2]float64 // one entry a way to draw one task
	for _, task := range tasks {
		for _, b := range meansOf(task[0]) {
			for _, c := range meansOf(task[1]) {
				means = append(means, [2]float64{b, c})
			}
		}
	}
	out := []float64{}
	var pick func(left int, base, candidate float64)
	pick = func(left int, base, candidate float64) {
		if left == 0 {
			out = append(out, value(base, candidate))
			return
		}
		for _, m := range means {
			pick(left-1, base+m[0], candidate+m[1])
		}
	}
	pick(len(tasks), 0, 0)
	slices.Sort(out)
	return out
}

// meansOf is the mean tokens of every ordered draw of as many trials as there are.
func meansOf(trials [][2]int64) []float64 {
	sums := []float64{0}
	for range trials {
		var next []float64
		for _, s := range sums {
			for _, t := range trials {
				next = append(next, s+float64(t[1]))
			}
		}
		sums = next
	}
	for i := range sums {
		sums[i] /= float64(len(trials))
	}
	return sums
}

func logRatio(base, candidate float64) float64 { return math.Log(candidate / base) }

// With three tasks of one trial each the 27 draws of the bootstrap can be listed. The
// rarest, one task three times, has 1/27 = 3.7 %, so the bounds are the extremes.
func TestIntervalAgainstEnumeration(t *testing.T) {
	tasks := []task{{one(1, 100), one(1, 90)}, {one(1, 200), one(1, 230)}, {one(1, 400), one(1, 300)}}
	all := enumerate(tasks, logRatio)
	require.Len(t, all, 27)
	d := compareTasks(tasks...).Deltas.Tokens
	// All tasks third: 300/400; all second: 230/200; all: 620/700.
	assert.InDelta(t, math.Log(0.75), all[0], 1e-12)
	assert.InDelta(t, math.Log(1.15), all[26], 1e-12)
	assert.InDelta(t, all[0], *d.Low, 1e-12)
	assert.InDelta(t, all[26], *d.High, 1e-12)
	assert.InDelta(t, math.Log(620.0/700), *d.Change, 1e-12)
}

// With two trials in one arm and unequal counts, a draw of a task has 1 × 4 (or 4 × 1, or
// 4 × 4) ways; the shares of draws below any value must agree with the list of all.
func TestDrawsAgainstEnumeration(t *testing.T) {
	tasks := []task{
		{one(1, 100), {{1, 90}, {1, 130}}},
		{{{1, 200}, {1, 260}}, one(1, 230)},
		{{{1, 400}, {1, 410}}, {{1, 300}, {1, 390}}},
	}
	all := enumerate(twice(tasks), logRatio)
	exact := func(x float64) float64 {
		n := 0
		for _, v := range all {
			if v <= x {
				n++
			}
		}
		return float64(n) / float64(len(all))
	}
	m := metrics()[0]
	in := collect(trialsOf(tasks...))
	low, high, ok := m.interval(m.strata(in.cells))
	require.True(t, ok)
	// 10,000 draws: the share below a bound is within 4 × sqrt(0.025 × 0.975 / 10,000) = 0.0062.
	assert.InDelta(t, 0.025, exact(low), 0.0062+step(all, low))
	assert.InDelta(t, 0.975, exact(high), 0.0062+step(all, high))
}

// twice replaces a single trial by two equal ones: the same mean, but as many ways to
// draw it as from two, so that all tasks are equally likely in the list.
func twice(tasks []task) []task {
	out := slices.Clone(tasks)
	for i := range out {
		for arm, trials := range out[i] {
			if len(trials) == 1 {
				out[i][arm] = slices.Repeat(trials, 2)
			}
		}
	}
	return out
}

// step is the share of draws that have one value exactly.
func step(all []float64, v float64) float64 {
	n := 0
	for _, x := range all {
		if math.Abs(x-v) < 1e-12 {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

func TestRank(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	assert.Equal(t, []float64{1, 1, 2, 5, 10, 10}, []float64{rank(ten, 0), rank(ten, 0.1), rank(ten, 0.11), rank(ten, 0.5), rank(ten, 0.975), rank(ten, 1)})
}

func TestArrangements(t *testing.T) {
	points := func(n int) []point { return make([]point, n) }
	assert.Equal(t, 70.0, arrangements(strata{{points(4), points(4)}}), "8! / (4! 4!)")
	assert.Equal(t, 20.0, arrangements(strata{{points(3), points(3)}}))
	assert.Equal(t, 60.0, arrangements(strata{{points(3), points(3)}, {points(1), points(2)}}), "20 × 3")
	assert.Equal(t, 64.0, arrangements(slices.Repeat(strata{{points(1), points(1)}}, 6)))
}

// Five tasks that all fall by a tenth prove nothing, six do.
func TestFewTasksAreNeverSignificant(t *testing.T) {
	same := task{one(10, 1000), one(9, 900)}
	five := compareTasks(slices.Repeat([]task{same}, 5)...)
	assert.False(t, five.Deltas.Tokens.Significant)
	assert.Equal(t, "too few trials: only 32 ways to deal them to the arms, 40 needed", five.Deltas.Tokens.Why)
	six := compareTasks(slices.Repeat([]task{same}, 6)...)
	assert.True(t, six.Deltas.Tokens.Significant)
	assert.InDelta(t, -10, *six.Deltas.Tokens.Percent, 1e-9)
	assert.Equal(t, Fell, six.Verdict.Cost)
	assert.Equal(t, Inconclusive, six.Verdict.Verdict, "the pass rate is unknown")
}

// Unequal counts: a task weighs by its means, 150 and 100 against 200 and 100.
func TestUnequalCounts(t *testing.T) {
	r := compareTasks(task{{{1, 100}, {3, 200}}, one(4, 200)}, task{one(2, 100), {{2, 50}, {2, 100}, {2, 150}}})
	assert.Equal(t, 250.0/2, r.Deltas.Tokens.Baseline)
	assert.InDelta(t, math.Log(300.0/250), *r.Deltas.Tokens.Change, 1e-12)
	assert.InDelta(t, math.Log(6.0/4), *r.Deltas.Requests.Change, 1e-12)
	assert.InDelta(t, math.Log((300.0/6)/(250.0/4)), *r.Deltas.TokensPerRequest.Change, 1e-12)
	assert.Equal(t, [2]int64{3, 4}, [2]int64{r.Baseline.Trials, r.Candidate.Trials})
}

func TestNoiseFloor(t *testing.T) {
	// Task a: ln 100 and ln 200 in both arms, (ln 2)²/2 each. Task b: three equal trials, and
	// one alone. Degrees of freedom 1 + 1 + 2 + 0 = 4.
	r := compareTasks(
		task{{{1, 100}, {1, 200}}, {{1, 100}, {1, 200}}},
		task{{{1, 300}, {1, 300}, {1, 300}}, one(1, 150)},
	)
	variance := (math.Pow(math.Ln2, 2)/2 + math.Pow(math.Ln2, 2)/2) / 4
	// Baseline sums to 150 + 300, candidate to 150 + 150.
	weights := math.Pow(150.0/450, 2)/2 + math.Pow(300.0/450, 2)/3 + math.Pow(0.5, 2)/2 + math.Pow(0.5, 2)
	n := r.Deltas.Tokens.Noise
	assert.Equal(t, fromTrials, n.Basis)
	assert.Equal(t, 4, n.Freedom)
	assert.InDelta(t, math.Sqrt(variance*weights), n.SD, 1e-12)
	assert.InDelta(t, 1.96*math.Sqrt(variance*weights), n.Floor, 1e-12)
}

func TestPublishedNoiseOnlyForTokens(t *testing.T) {
	r := compareTasks(task{one(3, 300), one(3, 330)})
	assert.Equal(t, &Noise{SD: 0.185, Floor: 0.3626, Basis: fromPublished}, rounded(r.Deltas.Tokens.Noise))
	assert.Nil(t, r.Deltas.Requests.Noise)
}

func rounded(n *Noise) *Noise {
	n.Floor = math.Round(n.Floor*1e6) / 1e6
	return n
}

func TestPairsNeeded(t *testing.T) {
	// (1.96 + 0.84)² = 7.84.
	assert.Equal(t, int64(2), pairs(0.1, 0.3), "7.84 × 0.01 / 0.09 = 0.87, but a spread takes two")
	assert.Equal(t, int64(13), pairs(0.2, -0.16), "7.84 × 0.04 / 0.0256 = 12.25")
	// A saving of 2 %: ln 0.98 = -0.020203; 7.84 × 0.034225 / 0.00040815 = 657.4.
	need := NeedOf(0.02, nil)
	assert.Equal(t, int64(658), need.Pairs)
	assert.Equal(t, unitSuites, need.Unit)
	assert.Equal(t, fromPublished, need.Basis)
	assert.Equal(t, int64(658), *TrialsNeeded(0.02, nil))
	for _, share := range []float64{0, 1, 2, math.NaN(), math.Inf(-1)} {
		assert.Nil(t, TrialsNeeded(share, nil), share)
	}
	assert.NotNil(t, TrialsNeeded(-0.1, nil), "a variant that adds tokens can be tested too")
}

// Pairs of two tasks: ln 1.1 and ln 1.2, one pair each; then two pairs each.
func TestNeedClusteredByTask(t *testing.T) {
	a, b := math.Log(1.1), math.Log(1.2)
	sd := math.Abs(a-b) / math.Sqrt2
	r := compareTasks(task{one(1, 1000), one(1, 1100)}, task{one(1, 1000), one(1, 1200)})
	assert.InDelta(t, sd, r.Need.SD, 1e-9)
	assert.Equal(t, unitTrials, r.Need.Unit)
	change := math.Log(2300.0 / 2000)
	assert.Equal(t, int64(max(2, math.Ceil(7.84*sd*sd/(change*change)))), r.Need.Pairs)

	two := func(v int64) [][2]int64 { return [][2]int64{{1, v}, {1, v}} }
	r = compareTasks(task{two(1000), two(1100)}, task{two(1000), two(1200)})
	assert.InDelta(t, math.Sqrt2*sd, r.Need.SD, 1e-9, "two pairs of a task tell no more than one")
	assert.Equal(t, 2, r.Need.Tasks)
}

// One arm alone: ln 100, ln 200 twice and ln 100, ln 100: s² = 2 × (2 × (ln 2)²/2 + 0)/3.
func TestNeedOfOneArm(t *testing.T) {
	trials := trialsOf(task{{{1, 100}, {1, 200}}}, task{{{1, 100}, {1, 200}}}, task{{{1, 100}, {1, 100}}}, task{one(1, 7)})[0]
	s := singleArm(trials)
	v, freedom := within(s)
	assert.Equal(t, 3, freedom)
	assert.InDelta(t, math.Pow(math.Ln2, 2)/3, v, 1e-12)
	assert.Equal(t, 3, repeated(s))
}

func TestFactorsAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(2, 1_000_000)
		trial := rapid.Custom(func(t *rapid.T) [2]int64 { return [2]int64{count.Draw(t, "requests"), count.Draw(t, "tokens")} })
		some := rapid.SliceOfN(trial, 1, 3)
		tasks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) task {
			return task{some.Draw(t, "base"), some.Draw(t, "candidate")}
		}), 1, 4).Draw(t, "tasks")
		in := collect(trialsOf(tasks...))
		var ln [3]float64 // tokens, requests, tokens per request
		for i, m := range metrics()[:3] {
			ln[i], _ = m.change(totals(m.strata(in.cells)))
		}
		if math.Abs(ln[0]-ln[1]-ln[2]) > 1e-9 {
			t.Fatal(fmt.Sprint(ln))
		}
	})
}
