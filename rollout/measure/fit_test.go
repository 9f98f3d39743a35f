package measure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// conversation simulates a provider: it counts what each request carries with a
// factor and a framing of its own, on top of an unlogged prompt.
type conversation struct {
	b               *rollout.Builder
	chain           *rollout.Chain
	model           string
	factor, framing float64
	resend          bool // reasoning is sent again, as reported
	input           float64
}

func newConversation(model string, factor, framing float64) *conversation {
	b := rollout.NewBuilder("test")
	b.Session.ID = "s"
	return &conversation{b: b, chain: b.Chain(), model: model, factor: factor, framing: framing, input: 5000}
}

// text makes n tokens: a space and a short common word each.
func (c *conversation) text(n int) rollout.TextID {
	return c.b.Text(strings.Repeat(" the", n))
}

func (c *conversation) add(kind rollout.ItemKind, n int) {
	c.chain.Add(rollout.SlotConversation, c.b.Item(rollout.Item{Kind: kind, Origin: rollout.Logged, Request: -1, Text: c.text(n)}))
	c.input += c.factor*float64(n) + c.framing
}

// answer sends a request and gets a response of the given visible and hidden tokens,
// all in the provider's measure.
func (c *conversation) answer(visible int, hidden int64, final bool) int {
	in, out := int64(math.Round(c.input)), int64(math.Round(c.factor*float64(visible)))+hidden
	r := rollout.Request{Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Model: c.model,
		Usage: rollout.Usage{Input: &in, Output: &out}, OutputFinal: final}
	i := c.chain.Request(r)
	c.chain.Add(rollout.SlotConversation, c.b.Item(rollout.Item{Kind: rollout.AssistantText, Origin: rollout.Logged, Request: i, Text: c.text(visible)}))
	if c.resend {
		c.chain.Add(rollout.SlotConversation, c.b.Item(rollout.Item{Kind: rollout.Reasoning, Origin: rollout.Logged, Request: i, Text: c.b.OpaqueText(fmt.Sprint("sealed", i))}))
		c.input += float64(out)
		return i
	}
	c.input += c.factor*float64(visible) + c.framing
	return i
}

func (c *conversation) finish(t require.TestingT) *rollout.Session {
	s := c.b.Finish()
	require.NoError(t, rollout.Check(s))
	return s
}

func calibrationOf(m *Measured, fit Fit, kind rollout.ItemKind) Calibration {
	for _, c := range m.Calibration {
		if c.Fit == fit && c.Kind == kind {
			return c
		}
	}
	return Calibration{}
}

// Whatever the provider's factor and framing, the fit finds them, and what is left
// is the unlogged prompt.
func TestFitFindsTheProvidersMeasure(t *testing.T) {
	counter := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		factor := float64(rapid.IntRange(80, 200).Draw(t, "factor")) / 100
		framing := float64(rapid.IntRange(0, 60).Draw(t, "framing"))
		c := newConversation("claude-x", factor, framing)
		c.resend = rapid.Bool().Draw(t, "resend")
		for k := range 24 {
			for range 1 + k%3 {
				c.add(rollout.ToolResult, rapid.IntRange(10, 3000).Draw(t, "result"))
			}
			c.answer(rapid.IntRange(5, 200).Draw(t, "visible"), int64(rapid.IntRange(50, 900).Draw(t, "hidden")), true)
		}
		s := c.finish(t)
		m := Measure(s, counter)
		got := calibrationOf(m, FitAll, "")
		assert.InDelta(t, factor, got.Factor, 0.01)
		assert.InDelta(t, framing, got.FramingPerMessage, 2)
		assert.Equal(t, c.resend, !strings.HasSuffix(got.Method, TextSuffix))
		for i := range s.Requests {
			assert.InDelta(t, 5000, *m.Requests[i].Unlogged, 150, "request %d", i)
		}
		assert.Greater(t, *Explained(s, m, "claude-x").Explained, 0.98)
	})
}

