package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heard collects what a running command writes.
type heard struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// watcher is a fclog import --watch under way.
type watcher struct {
	t           *testing.T
	cmd         *exec.Cmd
	out, errOut *heard
}

func startWatch(t *testing.T, h home, args ...string) *watcher {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no process there can be asked to stop")
	}
	w := &watcher{t: t, cmd: h.command(context.Background(), args...), out: &heard{}, errOut: &heard{}}
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.errOut
	require.NoError(t, w.cmd.Start())
	t.Cleanup(func() { w.cmd.Process.Kill() })
	w.says("; watching ", 1)
	return w
}

// says waits until a text was said so many times.
func (w *watcher) says(text string, times int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return strings.Count(w.out.String(), text) >= times }, time.Minute, 10*time.Millisecond, "%q %d times\n%s%s", text, times, w.out, w.errOut)
}

// stop ends it as Ctrl-C does and returns the summary.
func (w *watcher) stop() string {
	w.t.Helper()
	require.NoError(w.t, w.cmd.Process.Signal(os.Interrupt))
	require.NoError(w.t, w.cmd.Wait(), w.errOut.String())
	assert.Empty(w.t, w.errOut.String())
	lines := strings.Split(strings.TrimSpace(w.out.String()), "\n")
	return lines[len(lines)-1]
}

