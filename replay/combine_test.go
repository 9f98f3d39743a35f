package replay

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
)

func TestMergeEdits(t *testing.T) {
	text := func(from int, s string) Edit { return Edit{From: from, Text: s} }
	drop := func(from int) Edit { return Edit{From: from, Drop: true} }
	for _, c := range []struct {
		name           string
		earlier, later []Edit
		want           []Edit
		conflicts      int
	}{
		{"alone", nil, []Edit{text(2, "b")}, []Edit{text(2, "b")}, 0},
		{"an early text is seen and replaced", []Edit{text(1, "a")}, []Edit{text(1, "b")}, []Edit{text(1, "b")}, 0},
		{"replaced from later on", []Edit{text(1, "a")}, []Edit{text(4, "b")}, []Edit{text(1, "a"), text(4, "b")}, 0},
		{"a late mask takes over", []Edit{text(5, "mask")}, []Edit{text(1, "b")}, []Edit{text(1, "b"), text(5, "mask")}, 0},
		{"compressed, masked later, then stripped", []Edit{text(1, "a"), text(5, "mask")}, []Edit{text(1, "b")}, []Edit{text(1, "b"), text(5, "mask")}, 0},
		{"text over a mask is left out", []Edit{text(5, "mask")}, []Edit{text(6, "b")}, []Edit{text(5, "mask")}, 1},
		{"text over a drop is left out", []Edit{drop(1)}, []Edit{text(1, "b")}, []Edit{drop(1)}, 1},
		{"a drop goes over all", []Edit{text(5, "mask")}, []Edit{drop(3)}, []Edit{drop(3)}, 0},
		{"a drop after a mask", []Edit{text(5, "mask")}, []Edit{drop(7)}, []Edit{text(5, "mask"), drop(7)}, 0},
	} {
		got, conflicts := mergeEdits(c.earlier, c.later, 1)
		assert.Equal(t, c.want, got, c.name)
		assert.Equal(t, c.conflicts, conflicts, c.name)
	}
}

// Halving a text twice: the second step works on what the first has left.
func TestLaterStepsSeeEarlierTexts(t *testing.T) {
	halve := Variant{Name: "halve", Plan: func(v View, _ Values) Plan {
		p := Plan{}
		for span, sp := range v.Session.Spans {
			if s := v.Text(span); !v.Dropped(span) {
				p.Edits = append(p.Edits, Edit{Span: span, From: sp.First, Text: s[:len(s)/2], Call: -1})
			}
		}
		return p
	}}
	first := Variant{Name: "first", Plan: func(View, Values) Plan {
		return Plan{Edits: []Edit{{Span: 0, From: 1, Drop: true, Call: -1}}, Removals: []Removal{{Request: 1}}}
	}}
	removed := false
	look := Variant{Name: "look", Plan: func(v View, _ Values) Plan {
		removed = v.Removed(1) && !v.Removed(0)
		return Plan{Removals: []Removal{{Request: 1, Certain: true}}}
	}}
	rec := three(time.Minute).recording(t)
	e := handEngine(t)
	p := e.Plan(t.Context(), rec, Use{Name: "x", Steps: []Step{{Variant: first}, {Variant: halve}, {Variant: halve}, {Variant: look}}})
	assert.True(t, removed)
	assert.Equal(t, []Removal{{Request: 1, Certain: true}}, p.Removals)
	require.Len(t, p.Edits, 3)
	assert.True(t, p.Edits[0].Drop)
	assert.Len(t, p.Edits[1].Text, 125, "500 halved twice")
	assert.Len(t, p.Edits[2].Text, 175)
}

func TestUnsupported(t *testing.T) {
	never := Variant{Name: "never", Plan: func(View, Values) Plan { return Plan{Unsupported: "the log holds no tools"} }}
	rec := three(time.Minute).recording(t)
	e := handEngine(t)
	use := Use{Name: "never", Steps: []Step{{Variant: never}}}
	assert.Equal(t, "the log holds no tools", e.Plan(t.Context(), rec, use).Unsupported)
	both := Use{Name: "both", Steps: []Step{{Variant: never}, fixed("cut", Plan{Edits: []Edit{edit(1, 2, 200)}}).Steps[0]}}
	p := e.Plan(t.Context(), rec, both)
	assert.Empty(t, p.Unsupported)
	assert.Equal(t, []string{"left out of the combination: never: the log holds no tools"}, p.Warnings)

	r, err := e.Run(t.Context(), []Recording{rec}, []Use{use}, RunOptions{})
	require.NoError(t, err)
	assert.Equal(t, "the log holds no tools", *r.Variants[0].Unsupported)
	assert.Nil(t, r.Variants[0].StaticSavingTokens, "not 0: it is not known")
	assert.Empty(t, r.Variants[0].Verdict)
}

