package variants

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// twoTasks is two background tasks whose two results take four model calls to
// collect, then Q.
func twoTasks(q ...ask) *scripted {
	return newScript().user("build both").
		request(1000, 20, reply{asks: []ask{starts("one"), starts("two")}}).
		request(1100, 10, reply{asks: []ask{polls("one", rollout.PollEmpty, "still running")}}).
		request(1150, 11, reply{asks: []ask{polls("one", rollout.PollFinal, "one has passed all")}}).
		request(1200, 12, reply{asks: []ask{polls("two", rollout.PollEmpty, "running on")}}).
		request(1250, 13, reply{asks: []ask{polls("two", rollout.PollFinal, "two has passed")}}).
		request(1300, 30, reply{text: "both passed", asks: q})
}

func TestTwoTasksFourCallsTwoResults(t *testing.T) {
	v := twoTasks(edits("readme")).request(1400, 5, reply{text: "done"}).recorded(t)
	p := InlineBatching().Plan(v, nil)

	// Four polling responses in one episode: 3 requests go for certain, the 4th
	// because Q edits a file whatever the results were.
	assert.Equal(t, []replay.Removal{
		{Request: 1, Certain: true, Why: "poll-empty"},
		{Request: 2, Certain: true, Why: "poll-final"},
		{Request: 3, Certain: true, Why: "poll-empty"},
		{Request: 4, Why: "poll-final"},
	}, p.Removals)
	assert.Equal(t, []string{"4 polling responses in 1 episode: 2 empty, 2 final. The last of an episode goes only at the high end, in 1 episode with other work to do."}, p.Warnings)

	// Later requests lose the arguments of the first three polls (2 words each) and
	// the two empty results (2 words each): 10. Both final results stay, for they
	// ride in Q.
	const gone = 3*2 + 2*2
	less := saved(v, p)
	assert.Equal(t, []int64{gone, gone, gone}, less[4:])
	for _, text := range []string{"one has passed all", "two has passed"} {
		assert.True(t, staysEverywhere(v, p, text), text)
	}

	// Recorded: 1000 + 1100 + 1150 + 1200 + 1250 + 1300 + 1400 = 8400 in, 20 + 10 + 11 + 12 + 13 + 30 + 5 = 101 out.
	input, output, requests := pricedInput(v, p, false)
	assert.EqualValues(t, 8400-(1100+1150+1200)-3*gone, input)
	assert.EqualValues(t, 101-(10+11+12), output)
	assert.EqualValues(t, 7-3, requests)
	input, output, requests = pricedInput(v, p, true)
	assert.EqualValues(t, 8400-(1100+1150+1200+1250)-2*gone, input)
	assert.EqualValues(t, 101-(10+11+12+13), output)
	assert.EqualValues(t, 7-4, requests)

	low, high := priced(t, v, p)
	assert.EqualValues(t, 8400-3450-30, *low.Total.InputTokens)
	assert.EqualValues(t, 8400-4700-20, *high.Total.InputTokens)
	assert.EqualValues(t, 68, *low.Total.OutputTokens)
	assert.EqualValues(t, 55, *high.Total.OutputTokens)
}

// staysEverywhere says whether no edit touches the spans of a text.
func staysEverywhere(v replay.View, p replay.Plan, text string) bool {
	found := false
	for i, sp := range v.Session.Spans {
		if v.Session.Texts[sp.Text].S != text {
			continue
		}
		found = true
		for _, e := range p.Edits {
			if e.Span == i {
				return false
			}
		}
	}
	return found
}

// The model had nothing else to do: it would have ended its turn once, so the last
// polling request stays.
func TestNoOtherWork(t *testing.T) {
	p := InlineBatching().Plan(twoTasks().recorded(t), nil)
	require.Len(t, p.Removals, 3)
	for _, r := range p.Removals {
		assert.True(t, r.Certain)
	}
	// Q rests on what the poll told: "passed-suite" stands in the result only.
	v := newScript().user("go").
		request(100, 1, reply{asks: []ask{starts("one")}}).
		request(110, 1, reply{asks: []ask{polls("one", rollout.PollFinal, "see passed-suite log")}}).
		request(120, 1, reply{asks: []ask{reads("passed-suite", "fine")}}).recorded(t)
	assert.Empty(t, InlineBatching().Plan(v, nil).Removals)
}

