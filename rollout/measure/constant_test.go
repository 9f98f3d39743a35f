package measure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// turn is one request of a made-up session: words new to it, and its usage.
type turn struct {
	words       int
	input, read int64 // input 0: no usage
	failed      bool
	chain       int
}

// sessionOfTurns builds a session of one message per turn; a word is a token.
func sessionOfTurns(model string, missing []string, turns []turn) *rollout.Session {
	b := rollout.NewBuilder("test")
	b.Session.Missing = missing
	chains := []*rollout.Chain{b.Chain(), b.Chain()}
	for _, x := range turns {
		it := b.Item(rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text(strings.Repeat(" word", x.words))})
		chains[x.chain].Add(rollout.SlotConversation, it)
		r := rollout.Request{Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Model: model, Status: rollout.Answered}
		if x.failed {
			r.Status = rollout.Errored
		}
		if x.input > 0 {
			r.Usage.Input, r.Usage.CacheRead = &x.input, &x.read
		}
		chains[x.chain].Request(r)
	}
	return b.Finish()
}

// A message is framed with 4 tokens by default for these models, and a quarter of
// that, with 4 more for the request, is the error of a single one.
func TestConstant(t *testing.T) {
	front := []string{"system prompt", "tool definitions"}
	for _, c := range []struct {
		name    string
		model   string
		missing []string
		turns   []turn
		want    []*Constant
	}{
		// 2104 - 100 - 4 = 2000, ± 1 + 4. The second leaves over 2060, of which 60 change.
		{"public encoding", "gpt-5", front, []turn{{words: 100, input: 2104}, {words: 50, input: 2218}},
			[]*Constant{{2000, 1995, 2005, FromFirst}, {2000, 1995, 2005, FromFirst}}},
		// 2154 - 150 - 8 = 1996 ± 2 + 4 may be an error of counting: the bounds hold both.
		{"a little less later on", "gpt-5", front, []turn{{words: 100, input: 2104}, {words: 50, input: 2154}},
			[]*Constant{{2000, 1990, 2005, FromFirst}, {2000, 1990, 2005, FromFirst}}},
		// No factor could be fitted: a quarter of 100 on top, ± 30.
		{"too few to calibrate", "kimi", front, []turn{{words: 100, input: 2104}},
			[]*Constant{{2000, 1970, 2030, FromFirst}}},
		// 2000, then 3208 - 1100 - 8 = 2100, then 2712 - 1200 - 12 = 1500:
		// the first 500 were not constant. ± 3 + 4.
		{"not constant after all", "gpt-5", front, []turn{{words: 100, input: 2104}, {words: 1000, input: 3208}, {words: 100, input: 2712}},
			[]*Constant{{1507, 1493, 1507, FromCalibration}, {1507, 1493, 1507, FromCalibration}, {1507, 1493, 1507, FromCalibration}}},
		// 4000 ± 1000 × 1/4 + 5 by the first. Two conversations of 1000 and 3000 words were
		// served 3968 = 31 × 128 tokens alike: 3968 to 4095.
		{"a prefix survives", "kimi", front, []turn{{words: 1000, input: 5004, read: 3968}, {words: 2000, input: 7008, read: 3968}},
			[]*Constant{{4000, 3968, 4095, FromCache}, {4000, 3968, 4095, FromCache}}},
		// A read that grows with the conversation tells of nothing but the cache.
		{"reads into the conversation", "gpt-5", front, []turn{{words: 100, input: 2104}, {words: 50, input: 2158, read: 2048}},
			[]*Constant{{2000, 1995, 2005, FromFirst}, {2000, 1995, 2005, FromFirst}}},
		{"a failed attempt has one too", "gpt-5", front, []turn{{words: 100, failed: true}, {words: 50, input: 2158}},
			[]*Constant{{2000, 1994, 2006, FromFirst}, {2000, 1994, 2006, FromFirst}}},
		{"a branch without usage has the main chain's", "gpt-5", front, []turn{{words: 100, input: 2104}, {words: 50, chain: 1}},
			[]*Constant{{2000, 1995, 2005, FromFirst}, {2000, 1995, 2005, FromFirst}}},
		{"all of it logged", "gpt-5", []string{"reminders"}, []turn{{words: 100, input: 110}}, []*Constant{{Method: FromLog}}},
		{"no usage", "gpt-5", front, []turn{{words: 100}}, []*Constant{nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Measure(sessionOfTurns(c.model, c.missing, c.turns), tokens.New())
			require.Len(t, m.Requests, len(c.want))
			for i := range c.want {
				assert.Equal(t, c.want[i], m.Requests[i].Constant, "request %d", i+1)
			}
		})
	}
}

// Two turns of 100 and 300 words on a public encoding, framed with 4 and 8 tokens;
// the session's input is 4412: (4412 - 400 - 12) ÷ 2 = 2000. The error of a request
// is (4 + 8) ÷ 4 ÷ 2 + 4 = 5.5; 1994.5 and 2005.5 round away from zero.
func TestConstantFromTotals(t *testing.T) {
	s := sessionOfTurns("gpt-5", []string{"tool definitions"}, []turn{{words: 100}, {words: 200}})
	total := int64(4412)
	s.Reported = []rollout.Reported{{Usage: rollout.Usage{Input: &total}}}
	m := Measure(s, tokens.New())
	want := &Constant{2000, 1995, 2006, FromTotals}
	assert.Equal(t, want, m.Requests[0].Constant)
	assert.Equal(t, want, m.Requests[1].Constant)
	assert.Nil(t, m.Requests[1].Unlogged, "which is unknown all the same")
}

// Only turns go out with the same front again and again.
func TestConstantOfTurnsAlone(t *testing.T) {
	s := sessionOfTurns("gpt-5", []string{"system prompt"}, []turn{{words: 100, input: 2104}, {words: 50, input: 900, chain: 1}})
	s.Requests[1].Kind = rollout.KindCompaction
	m := Measure(s, tokens.New())
	assert.NotNil(t, m.Requests[0].Constant)
	assert.Nil(t, m.Requests[1].Constant)
}
