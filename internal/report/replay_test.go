package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term/termtest"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
)

// sampleReplay is an invented replay with a variant of every sort. words stand
// wherever text of a log or of the user may stand. Its figures go together: shares
// are of 58.7M and $9.50; pairs are 7.84 × 0.185² / ln²(1 - share); break-evens are the saving
// over an extra request of 244K tokens (250K with polls gone, 154K masked) and
// $0.029; contributions are (before - after) × requests × the factor; the detours
// of compress are the nets of its two strata, 0.68 + 0.09.
func sampleReplay(words string) *report.Replay {
	need := &compare.Need{Pairs: 222, Unit: "paired whole-suite runs", Change: -0.035, SD: 0.185, Basis: "FreeCode's published A/A runs (whole suites)", PerTask: 222}
	top := []replay.Contribution{
		{SessionID: words, Item: 4, What: words, Tool: words, Why: "log-middle", Before: 11200, After: 784, Requests: 114, SavedTokens: 1_246_795},
		{SessionID: words, Item: -1, What: "", Tool: "", Why: "poll", Before: 41_000, Requests: 1, SavedTokens: 41_000, Uncertain: true},
		{SessionID: words, Item: -1, What: "", Tool: "", Why: "poll", Before: 38_000, Requests: 1, SavedTokens: 38_000},
	}
	return &report.Replay{
		Report: &replay.Report{
			SchemaVersion: 1,
			Sessions:      []replay.SessionRef{{SessionID: words, Source: words, File: words, Requests: 229, Usage: true}, {SessionID: "b", Source: "codex", Requests: 3, Usage: true}},
			Baseline: replay.Totals{
				Requests: 232, CountedTokens: 50_000_000, InputTokens: ptr(int64(58_700_000)), CacheReadTokens: ptr(int64(33_900_000)), OutputTokens: ptr(int64(28_300)),
				CostUSD: ptr(9.5), CostPartial: true,
			},
			Variants: []replay.Estimate{
				{
					Variant: "compress", Requests: 232, StaticSavingTokens: ptr(int64(2_010_000)), StaticSavingTokensHigh: ptr(int64(2_010_000)), StaticSavingShare: ptr(0.0342),
					StaticSavingUSD: ptr(0.33), StaticSavingUSDShare: ptr(0.0347), StaticSavingUSDHigh: ptr(0.33), StaticSavingSpreadLow: ptr(int64(1_900_000)), StaticSavingSpreadHigh: ptr(int64(2_120_000)),
					SavedCountedTokens: 1_914_286, CacheReadLost: ptr(int64(0)), EditedItems: 2,
					BreakEvenRequestsTokens: ptr(8.2), BreakEvenRequestsUSD: ptr(11.4), TrialsNeeded: ptr(int64(222)),
					Detours: &replay.Detours{Expected: 0.77, Low: 0.3, High: 1.9, Evidence: replay.Evidence{
						Edits: 2, LaterUsed: 1, NullRate: ptr(0.5), NullBasis: "other sessions", BaseRate: ptr(0.385), Truncations: 100, Recoveries: 38, Source: words,
						Strata: []replay.EvidenceStratum{
							{Kinds: []string{"source"}, Edits: 1, Cases: 11, Recoveries: 9, Rate: 0.82, NullRate: 0.14, Net: 0.68},
							{Kinds: []string{"log", "search"}, Edits: 1, Cases: 89, Recoveries: 29, Rate: 0.33, NullRate: 0.24, Net: 0.09},
						},
					}},
					Basis: "calibrated: 1.05 provider tokens for one counted", Verdict: replay.WorthAB, Top: top[:1],
				},
				{
					Variant: "inline-batching", Requests: 222, StaticSavingTokens: ptr(int64(624_000)), StaticSavingTokensHigh: ptr(int64(2_360_000)), StaticSavingShare: ptr(0.0106),
					StaticSavingUSD: ptr(0.15), StaticSavingUSDShare: ptr(0.0158), StaticSavingUSDHigh: ptr(0.55), StaticSavingOutputTokens: ptr(int64(5290)), SavedCountedTokens: 600_000,
					RemovedRequestsLow: 10, RemovedRequestsHigh: 33, BreakEvenRequestsTokens: ptr(2.5), BreakEvenRequestsUSD: ptr(5.2), TrialsNeeded: ptr(int64(2363)),
					Basis: "counted with the model's own tokenizer", Verdict: replay.BelowTheNoise, Top: top[1:],
				},
				{
					Variant: "mask:keep=5,batch=10+compress:profile=careful", Requests: 232, StaticSavingTokens: ptr(int64(23_000_000)), StaticSavingTokensHigh: ptr(int64(23_000_000)),
					StaticSavingShare: ptr(0.392), StaticSavingUSD: ptr(-18.68), StaticSavingUSDShare: ptr(-1.9663), StaticSavingUSDHigh: ptr(-18.68), SavedCountedTokens: 22_000_000, CacheReadLost: ptr(int64(31_000_000)),
					EditedItems: 412, BreakEvenRequestsTokens: ptr(149.0), BreakEvenRequestsUSD: ptr(0.0), TrialsNeeded: ptr(int64(2)),
					Detours: &replay.Detours{Expected: 242, Low: 87.2, High: 392, Evidence: replay.Evidence{Edits: 412, Source: "these logs"}},
					Basis:   "calibrated: 1.05 provider tokens for one counted", Verdict: replay.Risky, Warnings: []string{"fewer tokens, but dearer", words}, Top: top[:1],
				},
				{Variant: "serialize", Requests: 300, StaticSavingTokens: ptr(int64(-9_000_000)), StaticSavingShare: ptr(-0.153), StaticSavingUSD: ptr(-2.12), StaticSavingUSDShare: ptr(-0.2232), SavedCountedTokens: -8_000_000, AddedRequests: 68, TrialsNeeded: ptr(int64(14)), Verdict: replay.Risky, Basis: "counted with the model's own tokenizer"},
				{Variant: words, SavedCountedTokens: 1200, EditedItems: 3, Basis: "none", TrialsNeeded: nil},
				{Variant: "dedup-reads", Requests: 232, StaticSavingTokens: ptr(int64(0)), StaticSavingShare: ptr(0.0), StaticSavingUSD: ptr(0.0), StaticSavingUSDShare: ptr(0.0)},
				{Variant: "drop-unused-tools", Unsupported: ptr("the log does not hold the tool definitions"), Basis: "none"},
			},
			CacheModel: replay.CacheError{
				Requests: 229, MedianTokens: ptr(12.0), WithinPercent: ptr(0.568), Residual: ptr(int64(-24_000_000)),
				Families: []replay.CacheFamily{{Name: "anthropic", Minimum: 1024, Block: 1, LifetimeS: 300, LongS: 3600, Fitted: 51}},
			},
			Warnings: []string{words},
		},
		Variants: []report.ReplayVariant{
			{
				Title: "shell output compressed by what it is", Need: need,
				Line: &compare.Line{Command: "freecode eval ab SUITE --candidate env:FREECODE_BASH_COMPRESS=1 --trials 222", Notes: []string{"compress: it runs FreeCode's own rules"}},
				Changes: []report.TextChange{
					{SessionID: words, Item: 4, From: 3, Last: 116, Tool: words, What: words, Why: "log-middle", Before: "one\ntwo\n" + words + "\nfour\nfive\nsix", After: "one\ntwo\n[1 line left out]\nfour\nfive\nsix"},
					{SessionID: words, Item: 5, From: 9, Last: 9, Why: "gone", Before: words, Dropped: true},
					{SessionID: words, Item: -1, From: 1, Last: 9, Why: "add", After: words, Added: true},
				},
			},
			{Title: "polls go"}, {Title: words}, {}, {}, {}, {},
		},
	}
}

