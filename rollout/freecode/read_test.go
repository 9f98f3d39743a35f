package freecode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

const (
	augFile = "../../testdata/freecode/rollout/sessions/aug-1/events.jsonl"
	sepFile = "../../testdata/freecode/rollout/sessions/sep-1/events.jsonl"
	subFile = "../../testdata/freecode/rollout/sessions/subagent-1790000005000-ab3de/events.jsonl"
)

// The expected values are counted by hand; see testdata/freecode/README.md.
func TestHandCountedTotals(t *testing.T) {
	for _, c := range []struct {
		file string
		want totals
	}{
		{augFile, totals{requests: 6, answered: 4, input: 300 + 420 + 500 + 520, cacheRead: 256 + 384 + 128, output: 40 + 30 + 20 + 25, calls: 4, repeated: 1}},
		{sepFile, totals{
			requests: 8, answered: 6, input: 1000 + 1100 + 1150 + 1300 + 1400 + 900, cacheRead: 1000 + 1100 + 1150 + 1300,
			cacheWrite: 900 + 100 + 50 + 150 + 100 + 850, output: 50 + 20 + 30 + 60 + 40 + 45, calls: 4,
		}},
		{subFile, totals{requests: 2, answered: 2, input: 600 + 640, cacheRead: 500, cacheWrite: 500 + 140, output: 15 + 12, calls: 1}},
	} {
		assert.Equal(t, c.want, sum(readOne(t, c.file)), c.file)
	}
}

// Until August 2026 the to-do list and the reminders stood in the system prompt.
func TestFrontMoves(t *testing.T) {
	assert.True(t, readOne(t, augFile).FrontMoves)
	assert.False(t, readOne(t, sepFile).FrontMoves)
}

// sentParts writes a payload as one "kind text" line per part.
func sentParts(s *rollout.Session, index int) []string {
	var out []string
	for _, sp := range payload(s, s.Requests[index]) {
		out = append(out, string(s.Items[sp.Item].Kind)+" "+s.Texts[sp.Text].S)
	}
	return out
}

const (
	cartArgs    = `tool_call {"filePath":"/home/ann/my-shop/cart.ts"}`
	priceArgs   = `tool_call {"filePath":"/home/ann/my-shop/price.ts"}`
	cartResult  = "tool_result <path>/home/ann/my-shop/cart.ts</path>\n<type>file</type>\n<content>\n1: let total = 0\n\n(End of file - total 1 lines)\n</content>"
	priceResult = "tool_result <path>/home/ann/my-shop/price.ts</path>\n<type>file</type>\n<content>\n1: export const p = 2 // 2 €\n\n(End of file - total 1 lines)\n</content>"
	bashArgs    = `tool_call {"command":"npm test"}`
	bashRefusal = "tool_result Permission denied: bash is not allowed in this mode"
	editArgs    = `tool_call {"filePath":"/home/ann/my-shop/cart.ts","oldString":"total = 1","newString":"total = p"}`
	editResult  = "tool_result Could not find oldString in the file."
)

func TestAugustPayloads(t *testing.T) {
	s := readOne(t, augFile)
	assert.Equal(t, []string{"user_text Why is the cart empty?"}, sentParts(s, 0))
	parallel := []string{
		"user_text Why is the cart empty?", "assistant_text Reading both files.",
		cartArgs, priceArgs, cartResult, priceResult,
	}
	assert.Equal(t, parallel, sentParts(s, 1))
	assert.Equal(t, parallel, sentParts(s, 2), "a retry sends the same")
	assert.Equal(t, append(parallel, bashArgs, editArgs, bashRefusal, editResult), sentParts(s, 3))
	assert.Equal(t, []string{
		"user_text Why is the cart empty?", "assistant_text Reading both files.",
		cartArgs, cartResult, priceArgs, priceResult, bashArgs, bashRefusal, editArgs, editResult,
		"assistant_text The total is never summed.", "user_text Fix it.",
	}, sentParts(s, 4), "a new run loads the calls one behind the other")
	assert.EqualValues(t, 1+1, *s.Requests[0].Messages)
	assert.EqualValues(t, 1+12, *s.Requests[4].Messages)
	assert.Empty(t, s.Problems)
}

