package rollout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// every makes n answered requests of one chain, a step apart, of input tokens each.
func every(n int, step time.Duration, input int64) []Request {
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	out := make([]Request, n)
	for i := range out {
		out[i] = Request{Status: Answered, Time: start.Add(time.Duration(i) * step), Usage: Usage{Input: &input}}
	}
	return out
}

func doubtsOf(s Session) map[string]int {
	out := map[string]int{}
	for _, p := range Doubts(&s) {
		out[p.Kind] += p.Count
	}
	return out
}

func TestDoubts(t *testing.T) {
	inherited := every(500, time.Millisecond, 5)
	for i := range inherited {
		inherited[i].Inherited = true
	}
	helpers := every(480, 250*time.Millisecond, 5)
	for i := range helpers { // two conversations, each every half second
		helpers[i].Chain = i % 2
	}
	for name, c := range map[string]struct {
		s    Session
		want map[string]int
	}{
		"opened and closed":            {Session{Records: 19}, map[string]int{}},
		"a renamed record type":        {Session{Records: 20}, map[string]int{"no-requests": 1}},
		"only billed elsewhere":        {Session{Records: 200, OtherBilled: make([]OtherBilled, 1)}, map[string]int{}},
		"reported as a whole":          {Session{Records: 200, Reported: make([]Reported, 1)}, map[string]int{}},
		"a gateway that reports zeros": {Session{Requests: every(10, time.Minute, 0)}, map[string]int{"no-tokens": 10}},
		"a few zeros":                  {Session{Requests: every(9, time.Minute, 0)}, map[string]int{}},
		"zeros beside figures":         {Session{Requests: append(every(10, time.Minute, 0), every(1, time.Minute, 7)...)}, map[string]int{}},
		"unknown is not zero":          {Session{Requests: make([]Request, 10)}, map[string]int{}},
		"4 a second for a minute":      {Session{Requests: every(240, 250*time.Millisecond, 5)}, map[string]int{}},
		"4 a second for an hour":       {Session{Requests: every(4*3600, 250*time.Millisecond, 5)}, map[string]int{}},
		"39,110 in an hour":            {Session{Requests: every(39_110, time.Hour/39_110, 5)}, map[string]int{"request-rate": 39_110}},
		"a burst in a quiet session":   {Session{Requests: append(every(100, time.Hour, 5), every(300, 0, 5)...)}, map[string]int{"request-rate": 301}}, // one of the hundred is at the same time
		"copied history":               {Session{Requests: inherited}, map[string]int{}},
		"conversations beside another": {Session{Requests: helpers}, map[string]int{}},
		"requests without times":       {Session{Requests: make([]Request, 500)}, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, doubtsOf(c.s)) })
	}
}

func TestDoubtsNameTheLargestRate(t *testing.T) {
	s := Session{File: "log.jsonl", Requests: append(every(241, 0, 5), every(242, 0, 5)...)}
	for i := range s.Requests[241:] {
		s.Requests[241+i].Time = s.Requests[241+i].Time.Add(time.Hour)
	}
	got := Doubts(&s)
	require.Len(t, got, 1)
	assert.Equal(t, Problem{File: "log.jsonl", Kind: "request-rate", Count: 241 + 242,
		Detail: "up to 242 requests follow each other within a minute, more than a provider can answer: times or requests are wrong"}, got[0])
}
