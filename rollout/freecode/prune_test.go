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
