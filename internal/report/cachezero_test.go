package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/replay"
)

// 0 tokens read from the cache is a figure; none logged is not.
func TestCacheSectionKnowsZero(t *testing.T) {
	zero := int64(0)
	r := &replay.Report{Baseline: replay.Totals{CacheReadTokens: &zero}}
	assert.Contains(t, cacheSection(r).prose[0], "read nothing from a cache")
	assert.NotContains(t, cacheSection(r).prose[0], "No request here has cache figures")
	assert.Contains(t, cacheSection(&replay.Report{}).prose[0], "No request here has cache figures")
}

// Break-even of what costs more says so, whatever makes it dearer.
func TestBreakEvenNone(t *testing.T) {
	less, more, n := int64(500), int64(-500), 3.0
	usdLess, usdMore, none := 0.5, -0.5, 0.0
	assert.Equal(t, "3 / 3", breakEvenOf(replay.Estimate{StaticSavingTokens: &less, StaticSavingUSD: &usdLess, BreakEvenRequestsTokens: &n, BreakEvenRequestsUSD: &n}))
	assert.Equal(t, "none", breakEvenOf(replay.Estimate{StaticSavingTokens: &more, StaticSavingUSD: &usdMore, BreakEvenRequestsTokens: &none, BreakEvenRequestsUSD: &none}))
	assert.Equal(t, "none", breakEvenOf(replay.Estimate{StaticSavingTokens: &more, StaticSavingUSD: &usdMore}))
	assert.Equal(t, "3 / none", breakEvenOf(replay.Estimate{StaticSavingTokens: &less, StaticSavingUSD: &usdMore, BreakEvenRequestsTokens: &n, BreakEvenRequestsUSD: &none}))
	assert.Equal(t, "– / –", breakEvenOf(replay.Estimate{}))
}
