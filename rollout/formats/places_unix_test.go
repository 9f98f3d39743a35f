//go:build unix

package formats

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// TestNeighboursThatHaveNoEnd: what lies beside a log is read with it in many
// formats. A pipe, a device or a folder in its place neither hangs the read nor fills
// the memory.
func TestNeighboursThatHaveNoEnd(t *testing.T) {
	root := filepath.Join("..", "..", "testdata")
	for _, place := range []struct {
		name string
		put  func(path string) error
	}{
		{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"endless device", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
	} {
		for _, f := range All() {
			dir := filepath.Join(t.TempDir(), f.Name)
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, f.Name))))
			logs, _, err := List{f}.Expand(t.Context(), []string{dir})
			require.NoError(t, err)
			for _, log := range logs {
				restore := replaceOthers(t, dir, log.Path, place.put)
				checkEnds(t, f.Name+": "+place.name+" beside "+filepath.Base(log.Path), log)
				restore()
			}
		}
	}
}

// replaceOthers puts something else in the place of every other file of a tree.
func replaceOthers(t *testing.T, dir, keep string, put func(string) error) (restore func()) {
	t.Helper()
	kept := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == keep {
			return err
		}
		raw, err := os.ReadFile(path)
		kept[path] = raw
		return err
	}))
	for path := range kept {
		require.NoError(t, os.Remove(path))
		require.NoError(t, put(path))
	}
	return func() {
		for path, raw := range kept {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.WriteFile(path, raw, 0o600))
		}
	}
}

// checkEnds reads a log, looking for its companions first, in bounded time.
func checkEnds(t *testing.T, name string, f File) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), readBound)
		defer cancel()
		for _, look := range []func(string) []string{f.Format.Companions, f.Format.Depends} {
			if look != nil {
				look(f.Path)
			}
		}
		sessions, err := f.Format.Read(ctx, f.Path)
		for _, s := range sessions {
			if err == nil {
				err = rollout.Check(s)
			}
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			assert.NotRegexp(t, checked, err.Error(), name)
		}
	case <-time.After(2 * readBound):
		require.Fail(t, "it hangs", name)
	}
}
