//go:build unix

// Package unprivileged lets tests of file permissions work for root too, whom
// permissions do not stop.
package unprivileged

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nobody is the user and group without any rights of its own.
const nobody = 65534

// Dir returns a new folder that every user can reach; t.TempDir lies in one that
// only its owner can.
func Dir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fclog-test")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// Rerun runs the calling test once more as nobody if this process is root, and
// reports whether it did: the caller then has nothing left to do.
func Rerun(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	dir := Dir(t)
	binary, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	self := filepath.Join(dir, "test")
	require.NoError(t, os.WriteFile(self, binary, 0o755))
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "no tests to run")
	return true
}
