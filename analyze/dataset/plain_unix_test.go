//go:build unix

package dataset

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/shard"
)

// Somebody hands on a dataset with links that lead out of it. Nothing beyond it may be
// cleared away or written over, and a pipe may not keep an import waiting.
func TestDatasetWithLinksAndPipes(t *testing.T) {
	link := func(target string) func(string) error { return func(at string) error { return os.Symlink(target, at) } }
	pipe := func(at string) error { return syscall.Mkfifo(at, 0o600) }
	outside := t.TempDir()
	precious := filepath.Join(outside, "precious.parquet")
	cases := map[string]func(at string) error{
		tmpFolder: link(outside), stateFolder: link(outside), lockFile: link(precious), stateFile: pipe,
		stateFolder + "/shard-1-of-2.json": pipe, "items": link(outside), "estimates": link(outside),
		"sessions/source=codex/month=2026-01/0.parquet": pipe, "texts/source=codex": link(outside),
		markerFile + ".shard-1-of-1": link(precious),
	}
	for name, put := range cases {
		require.NoError(t, os.WriteFile(precious, []byte("precious"), 0o600))
		logs, dir := t.TempDir(), t.TempDir()
		in := logFile(t, logs, "a", "log A 1\none\n")
		importInto(t, dir, in)
		at := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.RemoveAll(at))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, put(at))

		for _, which := range []shard.Shard{{}, {Index: 1, Of: 1}} {
			_, err := Import(t.Context(), dir, []Input{in}, Options{Shard: which})
			require.ErrorIs(t, err, ErrNotPlain, "%s, shard %v", name, which)
			assert.ErrorContains(t, err, at)
		}
		require.ErrorIs(t, Compact(t.Context(), dir), ErrNotPlain, name)
		if name == "estimates" {
			require.ErrorIs(t, WriteEstimates(dir, "codex", "2026-01", []Estimate{{Part: "p"}}), ErrNotPlain)
		}
		raw, err := os.ReadFile(precious)
		require.NoError(t, err, name)
		assert.Equal(t, "precious", string(raw), name)
		left, err := os.ReadDir(outside)
		require.NoError(t, err)
		assert.Len(t, left, 1, name)
	}
}

// The dataset as a whole may lie elsewhere, and what is no part of it may be anything.
func TestDatasetBehindALink(t *testing.T) {
	logs, real := t.TempDir(), t.TempDir()
	dir := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, dir))
	in := logFile(t, logs, "a", "log A 1\none\n")
	importInto(t, dir, in)
	require.NoError(t, os.Symlink(logs, filepath.Join(dir, "my logs")))
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, in))
}

// Looking at a dataset does not wait at a pipe, and names it.
func TestInspectNamesPipes(t *testing.T) {
	dir := t.TempDir()
	importInto(t, dir, logFile(t, t.TempDir(), "a", "log A 1\none\n"))
	at := filepath.Join(dir, "sessions", "source=codex", "month=2026-01", "0.parquet")
	require.NoError(t, syscall.Mkfifo(at, 0o600))
	found, err := Inspect(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, found.Faults, 1)
	assert.Equal(t, FaultForeign, found.Faults[0].Kind)
	assert.Equal(t, "sessions/source=codex/month=2026-01/0.parquet", found.Faults[0].Path)
}
