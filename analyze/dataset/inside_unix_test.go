//go:build unix

package dataset

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/rollout"
)

// Somebody puts a link in the place of a folder or a file while an import runs, after
// it was looked at. Nothing beyond the dataset is written, moved or taken away.
func TestLinksPutThereDuringAnImport(t *testing.T) {
	swapped := []string{
		"sessions", "items/source=codex", "sessions/source=codex/month=2026-01", "texts/source=codex/month=2026-01",
		tmpFolder, stateFolder, stateFile, markerFile, stateFolder + "/" + shardLabel(shard.Shard{Index: 1, Of: 1}) + ".json",
	}
	for _, which := range []shard.Shard{{}, {Index: 1, Of: 1}} {
		for _, name := range swapped {
			outside := newOutside(t)
			logs, dir := t.TempDir(), t.TempDir()
			in := logFile(t, logs, "a", "log A 1\none\n")
			_, err := Import(t.Context(), dir, []Input{in}, Options{Shard: which})
			require.NoError(t, err)

			grown := logFile(t, logs, "a", "log A 1\none\ntwo\n")
			reader := grown.Read
			grown.Read = func(ctx context.Context) ([]*rollout.Session, error) {
				swap(t, filepath.Join(dir, filepath.FromSlash(name)), outside)
				return reader(ctx)
			}
			_, _ = Import(t.Context(), dir, []Input{grown}, Options{Shard: which})
			assertUntouched(t, outside, name)
		}
	}
}

// The same between writing aside and moving to the place, and in a merge.
func TestLinksPutThereDuringAWrite(t *testing.T) {
	for _, name := range []string{"sessions", "requests/source=codex", tmpFolder} {
		outside := newOutside(t)
		logs, dir := t.TempDir(), t.TempDir()
		a, b := logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log B 1\ntwo\n")
		importInto(t, dir, a)
		importInto(t, dir, b)
		s, err := openStore(dir, Options{})
		require.NoError(t, err)
		ix, err := s.readIndex()
		require.NoError(t, err)
		swap(t, filepath.Join(dir, filepath.FromSlash(name)), outside)
		require.Error(t, s.merge(t.Context(), ix.parts), name)
		require.Error(t, s.put(filepath.Join(dir, filepath.FromSlash(name), "x.parquet"), func(tmp string) error {
			f, err := s.create(tmp)
			if err != nil {
				return err
			}
			return f.Close()
		}), name)
		for _, c := range ix.parts {
			_ = s.removeFiles(c.place)
		}
		s.dropLeftovers()
		_ = s.dropOrphans()
		s.close()
		assertUntouched(t, outside, name)
	}
}

// newOutside is a folder that looks like one of a dataset, and has much to lose.
func newOutside(t *testing.T) string {
	t.Helper()
	outside := t.TempDir()
	for _, name := range []string{"precious", "source=codex/month=2026-01/precious.parquet", "month=2026-01/precious.parquet", "lock", "files.json.1"} {
		logFile(t, outside, name, "precious")
	}
	return outside
}

// swap moves what stands at a place away and puts a link there. A file becomes a link
// to a file.
func swap(t *testing.T, at, outside string) {
	t.Helper()
	info, err := os.Stat(at)
	if err != nil || !info.IsDir() {
		outside = filepath.Join(outside, "precious")
	}
	if err == nil {
		require.NoError(t, os.Rename(at, at+".moved"))
	}
	require.NoError(t, os.Symlink(outside, at))
}

func assertUntouched(t *testing.T, outside, name string) {
	t.Helper()
	left := tree(t, outside)
	assert.Len(t, left, 5, name)
	for file, content := range left {
		assert.Equal(t, "precious", content, "%s through %s", file, name)
	}
}
