package demo

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/freecode"
)

func TestUnpack(t *testing.T) {
	path, err := Unpack(t.TempDir())
	require.NoError(t, err)
	sessions, err := freecode.Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	s := sessions[0]
	assert.Empty(t, s.Problems, "the session keeps FreeCode's rules")
	assert.Equal(t, "/home/dev/tidewater", s.CWD)

	// The steps of the script's three runs, and one attempt that failed.
	assert.Len(t, s.Requests, 24+17+12+1)
	runs, retries, last := 0, 0, rollout.Request{}
	for _, r := range s.Requests {
		runs = max(runs, r.Run)
		if r.Attempt > 1 {
			retries++
		}
		last = r
	}
	assert.Equal(t, 3, runs)
	assert.Equal(t, 1, retries)

	// What the log holds and what the usage says differ, from the first to the
	// last request, by nothing but blocks that FreeCode does not log.
	unlogged := *last.Usage.Input - 4**last.Messages - carried(s, last.Number)
	first := s.Requests[0]
	atFirst := *first.Usage.Input - 4**first.Messages - carried(s, 1)
	todo := "Current to-do list:\n[x] Find how the export computes times\n[x] Write a test for the night of the change\n[x] Fix the export\n[x] Run the tests"
	assert.Equal(t, atFirst+tokens.New().Count(tokens.O200K, todo), unlogged, "the last request has no reminder")
}

// carried counts the logged content of a request of the main chain.
func carried(s *rollout.Session, request int) int64 {
	count, sum := tokens.New(), int64(0)
	for _, sp := range s.Spans {
		if sp.Chain == 0 && sp.First <= request && request <= sp.Last {
			sum += count.Count(tokens.O200K, s.Texts[sp.Text].S)
		}
	}
	return sum
}