func TestEpisodes(t *testing.T) {
	one := polls("one", rollout.PollEmpty, "nothing")
	last := polls("one", rollout.PollFinal, "ended")
	cases := []struct {
		name    string
		script  *scripted
		certain []int
		maybe   []int
	}{
		{
			name: "a call beside a poll makes it no polling request", certain: nil,
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one, reads("a", "b")}}).request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{}),
		},
		{
			name: "work between polls ends an episode", certain: []int{0, 4}, maybe: []int{1},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{one}}).
				request(10, 1, reply{asks: []ask{edits("f")}}).request(10, 1, reply{text: "hm"}).
				request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{}),
		},
		{
			name: "two polls in one response are one request", certain: []int{0},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one, one}}).request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{}),
		},
		{
			name: "a log that ends while polling: no end is known", maybe: []int{0},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{one}}),
		},
		{
			name: "polls of a task that is stopped then", maybe: []int{0}, certain: nil,
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{one}}).
				request(10, 1, reply{asks: []ask{touches("one")}}).request(10, 1, reply{}),
		},
		{
			name: "polls of a task that waited for input: only those behind the input waited for the end", certain: []int{3}, maybe: []int{0},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{one}}).
				request(10, 1, reply{asks: []ask{touches("one")}}).
				request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{}),
		},
		{
			name: "the end was told, not read", certain: []int{0},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{text: "later"}).
				notify("one").request(10, 1, reply{}),
		},
		{
			name: "a server beside a task that ends: its polls would not have been answered", certain: []int{0}, maybe: []int{1, 2},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).request(10, 1, reply{asks: []ask{polls("server", rollout.PollProgress, "hit")}}).
				request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{asks: []ask{polls("server", rollout.PollEmpty, "nothing")}}).request(10, 1, reply{}),
		},
		{
			name: "waits without a task: for what ended in the same episode", certain: []int{0},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{polls("", rollout.PollUnknown, "")}}).request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{}),
		},
		{
			name: "waits without a task and without an end", maybe: []int{0},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{polls("", rollout.PollUnknown, "")}}).request(10, 1, reply{asks: []ask{polls("", rollout.PollUnknown, "")}}).request(10, 1, reply{}),
		},
		{
			name: "an answer to the user would have come in any case", certain: []int{0}, maybe: []int{1},
			script: newScript().user("x").request(10, 1, reply{asks: []ask{one}}).user("how is it?").request(10, 1, reply{asks: []ask{one}}).
				request(10, 1, reply{asks: []ask{last}}).request(10, 1, reply{}),
		},
		{name: "no polls", script: newScript().user("x").request(10, 1, reply{asks: []ask{edits("f")}}).request(10, 1, reply{})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var certain, maybe []int
			for _, r := range InlineBatching().Plan(c.script.recorded(t), nil).Removals {
				if r.Certain {
					certain = append(certain, r.Request)
				} else {
					maybe = append(maybe, r.Request)
				}
			}
			assert.Equal(t, c.certain, certain)
			assert.Equal(t, c.maybe, maybe)
		})
	}
}

// An install hangs: three polls bring nothing, then it is stopped. No completion could
// have been delivered, so nothing is certain to be saved.
func TestHungInstall(t *testing.T) {
	hung := func() ask { return polls("install", rollout.PollEmpty, "still running") }
	v := newScript().user("install it").
		request(1000, 20, reply{asks: []ask{starts("install")}}).
		request(1100, 10, reply{asks: []ask{hung()}}).
		request(1110, 11, reply{asks: []ask{hung()}}).
		request(1120, 12, reply{asks: []ask{hung()}}).
		request(1130, 13, reply{asks: []ask{touches("install")}}).
		request(1200, 5, reply{text: "it hung"}).recorded(t)
	p := InlineBatching().Plan(v, nil)
	// The call that stops the install rests on them, so the last of the three stays at
	// the high end too.
	assert.Equal(t, []replay.Removal{{Request: 1, Why: "poll-empty"}, {Request: 2, Why: "poll-empty"}}, p.Removals)
	assert.Empty(t, p.Edits, "what may stay leaves behind what it did")
	require.Len(t, p.Warnings, 1)
	assert.Contains(t, p.Warnings[0], "2 polling responses count only at the high end: the log shows no end of what was asked about")

	// Recorded: 1000 + 1100 + 1110 + 1120 + 1130 + 1200 = 6660 in, 20 + 10 + 11 + 12 + 13 + 5 = 71 out.
	low, high := priced(t, v, p)
	assert.EqualValues(t, 6660, *low.Total.InputTokens)
	assert.EqualValues(t, 71, *low.Total.OutputTokens)
	assert.EqualValues(t, 6660-(1100+1110), *high.Total.InputTokens)
	assert.EqualValues(t, 71-(10+11), *high.Total.OutputTokens)
}

