package measure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// Two requests are too few to fit anything. The default for this model is 1.15
// provider tokens for one counted and 15 a message.
func TestDefaultFactorStaysWithinTheInput(t *testing.T) {
	for _, c := range []struct {
		name   string
		inputs [2]int64
		factor float64
	}{
		// 1000 and 1500 counted, one and two messages: (1045 − 15) ÷ 1000 = 1.03 and
		// (1590 − 30) ÷ 1500 = 1.04; the half of the weight is reached at 1.04.
		{"all of it logged", [2]int64{1045, 1590}, 1.04},
		{"much not logged", [2]int64{9000, 9600}, 1.15},
		{"impossible figures", [2]int64{1, 1}, minFactor},
	} {
		b := rollout.NewBuilder("test")
		chain := b.Chain()
		for i, words := range []int{1000, 500} {
			it := b.Item(rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text(strings.Repeat(" word", words))})
			chain.Add(rollout.SlotConversation, it)
			chain.Request(rollout.Request{Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Model: "claude-x", Status: rollout.Answered, Usage: rollout.Usage{Input: &c.inputs[i]}})
		}
		s := b.Finish()
		m := Measure(s, tokens.New())
		require.EqualValues(t, 1000, m.Requests[0].Counted, "a word is a token")
		require.EqualValues(t, 1500, m.Requests[1].Counted)
		assert.InDelta(t, c.factor, m.Calibration[0].Factor, 1e-9, c.name)
		assert.True(t, strings.HasPrefix(m.Calibration[0].Method, MethodDefault), c.name)
	}
}
