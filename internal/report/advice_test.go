package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
)

func TestAdvice(t *testing.T) {
	saving := func(technique string, carried int64, share float64, basis analyze.Basis) analyze.Saving {
		return analyze.Saving{Technique: technique, AddressableCarriedTokens: ptr(carried), Share: ptr(share), Basis: basis}
	}
	for _, c := range []struct {
		name      string
		change    func(*analyze.Audit)
		want, not string
	}{
		{"the largest first", func(a *analyze.Audit) {
			a.Savings = []analyze.Saving{saving("line-number-prefixes", 270_000, 0.03, analyze.Counted), saving("output-compression", 900_000, 0.1, analyze.Calibrated)}
		}, "First: compress the output of shell commands. At most 900K tokens, 10.0 % of the input · fairly sure: counted and scaled to the provider's tokens. Second: drop the line numbers", "Third"},
		{"three at most", func(a *analyze.Audit) {
			for _, technique := range []string{"output-compression", "line-number-prefixes", "recurring-block", "serial-chains", "cache-breaks"} {
				a.Savings = append(a.Savings, saving(technique, 900_000, 0.1, analyze.Counted))
			}
		}, "Third: ", "Fourth"},
		{"below the noise", func(a *analyze.Audit) {
			a.Savings = []analyze.Saving{saving("output-compression", 90_000, 0.0199, analyze.Counted)}
		}, "Nothing stands out: no known technique could touch more than 2.0 % of what was sent.", "fclog replay PATH"},
		{"no usage", func(a *analyze.Audit) {
			a.Totals = analyze.Totals{Sessions: 1, Requests: 7, CountedTokens: 1000}
			a.Savings = []analyze.Saving{{Technique: "output-compression", AddressableCarriedTokens: ptr(int64(400)), Basis: analyze.Counted}}
		}, "At most 400 tokens, 40.0 % of what was counted · sure: counted. These are upper bounds", "measured by the provider"},
		{"tool definitions are not logged", func(a *analyze.Audit) {
			a.Savings = []analyze.Saving{saving("recurring-block", 900_000, 0.1, analyze.Estimated)}
		}, "never add them up. How sure this is.", "drop-unused-tools"},
		{"why the cache broke", func(a *analyze.Audit) {
			a.Savings = []analyze.Saving{saving("cache-breaks", 900_000, 0.1, analyze.Measured)}
			a.CacheBreaks = []analyze.CacheBreak{{Cause: "lifetime", Requests: 1, LostTokens: 9}, {Cause: "run-border", Requests: 3, LostTokens: 10}}
		}, "because the cached prefix ended, in 3 requests because a new run began. That costs money, not tokens", "expired"},
		{"weighed by pairs", func(a *analyze.Audit) {
			a.Counting = []analyze.Counting{{Explained: ptr(1.0), Pairs: 10}, {Explained: ptr(0.7), Pairs: 30}, {}}
		}, "explains 77.5 % of the recorded growth, so shares of single pieces may be off", ""}, // (10 + 21) / 40
	} {
		t.Run(c.name, func(t *testing.T) {
			a := sample()
			a.Savings = nil
			c.change(a)
			out := strings.Join(strings.Fields(terminal(t, a, report.Options{Width: 160, UTF8: true})), " ")
			assert.Contains(t, out, c.want)
			if c.not != "" {
				before, _, _ := strings.Cut(out, "Where the tokens went")
				assert.NotContains(t, before[strings.Index(before, "What to change first"):], c.not)
			}
		})
	}
}