func TestAugustRequestsAndCalls(t *testing.T) {
	s := readOne(t, augFile)
	var lines []string
	for _, r := range s.Requests {
		lines = append(lines, fmt.Sprintf("line %d run %d attempt %d %s", r.Line, r.Run, r.Attempt, r.Status))
	}
	assert.Equal(t, []string{
		"line 1 run 1 attempt 1 answered", "line 9 run 1 attempt 1 error", "line 12 run 1 attempt 2 answered",
		"line 17 run 1 attempt 1 answered", "line 20 run 2 attempt 1 answered", "line 25 run 2 attempt 1 in-flight",
	}, lines)
	assert.EqualValues(t, 300, *s.Requests[0].TTFTMS)
	assert.Nil(t, s.Requests[1].TTFTMS, "the first chunk was the error")
	require.Len(t, s.Calls, 5)
	price := s.Calls[1]
	assert.Equal(t, "call-2", price.ID)
	assert.EqualValues(t, 5, *price.DurationMS, "outputs come in completion order")
	assert.Equal(t, "/home/ann/my-shop/price.ts", price.Path)
	assert.True(t, price.ReadOnly)
	refused, edit := s.Calls[2], s.Calls[3]
	assert.True(t, refused.Denied && !refused.Ran, "no event, but a stored refusal")
	assert.Equal(t, "npm test", refused.Command)
	assert.True(t, *edit.Failed && edit.Mutates && edit.Class == rollout.EditTool)
	assert.Equal(t, "/home/ann/my-shop", s.CWD)
	assert.NotContains(t, s.Missing, "user text")
}

func TestSeptemberPayloads(t *testing.T) {
	s := readOne(t, sepFile)
	const (
		notice   = "reminder <task-notification>\n<task-id>bash_1</task-id>\n<kind>shell</kind>\n<status>completed</status>\n<summary>make test</summary>\n<result>\nExit code: 2\n</result>\n</task-notification>\nRead the rest if you need it."
		readArgs = `tool_call {"filePath":"/home/ann/my-shop/cart.test.ts","offset":"3","limit":2}`
		read     = "tool_result <path>/home/ann/my-shop/cart.test.ts</path>\n<type>file</type>\n<content>\n\nexpect(total).toBe(4)\n\n(Showing lines 3-4 of 9. Use offset=5 to continue.)\n</content>"
	)
	// The compaction took the prompt and text of the first run off the disk.
	assert.Equal(t, []string{
		`tool_call {"command":"make test > out.log","run_in_background":true}`, `tool_call {"command":"rm -rf build"}`,
		"tool_result Started in the background as bash_1.\nRead it with bashoutput.", "tool_result Denied by rule: rm",
	}, sentParts(s, 1))
	assert.EqualValues(t, 1+1+5, *s.Requests[1].Messages, "lost texts are still pieces of the request")
	assert.Equal(t, []string{
		"summary Compacted session summary:\n## Goal\nFix the cart.\n## Next Steps\n- sum the prices",
		notice, "assistant_text The cart test fails.", "user_text Please fix it.", readArgs, read,
	}, sentParts(s, 6))
	assert.Equal(t, []string{"assistant_text Fixed.", "user_text And the docs?"}, sentParts(s, 7)[6:])
}

func TestSeptemberRequests(t *testing.T) {
	s := readOne(t, sepFile)
	var lines []string
	for _, r := range s.Requests {
		lines = append(lines, fmt.Sprintf("line %d run %d attempt %d %s", r.Line, r.Run, r.Attempt, r.Status))
	}
	assert.Equal(t, []string{
		"line 3 run 1 attempt 1 answered", "line 13 run 1 attempt 1 answered", "line 20 run 1 attempt 1 error",
		"line 23 run 1 attempt 2 answered", "line 33 run 1 attempt 1 answered", "line 39 run 2 attempt 1 answered",
		"line 47 run 2 attempt 1 answered", "line 51 run 3 attempt 1 hung",
	}, lines)
	var billed []string
	for _, o := range s.OtherBilled {
		billed = append(billed, fmt.Sprintf("%s %d %t", o.Kind, value(o.Usage.Input), o.Estimate))
	}
	assert.Equal(t, []string{
		"cache.warm 1300 false", "memory.auxiliary/extraction 800 false", "compaction 0 true", "memory.auxiliary/consolidation 0 false",
	}, billed)
	assert.Nil(t, s.OtherBilled[3].Usage.Input, "no usage is unknown, not 0")
	kinds := map[string]int{}
	for _, p := range s.Problems {
		kinds[p.Kind] += p.Count
	}
	assert.Equal(t, map[string]int{"unknown-record": 1, "lost-bodies": 3}, kinds)
	assert.Contains(t, s.Missing, "compaction request")
}

