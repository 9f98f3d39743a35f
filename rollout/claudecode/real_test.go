package claudecode

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// known are totals counted independently: distinct responses of a file, its
// sub-agent files and its progress lines.
var known = []struct {
	file                                    string
	requests, input, read, write, out, side int64
}{
	{"bt-architect-2.1.220.jsonl", 17, 1441421, 1322997, 118390, 15897, 17},
	{"cb-poll-2.1.39.jsonl", 228, 22789290, 22571097, 217869, 14647, 0},
	{"cb-poll-2.1.44.jsonl", 133, 12529823, 12239758, 289894, 26507, 7},
	{"ent-2.1.1.jsonl", 219, 23326960, 22577493, 732319, 19874, 0},
	{"ent-bg-2.1.37.jsonl", 133, 12118764, 11656193, 459035, 3355, 31},
	{"spe-2.1.174.jsonl", 40, 2831996, 2771630, 60208, 19489, 0},
	{"swe-briefcase-2.0.0.jsonl", 69, 2979907, 2832710, 145607, 7034, 43},
	{"swe-devops-2.1.16.jsonl", 52, 2268772, 2224071, 44646, 254, 0},
	{"vct-1.0.95.jsonl", 31, 1192671, 1093509, 99004, 3860, 0},
	{"ss-subagents-2.1.16/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl", 21, 350257, 278912, 71257, 51, 10},
}

func TestKnownTotals(t *testing.T) {
	for _, k := range known {
		t.Run(k.file, func(t *testing.T) {
			sessions := readAll(t, devdata.Dir(t, "claude", k.file))
			assert.Equal(t, sessions, readAll(t, devdata.Dir(t, "claude", k.file)), "reading twice")
			got := k
			got.requests, got.input, got.read, got.write, got.out, got.side = 0, 0, 0, 0, 0, 0
			seen := map[string]bool{}
			for _, s := range sessions {
				for _, r := range s.Requests {
					if seen[r.ID] || r.Inherited {
						continue
					}
					seen[r.ID] = true
					got.requests++
					got.input += value(r.Usage.Input)
					got.read += value(r.Usage.CacheRead)
					got.write += value(r.Usage.CacheWrite)
					got.out += value(r.Usage.Output)
					if s.ParentID != "" {
						got.side++
					}
				}
			}
			assert.Equal(t, k, got)
		})
	}
}

// readAll reads a file with its companions.
func readAll(t testing.TB, path string) []*rollout.Session {
	t.Helper()
	var all []*rollout.Session
	for _, p := range append([]string{path}, Companions(path)...) {
		sessions, err := Read(context.Background(), p)
		require.NoError(t, err)
		all = append(all, sessions...)
	}
	return all
}
