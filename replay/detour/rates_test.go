package detour

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
)

// several repeats an observation, k of n recovered.
func several(s stratum, family string, k, n int) []observation {
	out := make([]observation, n)
	for i := range out {
		out[i] = observation{stratum: s, family: family, recovered: i < k}
	}
	return out
}

var (
	sourceCut = stratum{"a", compress.Source, "2K-10K", Middle}
	searchCut = stratum{"a", compress.Search, "2K-10K", Middle}
)

// Two strata: the prior is worth ten cases. Overall (8+2+½)/(10+10+1) = ½; source
// (8+10·½)/(10+10) = 0.65, search (2+5)/20 = 0.35. Null: 4 of 40 whole sources, no
// whole searches: overall 4½/41, source (4+10·q)/50, search q.
func TestFitByHand(t *testing.T) {
	seen := several(sourceCut, "f", 8, 10)
	seen = append(seen, several(searchCut, "f", 2, 10)...)
	seen = append(seen, several(sourceCut.uncut(), "f", 4, 40)...)
	seen = append(seen, several(stratum{"a", compress.Log, "<2K", Whole}, "f", 9, 9)...) // compared with nothing
	r := fit(seen)
	q := 4.5 / 41
	assert.Equal(t, 10.0, r.PriorCases)
	assert.InDelta(t, 0.5, r.Overall.Rate, 1e-12)
	source, search := r.For("a", compress.Source, "2K-10K", Middle), r.For("a", compress.Search, "2K-10K", Middle)
	assert.InDelta(t, 0.65, source.Rate, 1e-12)
	assert.InDelta(t, 0.35, search.Rate, 1e-12)
	assert.InDelta(t, (4+10*q)/50, source.NullRate, 1e-12)
	assert.InDelta(t, q, search.NullRate, 1e-12)
	assert.InDelta(t, 0.65-(4+10*q)/50, source.Net, 1e-12)
	assert.Equal(t, []int64{10, 8, 40, 4}, []int64{source.Cases, source.Recoveries, source.NullCases, source.NullRecoveries})
	assert.Equal(t, []int64{20, 10, 40, 4}, []int64{r.Overall.Cases, r.Overall.Recoveries, r.Overall.NullCases, r.Overall.NullRecoveries})
	assert.InDelta(t, (10*source.NullRate+10*search.NullRate)/20, r.Overall.NullRate, 1e-12)
	// Beta(13, 7): the interval holds 95 %.
	assert.InDelta(t, 0.95, betaCDF(13, 7, source.High)-betaCDF(13, 7, source.Low), 1e-9)
}

// MOVER by hand: 0.6 [0.5 0.8] less 0.2 [0.1 0.3] is 0.4, down by √(0.1²+0.1²),
// up by √(0.2²+0.1²).
func TestSubtract(t *testing.T) {
	s := Stratum{Rate: 0.6, Low: 0.5, High: 0.8, NullRate: 0.2, NullLow: 0.1, NullHigh: 0.3}
	s.subtract()
	assert.InDelta(t, 0.4, s.Net, 1e-12)
	assert.InDelta(t, 0.4-math.Sqrt(0.02), s.NetLow, 1e-12)
	assert.InDelta(t, 0.4+math.Sqrt(0.05), s.NetHigh, 1e-12)
	s = Stratum{Rate: 0.1, High: 0.2, NullRate: 0.3, NullHigh: 0.4}
	s.subtract()
	assert.Zero(t, s.Net)
	assert.Zero(t, s.NetLow)
}

// Three strata of ten: 9, 5 and 1 recovered, p = ½, S = 10·(0.4² + 0² + 0.4²) = 3.2,
// N − Σn²/N − 2 = 30 − 10 − 2 = 18, ρ = (3.2 − ¼·2) / (¼·18) = 0.6: a prior of ⅔,
// raised to 2. With 6, 5, 4: S = 0.2 < ½, no spread beyond chance: the largest.
// With 8, 5, 2: S = 1.8, ρ = 1.3/4.5, a prior of 3.2/1.3.
func TestStrength(t *testing.T) {
	of := func(ks ...int64) float64 {
		m := map[stratum]tally{}
		for i, k := range ks {
			m[stratum{agent: fmt.Sprint(i)}] = tally{10, k}
		}
		return strength(m)
	}
	assert.Equal(t, 2.0, of(9, 5, 1))
	assert.Equal(t, 100.0, of(6, 5, 4))
	assert.InDelta(t, 3.2/1.3, of(8, 5, 2), 1e-12)
	assert.Equal(t, 10.0, of(8, 2))
	assert.Equal(t, 10.0, of(0, 0, 0))
	assert.Equal(t, 10.0, of())
	// Four strata of one case each tell nothing about their spread.
	thin := map[stratum]tally{}
	for i := range 4 {
		thin[stratum{agent: fmt.Sprint(i)}] = tally{1, int64(i % 2)}
	}
	assert.Equal(t, 10.0, strength(thin))
}

