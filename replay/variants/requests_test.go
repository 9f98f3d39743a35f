package variants

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// priced is what the engine makes of a plan at both ends.
func priced(t testing.TB, v replay.View, p replay.Plan) (low, high replay.Outcome) {
	t.Helper()
	e := &replay.Engine{Count: v.Count}
	return e.Evaluate(v.Recording, p, false), e.Evaluate(v.Recording, p, true)
}

// sound fails if a plan does not fit its session.
func sound(t require.TestingT, v replay.View, p replay.Plan) {
	s := v.Session
	removed := map[int]bool{}
	for _, r := range p.Removals {
		require.True(t, r.Request >= 0 && r.Request < len(s.Requests), "removal of request %d", r.Request)
		require.False(t, removed[r.Request], "request %d removed twice", r.Request)
		require.False(t, s.Requests[r.Request].Inherited, "inherited request %d removed", r.Request)
		require.GreaterOrEqual(t, r.Moved, int64(0))
		removed[r.Request] = true
	}
	begun := map[[2]int]bool{}
	for _, e := range p.Edits {
		require.True(t, e.Span >= 0 && e.Span < len(s.Spans))
		sp := s.Spans[e.Span]
		require.True(t, sp.First <= e.From && e.From <= sp.Last, "edit from %d of span %d-%d", e.From, sp.First, sp.Last)
		require.False(t, begun[[2]int{e.Span, e.From}], "two edits of span %d from %d", e.Span, e.From)
		begun[[2]int{e.Span, e.From}] = true
		require.True(t, !e.Drop || e.Text == "")
		require.NotEmpty(t, e.Why)
	}
	for _, x := range p.Extras {
		require.True(t, x.After >= 0 && x.After < len(s.Requests) && x.More >= 0 && x.Output >= 0)
	}
	for _, a := range p.Additions {
		require.True(t, 1 <= a.First && a.First <= a.Last, "addition %d-%d", a.First, a.Last)
	}
	for _, f := range p.Fixes {
		require.True(t, f.Request >= 0 && f.Request < len(s.Requests))
	}
}

// randomScript makes up a session of all that the variants look at.
func randomScript(t *rapid.T) *scripted {
	s := newScript()
	s.user("do it")
	classes := []rollout.PollClass{rollout.PollEmpty, rollout.PollProgress, rollout.PollFinal, rollout.PollUnknown, rollout.PollLost}
	word := rapid.SampledFrom([]string{"alpha.go", "beta.go", "lines of text", "alpha.go here", "x"})
	for range rapid.IntRange(1, 12).Draw(t, "requests") {
		var asks []ask
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			switch rapid.IntRange(0, 3).Draw(t, "call") {
			case 0:
				asks = append(asks, starts(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "task")))
			case 1:
				asks = append(asks, polls(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "task"), rapid.SampledFrom(classes).Draw(t, "class"), word.Draw(t, "result")))
			case 2:
				asks = append(asks, reads(word.Draw(t, "path"), word.Draw(t, "result")))
			case 3:
				asks = append(asks, edits(word.Draw(t, "path")))
			}
		}
		s.request(rapid.Int64Range(300, 500).Draw(t, "input"), rapid.Int64Range(1, 50).Draw(t, "output"), reply{text: "said", asks: asks, read: rapid.Int64Range(0, 300).Draw(t, "read")})
		switch rapid.IntRange(0, 5).Draw(t, "then") {
		case 0:
			s.run++
			s.user("and more")
		case 1:
			s.notify("a")
		case 2:
			s.run++
			s.notify("a", "b")
		}
	}
	return s
}

func TestRandomSessions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := randomScript(rt).recorded(t)
		for name, step := range requestVariants() {
			p := step.Variant.Plan(v, step.Values)
			sound(rt, v, p)
			require.Equal(rt, p, step.Variant.Plan(v, step.Values), name)
			require.LessOrEqual(rt, len(p.Removals), len(v.Session.Requests), name)
			for _, high := range []bool{false, true} {
				checkAgainstEngine(rt, t, v, p, high, name)
			}
		}
		checkBounds(rt, v)
	})
}

// checkAgainstEngine compares the engine with a walk over every span at every request.
func checkAgainstEngine(rt require.TestingT, t *testing.T, v replay.View, p replay.Plan, high bool, name string) {
	input, output, requests := pricedInput(v, p, high)
	low, top := priced(t, v, p)
	got := low
	if high {
		got = top
	}
	sumIn, sumOut, n := *got.Total.InputTokens, *got.Total.OutputTokens, got.Total.Requests
	if len(p.Extras) > 0 {
		sumIn, sumOut, n = sumIn+*got.Extra.InputTokens, sumOut+*got.Extra.OutputTokens, n+got.Extra.Requests
	}
	require.Equal(rt, []int64{input, output, requests}, []int64{sumIn, sumOut, n}, "%s, high %v", name, high)
}