func replayOutput(t *testing.T, r *report.Replay, width int, markdown bool) string {
	t.Helper()
	var out bytes.Buffer
	o := report.ReplayOptions{Options: report.Options{Width: width, UTF8: true}, Details: true, Diff: true, Lines: 12}
	if markdown {
		require.NoError(t, report.ReplayMarkdown(&out, r, o))
		return out.String()
	}
	require.NoError(t, report.ReplayTerminal(&out, r, o))
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with -update to make it")
	assert.Equal(t, string(want), got)
}

func TestReplayGolden(t *testing.T) {
	r := sampleReplay("/home/dev/project/build.log")
	golden(t, "replay-80.txt", replayOutput(t, r, 80, false))
	golden(t, "replay-160.txt", replayOutput(t, r, 160, false))
	golden(t, "replay.md", replayOutput(t, r, 0, true))
}

func TestReplayFitsEveryWidth(t *testing.T) {
	for width := 80; width <= 200; width++ {
		termtest.CheckTerminal(t, replayOutput(t, sampleReplay("/home/dev/x.go"), width, false), width, false)
	}
}

func TestHostileReplay(t *testing.T) {
	want := structure(t, replayOutput(t, sampleReplay("plain"), 0, true))
	for _, s := range termtest.Hostile() {
		for _, width := range []int{80, 160} {
			termtest.CheckTerminal(t, replayOutput(t, sampleReplay(s), width, false), width, false)
		}
		if strings.TrimSpace(s) == "" {
			continue // some lines are then left out
		}
		got := structure(t, replayOutput(t, sampleReplay(s), 0, true))
		for _, kind := range []string{"Heading", "Table", "TableRow", "FencedCodeBlock", "List"} {
			assert.Equal(t, want[kind], got[kind], "%s of %q", kind, s)
		}
	}
}

