package report_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term/termtest"
	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/detour"
)

// sampleComparison is the invented A/B of testdata/ab with words wherever text of a
// log may stand.
func sampleComparison(t *testing.T, words string) *compare.Result {
	t.Helper()
	reports, err := compare.ReadEval(filepath.Join("..", "..", "testdata", "ab", "eval-ab.json"))
	require.NoError(t, err)
	r := compare.FromReport(reports[0], compare.Options{Names: [2]string{words, "candidate"}})
	r.Source = words
	for i := range r.Tasks {
		r.Tasks[i].Label = words
	}
	r.Parallel = &compare.Parallel{Expected: 3, Baseline: compare.ParallelArm{Trials: 3, Met: 1, Missed: []string{words, words}, Unknown: 1}, Candidate: compare.ParallelArm{Trials: 2, Met: 2}}
	r.Predicted = []compare.PredictedDelta{
		{Variant: words, Verdict: words, StaticPerRequest: ptr(-0.1), MeasuredPerRequest: ptr(0.0125), DetourRequestsLow: ptr(0.02), DetourRequestsHigh: ptr(0.1), DetourRequests: ptr(0.05), MeasuredRequests: ptr(0.0)},
		{Variant: "no-line-numbers"},
	}
	r.Warnings = append(r.Warnings, words)
	return r
}

func comparison(t *testing.T, r *compare.Result, width int, markdown bool) string {
	t.Helper()
	var out bytes.Buffer
	if markdown {
		require.NoError(t, report.CompareMarkdown(&out, r, report.Options{}))
		return out.String()
	}
	require.NoError(t, report.CompareTerminal(&out, r, report.Options{Width: width, UTF8: true}))
	return out.String()
}

func TestCompareGolden(t *testing.T) {
	r := sampleComparison(t, "matched")
	golden(t, "compare-80.txt", comparison(t, r, 80, false))
	golden(t, "compare-160.txt", comparison(t, r, 160, false))
	golden(t, "compare.md", comparison(t, r, 0, true))
}

func TestHostileComparison(t *testing.T) {
	want := structure(t, comparison(t, sampleComparison(t, "plain"), 0, true))
	for _, s := range termtest.Hostile() {
		for _, width := range []int{80, 120, 160} {
			termtest.CheckTerminal(t, comparison(t, sampleComparison(t, s), width, false), width, false)
		}
		if strings.TrimSpace(s) == "" {
			continue
		}
		got := structure(t, comparison(t, sampleComparison(t, s), 0, true))
		for _, kind := range []string{"Heading", "Table", "TableRow", "List"} {
			assert.Equal(t, want[kind], got[kind], "%s of %q", kind, s)
		}
	}
}

// Without a case there is no rate, whatever the prior says.
func TestRatesWithoutCases(t *testing.T) {
	rates := detour.Rates{Sessions: 2, Overall: detour.Stratum{Rate: 0.5, NullRate: 0.5, NetHigh: 0.7}}
	var out bytes.Buffer
	require.NoError(t, report.RatesMarkdown(&out, rates, report.Options{}))
	assert.Contains(t, out.String(), "| all | all | all | all | 0 of 0 | – | – | – | – |")
	assert.Contains(t, out.String(), "No truncated output here tells a rate.")
}

func TestHostileExperimentsRatesAndPrompts(t *testing.T) {
	for _, s := range termtest.Hostile() {
		o := report.Options{Width: 80, UTF8: true}
		p := &report.Prompts{Base: s, Variant: s, Lost: []prompts.Loss{{Rule: "no-poll", Title: "t", Why: "w", Sentence: s, Contradiction: s}},
			Rules: []report.PromptRule{{ID: "no-poll", State: "lost", Sentence: s}}}
		rates := detour.Rates{Overall: detour.Stratum{Cases: 1}, Strata: []detour.Stratum{{Agent: s, Cases: 1}}}
		var out bytes.Buffer
		require.NoError(t, report.ExperimentsTerminal(&out, []report.Experiment{{Name: s, Recorded: s, Result: sampleComparison(t, s)}}, o))
		require.NoError(t, report.PromptsTerminal(&out, p, o))
		require.NoError(t, report.RatesTerminal(&out, rates, o))
		termtest.CheckTerminal(t, out.String(), 80, false)
		out.Reset()
		require.NoError(t, report.ExperimentsMarkdown(&out, []report.Experiment{{Name: s, Recorded: s, Result: sampleComparison(t, s)}}, o))
		require.NoError(t, report.PromptsMarkdown(&out, p, o))
		require.NoError(t, report.RatesMarkdown(&out, rates, o))
		structure(t, out.String())
	}
}

// TestReportedFiguresAreMarked: tokens that are known for whole sessions only say so,
// in how many trials of both arms; so do figures that rest on their requests.
func TestReportedFiguresAreMarked(t *testing.T) {
	delta := &compare.Delta{Baseline: 30, Candidate: 20}
	r := &compare.Result{PairedTasks: 1, Deltas: compare.Deltas{Tokens: delta, Requests: delta, RepeatedCalls: delta},
		Baseline: compare.Arm{ReportedTrials: 2}, Candidate: compare.Arm{ReportedTrials: 1}}
	var out strings.Builder
	require.NoError(t, report.CompareMarkdown(&out, r, report.Options{}))
	assert.Equal(t, 1, strings.Count(out.String(), "reported for the session as a whole in 3 trials"))
	assert.Equal(t, 1, strings.Count(out.String(), "requests estimated in 3 trials"))
	r.Baseline.ReportedTrials, r.Candidate.ReportedTrials = 0, 0
	out.Reset()
	require.NoError(t, report.CompareMarkdown(&out, r, report.Options{}))
	assert.NotContains(t, out.String(), "in 3 trials")
}

// TestWideIntervalsFit: changes and intervals of any size stay within the width, and
// none of their figures is cut.
func TestWideIntervalsFit(t *testing.T) {
	share := &compare.Delta{Baseline: 1, Candidate: 0.125, Mark: "~", Change: ptr(-0.875), Low: ptr(-1.0), High: ptr(1.0), Why: "fewer than 6 tasks are never significant"}
	ratio := &compare.Delta{Baseline: 1_234_567_890, Candidate: 9_876_543_210, Mark: "~", Log: true, Percent: ptr(123456.7), PercentLow: ptr(-99.9), PercentHigh: ptr(999999.9)}
	r := &compare.Result{PairedTasks: 3, Deltas: compare.Deltas{Tokens: ratio, Requests: ratio, TokensPerRequest: ratio, Input: ratio, Output: ratio, CostUSD: ratio, RepeatedCalls: ratio, PassRate: share, Score: share}}
	for width := 80; width <= 200; width += 8 {
		got := comparison(t, r, width, false)
		termtest.CheckTerminal(t, got, width, false)
		for _, whole := range []string{"-100.0 to +100.0", "~-87.5 points", compare.SignedPercent(999999.9)} {
			assert.Contains(t, got, whole, "%d columns", width)
		}
	}
}