// Two plans for different spans save together what they save alone.
func TestCombinationAddsUp(t *testing.T) {
	e := handEngine(t)
	rapid.Check(t, func(rt *rapid.T) {
		rec := three(time.Minute).recording(t)
		a := edit(1, rapid.IntRange(2, 3).Draw(rt, "from"), rapid.IntRange(0, 900).Draw(rt, "n"))
		b := edit(0, rapid.IntRange(1, 3).Draw(rt, "from"), rapid.IntRange(0, 1900).Draw(rt, "n"))
		saved := func(steps ...Step) int64 {
			o := e.Evaluate(rec, e.Plan(t.Context(), rec, Use{Steps: steps}), false)
			return 10700 - *o.Total.InputTokens
		}
		x, y := fixed("a", Plan{Edits: []Edit{a}}).Steps[0], fixed("b", Plan{Edits: []Edit{b}}).Steps[0]
		require.Equal(rt, saved(x)+saved(y), saved(x, y))
		require.Equal(rt, saved(x, y), saved(y, x))
	})
}

// Two findings about one text take it away once: 500 in two requests are 1,000, of
// which a cut to 200 saves 600 and one to 100 saves 800. Together they save what the
// later one leaves, never 1,400.
func TestOneTextIsSavedOnce(t *testing.T) {
	e, rec := handEngine(t), three(time.Minute).recording(t)
	drop := Edit{Span: 1, From: 2, Drop: true, Call: -1}
	for _, c := range []struct {
		name  string
		edits []Edit // one plan each
		want  int64
	}{
		{"to 200", []Edit{edit(1, 2, 200)}, 2 * 300},
		{"to 100", []Edit{edit(1, 2, 100)}, 2 * 400},
		{"to 200, then to 100", []Edit{edit(1, 2, 200), edit(1, 2, 100)}, 2 * 400},
		{"to 200, then gone one request later", []Edit{edit(1, 2, 200), {Span: 1, From: 3, Drop: true, Call: -1}}, 300 + 500},
		{"to 200, then gone", []Edit{edit(1, 2, 200), drop}, 2 * 500},
		{"gone twice", []Edit{drop, drop}, 2 * 500},
		{"gone, then to 200", []Edit{drop, edit(1, 2, 200)}, 2 * 500},
	} {
		var steps []Step
		for _, x := range c.edits {
			steps = append(steps, fixed("x", Plan{Edits: []Edit{x}}).Steps[0])
		}
		o := e.Evaluate(rec, e.Plan(t.Context(), rec, Use{Steps: steps}), false)
		assert.Equal(t, c.want, 10_700-*o.Total.InputTokens, c.name)
	}
}

// Plans that fit nothing change nothing and never crash.
func TestSenselessPlans(t *testing.T) {
	rec := three(time.Minute).recording(t)
	e := handEngine(t)
	plan := Plan{
		Edits:     []Edit{edit(-1, 1, 5), edit(99, 1, 5), edit(1, 1, 5), edit(1, 4, 5), edit(1, 3, 400), edit(1, 3, 300)},
		Removals:  []Removal{{Request: -1, Certain: true}, {Request: 77, Certain: true}},
		Additions: []Addition{{Chain: 5, First: 1, Last: 2, Text: "x"}, {Chain: 0, First: 9, Last: 3, Text: "x"}},
		Extras:    []Extra{{After: -1}, {After: 50, More: math.MaxInt32}},
		Fixes:     []CacheFix{{Request: -4}},
	}
	o := e.Evaluate(rec, plan, true)
	assert.Equal(t, []int64{3000, 3500, 4000}, inputs(o), "of two edits that begin together the later holds: 500 to 300")
	assert.Len(t, o.Warnings, 3)
	_, err := e.Run(t.Context(), []Recording{rec}, []Use{fixed("x", plan), {Name: "nothing"}}, RunOptions{})
	require.NoError(t, err)
}

func report(t *testing.T, rec Recording, plan Plan) (*Report, Estimate) {
	t.Helper()
	r, err := handEngine(t).Run(t.Context(), []Recording{rec}, []Use{fixed("v", plan)}, RunOptions{})
	require.NoError(t, err)
	return r, r.Variants[0]
}