// TestSeptemberPromptChars: from one request to the next, promptChars grows by
// the parts that came, call arguments included. The pairs with a lost text add
// what the log says of its length.
func TestSeptemberPromptChars(t *testing.T) {
	s := readOne(t, sepFile)
	all := func(i int) int64 {
		n := int64(0)
		for _, sp := range payload(s, s.Requests[i]) {
			n += units16(s.Texts[sp.Text])
		}
		return n
	}
	lost := map[int]int64{1: int64(len("Starting the tests."))}
	for i := 1; i < len(s.Requests); i++ {
		if i == 6 {
			continue // the compaction dropped texts of unknown length
		}
		assert.Equal(t, *s.Requests[i].PromptChars-*s.Requests[i-1].PromptChars, all(i)-all(i-1)+lost[i], "request %d", i)
	}
}

func TestSeptemberCalls(t *testing.T) {
	s := readOne(t, sepFile)
	require.Len(t, s.Calls, 5)
	start, denied, poll, agent, read := s.Calls[0], s.Calls[1], s.Calls[2], s.Calls[3], s.Calls[4]
	assert.True(t, start.Starts && start.Task == "bash_1" && start.ID == "c1" && start.Class == rollout.ShellTool)
	assert.True(t, denied.Denied && !denied.Ran && denied.Failed == nil)
	assert.Equal(t, "bash_1", poll.Task)
	assert.Equal(t, rollout.PollEmpty, poll.Poll)
	assert.Equal(t, rollout.PollTool, poll.Class)
	assert.Equal(t, "subagent-1790000005000-ab3de", agent.Child)
	assert.Equal(t, "3:2", read.Range)
	assert.Equal(t, rollout.NotTruncated, read.Truncated, "the model asked for two lines")
	for _, c := range []rollout.Call{start, poll, agent, read} {
		assert.False(t, *c.Failed)
	}
}

func TestSubAgentWithoutStore(t *testing.T) {
	s := readOne(t, subFile)
	assert.Equal(t, "subagent", s.Agent)
	assert.Equal(t, time.UnixMilli(1790000005000).UTC(), s.SpawnedAt)
	assert.Equal(t, []string{
		"user_text Find the failing test.", "assistant_text Searching.",
		`tool_call {"pattern":"fail","path":"/home/ann/my-shop"}`, "tool_result cart.test.ts:4:fail",
	}, sentParts(s, 1))
	assert.Empty(t, s.Problems)
}

// TestEventsAlone: without the store the counts stay and the texts are missing.
func TestEventsAlone(t *testing.T) {
	raw, err := os.ReadFile(augFile)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "log.jsonl")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	s, full := readOne(t, path), readOne(t, augFile)
	assert.Equal(t, sum(full), sum(s))
	assert.Subset(t, s.Missing, []string{"user text", "assistant text"})
	assert.Equal(t, []string{cartArgs, priceArgs, cartResult, priceResult}, sentParts(s, 1))
	for i := range s.Requests {
		assert.Equal(t, *full.Requests[i].Messages, *s.Requests[i].Messages, "request %d", i)
	}
	assert.True(t, s.Calls[2].Denied, "a named call without an event was refused")
	assert.Equal(t, rollout.Recomputed, s.Items[s.Calls[0].ResultItem].Origin)
}

func TestDependsAndDetect(t *testing.T) {
	assert.Len(t, Depends(augFile), 3)
	assert.Len(t, Depends(subFile), 1)
	assert.Empty(t, Depends(filepath.Join(t.TempDir(), "x.jsonl")))
	raw, err := os.ReadFile(sepFile)
	require.NoError(t, err)
	assert.True(t, Detect(bytes.SplitN(raw, []byte("\n"), 20)[:19]))
	assert.False(t, Detect([][]byte{[]byte(`{"type":"user","sessionId":"x"}`), []byte(`3`)}))
	assert.False(t, Detect(nil))
	home := func(key string) string { return map[string]string{"HOME": "/home/ann"}[key] }
	assert.Equal(t, []string{filepath.Join("/home/ann", ".freecode", "rollout", "sessions")}, Homes(home))
	assert.Nil(t, Companions(augFile))
}

// base is the fields every event has.
func base(kind string, ms int64, rest string) string {
	return fmt.Sprintf(`{"type":%q,"id":"i","seq":1,"aggregateID":"s","timestamp":%d,%s}`, kind, ms, rest)
}

func readLines(t *testing.T, lines ...string) *rollout.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return readOne(t, path)
}

func request(ms int64, turn string, messages, chars int64) string {
	return base(evRequest, ms, fmt.Sprintf(`"turnId":%q,"provider":"p","model":"m","messageCount":%d,"promptChars":%d`, turn, messages, chars))
}

