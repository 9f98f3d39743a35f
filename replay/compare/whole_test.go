package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// TestSessionsReportedAsAWhole: without usage per request a trial's sums are what
// its log reports, requests stay counted, and the trial says so. A row of all
// models goes before rows by model; with usage in one request nothing is taken.
func TestSessionsReportedAsAWhole(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	total := rollout.Reported{Usage: rollout.Usage{Input: n(1000), CacheRead: n(600), Output: n(50)}, CostUSD: new(0.5)}
	one := rollout.Reported{Model: "m", Usage: rollout.Usage{Input: n(7), Output: n(7)}}
	request := rollout.Request{Number: 1, Kind: rollout.KindTurn, Status: rollout.Answered, Model: "m", Base: -1}
	spoke := request
	spoke.Usage.Output = n(20)
	used := request
	used.Usage = rollout.Usage{Input: n(10), Output: n(2)}
	logged := func(r rollout.Request) (float64, bool) {
		if r.LoggedUSD == nil {
			return 0, false
		}
		return *r.LoggedUSD, true
	}
	for name, c := range map[string]struct {
		requests []rollout.Request
		reported []rollout.Reported
		tokens   *int64
		whole    int64
		unpriced int64
	}{
		"all models":       {[]rollout.Request{request, request}, []rollout.Reported{one, total}, n(1050), 1, 0},
		"by model":         {[]rollout.Request{request, request}, []rollout.Reported{one, one}, n(28), 1, 2},
		"usage of its own": {[]rollout.Request{used, used}, []rollout.Reported{total}, n(24), 0, 2},
		"outputs known":    {[]rollout.Request{spoke, spoke}, []rollout.Reported{total}, n(1040), 1, 0},
		"one output known": {[]rollout.Request{spoke, request}, []rollout.Reported{total}, n(1050), 1, 0},
		"no input at all":  {[]rollout.Request{spoke, spoke}, []rollout.Reported{{Usage: rollout.Usage{Output: n(9)}}}, nil, 0, 2},
		"nothing":          {[]rollout.Request{request, request}, nil, nil, 0, 2},
		"no output known":  {[]rollout.Request{request, request}, []rollout.Reported{{Usage: rollout.Usage{Input: n(9)}}}, nil, 1, 1},
	} {
		trial := TrialOf([]replay.Recording{{Session: &rollout.Session{ID: "s", Requests: c.requests, Reported: c.reported}}}, logged)
		assert.Equal(t, c.tokens, trial.Tokens(), name)
		assert.Equal(t, c.whole, trial.Whole, name)
		assert.Equal(t, c.unpriced, trial.Unpriced, name)
		assert.EqualValues(t, 2, *trial.Requests, name)
		assert.EqualValues(t, 2, *trial.Answered, name)
	}
	trial := TrialOf([]replay.Recording{{Session: &rollout.Session{ID: "s", Requests: []rollout.Request{request}, Reported: []rollout.Reported{total}}}}, logged)
	assert.EqualValues(t, 400, *trial.Uncached)
	assert.InDelta(t, 0.5, *trial.CostUSD, 0)
	trial.Task = Task{Name: "one"}
	r := Compare([]Trial{trial}, []Trial{trial}, Options{})
	require.NotNil(t, r.Deltas.Tokens)
	assert.EqualValues(t, 1, r.Candidate.ReportedTrials)
	assert.Contains(t, r.Warnings, "candidate: the tokens of 1 trial are reported for the session as a whole, no usage per request; how many requests they took is an estimate")
}

// TestByArm: trials of one folder fall into arms by the harness's record, named by
// the words that differ.
func TestByArm(t *testing.T) {
	trials := []Trial{{Name: "1", Arm: "m effort=low"}, {Name: "2", Arm: "m effort=high"}, {Name: "3"}, {Name: "4", Arm: "m effort=low"}}
	names, arms, unknown := ByArm(trials)
	assert.Equal(t, []string{"effort=high", "effort=low"}, names)
	assert.Equal(t, [][]Trial{{trials[1]}, {trials[0], trials[3]}}, arms)
	assert.Equal(t, 1, unknown)
	names, _, _ = ByArm([]Trial{{Arm: "m"}, {Arm: "m fast"}})
	assert.Equal(t, []string{"m", "fast"}, names)
	names, _, _ = ByArm([]Trial{{}})
	assert.Empty(t, names)
}
