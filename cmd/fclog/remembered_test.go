package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bigLog is a folder with one log that is large enough for its audit to be kept:
// line breaks behind the last record cost no time to read.
func bigLog(t *testing.T) (dir, path string) {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/codex/compaction-0.118.jsonl")
	require.NoError(t, err)
	dir = t.TempDir()
	path = filepath.Join(dir, "rollout.jsonl")
	require.NoError(t, os.WriteFile(path, append(raw, bytes.Repeat([]byte("\n"), rememberAbove)...), 0o600))
	settle(t, path, time.Hour)
	return dir, path
}

// settle makes a log old enough not to be taken for one that is being written.
func settle(t *testing.T, path string, age time.Duration) {
	at := time.Now().Add(-age)
	require.NoError(t, os.Chtimes(path, at, at))
}

func auditJSON(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), append([]string{"audit", "--format", "json"}, args...), strings.NewReader(""), &out, &errs)
	require.Zero(t, code, errs.String())
	return out.String()
}

// The kept audit is marked by hand, so that it shows whether it was used.
func TestUnchangedLogsAreNotReadAgain(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	dir, path := bigLog(t)
	first := auditJSON(t, dir)

	kept, err := filepath.Glob(filepath.Join(cache, "fclog", "audits", "*.json"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	info, err := os.Stat(kept[0])
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which keeps no such rights
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	assert.Equal(t, first, auditJSON(t, dir))

	raw, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(kept[0], bytes.Replace(raw, []byte("rollout.jsonl"), []byte("marked.jsonl"), 1), 0o600))
	marked := func(args ...string) bool { return strings.Contains(auditJSON(t, args...), "marked.jsonl") }
	assert.True(t, marked(dir))
	assert.False(t, marked(dir, "--no-cache"))
	assert.False(t, marked(dir, "--agent", "codex"), "another selection")
	assert.False(t, marked(dir, "--dataset", filepath.Join(t.TempDir(), "kept")))
	assert.True(t, marked(dir))

	settle(t, path, 2*time.Hour)
	assert.Equal(t, first, auditJSON(t, dir), "another time of the log: read again, and nothing is marked")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.jsonl"), []byte("{\"a\":1}\n"), 0o600))
	assert.False(t, marked(dir), "another file in the folder")
}

func TestSmallAndMovingLogsAreNotRemembered(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	auditJSON(t, "../../testdata/codex/compaction-0.118.jsonl")
	dir, path := bigLog(t)
	settle(t, path, -time.Hour) // however long a busy machine takes, it has just changed
	auditJSON(t, dir)
	assert.NoDirExists(t, filepath.Join(cache, "fclog"))
}