func response(ms int64, turn, calls string, input int64) string {
	return base(evResponse, ms, fmt.Sprintf(`"turnId":%q,"provider":"p","model":"m","duration_ms":1,"inputTokens":%d,"outputTokens":1,"toolCalls":%s,"textChars":0`, turn, input, calls))
}

func failure(ms int64, turn string) string {
	return base(evError, ms, fmt.Sprintf(`"turnId":%q,"duration_ms":1,"kind":"provider","error":"x"`, turn))
}

// TestRuns covers the rule that tells a retry of turn-0 from a new prompt.
func TestRuns(t *testing.T) {
	compacted := base(evCompact, 3, `"beforeTokens":1,"afterTokens":1`)
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"retry", []string{request(1, "turn-0", 2, 9), failure(2, "turn-0"), request(4, "turn-0", 2, 9)}, "1/1 1/2"},
		{"prompt after an error", []string{request(1, "turn-0", 2, 9), failure(2, "turn-0"), request(4, "turn-0", 3, 12)}, "1/1 2/1"},
		{"rescue compaction", []string{request(1, "turn-0", 9, 90), failure(2, "turn-0"), compacted, request(4, "turn-0", 2, 9)}, "1/1 1/2"},
		{"prompt after a cut request", []string{request(1, "turn-0", 2, 9), request(4, "turn-0", 2, 9)}, "1/1 2/1"},
		{"prompt after an interrupted run", []string{request(1, "turn-0", 2, 9), response(2, "turn-0", `["bash"]`, 5), request(4, "turn-0", 4, 12)}, "1/1 2/1"},
		{"gate in the same run", []string{request(1, "turn-0", 2, 9), response(2, "turn-0", `[]`, 5), request(4, "turn-1", 3, 12)}, "1/1 1/1"},
	} {
		var got []string
		for _, r := range readLines(t, c.lines...).Requests {
			got = append(got, fmt.Sprintf("%d/%d", r.Run, r.Attempt))
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.name)
	}
}

func TestDamagedLog(t *testing.T) {
	s := readLines(t, request(1, "turn-0", 2, 9), `{"type":`, base(evResponse, 2, `"turnId":"turn-0","toolCalls":7`),
		base(evResponse, 3, `"turnId":"turn-0","inputTokens":10,"outputTokens":-1,"cacheReadTokens":8,"cacheWriteTokens":5,"toolCalls":[]`),
		base("strange.one", 4, `"x":1`), base("strange.one", 5, `"x":1`), base(evOutput, 6, `"tool":"bash","output":"x"`))
	u := s.Requests[0].Usage
	assert.Equal(t, []int64{10, 8, 2}, []int64{*u.Input, *u.CacheRead, *u.CacheWrite}, "a part is clamped to its whole")
	assert.Nil(t, u.Output, "a negative count is none")
	kinds := map[string]int{}
	for _, p := range s.Problems {
		kinds[p.Kind] += p.Count
	}
	assert.Equal(t, map[string]int{"bad-json": 1, "bad-record": 1, "usage-inconsistent": 1, "unknown-record": 2, "result-without-call": 1}, kinds)
}

// kindsOf counts problems by kind.
func kindsOf(s *rollout.Session) map[string]int {
	kinds := map[string]int{}
	for _, p := range s.Problems {
		kinds[p.Kind] += p.Count
	}
	return kinds
}

func TestOddUsage(t *testing.T) {
	for _, c := range []struct {
		name, fields  string
		input, output *int64
		problems      map[string]int
	}{
		{"renamed", `"promptTokens":10,"completionTokens":5`, nil, nil, map[string]int{"response-without-usage": 1}},
		{"other notations", `"inputTokens":0.5e1,"outputTokens":7.0`, known(5), known(7), map[string]int{}},
		{"no integer", `"inputTokens":5.5,"outputTokens":7`, nil, known(7), map[string]int{"usage-inconsistent": 1}},
		{"more than a request can hold", `"inputTokens":2000000000000,"outputTokens":7`, nil, known(7), map[string]int{"usage-inconsistent": 1}},
		{"beyond 64 bits", `"inputTokens":10,"outputTokens":99999999999999999999`, known(10), nil, map[string]int{"usage-inconsistent": 1}},
	} {
		s := readLines(t, request(1, "turn-0", 2, 9), base(evResponse, 2, `"turnId":"turn-0","toolCalls":[],`+c.fields))
		require.Len(t, s.Requests, 1, c.name)
		assert.Equal(t, rollout.Answered, s.Requests[0].Status, c.name)
		assert.Equal(t, c.input, s.Requests[0].Usage.Input, c.name)
		assert.Equal(t, c.output, s.Requests[0].Usage.Output, c.name)
		assert.Equal(t, c.problems, kindsOf(s), c.name)
	}
}

