package analyze

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

func estimateOf(part, id, variant string) dataset.Estimate {
	return dataset.Estimate{
		Part: part, SessionID: id, Variant: variant, Options: "[]", Rules: "1", Prices: "p", RecordedRequests: 3, Requests: 3,
		RecordedInputTokens: num(int64(1000)), InputTokens: num(int64(900)), StaticSavingTokens: num(int64(100)), StaticSavingUSD: num(int64(1_500_000_000)),
		DetourStrata:    []dataset.LossyCount{{Agent: "codex", Kind: "log", Band: "<2K", Marker: "middle", Items: 2, Used: 1}},
		ObservedOutputs: []dataset.SeenCount{{Agent: "codex", Kind: "log", Band: "<2K", Cases: 5, Recoveries: 1}},
	}
}

func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			out[path] = string(raw)
		}
		return err
	}))
	return out
}

// TestEstimatesRoundTrip: what is written is what SQL reads, from the whole dataset
// and from a selection, and the same work twice leaves the same bytes.
func TestEstimatesRoundTrip(t *testing.T) {
	dir := datasetOf(t, "a", "b")
	assert.Equal(t, []string{"0 0"}, rowsOf(t, open(t, Options{Dataset: dir}), "SELECT (SELECT count(*) FROM estimates), (SELECT count(*) FROM outcomes)"))

	parts := rowsOf(t, open(t, Options{Dataset: dir}), "SELECT part FROM sessions ORDER BY session_id")
	rows := []dataset.Estimate{estimateOf(parts[0], "a", "cap"), estimateOf(parts[1], "b", "cap"), estimateOf(parts[0], "a", "mask")}
	rows[1].StaticSavingUSD, rows[1].DetourStrata = nil, nil
	require.NoError(t, dataset.WriteEstimates(dir, "codex", "2026-01", rows))
	once := filesBelow(t, filepath.Join(dir, "estimates"))
	require.Len(t, once, 1)
	rows[0], rows[2] = rows[2], rows[0]
	require.NoError(t, dataset.WriteEstimates(dir, "codex", "2026-01", rows))
	assert.Equal(t, once, filesBelow(t, filepath.Join(dir, "estimates")), "in whatever order they were worked out")

	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"codex a cap 100 1.500000000 1", "codex a mask 100 1.500000000 1", "codex b cap 100 <nil> 0"},
		rowsOf(t, db, "SELECT source, session_id, variant, static_saving_tokens, static_saving_usd::VARCHAR, len(detour_strata) FROM estimates ORDER BY 2, 3"))
	assert.Equal(t, []string{"log 4 2"},
		rowsOf(t, db, "SELECT s.kind, sum(s.items), sum(s.used) FROM (SELECT unnest(detour_strata) AS s FROM estimates) GROUP BY 1"))
	assert.Equal(t, []string{"b"}, rowsOf(t, open(t, Options{Dataset: dir, Selection: Selection{Session: "b"}}), "SELECT session_id FROM estimates"))

	v, err := Verify(t.Context(), dir)
	require.NoError(t, err)
	for _, f := range v.Findings {
		assert.NotContains(t, f.File, "estimates")
	}
	require.NoError(t, dataset.Compact(t.Context(), dir))
	assert.Equal(t, once, filesBelow(t, filepath.Join(dir, "estimates")), "merges leave estimates alone")
	assert.Len(t, rowsOf(t, open(t, Options{Dataset: dir}), "SELECT 1 FROM estimates"), 3)
}

// TestEstimatesOfOldPartsDoNotCount: nor do those of parts that are not there, and of
// two for one session the newer rules count.
func TestEstimatesOfOldPartsDoNotCount(t *testing.T) {
	dir := datasetOf(t, "a")
	part := rowsOf(t, open(t, Options{Dataset: dir}), "SELECT part FROM sessions")[0]
	newer := estimateOf(part, "a", "cap")
	newer.Rules, newer.StaticSavingTokens = "2", num(int64(7))
	for _, e := range []dataset.Estimate{estimateOf("gone", "a", "cap"), estimateOf(part, "a", "cap"), newer} {
		require.NoError(t, dataset.WriteEstimates(dir, "codex", "2026-01", []dataset.Estimate{e}))
	}
	assert.Equal(t, []string{"7"}, rowsOf(t, open(t, Options{Dataset: dir}), "SELECT static_saving_tokens FROM estimates"))
}

func TestOutcomesRoundTrip(t *testing.T) {
	dir := datasetOf(t, "a")
	o := dataset.Outcome{Variant: "cap", Tasks: 13, Trials: 13, Verdict: "rejected", From: num(int64(1_767_225_600_000)), MeasuredRequests: num(0.098)}
	require.NoError(t, dataset.SaveOutcome(dir, "codex", o))
	require.NoError(t, dataset.SaveOutcome(dir, "codex", o))
	assert.Equal(t, []string{"cap 13 rejected 0.098 codex"}, rowsOf(t, open(t, Options{Dataset: dir}), "SELECT variant, tasks, verdict, measured_ln_requests, source FROM outcomes"))
	v, err := Verify(t.Context(), dir)
	require.NoError(t, err)
	for _, f := range v.Findings {
		assert.NotContains(t, f.File, "outcomes")
	}
}

// TestOutcomeOfOneABCountsOnce: a prediction made after an A/B may have learnt from it,
// so the first one stays; more trials of the same A/B take the place of fewer; another
// A/B and another variant stand beside it.
func TestOutcomeOfOneABCountsOnce(t *testing.T) {
	dir := datasetOf(t, "a")
	start, later := num(int64(1_767_225_600_000)), num(int64(1_767_312_000_000))
	for _, o := range []dataset.Outcome{
		{Variant: "cap", From: start, Trials: 13, Detours: num(2.5)},
		{Variant: "cap", From: start, Trials: 13, Detours: num(4.0)},
		{Variant: "cap", From: later, Trials: 13, Detours: num(1.0)},
		{Variant: "mask", From: start, Trials: 13, Detours: num(3.0)},
	} {
		require.NoError(t, dataset.SaveOutcome(dir, "codex", o))
	}
	all := "SELECT variant, trials, predicted_detours FROM outcomes ORDER BY 1, 3"
	assert.Equal(t, []string{"cap 13 1", "cap 13 2.5", "mask 13 3"}, rowsOf(t, open(t, Options{Dataset: dir}), all))
	require.NoError(t, dataset.SaveOutcome(dir, "codex", dataset.Outcome{Variant: "cap", From: start, Until: later, Trials: 26, Detours: num(4.0)}))
	assert.Equal(t, []string{"cap 13 1", "cap 26 4", "mask 13 3"}, rowsOf(t, open(t, Options{Dataset: dir}), all))

	for _, requests := range []float64{0.1, 0.1, 0.2} {
		require.NoError(t, dataset.SaveOutcome(dir, "report", dataset.Outcome{Variant: "late", MeasuredRequests: num(requests)}))
	}
	assert.Len(t, rowsOf(t, open(t, Options{Dataset: dir}), "SELECT 1 FROM outcomes WHERE variant = 'late'"), 2, "without time stamps by what was measured")
}