// checkBounds holds the two variants that remove requests against what the audit
// says they could save at most, counted anew from the calls.
func checkBounds(t require.TestingT, v replay.View) {
	var recorded int64
	for _, r := range v.Session.Requests {
		if !r.Inherited && r.Usage.Input != nil {
			recorded += *r.Usage.Input
		}
	}
	input, _, _ := pricedInput(v, InlineBatching().Plan(v, replay.Values{"push": "count"}), true)
	require.LessOrEqual(t, recorded-input, pollingBound(v))
	input, _, _ = pricedInput(v, InlineBatching().Plan(v, nil), true)
	require.LessOrEqual(t, recorded-input, pollingBound(v)+noticeBound(v))
	input, _, _ = pricedInput(v, BatchReads().Plan(v, nil), true)
	require.LessOrEqual(t, recorded-input, serialBound(v))
}

// pollingBound is the audit's: the input of every response that only polled, and
// the calls and results of those in the requests after their episode.
func pollingBound(v replay.View) int64 {
	s := v.Session
	only := pollingRequests(s)
	bound := int64(0)
	for i, r := range s.Requests {
		if !only[i] {
			continue
		}
		bound += *r.Usage.Input
		last := r.Number // of the episode
		for _, next := range s.Requests[i:] {
			if next.Chain == r.Chain && next.Status == rollout.Answered && !next.Inherited {
				if k := indexOf(s, next); next.Run != r.Run || !only[k] {
					break
				}
				last = next.Number
			}
		}
		for _, c := range s.Calls {
			if c.Request != i {
				continue
			}
			for k, sp := range s.Spans {
				if (sp.Item == c.ArgsItem || sp.Item == c.ResultItem) && sp.Last > last {
					bound += int64(sp.Last-max(sp.First-1, last)) * known(v.Sizes.Spans[k].Tokens)
				}
			}
		}
	}
	return bound
}

// noticeBound is everything that notifications cost: themselves wherever they were
// carried, and the whole input of every request that was first to carry one and
// whose answer asked for nothing, with that answer wherever it was carried.
func noticeBound(v replay.View) int64 {
	s := v.Session
	asked := map[int]bool{}
	for _, c := range s.Calls {
		asked[c.Request] = true
	}
	first, carried := map[[2]int]bool{}, map[int]int64{}
	for k, sp := range s.Spans {
		carried[sp.Item] += int64(sp.Last-sp.First+1) * known(v.Sizes.Spans[k].Tokens)
		if strings.HasPrefix(s.Texts[sp.Text].S, "<task-notification>") {
			first[[2]int{sp.Chain, sp.First}] = true
		}
	}
	bound := int64(0)
	for item, it := range s.Items {
		idle := it.Request >= 0 && !asked[it.Request] && first[[2]int{s.Requests[it.Request].Chain, s.Requests[it.Request].Number}]
		if idle || strings.HasPrefix(s.Texts[it.Text].S, "<task-notification>") {
			bound += carried[item]
		}
	}
	for i, r := range s.Requests {
		if first[[2]int{r.Chain, r.Number}] && !asked[i] {
			bound += *r.Usage.Input
		}
	}
	return bound
}

func indexOf(s *rollout.Session, r rollout.Request) int {
	for i := range s.Requests {
		if s.Requests[i].Chain == r.Chain && s.Requests[i].Number == r.Number {
			return i
		}
	}
	return -1
}

func pollingRequests(s *rollout.Session) map[int]bool {
	only := map[int]bool{}
	for _, c := range s.Calls {
		if c.Request >= 0 && !c.Inherited {
			only[c.Request] = true
		}
	}
	for _, c := range s.Calls {
		if c.Request >= 0 && (c.Poll == rollout.NoPoll || s.Requests[c.Request].Status != rollout.Answered || s.Requests[c.Request].Inherited) {
			only[c.Request] = false
		}
	}
	return only
}

// serialBound is the input of every request that asked for one read-only call
// right after another such request of its run.
func serialBound(v replay.View) int64 {
	s := v.Session
	count := map[int]int{}
	for _, c := range s.Calls {
		if c.ReadOnly && c.Ran && c.Poll == rollout.NoPoll {
			count[c.Request]++
		} else {
			count[c.Request] += 2
		}
	}
	bound, before := int64(0), -1
	for i, r := range s.Requests {
		if before >= 0 && count[i] == 1 && count[before] == 1 && r.Run == s.Requests[before].Run {
			bound += *r.Usage.Input
		}
		before = i
	}
	return bound
}

