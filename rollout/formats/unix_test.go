//go:build unix

package formats

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/unprivileged"
)

func TestExpandUnreadable(t *testing.T) {
	if unprivileged.Rerun(t) {
		return
	}
	root := tree(t, map[string]string{"a.jsonl": logA, "shut.jsonl": logB, "closed/b.jsonl": logB})
	require.NoError(t, os.Chmod(filepath.Join(root, "shut.jsonl"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "closed"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "closed"), 0o755) })
	files, skipped, err := fakes().Expand(context.Background(), []string{root})
	require.NoError(t, err)
	assert.Equal(t, []string{"a:a.jsonl"}, names(t, root, files))
	require.Len(t, skipped, 2)
	assert.Equal(t, "permission denied", skipped[0].Reason)
	assert.Equal(t, "permission denied", skipped[1].Reason)
}
