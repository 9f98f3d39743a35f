package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze/dataset"
)

// Content scaled by a factor of 2: a prompt of 100 tokens in two requests is
// 100 x 2 x 2 = 400 of the provider's, 400 of 900 input in both tables.
func TestTopItemsAgreeWithComposition(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a", Encoding: "o200k_base"})
	for _, counted := range []int64{100, 300} {
		r := usage(2*counted+50, 0, 0, counted, 10)
		r.CalibratedTokens, r.UnloggedTokens = ptr(2*counted), ptr(int64(40))
		b.request("a", r)
	}
	b.carry("a", "user_text", "", 100, 1, 2)
	b.carry("a", "tool_result", "bash", 150, 2, 2)
	a := audit(t, b.tables)
	for i, want := range []struct{ raw, billed float64 }{{200, 400}, {150, 300}} {
		assert.InDelta(t, want.raw, a.TopItems[i].CarriedTokens, 0)
		assert.InDelta(t, want.billed, *a.TopItems[i].BilledTokens, 1e-9)
		assert.InDelta(t, want.billed/900, *a.TopItems[i].Share, 1e-9)
		assert.InDelta(t, *a.Composition[i].BilledTokens, *a.TopItems[i].BilledTokens, 1e-9)
	}
}

// Without usage there is nothing to count in, and nothing to have a share of.
func TestTopItemsWithoutUsage(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", dataset.Request{CountedTokens: 100})
	b.carry("a", "user_text", "", 100, 1, 1)
	a := audit(t, b.tables)
	assert.Nil(t, a.TopItems[0].BilledTokens)
	assert.Nil(t, a.TopItems[0].Share)
	assert.Equal(t, []CostBasis{{Model: ptr("m1"), Basis: "no-usage", Requests: 1}}, a.CostBasis)
}

func TestCostBasis(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	with := func(model *string, change func(*dataset.Request)) {
		r := usage(100, 0, 10, 100, 0)
		r.Model = model
		if change != nil {
			change(&r)
		}
		b.request("a", r)
	}
	for range 3 {
		with(ptr("listed"), nil)
	}
	for range 2 {
		with(ptr("mine"), nil)
	}
	with(ptr("other"), nil)
	with(ptr("listed"), func(r *dataset.Request) { r.Subscription = true })
	with(ptr("listed"), func(r *dataset.Request) { r.OutputTokens = nil })
	with(ptr("listed"), func(r *dataset.Request) { r.InputTokens, r.OutputTokens, r.Status = nil, nil, "failed" })
	with(ptr("listed"), func(r *dataset.Request) { r.Inherited = true })
	b.prices = []Price{
		{Model: "listed", Input: ptr(2.0), Output: ptr(5.0), Date: "2026-10-24"},
		{Model: "mine", Input: ptr(2.0), Output: ptr(5.0), File: "/p/prices.json"},
	}
	a := audit(t, b.tables)
	assert.Equal(t, []CostBasis{
		{Model: ptr("listed"), Basis: "priced", Requests: 3, PriceDate: ptr("2026-10-24")},
		{Model: ptr("mine"), Basis: "priced", Requests: 2, PriceFile: ptr("/p/prices.json")},
		{Model: ptr("listed"), Basis: "no-usage", Requests: 1},
		{Model: ptr("listed"), Basis: "subscription", Requests: 1},
		{Model: ptr("other"), Basis: "no-price", Requests: 1},
	}, a.CostBasis)
}
