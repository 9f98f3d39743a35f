package formats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// These are mistakes that tools for such logs have made, each with the right value
// by arithmetic. What the packages of the formats test themselves is not repeated.

// claudeRow is a line of an assistant: message ID, request ID, output, what stopped it.
func claudeRow(n int, message, request string, usage, stop string) string {
	id := ""
	if message != "" {
		id = fmt.Sprintf(`"id":%q,`, message)
	}
	req := ""
	if request != "" {
		req = fmt.Sprintf(`,"requestId":%q`, request)
	}
	return fmt.Sprintf(`{"parentUuid":"u%d","isSidechain":false,"sessionId":"s","version":"2.1.44","uuid":"u%d","timestamp":"2026-03-01T10:00:%02d.000Z","type":"assistant",`+
		`"message":{%s"type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Row %d."}],"stop_reason":%s,"usage":{%s}}%s}`,
		n-1, n, n, id, n, stop, usage, req)
}

const claudeStart = `{"parentUuid":null,"isSidechain":false,"sessionId":"s","version":"2.1.44","uuid":"u0","timestamp":"2026-03-01T10:00:00.000Z","type":"user","message":{"role":"user","content":"Go on"}}`

func claudeUsage(input, write, read, output int) string {
	return fmt.Sprintf(`"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d`, input, write, read, output)
}

// readLines reads a log of these lines.
func readLines(t *testing.T, lines ...string) []*rollout.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	format, err := Detect(path)
	require.NoError(t, err)
	sessions, err := format.Read(t.Context(), path)
	require.NoError(t, err)
	for _, s := range sessions {
		require.NoError(t, rollout.Check(s))
	}
	return sessions
}

// sums of the requests that are not inherited, each class for itself.
type sums struct{ requests, input, read, write, output int64 }

func sumOf(sessions []*rollout.Session) (out sums) {
	for _, s := range sessions {
		for _, r := range s.Requests {
			if r.Inherited {
				continue
			}
			out.requests++
			out.input += value(r.Usage.Input)
			out.read += value(r.Usage.CacheRead)
			out.write += value(r.Usage.CacheWrite)
			out.output += value(r.Usage.Output)
		}
	}
	return out
}

// TestStreamedRowsAreOneRequest: a response stands in the log once for each of its
// blocks, its output growing; a later one with another request ID is its own.
func TestStreamedRowsAreOneRequest(t *testing.T) {
	lines := []string{claudeStart}
	for n := 1; n <= 14; n++ { // outputs 3, 6 … 42, of which the last counts
		lines = append(lines, claudeRow(n, "m1", "r1", claudeUsage(2, 100, 900, 3*n), "null"))
	}
	lines = append(lines, claudeRow(15, "m2", "r2", claudeUsage(5, 10, 1000, 7), `"end_turn"`))
	got := sumOf(readLines(t, lines...))
	assert.Equal(t, sums{requests: 2, input: (2 + 100 + 900) + (5 + 10 + 1000), read: 900 + 1000, write: 100 + 10, output: 42 + 7}, got)

	// The order of the copies changes nothing, nor does a copy at the end.
	lines = append(lines, claudeRow(1, "m1", "r1", claudeUsage(2, 100, 900, 3), "null"))
	assert.Equal(t, got, sumOf(readLines(t, lines...)))
}

// TestSnapshotsOfOutputAreNoFigures: an output written while the answer was coming,
// of which no final one follows, is no final figure.
func TestSnapshotsOfOutputAreNoFigures(t *testing.T) {
	first := strings.ReplaceAll(claudeRow(1, "m1", "r1", claudeUsage(2, 100, 900, 1), "null"), "Row 1.", strings.Repeat("Far more than one token. ", 20))
	s := readLines(t, claudeStart, first, claudeRow(2, "m2", "r2", claudeUsage(5, 10, 1000, 70), `"end_turn"`))[0]
	require.Len(t, s.Requests, 2)
	assert.False(t, s.Requests[0].OutputFinal)
	assert.True(t, s.Requests[1].OutputFinal)
}

