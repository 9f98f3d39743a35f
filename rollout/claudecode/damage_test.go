package claudecode

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

func readText(t testing.TB, lines ...string) ([]*rollout.Session, error) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return Read(context.Background(), path)
}

const (
	user1  = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"one"}}`
	reply1 = `{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","requestId":"r1","message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"two"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":1}}}`
	user2  = `{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":"three"}}`
	reply2 = `{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s","requestId":"r2","message":{"id":"m2","model":"claude-x","content":[{"type":"text","text":"four"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}}`
)

func TestDamage(t *testing.T) {
	whole := []string{"user_text: one", "assistant_text: two", "user_text: three"}
	for _, c := range []struct {
		name     string
		lines    []string
		payload  []string // of the last request
		problems map[string]int
	}{
		{"whole", []string{user1, reply1, user2, reply2}, whole, map[string]int{}},
		{"cut last line", []string{user1, reply1, user2, reply2, user1[:40]}, whole, map[string]int{"cut-line": 1}},
		{"broken line between", []string{user1, reply1, "{oops", user2, reply2}, whole, map[string]int{"bad-json": 1}},
		{"two records on a line", []string{user1 + reply1, user2, reply2}, whole, map[string]int{}},
		{"lost parent", []string{user1, reply1, strings.Replace(user2, `"a1"`, `"gone"`, 1), reply2}, whole, map[string]int{"missing-parent": 1}},
		{"repeated uuid", []string{user1, reply1, user1, reply1, user2, reply2}, whole, map[string]int{"duplicate-uuid": 2}},
		{"array and number", []string{user1, reply1, "[1]", "7", user2, reply2}, whole, map[string]int{"bad-json": 2}},
		{"odd members", []string{strings.Replace(user1, `"sessionId":"s"`, `"sessionId":"s","version":5,"toolUseResult":"Error: x","isMeta":"no"`, 1), reply1, user2, reply2}, whole, map[string]int{}},
		{"null usage", []string{user1, reply1, user2, strings.Replace(reply2, `{"input_tokens":9,"output_tokens":1}`, "null", 1)}, whole, map[string]int{"response-without-usage": 1}},
		{"negative usage", []string{user1, reply1, user2, strings.Replace(reply2, `:9`, ":-9", 1)}, whole, map[string]int{"usage-inconsistent": 1}},
		{"impossible usage", []string{user1, reply1, user2, strings.Replace(reply2, `:9`, ":2000000000000", 1)}, whole, map[string]int{"usage-inconsistent": 1}},
		{"usage beyond 64 bits", []string{user1, reply1, user2, strings.Replace(reply2, `:9`, ":99999999999999999999", 1)}, whole, map[string]int{"usage-inconsistent": 1}},
		{"usage in another notation", []string{user1, reply1, user2, strings.Replace(reply2, `:9`, ":0.9e1", 1)}, whole, map[string]int{}},
		{"invalid times", []string{strings.Replace(user1, `"uuid"`, `"timestamp":"noon","uuid"`, 1), reply1, strings.Replace(user2, `"uuid"`, `"timestamp":7,"uuid"`, 1), reply2}, whole, map[string]int{"bad-time": 2}},
		{"null content", []string{user1, reply1, user2, strings.Replace(reply2, `[{"type":"text","text":"four"}]`, "null", 1)}, whole, map[string]int{}},
		{"parents in a circle", []string{strings.Replace(user1, "null", `"u2"`, 1), reply1, user2, reply2}, whole, map[string]int{"parent-cycle": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions, err := readText(t, c.lines...)
			require.NoError(t, err)
			s := sessions[0]
			require.Len(t, s.Requests, 2)
			assert.Equal(t, c.payload, texts(s, 1))
			assert.Equal(t, c.problems, problems(s))
		})
	}
}