func TestDeletingEverything(t *testing.T) {
	p := Plan{}
	for span, from := range []int{1, 2, 3} {
		p.Edits = append(p.Edits, Edit{Span: span, From: from, Drop: true, Lossy: true, Call: -1})
	}
	_, v := report(t, three(time.Minute).recording(t), p)
	assert.Equal(t, int64(3*1000+2*500+700), *v.StaticSavingTokens, "the unlogged front stays")
	assert.Contains(t, strings.Join(v.Warnings, "\n"), "takes away 100 % of all text")
}

func TestLengthening(t *testing.T) {
	_, v := report(t, three(time.Minute).recording(t), Plan{Edits: []Edit{edit(0, 1, 3000)}})
	assert.Equal(t, int64(-6000), *v.StaticSavingTokens)
	assert.Equal(t, int64(-6000), v.SavedCountedTokens)
	assert.Contains(t, v.Warnings, "sends more text than was recorded")
	assert.Equal(t, Risky, v.Verdict)
	assert.Zero(t, *v.BreakEvenRequestsTokens, "nothing to eat")
}

func TestOneRequest(t *testing.T) {
	h := newHand("claude-x", 2000)
	h.text(rollout.UserText, 1000)
	h.request(0, 3000, 0, 3000)
	r, v := report(t, h.recording(t), Plan{Edits: []Edit{edit(0, 1, 100)}})
	assert.Equal(t, int64(900), *v.StaticSavingTokens)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "a single request")
}

func TestNoUsage(t *testing.T) {
	h := three(time.Minute)
	for i := range h.Session.Requests {
		h.Session.Requests[i].Usage = rollout.Usage{}
	}
	silent := h.recording(t)
	r, v := report(t, silent, Plan{Edits: []Edit{edit(1, 2, 200)}})
	assert.Nil(t, v.StaticSavingTokens)
	assert.Nil(t, v.StaticSavingUSD)
	assert.Nil(t, v.InputTokens)
	assert.Equal(t, int64(600), v.SavedCountedTokens)
	assert.Empty(t, v.Verdict)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "no usage")

	both, err := handEngine(t).Run(t.Context(), []Recording{three(time.Minute).recording(t), silent}, []Use{fixed("v", Plan{Edits: []Edit{edit(1, 2, 200)}})}, RunOptions{})
	require.NoError(t, err)
	assert.Nil(t, both.Variants[0].StaticSavingTokens, "null where any session lacks usage")
	assert.Equal(t, int64(1200), both.Variants[0].SavedCountedTokens)
}

func TestPartOfTheUsage(t *testing.T) {
	h := three(time.Minute)
	h.Session.Requests[1].Usage = rollout.Usage{}
	r, v := report(t, h.recording(t), Plan{Edits: []Edit{edit(1, 2, 200)}})
	assert.Equal(t, int64(300), *v.StaticSavingTokens, "of the third request alone")
	assert.Equal(t, int64(600), v.SavedCountedTokens)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "1 answered request holds no usage")
}

// compacted goes up to 5,000 and 6,000 tokens, is summarised, and again.
func compacted() *hand {
	h := newHand("claude-x", 2000)
	for range 2 {
		a := h.text(rollout.ToolResult, 3000)
		h.request(time.Minute, 5000, 0, 5000)
		b := h.text(rollout.ToolResult, 1000)
		h.request(time.Minute, 6000, 5000, 1000)
		h.chain.Remove(a)
		h.chain.Remove(b)
		for _, e := range h.chain.Alive() {
			h.chain.Remove(e)
		}
		h.text(rollout.Summary, 500)
		h.request(time.Minute, 2500, 2000, 500)
		for _, e := range h.chain.Alive() {
			h.chain.Remove(e)
		}
	}
	return h
}

