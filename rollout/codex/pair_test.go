package codex

import (
	"github.com/fclog/fclog/rollout/logfile"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const thread = "019ca000-0000-7000-8000-000000000001"

func start() *log {
	l := (&log{}).meta(thread, "")
	return l.turn("019ca000-1000-7000-8000-000000000002").message("user", "do it")
}

func TestRepeatsAndEstimatesAreNoRequests(t *testing.T) {
	l := start()
	l.add("event_msg", `{"type":"token_count","info":null,"rate_limits":null}`)
	l.message("assistant", "Working.").usage(100, 10, 100, 10).usage(100, 10, 100, 10)
	l.add("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":10,"reasoning_output_tokens":0,"total_tokens":110},"last_token_usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":70}}}`)
	assert.Equal(t, []int64{100}, inputs(l.read(t)))
}

func TestContextOverflowRestartsTheTotal(t *testing.T) {
	l := start().message("assistant", "Working.").usage(100, 10, 100, 10)
	l.add("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":258400},"last_token_usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":10,"reasoning_output_tokens":0,"total_tokens":110}}}`)
	l.turn("019ca000-2000-7000-8000-000000000002").message("user", "again").message("assistant", "Yes.").usage(60, 5, 60, 5)
	s := l.read(t)
	assert.Equal(t, []int64{100, 60}, inputs(s))
	// 160 tokens of input in two requests; the running total knows only of 60.
	require.Equal(t, []string{"totals-disagree"}, problemKinds(s))
	assert.Equal(t, "the requests add up to 160 input and 15 output tokens, the log's own running total ends at 60 and 5 (restarts of it: 1); the requests are used", s.Problems[0].Detail)
}

// The client's own count of what it will send, 623, stands in the place of a last
// usage; what the provider counted is the request's, and no problem.
func TestClientsOwnCountIsNoUsage(t *testing.T) {
	estimate := `{"type":"token_count","info":{"total_token_usage":{"input_tokens":388,"cached_input_tokens":128,"output_tokens":12,"reasoning_output_tokens":0,"total_tokens":400},"last_token_usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":623}}}`
	reported := strings.ReplaceAll(estimate, `"last_token_usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":623}`,
		`"last_token_usage":{"input_tokens":388,"cached_input_tokens":128,"output_tokens":12,"reasoning_output_tokens":0,"total_tokens":400}`)
	for name, events := range map[string][]string{"after it": {reported, estimate}, "twice": {reported, estimate, estimate}, "between equal ones": {reported, estimate, reported}} {
		l := start().message("assistant", "Working.")
		for _, e := range events {
			l.add("event_msg", e)
		}
		s := l.read(t)
		assert.Equal(t, sums{requests: 1, input: 388, cacheRead: 128, output: 12}, sumOf(s), name)
		assert.Empty(t, s.Problems, name)
	}
}

func TestResumeRepeatsTheOldTotal(t *testing.T) {
	l := (&log{}).meta(thread, "").usage(5000, 400, 300, 20)
	l.turn("019ca000-1000-7000-8000-000000000002").message("user", "go on").message("assistant", "Yes.").usage(5310, 405, 310, 5)
	assert.Equal(t, []int64{310}, inputs(l.read(t)))
}

