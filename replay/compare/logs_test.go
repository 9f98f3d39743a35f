package compare

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout/freecode"
	"github.com/fclog/fclog/rollout/measure"
)

// testdata is the folder of the two invented arms; its README.md holds the sums.
func testdata(name ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata", "ab"}, name...)...)
}

// armOfLogs reads all sessions of an arm, priced at 1, 0.1 and 10 USD per million
// tokens of plain input, cache read and output.
func armOfLogs(t testing.TB, arm string) []Trial {
	trials, warnings := Trials(recordings(t, arm), Prices(book(t)))
	require.Empty(t, warnings)
	return trials
}

func book(t testing.TB) *pricing.Book {
	b, err := pricing.Load(filepath.Join("testdata", "prices.json"))
	require.NoError(t, err)
	return b
}

func recordings(t testing.TB, arm string) []replay.Recording {
	files, err := filepath.Glob(testdata(arm, "rollout", "sessions", "*", "events.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 13)
	counter := tokens.New()
	var recs []replay.Recording
	for _, file := range files {
		sessions, err := freecode.Read(t.Context(), file)
		require.NoError(t, err)
		for _, s := range sessions {
			require.Empty(t, s.Problems, file)
			recs = append(recs, replay.Recording{Session: s, Sizes: measure.Measure(s, counter)})
		}
	}
	return recs
}

// The A/B of an output compression that does not pay: fewer tokens per request
// where all goes well, and an extra request in 4 of 13 tasks.
func TestCompressionAB(t *testing.T) {
	r := Compare(armOfLogs(t, "base"), armOfLogs(t, "candidate"), Options{ExpectParallel: 2})

	assert.Equal(t, 13, r.PairedTasks)
	assert.Equal(t, [2]int64{39, 43}, [2]int64{*r.Baseline.Requests, *r.Candidate.Requests})
	assert.Equal(t, [2]int64{195_000, 218_112}, [2]int64{*r.Baseline.Tokens, *r.Candidate.Tokens})
	assert.Equal(t, [2]int64{3, 4}, [2]int64{*r.Baseline.RepeatedCalls, *r.Candidate.RepeatedCalls})
	assert.Equal(t, "+11.9 % tokens = +10.3 % requests × +1.4 % tokens per request", r.Deltas.Factors())

	d := r.Deltas
	assert.InDelta(t, math.Log(218_112.0/195_000), *d.Tokens.Change, 1e-12)
	assert.InDelta(t, math.Log(43.0/39), *d.Requests.Change, 1e-12)
	assert.InDelta(t, math.Log(218_112.0/43/5000), *d.TokensPerRequest.Change, 1e-12)
	assert.InDelta(t, *d.Tokens.Change, *d.Requests.Change+*d.TokensPerRequest.Change, 1e-12)

	// A draw of 13 tasks holds k of the 4 with an extra request, k ~ Binomial(13, 4/13):
	// P(k <= 0) = 0.0084 and P(k <= 1) = 0.0569, so the 2.5 % point is k = 1;
	// P(k <= 6) = 0.9294 and P(k <= 7) = 0.9787, so the 97.5 % point is k = 7.
	tokens := func(k float64) float64 { return (13-k)*14_800 + k*21_228 }
	requests := func(k float64) float64 { return 39 + k }
	assert.InDelta(t, math.Log(tokens(1)/195_000), *d.Tokens.Low, 1e-12)
	assert.InDelta(t, math.Log(tokens(7)/195_000), *d.Tokens.High, 1e-12)
	assert.InDelta(t, math.Log(requests(1)/39), *d.Requests.Low, 1e-12)
	assert.InDelta(t, math.Log(requests(7)/39), *d.Requests.High, 1e-12)
	// Tokens per request grow with k too: 14 800 / 3 = 4933 and 21 228 / 4 = 5307.
	assert.InDelta(t, math.Log(tokens(1)/requests(1)/5000), *d.TokensPerRequest.Low, 1e-12)
	assert.InDelta(t, math.Log(tokens(7)/requests(7)/5000), *d.TokensPerRequest.High, 1e-12)
	assert.True(t, d.Tokens.Significant)
	assert.True(t, d.Requests.Significant)
	assert.False(t, d.TokensPerRequest.Significant)
	assert.Equal(t, "~", d.TokensPerRequest.Mark)
	assert.Equal(t, 8192.0, r.Method.Arrangements, "2^13")

	// USD per task: 5228 plain, 9472 read, 300 out; 5156, 9344, 300; 5952, 14 848, 428.
	base := (5228 + 947.2 + 3000) / 1e6
	smooth, detour := (5156+934.4+3000)/1e6, (5952+1484.8+4280)/1e6
	assert.InDelta(t, 13*base, *r.Baseline.CostUSD, 1e-12)
	assert.InDelta(t, 9*smooth+4*detour, *r.Candidate.CostUSD, 1e-12)
	assert.InDelta(t, math.Log((9*smooth+4*detour)/(13*base)), *d.CostUSD.Change, 1e-12)
	assert.InDelta(t, math.Log((12*smooth+detour)/(13*base)), *d.CostUSD.Low, 1e-12)
	assert.InDelta(t, math.Log((6*smooth+7*detour)/(13*base)), *d.CostUSD.High, 1e-12)

	// One repeated call more over 13 tasks, all in task 4: no draw can have fewer.
	assert.InDelta(t, 1.0/13, *d.RepeatedCalls.Change, 1e-12)
	assert.Equal(t, Verdict{
		Verdict: Rejected, Basis: "cost_usd", Cost: Rose, PassRate: Unknown, RepeatedCalls: Unclear,
		// (9 × 9090.4 + 4 × 11 716.8) / (13 × 9175.2) = 1.0788; (12 × 9090.4 + 11 716.8) / 119 277.6 = 1.0128;
		// (6 × 9090.4 + 7 × 11 716.8) / 119 277.6 = 1.1449.
		Reason: "cost rose: +7.9 %, 95 % interval +1.3 % to +14.5 %",
	}, r.Verdict)

	// Nine tasks have three requests in both arms: (14 800 - 15 000) / 3.
	assert.Equal(t, 9, r.TurnMatched.Tasks)
	assert.InDelta(t, -200.0/3, r.TurnMatched.Mean, 1e-9)
	assert.Equal(t, ParallelArm{Trials: 13, Met: 0, Missed: names(armOfLogs(t, "base"))}, r.Parallel.Baseline)

	// No repeated trials: the published spread, as a warning only.
	assert.Equal(t, &Noise{SD: 0.185, Floor: 1.96 * 0.185, Basis: fromPublished}, d.Tokens.Noise)
	assert.Len(t, r.Warnings, 1)
	assert.Contains(t, r.Warnings[0], "0.185")
}

func names(trials []Trial) []string {
	var out []string
	for _, t := range trials {
		out = append(out, t.Name)
	}
	return out
}

func TestPairingByPrompt(t *testing.T) {
	base, candidate := armOfLogs(t, "base"), armOfLogs(t, "candidate")
	assert.Equal(t, base[0].Task, candidate[0].Task, "white space does not matter")
	assert.NotEqual(t, base[0].Task, base[1].Task)
	// printf 'Fix failing test 1.' | sha256sum
	assert.Equal(t, "a8f008dc0e51d38d5c3230a6b4e067afab3a7a115b7be9b1a5641e71228b67bc", base[0].Task.Prompt)
}

func TestPredictedBesideMeasured(t *testing.T) {
	predictions, err := ReadPredictions(testdata("predicted.json"))
	require.NoError(t, err)
	r := Compare(armOfLogs(t, "base"), armOfLogs(t, "candidate"), Options{Predicted: predictions})
	require.Len(t, r.Predicted, 2)
	p := r.Predicted[0]
	assert.Equal(t, "compress", p.Variant)
	assert.Equal(t, 2, p.Sessions)
	// (171 600 + 3900) / (191 100 + 3900) = 0.9; requests as recorded, or 2.5 of 39 more.
	assert.InDelta(t, math.Log(0.9), *p.StaticTokens, 1e-12)
	assert.InDelta(t, math.Log(0.9), *p.StaticPerRequest, 1e-12)
	assert.Zero(t, *p.StaticRequests)
	assert.InDelta(t, math.Log(41.5/39), *p.DetourRequests, 1e-12)
	assert.InDelta(t, math.Log(0.9), *p.StaticCost, 1e-12)
	assert.InDelta(t, math.Log(218_112.0/43/5000)-math.Log(0.9), *p.GapPerRequest, 1e-12)
	assert.False(t, *p.InInterval)
	assert.Equal(t, "tokens per request: -10.0 % estimated at the recorded path, +1.4 % measured; "+
		"requests: +10.3 % measured, which no replay at the recorded path can know", p.Words)
	unknown := r.Predicted[1]
	assert.Nil(t, unknown.StaticTokens)
	assert.Nil(t, unknown.DetourRequests)
	assert.Equal(t, "the estimate and the measurement have no figure in common", unknown.Words)
}
