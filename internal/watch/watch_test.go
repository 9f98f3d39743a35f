package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seen is what a Run told.
type seen struct {
	mu      sync.Mutex
	batches []Batch
	warned  []error
}

func (s *seen) handle(_ context.Context, b Batch) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, b)
	return 0, nil
}

func (s *seen) count(is func(Batch) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		if is(b) {
			n++
		}
	}
	return n
}

func changed(path string) func(Batch) bool {
	return func(b Batch) bool { return slices.Contains(b.Changed, path) }
}

func gone(path string) func(Batch) bool {
	return func(b Batch) bool { return slices.Contains(b.Gone, path) }
}

func everything(b Batch) bool { return b.All }

// start runs until the test ends and waits for the first batch.
func start(t *testing.T, o Options, roots ...string) *seen {
	t.Helper()
	s := &seen{}
	if o.Quiet == 0 {
		o.Quiet = 30 * time.Millisecond
	}
	o.Warn = func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.warned = append(s.warned, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, roots, o, s.handle) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	s.until(t, "first batch", func() bool { return s.count(everything) > 0 })
	return s
}

func (s *seen) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 20*time.Second, 5*time.Millisecond, what)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestChanges(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	old := filepath.Join(root, "a", "old")
	write(t, old, "1")
	s := start(t, Options{}, root)

	write(t, old, "12")
	s.until(t, "written", func() bool { return s.count(changed(old)) > 0 })

	deep := filepath.Join(root, "b", "c", "d", "new")
	write(t, deep, "1")
	s.until(t, "in new folders", func() bool { return s.count(changed(deep)) > 0 })
	write(t, filepath.Join(root, "b", "c", "later"), "1")
	s.until(t, "in a folder that was new", func() bool { return s.count(changed(filepath.Join(root, "b", "c", "later"))) > 0 })

	require.NoError(t, os.Remove(old))
	s.until(t, "removed", func() bool { return s.count(gone(old)) > 0 })

	moved := filepath.Join(root, "b", "moved")
	require.NoError(t, os.Rename(deep, moved))
	s.until(t, "renamed", func() bool { return s.count(gone(deep)) > 0 && s.count(changed(moved)) > 0 })
	assert.Equal(t, 1, s.count(everything))
}

// TestFolderMovedIn: what is in it is told, and what happens in it later.
func TestFolderMovedIn(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(other, "x", "y", "file"), "1")
	s := start(t, Options{}, root)
	require.NoError(t, os.Rename(filepath.Join(other, "x"), filepath.Join(root, "x")))
	file := filepath.Join(root, "x", "y", "file")
	s.until(t, "file", func() bool { return s.count(changed(file)) == 1 })
	write(t, file, "2")
	s.until(t, "file again", func() bool { return s.count(changed(file)) == 2 })
}

// TestBurst: many writes come as few batches, and the last one is in them.
func TestBurst(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "log")
	s := start(t, Options{Quiet: 200 * time.Millisecond}, root)
	for range 100 {
		write(t, file, "1")
	}
	s.until(t, "batch", func() bool { return s.count(changed(file)) > 0 })
	time.Sleep(500 * time.Millisecond)
	assert.LessOrEqual(t, s.count(changed(file)), 3)
}

// TestLate: a file that is written all the time does not wait for ever.
func TestLate(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "log")
	s := start(t, Options{Quiet: time.Hour, Late: 100 * time.Millisecond}, root)
	write(t, file, "1")
	s.until(t, "batch", func() bool { return s.count(changed(file)) > 0 })
}

// TestFileAsRoot: others in its folder do not matter.
func TestFileAsRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, file, "1")
	s := start(t, Options{}, file)
	write(t, other, "1")
	write(t, file, "12")
	s.until(t, "written", func() bool { return s.count(changed(file)) > 0 })
	assert.Zero(t, s.count(changed(other)))
}

func TestSkip(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	own := filepath.Join(root, "own")
	write(t, filepath.Join(own, "x"), "1")
	s := start(t, Options{Skip: func(path string) bool { return path == own || below(own, path) }}, root)
	write(t, filepath.Join(own, "x"), "12")
	write(t, filepath.Join(root, "y"), "1")
	s.until(t, "y", func() bool { return s.count(changed(filepath.Join(root, "y"))) > 0 })
	assert.Zero(t, s.count(changed(filepath.Join(own, "x"))))
}