// TestStaticIsNeverTheExpectedResult: every form of the report says so.
func TestStaticIsNeverTheExpectedResult(t *testing.T) {
	r := sampleReplay("x")
	for _, out := range []string{replayOutput(t, r, 80, false), replayOutput(t, r, 160, false), replayOutput(t, r, 0, true)} {
		assert.Contains(t, strings.Join(strings.Fields(out), " "), "It is not the expected result of an A/B")
	}
}

// The golden reports are read by hand: their figures have to go together.
func TestSampleReplayGoesTogether(t *testing.T) {
	r := sampleReplay("x").Report
	requests, input := float64(r.Baseline.Requests), float64(*r.Baseline.InputTokens)
	for _, e := range r.Variants[:4] {
		assert.InDelta(t, float64(*e.StaticSavingTokens)/input, *e.StaticSavingShare, 5e-4, e.Variant)
		assert.InDelta(t, *e.StaticSavingUSD / *r.Baseline.CostUSD, *e.StaticSavingUSDShare, 1e-4, e.Variant)
		assert.Equal(t, r.Baseline.Requests-e.RemovedRequestsLow+e.AddedRequests, e.Requests, e.Variant)
		ratio := math.Log(1 - *e.StaticSavingShare)
		assert.EqualValues(t, max(2, math.Ceil(2.8*2.8*0.185*0.185/(ratio*ratio))), *e.TrialsNeeded, e.Variant)
		if e.BreakEvenRequestsTokens != nil {
			payload := (input - float64(*e.StaticSavingTokens)) / (requests - float64(e.RemovedRequestsLow))
			assert.InEpsilon(t, float64(*e.StaticSavingTokens)/payload, *e.BreakEvenRequestsTokens, 0.05, e.Variant)
		}
		for _, c := range e.Top {
			factor := 1.0
			if strings.Contains(e.Basis, "1.05") {
				factor = 1.05
			}
			assert.InDelta(t, factor*float64((c.Before-c.After)*c.Requests), c.SavedTokens, 1, e.Variant)
		}
		if d := e.Detours; d != nil && len(d.Evidence.Strata) > 0 {
			var cases, recoveries int64
			sum := 0.0
			for _, s := range d.Evidence.Strata {
				cases, recoveries, sum = cases+s.Cases, recoveries+s.Recoveries, sum+float64(s.Edits)*s.Net
				assert.InDelta(t, s.Rate-s.NullRate, s.Net, 1e-9)
				assert.InDelta(t, float64(s.Recoveries)/float64(s.Cases), s.Rate, 0.01)
			}
			assert.Equal(t, []int64{cases, recoveries}, []int64{d.Evidence.Truncations, d.Evidence.Recoveries})
			assert.InDelta(t, sum, d.Expected, 1e-9)
			assert.InDelta(t, sum/float64(d.Evidence.Edits), *d.Evidence.BaseRate, 1e-9)
		}
	}
}