// TestProgressRowsCount: a sub-agent's responses that are kept in progress rows alone
// are requests, once each, however often a row repeats them.
func TestProgressRowsCount(t *testing.T) {
	row := func(n int, id string, output int) string {
		return fmt.Sprintf(`{"parentUuid":"u1","isSidechain":false,"sessionId":"s","version":"2.1.44","uuid":"p%d","timestamp":"2026-03-01T10:01:%02d.000Z","type":"progress","toolUseID":"t","parentToolUseID":"call_T",`+
			`"data":{"type":"agent_progress","agentId":"beef01","prompt":"Look","message":{"type":"assistant","uuid":"q%d","timestamp":"2026-03-01T10:01:%02d.000Z","requestId":"r-%s",`+
			`"message":{"id":%q,"type":"message","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"Part %d"}],"stop_reason":"end_turn","usage":{%s}}}}}`,
			n, n, n, n, id, id, n, claudeUsage(10, 0, 0, output))
	}
	got := sumOf(readLines(t, claudeStart, claudeRow(1, "m1", "r1", claudeUsage(2, 100, 900, 30), `"end_turn"`), row(1, "k1", 5), row(2, "k1", 5), row(3, "k2", 8)))
	assert.Equal(t, sums{requests: 3, input: 1002 + 10 + 10, read: 900, write: 100, output: 30 + 5 + 8}, got)
}

// TestRowsWithoutRequestID: gateways leave it out; rows of one message in one session
// are one request all the same.
func TestRowsWithoutRequestID(t *testing.T) {
	got := sumOf(readLines(t, claudeStart, claudeRow(1, "m1", "", claudeUsage(2, 100, 900, 3), "null"), claudeRow(2, "m1", "", claudeUsage(2, 100, 900, 30), `"end_turn"`), claudeRow(3, "m2", "", claudeUsage(4, 0, 1000, 5), `"end_turn"`)))
	assert.Equal(t, sums{requests: 2, input: 1002 + 1004, read: 1900, write: 100, output: 35}, got)
}

// TestLongCacheWritesStandApart: the hour's writes cost more than those of five
// minutes, and are part of all writes.
func TestLongCacheWritesStandApart(t *testing.T) {
	usage := claudeUsage(2, 100, 900, 3) + `,"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":60}`
	r := readLines(t, claudeStart, claudeRow(1, "m1", "r1", usage, `"end_turn"`))[0].Requests[0]
	assert.EqualValues(t, 100, value(r.Usage.CacheWrite))
	assert.EqualValues(t, 40, value(r.Usage.CacheWrite5m))
	assert.EqualValues(t, 60, value(r.Usage.CacheWrite1h))
}

// TestImagesAreNotTheirBytes: a picture costs what its pixels do, never what its
// base64 would as text.
func TestImagesAreNotTheirBytes(t *testing.T) {
	picture := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 50_000) // 1.2 MB
	result := `{"parentUuid":"u1","isSidechain":false,"sessionId":"s","version":"2.1.44","uuid":"u2","timestamp":"2026-03-01T10:00:02.000Z","type":"user","message":{"role":"user","content":[` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture + `"}}]}}`
	s := readLines(t, claudeStart, claudeRow(1, "m1", "r1", claudeUsage(2, 0, 0, 3), `"end_turn"`), result, claudeRow(3, "m2", "r2", claudeUsage(2, 0, 0, 3), `"end_turn"`))[0]
	images := 0
	for _, it := range s.Items {
		if it.Kind == rollout.Image {
			images++
			require.NotNil(t, it.Tokens)
			assert.True(t, *it.Tokens > 0 && *it.Tokens < 10_000, "%d tokens", *it.Tokens)
		}
	}
	assert.Equal(t, 1, images)
}

// TestOtherStreamsAreNamed: what an agent prints for other programs is no log of a
// session, and is not read as an empty one.
func TestOtherStreamsAreNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exec.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"thread.started","thread_id":"a"}`+"\n"+`{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"x"}}`+"\n"), 0o600))
	_, err := Detect(path)
	require.ErrorIs(t, err, ErrUnknown)
}
