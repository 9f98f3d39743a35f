package dataset

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// A log may go while it is read, before it, or between two looks at it.
func TestFileThatVanishes(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	before, during, after := logFile(t, logs, "before", "log A 1\none\n"), logFile(t, logs, "during", "log B 1\none\n"), logFile(t, logs, "after", "log C 1\none\n")
	require.NoError(t, os.Remove(before.Path))
	read := during.Read
	during.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		require.NoError(t, os.Remove(during.Path))
		return read(ctx)
	}
	readAfter := after.Read
	after.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		s, err := readAfter(ctx)
		require.NoError(t, os.Remove(after.Path))
		return s, err
	}
	good := logFile(t, logs, "good", "log D 1\none\n")
	sum := importInto(t, dir, before, during, after, good)
	assert.Equal(t, 1, sum.Imported)
	require.Len(t, sum.Failed, 3)
	for _, f := range sum.Failed {
		assert.ErrorIs(t, f.Err, fs.ErrNotExist, f.Path)
	}
	assert.Len(t, parts(t, dir), 1)

	require.NoError(t, os.Remove(good.Path))
	assert.Len(t, importInto(t, dir, good).Failed, 1)
	assert.Len(t, parts(t, dir), 1, "what was imported stays when its log goes")
}

// A log may be cut to nothing or begun anew while it is read: what counts is what
// a part is named by.
func TestFileCutWhileRead(t *testing.T) {
	logs, dir, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\n"+strings.Repeat("words\n", 100))
	cut := a
	reads := 0
	cut.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		s, err := a.Read(ctx)
		if reads++; reads == 1 {
			logFile(t, logs, "a", "log A 1\none\n")
		}
		return s, err
	}
	importInto(t, dir, cut)
	importInto(t, fresh, a)
	assert.Equal(t, tree(t, fresh), tree(t, dir))
	assert.NoFileExists(t, filepath.Join(dir, "_tmp", "anything"))
}
