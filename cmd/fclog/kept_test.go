package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAuditIntoADataset: --dataset is a cache. The report is on what was named,
// whatever else is there; a dataset named as PATH is reported on whole.
func TestAuditIntoADataset(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	kept := filepath.Join(h.dir, "kept")
	good, codex := testdata("bad", "good.jsonl"), testdata("codex", "poll-0.104.jsonl")
	agents := func(args ...string) string {
		got := h.run(append(append([]string{"audit"}, args...), "--format", "json")...)
		require.Equal(t, 0, got.code, got.stderr)
		var a struct{ Sessions []struct{ Source string } }
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
		var out []string
		for _, s := range a.Sessions {
			out = append(out, s.Source)
		}
		return strings.Join(out, " ")
	}
	assert.Equal(t, "freecode", agents(good, "--dataset", kept))
	assert.Equal(t, "codex", agents(codex, "--dataset", kept), "the other one is there, too")
	assert.Equal(t, "freecode", agents(good, "--dataset", kept), "from the cache")
	assert.Equal(t, "codex freecode", agents(codex, good, "--dataset", kept))
	assert.Equal(t, "codex freecode", agents(kept))

	copied := filepath.Join(h.dir, "under another name.jsonl")
	copyFile(t, good, copied)
	assert.Equal(t, "freecode", agents(copied, "--dataset", kept), "known by its content")

	require.NoError(t, os.Remove(filepath.Join(kept, "_state", "files.json")))
	assert.Equal(t, "codex", agents(codex, "--dataset", kept), "the state is only a cache")
	require.Equal(t, 0, h.run("import", "--compact", kept).code)
	assert.Equal(t, "codex", agents(codex, "--dataset", kept))

	got := h.run("audit", good, "--dataset", kept, "--agent", "codex")
	assert.Equal(t, 3, got.code, "selections hold beside it")
}
