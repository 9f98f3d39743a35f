package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// log builds a rollout line by line for one case.
type log struct {
	lines []string
	ms    int
}

func (l *log) add(typ, payload string) *log {
	l.ms += 10
	l.lines = append(l.lines, fmt.Sprintf(`{"timestamp":"2026-03-01T10:%02d:%02d.%03dZ","type":%q,"payload":%s}`, l.ms/60000, l.ms/1000%60, l.ms%1000, typ, payload))
	return l
}

func (l *log) wait(ms int) *log {
	l.ms += ms
	return l
}

func (l *log) meta(id, more string) *log {
	return l.add("session_meta", fmt.Sprintf(`{"id":%q,"timestamp":"2026-03-01T10:00:00.000Z","cli_version":"0.104.0","model_provider":"openai"%s}`, id, more))
}

func (l *log) event(typ string) *log { return l.add("event_msg", fmt.Sprintf(`{"type":%q}`, typ)) }

func (l *log) turn(id string) *log {
	return l.add("event_msg", fmt.Sprintf(`{"type":"task_started","turn_id":%q}`, id))
}

func (l *log) message(role, text string) *log {
	return l.add("response_item", fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text))
}

func (l *log) call(id, command string) *log {
	return l.add("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":%q,"call_id":%q}`, fmt.Sprintf(`{"cmd":%q}`, command), id))
}

func (l *log) output(id, text string) *log {
	return l.add("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text))
}

// usage writes a token_count: running total and last usage, input and output.
func (l *log) usage(totalIn, totalOut, in, out int) *log {
	v := func(i, o int) string {
		return fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}`, i, o, i+o)
	}
	return l.add("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":%s,"last_token_usage":%s}}`, v(totalIn, totalOut), v(in, out)))
}

func (l *log) write(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(l.lines, "\n")+"\n"), 0o600))
	return path
}

func (l *log) read(t testing.TB) *rollout.Session {
	t.Helper()
	return readOne(t, l.write(t, "rollout.jsonl"))
}

func inputs(s *rollout.Session) []int64 {
	var out []int64
	for _, r := range s.Requests {
		if r.Usage.Input == nil {
			out = append(out, -1)
			continue
		}
		out = append(out, *r.Usage.Input)
	}
	return out
}
