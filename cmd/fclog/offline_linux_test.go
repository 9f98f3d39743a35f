package main_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyCommand uses each command once, in an order in which later ones find what
// earlier ones made. DATASET, OUT and HOMELOGS stand for folders of the test.
var everyCommand = []string{
	"--version", "--help", "formats", "completion bash", "__man OUT/man", "variants",
	"import ../../testdata/codex ../../testdata/claude-code -o DATASET", "import --compact DATASET",
	"import ../../testdata/codex -o OUT/hashes --no-text", "import ../../testdata/codex -o OUT/redacted --redact", "verify DATASET",
	"audit --demo", "audit DATASET --format html --with-text -o OUT/audit.html", "audit DATASET --format md -o OUT/audit.md", "audit DATASET --format json -o OUT/audit.json",
	"audit ../../testdata/codex/poll-0.104.jsonl --dataset OUT/kept", "audit", "sessions", "sessions ../../testdata/codex",
	"query --list", "query DATASET --name cache-breaks", "query DATASET --name sessions --format parquet -o OUT/sessions.parquet", "query DATASET --name sessions --format csv -o OUT/sessions.csv",
	"payload --demo", "payload --demo --request 2 -o OUT/payload.txt",
	"replay --demo --variant cap:max=2000 --diff", "replay --demo --variant cap:max=2000 --emit OUT/texts", "replay --demo --format html -o OUT/replay.html", "replay --demo --calibrate -o OUT/rates.json",
	"replay --demo --variant cap:max=2000 --format json -o OUT/replay.json", "compare --demo --predicted OUT/replay.json --save DATASET", "prompts", "outcomes DATASET", "shards DATASET ../../testdata/codex ../../testdata/claude-code --of 2",
}

// commandsIn returns the command lines with their folders.
func commandsIn(dir string) [][]string {
	var out [][]string
	for _, line := range everyCommand {
		out = append(out, strings.Fields(strings.NewReplacer("DATASET", filepath.Join(dir, "dataset"), "OUT", filepath.Join(dir, "out")).Replace(line)))
	}
	return out
}

// everyCommandIsThere: a command that is added later is missed here.
func everyCommandIsThere(t *testing.T, h home) {
	t.Helper()
	help := h.run("--help").stdout
	_, help, ok := strings.Cut(help, "Available Commands:\n")
	require.True(t, ok)
	help, _, _ = strings.Cut(help, "\n\n")
	for line := range strings.Lines(help) {
		name := strings.Fields(line)[0]
		assert.True(t, name == "help" || strings.Contains("\n"+strings.Join(everyCommand, "\n")+"\n", "\n"+name), "no use of the command %s", name)
	}
}

// withLogs gives a home a log of its own, so that commands without a PATH find one.
func withLogs(t *testing.T, h home) {
	t.Helper()
	log, err := os.ReadFile(testdata("codex", "poll-0.104.jsonl"))
	require.NoError(t, err)
	dir := filepath.Join(h.dir, ".codex", "sessions", "2026", "02", "24")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-2026-02-24T15-00-00-019c8b0d-0000-7000-8000-000000000001.jsonl"), log, 0o600))
}

// TestNothingIsSent runs every command where there is no network at all, not even a
// loopback that is up, and watches every system call that could open a socket.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		strace = ""
		t.Log("strace is missing: commands run without a network, but sockets are not watched")
	}
	alone := []string{"unshare", "-r", "-n"}
	if out, err := exec.Command(alone[0], append(alone[1:], "true")...).CombinedOutput(); err != nil {
		if strace == "" {
			t.Skipf("neither an own network nor strace is allowed here: %v %s", err, out)
		}
		t.Logf("an own network is not allowed here: %v %s", err, out)
		alone = nil
	}
	h, dir := newHome(t), t.TempDir()
	withLogs(t, h)
	everyCommandIsThere(t, h)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "out"), 0o700))
	for n, args := range commandsIn(dir) {
		line, trace := append([]string{}, alone...), filepath.Join(dir, fmt.Sprint("trace", n))
		if strace != "" {
			line = append(line, strace, "-f", "-qq", "-e", "trace=%network", "-o", trace)
		}
		line = append(append(line, binary), args...)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = h.command(t.Context()).Env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Run(), "fclog %s: %s", strings.Join(args, " "), out.String())
		if strace != "" {
			calls, err := os.ReadFile(trace)
			require.NoError(t, err)
			assert.Empty(t, networkCalls.FindAllString(string(calls), -1), "fclog %s", strings.Join(args, " "))
		}
	}
}

// networkCalls are lines of strace that tell of a system call, not of signals and
// ends of processes.
var networkCalls = regexp.MustCompile(`(?m)^.*\w+\(.*$`)

// TestStraceSeesSockets: the watch above is no empty one.
func TestStraceSeesSockets(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs a program that opens a socket: python3")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is missing")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	out, err := exec.Command("strace", "-f", "-qq", "-e", "trace=%network", "-o", trace, python, "-c", "import socket; socket.socket()").CombinedOutput()
	if err != nil {
		t.Skipf("strace does not work here: %s", out)
	}
	calls, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Regexp(t, networkCalls, string(calls))
}

// TestFilesAreForTheirOwnerOnly: whatever is written, under the laxest umask there is.
func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	h, dir := newHome(t), t.TempDir()
	withLogs(t, h)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "out"), 0o700))
	for _, args := range commandsIn(dir) {
		if args[0] == "__man" {
			continue // manual pages hold nothing of anyone
		}
		cmd := h.command(t.Context(), args...)
		cmd.Args = append([]string{"sh", "-c", `umask 0; exec "$0" "$@"`, binary}, args...)
		cmd.Path = "/bin/sh"
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "fclog %s: %s", strings.Join(args, " "), out)
	}
	files, folders := 0, 0
	for _, root := range []string{filepath.Join(dir, "dataset"), filepath.Join(dir, "out"), filepath.Join(h.dir, ".cache")} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if want := fs.FileMode(0o600); e.IsDir() {
				folders++
				assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), path)
			} else {
				files++
				assert.Equal(t, want, info.Mode().Perm(), path)
			}
			return nil
		})
		require.NoError(t, err)
	}
	t.Logf("%d files, %d folders", files, folders)
	assert.Greater(t, files, 40)
	assert.Greater(t, folders, 40)
}

// TestTemporaryFilesAreForTheirOwnerOnly looks while a command runs.
func TestTemporaryFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	cmd := h.command(t.Context())
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `umask 0; exec "$0" "$@"`, binary, "query", "--demo", "SELECT text FROM texts", "--format", "csv", "-o", pipe}
	require.NoError(t, cmd.Start())
	out, err := os.Open(pipe) // from here on the command has its dataset, and waits for a reader
	require.NoError(t, err)
	seen := 0
	err = filepath.WalkDir(h.temp, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == h.temp {
			return nil // it may go on and take files away
		}
		if info, err := e.Info(); err == nil {
			seen++
			assert.Zero(t, info.Mode().Perm()&0o077, path)
		}
		return nil
	})
	require.NoError(t, err)
	_, err = new(bytes.Buffer).ReadFrom(out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	assert.Greater(t, seen, 5)
}
