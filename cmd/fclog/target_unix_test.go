//go:build unix

package main_test

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/unprivileged"
)

const oneRow = "SELECT 7 AS seven"

// csvOf is what oneRow gives.
const csvOf = "seven\n7\n"

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

// TestOutputKeepsModesAndLinks: reports hold text of logs, so new ones are for
// their owner only, whatever the umask allows. What was there stays what it was.
func TestOutputKeepsModesAndLinks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	at := func(name string) string { return filepath.Join(h.dir, name) }
	query := func(file string) {
		t.Helper()
		got := h.run("query", testdata("bad", "good.jsonl"), oneRow, "--format", "csv", "-o", file)
		require.Equal(t, 0, got.code, got.stderr)
	}
	query(at("new.csv"))
	assert.Equal(t, fs.FileMode(0o600), modeOf(t, at("new.csv")))
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o755} {
		mustWrite(t, at("old.csv"), "old")
		require.NoError(t, os.Chmod(at("old.csv"), mode))
		query(at("old.csv"))
		assert.Equal(t, mode, modeOf(t, at("old.csv")))
		assert.Equal(t, csvOf, read(t, at("old.csv")))
	}
	mustWrite(t, at("folder/target.csv"), "old")
	require.NoError(t, os.Symlink("folder/target.csv", at("link.csv")))
	require.NoError(t, os.Symlink("link.csv", at("link-to-link.csv")))
	require.NoError(t, os.Symlink("folder/new.csv", at("dangling.csv")))
	for link, target := range map[string]string{"link.csv": "folder/target.csv", "link-to-link.csv": "folder/target.csv", "dangling.csv": "folder/new.csv"} {
		query(at(link))
		assert.Equal(t, fs.ModeSymlink, modeOf(t, at(link)).Type(), link)
		assert.Equal(t, csvOf, read(t, at(target)), link)
	}
}

// TestOutputIntoPipesAndDevices: they are written to, and stay what they are.
func TestOutputIntoPipesAndDevices(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	good := testdata("bad", "good.jsonl")
	pipe := filepath.Join(h.dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	content := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(pipe)
		content <- string(data)
	}()
	got := h.run("query", good, oneRow, "--format", "csv", "-o", pipe)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, csvOf, <-content)
	assert.Equal(t, fs.ModeNamedPipe, modeOf(t, pipe).Type())

	got = h.run("query", good, oneRow, "--format", "csv", "-o", "/dev/null")
	require.Equal(t, 0, got.code, got.stderr)
	assert.NotZero(t, modeOf(t, "/dev/null")&fs.ModeCharDevice)

	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "-"} {
		got = h.run("query", good, oneRow, "--format", "csv", "-o", name)
		assert.Equal(t, result{0, csvOf, ""}, got, name)
	}
	got = h.run("query", good, oneRow, "--format", "csv", "-o", "/dev/stderr")
	assert.Equal(t, result{0, "", csvOf}, got)
}

// What the shell appends to or passes on as a descriptor is not replaced.
func TestOutputIntoOpenFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, number := range map[string]int{"/dev/stdout": 1, "/dev/fd/3": 3} {
		path := filepath.Join(t.TempDir(), "log.txt")
		mustWrite(t, path, "before\n")
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		cmd := h.command(t.Context(), "query", testdata("bad", "good.jsonl"), oneRow, "--format", "csv", "-o", name)
		if number == 1 {
			cmd.Stdout = f
		} else {
			cmd.ExtraFiles = []*os.File{f}
		}
		require.NoError(t, cmd.Run(), name)
		require.NoError(t, f.Close())
		assert.Equal(t, "before\n"+csvOf, read(t, path), name)
	}
}