// A run border ends an episode.
func TestEpisodesEndWithTheRun(t *testing.T) {
	s := newScript().user("x").request(10, 1, reply{asks: []ask{polls("one", rollout.PollEmpty, "nothing")}})
	s.run = 2
	s.user("and?").request(10, 1, reply{asks: []ask{polls("one", rollout.PollFinal, "ended")}}).request(10, 1, reply{})
	assert.Empty(t, InlineBatching().Plan(s.recorded(t), nil).Removals)
}

func TestWhatPollsLeaveBehind(t *testing.T) {
	wait := ask{Call: rollout.Call{Tool: "bash", Class: rollout.ShellTool, Poll: rollout.PollUnknown}, args: "sleep 5; tail log", result: "line one"}
	waited := wait
	waited.result = "line one\nline two"
	v := newScript().user("x").
		request(10, 1, reply{asks: []ask{polls("a", rollout.PollProgress, "step 1")}}).            // 0: stands again in the end
		request(10, 1, reply{asks: []ask{polls("b", rollout.PollProgress, "only once")}}).         // 1: does not
		request(10, 1, reply{asks: []ask{polls("c", rollout.PollLost, "no such task")}}).          // 2
		request(10, 1, reply{asks: []ask{wait}}).                                                  // 3: looked at again
		request(10, 1, reply{asks: []ask{waited}}).                                                // 4: the last look stays
		request(10, 1, reply{asks: []ask{polls("b", rollout.PollFinal, "b ended")}}).              // 5
		request(10, 1, reply{asks: []ask{polls("a", rollout.PollFinal, "step 1\nstep 2 ended")}}). // 6
		request(10, 1, reply{text: "done"}).recorded(t)
	p := InlineBatching().Plan(v, nil)
	type left struct {
		dropped, lossy bool
	}
	want := map[string]left{
		"step 1": {true, false}, "only once": {true, true}, "no such task": {true, false}, "line one": {true, false},
		"line one\nline two": {}, "b ended": {}, "step 1\nstep 2 ended": {},
	}
	for text, w := range want {
		got := left{}
		for _, e := range p.Edits {
			if v.Session.Texts[v.Session.Spans[e.Span].Text].S == text {
				got = left{e.Drop, e.Lossy}
			}
		}
		assert.Equal(t, w, got, text)
	}
	assert.Contains(t, p.Warnings[0], "7 polling responses in 1 episode: 2 progress, 2 final, 1 lost, 2 unknown.")
}