func TestCompactedTwice(t *testing.T) {
	rec := compacted().recording(t)
	assert.Equal(t, []int{2, 5}, compactions(rec.Session))
	r, v := report(t, rec, Plan{Edits: []Edit{edit(0, 1, 1500)}})
	assert.Contains(t, r.Warnings, "2 compactions stay where they were recorded")
	// 6000 - 1500 = 4500 is below 5000, which did not set the first one off.
	assert.Contains(t, strings.Join(v.Warnings, "\n"), "1 of the recorded compactions would have come later")
	_, v = report(t, rec, Plan{Edits: []Edit{edit(0, 1, 2500)}})
	assert.NotContains(t, strings.Join(v.Warnings, "\n"), "would have come later", "5500 is not")
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Estimate
		free bool
		want string
	}{
		{"unknown", Estimate{}, false, ""},
		{"nothing cut that could be missed", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.001)}, true, FreeByRule},
		{"2 % is the line", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.019)}, false, BelowTheNoise},
		{"above it", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.02)}, false, WorthAB},
		{"cheaper, with the same tokens", Estimate{StaticSavingTokens: ptr(int64(0)), StaticSavingShare: ptr(0.0), StaticSavingUSD: ptr(6.0), CostUSD: ptr(4.0)}, true, FreeByRule},
		{"60 % of the cost, if the model complies", Estimate{StaticSavingTokens: ptr(int64(0)), StaticSavingShare: ptr(0.0), StaticSavingUSD: ptr(6.0), CostUSD: ptr(4.0)}, false, WorthAB},
		{"1 % of the cost, if the model complies", Estimate{StaticSavingTokens: ptr(int64(0)), StaticSavingShare: ptr(0.0), StaticSavingUSD: ptr(1.0), CostUSD: ptr(99.0)}, false, BelowTheNoise},
		{"nothing saved", Estimate{StaticSavingTokens: ptr(int64(0)), StaticSavingShare: ptr(0.0)}, true, BelowTheNoise},
		{"dearer", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.3), StaticSavingUSD: ptr(-0.1), CostUSD: ptr(1.1)}, false, Risky},
		{"longer", Estimate{StaticSavingTokens: ptr(int64(-5)), StaticSavingShare: ptr(-0.03)}, true, Risky},
		{"detours eat it", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.3), BreakEvenRequestsTokens: ptr(3.0), Detours: &Detours{Expected: 3}}, false, Risky},
		{"detours do not", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.3), BreakEvenRequestsTokens: ptr(3.0), BreakEvenRequestsUSD: ptr(4.0), Detours: &Detours{Expected: 1, High: 2.9}}, false, WorthAB},
		{"their high end does", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.3), BreakEvenRequestsTokens: ptr(3.0), BreakEvenRequestsUSD: ptr(4.0), Detours: &Detours{Expected: 1, High: 3}}, false, Risky},
		{"their high end does in USD alone", Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.3), BreakEvenRequestsTokens: ptr(3.0), BreakEvenRequestsUSD: ptr(2.0), Detours: &Detours{Expected: 1, High: 2.5}}, false, Risky},
	} {
		assert.Equal(t, c.want, verdict(c.e, c.free, false), c.name)
	}
}

// 900 of 1,000 tokens are nearly all, 899 are not.
func TestEmptiedIsRisky(t *testing.T) {
	e := Estimate{StaticSavingTokens: ptr(int64(5)), StaticSavingShare: ptr(0.5)}
	assert.Equal(t, Risky, verdict(e, false, emptied(900, 1000)))
	assert.Equal(t, Risky, verdict(e, true, emptied(900, 1000)))
	assert.Equal(t, WorthAB, verdict(e, false, emptied(899, 1000)))
	assert.False(t, emptied(0, 0))
	assert.Empty(t, verdict(Estimate{}, false, true), "unknown stays unknown")
}

// The three requests carry 1,000, 1,500 and 2,200 tokens: 4,700 in all. Without the
// prompt 3 × 1,000 and without the first result 2 × 500 go, which leaves the 700 of
// the last result: 4,000 of 4,700 are 85 %. With half of that dropped, 4,350 are 93 %.
func TestPlanThatEmptiesASession(t *testing.T) {
	rec := three(time.Minute).recording(t)
	_, v := report(t, rec, Plan{Edits: []Edit{edit(0, 1, 0), edit(1, 2, 0)}})
	assert.Equal(t, WorthAB, v.Verdict)
	_, v = report(t, rec, Plan{Edits: []Edit{edit(0, 1, 0), edit(1, 2, 0), edit(2, 3, 350)}})
	assert.Equal(t, Risky, v.Verdict)
	assert.Contains(t, strings.Join(v.Warnings, "\n"), "takes away 93 % of all text that was sent")
}

// A variant that finds nothing to do has no verdict.
func TestIdleHasNoVerdict(t *testing.T) {
	rec := three(time.Minute).recording(t)
	_, v := report(t, rec, Plan{})
	assert.True(t, v.Idle())
	assert.Empty(t, v.Verdict)
	_, v = report(t, rec, Plan{Edits: []Edit{edit(1, 2, 499)}})
	assert.False(t, v.Idle())
	assert.Equal(t, BelowTheNoise, v.Verdict, "2 of 4,700")
}

