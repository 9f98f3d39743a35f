package formats

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
)

// TestFormatsTellEachOtherApart runs every format's detection over every real
// log: its own says yes, the others no.
func TestFormatsTellEachOtherApart(t *testing.T) {
	for folder, want := range map[string]string{"freecode": "freecode", "codex": "codex", "claude": "claude-code"} {
		root := devdata.Dir(t, folder)
		files, skipped, err := Expand(context.Background(), []string{root})
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, s := range skipped {
			assert.Contains(t, s.Path, "wire-summary", "%s: the store's other files are no unknown logs", s.Reason)
		}
		for _, f := range files {
			assert.Equal(t, want, f.Format.Name, f.Path)
			for _, other := range All() {
				if other.Name != want {
					got, err := List{other}.Detect(f.Path)
					assert.ErrorIs(t, err, ErrUnknown, "%s is not %s", f.Path, got.Name)
				}
			}
		}
	}
}

// TestCountsOfRealLogs: the number of logs is what find(1) counts there:
// events.jsonl files for FreeCode, .jsonl files for the others.
func TestCountsOfRealLogs(t *testing.T) {
	for folder, pattern := range map[string][]string{
		"freecode": {"*/freecode/rollout/sessions/*/events.jsonl"},
		"codex":    {"*.jsonl"},
		"claude":   {"*.jsonl", "*/*.jsonl", "*/*/subagents/*.jsonl"},
	} {
		root := devdata.Dir(t, folder)
		want := 0
		for _, p := range pattern {
			found, err := filepath.Glob(filepath.Join(root, p))
			require.NoError(t, err)
			want += len(found)
		}
		files, _, err := Expand(context.Background(), []string{root})
		require.NoError(t, err)
		assert.Len(t, files, want, folder)
	}
}

// TestSubAgentsAreTied: exactly the files below a subagents folder are part of
// the session whose name that folder's parent has.
func TestSubAgentsAreTied(t *testing.T) {
	files, _, err := Expand(context.Background(), []string{devdata.Dir(t, "claude")})
	require.NoError(t, err)
	for _, f := range files {
		want := ""
		if dir := filepath.Dir(f.Path); filepath.Base(dir) == "subagents" {
			want = filepath.Dir(dir) + ".jsonl"
		}
		assert.Equal(t, want, f.PartOf, f.Path)
	}
}

// TestAgentsAreNeverMistaken: a log is taken for its own agent's or, where fclog
// does not read that agent yet, said to be unknown.
func TestAgentsAreNeverMistaken(t *testing.T) {
	for folder, name := range map[string]string{
		"api-log": "api-log", "copilot-cli": "copilot-cli", "gemini-cli": "gemini-cli", "opencode": "opencode",
		"pi": "pi", "swe-agent": "swe-agent", "atif": "atif",
	} {
		files, _, err := Expand(context.Background(), []string{devdata.Dir(t, folder)})
		if !slices.ContainsFunc(All(), func(f Format) bool { return f.Name == name }) {
			assert.ErrorIs(t, err, ErrNothing, folder)
		}
		for _, f := range files {
			assert.Equal(t, name, f.Format.Name, f.Path)
		}
	}
}
