//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package dataset

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// assertLocked tries everything that writes a dataset.
func assertLocked(t *testing.T, dir string, pid int) {
	t.Helper()
	before := tree(t, dir)
	_, imported := Import(t.Context(), dir, nil, Options{})
	for _, err := range []error{imported, Compact(t.Context(), dir), WritePart(dir, &Rows{Sessions: []Session{{Part: "p", HasText: true}}})} {
		assert.ErrorContains(t, err, "another fclog import is writing dataset "+dir)
		assert.ErrorContains(t, err, fmt.Sprintf("process %d, since 20", pid))
	}
	assert.Equal(t, before, tree(t, dir))
}

func TestOneWriterAtATime(t *testing.T) {
	logs, dir := t.TempDir(), filepath.Join(t.TempDir(), "new")
	a := logFile(t, logs, "a", "log A 1\none\n")
	during := a
	during.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		assertLocked(t, dir, os.Getpid())
		return a.Read(ctx)
	}
	assert.Equal(t, Summary{Imported: 1, Sessions: 1}, importInto(t, dir, during))
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, a), "the lock is given back")
	require.NoError(t, Compact(t.Context(), dir))
	_, err := Import(t.Context(), dir, nil, Options{NoText: true})
	require.ErrorContains(t, err, "holds texts")
	importInto(t, dir)
}

// holdVariable names the dataset that a second process of the test imports into.
const holdVariable = "FCLOG_TEST_HOLD"

// TestHold is that process: an import that does not end by itself.
func TestHold(t *testing.T) {
	dir := os.Getenv(holdVariable)
	if dir == "" {
		t.Skip("only run by TestLockOfAnotherProcess")
	}
	a := logFile(t, t.TempDir(), "a", "log A 1\none\n")
	a.Read = func(context.Context) ([]*rollout.Session, error) {
		fmt.Println("reading")
		time.Sleep(time.Minute)
		return nil, nil
	}
	importInto(t, dir, a)
}

func TestLockOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHold$")
	other.Env = append(os.Environ(), holdVariable+"="+dir, "TMPDIR="+t.TempDir())
	stdout, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "reading\n", line)
	assertLocked(t, dir, other.Process.Pid)

	require.NoError(t, other.Process.Kill())
	assert.Error(t, other.Wait())
	assert.Equal(t, Summary{Imported: 1, Sessions: 1}, importInto(t, dir, logFile(t, t.TempDir(), "a", "log A 1\none\n")), "a killed process holds nothing")
}

// An import that is killed before it made the marker leaves a folder that the
// next one takes for empty.
func TestKilledBeforeTheMarker(t *testing.T) {
	dir := t.TempDir()
	in, err := openInside(dir)
	require.NoError(t, err)
	defer in.root.Close()
	unlock, _, err := in.lock(false)
	require.NoError(t, err)
	unlock()
	require.NoError(t, os.WriteFile(filepath.Join(dir, markerFile+".123"), nil, 0o600))
	importInto(t, dir)
}
