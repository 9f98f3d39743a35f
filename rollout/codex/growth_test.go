package codex

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// growth is one step between two requests of a turn: what the input grew by
// beyond the first one's output, and the size of the input added in between.
type growth struct {
	recorded, counted float64
	calls             int
}

// growths lists the steps of a session. A response that searched the web has
// results in its input that the log does not hold; it is left out.
func growths(s *rollout.Session, size func(string) int64) []growth {
	searched := map[int]bool{}
	for _, c := range s.Calls {
		searched[c.Request] = searched[c.Request] || c.Tool == "web_search"
	}
	starts := map[int][]rollout.Span{}
	for _, sp := range s.Spans {
		starts[sp.First] = append(starts[sp.First], sp)
	}
	var out []growth
	for i := 1; i < len(s.Requests); i++ {
		a, b := s.Requests[i-1], s.Requests[i]
		if a.Run != b.Run || a.Usage.Input == nil || b.Usage.Input == nil || searched[i-1] || searched[i] || *b.Usage.Input < *a.Usage.Input/2 {
			continue
		}
		g := growth{recorded: float64(*b.Usage.Input - *a.Usage.Input - *a.Usage.Output)}
		for _, sp := range starts[b.Number] {
			switch it := s.Items[sp.Item]; {
			case it.Request < 0:
				g.counted += float64(size(s.Texts[sp.Text].S))
			case it.Kind == rollout.ToolCall:
				g.calls++
			}
		}
		out = append(out, g)
	}
	return out
}

func correlation(steps []growth) float64 {
	var n, sx, sy, sxx, syy, sxy float64
	for _, g := range steps {
		n++
		sx, sy = sx+g.counted, sy+g.recorded
		sxx, syy, sxy = sxx+g.counted*g.counted, syy+g.recorded*g.recorded, sxy+g.counted*g.recorded
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}

func charsBy4(text string) int64 { return int64(len([]rune(text)) / 4) }

// TestGrowth: within a turn the input grows by the previous output, the new
// items and a few tokens a call. Usage paired with the wrong response shows as a
// low correlation at once.
func TestGrowth(t *testing.T) {
	for name := range knownTotals {
		t.Run(name, func(t *testing.T) {
			s := readOne(t, devdata.Dir(t, "codex", name))
			r := correlation(growths(s, charsBy4))
			t.Logf("%d steps, correlation %.4f", len(growths(s, charsBy4)), r)
			assert.Greater(t, r, 0.8)
		})
	}
}

// TestGrowthExact counts the new items with the models' own encoding: from 0.104
// on nothing is left but ten tokens a call. (Before, reasoning was reported in
// steps of 64 tokens, which leaves 0 to 63.)
func TestGrowthExact(t *testing.T) {
	counter := tokens.New()
	count := func(text string) int64 { return counter.Count("o200k_base", text) }
	for name := range knownTotals {
		t.Run(name, func(t *testing.T) {
			s := readOne(t, devdata.Dir(t, "codex", name))
			var rest []float64
			for _, g := range growths(s, count) {
				rest = append(rest, g.recorded-g.counted-10*float64(g.calls))
			}
			require.NotEmpty(t, rest)
			slices.Sort(rest)
			low, middle, high := rest[len(rest)/20], rest[len(rest)/2], rest[len(rest)*19/20]
			t.Logf("%d steps, rest %v … %v … %v", len(rest), low, middle, high)
			if strings.HasPrefix(s.AgentVersion, "0.5") {
				assert.InDelta(t, 32, middle, 32)
				assert.InDelta(t, 32, high, 40)
				return
			}
			assert.InDelta(t, 0, low, 10)
			assert.InDelta(t, 0, middle, 2)
			assert.InDelta(t, 0, high, 10)
		})
	}
}
