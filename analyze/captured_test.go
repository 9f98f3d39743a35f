package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze/dataset"
)

const (
	certainID = "msg_01Qw8ErTy2UiOp4AsDfGhJkL" // as providers make them
	otherID   = "msg_01Zx3CvBn5MqWe7RtYuIoPaS"
	scripted  = "chatcmpl-0001"
	trialID   = "019c3eb2-9985-7f63-89ca-06f5e3cea1a7"
)

// asked is a request at a second after the start, with usage.
func asked(second, input, output int64) func(*dataset.Request) {
	return func(r *dataset.Request) {
		r.Time, r.InputTokens, r.OutputTokens, r.OutputFinal = ptr(day(1, 0)+1000*second), num(input), num(output), true
	}
}

func silent(second int64) func(*dataset.Request) {
	return func(r *dataset.Request) {
		r.Time, r.InputTokens, r.OutputTokens = ptr(day(1, 0)+1000*second), nil, nil
	}
}

// Which requests count, where an agent's log and others hold the same.
func TestOwnersAcrossSources(t *testing.T) {
	type request struct {
		source, response string
		change           func(*dataset.Request)
	}
	cases := []struct {
		name     string
		requests []request // each in a session of its own
		counts   []int     // indexes of those that count
		basis    string
	}{
		{"the agent's log owns what has its ID", []request{{"api-log", certainID, asked(0, 100, 5)}, {"claude-code", certainID, asked(7200, 100, 9)}}, []int{1}, "response"},
		{"a log that adds the request's ID to it", []request{{"api-log", certainID, asked(0, 100, 5)}, {"claude-code", certainID + "+req_1", asked(0, 100, 5)}}, []int{1}, "response"},
		{"a trajectory goes before bodies", []request{{"api-log", certainID, asked(0, 100, 5)}, {"atif", certainID, asked(0, 100, 5)}}, []int{1}, "response"},
		{"three of a kind", []request{{"atif", certainID, asked(0, 100, 5)}, {"api-log", certainID, asked(0, 100, 5)}, {"pi", certainID, asked(0, 100, 5)}}, []int{2}, "response"},
		{"what has usage owns", []request{{"codex", certainID, silent(0)}, {"api-log", certainID, asked(0, 100, 5)}}, []int{1}, "response"},
		{"a scripted ID, the same call", []request{{"pi", scripted, asked(0, 100, 5)}, {"api-log", scripted, asked(1, 100, 5)}}, []int{0}, "response"},
		{"a scripted ID, other usage", []request{{"pi", scripted, asked(0, 100, 5)}, {"api-log", scripted, asked(1, 101, 5)}}, []int{0, 1}, ""},
		{"a scripted ID, another day", []request{{"pi", scripted, asked(0, 100, 5)}, {"api-log", scripted, asked(86400, 100, 5)}}, []int{0, 1}, ""},
		{"a scripted ID without usage", []request{{"pi", scripted, silent(0)}, {"api-log", scripted, silent(0)}}, []int{0, 1}, ""},
		{"a log without IDs", []request{{"freecode", "", asked(0, 100, 5)}, {"api-log", certainID, asked(1, 100, 5)}}, []int{0}, "usage"},
		{"a log with IDs of its own", []request{{"opencode", otherID, asked(0, 100, 5)}, {"api-log", certainID, asked(1, 100, 5)}}, []int{0}, "usage"},
		{"a log with the provider's IDs, and another", []request{{"claude-code", otherID, asked(0, 100, 5)}, {"api-log", certainID, asked(1, 100, 5)}}, []int{0, 1}, ""},
		{"the same usage an hour later", []request{{"freecode", "", asked(3600, 100, 5)}, {"api-log", certainID, asked(0, 100, 5)}}, []int{0, 1}, ""},
		{"one call of the log, two captured", []request{{"freecode", "", asked(2, 100, 5)}, {"api-log", certainID, asked(1, 100, 5)}, {"api-log", otherID, asked(9, 100, 5)}}, []int{0, 2}, "usage"},
		{"two logs", []request{{"freecode", "", asked(0, 100, 5)}, {"codex", "", asked(0, 100, 5)}}, []int{0, 1}, ""},
		{"one source, scripted IDs, other sessions", []request{{"pi", scripted, asked(0, 100, 5)}, {"pi", scripted, asked(0, 120, 5)}, {"pi", scripted, asked(5, 100, 5)}}, []int{0, 1, 2}, ""},
		{"one source, a copy with a scripted ID", []request{{"pi", scripted, asked(0, 100, 5)}, {"pi", scripted, asked(0, 100, 5)}}, []int{0}, "history"},
		{"one source, the copy of an early snapshot", []request{{"claude-code", certainID, asked(0, 100, 1)}, {"claude-code", certainID, asked(0, 100, 60)}}, []int{1}, "history"},
		{"what is the log's copied history is no one's twice", []request{
			{"claude-code", certainID, asked(0, 100, 5)}, {"claude-code", certainID, asked(0, 100, 5)}, {"api-log", certainID, asked(0, 100, 5)},
		}, []int{0}, ""},
	}
	dir := t.TempDir()
	for n, c := range cases {
		for i, r := range c.requests {
			s := session(r.source, fmt.Sprintf("%d-%d", n, i), day(1, 0))
			addRequest(s, "", r.change)
			// Every case has a month and IDs of its own.
			at := &s.Requests[0]
			*at.Time += int64(n) * 31 * 86_400_000
			if r.response != "" {
				at.ResponseID = ptr(strings.Replace(r.response, "_01", fmt.Sprintf("_%02d", n), 1))
			}
			if r.response == scripted {
				at.ResponseID = ptr(fmt.Sprintf("chatcmpl-%d", n))
			}
			write(t, dir, s)
		}
	}
	db := open(t, Options{Dataset: dir})
	for n, c := range cases {
		var want []string
		for _, i := range c.counts {
			want = append(want, fmt.Sprintf("%d-%d", n, i))
		}
		prefix := fmt.Sprintf("%d-%%", n)
		assert.Equal(t, want, rowsOf(t, db, "SELECT session_id FROM requests WHERE counts AND session_id LIKE ? ORDER BY 1", prefix), c.name)
		if c.basis != "" {
			assert.Equal(t, []string{c.basis}, rowsOf(t, db, "SELECT DISTINCT basis FROM copied_requests WHERE session_id LIKE ?", prefix), c.name)
		}
	}
}

