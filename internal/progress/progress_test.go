package progress_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/progress"
)

// screen is a terminal that may be written to while it is read.
type screen struct {
	mu  sync.Mutex
	out strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func TestQuickOrHiddenStepsShowNothing(t *testing.T) {
	var out screen
	for _, show := range []bool{false, true} {
		b := progress.New(&out, "reading", 2, 80, show)
		b.Add(1)
		b.Add(1)
		b.Done()
	}
	assert.Empty(t, out.String())
}

func TestSlowStepIsShownAndRemoved(t *testing.T) {
	var out screen
	b := progress.New(&out, "reading", 3_000_000, 80, true)
	assert.Eventually(t, func() bool { return strings.Contains(out.String(), "reading: 0 B of 3.0 MB") }, 5*time.Second, 10*time.Millisecond)
	b.Add(1_000_000)
	assert.Eventually(t, func() bool { return strings.Contains(out.String(), "reading: 1.0 MB of 3.0 MB") }, 5*time.Second, 10*time.Millisecond)
	b.Done()
	shown := out.String()
	last := shown[strings.LastIndex(shown, "reading"):]
	blank := last[strings.Index(last, "\r"):]
	assert.Empty(t, strings.Trim(blank, "\r "), "the line is blank again")
	parts := strings.Split(shown, "\r")
	assert.Equal(t, strings.Repeat(" ", 79), parts[len(parts)-2], "as far as the screen reaches, for what a Ctrl-C has left there")
	for _, line := range parts {
		assert.LessOrEqual(t, len([]rune(line)), 80, "no line wraps")
	}
	time.Sleep(600 * time.Millisecond)
	assert.Equal(t, shown, out.String(), "nothing comes afterwards")
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		since       time.Duration
		want        string
	}{
		{0, 9_000_000, time.Minute, "logs: 0 B of 9.0 MB"},
		{1_000_000, 9_000_000, 900 * time.Millisecond, "logs: 1.0 MB of 9.0 MB"},
		// 3 MB in 2 s: the other 6 MB take 4 s.
		{3_000_000, 9_000_000, 2 * time.Second, "logs: 3.0 MB of 9.0 MB, 1.5 MB/s, 4 s left"},
		// 10 of 210 MB in 10 s: 200 s.
		{10_000_000, 210_000_000, 10 * time.Second, "logs: 10 MB of 210 MB, 1.0 MB/s, 3 min 20 s left"},
		// 1 of 7,501 MB in 1 s: 7,500 s.
		{1_000_000, 7_501_000_000, time.Second, "logs: 1.0 MB of 7.5 GB, 1.0 MB/s, 2 h 5 min left"},
	} {
		assert.Equal(t, c.want, progress.Line("logs", c.done, c.total, c.since))
	}
}
