// Package progress shows on a terminal how far a long step is, how fast it goes and
// how long it will take, and leaves nothing behind.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
)

const (
	// delay keeps short steps quiet.
	delay = 300 * time.Millisecond
	// beat is how often the line is drawn while nothing else happens.
	beat = 500 * time.Millisecond
	// settle is how long a step runs before its speed says something.
	settle = time.Second
	// widest is the longest bar.
	widest = 24
)

// Bar is one step under way, measured in bytes. A nil Bar shows nothing.
type Bar struct {
	out   io.Writer
	title string
	width int
	total int64
	start time.Time
	stop  chan struct{}

	mu   sync.Mutex // guards the fields below
	done int64
	bar  *progressbar.ProgressBar
}

// New starts a step of so many bytes on a terminal of width columns; it is nil, and
// so silent, unless show is true.
func New(w io.Writer, title string, total int64, width int, show bool) *Bar {
	if !show || total <= 0 {
		return nil
	}
	b := &Bar{out: w, title: title, width: width, total: total, start: time.Now(), stop: make(chan struct{})}
	go b.tick()
	return b
}

// tick draws the line once the step is no short one, and again and again: a large
// file takes long, and the line must not look dead.
func (b *Bar) tick() {
	wait := time.NewTimer(delay)
	defer wait.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-wait.C:
			b.draw()
			wait.Reset(beat)
		}
	}
}

// Add counts bytes that are done with.
func (b *Bar) Add(bytes int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = min(b.done+bytes, b.total)
}

func (b *Bar) draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.stop:
		return
	default:
	}
	text := Line(b.title, b.done, b.total, time.Since(b.start))
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(b.total,
			progressbar.OptionSetWriter(b.out),
			progressbar.OptionSetWidth(barWidth(b.width)),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
		)
	}
	b.bar.Describe(text)
	// A progress line that cannot be written is no reason to stop the work.
	_ = b.bar.Set64(b.done)
}

// around is the room that a line needs beside its bar.
const around = 66

// barWidth is what the terminal leaves for the bar: a line that wraps cannot be
// removed.
func barWidth(width int) int { return min(max(width-around, 1), widest) }

// Line says how far a step is: bytes done of all, their rate, and the time that the
// rest takes at that rate. Early on no rate is known.
func Line(title string, done, total int64, since time.Duration) string {
	line := fmt.Sprintf("%s: %s of %s", title, humanize.Bytes(uint64(done)), humanize.Bytes(uint64(total)))
	if since < settle || done == 0 {
		return line
	}
	rate := float64(done) / since.Seconds()
	left := time.Duration(float64(total-done) / rate * float64(time.Second))
	return line + fmt.Sprintf(", %s/s, %s left", humanize.Bytes(uint64(rate)), about(left))
}

// about is a time of two units at most: 8 s, 3 min 20 s, 2 h 5 min.
func about(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
}

// Done removes the line.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.stop)
	if b.bar != nil {
		_ = b.bar.Clear()
		// A Ctrl-C has left its ^C behind the line.
		_, _ = fmt.Fprintf(b.out, "%s\r", strings.Repeat(" ", max(b.width-1, 0)))
	}
}
