package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
)

func readEval(t testing.TB, name string) []*EvalReport {
	reports, err := ReadEval(testdata(name))
	require.NoError(t, err)
	return reports
}

// FreeCode published the token totals of six cases with and without one tool
// definition of about 420 tokens, over 3 or 6 requests.
func TestTurnMatchedRows(t *testing.T) {
	reports := readEval(t, "eval-ab.json")
	require.Len(t, reports, 1)
	require.Empty(t, reports[0].Problems)
	r := FromReport(reports[0], Options{})
	require.Len(t, r.Tasks, 6)
	// Added tokens by requests: 1296/3, 1334/3, 2548/6, 2687/6, 2662/6, 2726/6.
	want := []float64{432, 444.67, 424.67, 447.83, 443.67, 454.33}
	for i, task := range r.Tasks {
		assert.InDelta(t, want[i], *task.PerRequest, 0.01, task.Label)
		assert.GreaterOrEqual(t, math.Round(*task.PerRequest), 425.0)
		assert.LessOrEqual(t, math.Round(*task.PerRequest), 455.0)
		assert.Zero(t, *task.LnRequests)
		assert.Equal(t, *task.LnTokens, *task.LnPerRequest)
	}
	// 13 253 tokens over 30 requests.
	assert.Equal(t, 6, r.TurnMatched.Tasks)
	assert.InDelta(t, 13253.0/30, r.TurnMatched.Mean, 1e-9)
	assert.Equal(t, "+425 to +454 tokens per request on 6 tasks with equal requests", r.TurnMatched.PerRequest)
	assert.InDelta(t, math.Log(1065757.0/1052504), r.TurnMatched.LnTokens, 1e-12)

	assert.Equal(t, "+1.3 % tokens = 0.0 % requests × +1.3 % tokens per request", r.Deltas.Factors())
	assert.True(t, r.Deltas.Tokens.Significant, "every case rose: 2^6 = 64 ways to deal the sides")
	assert.Equal(t, Rejected, r.Verdict.Verdict)
	assert.Equal(t, "tokens", r.Verdict.Basis, "the report has no prices")
	assert.Equal(t, "1", r.Candidate.Settings["env:FREECODE_CODEMODE"])
	assert.Equal(t, int64(18), r.Baseline.Trials)
	assert.Equal(t, map[string]int{UnchangedPass: 6}, r.CaseVerdicts)
}

func TestExperimentWithTotalsOnly(t *testing.T) {
	e := readEval(t, "experiments.jsonl")[0]
	assert.Equal(t, []any{"2026-09-04-coding-1", "coding", "rejected", int64(3), 1}, []any{e.ID, e.Suite, e.Verdict, *e.Trials, e.Line})
	r := FromReport(e, Options{ExpectParallel: 2})
	assert.Equal(t, "+11.9 % tokens = +10.3 % requests × +1.4 % tokens per request", r.Deltas.Factors())
	assert.InDelta(t, math.Log(2.238/2), *r.Deltas.Tokens.Change, 1e-12)
	assert.InDelta(t, math.Log(320.0/290), *r.Deltas.Requests.Change, 1e-12)
	assert.InDelta(t, math.Log(1.1), *r.Deltas.CostUSD.Change, 1e-12)
	// One run of either side: nothing is significant. Its 33 passes have no number of trials.
	assert.Equal(t, "~", r.Deltas.Tokens.Mark)
	assert.Equal(t, Inconclusive, r.Verdict.Verdict)
	assert.Equal(t, Unknown, r.Verdict.PassRate)
	assert.Nil(t, r.Baseline.PassRate)
	assert.Equal(t, int64(33), *r.Baseline.Passed)
	assert.Equal(t, fromPublished, r.Need.Basis)
	// ln 1.1 = 0.0953: 7.84 × 0.034225 / 0.0090841 = 29.5.
	assert.Equal(t, int64(30), r.Need.Pairs)
	assert.Contains(t, r.Source, "experiments.jsonl:1")
	valid(t, r)
}

func TestExperimentLines(t *testing.T) {
	reports := readEval(t, "experiments.jsonl")
	require.Len(t, reports, 3)
	byName := reports[1]
	assert.Empty(t, byName.Cases, "cases that are only named")
	assert.Empty(t, byName.Verdict)
	require.Len(t, byName.Problems, 1, "the broken line after it")
	assert.Equal(t, 3, byName.Problems[0].Line)
	r := FromReport(byName, Options{})
	assert.Zero(t, r.PairedTasks)
	assert.Equal(t, Inconclusive, r.Verdict.Verdict)
	assert.Equal(t, 4, reports[2].Line)
}

