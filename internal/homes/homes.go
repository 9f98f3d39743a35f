// Package homes makes log folders of coding agents of any size, for measuring and
// for tests of scale. Everything in them is invented, and the same options give
// the same bytes.
//
// Sizes of sessions follow what was found in 2,000 real ones: half are below
// 105 KB, nine in ten below 654 KB, 99 in 100 below 5.4 MB, the largest has 87 MB.
// The share of each kind of record, how often a text comes again, and the tokens
// per byte are near those of real logs as well.
package homes

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Options say what to make.
type Options struct {
	Agent string // "claude-code", "codex" or "freecode"
	Bytes int64  // size of all session files together, reached within the last record of each
	Seed  uint64
	One   bool // one session of that size instead of many
}

// Write makes a home in dir, which must not hold one yet, and returns the paths of
// its session files. Claude Code's lie below projects, Codex's below sessions,
// FreeCode's below rollout.
func Write(dir string, o Options) ([]string, error) {
	write, ok := map[string]func(*session) error{"claude-code": writeClaude, "codex": writeCodex, "freecode": writeFreeCode}[o.Agent]
	if !ok {
		return nil, fmt.Errorf("no homes of agent %q", o.Agent)
	}
	sizes := Sizes(o.Bytes)
	if o.One {
		sizes = []int64{o.Bytes}
	}
	var paths []string
	for i, size := range sizes {
		s := newSession(dir, o, i, size)
		err := write(s)
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", i, err)
		}
		paths = append(paths, s.path)
	}
	return paths, nil
}

// curve is the size in bytes that a share of all sessions is below.
var curve = []struct{ share, bytes float64 }{{0, 2e3}, {.5, 105e3}, {.9, 654e3}, {.99, 5.4e6}, {1, 87e6}}

// Sizes spreads bytes over sessions along the curve, in an order without trend.
func Sizes(bytes int64) []int64 {
	n := 1
	for total(n*2) < float64(bytes) {
		n *= 2
	}
	for step := n; step > 0; step /= 2 {
		if total(n+step) <= float64(bytes) {
			n += step
		}
	}
	out := make([]int64, n)
	scale := float64(bytes) / total(n)
	for i, at := range rand.New(rand.NewPCG(1, uint64(n))).Perm(n) {
		out[i] = int64(scale * sizeAt((float64(at)+.5)/float64(n)))
	}
	return out
}

func total(n int) float64 {
	sum := 0.0
	for i := range n {
		sum += sizeAt((float64(i) + .5) / float64(n))
	}
	return sum
}

// sizeAt interpolates the curve; between two points the logarithm grows evenly.
func sizeAt(share float64) float64 {
	for i := 1; ; i++ {
		if a, b := curve[i-1], curve[i]; share <= b.share {
			t := (share - a.share) / (b.share - a.share)
			return a.bytes * math.Pow(b.bytes/a.bytes, t)
		}
	}
}

// session is one log under construction.
type session struct {
	dir     string
	path    string // of the file that open made
	number  int
	size    int64
	rng     *rand.Rand
	text    *writer
	now     time.Time
	file    *bufio.Writer
	written int64
	context int64 // tokens of the conversation, roughly
	cached  int64 // tokens of it that the request before sent
	ids     int
}

// The days between sessions keep their times apart, as their ids are.
func newSession(dir string, o Options, number int, size int64) *session {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(number)))
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(number) * 97 * time.Minute)
	project := newProject(o.Seed, number%projects)
	return &session{dir: dir, number: number, size: size, rng: rng, text: newWriter(rng, project), now: start}
}

// record writes one line.
func (s *session) record(format string, args ...any) error {
	n, err := fmt.Fprintf(s.file, format+"\n", args...)
	s.written += int64(n)
	return err
}

// create opens the session's file, hands it to fill and closes it.
func (s *session) create(fill func() error, elements ...string) error {
	path := filepath.Join(append([]string{s.dir}, elements...)...)
	if s.path == "" {
		s.path = path
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	s.file = bufio.NewWriterSize(f, 1<<20)
	if err := fill(); err != nil {
		return err
	}
	if err := s.file.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func (s *session) full() bool { return s.written >= s.size }

// uuid is like nothing in any other session.
func (s *session) uuid() string {
	a, b := s.rng.Uint64(), s.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

// id is a name as providers give them.
func (s *session) id(prefix string) string {
	s.ids++
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
	out := []byte(prefix)
	for range 20 {
		out = append(out, letters[s.rng.IntN(len(letters))])
	}
	return string(out)
}

// tick moves the clock on and returns the time.
func (s *session) tick(most time.Duration) time.Time {
	s.now = s.now.Add(time.Duration(1 + s.rng.Int64N(int64(most))))
	return s.now
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// add grows the context by a text.
func (s *session) add(text string) { s.context += int64(len(text)) / 4 }

// usage is what the next request reports: all but what is new comes from the cache.
func (s *session) usage() (input, read, write, output int64) {
	const front, unread = 14_000, 3
	all := front + s.context
	read = s.cached
	s.cached = all
	return unread, read, max(all-read, 0), 30 + s.rng.Int64N(600)
}

// compacts says whether the context is full, and then empties it.
func (s *session) compacts() bool {
	const window = 160_000
	if s.context < window {
		return false
	}
	s.context, s.cached = 2000, 0
	return true
}