// A request that only a fork's copied history holds is still in no total there, so
// the captured body counts.
func TestInheritedHistoryOwnsNothing(t *testing.T) {
	dir := t.TempDir()
	fork, bodies := session("pi", "fork", day(1, 0)), session("api-log", "bodies", day(1, 0))
	addRequest(fork, certainID, func(r *dataset.Request) { r.Inherited = true })
	addRequest(bodies, certainID, nil)
	write(t, dir, fork, bodies)
	assert.Equal(t, []string{"bodies"}, rowsOf(t, open(t, Options{Dataset: dir}), "SELECT session_id FROM requests WHERE counts"))
}

// A trajectory of a session whose log is there is left out with its sub-agents, and
// what it reports as a whole with it. One of an unknown session stays.
func TestTrajectoriesOfReadLogs(t *testing.T) {
	dir := t.TempDir()
	native, made := session("codex", trialID, day(1, 0)), session("atif", trialID, day(1, 0))
	addRequest(native, "", asked(0, 100, 5))
	made.Sessions[0].Part = "made"
	addRequest(made, "", silent(0))
	made.Reported = append(made.Reported, dataset.Reported{Part: "made", SessionID: trialID, InputTokens: num(int64(100)), OutputTokens: num(int64(5))})
	below, other := session("atif", "agent-1", day(1, 0)), session("atif", "1", day(1, 0))
	below.Sessions[0].ParentSessionID = ptr(trialID)
	addRequest(below, "", asked(1, 50, 5))
	addRequest(other, "", asked(2, 7, 1))
	same := session("pi", "1", day(1, 0)) // an ID that says nothing
	same.Sessions[0].Part = "same"
	addRequest(same, "", asked(3, 9, 1))
	write(t, dir, native, made, below, other, same)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"atif 1", "codex " + trialID, "pi 1"}, rowsOf(t, db, "SELECT source, session_id FROM sessions ORDER BY ALL"))

	a, err := RunAudit(t.Context(), db)
	assert.NoError(t, err)
	assert.Equal(t, int64(100+7+9), *a.Totals.InputTokens)
	assert.Equal(t, []Copy{{Source: "atif", OwnerSource: "codex", Basis: "session", Sessions: 2, Requests: 2}}, a.Copies)
}

