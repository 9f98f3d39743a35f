package opencode

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/rollout"
)

// TestImportSeesTheLog: rows that stand in the write-ahead log alone make a
// database a changed file.
func TestImportSeesTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	db := newDatabase(t, path, "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0")
	insert(t, db, filepath.Join(testdata, exports[0]))
	to := t.TempDir()
	run := func() dataset.Summary {
		in := dataset.Input{Path: path, Depends: Depends(path), Read: func(ctx context.Context) ([]*rollout.Session, error) { return Read(ctx, path) }}
		sum, err := dataset.Import(context.Background(), to, []dataset.Input{in}, dataset.Options{})
		require.NoError(t, err)
		require.Empty(t, sum.Failed)
		return sum
	}
	assert.Equal(t, 1, run().Sessions)
	assert.Equal(t, 1, run().Unchanged)
	insert(t, db, filepath.Join(testdata, exports[1]))
	again := run()
	assert.Equal(t, 1, again.Replaced)
	assert.Equal(t, 2, again.Sessions)
}