// Without last usage the growth of the total is the request: 100, then 60.
func TestTotalsAlone(t *testing.T) {
	l := start()
	for _, total := range []string{"100", "160"} {
		l.message("assistant", "Hm.").add("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":`+total+`,"output_tokens":0,"total_tokens":`+total+`}}}`).message("user", "more")
	}
	assert.Equal(t, []int64{100, 60}, inputs(l.read(t)))
}

func TestInterruptedTurn(t *testing.T) {
	l := start().message("assistant", "Working.").event("turn_aborted")
	l.turn("019ca000-2000-7000-8000-000000000002").message("user", "again").message("assistant", "Yes.").usage(60, 5, 60, 5)
	s := l.read(t)
	assert.Equal(t, []int64{-1, 60}, inputs(s))
	assert.Equal(t, rollout.CutOff, s.Requests[0].Status)
	assert.Equal(t, []string{"response-without-usage"}, problemKinds(s))
}

func TestEmptyResponseStillCounts(t *testing.T) {
	l := start().message("assistant", "Working.").usage(100, 10, 100, 10).usage(210, 10, 110, 0)
	s := l.read(t)
	assert.Equal(t, []int64{100, 110}, inputs(s))
	assert.Equal(t, []string{"usage-without-response"}, problemKinds(s))
}

func TestReviewResultIsNoRequest(t *testing.T) {
	l := start().event("entered_review_mode").message("assistant", "Two findings.").event("exited_review_mode")
	l.turn("019ca000-2000-7000-8000-000000000002").message("user", "fix them").message("assistant", "Fixed.").usage(60, 5, 60, 5)
	s := l.read(t)
	require.Equal(t, []int64{60}, inputs(s))
	assert.Equal(t, []string{"do it", "Two findings.", "fix them"}, texts(s, 0))
	assert.Equal(t, -1, s.Items[1].Request)
}

// A call that fails at once is answered inside the response: one usage, two
// runs. The 40 tokens of output are both calls (some 16 tokens each), not one.
func TestOneResponseInTwoRuns(t *testing.T) {
	long := "cat a/rather/long/path/to/some/file/in/the/tree.txt"
	l := start().call("c1", long).output("c1", "exec_command failed: no such tool").call("c2", long).usage(100, 32, 100, 32).output("c2", "x")
	l.message("assistant", "Done.").usage(300, 37, 200, 5)
	s := l.read(t)
	require.Equal(t, []int64{100, 200}, inputs(s))
	assert.Equal(t, 0, s.Calls[0].Request)
	assert.Equal(t, 0, s.Calls[1].Request)
	assert.Empty(t, s.Problems)
}

// The same without room for the first call: its own usage was lost.
func TestRunThatLostItsUsage(t *testing.T) {
	long := "cat a/rather/long/path/to/some/file/in/the/tree.txt"
	l := start().call("c1", long).output("c1", "x").call("c2", long).usage(100, 16, 100, 16).output("c2", "x")
	l.message("assistant", "Done.").usage(300, 21, 200, 5)
	assert.Equal(t, []int64{-1, 100, 200}, inputs(l.read(t)))
}

func TestPromptInsideATurnStartsNone(t *testing.T) {
	l := start().call("c1", "ls").usage(100, 5, 100, 5).output("c1", "x").message("user", "be quick").message("assistant", "Done.").usage(250, 10, 150, 5)
	s := l.read(t)
	assert.Equal(t, 1, s.Requests[0].Run)
	assert.Equal(t, 1, s.Requests[1].Run)
}

func TestModelNamedLater(t *testing.T) {
	l := start().message("assistant", "Hi.").usage(100, 5, 100, 5)
	assert.Equal(t, "", l.read(t).Requests[0].Model, "never named: unknown")
	l.add("turn_context", `{"model":"gpt-5.3-codex"}`)
	assert.Equal(t, "gpt-5.3-codex", l.read(t).Requests[0].Model)
}

func TestInconsistentUsage(t *testing.T) {
	l := start().message("assistant", "Hi.")
	l.add("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":20,"output_tokens":5,"reasoning_output_tokens":7,"total_tokens":15},"last_token_usage":{"input_tokens":10,"cached_input_tokens":20,"output_tokens":5,"reasoning_output_tokens":7,"total_tokens":15}}}`)
	s := l.read(t)
	assert.Nil(t, s.Requests[0].Usage.CacheRead)
	assert.Nil(t, s.Requests[0].Usage.Reasoning)
	assert.EqualValues(t, 10, *s.Requests[0].Usage.Input)
	assert.Contains(t, problemKinds(s), "usage-inconsistent")
}

func TestRecordsReplaceCounters(t *testing.T) {
	record := func(response, of string) string {
		return `{"thread_id":"` + of + `","response_id":"` + response + `","usage":{"input_tokens":60,"cached_input_tokens":0,"output_tokens":5,"total_tokens":65}}`
	}
	// An old part with counters, then a resume by a version that writes records.
	l := start().message("assistant", "Hi.").usage(100, 5, 100, 5)
	l.turn("019ca000-2000-7000-8000-000000000002").message("user", "more").message("assistant", "Yes.")
	l.add("token_usage_record", record("r1", thread)).usage(160, 10, 60, 5)
	assert.Equal(t, []int64{100, 60}, inputs(l.read(t)))
}

func TestUsageOfAnotherThreadStandsBeside(t *testing.T) {
	record := func(of string) string {
		return `{"thread_id":"` + of + `","response_id":"r` + of + `","usage":{"input_tokens":60,"output_tokens":5}}`
	}
	l := start().message("assistant", "Hi.").add("token_usage_record", record(thread)).add("token_usage_record", record("reviewer"))
	s := l.read(t)
	assert.Equal(t, []int64{60}, inputs(s))
	require.Len(t, s.OtherBilled, 1)
	assert.EqualValues(t, 60, *s.OtherBilled[0].Usage.Input)
	assert.Empty(t, s.Problems)
}

func TestSplitReasoning(t *testing.T) {
	// Weights 300 and 100 share 41 tokens: 30 (30.75 cut down) and the rest, 11.
	p := &planned{usage: &counts{Reasoning: logfile.Lenient[int64]{V: 41, OK: true}}, runs: []*run{{reasoning: []int64{300, 100}}}}
	assert.Equal(t, []int64{30, 11}, splitReasoning(p))
	p.usage = nil
	assert.Nil(t, splitReasoning(p))
}