func known(n int64) *int64 { return &n }

func TestRecordsTwice(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/freecode/rollout/sessions/subagent-1790000005000-ab3de/events.jsonl")
	require.NoError(t, err)
	var once, twice []string
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		line = strings.Replace(line, `"type"`, fmt.Sprintf(`"id":"e%d","type"`, i), 1)
		once, twice = append(once, line), append(twice, line, line)
	}
	want, got := readLines(t, once...), readLines(t, twice...)
	assert.Empty(t, want.Problems)
	assert.Equal(t, sum(want), sum(got))
	assert.Equal(t, map[string]int{"duplicate-record": len(once)}, kindsOf(got))
}

func TestBadTimes(t *testing.T) {
	s := readLines(t, request(-1, "turn-0", 2, 9), base(evResponse, 0, `"turnId":"turn-0","inputTokens":1,"outputTokens":1,"toolCalls":[],"duration_ms":-3`))
	assert.Equal(t, map[string]int{"bad-time": 2, "bad-number": 1}, kindsOf(s))
	assert.True(t, s.Started.IsZero() && s.Requests[0].Time.IsZero())
	assert.Nil(t, s.Requests[0].DurationMS)
}

func TestNotALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{\"a\":1}\n"), 0o600))
	_, err := Read(context.Background(), path)
	require.ErrorIs(t, err, logfile.ErrNotLog)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Read(ctx, augFile)
	require.ErrorIs(t, err, context.Canceled)
}

// TestOldestBuild: before August 2026 there are calls only.
func TestOldestBuild(t *testing.T) {
	s := readLines(t, base(evTurnStarted, 1, `"turnId":"turn-0"`),
		base(evCall, 2, `"turnId":"turn-0","tool":"bash","args":{"command":"ls"}`), base(evOutput, 3, `"tool":"bash","output":"a"`))
	require.Len(t, s.Calls, 1)
	assert.Equal(t, -1, s.Calls[0].Request)
	assert.True(t, s.Calls[0].Ran)
	assert.Contains(t, s.Missing, "requests")
}

func FuzzRead(f *testing.F) {
	for _, path := range []string{augFile, sepFile, subFile} {
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		sessions, err := Read(context.Background(), path)
		if err != nil {
			require.NotContains(t, err.Error(), "freecode reader:", "a fault of the reader")
			return
		}
		for _, s := range sessions {
			require.NoError(t, rollout.Check(s))
		}
	})
}

// TestDamagedStore: whatever stands beside the log, requests, usage and the calls
// that ran are those of the log.
func TestDamagedStore(t *testing.T) {
	events, err := os.ReadFile(sepFile)
	require.NoError(t, err)
	want := sum(readOne(t, sepFile))
	files := map[string][]byte{}
	for _, path := range Depends(sepFile) {
		files[filepath.Base(path)], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	root := t.TempDir()
	log := filepath.Join(root, "rollout", "sessions", "sep-1", "events.jsonl")
	places := map[string]string{
		"messages.jsonl": filepath.Join(root, "sessions", "p", "sep-1"),
		"meta.json":      filepath.Join(root, "sessions", "p", "sep-1"),
		"memory.json":    filepath.Join(root, "memory", "sep-1"),
	}
	for _, dir := range append([]string{filepath.Dir(log)}, places["messages.jsonl"], places["memory.json"]) {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	require.NoError(t, os.WriteFile(log, events, 0o600))
	rapid.Check(t, func(rt *rapid.T) {
		for name, raw := range files {
			damaged := bytes.Clone(raw)
			for range rapid.IntRange(0, 4).Draw(rt, "faults") {
				from := rapid.IntRange(0, len(damaged)).Draw(rt, "from")
				to := min(len(damaged), from+rapid.IntRange(0, 400).Draw(rt, "length"))
				damaged = append(append(bytes.Clone(damaged[:from]), rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(rt, "put")...), damaged[to:]...)
			}
			require.NoError(rt, os.WriteFile(filepath.Join(places[name], name), damaged, 0o600))
		}
		sessions, err := Read(context.Background(), log)
		require.NoError(rt, err)
		require.Equal(rt, want, sum(sessions[0]))
	})
}
