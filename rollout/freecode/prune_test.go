package freecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// home is a FreeCode folder under construction.
type home struct {
	t      *testing.T
	root   string
	events []string
	stored []string
	ms     int64
}

func newHome(t *testing.T) *home { return &home{t: t, root: t.TempDir(), ms: 1000} }

func (h *home) event(line func(ms int64) string) {
	h.ms += 10
	h.events = append(h.events, line(h.ms))
}

func (h *home) store(id, role, part, extra string) {
	h.stored = append(h.stored, fmt.Sprintf(`{"id":%q,"role":%q,"parts":[%s],"timestamp":%d%s}`, id, role, part, h.ms+1, extra))
}

func (h *home) user(id, text string) { h.store(id, "user", textPart(text), "") }

func textPart(s string) string { return fmt.Sprintf(`{"type":"text","content":%s}`, quoted(s)) }

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (h *home) request(turn string, messages, chars int64) {
	h.event(func(ms int64) string { return request(ms, turn, messages, chars) })
}

// answer is a response that makes n calls of bash with the given results.
func (h *home) answer(turn, id string, input int64, results ...string) {
	names := strings.TrimSuffix(strings.Repeat(`"bash",`, len(results)), ",")
	h.event(func(ms int64) string { return response(ms, turn, "["+names+"]", input) })
	for i, r := range results {
		args := fmt.Sprintf(`{"command":"%s%d"}`, id, i)
		h.event(func(ms int64) string {
			return base(evCall, ms, fmt.Sprintf(`"turnId":%q,"tool":"bash","args":%s`, turn, args))
		})
		h.event(func(ms int64) string {
			return base(evOutput, ms, fmt.Sprintf(`"turnId":%q,"tool":"bash","output":%s,"duration_ms":1`, turn, quoted(r)))
		})
		usage := ""
		if i == 0 {
			usage = fmt.Sprintf(`,"usage":{"inputTokens":%d,"outputTokens":1}`, input)
		}
		h.store(fmt.Sprintf("%s%d", id, i), "assistant",
			fmt.Sprintf(`{"type":"tool","tool":{"name":"bash","args":%s},"result":%s}`, args, quoted(cut(r, "call_real"))), usage)
	}
}