func TestLookup(t *testing.T) {
	r := Orientation()
	assert.Equal(t, 0.82, r.For("codex", compress.Source, "<2K", Middle).Rate)
	assert.Equal(t, 0.33, r.For("codex", compress.Log, "<2K", Gone).Rate)
	assert.InDelta(t, 1.0/14, r.For("claude-code", compress.Source, "<2K", Persisted).Rate, 1e-3)
	assert.Equal(t, 0.42, r.For("x", "", "", Middle).Rate)
	assert.Equal(t, 0.065, r.For("x", compress.Source, "<2K", LineNumbers).Rate)
	assert.InDelta(t, 0.68, r.For("codex", compress.Source, "", Middle).Net, 1e-12)
	assert.InDelta(t, 0.20, r.Overall.Net, 1e-12)
	assert.Contains(t, r.Source, "orientation figures")
	assert.Equal(t, int64(9), r.For("codex", compress.Source, "", Middle).Recoveries) // 82 % of 11
}

func TestTooFewCases(t *testing.T) {
	s := sessionOf(t, "s", "task", turn{calls: []act{sh("cat a").truncated()}}, turn{calls: []act{sh("tail -5 a")}}, turn{said: "done"})
	r := FromLogs([]replay.Recording{recordingOf(s)})
	assert.Contains(t, r.Source, "these logs hold 1 truncated output and 1 whole one to compare with, 30 of each")
	assert.Equal(t, Orientation().Strata, r.Strata)
	assert.Equal(t, Orientation().Overall, FromLogs(nil).Overall)
}

// Thirty-two short sessions: a cut cat that half of them go on reading, a whole
// cat that none does.
func manySessions(t testing.TB) []replay.Recording {
	var recs []replay.Recording
	for i := range 32 {
		next := sh("date")
		if i%2 == 0 {
			next = sh("sed -n '80,90p' a.go")
		}
		s := sessionOf(t, fmt.Sprint("s", i), "task",
			turn{calls: []act{sh("cat a.go").truncated()}}, turn{calls: []act{next}},
			turn{said: "a"}, turn{said: "b"}, turn{said: "c"},
			turn{calls: []act{sh("cat b.go")}}, turn{said: "done"})
		recs = append(recs, recordingOf(s))
	}
	return recs
}

func TestRatesFromLogs(t *testing.T) {
	r := FromLogs(manySessions(t))
	assert.Equal(t, "these logs", r.Source)
	assert.Equal(t, 0.065, r.For("test", compress.Source, "<2K", LineNumbers).Rate)
	assert.Equal(t, int64(32), r.Sessions)
	assert.Equal(t, []int64{32, 16}, []int64{r.Overall.Cases, r.Overall.Recoveries})
	// The whole cats and the sixteen sed calls are all whole source outputs.
	assert.Equal(t, []int64{48, 0}, []int64{r.Overall.NullCases, r.Overall.NullRecoveries})
	assert.InDelta(t, 0.5, r.Overall.Rate, 1e-12)
}

func TestLastOutputsAreNoCases(t *testing.T) {
	s := sessionOf(t, "s", "task", turn{calls: []act{sh("cat a").truncated()}})
	assert.Empty(t, observe(recordingOf(s)))
}

func TestSaveAndLoad(t *testing.T) {
	r := Calibrate(manySessions(t))
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	got, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, r, got)
	for _, bad := range []string{"", "{", "[]", `{"schema_version":2}`, `{"schema_version":1,"overall":{"rate":1.5}}`} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o600))
		_, err := Load(file)
		assert.ErrorContains(t, err, file, bad)
	}
	_, err = Load(filepath.Join(t.TempDir(), "none.json"))
	assert.Error(t, err)
}

// Family f: 3 of 4 in one stratum; family g: 1 of 4 in the same. Held out, f is
// predicted from g and the other way round. Two strata at most: a prior of 10.
// From g: overall 1½/5 = 0.3, stratum (1+3)/14 = 2/7. From f: 3½/5 = 0.7, (3+7)/14 = 5/7.
func TestCrossValidationByHand(t *testing.T) {
	seen := append(several(sourceCut, "f", 3, 4), several(sourceCut, "g", 1, 4)...)
	c := crossValidate(seen)
	low, high := 2.0/7, 5.0/7
	own := (3*(1-low)*(1-low) + low*low + (1-high)*(1-high) + 3*high*high) / 8
	overall := (3*0.49 + 0.09 + 0.09 + 3*0.49) / 8
	assert.InDelta(t, own, c.Brier, 1e-12)
	assert.InDelta(t, overall, c.OverallBrier, 1e-12)
	assert.InDelta(t, (math.Abs(4*low-3)+math.Abs(4*high-1))/8, c.ECE, 1e-12)
	assert.InDelta(t, (math.Abs(4*0.3-3)+math.Abs(4*0.7-1))/8, c.OverallECE, 1e-12)
	assert.Equal(t, []int64{8, 2}, []int64{c.Cases, c.Folds})
	// The eight differences of squared errors, and their standard error by the book.
	d := []float64{}
	for range 3 {
		d = append(d, (1-low)*(1-low)-0.49, high*high-0.49)
	}
	d = append(d, low*low-0.09, (1-high)*(1-high)-0.09)
	mean, squares := 0.0, 0.0
	for _, v := range d {
		mean += v / 8
	}
	for _, v := range d {
		squares += (v - mean) * (v - mean)
	}
	assert.InDelta(t, mean, c.Difference, 1e-12)
	assert.InDelta(t, math.Sqrt(squares/7/8), *c.Error, 1e-12)
	assert.False(t, c.Better, "the strata are the overall rate here")
	assert.Nil(t, crossValidate(several(sourceCut, "f", 3, 4)))
	assert.Nil(t, crossValidate(nil))
}