func TestPublicEncodingKeepsFactorOne(t *testing.T) {
	c := newConversation("gpt-5", 1, 7)
	c.resend = true
	for k := range 10 {
		c.add(rollout.ToolResult, 100+k*10)
		c.answer(20, 100, true)
	}
	m := Measure(c.finish(t), tokens.New())
	got := calibrationOf(m, FitAll, "")
	assert.True(t, m.Public)
	assert.Equal(t, MethodPublic, got.Method)
	assert.Equal(t, 1.0, got.Factor)
	assert.InDelta(t, 7, got.FramingPerMessage, 0.01)
	assert.Equal(t, int64(9), got.Pairs)                                      // ten requests make nine pairs
	assert.Equal(t, int64(5), calibrationOf(m, FitEven, "").Pairs)            // to 2, 4, 6, 8, 10
	assert.Equal(t, 4, Explained(c.b.Session, m, "gpt-5").Pairs)              // to 3, 5, 7, 9
	assert.Equal(t, MethodConstant, calibrationOf(m, FitAll, "image").Method) // a price is no count
}

func TestFewPairsFallBackToTheDefault(t *testing.T) {
	c := newConversation("claude-x", 2, 50)
	c.resend = true
	c.add(rollout.UserText, 100)
	c.answer(20, 100, true)
	c.add(rollout.ToolResult, 100)
	c.answer(20, 100, true)
	got := calibrationOf(Measure(c.finish(t), tokens.New()), FitAll, "")
	assert.Equal(t, MethodDefault, strings.TrimSuffix(got.Method, TextSuffix))
	assert.Equal(t, 1.15, got.Factor)
}

func TestPairsThatTellNothingAreLeftOut(t *testing.T) {
	c := newConversation("claude-x", 1, 0)
	big := c.b.Item(rollout.Item{Kind: rollout.ToolResult, Origin: rollout.Logged, Request: -1, Text: c.text(1500)})
	entry := c.chain.Add(rollout.SlotConversation, big)
	c.answer(10, 0, false) // its output is a snapshot
	c.answer(10, 0, true)
	c.chain.Remove(entry) // 1,500 tokens leave
	c.answer(10, 0, true)
	c.input -= 1200 // the input falls without a reason in the log
	c.answer(10, 0, true)
	c.add(rollout.Summary, 20)
	c.answer(10, 0, true)
	s := c.finish(t)
	var reasons []string
	for _, p := range pairs(s, Measure(s, tokens.New())) {
		reasons = append(reasons, p.leftOut)
	}
	assert.Equal(t, []string{NonFinal, Removed, Cleared, Removed}, reasons)
}

func TestPairsStayInTheirChainRunAndModel(t *testing.T) {
	in := int64(10)
	request := func(c *rollout.Chain, change func(*rollout.Request)) {
		r := rollout.Request{Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Usage: rollout.Usage{Input: &in, Output: &in}, OutputFinal: true}
		change(&r)
		c.Request(r)
	}
	b := rollout.NewBuilder("test")
	b.Session.ID = "s"
	main, side := b.Chain(), b.Chain()
	request(main, func(r *rollout.Request) {})
	request(side, func(r *rollout.Request) {})
	request(main, func(r *rollout.Request) { r.Status = rollout.Errored }) // an attempt between does not matter
	request(main, func(r *rollout.Request) {})                             // pair with the first
	request(main, func(r *rollout.Request) { r.Run = 2 })
	request(main, func(r *rollout.Request) { r.Run, r.Model = 2, "x" })
	request(main, func(r *rollout.Request) { r.Run, r.Model, r.Inherited = 2, "x", true })
	s := b.Finish()
	require.NoError(t, rollout.Check(s))
	list := pairs(s, Measure(s, tokens.New()))
	require.Len(t, list, 1)
	assert.Equal(t, []int{0, 3}, []int{list[0].from, list[0].to})
}