// A sink that takes nothing is noticed long before ten million rows are written.
func TestOutputIntoAFullDevice(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	h := newHome(t)
	for _, args := range [][]string{
		{"audit", testdata("bad", "good.jsonl")},
		{"query", testdata("bad", "good.jsonl"), "SELECT * FROM range(10000000)", "--format", "csv"},
	} {
		begun := time.Now()
		got := h.run(append(args, "-o", "/dev/full")...)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.stderr, "writing /dev/full: no space left on device")
		assert.Less(t, time.Since(begun), 10*time.Second)
		assert.NotZero(t, modeOf(t, "/dev/full")&fs.ModeCharDevice, "still a device")
	}
}

// TestInterruptWhileNobodyReads: a pipe without a reader holds a command up, not
// its end.
func TestInterruptWhileNobodyReads(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, reader := range []bool{false, true} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		cmd := h.command(t.Context(), "query", testdata("bad", "good.jsonl"), "SELECT * FROM range(1000000)", "--format", "csv", "-o", pipe)
		require.NoError(t, cmd.Start())
		if reader {
			f, err := os.Open(pipe)
			require.NoError(t, err)
			defer f.Close()
			_, err = io.ReadFull(f, make([]byte, 10))
			require.NoError(t, err)
		} else {
			require.Eventually(t, func() bool {
				found, _ := filepath.Glob(filepath.Join(h.temp, "*", "dataset", "sessions", "source=freecode", "*", "*"))
				return len(found) > 0
			}, 10*time.Second, 10*time.Millisecond)
			time.Sleep(300 * time.Millisecond)
		}
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
			assert.Equal(t, 1, cmd.ProcessState.ExitCode())
		case <-time.After(10 * time.Second):
			require.NoError(t, cmd.Process.Kill())
			t.Fatal("an interrupt does not stop it")
		}
	}
}

// A write-protected file is not replaced, though its folder would allow it.
func TestOutputIntoAProtectedFile(t *testing.T) {
	dir := unprivileged.Dir(t)
	path := filepath.Join(dir, "kept.md")
	mustWrite(t, path, "kept")
	require.NoError(t, os.Chmod(path, 0o444))
	require.NoError(t, os.Chmod(dir, 0o777))
	program := filepath.Join(dir, "fclog")
	require.NoError(t, os.Link(binary, program))
	cmd := exec.CommandContext(t.Context(), program, "query", "--list", "-o", path)
	if os.Getuid() == 0 { // whom permissions do not stop
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, _ := cmd.CombinedOutput()
	assert.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", out)
	assert.Contains(t, string(out), "permission denied")
	assert.Equal(t, "kept", read(t, path))
}

// TestPipesAsPath: <(zcat log.gz) of a shell is a pipe that can be read once.
func TestPipesAsPath(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	good := read(t, testdata("bad", "good.jsonl"))
	feed := func() string {
		pipe := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		go os.WriteFile(pipe, []byte(good), 0)
		return pipe
	}
	pipe := feed()
	got := h.run("audit", pipe, "--format", "json", "--compact")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, `"input_tokens":2100`)
	assert.Contains(t, got.stdout, `"file":"`+pipe+`"`)

	pipe = feed()
	got = h.run("query", pipe, "SELECT sum(input_tokens) AS n FROM requests", "--format", "csv")
	assert.Equal(t, "n\n2100\n", got.stdout, got.stderr)
	pipe = feed()
	assert.Equal(t, 0, h.run("payload", pipe, pipe).code, "named twice, read once")
	pipe = feed()
	assert.Equal(t, 0, h.run("import", pipe, "-o", filepath.Join(h.dir, "ds")).code)

	for _, device := range []string{"/dev/zero", "/dev/null"} {
		got = h.run("audit", device)
		assert.Equal(t, 3, got.code)
		assert.Contains(t, got.stderr, device+" is a device")
		assert.Equal(t, 3, h.run("sessions", device).code)
	}
	assert.Equal(t, 0, h.feed(good, "audit", "-", "-").code, "named twice, read once")
	assert.True(t, strings.Contains(h.feed(good, "sessions", "-").stderr, "no time of its own"))
}
