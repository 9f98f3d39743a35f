package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term/termtest"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/fleet"
)

// sampleFleet is sampleReplay over many sessions. words stand wherever text of a log
// may stand.
func sampleFleet(words string) *report.Replay {
	r := sampleReplay(words)
	r.Fleet = &fleet.Report{
		Sessions: 500, Population: 10_000, Clusters: "sessions of one task", Method: "studentised bootstrap",
		Learnt: &fleet.Learnt{Outcomes: 2, Weight: 31, Factor: 1.24},
	}
	interval := &fleet.Interval{Ratio: 0.035, Low: 0.021, High: 0.052, Error: 0.008, Clusters: 480, Effective: 4.2}
	session := fleet.SessionShare{Source: words, SessionID: words, File: words, Requests: 31, Input: 90_000, Saving: 4_000, OfAll: 0.0001}
	worse := session
	worse.Saving, worse.SavingUSD = -400, ptr(-0.02)
	for i := range r.Report.Variants {
		v := fleet.Variant{Variant: r.Report.Variants[i].Variant}
		if i == 0 {
			v = fleet.Variant{
				Variant: v.Variant, Known: 490, Winners: 300, Losers: 90, Unchanged: 100, Share: interval, ShareUSD: interval, SampleError: ptr(0.0041), Sample: &fleet.Interval{Ratio: 0.035, Low: 0.027, High: 0.043},
				Shares: &fleet.Distribution{Median: 0.01, P90: 0.2}, TopShare: ptr(0.81),
				Strata: []fleet.Stratum{
					{By: "agent", Value: words, Sessions: 490, Input: 58_700_000, Saving: 2_000_000, Share: 0.035, Interval: interval, Losers: 90},
					{By: "version", Value: words, Sessions: 490, Input: 58_700_000, Saving: 2_000_000, Share: 0.035, Losers: 90},
				},
				Most: []fleet.SessionShare{session, session, session, session, session}, Worst: []fleet.SessionShare{worse},
			}
		}
		r.Fleet.Variants = append(r.Fleet.Variants, v)
	}
	return r
}

func TestFleetReport(t *testing.T) {
	t.Parallel()
	for _, out := range []string{replayOutput(t, sampleFleet("plain"), 160, false), replayOutput(t, sampleFleet("plain"), 0, true)} {
		flat := strings.Join(strings.Fields(out), " ")
		for _, part := range []string{"Over the fleet", "2.1 % to 5.2 %", "61.2 %", "18.4 %", "all sessions: 2.7 % to 4.3 %", "480 clusters weigh as much as 4.2", "500 of 10,000 sessions", "1.24", "what would lose", "$0.02 dearer"} {
			assert.Contains(t, flat, part)
		}
	}
	for width := 80; width <= 200; width += 7 {
		termtest.CheckTerminal(t, replayOutput(t, sampleFleet("plain"), width, false), width, false)
	}
}

// TestOneSessionIsMostOfAll: bounds from fewer than two clusters of equal weight are not
// shown.
func TestOneSessionIsMostOfAll(t *testing.T) {
	t.Parallel()
	r := sampleFleet("plain")
	wide := &fleet.Interval{Ratio: 0.12, Low: -88.3, High: 389.2, Error: 0.3, Clusters: 5, Effective: 1.05}
	r.Fleet.Variants[0].Share, r.Fleet.Variants[0].Sample = wide, wide
	r.Fleet.Variants[0].Strata[0].Interval = wide
	out := strings.Join(strings.Fields(replayOutput(t, r, 160, false)), " ")
	assert.Contains(t, out, "no interval: 5 clusters weigh as much as 1.1 of equal size")
	assert.Contains(t, out, "12.0 %")
	assert.NotContains(t, out, "8830")
	assert.NotContains(t, out, "8,830")
}

func TestHostileFleet(t *testing.T) {
	t.Parallel()
	want := structure(t, replayOutput(t, sampleFleet("plain"), 0, true))
	for _, s := range termtest.Hostile() {
		termtest.CheckTerminal(t, replayOutput(t, sampleFleet(s), 100, false), 100, false)
		if strings.TrimSpace(s) == "" {
			continue
		}
		got := structure(t, replayOutput(t, sampleFleet(s), 0, true))
		for _, kind := range []string{"Heading", "Table", "TableRow", "FencedCodeBlock", "List"} {
			assert.Equal(t, want[kind], got[kind], "%s of %q", kind, s)
		}
		o := compare.Outcome{Variant: s, Baseline: s, Candidate: s, Verdict: "kept", LnPerRequest: ptr(-0.1), MeasuredPerRequest: ptr(-0.05), MeasuredPerRequestLow: ptr(-0.2), MeasuredPerRequestHigh: ptr(0.1)}
		var out bytes.Buffer
		require.NoError(t, report.OutcomesTerminal(&out, []compare.Outcome{o}, report.Options{Width: 90, UTF8: true, Top: 5}))
		termtest.CheckTerminal(t, out.String(), 90, false)
	}
}