// turnLine is one turn of a Claude Code log: what the user said, and an answer.
func turnLine(id string, turn int, said string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"%[1]s-u%[2]d","parentUuid":null,"sessionId":%[1]q,"version":"2.0.14","cwd":"/p","timestamp":"2026-03-14T09:0%[2]d:00.000Z","message":{"role":"user","content":%[3]q}}
{"type":"assistant","uuid":"%[1]s-a%[2]d","parentUuid":"%[1]s-u%[2]d","sessionId":%[1]q,"version":"2.0.14","cwd":"/p","timestamp":"2026-03-14T09:0%[2]d:05.000Z","requestId":"req-%[1]s-%[2]d","message":{"id":"msg-%[1]s-%[2]d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":20}}}
`, id, turn, said)
}

// TestWatch: a log that grows, one that is new, in a new folder, one that is rewritten
// without a text, one that is deleted. Every text that was ever in a log is in the
// dataset, and nothing counts twice.
func TestWatch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs, dir := t.TempDir(), filepath.Join(t.TempDir(), "dataset")
	a, b := filepath.Join(logs, "a", "session.jsonl"), filepath.Join(logs, "deep", "er", "b", "session.jsonl")
	mustWrite(t, a, turnLine("a", 1, "alpha one"))
	w := startWatch(t, h, "import", "--watch", logs, "-o", dir)
	assert.Contains(t, w.out.String(), "1 file imported")

	mustWrite(t, a, turnLine("a", 1, "alpha one")+turnLine("a", 2, "alpha two"))
	w.says("read "+a, 1)
	mustWrite(t, b, turnLine("b", 1, "beta one"))
	w.says("read "+b, 1)
	mustWrite(t, a, turnLine("a", 1, "cleared")+turnLine("a", 2, "alpha two"))
	w.says("read "+a, 2)
	require.NoError(t, os.Remove(b))
	w.says("gone "+b, 1)
	mustWrite(t, filepath.Join(logs, "notes.txt"), "no log\n")

	// Others can read and import while it waits.
	got := h.run("query", dir, "SELECT count(*) FROM sessions", "--format", "csv")
	assert.Equal(t, 0, got.code, got.stderr)
	other := filepath.Join(t.TempDir(), "c", "session.jsonl")
	mustWrite(t, other, turnLine("c", 1, "gamma one"))
	assert.Equal(t, 0, h.run("import", other, "-o", dir).code)

	summary := w.stop()
	assert.Regexp(t, `: watched for \d+s; 2 files imported, 2 changes read, 1 gone$`, summary)
	got = h.run("query", dir, "SELECT DISTINCT text FROM texts WHERE text LIKE '% one' OR text LIKE '% two' OR text = 'cleared' ORDER BY 1", "--format", "csv")
	assert.Equal(t, "text\nalpha one\nalpha two\nbeta one\ncleared\ngamma one\n", got.stdout, got.stderr)
	got = h.run("query", dir, "SELECT count(*), sum(input_tokens) FROM requests WHERE counts", "--format", "csv")
	assert.Contains(t, got.stdout, "\n4,400\n", "two requests of a, one of b, one of c, of 100 tokens each")
	assert.Equal(t, 0, h.run("verify", dir).code)
}

// TestWatchEndsWithTheLastChange: what was written just before Ctrl-C is read.
func TestWatchEndsWithTheLastChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs, dir := t.TempDir(), filepath.Join(t.TempDir(), "dataset")
	a := filepath.Join(logs, "a", "session.jsonl")
	mustWrite(t, a, turnLine("a", 1, "alpha one"))
	w := startWatch(t, h, "import", "--watch", logs, "-o", dir)
	mustWrite(t, a, turnLine("a", 1, "alpha one")+turnLine("a", 2, "alpha two"))
	time.Sleep(100 * time.Millisecond)
	assert.Regexp(t, `; 1 file imported, 1 change read, 0 gone$`, w.stop())
}

// TestWatchEndsWithTheLastLog: logs that appeared just before Ctrl-C are read, also one
// that came while a look at everything rested, and without notifications.
func TestWatchEndsWithTheLastLog(t *testing.T) {
	t.Parallel()
	for _, how := range [][]string{nil, {"--poll", "1h"}} {
		h := newHome(t)
		logs, dir := t.TempDir(), filepath.Join(t.TempDir(), "dataset")
		mustWrite(t, filepath.Join(logs, "a", "session.jsonl"), turnLine("a", 1, "alpha one"))
		w := startWatch(t, h, append([]string{"import", "--watch", logs, "-o", dir}, how...)...)
		for _, id := range []string{"b", "c"} {
			mustWrite(t, filepath.Join(logs, id, "session.jsonl"), turnLine(id, 1, id+" one"))
			time.Sleep(100 * time.Millisecond)
		}
		assert.Regexp(t, `; 3 files imported, 0 changes read, 0 gone$`, w.stop(), how)
	}
}

// TestWatchByLooking: without notifications, below the dataset's own folder, from an
// empty folder on.
func TestWatchByLooking(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs := t.TempDir()
	w := startWatch(t, h, "import", "--watch", "--poll", "1s", logs, "-o", filepath.Join(logs, "dataset"))
	a := filepath.Join(logs, "a", "session.jsonl")
	mustWrite(t, a, turnLine("a", 1, "alpha one"))
	w.says("read "+a, 1)
	assert.Regexp(t, `; 1 file imported, 0 changes read, 0 gone$`, w.stop())
}

// TestWatchRests: when nothing happens nothing is done.
func TestWatchRests(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs := t.TempDir()
	mustWrite(t, filepath.Join(logs, "a", "session.jsonl"), turnLine("a", 1, "alpha one"))
	w := startWatch(t, h, "import", "--watch", logs, "-o", filepath.Join(logs, "dataset"))
	before := processorTime(t, w.cmd.Process.Pid)
	time.Sleep(3 * time.Second)
	assert.Less(t, processorTime(t, w.cmd.Process.Pid)-before, 300*time.Millisecond)
	w.stop()
}

// processorTime is what a process has used, from the system's own count in hundredths
// of a second.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("this system does not tell how much a process has worked")
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest) // from the third field on: state, …; 14th and 15th are the times
	var user, system int64
	_, err = fmt.Sscan(fields[11], &user)
	require.NoError(t, err)
	_, err = fmt.Sscan(fields[12], &system)
	require.NoError(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

func TestWatchUsage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs := t.TempDir()
	for line, want := range map[string]string{
		"import --watch --demo -o d":           "does not change",
		"import --watch LOGS -o d --shard 1/2": "takes the dataset for itself",
		"import --watch LOGS -o d --compact":   "merge when the watching has ended",
		"import --watch LOGS -o d --poll 10ms": "must be 1s or more",
		"import --watch - -o d":                "standard input is neither",
		"import LOGS -o d --poll 10s":          "--poll belongs to --watch",
	} {
		got := h.run(strings.Fields(strings.ReplaceAll(line, "LOGS", logs))...)
		assert.Equal(t, 2, got.code, line)
		assert.Contains(t, got.stderr, want, line)
	}
	got := h.run("import", "--watch", filepath.Join(logs, "nowhere"), "-o", filepath.Join(logs, "d"))
	assert.Equal(t, 1, got.code, "what does not exist at the start may be mistyped")
}