func TestExperimentWithCases(t *testing.T) {
	e := readEval(t, "experiments.jsonl")[2]
	require.Len(t, e.Cases, 7)
	r := FromReport(e, Options{})
	require.Len(t, r.Tasks, 6, "the case without a trial on one side is not paired")
	for _, task := range r.Tasks {
		assert.Equal(t, task.Recorded == task.Verdict, !task.RecordedDiffers)
		assert.Equal(t, task.Recorded, task.Verdict, task.Label)
	}
	assert.Equal(t, map[string]int{Improved: 1, Regressed: 1, Inconclusive: 2, UnchangedFail: 1, UnchangedPass: 1}, r.CaseVerdicts)
	// The case that lost one trial counts with its two whole pairs: 20 000 against 20 200 a trial.
	lost := r.Tasks[5]
	assert.Equal(t, "lost-one", lost.Label)
	assert.InDelta(t, 20_000, *lost.Baseline.Tokens, 1e-9)
	assert.InDelta(t, 20_200, *lost.Candidate.Tokens, 1e-9)
	assert.InDelta(t, 100, *lost.PerRequest, 1e-9, "200 tokens over 2 requests")
	// Means per trial in thousands: 30 20 20 20 20 20 against 20 20 20.2 19.667 19.333 20.2.
	assert.InDelta(t, math.Log((20+20+20.2+59.0/3+58.0/3+20.2)/130), *r.Deltas.Tokens.Change, 1e-9)
	assert.InDelta(t, math.Log((2+2+2+2+2+2)/(3+2+2+2+2+2.0)), *r.Deltas.Requests.Change, 1e-9)
	assert.Equal(t, 5, r.Deltas.CostUSD.Tasks, "one case has an unpriced trial")
	assert.Equal(t, int64(1), r.Candidate.Unpriced)
	assert.Equal(t, int64(1), r.Candidate.Excluded)
	v := r.Verdict
	assert.Equal(t, []any{Inconclusive, "tokens", Unclear, Unclear, Unclear}, []any{v.Verdict, v.Basis, v.Cost, v.PassRate, v.RepeatedCalls})
	assert.Contains(t, v.Reason, "1 task regressed by the majority of trials and 1 improved")
	assert.Contains(t, r.Warnings, "a case is left out: it lost trials to infrastructure, and its sums hold what they used")
}

func TestReadEvalRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"other.json":  {`{"a":1}`, "no A/B report"},
		"list.json":   {`[1,2]`, "no A/B report"},
		"lines.jsonl": {"{\"a\":1}\n{\"b\":2}\n", "no A/B report"},
		"cut.json":    {"{\n \"sides\": {},\n \"cases\": [", "cut.json:3: no A/B report"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
		_, err := ReadEval(path)
		require.ErrorContains(t, err, c.want, name)
		_, err = ReadPredictions(path)
		require.Error(t, err, name)
		_, err = ReadHarbor(path)
		require.Error(t, err, name)
	}
	_, err := ReadEval(filepath.Join(dir, "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Values of the wrong type are unknown and named; the rest is read.
func TestReadEvalIsPermissive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	content := `{"suite":7,"trials":"3","sides":{"baseline":{"model":1},"candidate":null},"extra":[],"cases":[
		{"id":"a","baseline":{"passed":1.5,"ran":2,"turns":-1,"tokens":"x","costUsd":0.5},"candidate":[]}, 3]}`
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	reports, err := ReadEval(path)
	require.NoError(t, err)
	r := reports[0]
	assert.Equal(t, "1", r.Sides[0]["model"])
	require.Len(t, r.Cases, 2)
	assert.Equal(t, SideTally{Ran: new(int64(2)), CostUSD: new(0.5)}, r.Cases[0].Sides[0])
	var details []string
	for _, p := range r.Problems {
		assert.Equal(t, path, p.File)
		details = append(details, p.Detail)
	}
	assert.Equal(t, []string{
		"suite is no text", "trials is no number", "cases[0].baseline.passed is no count", "cases[0].baseline.turns is no count",
		"cases[0].baseline.tokens is no number", "cases[0].candidate is no object", "cases[1] is no object",
	}, details)
	assert.Zero(t, FromReport(r, Options{}).PairedTasks)
}

const harborJSON = `{"trial_name":"t__1","task_name":"shop","task_checksum":"aa","exception_info":%s,
 "config":{"agent":{"name":"codex","model_name":"gpt-x","kwargs":{"reasoning_effort":"low"}}},
 "agent_result":{"n_input_tokens":1000,"n_cache_tokens":600,"n_output_tokens":50,"cost_usd":null},
 "verifier_result":{"rewards":{"reward":%s}}}`

func writeHarbor(t *testing.T, path, exception, reward string) {
	content := fmt.Sprintf(harborJSON, exception, reward)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestHarbor(t *testing.T) {
	job := t.TempDir()
	trial := filepath.Join(job, "shop__1")
	writeHarbor(t, filepath.Join(trial, "result.json"), "null", "0.95")
	require.NoError(t, os.WriteFile(filepath.Join(job, "result.json"), []byte(`{"n_total_trials":6}`), 0o600))
	log := filepath.Join(trial, "agent", "sessions", "2026", "05", "04", "rollout-1.jsonl")
	assert.Equal(t, filepath.Join(trial, "result.json"), HarborBeside(log))
	assert.Empty(t, HarborBeside(filepath.Join(job, "elsewhere", "log.jsonl")), "the result of a job is none of a trial")

	h, err := ReadHarbor(filepath.Join(trial, "result.json"))
	require.NoError(t, err)
	assert.Equal(t, "gpt-x reasoning_effort=low", h.Arm)
	got := h.AsTrial()
	assert.Equal(t, Task{Checksum: "aa", Name: "shop"}, got.Task)
	assert.Equal(t, []int64{1050, 400, 600}, []int64{*got.Tokens(), *got.Uncached, *got.CacheRead})
	assert.Equal(t, 0.95, *got.Score)
	assert.False(t, *got.Passed, "0.95 is no full reward")
	assert.Nil(t, got.Requests)
	assert.Empty(t, got.Excluded)

	writeHarbor(t, filepath.Join(trial, "result.json"), `{"exception_type":"Timeout"}`, "1")
	h, err = ReadHarbor(filepath.Join(trial, "result.json"))
	require.NoError(t, err)
	var fromLog Trial
	fromLog.Task.Prompt = "p"
	h.Apply(&fromLog)
	assert.Equal(t, "exception", fromLog.Excluded)
	assert.True(t, *fromLog.Passed)
	assert.Equal(t, Task{Checksum: "aa", Name: "shop", Prompt: "p"}, fromLog.Task)
}

// Three real runs of one task at low and three at medium effort. Their folders were
// made per run, so neither checksum nor name pairs them; with the prompt they are
// one task.
func TestRealHarborArms(t *testing.T) {
	read := func(pattern string) (trials []Trial) {
		files, err := filepath.Glob(devdata.Dir(t, "atif") + "/" + pattern)
		require.NoError(t, err)
		require.Len(t, files, 3)
		for _, f := range files {
			h, err := ReadHarbor(f)
			require.NoError(t, err)
			require.Empty(t, h.Problems)
			trials = append(trials, h.AsTrial())
		}
		return trials
	}
	low, medium := read("raidar-codex-low-*.result.json"), read("raidar-codex-medium-*.result.json")
	assert.Zero(t, Compare(low, medium, Options{}).PairedTasks)
	for _, arm := range [][]Trial{low, medium} {
		for i := range arm {
			arm[i].Task.Prompt = "the same"
		}
	}
	r := Compare(low, medium, Options{})
	assert.Equal(t, 1, r.PairedTasks)
	// Input and output of the three: 328219 + 334891 + 360015 + 3288 + 3089 + 3386, and
	// 283767 + 371184 + 351398 + 5602 + 4770 + 3653.
	assert.InDelta(t, math.Log(1_020_374.0/1_032_888), *r.Deltas.Tokens.Change, 1e-12)
	assert.Equal(t, "~", r.Deltas.Tokens.Mark)
	assert.Nil(t, r.Deltas.Requests)
	assert.Equal(t, fromTrials, r.Deltas.Tokens.Noise.Basis)
	assert.Equal(t, 4, r.Deltas.Tokens.Noise.Freedom)
	assert.InDelta(t, 0.951, *r.Candidate.Score, 0.001)
	assert.Zero(t, *r.Baseline.Score)
	assert.Equal(t, map[string]int{UnchangedFail: 1}, r.CaseVerdicts, "0.95 is no full reward")
	assert.Equal(t, Inconclusive, r.Verdict.Verdict)
	valid(t, r)
}

func FuzzReports(f *testing.F) {
	for _, name := range []string{"eval-ab.json", "experiments.jsonl", "predicted.json"} {
		data, err := os.ReadFile(testdata(name))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add(fmt.Appendf(nil, harborJSON, "null", "1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		if reports, err := ReadEval(path); err == nil {
			valid(t, FromReport(reports[0], Options{}))
		}
		_, _ = ReadPredictions(path)
		if h, err := ReadHarbor(path); err == nil {
			h.AsTrial()
		}
	})
}

// What stands where the noise of the trials is not known says why.
func TestWhyThereIsNoNoise(t *testing.T) {
	warning := func(r *Result) string {
		for _, w := range r.Warnings {
			if strings.Contains(w, "published A/A runs") {
				why, _, _ := strings.Cut(w, ";")
				return why
			}
		}
		return ""
	}
	rep := readEval(t, "eval-ab.json")[0]
	r := FromReport(rep, Options{})
	assert.Equal(t, "the report sums the trials of a case up, so their noise cannot be told", warning(r), "3 trials a case")
	assert.Equal(t, "percentile, over tasks", r.Method.Bootstrap)

	arm := func(tokens ...int64) []Trial {
		var out []Trial
		for i, n := range tokens {
			out = append(out, full(fmt.Sprint("task ", i%2), 1, n, 0, true))
		}
		return out
	}
	r = Compare(arm(100, 200), arm(110, 210), Options{})
	assert.Equal(t, "no repeated trials to tell the noise of", warning(r))
	assert.Equal(t, "percentile, over tasks", r.Method.Bootstrap)
	r = Compare(arm(100, 200, 101), arm(110, 210), Options{})
	assert.Equal(t, "too few repeated trials to tell the noise of", warning(r), "one degree of freedom of three")
	assert.Equal(t, "percentile, over tasks and over trials within tasks", r.Method.Bootstrap)
}