// Reasoning without words takes what the usage leaves for it.
func TestReasoningIsSizedFromUsage(t *testing.T) {
	b := rollout.NewBuilder("test")
	b.Session.ID = "s"
	chain := b.Chain()
	in, out, reasoning := int64(100), int64(90), int64(41)
	request := func(u rollout.Usage, final bool, texts ...string) []int {
		i := chain.Request(rollout.Request{Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Model: "gpt-5", Usage: u, OutputFinal: final})
		var items []int
		for _, text := range texts {
			store, kind := b.OpaqueText, rollout.Reasoning
			if strings.HasPrefix(text, " ") {
				store = b.Text
			}
			if text == " said" {
				kind = rollout.AssistantText
			}
			id := store(text)
			items = append(items, b.Item(rollout.Item{Kind: kind, Origin: rollout.Logged, Request: i, Text: id}))
			chain.Add(rollout.SlotConversation, items[len(items)-1])
		}
		return items
	}
	// 41 reported, one readable token of it: 40 for two sealed items.
	known := request(rollout.Usage{Input: &in, Output: &out, Reasoning: &reasoning}, true, "s1", "s2", " why", " said")
	// Nothing reported: 90 output less one visible token.
	rest := request(rollout.Usage{Input: &in, Output: &out}, true, "s3", " said")
	// A snapshot tells nothing.
	unknown := request(rollout.Usage{Input: &in, Output: &out}, false, "s4", " said")
	request(rollout.Usage{Input: &in}, false)
	s := b.Finish()
	require.NoError(t, rollout.Check(s))
	m := Measure(s, tokens.New())
	assert.Equal(t, int64(20), *m.Items[known[0]].Tokens)
	assert.Equal(t, int64(20), *m.Items[known[1]].Tokens)
	assert.Equal(t, int64(1), *m.Items[known[2]].Tokens)
	assert.Equal(t, int64(89), *m.Items[rest[0]].Tokens)
	assert.Nil(t, m.Items[unknown[0]].Tokens)
	for i, sp := range s.Spans {
		assert.Equal(t, m.Items[sp.Item].Tokens, m.Spans[i].Tokens)
	}
}

func TestWeightedMedian(t *testing.T) {
	of := func(p point) (float64, float64) { return p.y, p.x }
	assert.Equal(t, 9.0, weightedQuantile(nil, 0.5, 9, of))
	assert.Equal(t, 2.0, weightedQuantile([]point{{y: 1, x: 1}, {y: 2, x: 3}, {y: 3, x: 1}}, 0.5, 9, of))
	assert.Equal(t, 5.0, weightedQuantile([]point{{y: 5, x: 10}, {y: 1, x: 1}, {y: 2, x: 1}, {y: 0, x: 0}}, 0.5, 9, of))
}

// Four small pairs of which the framing says nothing useful, and two large ones:
// weights 10, 10, 10, 10, 1000, 2000 of 3040. Sorted by ratio: −5 (10), −4 (10),
// 1.1 (1000), 1.2 (2000), 8 (10), 9 (10). A quarter, 760, is reached at 1.1, half,
// 1520, and three quarters, 2280, at 1.2.
func TestSpreadIsThatOfTheFactor(t *testing.T) {
	points := []point{{y: -50, x: 10}, {y: -40, x: 10}, {y: 80, x: 10}, {y: 90, x: 10}, {y: 1100, x: 1000}, {y: 2400, x: 2000}}
	c := Calibration{Method: MethodFitted, Factor: factorOf(points, 0, 1)}
	assert.InDelta(t, 1.2, c.Factor, 1e-9)
	low, high := spread(points, c)
	assert.InDelta(t, 1.1, low, 1e-9)
	assert.InDelta(t, 1.2, high, 1e-9)

	low, high = spread(points[:4], Calibration{Method: MethodFitted, Factor: 0.3})
	assert.Zero(t, low, "no provider counts less than nothing")
	assert.InDelta(t, 8.0, high, 1e-9)
	low, high = spread(points, Calibration{Method: MethodFitted, Factor: 0.9})
	assert.InDelta(t, 0.9, low, 1e-9, "a factor kept in bounds lies in its spread too")
	assert.InDelta(t, 1.2, high, 1e-9)
}

func TestSpreadHoldsTheFactor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var points []point
		for range rapid.IntRange(0, 40).Draw(rt, "pairs") {
			points = append(points, point{
				y: rapid.Float64Range(-900, 5000).Draw(rt, "growth"), x: rapid.Float64Range(-500, 5000).Draw(rt, "raw"),
				messages: float64(rapid.IntRange(0, 4).Draw(rt, "messages")),
			})
		}
		c := Calibration{Method: MethodFitted, Factor: 1, FramingPerMessage: 4}
		c.Factor, c.FramingPerMessage = leastAbsolute(points, c)
		low, high := spread(points, c)
		assert.LessOrEqual(rt, 0.0, low)
		assert.LessOrEqual(rt, low, c.Factor)
		assert.LessOrEqual(rt, c.Factor, high)
	})
}