func TestOutcomesSayHowFew(t *testing.T) {
	t.Parallel()
	o := compare.Outcome{Variant: "cap", Verdict: "kept", Tasks: 3, LnPerRequest: ptr(-0.1), MeasuredPerRequest: ptr(-0.05), MeasuredPerRequestLow: ptr(-0.2), MeasuredPerRequestHigh: ptr(0.1)}
	var out bytes.Buffer
	require.NoError(t, report.OutcomesTerminal(&out, []compare.Outcome{o}, report.Options{Width: 100, UTF8: true, Top: 5}))
	flat := strings.Join(strings.Fields(out.String()), " ")
	assert.Contains(t, flat, "1 is few")
	assert.Contains(t, flat, "1 of 1 prediction inside")
	assert.Contains(t, flat, "+5.1 % on average", "exp(0.05) - 1")
	many := make([]compare.Outcome, 12)
	for i := range many {
		many[i] = o
	}
	out.Reset()
	require.NoError(t, report.OutcomesMarkdown(&out, many, report.Options{Top: 5}))
	assert.Contains(t, out.String(), "12 of 12 predictions inside")
	assert.NotContains(t, out.String(), "is few")
	assert.Contains(t, out.String(), "7 more outcomes")
}

// sampleFleetAudit is what 500 sessions show. words stand wherever text of a log may.
func sampleFleetAudit(words string) *fleet.Audit {
	interval := &fleet.Interval{Ratio: 0.41, Low: 0.33, High: 0.52, Error: 0.05, Clusters: 480, Effective: 90}
	return &fleet.Audit{
		Sessions: 500, Population: 10_000, Input: &fleet.Distribution{Mean: 117_400, P10: 2_000, Median: 31_000, P90: 290_000, Max: 4_100_000}, TopTenth: ptr(0.62),
		Shares: []fleet.AuditShare{{Name: "all tool results", Basis: "upper bound", Share: interval, SampleError: ptr(0.0123), Touched: 470}},
		Strata: []fleet.AuditGroup{{By: "agent", Value: words, Sessions: 500, Requests: 9_000, Input: 58_700_000, OfAll: 1}},
		Most:   []fleet.AuditHeavy{{Source: words, SessionID: words, File: words, Requests: 310, Input: 4_100_000, OfAll: 0.07}},
	}
}

// TestFleetAuditPage: a page shows what the terminal shows of many sessions, escaped.
func TestFleetAuditPage(t *testing.T) {
	t.Parallel()
	shown := func(words string) string {
		text := auditPage(t, report.HTMLAudit{Audit: sample(), Charts: &analyze.Charts{}, Fleet: sampleFleetAudit(words)})
		return strings.ReplaceAll(text, "\u00a0", " ")
	}
	text := shown("plain")
	want := checkInert(t, parse(t, text))
	for _, part := range []string{"The fleet", "500 of 10,000 sessions", "62.0 %", "41.0 %", "33.0 % to 52.0 %", "By kind of session", "Sessions that sent most", "58.7M"} {
		assert.True(t, strings.Contains(text, part), part)
	}
	for _, s := range append(termtest.Hostile(), `</script><script>alert(1)</script>`, `"><svg onload=alert(1)>`) {
		if strings.TrimSpace(s) == "" {
			continue
		}
		got := checkInert(t, parse(t, shown(s)))
		for _, element := range []string{"script", "style", "svg", "table", "a", "section", "figure", "h1", "h2"} {
			assert.Equal(t, want[element], got[element], "%s with %q", element, s)
		}
	}
}

// TestFleetReplayPage: so does a page of a replay.
func TestFleetReplayPage(t *testing.T) {
	t.Parallel()
	shown := func(words string) string {
		var out bytes.Buffer
		require.NoError(t, report.ReplayHTML(&out, sampleFleet(words), report.ReplayOptions{}))
		return strings.ReplaceAll(out.String(), "\u00a0", " ")
	}
	text := shown("plain")
	want := checkInert(t, parse(t, text))
	for _, part := range []string{"Over the fleet", "2.1 % to 5.2 %", "500 of 10,000 sessions", "by kind of session", "what would lose"} {
		assert.True(t, strings.Contains(text, part), part)
	}
	for _, s := range append(termtest.Hostile(), `"><svg onload=alert(1)>`) {
		if strings.TrimSpace(s) == "" {
			continue
		}
		got := checkInert(t, parse(t, shown(s)))
		for _, element := range []string{"script", "style", "svg", "table", "section", "figure", "h1", "h2"} {
			assert.Equal(t, want[element], got[element], "%s with %q", element, s)
		}
	}
}
