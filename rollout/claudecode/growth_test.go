package claudecode

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// growth is one step of a chain: by how much the recorded input grew, and the
// rough size of what the rebuilt payload gained and lost.
type growth struct {
	recorded, rebuilt float64
	line              int
}

// steps compares consecutive requests of each chain without compaction between
// them: the input grows by what was put in. Items are sized at 3 characters a
// token, final outputs at their usage.
func steps(s *rollout.Session) []growth {
	type key struct{ chain, number int }
	change := map[key]float64{}
	for _, sp := range s.Spans {
		text := s.Texts[sp.Text]
		size := float64(text.Chars) / 3
		if sp.Tokens != nil {
			size = float64(*sp.Tokens)
		}
		if text.Opaque && sp.Tokens == nil {
			size = 0
		}
		if r := s.Items[sp.Item].Request; r >= 0 && s.Requests[r].OutputFinal && sp.First == s.Requests[r].Number+1 {
			size = 0
		}
		change[key{sp.Chain, sp.First}] += size
		change[key{sp.Chain, sp.Last + 1}] -= size
	}
	last := map[int]*rollout.Request{}
	var out []growth
	for i := range s.Requests {
		r := &s.Requests[i]
		before := last[r.Chain]
		last[r.Chain] = r
		if before == nil || r.Usage.Input == nil || before.Usage.Input == nil || before.Model != r.Model {
			continue
		}
		g := growth{recorded: float64(*r.Usage.Input - *before.Usage.Input), rebuilt: change[key{r.Chain, r.Number}], line: r.Line}
		if before.OutputFinal {
			g.rebuilt += float64(*before.Usage.Output)
		}
		if g.recorded > -1000 && g.rebuilt > -1000 {
			out = append(out, g)
		}
	}
	return out
}

// explained fits recorded = slope x rebuilt + framing by least absolute
// deviations over a grid, and scores it.
func explained(gs []growth) (share, slope, framing float64) {
	var total float64
	for _, g := range gs {
		total += math.Abs(g.recorded)
	}
	best := math.Inf(1)
	for s := 0.6; s <= 2.2; s += 0.02 {
		for f := 0.0; f <= 60; f += 5 {
			var off float64
			for _, g := range gs {
				off += math.Abs(g.recorded - s*g.rebuilt - f)
			}
			if off < best {
				best, slope, framing = off, s, f
			}
		}
	}
	return 1 - best/total, slope, framing
}

// A wrong rebuild shows here: dropping the parallel results of one session, or
// counting one twice, costs more than the slack below the figures reached with
// this rough size of a token (0.73 to 0.95, median 0.91).
func TestGrowthIsExplained(t *testing.T) {
	var shares []float64
	for _, k := range known {
		t.Run(k.file, func(t *testing.T) {
			var gs []growth
			for _, s := range readAll(t, devdata.Dir(t, "claude", k.file)) {
				gs = append(gs, steps(s)...)
			}
			share, slope, framing := explained(gs)
			t.Logf("%d steps: %.3f explained, slope %.2f, framing %.0f", len(gs), share, slope, framing)
			for _, g := range gs {
				if d := g.recorded - slope*g.rebuilt - framing; math.Abs(d) > 1500 {
					t.Logf("   line %d: recorded %.0f, rebuilt %.0f", g.line, g.recorded, g.rebuilt)
				}
			}
			assert.Greater(t, share, 0.7)
			shares = append(shares, share)
		})
	}
	if slices.Sort(shares); len(shares) == len(known) {
		assert.Greater(t, shares[len(shares)/2], 0.9)
	}
}
