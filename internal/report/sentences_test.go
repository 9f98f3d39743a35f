package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
)

// Every sentence must be true for one, for many and for none.
func TestSentences(t *testing.T) {
	two := func(a *analyze.Audit) { a.Sessions = append(a.Sessions, a.Sessions[0]); a.Totals.Sessions = 2 }
	for _, c := range []struct {
		name      string
		change    func(*analyze.Audit)
		want, not string
	}{
		{"one left out", func(a *analyze.Audit) { a.LeftOut.SubAgentSessions = 1 }, "Left out: 1 sub-agent session, whose log was not among those read. Name the folder that holds it", "sessions, whose"},
		{"some left out", func(*analyze.Audit) {}, "Left out: 2 sub-agent sessions, whose logs were not among those read. Name the folder that holds them", ""},
		{"none left out", func(a *analyze.Audit) { a.LeftOut = analyze.LeftOut{} }, "", "Left out"},
		{"deselected", func(a *analyze.Audit) { a.LeftOut = analyze.LeftOut{Deselected: 1} }, "Deselected: 1 sub-agent session of the sessions shown", "Left out"},
		{"nothing measured", func(a *analyze.Audit) {
			a.Totals = analyze.Totals{Sessions: 1, Requests: 7, AnsweredRequests: 7, RequestsWithoutUsage: 7, RequestsWithoutOutput: 7}
		}, "input – not logged uncached – cache read – cache write – output – not logged", "responses logged an early"},
		{"partly measured", func(a *analyze.Audit) {
			a.Totals.RequestsWithoutUsage, a.Totals.RequestsWithoutOutput = 1, 2
		}, "everything sent · partial: unknown for 1 of 119 responses · measured", ""},
		{"parts partly measured", func(a *analyze.Audit) { a.Totals.RequestsWithoutUsage = 3 }, "▍ partial output", ""},
		{"output partly measured", func(a *analyze.Audit) { a.Totals.RequestsWithoutOutput = 2 }, "20,264 reasoning · partial: unknown for 2 of 119 responses · measured", "responses logged an early"},
		{"more content than input", func(a *analyze.Audit) {
			a.Composition[len(a.Composition)-1].Share = ptr(-3.5)
		}, "add up to more than 100 %", ""},
		{"all events of a request", func(*analyze.Audit) {}, "C compaction (1) × cache break (2) | new run (2)", ""},
		{"one log", func(*analyze.Audit) {}, "What the log does not hold", "logs do"},
		{"two logs", two, "What the logs do not hold", "log does"},
		{"no call", func(a *analyze.Audit) { a.Totals.Calls, a.Totals.RepeatedCalls, a.Totals.RepeatedCallsStrict = 0, 0, 0 }, "None: no tool was called.", "FreeCode's definition"},
		{"no repeat", func(a *analyze.Audit) {
			a.Totals.Calls, a.Totals.RepeatedCalls, a.Totals.RepeatedCallsStrict, a.RepeatedCalls = 1, 0, 0, nil
		}, "None of 1 call.", "FreeCode's definition"},
		{"one poll", func(a *analyze.Audit) {
			a.Polling = analyze.Polling{Episodes: 1, Polls: 1, RequestsLow: 1, RequestsHigh: 1, Basis: analyze.Estimated}
		}, "1 poll in 1 episode. Waiting took 1 request:", "of its own"},
		{"polls", func(a *analyze.Audit) {
			a.Polling = analyze.Polling{Episodes: 2, Polls: 5, EmptyPolls: 3, PiggyBacked: 2, RequestsHigh: 3}
		}, "5 polls in 2 episodes, 3 of them without news; 2 came along with other work and cost no request of their own. Waiting took 0–3 requests:", ""},
		{"nothing known of other calls", func(a *analyze.Audit) {
			a.OtherBilled = []analyze.OtherBilled{{Kind: "compaction", Calls: 1, Estimate: true}}
		}, "compaction 1 – – – How", ""},
		{"a factor that may be anything", func(a *analyze.Audit) { a.Counting[0].FactorLow = ptr(-0.43) }, "1.000 (unsure)", "-0.43"},
		{"places in one folder", func(a *analyze.Audit) {
			a.Problems = []analyze.Problem{{File: "/home/me/.codex/other/b.jsonl", Line: 2, Kind: "bad-json", Detail: "d", Count: 1}, {File: "/home/me/.codex", Kind: "skipped", Detail: "e", Count: 1}, {Kind: "skipped", Detail: "f", Count: 3}}
		}, ".codex/other/b.jsonl:2 bad-json 1 d .codex skipped 1 e several places skipped 3 f", "/home/me/.codex/other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := sample()
			c.change(a)
			out := strings.Join(strings.Fields(terminal(t, a, report.Options{Width: 160, UTF8: true})), " ")
			assert.Contains(t, out, c.want)
			if c.not != "" {
				assert.NotContains(t, out, c.not)
			}
		})
	}
}
