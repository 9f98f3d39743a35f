package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
)

func TestCostLine(t *testing.T) {
	listed := func(model, date string) analyze.CostBasis {
		return analyze.CostBasis{Model: &model, Basis: "priced", Requests: 10, PriceDate: &date}
	}
	mine := analyze.CostBasis{Model: ptr("m"), Basis: "priced", Requests: 10, PriceFile: ptr("/p/prices.json")}
	for _, c := range []struct {
		name  string
		known bool
		basis []analyze.CostBasis
		want  string
	}{
		{"one list", true, []analyze.CostBasis{listed("a", "2026-10-24")}, "list prices of 2026-10-24 · estimated"},
		{"dates differ", true, []analyze.CostBasis{listed("a", "2026-10-24"), listed("b", "2026-03-01")}, "list prices of 2026-03-01 to 2026-10-24 · estimated"},
		{"no date", true, []analyze.CostBasis{listed("a", "")}, "list prices · estimated"},
		{"overridden", true, []analyze.CostBasis{mine}, "prices from /p/prices.json · estimated"},
		{"partly overridden", true, []analyze.CostBasis{listed("a", "2026-10-24"), mine}, "list prices of 2026-10-24, with overrides from /p/prices.json · estimated"},
		{"subscription", false, []analyze.CostBasis{{Model: ptr("a"), Basis: "subscription", Requests: 3}}, "unknown: paid by subscription"},
		{"no price", false, []analyze.CostBasis{{Model: ptr("new-7"), Basis: "no-price", Requests: 3}}, "unknown: no price for model new-7"},
		{"no model", false, []analyze.CostBasis{{Basis: "no-price", Requests: 3}}, "unknown: model not logged"},
		{"no usage", false, []analyze.CostBasis{{Model: ptr("a"), Basis: "no-usage", Requests: 3}}, "unknown: usage not logged"},
		{"nothing answered", false, nil, "unknown: no request was answered"},
		{"a part", true, []analyze.CostBasis{
			{Model: ptr("x"), Basis: "no-usage", Requests: 2}, {Basis: "no-price", Requests: 3}, listed("a", "2026-10-24"), {Model: ptr("y"), Basis: "no-usage", Requests: 2},
		}, "partial, without 7 requests: usage not logged (4), model not logged (3) · list prices of 2026-10-24 · estimated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := sample()
			a.CostBasis = c.basis
			if !c.known {
				a.Totals.CostUSD = nil
			}
			out := terminal(t, a, report.Options{Width: 160, UTF8: true})
			line := out[strings.Index(out, "  cost"):strings.Index(out, "  peak context")]
			assert.Contains(t, strings.Join(strings.Fields(line), " "), c.want)
		})
	}
}

// Both tables show the provider's tokens: figure ÷ share is the input, in either.
func TestTablesAgreeOnTokens(t *testing.T) {
	a := sample()
	input := int64(1_730_000)
	a.Totals.InputTokens = &input
	a.Composition = []analyze.Share{{Kind: "tool_result", Tool: ptr("read"), Items: 1, Tokens: 9_000, CarriedTokens: 463_000, BilledTokens: ptr(453_260.0), Share: ptr(0.262)}}
	a.TopItems = []analyze.TopItem{{Kind: "tool_result", Tool: ptr("read"), What: ptr("a.go"), Tokens: 9_000, CarriedTokens: 463_000, BilledTokens: ptr(453_260.0), Share: ptr(0.262)}}
	out := terminal(t, a, report.Options{Width: 100, UTF8: true})
	assert.Equal(t, 2, strings.Count(out, "453K  26.2 %"), "0.262 x 1,730,000 = 453,260")
	assert.NotContains(t, out, "463K")

	a.TopItems[0].BilledTokens, a.TopItems[0].Share = nil, nil
	assert.Contains(t, terminal(t, a, report.Options{Width: 100, UTF8: true}), "463K      –")
}

// A chart ends at the number of the last request, though one of 54 has no usage.
func TestChartNumbersRequests(t *testing.T) {
	a := sample()
	a.Growth = nil
	for n := int64(1); n <= 54; n++ {
		if n != 20 {
			a.Growth = append(a.Growth, analyze.GrowthPoint{Request: n, InputTokens: ptr(1000 * n)})
		}
	}
	out := terminal(t, a, report.Options{Width: 80, UTF8: true})
	assert.Regexp(t, `(?m)^ +1 +request 54$`, out)
	a.Growth = a.Growth[30:] // requests 32 to 54: those before were copied from elsewhere
	assert.Regexp(t, `(?m)^ +32 +request 54$`, terminal(t, a, report.Options{Width: 80, UTF8: true}))
}
