//go:build unix

package logfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamedPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o644))
	_, err := Open(fifo)
	require.ErrorIs(t, err, ErrNotLog)
	require.ErrorContains(t, err, fifo)
}

// TestNoPermission runs itself as another user when it is root, whom
// permissions do not stop.
func TestNoPermission(t *testing.T) {
	if path := os.Getenv("FCLOG_TEST_UNREADABLE"); path != "" {
		_, err := Open(path)
		require.ErrorIs(t, err, os.ErrPermission)
		require.ErrorContains(t, err, path)
		return
	}
	dir, err := os.MkdirTemp("", "fclog-permission")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o000))
	if os.Getuid() != 0 {
		_, err := Open(path)
		require.ErrorIs(t, err, os.ErrPermission)
		return
	}
	self := filepath.Join(dir, "test")
	binary, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(self, binary, 0o755))
	cmd := exec.Command(self, "-test.run=^TestNoPermission$")
	cmd.Env = append(os.Environ(), "FCLOG_TEST_UNREADABLE="+path)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