// Every variant on every invented log: sound plans, the same twice, and no more
// requests removed than there are.
func TestInventedLogs(t *testing.T) {
	for _, format := range []string{"freecode", "codex", "claude-code"} {
		for _, v := range logged(t, filepath.Join("..", "..", "testdata", format)) {
			for name, step := range requestVariants() {
				p := step.Variant.Plan(v, step.Values)
				sound(t, v, p)
				require.Equal(t, p, step.Variant.Plan(v, step.Values), "%s on %s", name, v.Session.ID)
				require.LessOrEqual(t, len(p.Removals), len(v.Session.Requests))
			}
		}
	}
}

func viewOf(t *testing.T, list []replay.View, id string) replay.View {
	t.Helper()
	for _, v := range list {
		if strings.HasSuffix(v.Session.ID, id) {
			return v
		}
	}
	require.Fail(t, "no session "+id)
	return replay.View{}
}

// The numbers of the invented logs, by hand.
func TestInventedLogsByHand(t *testing.T) {
	root := filepath.Join("..", "..", "testdata")
	freecode := logged(t, filepath.Join(root, "freecode"))
	claude := logged(t, filepath.Join(root, "claude-code"))
	codex := logged(t, filepath.Join(root, "codex"))

	// sep-1: one empty poll, 1100 tokens, and a sub-agent started later in the run;
	// the notification rode in the request after that, which was made anyway.
	sep := viewOf(t, freecode, "sep-1")
	p := InlineBatching().Plan(sep, nil)
	assert.Equal(t, []replay.Removal{{Request: 1, Why: "poll-empty"}}, p.Removals)
	assert.Contains(t, p.Warnings, "1 notification: 1 free, 0 bought, 0 redundant.")
	low, high := priced(t, sep, p)
	assert.EqualValues(t, 6850, *low.Total.InputTokens)
	assert.EqualValues(t, 6850-1100, *high.Total.InputTokens)

	// 06: looks in requests 1, 2 and 3, then a command that has nothing to do with
	// them. The end was told by a notification that started a run; what that run read
	// came after it.
	six := viewOf(t, claude, "000000000006")
	p = InlineBatching().Plan(six, nil)
	assert.Equal(t, []replay.Removal{
		{Request: 1, Certain: true, Why: "poll-progress"}, {Request: 2, Certain: true, Why: "poll-empty"}, {Request: 3, Why: "poll-progress"},
	}, p.Removals)
	assert.Contains(t, p.Warnings, "1 notification: 0 free, 1 bought, 0 redundant.")

	// poll-0.104: one look at session 7 that brought the end; nothing else to do.
	one := viewOf(t, codex, "019c8b0d-0000-7000-8000-000000000001")
	p = InlineBatching().Plan(one, nil)
	assert.Empty(t, p.Removals)
	assert.Equal(t, []string{"1 polling response in 1 episode: 1 final."}, p.Warnings)

	// aug-1: two reads at once, later a refused command and an edit at once.
	p = Serialize().Plan(viewOf(t, freecode, "aug-1"), nil)
	require.Len(t, p.Extras, 2)
	assert.Equal(t, []int{0, 2}, []int{p.Extras[0].After, p.Extras[1].After})
}

// The bounds also hold for real logs; inherited and unanswered requests are in these.
func TestBoundsOnRealLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all logs")
	}
	for _, format := range []string{"freecode", "codex", "claude"} {
		for _, v := range logged(t, devdata.Dir(t, format)) {
			p := InlineBatching().Plan(v, replay.Values{"push": "count"})
			sound(t, v, p)
			only, count := pollingRequests(v.Session), 0
			for _, polling := range only {
				if polling {
					count++
				}
			}
			assert.LessOrEqual(t, len(p.Removals), count, v.Session.ID)
			for _, step := range requestVariants() {
				sound(t, v, step.Variant.Plan(v, step.Values))
			}
		}
	}
}

// A later variant of a combination leaves alone what an earlier one removed.
func TestCombined(t *testing.T) {
	v := twoTasks(edits("readme")).request(1400, 5, reply{text: "done"}).recorded(t)
	e := &replay.Engine{Count: v.Count}
	twice := e.Plan(t.Context(), v.Recording, replay.Use{Name: "both", Steps: []replay.Step{{Variant: InlineBatching()}, {Variant: InlineBatching()}}})
	once := e.Plan(t.Context(), v.Recording, replay.Use{Name: "one", Steps: []replay.Step{{Variant: InlineBatching()}}})
	assert.Equal(t, fmt.Sprint(once.Removals), fmt.Sprint(twice.Removals))
	assert.Len(t, twice.Edits, len(once.Edits))
}