func TestReplayRowsSayWhatIsKnown(t *testing.T) {
	out := replayOutput(t, sampleReplay("own"), 160, false)
	for _, want := range []string{
		`(?m)^  inline-batching +624K to 2\.36M +1\.1 % +\$0\.15 to \$0\.55 +1\.6 % +10–33 +none +2\.5 / 5\.2 +2,363 +below the noise`,
		`(?m)^  mask.* \$18\.68 dearer +-196\.6 % +0 +242 \(87\.2–392\) +149 / none +2 +risky`,
		`(?m)^  drop-unused-tools +– +– +– +– +– +– +– / – +– +unsupported +the log does not hold`,
		`(?m)^  dedup-reads .* – +nothing to change here`,
		`(?m)^  own +– +– +– +– +0 +none +– / – +– +– +no usage in the log;`,
		`(?m)^  serialize +-9\.00M +-15\.3 % +\$2\.12 dearer +-22\.3 % +0 .*68 requests added`,
	} {
		assert.Regexp(t, want, out)
	}
	// In 80 columns the share of the cost stands below.
	narrow := replayOutput(t, sampleReplay("own"), 80, false)
	assert.Contains(t, narrow, "    3.5 % of the cost · detours 0.8")
	assert.Contains(t, narrow, "    196.6 % dearer · detours 242")
	assert.NotContains(t, strings.Split(narrow, "drop-unused-tools")[1][:120], "of the cost")
}

func TestReplayJSONKeepsUnknown(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.ReplayJSON(&out, sampleReplay("x"), false))
	var got struct {
		Variants []map[string]any
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Len(t, got.Variants, 7)
	for _, key := range []string{"static_saving_tokens", "static_saving_usd", "static_saving_usd_share", "detours", "trials", "ab_command", "unsupported"} {
		value, there := got.Variants[4][key]
		assert.True(t, there, key)
		assert.Nil(t, value, key)
	}
	assert.Equal(t, []any{}, got.Variants[4]["warnings"])
}

func TestUnifiedDiff(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, strings.Repeat("x", i+1))
	}
	before := strings.Join(many, "\n")
	after := strings.Join(append(append([]string{}, many[:10]...), append([]string{"new"}, many[12:]...)...), "\n")
	r := sampleReplay("x")
	r.Variants[0].Changes = []report.TextChange{{SessionID: "s", Item: 1, From: 1, Last: 2, Why: "w", Before: before, After: after}}
	out := replayOutput(t, r, 80, false)
	// Lines 11 and 12 go, one comes; two equal lines stand on either side.
	want := strings.Join([]string{
		"  @ 8 equal lines", "   " + many[8], "   " + many[9], "  -" + many[10], "  -" + many[11], "  +new", "   " + many[12], "   " + many[13], "  @ 16 equal lines",
	}, "\n")
	assert.Contains(t, out, want)
}

// Many sessions may each have a warning of their own: a few are shown, all with
// --details.
func TestReplayWarningsAreFew(t *testing.T) {
	show := func(n int, details bool) string {
		r := sampleReplay("x")
		r.Report.Variants[0].Warnings = nil
		for i := range n {
			r.Report.Variants[0].Warnings = append(r.Report.Variants[0].Warnings, fmt.Sprintf("session %d: odd", i))
		}
		var out bytes.Buffer
		require.NoError(t, report.ReplayTerminal(&out, r, report.ReplayOptions{Options: report.Options{Width: 100, UTF8: true}, Details: details, Lines: 5}))
		return out.String()
	}
	assert.Equal(t, 7, strings.Count(show(7, false), ": odd"), "one more takes no more room than its count")
	assert.NotContains(t, show(7, false), "more warning")
	assert.Equal(t, 6, strings.Count(show(8, false), ": odd"))
	assert.Contains(t, show(8, false), "! … and 2 more warnings; --details lists them")
	assert.Equal(t, 8, strings.Count(show(8, true), ": odd"))
	assert.Equal(t, 500, strings.Count(show(500, true), ": odd"))
}

// A factor whose spread changes nothing that can be seen is not worth a sentence.
func TestReplaySpreadThatCannotBeSeen(t *testing.T) {
	show := func(low, high int64) string {
		r := sampleReplay("x")
		r.Report.Variants[0].StaticSavingSpreadLow, r.Report.Variants[0].StaticSavingSpreadHigh = &low, &high
		var out bytes.Buffer
		require.NoError(t, report.ReplayMarkdown(&out, r, report.ReplayOptions{Options: report.Options{UTF8: true}, Lines: 5}))
		return out.String()
	}
	const sentence = "with that factor at the quartiles"
	assert.Contains(t, show(1_230_000, 1_240_000), sentence+" of its spread the saving is 1.23M to 1.24M tokens.")
	assert.NotContains(t, show(1_230_000, 1_230_900), sentence)
}
