package analyze

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The parts of every request with usage add up to its input, and the stretches of an
// item to the item.
func TestChartsAddUp(t *testing.T) {
	ctx := context.Background()
	db := handBuilt().open(t)
	audit, err := RunAudit(ctx, db)
	require.NoError(t, err)
	charts, err := RunCharts(ctx, db, audit)
	require.NoError(t, err)

	require.NotEmpty(t, charts.Requests)
	for _, r := range charts.Requests {
		sum := 0.0
		for _, p := range r.Parts {
			sum += p.Tokens
		}
		if r.InputTokens != nil {
			assert.InDelta(t, *r.InputTokens, sum, 1e-6, "request %d", r.Request)
		}
	}
	require.NotEmpty(t, charts.Lifetimes)
	for _, l := range charts.Lifetimes {
		carried, requests := int64(0), int64(0)
		for _, s := range l.Spans {
			carried += s.Tokens * s.Requests
			requests += s.Requests
			assert.LessOrEqual(t, l.FirstRequest, s.First)
			assert.GreaterOrEqual(t, l.LastRequest, s.Last)
		}
		assert.Equal(t, l.CarriedTokens, carried, "item %d", l.Item)
		assert.Equal(t, l.Requests, requests, "item %d", l.Item)
	}
	for i := range audit.TopItems {
		assert.Equal(t, audit.TopItems[i], charts.Items[i])
	}
}

func TestChartsOfNothing(t *testing.T) {
	ctx := context.Background()
	db := tables{}.open(t)
	charts, err := RunCharts(ctx, db, &Audit{})
	require.NoError(t, err)
	assert.Empty(t, charts.Requests)
	texts, err := ItemTexts(ctx, db, charts)
	require.NoError(t, err)
	assert.Empty(t, texts)
}

func TestLargestSession(t *testing.T) {
	session := func(id string, input *int64, counted int64) SessionSummary {
		return SessionSummary{SessionID: id, Own: Totals{InputTokens: input, CountedTokens: counted}}
	}
	reported := session("reported", ptr(int64(900)), 5)
	reported.Own.ReportedSessions = 1
	for _, c := range []struct {
		want string
		of   []SessionSummary
	}{
		{"", nil},
		{"b", []SessionSummary{session("a", ptr(int64(1)), 9), session("b", ptr(int64(2)), 3)}},
		{"a", []SessionSummary{session("a", ptr(int64(1)), 1), session("b", nil, 99)}},
		{"b", []SessionSummary{session("a", nil, 1), session("b", nil, 99)}},
		{"b", []SessionSummary{reported, session("b", ptr(int64(2)), 3)}},
	} {
		assert.Equal(t, c.want, largest(c.of))
	}
}
