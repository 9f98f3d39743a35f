package codex

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// sums are the totals of a session's own requests.
type sums struct {
	requests                            int
	input, cacheRead, output, reasoning int64
	cacheWrite                          int64
	cacheWriteKnown                     bool
}

func sumOf(s *rollout.Session) sums {
	var t sums
	for _, r := range s.Requests {
		if r.Inherited {
			continue
		}
		t.requests++
		t.input += amount(r.Usage.Input)
		t.cacheRead += amount(r.Usage.CacheRead)
		t.output += amount(r.Usage.Output)
		t.reasoning += amount(r.Usage.Reasoning)
		t.cacheWrite += amount(r.Usage.CacheWrite)
		t.cacheWriteKnown = t.cacheWriteKnown || r.Usage.CacheWrite != nil
	}
	return t
}

func readOne(t testing.TB, path string) *rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	return sessions[0]
}

// knownTotals were counted independently of this package: token_count events
// whose total changed, their last_token_usage.
var knownTotals = map[string]sums{
	"chromeext-0223-0041-child.jsonl": {requests: 45, input: 734302, cacheRead: 649856, output: 9632, reasoning: 6336},
	"chromeext-0224-0011.jsonl":       {requests: 92, input: 7386119, cacheRead: 6953600, output: 41196, reasoning: 20264},
	"chromeext-0224-0146.jsonl":       {requests: 47, input: 2089368, cacheRead: 1894400, output: 16262, reasoning: 5078},
	"devenv-0219-2116-root.jsonl":     {requests: 24, input: 844311, cacheRead: 719360, output: 9328, reasoning: 2649},
	"devenv-0219-2124-child.jsonl":    {requests: 21, input: 586059, cacheRead: 520704, output: 19223, reasoning: 4607},
	"devenv-0317-1529.jsonl":          {requests: 27, input: 1337510, cacheRead: 1203328, output: 21394, reasoning: 4456},
	"mjepa-0726-head.jsonl":           {requests: 154, input: 20780790, cacheRead: 20026112, output: 83274, reasoning: 18200, cacheWriteKnown: true},
	"moonmind-1112.jsonl":             {requests: 102, input: 3633593, cacheRead: 3248000, output: 45096, reasoning: 18816},
	"moonmind-1113b.jsonl":            {requests: 43, input: 1064529, cacheRead: 1019264, output: 25658, reasoning: 19968},
}

func TestKnownTotals(t *testing.T) {
	for name, want := range knownTotals {
		t.Run(name, func(t *testing.T) {
			s := readOne(t, devdata.Dir(t, "codex", name))
			assert.Equal(t, want, sumOf(s))
			for _, p := range s.Problems {
				t.Logf("line %d %s: %s (%d)", p.Line, p.Kind, p.Detail, p.Count)
			}
		})
	}
}