// Where all requests of a trajectory count elsewhere, the sums it reports do too.
func TestReportedSumsOfCopiesCountNowhere(t *testing.T) {
	dir := t.TempDir()
	native, made := session("pi", "native", day(1, 0)), session("atif", "made", day(1, 0))
	addRequest(native, certainID, asked(0, 100, 5))
	addRequest(made, certainID, asked(0, 100, 5))
	made.Reported = append(made.Reported, dataset.Reported{Part: "part-of-made", SessionID: "made", InputTokens: num(int64(100)), OutputTokens: num(int64(5))})
	write(t, dir, native, made)
	a, err := RunAudit(t.Context(), open(t, Options{Dataset: dir}))
	assert.NoError(t, err)
	assert.Equal(t, int64(100), *a.Totals.InputTokens)
	assert.Equal(t, int64(0), a.Totals.ReportedSessions)
	assert.Equal(t, int64(1), a.Totals.Sessions, "a session that is only a copy is none of its own")
	assert.Equal(t, []Copy{{Source: "atif", OwnerSource: "pi", Basis: "response", Sessions: 1, Requests: 1}}, a.Copies)
}

// Two copies of a session that went on apart: the longer one counts, and what only
// the other holds is named.
func TestDivergingCopiesAreNamed(t *testing.T) {
	dir := t.TempDir()
	long, short := session("claude-code", "a", day(1, 0)), session("claude-code", "a", day(1, 0))
	short.Sessions[0].Part, short.Sessions[0].File = "other", "/backup/a"
	for i, id := range []string{"m1", "m2", "m3"} {
		addRequest(long, id, asked(int64(i), 100, 5))
	}
	for i, id := range []string{"m1", "m9"} {
		addRequest(short, id, asked(int64(i), 100, 5))
	}
	write(t, dir, long, short)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"3"}, rowsOf(t, db, "SELECT count(*) FROM requests WHERE counts"))
	assert.Equal(t, []string{"/backup/a copy-diverges 1"}, rowsOf(t, db, "SELECT file, kind, count FROM problems"))
}

// A compaction outside the totals that a fork's history repeats is one.
func TestOtherBilledOfCopiedHistoryIsOne(t *testing.T) {
	dir := t.TempDir()
	parent, fork := session("codex", "z-parent", day(1, 0)), session("codex", "a-fork", day(1, 0))
	fork.Sessions[0].ForkedFrom = ptr("z-parent")
	for _, s := range []*dataset.Rows{parent, fork} {
		for _, second := range []int64{0, 0, 9} {
			s.OtherBilled = append(s.OtherBilled, dataset.OtherBilled{
				Part: s.Sessions[0].Part, SessionID: s.Sessions[0].SessionID, Kind: "compaction", Time: ptr(day(1, 0) + second), InputTokens: num(int64(50)),
			})
		}
	}
	fork.OtherBilled = append(fork.OtherBilled, dataset.OtherBilled{Part: "part-of-a-fork", SessionID: "a-fork", Kind: "compaction"})
	write(t, dir, parent, fork)
	assert.Equal(t, []string{"a-fork 1", "z-parent 3"},
		rowsOf(t, open(t, Options{Dataset: dir}), "SELECT session_id, count(*) FROM other_billed GROUP BY ALL ORDER BY 1"))
}
