// Package progress shows on a terminal how far a long step is, and leaves
// nothing behind.
package progress

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// delay keeps short steps quiet.
const delay = 300 * time.Millisecond

// Bar is one step under way. A nil Bar shows nothing.
type Bar struct {
	out   io.Writer
	title string
	start time.Time
	bar   *progressbar.ProgressBar
}

// New starts a step; it is nil, and so silent, unless show is true.
func New(w io.Writer, title string, show bool) *Bar {
	if !show {
		return nil
	}
	return &Bar{out: w, title: title, start: time.Now()}
}

// Set shows that done of total parts are finished. Calls must not overlap.
func (b *Bar) Set(done, total int) {
	if b == nil || total <= 0 || b.bar == nil && time.Since(b.start) < delay {
		return
	}
	if b.bar == nil {
		b.bar = b.make(total)
	}
	// A progress line that cannot be written is no reason to stop the work.
	_ = b.bar.Set(done)
}

func (b *Bar) make(total int) *progressbar.ProgressBar {
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionSetDescription(b.title),
		progressbar.OptionSetWidth(24),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)
}

// Done removes the line.
func (b *Bar) Done() {
	if b != nil && b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
}
