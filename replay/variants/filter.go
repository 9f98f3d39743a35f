package variants

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// What can go wrong with one result. Each becomes one warning with a count.
var (
	errNoStart  = errors.New("the program cannot be started")
	errTimeout  = errors.New("no answer in time")
	errCrash    = errors.New("the program failed")
	errTooLong  = errors.New("the answer is too long")
	errTooMuch  = errors.New("all answers together are too long")
	errNotUTF8  = errors.New("the answer is not valid UTF-8")
	errNoAnswer = errors.New("the answer is no line of JSON with id and text")
)

// errStopped says that nobody waits for the answer any more.
var errStopped = errors.New("stopped")

// filter is a program that answers questions about results.
type filter struct {
	ctx     context.Context // its end ends every process at once
	argv    []string
	lines   bool // one process for all, a line of JSON each
	timeout time.Duration
	max     int // bytes
	talk    *talk
	asked   int
}

// ask returns the program's answer to one question.
func (f *filter) ask(q question) (string, error) {
	limit := f.limit(q)
	answer, err := "", error(nil)
	if f.lines {
		answer, err = f.askLine(q, limit)
	} else {
		answer, err = f.askProcess(q, limit)
	}
	switch {
	case err != nil:
		return "", err
	case len(answer) > limit:
		return "", errTooLong
	case !utf8.ValidString(answer):
		return "", errNotUTF8
	}
	return answer, nil
}

// limit is how many bytes an answer may have. Whatever the option allows, an answer
// that alone makes the session longer than it may become is of no use.
func (f *filter) limit(q question) int {
	return min(max(f.max, len(q.Text)), len(q.Text)+maxLonger)
}

func (f *filter) askProcess(q question, limit int) (string, error) {
	ctx, cancel := context.WithTimeout(f.ctx, f.timeout)
	defer cancel()
	cmd := command(ctx, f.argv)
	cmd.Env = append(os.Environ(), environment(q)...)
	cmd.Stdin = strings.NewReader(q.Text)
	out := &limited{room: limit + 1, full: cancel}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return "", errNoStart
	}
	err := cmd.Wait()
	endGroup(cmd)
	switch {
	case f.ctx.Err() != nil:
		return "", errStopped
	case errors.Is(err, exec.ErrWaitDelay) && out.kept.Len() > 0 && out.room > 0:
		// It ended well and has answered; something it left behind still holds its output.
		return out.kept.String(), nil
	case out.room == 0:
		return "", errTooLong
	case ctx.Err() != nil:
		return "", errTimeout
	case err != nil:
		return "", errCrash
	}
	return out.kept.String(), nil
}

// environment tells a process what its result is. What no environment can hold is
// left out.
func environment(q question) []string {
	const longest = 32 << 10
	var out []string
	for _, v := range [][2]string{{"TOOL", q.Tool}, {"CLASS", q.Class}, {"COMMAND", q.Command}, {"PATH", q.Path}, {"CALL", q.Call}} {
		if len(v[1]) <= longest && strings.IndexByte(v[1], 0) < 0 {
			out = append(out, "FCLOG_"+v[0]+"="+v[1])
		}
	}
	return out
}

// command prepares a child that is killed with all it started when ctx ends.
func command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	return cmd
}

// limited keeps what is written to it until it is full. The buffer is not embedded:
// its ReadFrom would take everything.
type limited struct {
	kept bytes.Buffer
	room int
	full func()
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.room)
	l.room -= n
	l.kept.Write(p[:n])
	if l.room == 0 {
		l.full()
		return n, io.ErrShortWrite
	}
	return n, nil
}

// talk is a running process that answers line by line.
type talk struct {
	cmd     *exec.Cmd
	cancel  context.CancelFunc
	in      io.WriteCloser
	answers chan line
	longest atomic.Int64 // bytes of a line that are read
}

type line struct {
	text []byte
	err  error
}

// askLine asks the running process, starting one where there is none. After
// anything but a good answer the process is ended: what it says next could belong
// to another question.
func (f *filter) askLine(q question, limit int) (string, error) {
	if f.talk == nil {
		t, err := startTalk(f.ctx, f.argv)
		if err != nil {
			return "", errNoStart
		}
		f.talk = t
	}
	f.asked++
	q.ID = f.asked
	f.talk.longest.Store(6*int64(limit) + 4096) // JSON may take six bytes for one
	text, err := f.talk.exchange(f.ctx, q, f.timeout)
	if err != nil {
		f.talk.cancel()
		f.close()
	}
	return text, err
}

func startTalk(ctx context.Context, argv []string) (*talk, error) {
	ctx, cancel := context.WithCancel(ctx)
	t := &talk{cmd: command(ctx, argv), cancel: cancel, answers: make(chan line)}
	in, err := t.cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	t.in = in
	go t.read(ctx, out)
	return t, nil
}

