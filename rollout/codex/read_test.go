package codex

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

func TestDetect(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"timestamp":"2026-02-24T15:00:00Z","type":"session_meta","payload":{"id":"x"}}`:                     true,
		`{"timestamp" : "2026-02-24T15:00:00Z" , "type" : "event_msg" , "payload" : {"type":"task_started"}}`: true,
		`{"id":"x","timestamp":"2025-08-07T17:24:21.101Z","instructions":null,"git":{}}`:                      true,
		`{"type":"user","sessionId":"x","message":{"role":"user"}}`:                                           false,
		`{"type":"response_item","payload":"text"}`:                                                           false,
		`{"id":"x","timestamp":"y","type":"message"}`:                                                         false,
		`[1]`: false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(raw)}), raw)
	}
	assert.False(t, Detect(nil))
}

func TestHomes(t *testing.T) {
	env := func(vars map[string]string) func(string) string { return func(k string) string { return vars[k] } }
	assert.Equal(t, []string{"/c/sessions", "/c/archived_sessions"}, Homes(env(map[string]string{"CODEX_HOME": "/c", "HOME": "/h"})))
	assert.Equal(t, []string{"/h/.codex/sessions", "/h/.codex/archived_sessions"}, Homes(env(map[string]string{"HOME": "/h"})))
	assert.Nil(t, Homes(env(nil)))
}

func TestNotALog(t *testing.T) {
	for name, text := range map[string]string{
		"empty":   "",
		"other":   `{"type":"user","message":{}}` + "\n",
		"pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := Read(context.Background(), path)
			require.ErrorIs(t, err, logfile.ErrNotLog)
			assert.ErrorContains(t, err, path)
		})
	}
	_, err := Read(context.Background(), filepath.Join(t.TempDir(), "missing"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Read(ctx, filepath.Join("..", "..", "testdata", "codex", "poll-0.104.jsonl"))
	assert.ErrorIs(t, err, context.Canceled)
}

// A prefix that ends at a line break is a rollout too; a cut line costs itself.
func TestEveryPrefixReads(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "codex", "poll-0.104.jsonl"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "prefix.jsonl")
	for n := 400; n < len(raw); n += 97 {
		require.NoError(t, os.WriteFile(path, raw[:n], 0o600))
		s := readOne(t, path)
		assert.LessOrEqual(t, len(s.Requests), 4)
	}
}

func TestBrokenFieldsCostOnlyThemselves(t *testing.T) {
	l := (&log{}).add("session_meta", `{"id":7,"timestamp":[],"source":{"subagent":5},"base_instructions":"text","dynamic_tools":{}}`)
	l.add("response_item", `{"type":"message","role":"user","content":["x",{"type":"input_text","text":"kept"},{"text":3}]}`)
	l.add("response_item", `{"type":"function_call","name":4,"arguments":{"cmd":"ls"},"call_id":null}`)
	l.add("event_msg", `{"type":"token_count","info":"x"}`).add("turn_context", `"x"`).add("compacted", `[]`)
	s := l.read(t)
	assert.NotEmpty(t, s.ID)
	assert.Equal(t, []string{"kept"}, texts(s, 0))
	assert.Equal(t, "unknown", s.Calls[0].Tool)
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "codex", "*.jsonl"))
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(`{"type":"compacted","payload":{"message":"a","replacement_history":[{"type":"reasoning","encrypted_content":"x"}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		sessions, err := Read(context.Background(), path)
		if err != nil {
			// A session that fails its Check is an error too, and a fault of the reader.
			require.ErrorIs(t, err, logfile.ErrNotLog)
			return
		}
		for _, s := range sessions {
			require.NoError(t, rollout.Check(s))
		}
	})
}
