//go:build unix

package logfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/unprivileged"
)

func TestNamedPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o644))
	_, err := Open(fifo)
	require.ErrorIs(t, err, ErrNotLog)
	require.ErrorContains(t, err, fifo)
}

func TestNoPermission(t *testing.T) {
	if unprivileged.Rerun(t) {
		return
	}
	path := write(t, "{}\n")
	require.NoError(t, os.Chmod(path, 0))
	_, err := Open(path)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, path)
}
