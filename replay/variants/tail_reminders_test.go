package variants

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// A front of 1,000 words is not logged. Request 2 reads only that front although
// nothing logged changed: a block between front and conversation came. Request 3
// reads all that request 2 sent.
func unloggedBlock() *scripted {
	long := ""
	for range 2000 {
		long += "word "
	}
	s := newScript().user(long).
		request(3000, 1, reply{text: "a", read: 0}).
		request(3001, 1, reply{text: "b", read: 1000}).
		request(3002, 1, reply{text: "c", read: 3001})
	s.b.Session.Missing = []string{"system prompt", "reminders"}
	return s
}

func TestTailRemindersUnlogged(t *testing.T) {
	v := unloggedBlock().recorded(t)
	p := TailReminders().Plan(v, nil)
	// Lost at request 2: 3000 - 1000 = 2000 > 256, and 1000 <= 1000 + 0 + 256.
	assert.Equal(t, []replay.CacheFix{{Request: 1, Why: "block-before-conversation"}}, p.Fixes)
	assert.Empty(t, p.Edits)
	input, _, _ := pricedInput(v, p, false)
	assert.EqualValues(t, 3000+3001+3002, input, "as many tokens are sent")
	assert.Contains(t, p.Warnings[0], "1 cache break")
}

// The same in USD, at 10 a million in and 1 from the cache: request 2 reads the
// front and the text, 3,000 instead of 1,000, so 2,000 words cost 9 a million less.
func TestTailRemindersInUSD(t *testing.T) {
	v := unloggedBlock().recorded(t)
	e := &replay.Engine{
		Count: v.Count,
		Cache: replay.CacheModel{Families: []replay.CacheFamily{{Name: "plain", Block: 1, LifetimeS: 300}}},
		Price: func(string, string) (replay.Rates, bool) {
			return replay.Rates{Input: 10, CacheRead: 1, CacheWrite5m: 10, CacheWrite1h: 10, Output: 0}, true
		},
	}
	recorded := e.Evaluate(v.Recording, replay.Plan{}, false)
	moved := e.Evaluate(v.Recording, TailReminders().Plan(v, nil), false)
	assert.InDelta(t, (3000*10+2001*10+1000*1+1*10+3001*1)/1e6, *recorded.Total.CostUSD, 1e-12)
	assert.InDelta(t, 2000*9/1e6, *recorded.Total.CostUSD-*moved.Total.CostUSD, 1e-12)
	assert.Equal(t, *recorded.Total.InputTokens, *moved.Total.InputTokens)
	assert.EqualValues(t, 3000, *moved.Requests[1].CacheRead)
}

// A cache read of 0 is a figure: nothing was served, so nothing could break.
func TestTailRemindersWithoutAnyRead(t *testing.T) {
	v := newScript().user("hello there").request(3000, 1, reply{text: "a", read: 0}).request(3001, 1, reply{text: "b", read: 0}).recorded(t)
	for i := range v.Session.Requests {
		v.Session.Requests[i].Usage.CacheRead = new(int64)
		v.Session.Requests[i].Usage.CacheWrite = nil
	}
	p := TailReminders().Plan(v, nil)
	assert.Empty(t, p.Unsupported)
	assert.Empty(t, p.Edits)
	assert.Empty(t, p.Fixes)
	assert.Equal(t, []string{"by its cache figures nothing was read from a cache here: there is no prefix that could break"}, p.Warnings)
}

func TestTailRemindersLeavesOtherBreaks(t *testing.T) {
	cases := map[string]func(*scripted){
		"the log holds reminders":            func(s *scripted) { s.b.Session.Missing = nil },
		"another model":                      func(s *scripted) { s.b.Session.Requests[1].Model = "other" },
		"another run":                        func(s *scripted) { s.b.Session.Requests[1].Run = 2; s.b.Session.Requests[2].Run = 2 },
		"the cache reads into the text":      func(s *scripted) { read := int64(1300); s.b.Session.Requests[1].Usage.CacheRead = &read },
		"nothing was read":                   func(s *scripted) { read := int64(0); s.b.Session.Requests[1].Usage.CacheRead = &read },
		"the loss is rounding":               func(s *scripted) { input := int64(1256); s.b.Session.Requests[0].Usage.Input = &input },
		"a compaction stood between the two": func(s *scripted) { s.b.Session.Requests[1].Kind = rollout.KindCompaction },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			s := unloggedBlock()
			change(s)
			assert.Empty(t, TailReminders().Plan(s.recorded(t), nil).Fixes)
		})
	}
}

// A logged reminder in front of the conversation, there in request 2 only.
func TestTailRemindersLogged(t *testing.T) {
	s := newScript().user("hello there").request(102, 1, reply{text: "a"})
	note := s.chain.Add(rollout.SlotContext, s.b.Item(rollout.Item{Kind: rollout.Reminder, Origin: rollout.Logged, Request: -1, Text: s.b.Text("mind the list")}))
	s.request(106, 1, reply{text: "b", read: 100})
	s.chain.Remove(note)
	v := s.request(104, 1, reply{read: 100}).recorded(t)
	p := TailReminders().Plan(v, nil)
	require.Len(t, p.Edits, 1)
	require.Len(t, p.Additions, 1)
	assert.Equal(t, "mind the list", p.Additions[0].Text)
	assert.Equal(t, []int{2, 2}, []int{p.Additions[0].First, p.Additions[0].Last})
	assert.GreaterOrEqual(t, p.Additions[0].Position, tailStart)
	input, _, _ := pricedInput(v, p, false)
	assert.EqualValues(t, 102+106+104, input, "as many tokens are sent")
}

func TestTailRemindersNeedsCacheFigures(t *testing.T) {
	v := newScript().user("x").request(10, 1, reply{}).recorded(t)
	v.Session.Requests[0].Usage.CacheRead = nil
	assert.Contains(t, TailReminders().Plan(v, nil).Unsupported, "the log holds no cache figures")
}