// TestLimit: where the system gives no more watches, everything is looked at now and
// then, and that is told once.
func TestLimit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "b", "c"), "1")
	o := Options{add: func(*fsnotify.Watcher, string) error {
		return &os.SyscallError{Syscall: "inotify_add_watch", Err: syscall.ENOSPC}
	}}
	s := start(t, o, root)
	require.Len(t, s.warned, 1)
	assert.ErrorIs(t, s.warned[0], syscall.ENOSPC)
}

func TestPoll(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Poll: 20 * time.Millisecond}, t.TempDir())
	s.until(t, "polls", func() bool { return s.count(everything) >= 4 })
	assert.Empty(t, s.warned)
}

// TestLostNotifications: the system says that it told not all.
func TestLostNotifications(t *testing.T) {
	t.Parallel()
	l := &loop{roots: []string{t.TempDir()}, o: Options{}.filled(), changed: map[string]bool{}, gone: map[string]bool{}}
	l.listen()
	defer l.stopListening()
	require.False(t, l.due(time.Now()))
	l.failed(fsnotify.ErrEventOverflow)
	assert.True(t, l.due(time.Now()))
	assert.True(t, l.take().All)
}

// TestRootThatComesLate is found by looking, and then told of.
func TestRootThatComesLate(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "later")
	s := start(t, Options{Sweep: 50 * time.Millisecond}, root)
	write(t, filepath.Join(root, "x"), "1")
	before := s.count(everything)
	s.until(t, "looked again", func() bool { return s.count(everything) > before+1 })
	write(t, filepath.Join(root, "x"), "12")
	s.until(t, "told", func() bool { return s.count(changed(filepath.Join(root, "x"))) > 0 })
}

// TestAgain: the callee asks for another look, and its error ends the run.
func TestAgain(t *testing.T) {
	t.Parallel()
	calls := 0
	bad := errors.New("no more")
	err := Run(t.Context(), []string{t.TempDir()}, Options{}, func(_ context.Context, b Batch) (time.Duration, error) {
		assert.True(t, b.All)
		if calls++; calls == 3 {
			return 0, bad
		}
		return 10 * time.Millisecond, nil
	})
	assert.ErrorIs(t, err, bad)
	assert.Equal(t, 3, calls)
}

// TestEnd: what waits when it is stopped, and what was cut short, is handed over.
func TestEnd(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var last Batch
	err := Run(ctx, []string{root}, Options{Quiet: 20 * time.Millisecond}, func(inner context.Context, b Batch) (time.Duration, error) {
		switch {
		case b.All:
			write(t, first, "1")
		case inner.Err() == nil:
			require.Equal(t, []string{first}, b.Changed)
			write(t, second, "1")
			stop()
			return 0, inner.Err()
		default:
			last = b
		}
		return 0, nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{first, second}, last.Changed)
}

// TestEndLooksAtEverything: a look at everything that was asked for is made up for at
// the end, one that was made is not, and without notifications it is the only way to
// hear of the last changes.
func TestEndLooksAtEverything(t *testing.T) {
	t.Parallel()
	const soon, later = time.Millisecond, time.Hour
	cases := []struct {
		name  string
		poll  time.Duration
		again []time.Duration // what the calls ask for; the last of them stops
		want  int             // calls
	}{
		{"asked for", 0, []time.Duration{later}, 2},
		{"asked for and made", 0, []time.Duration{soon, 0}, 2},
		{"nothing asked for", 0, []time.Duration{0}, 1},
		{"no notifications", later, []time.Duration{0}, 2},
	}
	for _, c := range cases {
		ctx, stop := context.WithCancel(t.Context())
		calls := 0
		err := Run(ctx, []string{t.TempDir()}, Options{Poll: c.poll}, func(_ context.Context, b Batch) (time.Duration, error) {
			assert.True(t, b.All, c.name)
			if calls++; calls > len(c.again) {
				return 0, nil
			}
			if calls == len(c.again) {
				time.AfterFunc(100*time.Millisecond, stop) // after this call has ended
			}
			return c.again[calls-1], nil
		})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, calls, c.name)
	}
}

// TestEndBesideItsResult: a batch that is cut short comes once more, also where its
// error and the end are there at the same time.
func TestEndBesideItsResult(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for range 3000 {
		ctx, stop := context.WithCancel(t.Context())
		err := Run(ctx, []string{root}, Options{Poll: time.Hour}, func(inner context.Context, _ Batch) (time.Duration, error) {
			stop()
			return 0, inner.Err()
		})
		require.NoError(t, err)
	}
}