// Errors of 0.04 and 0.16 beside 0.25 twice: better by 0.21 and 0.09, 0.15 in the
// mean, with a standard error of 0.06 (half of what lies between). Of 0.01 and 0.36
// beside 0.25: 0.24 better and 0.11 worse, 0.065 in the mean, standard error 0.175.
func TestBetterIsMoreThanNoise(t *testing.T) {
	half := []prediction{{0.5, true}, {0.5, true}}
	mean, se := difference([]prediction{{0.8, true}, {0.6, true}}, half)
	assert.InDelta(t, -0.15, mean, 1e-12)
	assert.InDelta(t, 0.06, *se, 1e-12)
	mean, se = difference([]prediction{{0.9, true}, {0.4, true}}, half)
	assert.InDelta(t, -0.065, mean, 1e-12)
	assert.InDelta(t, 0.175, *se, 1e-12)
	_, se = difference(half[:1], half[:1])
	assert.Nil(t, se)
}

// The prior alone is no rate: without a case JSON has null, and such a file is refused.
func TestNoCasesAreNoRate(t *testing.T) {
	r := Calibrate(nil)
	file := filepath.Join(t.TempDir(), "rates.json")
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	var out struct {
		Overall map[string]any `json:"overall"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &out))
	for _, key := range []string{"rate", "low", "high", "null_rate", "net", "net_low", "net_high"} {
		v, there := out.Overall[key]
		assert.True(t, there && v == nil, key)
	}
	assert.Equal(t, 0.0, out.Overall["cases"])
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	_, err := Load(file)
	assert.ErrorContains(t, err, "holds no truncated output")
}

// Without a whole output to compare with, the rate of the cut ones is known and the
// null is not; what it was drawn to is never written as a rate.
func TestNoWholeOutputsAreNoNull(t *testing.T) {
	r := fit(several(sourceCut, "f", 3, 4))
	r.Sessions = 1
	file := filepath.Join(t.TempDir(), "rates.json")
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	var out struct {
		Overall map[string]any   `json:"overall"`
		Strata  []map[string]any `json:"strata"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &out))
	require.NotEmpty(t, out.Strata)
	for _, s := range append(out.Strata, out.Overall) {
		for _, key := range []string{"null_rate", "null_low", "null_high", "net", "net_low", "net_high"} {
			v, there := s[key]
			assert.True(t, there && v == nil, key)
		}
		assert.Equal(t, []any{4.0, 3.0, 0.0}, []any{s["cases"], s["recoveries"], s["null_cases"]})
	}
	assert.InDelta(t, 3.5/5, out.Overall["rate"], 1e-9)
	assert.InDelta(t, (3+10*3.5/5)/14, out.Strata[0]["rate"], 1e-9, "drawn to the overall rate as by 10 more cases")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	_, err := Load(file)
	assert.ErrorContains(t, err, "holds no whole output to compare with")
	assert.False(t, r.Strata[0].noNull, "writing changes nothing")
}

// Whatever was seen: rates lie within 0 and 1, in their interval, and between what
// the stratum alone and everything together say.
func TestPoolingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seen []observation
		alone := map[stratum]tally{}
		for i := range rapid.IntRange(0, 6).Draw(t, "strata") {
			key := stratum{fmt.Sprint("agent", i%2), []compress.Kind{compress.Source, compress.Log}[i/2%2], fmt.Sprint(i), Middle}
			n := rapid.IntRange(1, 30).Draw(t, "n")
			k := rapid.IntRange(0, n).Draw(t, "k")
			seen = append(seen, several(key, fmt.Sprint(i), k, n)...)
			alone[key] = tally{int64(n), int64(k)}
			m := rapid.IntRange(0, 40).Draw(t, "m")
			seen = append(seen, several(key.uncut(), fmt.Sprint(i), rapid.IntRange(0, m).Draw(t, "j"), m)...)
		}
		r := fit(seen)
		const slack = 1e-9
		for _, s := range append(r.Strata, r.Overall) {
			require.True(t, s.sane(), "%+v", s)
			require.True(t, s.NetLow <= s.Net+slack && s.Net <= s.NetHigh+slack, "%+v", s)
			if own, ok := alone[s.key()]; ok {
				raw := float64(own.recoveries) / float64(own.cases)
				require.GreaterOrEqual(t, s.Rate, math.Min(raw, r.Overall.Rate)-slack)
				require.LessOrEqual(t, s.Rate, math.Max(raw, r.Overall.Rate)+slack)
			}
		}
	})
}