func TestBoundaryPointsForward(t *testing.T) {
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a2","sessionId":"s"}`
	summary := `{"type":"user","uuid":"c","parentUuid":"b","isCompactSummary":true,"sessionId":"s","message":{"role":"user","content":"sum"}}`
	sessions, err := readText(t, user1, reply1, boundary, summary, strings.Replace(user2, `"a1"`, `"c"`, 1), reply2)
	require.NoError(t, err)
	assert.Equal(t, []string{"summary: sum", "user_text: three"}, texts(sessions[0], 1))
	assert.Nil(t, sessions[0].OtherBilled[0].Usage.Input, "preTokens is not logged")
}

// Two parallel calls; the result of the first hangs beside the path. It goes out
// with the next request, but the totals show whether a resume kept it.
func TestResumeLosesWhatHangsBesideThePath(t *testing.T) {
	big := strings.Repeat("x", 3000)
	lines := func(total string) []string {
		return []string{
			user1,
			`{"type":"assistant","uuid":"b1","parentUuid":"u1","sessionId":"s","message":{"id":"m0","model":"claude-x","content":[{"type":"tool_use","id":"A","name":"Read","input":{}}],"usage":{"input_tokens":100,"output_tokens":20}}}`,
			`{"type":"assistant","uuid":"b2","parentUuid":"b1","sessionId":"s","message":{"id":"m0","model":"claude-x","content":[{"type":"tool_use","id":"B","name":"Read","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20}}}`,
			`{"type":"user","uuid":"q1","parentUuid":"b1","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"A","content":"` + big + `"}]}}`,
			`{"type":"user","uuid":"q2","parentUuid":"b2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"B","content":"small"}]}}`,
			`{"type":"assistant","uuid":"a1","parentUuid":"q2","sessionId":"s","message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"two"}],"stop_reason":"end_turn","usage":{"input_tokens":1150,"output_tokens":1}}}`,
			user2,
			strings.Replace(reply2, `:9`, ":"+total, 1),
		}
	}
	kept := []string{"user_text: one", "tool_call: {}", "tool_call: {}", "tool_result: " + big, "tool_result: small", "assistant_text: two"}
	for _, c := range []struct {
		total   string
		payload []string
	}{
		{"1160", append(slices.Clone(kept), "user_text: three")},
		{"160", []string{"user_text: one", "tool_call: {}", "tool_result: small", "assistant_text: two", "user_text: three"}}, // 3,000 characters are 1,000 tokens
	} {
		sessions, err := readText(t, lines(c.total)...)
		require.NoError(t, err)
		require.Len(t, sessions[0].Requests, 3)
		assert.Equal(t, kept, append(texts(sessions[0], 1), "assistant_text: two"))
		assert.Equal(t, c.payload, texts(sessions[0], 2), c.total)
	}
}