func (h *home) read() *rollout.Session {
	h.t.Helper()
	log := filepath.Join(h.root, "rollout", "sessions", "s", "events.jsonl")
	store := filepath.Join(h.root, "sessions", "p", "s", "messages.jsonl")
	for path, lines := range map[string][]string{log: h.events, store: h.stored} {
		require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(h.t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	return readOne(h.t, log)
}

// results lists the results a request carried: their length, or the marker.
func results(s *rollout.Session, index int) []string {
	var out []string
	for _, sp := range payload(s, s.Requests[index]) {
		if s.Items[sp.Item].Kind != rollout.ToolResult {
			continue
		}
		text := s.Texts[sp.Text].S
		if !strings.HasPrefix(text, "[tool result omitted") {
			text = fmt.Sprint(len(text))
		}
		out = append(out, text)
	}
	return out
}

func text(n int) string { return strings.Repeat("x", n) }

// longHistory is a run of eight results, 232,280 characters in all, of which no
// request of the run leaves any out, and a second run.
func longHistory(t *testing.T, secondPrompt int64) *rollout.Session {
	h := newHome(t)
	h.user("u1", "Go.")
	h.request("turn-0", 2, 100+3)
	h.answer("turn-0", "a", 10, text(29_000), text(29_070), text(29_010), text(29_020), text(29_030), text(29_040), text(29_050), text(29_060))
	h.request("turn-1", 3, 100+3+232_280)
	h.answer("turn-1", "b", 11, "ok")
	h.request("turn-2", 4, 100+3+232_280+2)
	h.event(func(ms int64) string { return response(ms, "turn-2", "[]", 12) })
	h.user("u2", "More.")
	h.request("turn-0", 12, secondPrompt)
	return h.read()
}

func TestPruningAtRunBorder(t *testing.T) {
	marker := func(size int, id string) string {
		return fmt.Sprintf("[tool result omitted to save context — %d chars. Retrieve with the `output` tool (id=\"tool-%s-0\"), or re-run the tool.]", size, id)
	}
	// 232,282 is over 200,000: the largest, 29,070, goes, then 29,060; 174,152 fits.
	largest, next := marker(29_070, "a1"), marker(29_060, "a7")
	s := longHistory(t, 100+3+232_282-29_070-29_060+units(largest)+units(next)+5)
	whole := []string{"29000", "29070", "29010", "29020", "29030", "29040", "29050", "29060"}
	assert.Equal(t, whole, results(s, 1), "the newest message is never touched")
	assert.Equal(t, append(whole, "2"), results(s, 2), "what was sent whole stays")
	assert.Equal(t, []string{"29000", largest, "29010", "29020", "29030", "29040", "29050", next, "2"}, results(s, 3))
	assert.Empty(t, s.Problems)
}

func TestPruningUnderAnotherBudget(t *testing.T) {
	s := longHistory(t, 100+3+232_282+5)
	assert.Len(t, results(s, 3), 9)
	assert.NotContains(t, strings.Join(results(s, 3), ""), "omitted", "promptChars tells that nothing was left out")
	require.Len(t, s.Problems, 1)
	assert.Equal(t, "other-budget", s.Problems[0].Kind)
}

// TestCutResult: the stored copy of a long output names its call, the log alone
// does not, and paging it tells.
func TestCutResult(t *testing.T) {
	long := strings.Repeat("line of output\n", 2_500) // 37,500 characters, 2,501 lines
	page := base(evOutput, 9, `"turnId":"turn-1","tool":"output","output":"line of output\n\n(lines from a 2501-line output)"`)
	lines := func(h *home) {
		h.request("turn-1", 3, 0)
		h.event(func(ms int64) string { return response(ms, "turn-1", `["output"]`, 11) })
		h.event(func(ms int64) string {
			return base(evCall, ms, `"turnId":"turn-1","tool":"output","args":{"id":"call_real","offset":7}`)
		})
		h.event(func(int64) string { return page })
		h.request("turn-2", 4, 0)
	}
	h := newHome(t)
	h.user("u1", "Go.")
	h.request("turn-0", 2, 103)
	h.answer("turn-0", "a", 10, long)
	lines(h)
	stored := h.read()
	assert.Equal(t, cut(long, "call_real"), stored.Texts[stored.Items[stored.Calls[0].ResultItem].Text].S)
	assert.Equal(t, "call_real", stored.Calls[0].Handle)
	assert.Equal(t, rollout.Recoverable, stored.Calls[0].Truncated)
	assert.Equal(t, "call_real", stored.Calls[1].Recovers)

	alone := readLines(t, h.events...)
	assert.Equal(t, stored.Calls[0].Handle, alone.Calls[0].Handle)
	assert.Equal(t, cut(long, "call_real"), alone.Texts[payload(alone, alone.Requests[1])[1].Text].S)
	assert.Equal(t, rollout.Recomputed, alone.Items[alone.Calls[0].ResultItem].Origin)
	assert.Empty(t, alone.Problems)

	for _, s := range []*rollout.Session{stored, alone} {
		require.NotNil(t, s.Calls[0].Full)
		assert.Equal(t, long, s.Texts[*s.Calls[0].Full].S, "the event log keeps what was cut")
		assert.Nil(t, s.Calls[1].Full, "nothing was cut")
	}

	unpaged := readLines(t, h.events[:5]...)
	assert.Equal(t, rollout.Inferred, unpaged.Items[unpaged.Calls[0].ResultItem].Origin)
	assert.Equal(t, "unknown-call-id", unpaged.Problems[0].Kind)
}

// TestChangedResult: a stored copy that the rule does not give wins, and is said.
func TestChangedResult(t *testing.T) {
	h := newHome(t)
	h.user("u1", "Go.")
	h.request("turn-0", 2, 103)
	h.answer("turn-0", "a", 10, "plain")
	h.stored[1] = strings.Replace(h.stored[1], `"result":"plain"`, `"result":"plain, says a hook"`, 1)
	h.request("turn-1", 3, 121)
	s := h.read()
	assert.Equal(t, "plain, says a hook", s.Texts[s.Items[s.Calls[0].ResultItem].Text].S)
	require.Len(t, s.Problems, 1)
	assert.Equal(t, "recompute-mismatch", s.Problems[0].Kind)
}

// The whole output is one that the model's copy was made from: not what a hook made
// something else of, and not a copy that had lost its head before it was logged.
func TestWholeOutput(t *testing.T) {
	long := "first\n" + strings.Repeat("line of output\n", 2_500) + "last"
	body := strings.TrimSuffix(strings.TrimPrefix(long, "first\n"), "last")
	for name, c := range map[string]struct {
		display, sent string
		want          bool
	}{
		"cut":                  {long, cut(long, "call_1"), true},
		"cut, another ID":      {long, cut(long, "call_2"), true},
		"compressed":           {long, "first\n[... 2400 lines omitted — full output via the `output` tool, id=\"call_1\" ...]\nlast", true},
		"whole":                {long, long, false},
		"a hook adds a line":   {long, cut(long, "call_1") + "\nsays a hook", false},
		"a hook says it all":   {long, "says a hook", false},
		"without its head":     {displayCut + "\n" + body, cut(displayCut+"\n"+body, "call_1"), false},
		"longer than what ran": {"ok", "ok, says a hook", false},
	} {
		s := &slot{answered: true, display: c.display, realID: "call_1", stored: &storedPart{Result: &c.sent}}
		full, ok := s.whole(c.sent)
		assert.Equal(t, c.want, ok, name)
		if ok {
			assert.Equal(t, long, full, name)
		}
	}
	denied := &slot{answered: true, denied: true, display: long}
	_, ok := denied.whole(cut(long, "x"))
	assert.False(t, ok, "a refusal is no output")
}

// september puts the sign of a newer build in front of each request.
func (h *home) september(turn string, messages int64) {
	h.event(func(ms int64) string { return base(evTurnStarted, ms, fmt.Sprintf(`"turnId":%q`, turn)) })
	h.request(turn, messages, 0)
}

// TestSeptemberRunBorder: newer builds keep the conversation over a run border
// or load it anew; messageCount tells which.
func TestSeptemberRunBorder(t *testing.T) {
	parallel := []string{"tool_call", "tool_call", "tool_result", "tool_result"}
	serial := []string{"tool_call", "tool_result", "tool_call", "tool_result"}
	// Context, prompt, one message of two calls, prompt: 4; loaded anew the calls
	// are two messages: 5.
	for messages, want := range map[int64][]string{4: parallel, 5: serial} {
		h := newHome(t)
		h.user("u1", "Go.")
		h.september("turn-0", 2)
		h.answer("turn-0", "a", 10, "one", "two")
		h.user("u2", "More.")
		h.september("turn-0", messages)
		s := h.read()
		var kinds []string
		for _, sp := range payload(s, s.Requests[1]) {
			kinds = append(kinds, string(s.Items[sp.Item].Kind))
		}
		assert.Equal(t, append(append([]string{"user_text"}, want...), "user_text"), kinds)
		assert.Empty(t, s.Problems)
	}
}

// TestBackgroundFile: reading the file a background command writes to is a look
// at that task.
func TestBackgroundFile(t *testing.T) {
	call := func(id, tool, args, out string) []string {
		return []string{
			base(evCall, 3, fmt.Sprintf(`"turnId":"turn-0","tool":%q,"args":%s,"callId":%q`, tool, args, id)),
			base(evOutput, 4, fmt.Sprintf(`"turnId":"turn-0","tool":%q,"output":%q,"failed":false,"callId":%q`, tool, out, id)),
		}
	}
	lines := []string{request(1, "turn-0", 2, 9), response(2, "turn-0", `["bash","read","bash","killbash","bash"]`, 5)}
	lines = append(lines, call("1", "bash", `{"command":"make > /tmp/out.log 2>&1","run_in_background":true}`, "Started in the background as bash_1.")...)
	lines = append(lines, call("2", "read", `{"filePath":"/tmp/out.log"}`, "x")...)
	lines = append(lines, call("3", "bash", `{"command":"sleep 5"}`, "(no output)")...)
	lines = append(lines, call("4", "killbash", `{"bash_id":"bash_1"}`, "killed")...)
	lines = append(lines, call("5", "bash", `{"command":"tail /tmp/out.log"}`, "x")...)
	var got []string
	for _, c := range readLines(t, lines...).Calls {
		got = append(got, fmt.Sprintf("%s %s %s", c.Tool, c.Task, c.Poll))
	}
	assert.Equal(t, []string{"bash bash_1 ", "read bash_1 unknown", "bash bash_1 unknown", "killbash bash_1 ", "bash  "}, got)
}

// TestScriptedCalls: a call made by a script is no part of the conversation.
func TestScriptedCalls(t *testing.T) {
	s := readLines(t, request(1, "turn-0", 2, 9), response(2, "turn-0", `["codemode"]`, 5),
		base(evCall, 3, `"turnId":"turn-0","tool":"codemode","args":{"code":"x"},"callId":"c1"`),
		base(evCall, 4, `"turnId":"turn-0","tool":"grep","args":{"pattern":"y"},"callId":"c2","parentCallId":"c1"`),
		base(evOutput, 5, `"turnId":"turn-0","tool":"grep","output":"z","failed":false,"callId":"c2"`),
		base(evOutput, 6, `"turnId":"turn-0","tool":"codemode","output":"done","failed":false,"callId":"c1"`),
		request(7, "turn-1", 3, 20))
	require.Len(t, s.Calls, 2)
	assert.Equal(t, "c1", s.Calls[1].Parent)
	assert.Equal(t, []string{`tool_call {"code":"x"}`, "tool_result done"}, sentParts(s, 1))
	assert.Empty(t, s.Problems)
}

// TestKilledCall: after a restart the call that never ended is gone, its text stays.
func TestKilledCall(t *testing.T) {
	h := newHome(t)
	h.user("u1", "Go.")
	h.request("turn-0", 2, 103)
	h.event(func(ms int64) string {
		return strings.Replace(response(ms, "turn-0", `["bash"]`, 7), `"textChars":0`, `"textChars":5`, 1)
	})
	h.store("a1", "assistant", textPart("Wait."), `,"usage":{"inputTokens":7,"outputTokens":1}`)
	h.event(func(ms int64) string {
		return base(evCall, ms, `"turnId":"turn-0","tool":"bash","args":{"command":"sleep 99"}`)
	})
	h.user("u2", "And now?")
	h.request("turn-0", 4, 116)
	s := h.read()
	assert.Equal(t, []string{"user_text Go.", "assistant_text Wait.", "user_text And now?"}, sentParts(s, 1))
	require.Len(t, s.Calls, 1)
	assert.True(t, s.Calls[0].Ran && s.Calls[0].Failed == nil && s.Calls[0].ResultItem == -1)
	assert.Empty(t, s.Problems)
}

// TestNavigate: the conversation goes back to an earlier message.
func TestNavigate(t *testing.T) {
	h := newHome(t)
	h.user("u1", "Go.")
	h.september("turn-0", 2)
	h.answer("turn-0", "a", 10, "one")
	h.september("turn-1", 3)
	h.event(func(ms int64) string { return response(ms, "turn-1", "[]", 12) })
	h.event(func(ms int64) string { return base(evNavigate, ms, `"to":"u1","abandoned":1,"summarized":false`) })
	h.user("u2", "Otherwise.")
	h.september("turn-0", 3)
	s := h.read()
	assert.Equal(t, []string{"user_text Go.", "user_text Otherwise."}, sentParts(s, 2))
	assert.Empty(t, s.Problems)
}

// TestManualCompaction: older builds wrote no event for one asked for by hand;
// the new summary between two runs tells.
func TestManualCompaction(t *testing.T) {
	h := newHome(t)
	for i, prompt := range []string{"One.", "Two."} {
		turns := int64(2 * i)
		h.user(fmt.Sprintf("u%d", i), prompt)
		h.request("turn-0", 2+turns, 100)
		h.event(func(ms int64) string { return response(ms, "turn-0", "[]", 12) })
	}
	h.stored = nil
	h.user("u2", "Three.")
	memoryFile := filepath.Join(h.root, "memory", "s", "memory.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(memoryFile), 0o700))
	require.NoError(t, os.WriteFile(memoryFile, []byte(fmt.Sprintf(`{"summaries":[{"createdAt":%d,"content":"Did it."}]}`, h.ms+1)), 0o600))
	h.request("turn-0", 3, 100)
	s := h.read()
	require.Len(t, s.OtherBilled, 1)
	assert.Equal(t, "compaction", s.OtherBilled[0].Kind)
	assert.Equal(t, []string{"summary Compacted session summary:\nDid it.", "user_text Three."}, sentParts(s, 2))
}
