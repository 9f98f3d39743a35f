package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// hand is a session put together by hand, in which a text of n characters has n
// tokens and the provider counts the same.
type hand struct {
	*rollout.Builder
	chain *rollout.Chain
	model string
	clock time.Time
	front int64 // unlogged tokens of every request
}

func newHand(model string, front int64) *hand {
	b := rollout.NewBuilder("test")
	b.Session.ID = "s"
	return &hand{Builder: b, chain: b.Chain(), model: model, front: front, clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

var handLetters = "abcdefghijklmnopqrstuvwxyz"

func (h *hand) text(kind rollout.ItemKind, n int) *rollout.Entry {
	letter := handLetters[len(h.Session.Items)%26:][:1]
	item := h.Item(rollout.Item{Kind: kind, Origin: rollout.Logged, Request: -1, Text: h.Text(strings.Repeat(letter, n))})
	return h.chain.Add(rollout.SlotConversation, item)
}

// request sends what is there after a pause, with the given input, cache read and
// cache write and an output of 100 tokens.
func (h *hand) request(pause time.Duration, input, read, write int64) int {
	h.clock = h.clock.Add(pause)
	return h.chain.Request(rollout.Request{
		Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Model: h.model, Time: h.clock, OutputFinal: true,
		Usage: rollout.Usage{Input: &input, CacheRead: &read, CacheWrite: &write, Output: ptr(int64(100))},
	})
}

func (h *hand) recording(t *testing.T) Recording {
	t.Helper()
	s := h.Finish()
	require.NoError(t, rollout.Check(s))
	return Recording{s, sizesByLength(s)}
}

// sizesByLength measures a session in which a character is a token.
func sizesByLength(s *rollout.Session) *measure.Measured {
	m := &measure.Measured{Encoding: "letters", Public: true}
	counted := make([]int64, len(s.Requests)+1)
	starts, ends := map[place]int64{}, map[place]int64{}
	for _, sp := range s.Spans {
		n := int64(s.Texts[sp.Text].Bytes)
		m.Spans = append(m.Spans, measure.SpanSize{Size: measure.Size{Tokens: &n}})
		starts[place{sp.Chain, sp.First}] += n
		ends[place{sp.Chain, sp.Last}] += n
	}
	alive := map[int]int64{}
	for i, r := range s.Requests {
		alive[r.Chain] += starts[place{r.Chain, r.Number}]
		counted[i] = alive[r.Chain]
		alive[r.Chain] -= ends[place{r.Chain, r.Number}]
		if r.Base >= 0 {
			counted[i] += counted[r.Base]
		}
		size := measure.RequestSize{Counted: counted[i]}
		if in := r.Usage.Input; in != nil {
			size.Unlogged = ptr(*in - size.Counted)
		}
		m.Requests = append(m.Requests, size)
	}
	return m
}

// handEngine has the prices of a model at 3 USD a million tokens of input: reads a
// tenth, writes 1.25 times for 5 minutes and twice for an hour, output 15.
func handEngine(t *testing.T) *Engine {
	cache, err := DefaultCache()
	require.NoError(t, err)
	return &Engine{
		Cache: cache,
		Count: func(_, text string) int64 { return int64(len(text)) },
		Price: func(_, _ string) (Rates, bool) { return Rates{3, 0.3, 3.75, 6, 15, nil, nil}, true },
	}
}

// three is a session that only appends, over 2,000 unlogged tokens: 1,000 tokens of
// prompt, a result of 500, a result of 700.
func three(pause time.Duration) *hand {
	h := newHand("claude-x", 2000)
	h.text(rollout.UserText, 1000)
	h.request(0, 3000, 0, 3000)
	h.text(rollout.ToolResult, 500)
	h.request(time.Minute, 3500, 3000, 500)
	h.text(rollout.ToolResult, 700)
	h.request(pause, 4200, 3500, 700)
	return h
}

func edit(span, from, n int) Edit {
	return Edit{Span: span, From: from, Text: strings.Repeat("-", n), Call: -1, Lossy: true, Why: "test"}
}

func TestAppendOnlyIsPredicted(t *testing.T) {
	l := handEngine(t).ledger(three(time.Minute).recording(t))
	assert.Equal(t, []int64{0, 0, 0}, l.residual)
	o := l.evaluate(Plan{}, false)
	// 3000×3.75 + (3000×0.3 + 500×3.75) + (3500×0.3 + 700×3.75) + 3×100×15, per million
	assert.InDelta(t, 22200e-6, *o.Total.CostUSD, 1e-12)
}

// The result of 500 is 200 from the start: 300 less twice, and all of what was
// read before is still read.
func TestEarlyEditKeepsThePrefix(t *testing.T) {
	o := handEngine(t).Evaluate(three(time.Minute).recording(t), Plan{Edits: []Edit{edit(1, 2, 200)}}, false)
	assert.Equal(t, []int64{3000, 3200, 3900}, inputs(o))
	assert.Equal(t, []int64{0, 3000, 3200}, reads(o))
	assert.Equal(t, int64(3000+200+700), *o.Total.CacheWriteTokens)
	// 11250 + (900 + 200×3.75) + (3200×0.3 + 700×3.75) + 4500
	assert.InDelta(t, 20985e-6, *o.Total.CostUSD, 1e-12)
	assert.Zero(t, *o.CacheReadLost)
}

// 50 tokens that the log does not hold come up with the third request. It shares
// 3,200 with the second one, and carries 3,950 - 700 = 3,250 in front of its own
// result: those 50 were never read, and no edit has lost them.
func TestEarlyEditLosesNothing(t *testing.T) {
	h := newHand("claude-x", 2000)
	h.text(rollout.UserText, 1000)
	h.request(0, 3000, 0, 3000)
	h.text(rollout.ToolResult, 500)
	h.request(time.Minute, 3500, 3000, 500)
	h.text(rollout.ToolResult, 700)
	h.request(time.Minute, 4250, 3500, 750)
	o := handEngine(t).Evaluate(h.recording(t), Plan{Edits: []Edit{edit(1, 2, 200)}}, false)
	assert.Equal(t, []int64{3000, 3200, 3950}, inputs(o))
	assert.Equal(t, []int64{0, 3000, 3200}, reads(o))
	assert.Zero(t, *o.CacheReadLost)
}

// Without the second request nobody writes the 500 of the first result: the third
// reads 3,000 instead of 3,500.
func TestRemovalLosesWhatItWouldHaveWritten(t *testing.T) {
	o := handEngine(t).Evaluate(three(time.Minute).recording(t), Plan{Removals: []Removal{{Request: 1, Certain: true}}}, false)
	assert.Equal(t, []int64{0, 0, 3000}, reads(o))
	assert.Equal(t, int64(500), *o.CacheReadLost)
}

// A mask: the prompt of 1,000 becomes 100 at the third request, which had been read
// from the cache up to 3,500. Fewer tokens, but the prefix ends after the unlogged
// 2,000, and 1,300 tokens are written instead of 700.
func TestLateEditBreaksThePrefix(t *testing.T) {
	rec := three(time.Minute).recording(t)
	e := handEngine(t)
	o := e.Evaluate(rec, Plan{Edits: []Edit{edit(0, 3, 100)}}, false)
	assert.Equal(t, []int64{3000, 3500, 3300}, inputs(o))
	assert.Equal(t, []int64{0, 3000, 2000}, reads(o))
	assert.Equal(t, int64(600), *o.CacheReadLost, "of 100 + 500 behind the front")
	// third request: 2000×0.3 + 1300×3.75 = 5475 instead of 3675
	assert.InDelta(t, (22200+5475-3675)*1e-6, *o.Total.CostUSD, 1e-12)

	r, err := e.Run(t.Context(), []Recording{rec}, []Use{fixed("mask", Plan{Edits: []Edit{edit(0, 3, 100)}})}, RunOptions{})
	require.NoError(t, err)
	v := r.Variants[0]
	assert.Equal(t, int64(900), *v.StaticSavingTokens)
	assert.Equal(t, []int64{5000, 3000 + 500 + 1300, 300}, []int64{*v.CacheReadTokens, *v.CacheWriteTokens, *v.OutputTokens})
	// Nothing but reads, writes and output: the cost can be worked out again.
	assert.InDelta(t, (5000*0.3+4800*3.75+300*15)*1e-6, *v.CostUSD, 1e-12)
	assert.InDelta(t, -1800e-6, *v.StaticSavingUSD, 1e-12)
	assert.Equal(t, Risky, v.Verdict)
	assert.Contains(t, strings.Join(v.Warnings, "\n"), "dearer")
}

func TestLifetime(t *testing.T) {
	rec := three(301 * time.Second).recording(t)
	l := handEngine(t).ledger(rec)
	assert.Equal(t, []int64{0, 0, 3500}, l.residual, "predicted 0 after more than 5 minutes")
	assert.Equal(t, []int64{0, 3000, 3500}, reads(l.evaluate(Plan{}, false)), "the residual is carried")

	h := three(301 * time.Second)
	h.Session.Requests[0].Usage.CacheWrite1h = ptr(int64(3000))
	assert.Equal(t, []int64{0, 0, 0}, handEngine(t).ledger(h.recording(t)).residual, "an hour where the session pays for it")
}

// At the start of the next run an unlogged block in front changed: only 1,900 of
// 3,500 were read.
func TestRecordedBreakIsCarried(t *testing.T) {
	h := three(time.Minute)
	h.Session.Requests[2].Run = 2
	h.Session.Requests[2].Usage.CacheRead = ptr(int64(1900))
	h.Session.Requests[2].Usage.CacheWrite = ptr(int64(2300))
	rec := h.recording(t)
	e := handEngine(t)
	assert.Equal(t, []int64{0, 0, -1600}, e.ledger(rec).residual)
	small := Plan{Edits: []Edit{edit(1, 2, 450)}}
	o := e.Evaluate(rec, small, false)
	assert.Equal(t, []int64{0, 3000, 3450 - 1600}, reads(o))
	assert.Zero(t, o.Clamped)
	small.Fixes = []CacheFix{{Request: 2}}
	assert.Equal(t, []int64{0, 3000, 3450}, reads(e.Evaluate(rec, small, false)), "without the break all of the second payload is read")
}

// The residual is carried unchanged: what it leaves below nothing or above the input
// is clamped, and counted. The mask leaves 2,000 of the prefix, of which 3,400 less
// were read; 50 tokens of prompt behind 2,000 in front are all that the first request
// has, of which 200 more were read than the model knows.
func TestClampedReadsAreCounted(t *testing.T) {
	h := three(time.Minute)
	h.Session.Requests[2].Usage.CacheRead = ptr(int64(100))
	h.Session.Requests[2].Usage.CacheWrite = ptr(int64(4100))
	rec := h.recording(t)
	e := handEngine(t)
	require.Equal(t, []int64{0, 0, -3400}, e.ledger(rec).residual)
	o := e.Evaluate(rec, Plan{}, false)
	assert.Equal(t, []int64{0, 3000, 100}, reads(o))
	assert.Zero(t, o.Clamped, "the recording itself is possible")
	mask := Plan{Edits: []Edit{edit(0, 3, 100)}}
	o = e.Evaluate(rec, mask, false)
	assert.Equal(t, []int64{0, 3000, 0}, reads(o), "2000 - 3400")
	assert.Equal(t, int64(1), o.Clamped)
	r, err := e.Run(t.Context(), []Recording{rec}, []Use{fixed("mask", mask)}, RunOptions{})
	require.NoError(t, err)
	assert.Equal(t, int64(1), r.Variants[0].ClampedRequests)
	assert.Contains(t, strings.Join(r.Variants[0].Warnings, "\n"), "misses what was read in 1 request by more than this leaves there")

	h = three(time.Minute)
	h.Session.Requests[0].Usage.CacheRead, h.Session.Requests[0].Usage.CacheWrite = ptr(int64(2900)), ptr(int64(100))
	rec = h.recording(t)
	require.Equal(t, []int64{2900, 0, 0}, e.ledger(rec).residual)
	o = e.Evaluate(rec, Plan{Edits: []Edit{edit(0, 1, 50)}}, false)
	assert.Equal(t, []int64{2050, 2050, 2550}, reads(o), "at most the input")
	assert.Equal(t, int64(1), o.Clamped)
}

// The agent is known to keep reminders in front: one of 50 tokens comes with the
// third request, behind 1,940 of 2,000 tokens in front, and goes with the fourth. What
// a fit has found out comes before what is known of the agent.
func TestMovingFront(t *testing.T) {
	moving := func(known bool) *ledger {
		h := newHand("MiniMax-M2", 2000)
		h.Session.FrontMoves = known
		h.text(rollout.UserText, 1000)
		h.request(0, 3000, 0, 0)
		h.text(rollout.ToolResult, 500)
		h.request(time.Minute, 3500, 2944, 0)
		h.request(time.Minute, 3550, 1920, 0)
		h.request(time.Minute, 3500, 1920, 0)
		h.request(time.Minute, 3500, 3456, 0)
		return handEngine(t).ledger(h.recording(t))
	}
	// 3,500 and 3,550 are 27 blocks of 128 and some: 3,456 predicted, 1,920 read.
	assert.Equal(t, []int64{0, 0, 1920 - 3456, 1920 - 3456, 0}, moving(false).residual)
	// 0.97 of 2,000 is 1,940, 15 blocks of 128 and 20.
	l := moving(true)
	assert.Equal(t, []int64{0, 0, 0, 0, 0}, l.residual)
	out := errorOf(l.cacheMisses())
	assert.Zero(t, out.Missed)
	out = errorOf(moving(false).cacheMisses())
	assert.Equal(t, []int64{2, 2, 2 * (3456 - 1920)}, []int64{out.Missed, out.MissedMoved, *out.MissedTokens})

	// Another to-do list of the same size is a change too; the same one again is none.
	h := newHand("MiniMax-M2", 2000)
	h.Session.FrontMoves = true
	h.text(rollout.UserText, 1000)
	for n, read := range []int64{0, 1920, 2944, 1920} {
		h.request(time.Minute, 3000, read, 0)
		args := h.Text([]string{"first", "first", "other", "other"}[n])
		h.Call(rollout.Call{ID: string(handLetters[n]), Class: rollout.TodoTool, Ran: true, Request: n, Args: args, ArgsItem: -1, ResultItem: -1})
	}
	assert.Equal(t, []int64{0, 0, 0, 0}, handEngine(t).ledger(h.recording(t)).residual)

	m, err := DefaultCache()
	require.NoError(t, err)
	m.Families[m.family("", "MiniMax-M2")].FrontMoves = 64
	f := m.familyOf(&rollout.Session{FrontMoves: true}, "", "MiniMax-M2")
	assert.Equal(t, int64(64), f.FrontMoves)
	assert.NotEmpty(t, m.Moving.Source)
}

func TestBlocksAndMinimum(t *testing.T) {
	h := newHand("gpt-5", 500)
	h.text(rollout.UserText, 500)
	h.request(0, 1000, 0, 0)
	h.text(rollout.ToolResult, 2000)
	h.request(time.Minute, 3000, 0, 0)
	h.text(rollout.ToolResult, 10)
	h.request(time.Minute, 3010, 2944, 0)
	l := handEngine(t).ledger(h.recording(t))
	assert.Equal(t, []int64{0, 0, 0}, l.residual, "1000 is below 1024; 3000 is 23 blocks of 128 and 56")
	o := l.evaluate(Plan{Edits: []Edit{edit(1, 2, 1900)}}, false)
	assert.Equal(t, []int64{0, 0, 2816}, reads(o), "2900 is 22 blocks and 84")
}

// A request that sends a payload once more, as a compaction does, with 100 tokens of
// its own.
func TestBase(t *testing.T) {
	h := three(time.Minute)
	main := h.chain
	h.chain = h.Chain()
	h.text(rollout.UserText, 100)
	i := h.request(time.Second, 4300, 4200, 100)
	h.Session.Requests[i].Base = 2
	h.chain = main
	rec := h.recording(t)
	require.Equal(t, int64(2300), rec.Sizes.Requests[i].Counted)
	l := handEngine(t).ledger(rec)
	assert.Equal(t, int64(0), l.residual[i])
	o := l.evaluate(Plan{Edits: []Edit{edit(1, 2, 200)}}, false)
	assert.Equal(t, []int64{3000, 3200, 3900, 4000}, inputs(o))
	assert.Equal(t, []int64{0, 3000, 3200, 3900}, reads(o))
	require.Len(t, o.Contributions, 1)
	assert.Equal(t, int64(3), o.Contributions[0].Requests)
	assert.Equal(t, 900.0, o.Contributions[0].SavedTokens)
}

// The second request goes: surely in one plan, perhaps in the other. The third
// then finds only the payload of the first in the cache.
func TestRemovalRange(t *testing.T) {
	rec := three(time.Minute).recording(t)
	e := handEngine(t)
	plan := Plan{Removals: []Removal{{Request: 1, Certain: false, Moved: 40, Why: "poll"}}}
	assert.Equal(t, []int64{3000, 3500, 4200}, inputs(e.Evaluate(rec, plan, false)))
	o := e.Evaluate(rec, plan, true)
	assert.Equal(t, []int64{3000, 0, 4200}, inputs(o))
	assert.Equal(t, []int64{0, 0, 3000}, reads(o))
	assert.Equal(t, int64(240), *o.Total.OutputTokens, "100 + 40 moved + 100")
	assert.Equal(t, int64(2), o.Total.Requests)
	// 3000×3.75, then 40×15 for what moved, then 3000×0.3 + 1200×3.75, and 2×100×15
	assert.InDelta(t, (11250+600+900+4500+3000)*1e-6, *o.Total.CostUSD, 1e-12)
	assert.Equal(t, 3500.0, o.Contributions[0].SavedTokens)

	r, err := e.Run(t.Context(), []Recording{rec}, []Use{fixed("inline", plan)}, RunOptions{})
	require.NoError(t, err)
	assert.Equal(t, int64(0), *r.Variants[0].StaticSavingTokens)
	assert.Equal(t, int64(3500), *r.Variants[0].StaticSavingTokensHigh)
	assert.Equal(t, []int64{0, 1}, []int64{r.Variants[0].RemovedRequestsLow, r.Variants[0].RemovedRequestsHigh})
}

func TestAdditionsAndExtras(t *testing.T) {
	rec := three(time.Minute).recording(t)
	plan := Plan{
		Additions: []Addition{{Chain: 0, First: 1, Last: 3, Position: 1, Kind: rollout.ToolDefinitions, Text: strings.Repeat("d", 420)}},
		Extras:    []Extra{{After: 1, More: 50, Output: 20}},
	}
	o := handEngine(t).Evaluate(rec, plan, false)
	assert.Equal(t, []int64{3420, 3920, 4620}, inputs(o), "420 on every request")
	assert.Equal(t, []int64{0, 3420, 3920}, reads(o))
	assert.Equal(t, int64(3970), *o.Extras[0].Input)
	assert.Equal(t, int64(3920), *o.Extras[0].CacheRead)
	assert.Equal(t, int64(50), *o.Extras[0].CacheWrite)
	assert.InDelta(t, (3920*0.3+50*3.75+20*15)*1e-6, *o.Extras[0].CostUSD, 1e-12)
	assert.Equal(t, int64(3), o.Total.Requests)
	assert.Equal(t, int64(1), o.Extra.Requests)
}

// One lossy edit, 500 to 200 from the second request on, saves 600 tokens. An extra
// request behind it sends 3,200 again and answers with 100, and the 300 that come back
// are carried by the third request: 3,600 tokens. In USD: 3200×0.3 + 100×15 + 300×3.75.
func TestBreakEven(t *testing.T) {
	r, err := handEngine(t).Run(t.Context(), []Recording{three(time.Minute).recording(t)}, []Use{fixed("cut", Plan{Edits: []Edit{edit(1, 2, 200)}})}, RunOptions{})
	require.NoError(t, err)
	v := r.Variants[0]
	assert.Equal(t, int64(600), *v.StaticSavingTokens)
	assert.InDelta(t, 600.0/10700, *v.StaticSavingShare, 1e-12)
	assert.InDelta(t, 600.0/3600, *v.BreakEvenRequestsTokens, 1e-12)
	assert.InDelta(t, 1215.0/(960+1500+1125), *v.BreakEvenRequestsUSD, 1e-9)
	assert.Equal(t, WorthAB, v.Verdict)
}

func TestLongContextTier(t *testing.T) {
	long := Rates{6, 0.6, 7.5, 12, 22.5, nil, nil}
	r := Rates{3, 0.3, 3.75, 6, 15, ptr(int64(200_000)), &long}
	split := writeSplit{unread: 1000, write: 600, hour: 200}
	// 400 plain, 199,000 read, 400 written for 5 minutes, 200 for an hour, 10 out
	assert.InDelta(t, (400*3+199_000*0.3+400*3.75+200*6+10*15)*1e-6, r.cost(200_000, 199_000, split, 10), 1e-12)
	assert.InDelta(t, (400*6+199_001*0.6+400*7.5+200*12+10*22.5)*1e-6, r.cost(200_001, 199_001, split, 10), 1e-12)
}

// Models that never report the cache are not taken for cacheless by prediction:
// nothing is predicted for them and nothing read.
func TestNoCacheFigures(t *testing.T) {
	h := newHand("gpt-5", 2000)
	h.text(rollout.UserText, 1000)
	h.request(0, 3000, 0, 0)
	h.text(rollout.ToolResult, 500)
	h.request(time.Minute, 3500, 0, 0)
	o := handEngine(t).Evaluate(h.recording(t), Plan{Edits: []Edit{edit(1, 2, 200)}}, false)
	assert.Equal(t, []int64{0, 0}, reads(o))
	assert.InDelta(t, (6200*3+200*15)*1e-6, *o.Total.CostUSD, 1e-12)
	assert.Nil(t, o.CacheReadLost)
}

func TestFamilies(t *testing.T) {
	m, err := DefaultCache()
	require.NoError(t, err)
	for _, c := range []struct{ provider, model, want string }{
		{"anthropic", "claude-sonnet-4-5", "anthropic"}, {"", "anthropic/claude-opus-4-6[1m]", "anthropic"}, {"openai", "o4-mini", "openai"},
		{"minimax", "MiniMax-M2", "minimax"}, {"google", "gemini-2.5-pro", "gemini"}, {"", "", "other"}, {"local", "llama", "other"},
	} {
		assert.Equal(t, c.want, m.Families[m.family(c.provider, c.model)].Name, c.model)
	}
	f := m.Families[m.family("anthropic", "claude-opus-4-5-20251101")]
	assert.Equal(t, int64(4096), f.minimum("claude-opus-4-5-20251101"))
	assert.Equal(t, int64(1024), f.minimum("claude-sonnet-4-5"))
	for _, f := range m.Families {
		assert.NotEmpty(t, f.Source, f.Name)
		assert.Positive(t, f.Block)
		assert.Positive(t, f.LifetimeS)
	}
	assert.Equal(t, -1, CacheModel{}.family("", ""))
}

func inputs(o Outcome) []int64 {
	return figures(o, func(r RequestOutcome) *int64 { return r.Input })
}
func reads(o Outcome) []int64 {
	return figures(o, func(r RequestOutcome) *int64 { return r.CacheRead })
}

func figures(o Outcome, of func(RequestOutcome) *int64) []int64 {
	var out []int64
	for _, r := range o.Requests {
		out = append(out, value(of(r)))
	}
	return out
}

// fixed is a use whose plan is known.
func fixed(name string, plan Plan) Use {
	return Use{Name: name, Steps: []Step{{Variant: Variant{Name: name, Plan: func(View, Values) Plan { return plan }}}}}
}