// read hands over one line at a time until the process or its use ends, or a line
// is too long.
func (t *talk) read(ctx context.Context, out io.Reader) {
	defer close(t.answers)
	lines := bufio.NewReader(out)
	for {
		l := t.next(lines)
		if l.err != nil && l.err != errTooLong {
			return
		}
		select {
		case t.answers <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// next reads a line without its end; one that no line break ends counts too.
func (t *talk) next(lines *bufio.Reader) line {
	var text []byte
	for {
		piece, err := lines.ReadSlice('\n')
		if int64(len(text)+len(piece)) > t.longest.Load() {
			return line{err: errTooLong}
		}
		text = append(text, piece...)
		switch {
		case err == nil, err == io.EOF && len(text) > 0:
			return line{text: bytes.TrimSuffix(text, []byte("\n"))}
		case err != bufio.ErrBufferFull:
			return line{err: err}
		}
	}
}

// exchange writes a question and waits for its answer.
func (t *talk) exchange(ctx context.Context, q question, timeout time.Duration) (string, error) {
	var text bytes.Buffer
	plain := json.NewEncoder(&text)
	plain.SetEscapeHTML(false)
	if err := plain.Encode(q); err != nil {
		return "", errNoAnswer
	}
	go t.in.Write(text.Bytes()) // ends with the process, which a time-out ends
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case answer, ok := <-t.answers:
		if !ok {
			if ctx.Err() != nil {
				return "", errStopped
			}
			return "", errCrash
		}
		return answer.read(q.ID)
	case <-ctx.Done():
		return "", errStopped
	case <-timer.C:
		return "", errTimeout
	}
}

func (l line) read(id int) (string, error) {
	if l.err != nil {
		return "", l.err
	}
	var answer struct {
		ID   *int    `json:"id"`
		Text *string `json:"text"`
	}
	if !utf8.Valid(l.text) {
		return "", errNotUTF8
	}
	if json.Unmarshal(l.text, &answer) != nil || answer.Text == nil || answer.ID == nil || *answer.ID != id {
		return "", errNoAnswer
	}
	return *answer.Text, nil
}

// close ends the long-lived process, if there is one: the end of its input tells it
// to, and after a second it is killed.
func (f *filter) close() {
	if f.talk == nil {
		return
	}
	f.talk.in.Close()
	kill := time.AfterFunc(time.Second, f.talk.cancel)
	f.talk.cmd.Wait()
	endGroup(f.talk.cmd)
	kill.Stop()
	f.talk.cancel()
	f.talk = nil
}

// maxMemory bounds the answers that are kept, in bytes.
const maxMemory = 64 << 20

// memory keeps answers by the hash of what was asked.
type memory struct {
	mu      sync.Mutex
	answers map[[32]byte]remembered
	bytes   int
}

type remembered struct {
	text string
	err  error
}

func newMemory() *memory { return &memory{answers: map[[32]byte]remembered{}} }

// answer asks the filter unless it was asked about the same text before. An answer
// that names the call is kept for that call alone. Time-outs are not kept: they may
// be the machine's fault.
func (m *memory) answer(f *filter, q question) (string, error) {
	forAll, forCall := keyOf(f, q, ""), keyOf(f, q, q.Call)
	for _, key := range [][32]byte{forCall, forAll} {
		if known, ok := m.recall(key); ok {
			return known.text, known.err
		}
	}
	text, err := f.ask(q)
	if errors.Is(err, errTimeout) || errors.Is(err, errNoStart) || errors.Is(err, errStopped) {
		return text, err
	}
	if q.Call != "" && strings.Contains(text, q.Call) {
		forAll = forCall
	}
	m.keep(forAll, remembered{text, err})
	return text, err
}

func (m *memory) recall(key [32]byte) (remembered, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.answers[key]
	return known, ok
}

func (m *memory) keep(key [32]byte, r remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes+len(r.text) <= maxMemory {
		m.bytes += len(r.text)
		m.answers[key] = r
	}
}

// keyOf tells questions to a filter apart.
func keyOf(f *filter, q question, call string) [32]byte {
	text, _ := json.Marshal([]any{f.argv, f.lines, f.max, q.Tool, q.Class, q.Command, q.Path, call, sha256.Sum256([]byte(q.Text))})
	return sha256.Sum256(text)
}

// troubles counts what went wrong, by kind.
type troubles struct {
	counts  map[error]int
	inARow  int
	good    bool // there was an answer
	never   bool // the program could not be started at all
	skipped int
}

func newTroubles() *troubles { return &troubles{counts: map[error]int{}} }

func (t *troubles) note(err error) {
	if err == nil {
		t.inARow, t.good = 0, true
		return
	}
	t.counts[err]++
	t.never = t.never || err == errNoStart && !t.good && len(t.counts) == 1
	t.inARow++
	if err != errTimeout {
		t.inARow = 0
	}
}

// givenUp counts the results that are not asked about any more.
func (t *troubles) givenUp() bool {
	if !t.never && t.inARow < maxTimeouts {
		return false
	}
	t.skipped++
	return true
}

func (t *troubles) warnings() []string {
	var out []string
	byText := slices.SortedFunc(maps.Keys(t.counts), func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	for _, err := range byText {
		out = append(out, fmt.Sprintf("%s: %v; left as before", times(t.counts[err], "result", "results"), err))
	}
	if t.skipped > 0 && !t.never {
		out = append(out, fmt.Sprintf("given up after %d time-outs in a row; %s not asked about", maxTimeouts, times(t.skipped, "result was", "results were")))
	}
	return out
}
