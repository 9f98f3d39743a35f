package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/unprivileged"
)

// TestFullDisk imports into file systems of growing size until all fits: each time
// it says that there is no room, and what stands is sound.
func TestFullDisk(t *testing.T) {
	h := newHome(t)
	logs := filepath.Join(h.dir, "logs")
	writeLogs(t, logs, grownLogs)
	disk := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Mkdir(disk, 0o700))
	full := 0
	for _, kib := range []int{8, 100, 400, 900, 20_000} {
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
			t.Skip("mounting a small file system needs rights: ", err)
		}
		dir := filepath.Join(disk, "ds")
		got := h.run("import", logs, "-o", dir)
		if got.code != 0 {
			full++
			assert.Equal(t, 1, got.code)
			assert.Contains(t, got.stderr, "no space left on device")
			assert.NotContains(t, got.stderr, "panic")
		}
		if _, err := os.Stat(filepath.Join(dir, "fclog-dataset.json")); err == nil {
			check := h.run("verify", dir)
			assert.Equal(t, 0, check.code, "%d KiB: %s%s", kib, check.stdout, check.stderr)
		}
		require.NoError(t, syscall.Unmount(disk, 0))
	}
	assert.GreaterOrEqual(t, full, 3)
	assert.Less(t, full, 5, "the last one fits")
}

// TestWithoutRights: logs and datasets that may not be read or written.
func TestWithoutRights(t *testing.T) {
	root := unprivileged.Dir(t)
	program := filepath.Join(root, "fclog")
	require.NoError(t, os.Link(binary, program))
	run := func(args ...string) (int, string) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = root
		cmd.Env = []string{"HOME=" + root, "TMPDIR=/tmp"}
		if os.Getuid() == 0 { // whom permissions do not stop
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	logs := filepath.Join(root, "logs")
	writeLogs(t, logs, halfLogs)
	require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		require.NoError(t, os.Chmod(path, 0o777))
		return err
	}))
	code, out := run("import", logs, "-o", filepath.Join(root, "ds"))
	require.Equal(t, 0, code, out)
	dir := filepath.Join(root, "ds")

	secret := filepath.Join(logs, "crash-03", "events.jsonl")
	require.NoError(t, os.Chmod(secret, 0))
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(secret, 0, 0))
	}
	code, out = run("import", logs, "-o", filepath.Join(root, "ds2"))
	assert.Equal(t, 0, code, out)
	assert.Contains(t, out, secret)
	assert.Contains(t, out, "permission denied")
	assert.Contains(t, out, fmt.Sprint(crashFiles-1, " files imported"))
	code, out = run("import", logs, "-o", dir)
	assert.Equal(t, 0, code, out)
	code, out = run("query", dir, "SELECT count(*) AS n FROM sessions", "--format", "csv")
	assert.Equal(t, 0, code, out)
	assert.Equal(t, fmt.Sprintf("n\n%d\n", crashFiles), out, "what was imported stays")

	items, err := filepath.Glob(filepath.Join(dir, "items", "source=freecode", "*", "*.parquet"))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(items[0], 0))
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(items[0], 0, 0))
	}
	code, out = run("verify", dir)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "permission denied")
	assert.Contains(t, out, "make it readable")

	// A dataset that may only be read is read, and not imported into.
	require.NoError(t, os.Chmod(items[0], 0o444))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if os.Getuid() == 0 {
			require.NoError(t, os.Chown(path, 0, 0))
		}
		mode := os.FileMode(0o444)
		if d.IsDir() {
			mode = 0o555
		}
		require.NoError(t, os.Chmod(path, mode))
		return err
	}))
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+w", dir).Run() })
	code, out = run("verify", dir)
	assert.Equal(t, 0, code, out)
	code, out = run("audit", dir)
	assert.Equal(t, 0, code, out)
	for _, args := range [][]string{{"import", logs, "-o", dir}, {"import", "--compact", dir}} {
		code, out = run(args...)
		assert.Equal(t, 1, code, out)
		assert.Contains(t, out, "permission denied")
		assert.True(t, strings.Contains(out, dir), out)
	}
}

// TestTwoImportsAtOnce: the second one says who is at work and changes nothing; a
// killed one holds nothing up.
func TestTwoImportsAtOnce(t *testing.T) {
	h := newHome(t)
	logs, dir := filepath.Join(h.dir, "logs"), filepath.Join(h.dir, "ds")
	writeLogs(t, logs, grownLogs)
	lock := filepath.Join(dir, "_state", "lock")
	mustWrite(t, lock, "process 1, since 2020-01-01T00:00:00Z\n")
	got := h.run("import", logs, "-o", dir)
	require.Equal(t, 0, got.code, "the note of a dead process is no lock: "+got.stderr)

	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	_, err = f.WriteString("process 4711, since 2026-01-01T00:00:00Z\n")
	require.NoError(t, err)
	before := wholeTree(t, dir)
	got = h.run("import", logs, "-o", dir)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "another fclog import is writing dataset "+dir+" (process 4711, since 2026-01-01T00:00:00Z)")
	assert.Empty(t, differing(before, wholeTree(t, dir)))
	assert.Equal(t, 0, h.run("verify", dir).code, "reading needs no lock")
	require.NoError(t, f.Close())
	assert.Equal(t, 0, h.run("import", logs, "-o", dir).code)
}
