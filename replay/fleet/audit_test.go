package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay/fleet"
)

// TestAuditByHand: three sessions of 100, 300 and 600 tokens, of which 50, 270 and
// 480 were read from the cache; a technique touches 10, 0 and 90 of them.
func TestAuditByHand(t *testing.T) {
	t.Parallel()
	row := func(id, model string, requests, input, read, bound int64) fleet.AuditRow {
		return fleet.AuditRow{Session: fleet.Session{Source: "codex", ID: id, Root: id, Model: model}, Requests: requests, Input: &input, CacheRead: &read, USD: new(input * 1_000_000), Bounds: []int64{bound}}
	}
	rows := []fleet.AuditRow{row("a", "m", 2, 100, 50, 10), row("b", "n", 20, 300, 270, 0), row("c", "m", 200, 600, 480, 90)}
	a := fleet.AuditOf(rows, []string{"filter"}, 3, 2)
	assert.Equal(t, fleet.AuditOf([]fleet.AuditRow{rows[2], rows[0], rows[1]}, []string{"filter"}, 3, 2), a, "in any order")
	assert.InDelta(t, 300, a.Input.Median, 1e-12)
	assert.InDelta(t, 1000.0/3, a.Input.Mean, 1e-9)
	assert.InDelta(t, 0.3, a.CostUSD.Median, 1e-12)
	assert.InDelta(t, 0.6, *a.TopTenth, 1e-12, "one of three")
	require.Len(t, a.Shares, 2)
	assert.InDelta(t, 0.8, a.Shares[0].Share.Ratio, 1e-12)
	assert.InDelta(t, 0.1, a.Shares[1].Share.Ratio, 1e-12)
	assert.EqualValues(t, 2, a.Shares[1].Touched)
	assert.InDelta(t, 0.1, a.Shares[1].PerSession.Median, 1e-12, "0.1, 0 and 0.15")
	assert.Nil(t, a.Shares[0].SampleError)
	assert.Equal(t, []string{"c", "b"}, []string{a.Most[0].SessionID, a.Most[1].SessionID})
	sums := map[string]int64{}
	for _, g := range a.Strata {
		sums[g.By] += g.Input
	}
	assert.Equal(t, map[string]int64{"agent": 1000, "model": 1000, "length": 1000}, sums)
	require.NotNil(t, fleet.AuditOf(rows, []string{"filter"}, 30, 2).Shares[0].SampleError)
}