// The abandoned branch begins at a result of parallel calls: both results are in
// its payload and in the living one.
func TestRewindBehindParallelCalls(t *testing.T) {
	call := func(uuid, parent, id string) string {
		return `{"type":"assistant","uuid":"` + uuid + `","parentUuid":"` + parent + `","sessionId":"s","message":{"id":"m0","model":"claude-x","content":[{"type":"tool_use","id":"` + id + `","name":"Read","input":{}}],"usage":{"input_tokens":1,"output_tokens":20}}}`
	}
	result := func(uuid, parent, id string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":"` + parent + `","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"of ` + id + `"}]}}`
	}
	prompt := strings.Replace(user2, `"a1"`, `"q2"`, 1)
	other := strings.NewReplacer(`"u2"`, `"u3"`, "three", "four").Replace(prompt)
	third := strings.NewReplacer(`"a2"`, `"a3"`, `"u2"`, `"u3"`, `"m2"`, `"m3"`, `"r2"`, `"r3"`).Replace(reply2)
	sessions, err := readText(t, user1, call("b1", "u1", "A"), call("b2", "b1", "B"), result("q1", "b1", "A"), result("q2", "b2", "B"), prompt, reply2, other, third)
	require.NoError(t, err)
	s := sessions[0]
	require.Len(t, s.Requests, 3)
	stem := []string{"user_text: one", "tool_call: {}", "tool_call: {}", "tool_result: of A", "tool_result: of B"}
	assert.Equal(t, 1, s.Requests[1].Chain)
	assert.Equal(t, append(slices.Clone(stem), "user_text: three"), texts(s, 1))
	assert.Equal(t, append(slices.Clone(stem), "user_text: four"), texts(s, 2))
}

func TestReplacedResponse(t *testing.T) {
	sessions, err := readText(t, user1, reply1, strings.NewReplacer(`"a2"`, `"a2"`, `"u2"`, `"u1"`).Replace(reply2))
	require.NoError(t, err)
	assert.Equal(t, []string{"user_text: one"}, texts(sessions[0], 1), "both answers begin at the same line")
}

func TestRequestIDsOfReusedMessageIDs(t *testing.T) {
	other := strings.NewReplacer(`"m2"`, `"m1"`).Replace(reply2)
	sessions, err := readText(t, user1, reply1, user2, other)
	require.NoError(t, err)
	assert.Len(t, sessions[0].Requests, 2, "two request IDs are two responses")

	without := strings.NewReplacer(`"requestId":"r2",`, "").Replace(other)
	sessions, err = readText(t, user1, reply1, user2, without)
	require.NoError(t, err)
	assert.Len(t, sessions[0].Requests, 1, "without one the message ID decides")
}

func TestForkedHistoryIsInherited(t *testing.T) {
	mark := func(s string) string {
		return strings.Replace(s, `"sessionId":"s"`, `"sessionId":"s","forkedFrom":{"sessionId":"old","messageUuid":"x"}`, 1)
	}
	sessions, err := readText(t, mark(user1), mark(reply1), user2, reply2)
	require.NoError(t, err)
	s := sessions[0]
	assert.Equal(t, "old", s.ForkedFrom)
	assert.Equal(t, []bool{true, false}, []bool{s.Requests[0].Inherited, s.Requests[1].Inherited})
}

func TestNoTranscript(t *testing.T) {
	for _, lines := range []string{"", "{}", `{"type":"summary","summary":"x","leafUuid":"y"}`, "\x00\x00"} {
		_, err := readText(t, lines)
		assert.ErrorIs(t, err, logfile.ErrNotLog, "%q", lines)
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join(fixtures, "*.jsonl"))
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(strings.Join([]string{user1, reply1, user2, reply2}, "\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_, err := Read(context.Background(), path)
		onlyNoLog(t, err)
	})
}

// onlyNoLog accepts that bytes are no log; a session that fails its check is a
// fault of the reader.
func onlyNoLog(t require.TestingT, err error) {
	if err != nil {
		require.ErrorIs(t, err, logfile.ErrNotLog)
	}
}

// Lines swapped, repeated, lost and bent: parents in other conversations, results
// before their calls, responses in pieces.
func TestShuffledLines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.jsonl"))
	require.NoError(t, err)
	var seeds [][]string
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		seeds = append(seeds, strings.Split(string(raw), "\n"))
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	rapid.Check(t, func(r *rapid.T) {
		lines := slices.Clone(rapid.SampledFrom(seeds).Draw(r, "file"))
		for range rapid.IntRange(1, 8).Draw(r, "edits") {
			i := rapid.IntRange(0, len(lines)-1).Draw(r, "line")
			j := rapid.IntRange(0, len(lines)-1).Draw(r, "other")
			switch rapid.IntRange(0, 3).Draw(r, "edit") {
			case 0:
				lines[i], lines[j] = lines[j], lines[i]
			case 1:
				lines = slices.Insert(lines, i, lines[j])
			case 2:
				lines[i] = ""
			case 3:
				lines[i] = strings.Replace(lines[i], parentOf(lines[i]), parentOf(lines[j]), 1)
			}
		}
		require.NoError(r, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
		_, err := Read(context.Background(), path)
		onlyNoLog(r, err)
	})
}

// parentOf is the member that names the parent, as text.
func parentOf(line string) string {
	_, after, _ := strings.Cut(line, `"parentUuid":`)
	value, _, _ := strings.Cut(after, ",")
	return `"parentUuid":` + value
}