// A run that is stopped answers with the reason and nothing else, and asks no
// variant for another plan.
func TestStoppedRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	asked := 0
	stops := Variant{Name: "stops", Plan: func(v View, _ Values) Plan {
		asked++
		stop()
		<-v.Context().Done()
		return Plan{}
	}}
	rec := three(time.Minute).recording(t)
	use := Use{Name: "stops", Steps: []Step{{Variant: stops}}}
	r, err := handEngine(t).Run(ctx, []Recording{rec, rec, rec}, []Use{use, {Name: "again", Steps: use.Steps}}, RunOptions{Workers: 1})
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, r)
	assert.Equal(t, 1, asked)
}

func TestRunPassesOn(t *testing.T) {
	rec := three(time.Minute).recording(t)
	r, err := handEngine(t).Run(t.Context(), []Recording{rec, rec}, []Use{fixed("v", Plan{Edits: []Edit{edit(1, 2, 200)}})}, RunOptions{
		Detours: func(recs []Recording, plans []Plan) *Detours {
			return &Detours{Expected: float64(len(recs) + len(plans))}
		},
		Trials: func(share float64, _ []Recording) *int64 { return ptr(int64(share * 1e4)) },
	})
	require.NoError(t, err)
	v := r.Variants[0]
	assert.Equal(t, 4.0, v.Detours.Expected)
	assert.Equal(t, int64(560), *v.TrialsNeeded, "600 of 10,700")
	assert.Equal(t, Risky, v.Verdict, "4 detours, a third of one is the limit")
	assert.Len(t, v.Top, 2)
	assert.Equal(t, int64(21400), *r.Baseline.InputTokens)

	_, err = handEngine(t).Run(t.Context(), nil, nil, RunOptions{})
	assert.Error(t, err)
}

// The fit takes its values from other recordings: here a family of which two
// thirds of the front are served at first requests.
func TestFitCache(t *testing.T) {
	var others []Recording
	for range minFronts {
		h := newHand("claude-x", 3000)
		h.text(rollout.UserText, 1000)
		h.request(0, 4000, 2000, 2000)
		others = append(others, h.recording(t))
	}
	e := handEngine(t)
	m := e.FitCache(others)
	assert.InDelta(t, 2.0/3, m.Families[m.family("", "claude-x")].FrontShare, 1e-12)
	assert.Zero(t, e.Cache.Families[0].FrontShare, "the engine's own model stays as it is")
	fitted := *e
	fitted.Cache = m
	assert.Equal(t, []int64{0}, fitted.ledger(others[0]).residual)
	assert.Equal(t, []int64{2000}, e.ledger(others[0]).residual)

	h := newHand("gpt-5", 2000)
	h.text(rollout.UserText, 1000)
	h.request(0, 3000, 0, 0)
	for range minGaps {
		h.request(30*time.Minute, 3000, 2944, 0)
	}
	m = e.FitCache([]Recording{h.recording(t)})
	assert.Equal(t, int64(1800), m.Families[m.family("", "gpt-5")].LifetimeS, "the shortest candidate that half an hour fits")
}

// An agent with a to-do list in its system prompt: every other request changes it
// by 50 tokens, and only 1,800 of 2,000 tokens in front are served then.
func TestFitMovingFront(t *testing.T) {
	session := func() Recording {
		h := newHand("MiniMax-M2", 2000)
		input, last := int64(2000), int64(0)
		for n := range 2 * minMoves {
			h.text(rollout.ToolResult, 1000)
			input += 1000
			sent, read := input, last-last%128
			if n%2 == 1 {
				sent, read = input+50, 1792
			}
			if n > 0 && n%2 == 0 {
				read = 1792
			}
			h.request(time.Minute, sent, read, 0)
			last = sent
		}
		return h.recording(t)
	}
	e := handEngine(t)
	fitted := *e
	fitted.Cache = e.FitCache([]Recording{session()})
	f := fitted.Cache.Families[fitted.Cache.family("", "MiniMax-M2")]
	assert.Equal(t, int64(1), f.FrontMoves)
	assert.InDelta(t, 1792.0/2000, f.FrontKept, 1e-12)
	rec := session()
	l := fitted.ledger(rec)
	for i, off := range l.residual {
		assert.Zero(t, off, "request %d", i)
	}
	last := len(rec.Session.Requests) - 1
	o := l.evaluate(Plan{Fixes: []CacheFix{{Request: last}}}, false)
	before := *rec.Session.Requests[last-1].Usage.Input
	assert.Equal(t, before-before%128, *o.Requests[last].CacheRead, "without the change all of the last payload is served")
}