func TestNotifications(t *testing.T) {
	work := reply{asks: []ask{edits("f")}}
	start := func() *scripted {
		return newScript().user("x").request(100, 5, reply{asks: []ask{starts("a"), starts("b")}})
	}
	cases := []struct {
		name     string
		script   *scripted
		says     string
		removals []replay.Removal
	}{
		{
			name:   "free: it rode in a request that happened anyway",
			script: start().notify("a").request(110, 6, work).request(120, 7, reply{text: "done"}),
			says:   "1 notification: 1 free, 0 bought, 0 redundant.",
		},
		{
			name:   "bought: the model had finished",
			script: start().request(110, 6, reply{text: "waiting"}).notify("a").request(120, 7, reply{text: "good"}),
			says:   "1 notification: 0 free, 1 bought, 0 redundant.",
		},
		{
			name:   "free: the user wrote as well",
			script: start().request(110, 6, reply{text: "waiting"}).notify("a").user("and").request(120, 7, reply{text: "good"}),
			says:   "1 notification: 1 free, 0 bought, 0 redundant.",
		},
		{
			name: "redundant: the result had been read",
			script: start().request(110, 6, reply{asks: []ask{polls("a", rollout.PollFinal, "fine"), edits("f")}}).
				request(120, 7, reply{text: "done"}).notify("a").request(130, 8, reply{text: "known already"}).user("next").request(140, 9, work),
			says:     "1 notification: 0 free, 0 bought, 1 redundant.",
			removals: []replay.Removal{{Request: 3, Certain: true, Why: "notification-redundant"}},
		},
		{
			name: "redundant, but the answer went on to work",
			script: start().request(110, 6, reply{asks: []ask{polls("a", rollout.PollFinal, "fine"), edits("f")}}).
				request(120, 7, reply{text: "done"}).notify("a").request(130, 8, work).request(140, 9, reply{text: "done"}),
			says: "1 notification: 0 free, 0 bought, 1 redundant.",
		},
		{
			name: "one of two tasks was news",
			script: start().request(110, 6, reply{asks: []ask{polls("a", rollout.PollFinal, "fine"), edits("f")}}).
				request(120, 7, reply{text: "done"}).notify("a", "b").request(130, 8, reply{text: "good"}),
			says: "1 notification: 0 free, 1 bought, 0 redundant.",
		},
		{
			name: "two bought at once are one: the second was sent 200 ms after the first answer had ended",
			script: start().request(110, 6, reply{text: "waiting"}).
				notify("a").request(120, 7, reply{text: "a is good", at: 10 * time.Second, took: 3000}).
				notify("b").request(130, 8, reply{text: "b is good", at: 13*time.Second + 200*time.Millisecond, took: 3000}),
			says:     "2 notifications: 0 free, 2 bought, 0 redundant.",
			removals: []replay.Removal{{Request: 2, Certain: true, Moved: 7, Why: "notifications-pooled"}},
		},
		{
			name: "251 ms later they are two",
			script: start().request(110, 6, reply{text: "waiting"}).
				notify("a").request(120, 7, reply{text: "a is good", at: 10 * time.Second, took: 3000}).
				notify("b").request(130, 8, reply{text: "b is good", at: 13*time.Second + 251*time.Millisecond, took: 3000}),
			says: "2 notifications: 0 free, 2 bought, 0 redundant.",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := c.script.recorded(t)
			p := InlineBatching().Plan(v, nil)
			assert.Equal(t, c.removals, p.Removals)
			assert.Contains(t, p.Warnings, c.says)
			counted := InlineBatching().Plan(v, replay.Values{"push": "count"})
			assert.Empty(t, counted.Removals)
			assert.Empty(t, counted.Edits)
			require.Len(t, counted.Warnings, 1)
			assert.True(t, strings.HasPrefix(counted.Warnings[0], c.says), counted.Warnings[0])
		})
	}
}

// The redundant notification, the request it bought and its answer go: 4 words of
// the notification and 2 of the answer in the one request after them.
func TestRedundantNotificationSaves(t *testing.T) {
	v := newScript().user("x").request(100, 5, reply{asks: []ask{starts("a")}}).
		request(110, 6, reply{asks: []ask{polls("a", rollout.PollFinal, "fine"), edits("f")}}).
		request(120, 7, reply{text: "done"}).notify("a").request(130, 8, reply{text: "known already"}).
		user("next").request(140, 9, reply{text: "ok"}).recorded(t)
	p := InlineBatching().Plan(v, nil)
	const notification = 4 // <task-notification>, <task-id>…, <status>…, </task-notification>
	input, output, _ := pricedInput(v, p, false)
	assert.EqualValues(t, 100+110+120+140-(notification+2), input)
	assert.EqualValues(t, 5+6+7+9, output)
}

func TestInvalidPush(t *testing.T) {
	assert.Contains(t, InlineBatching().Plan(twoTasks().recorded(t), replay.Values{"push": "maybe"}).Unsupported, "push")
}
