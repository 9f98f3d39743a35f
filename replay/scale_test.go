package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// tenUses edit every tool result in ten ways: half of them early, half late.
func tenUses() []Use {
	var uses []Use
	for n := range 10 {
		v := Variant{Name: fmt.Sprint("cut", n), Plan: func(v View, _ Values) Plan {
			p := Plan{}
			for span, sp := range v.Session.Spans {
				if v.Kind(span) != rollout.ToolResult || v.Opaque(span) {
					continue
				}
				from := sp.First
				if n%2 == 1 {
					from = min(sp.Last, sp.First+n)
				}
				s := v.Text(span)
				p.Edits = append(p.Edits, Edit{Span: span, From: from, Text: s[:len(s)*n/10], Call: -1, Lossy: true, Why: "test"})
			}
			return p
		}}
		uses = append(uses, Use{Name: v.Name, Steps: []Step{{Variant: v}}})
	}
	return uses
}

// Seven sessions that add up to 59 million input tokens, under ten variants.
func TestLargeSessionsUnderTenVariants(t *testing.T) {
	recs := recordings(t, devdata.Dir(t, "freecode", "large-seven"))
	e := engine(t)
	start := time.Now()
	r, err := e.Run(t.Context(), recs, tenUses(), RunOptions{Workers: 1})
	require.NoError(t, err)
	took := time.Since(start)
	t.Logf("%.3f s", took.Seconds())
	assert.Less(t, took.Seconds(), 5.0)
	require.Len(t, r.Variants, 10)
	for _, v := range r.Variants {
		assert.LessOrEqual(t, *v.StaticSavingTokens, *r.Baseline.InputTokens)
		assert.GreaterOrEqual(t, *v.StaticSavingTokens, int64(0))
	}
}

func BenchmarkLargeSession(b *testing.B) {
	recs := recordings(b, devdata.Dir(b, "freecode", "large-seven"))
	e := engine(b)
	uses := tenUses()
	for b.Loop() {
		_, err := e.Run(b.Context(), recs, uses, RunOptions{Workers: 1})
		require.NoError(b, err)
	}
}

// Time must grow with the distinct text, not with requests × items: ten times the
// length may take little more than ten times as long.
func TestTimeGrowsWithTheSession(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	measure := func(n int) time.Duration {
		h := newHand("claude-x", 2000)
		input := int64(2000)
		for range n {
			h.text(rollout.ToolResult, 10)
			input += 10
			h.request(time.Minute, input, input-10, 10)
		}
		s := h.Finish()
		rec := Recording{s, sizesByLength(s)}
		plan := Plan{}
		for span, sp := range s.Spans {
			plan.Edits = append(plan.Edits, edit(span, sp.First, 5))
		}
		e := handEngine(t)
		start := time.Now()
		e.Evaluate(rec, plan, false)
		return time.Since(start)
	}
	measure(1000)
	small, large := measure(3000), measure(30000)
	assert.Less(t, large, 40*small+time.Second, "%v for 3,000 requests, %v for 30,000", small, large)
}
