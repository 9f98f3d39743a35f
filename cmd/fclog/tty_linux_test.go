package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tty is a terminal with a command in its foreground.
type tty struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	read   chan struct{} // closed when the command's last words are read

	mu  sync.Mutex
	out strings.Builder
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg))
	require.Zero(t, errno)
}

// terminal makes one of so many lines and columns.
func terminal(t *testing.T, lines, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	var number, locked int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	size := [4]uint16{lines, columns}
	ioctl(t, master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return master, slave
}

// onTerminal starts fclog in the foreground of a terminal.
func (h home) onTerminal(lines, columns uint16, env []string, args ...string) *tty {
	h.t.Helper()
	master, slave := terminal(h.t, lines, columns)
	defer slave.Close()
	x := &tty{t: h.t, cmd: h.command(h.t.Context(), args...), master: master, read: make(chan struct{})}
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.Env = append(append(x.cmd.Env, "TERM=xterm", "LC_ALL=C.UTF-8"), env...)
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(h.t, x.cmd.Start())
	go func() {
		defer close(x.read)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			x.mu.Lock()
			x.out.Write(buffer[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	h.t.Cleanup(func() { master.Close() })
	return x
}

func (x *tty) shown() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

func (x *tty) wait(text string) {
	x.t.Helper()
	require.Eventually(x.t, func() bool { return strings.Contains(x.shown(), text) }, time.Minute, 10*time.Millisecond, "%q in %q", text, x.shown())
}

// soon waits for a text or the end of the command, and says which it was.
func (x *tty) soon(text string) bool {
	for {
		select {
		case <-x.read:
			return false
		case <-time.After(10 * time.Millisecond):
			if strings.Contains(x.shown(), text) {
				return true
			}
		}
	}
}

func (x *tty) press(keys string) {
	x.t.Helper()
	_, err := x.master.WriteString(keys)
	require.NoError(x.t, err)
}

// ended is the exit status, once the command is over.
func (x *tty) ended() int {
	_ = x.cmd.Wait()
	<-x.read
	return x.cmd.ProcessState.ExitCode()
}

const ctrlC = "\x03"

// slowPager is one whose doings can be seen; it is left with Return, and Ctrl-C does
// not end it, as it does not end less.
func slowPager(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pager")
	mustWrite(t, path, "#!/bin/sh\ntrap 'echo [interrupted]' INT\necho [begins]\ncat\necho [whole]\nwhile :; do read line </dev/tty && break; done\necho [left]\n")
	require.NoError(t, os.Chmod(path, 0o700))
	return path
}

// A result longer than the screen goes through the pager, which is waited for.
func TestPager(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	x := h.onTerminal(24, 80, []string{"FCLOG_PAGER=" + slowPager(t), "PAGER=false"}, "audit", "--demo")
	x.wait("[whole]")
	assert.Contains(t, x.shown(), "[begins]")
	assert.Contains(t, x.shown(), "Size of each saving")
	assert.Contains(t, x.shown(), "\x1b[", "colours reach the pager")
	x.press(ctrlC)
	x.wait("[interrupted]")
	x.press(ctrlC) // a second one would end fclog, were Ctrl-C not the pager's
	assert.Nil(t, x.cmd.ProcessState)
	x.press("\r")
	assert.Equal(t, 0, x.ended(), "what was to be shown was shown")
	assert.Contains(t, x.shown(), "[left]")
}

func TestNoPager(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	pager := "FCLOG_PAGER=" + slowPager(t)
	for _, c := range []struct {
		name  string
		lines uint16
		env   []string
		args  []string
	}{
		{"it fits", 500, []string{pager}, []string{"audit", "--demo"}},
		{"not wanted", 24, []string{pager}, []string{"audit", "--demo", "--no-pager"}},
		{"cat", 24, []string{"FCLOG_PAGER=cat", "PAGER=" + slowPager(t)}, []string{"audit", "--demo"}},
		{"dumb", 24, []string{pager, "TERM=dumb"}, []string{"audit", "--demo"}},
		{"a file", 24, []string{pager}, []string{"audit", "--demo", "-o", "/dev/null"}},
	} {
		x := h.onTerminal(c.lines, 80, c.env, c.args...)
		assert.Equal(t, 0, x.ended(), c.name)
		assert.NotContains(t, x.shown(), "[begins]", c.name)
		assert.Equal(t, c.name != "a file", strings.Contains(x.shown(), "Size of each saving"), c.name)
	}
	x := h.onTerminal(24, 80, []string{"PAGER=no-such-pager -x"}, "audit", "--demo")
	assert.Equal(t, 0, x.ended())
	assert.Contains(t, x.shown(), "the pager no-such-pager -x is not installed")
	assert.Contains(t, x.shown(), "Size of each saving")
}

// Who leaves the pager early gets the exit status that the command has anyway.
func TestPagerThatIsLeftEarly(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	early := []string{"FCLOG_PAGER=head -n 2"}
	x := h.onTerminal(24, 80, early, "query", "--demo", "SELECT repeat('x', 60) AS x FROM range(200000)")
	assert.Equal(t, 0, x.ended())
	assert.NotContains(t, x.shown(), "fclog:")

	dir := filepath.Join(h.dir, "dataset")
	require.Equal(t, 0, h.run("import", "--demo", "-o", dir).code)
	parts, err := filepath.Glob(filepath.Join(dir, "texts", "*", "*", "*.parquet"))
	require.NoError(t, err)
	require.NotEmpty(t, parts)
	mustWrite(t, parts[0], "damaged")
	x = h.onTerminal(4, 80, early, "verify", dir)
	assert.Equal(t, 1, x.ended(), "the dataset is not sound, however little of that was looked at")
	assert.Contains(t, x.shown(), "is not sound")
}

// The line of progress tells rate and time left, and is gone afterwards.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs, dir := manyLogs(t, 60), filepath.Join(h.dir, "dataset")
	begun := time.Now()
	x := h.onTerminal(24, 80, nil, "import", logs, "-o", dir)
	require.Equal(t, 0, x.ended())
	screen := x.shown()
	if time.Since(begun) < time.Second {
		t.Skip("too fast here for a line of progress")
	}
	line := regexp.MustCompile(`reading logs: [0-9.]+ [kM]?B of [0-9.]+ MB`)
	require.Regexp(t, line, screen)
	last := screen[strings.LastIndex(screen, "reading logs"):]
	after := last[strings.Index(last, "\r"):]
	assert.Regexp(t, `^(\r +)+\r+[^\r]*60 files imported[^\r]*\r\n$`, after, "the line is blank before anything else is written")
}

// Ctrl-C in an import: it stops at once, says so, and leaves nothing half-written.
func TestInterruptedImportOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	// Much is left to do when progress is first told, on fast machines too.
	logs, dir := manyLogs(t, 300), filepath.Join(h.dir, "dataset")
	x := h.onTerminal(24, 80, nil, "import", logs, "-o", dir)
	if !x.soon("reading logs") {
		t.Skip("too fast here for a line of progress")
	}
	pressed := time.Now()
	x.press(ctrlC)
	assert.Equal(t, 1, x.ended())
	assert.Less(t, time.Since(pressed), 5*time.Second)
	assert.Regexp(t, `\r +\r+fclog: stopped; nothing was left half-written\r\n$`, x.shown())
	assert.NotContains(t, x.shown(), "files imported")
	if _, err := os.Stat(dir); err == nil {
		assert.Equal(t, 0, h.run("import", logs, "-o", dir).code, "the next import goes on")
		assert.Equal(t, 0, h.run("verify", dir).code)
	}
	// The same without a dataset: the temporary one goes; the home's cleanup looks.
	x = h.onTerminal(24, 80, nil, "audit", "--no-pager", logs)
	if !x.soon("reading logs") {
		t.Skip("too fast here for a line of progress")
	}
	x.press(ctrlC)
	assert.Equal(t, 1, x.ended())
	assert.Contains(t, x.shown(), "stopped; nothing was left half-written")
}

// manyLogs are sessions of FreeCode with texts that take a while to count.
func manyLogs(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		var b strings.Builder
		for turn := range 40 {
			text := strings.Repeat(fmt.Sprintf("file %d turn %d says %x. ", i, turn, 7919*turn+i), 60)
			for k, rest := range []string{
				`"type":"model.request","provider":"minimax","model":"MiniMax-M3","messageCount":2,"toolCount":16,"promptChars":1200,"streamed":true`,
				fmt.Sprintf(`"type":"model.response","provider":"minimax","model":"MiniMax-M3","duration_ms":900,"inputTokens":%d,"outputTokens":20,"cacheReadTokens":0,"cacheWriteTokens":0`, 1000+600*turn),
				`"type":"turn.started"`,
				fmt.Sprintf(`"type":"function.call","tool":"read","args":{"filePath":"/p/%d.txt"}`, turn),
				fmt.Sprintf(`"type":"function.output","tool":"read","output":%q,"duration_ms":4`, text),
			} {
				seq := 5*turn + k + 1
				fmt.Fprintf(&b, `{"id":"01M%07d","seq":%d,"aggregateID":"tty-%d","timestamp":%d,"turnId":"turn-%d",%s}`+"\n", seq, seq, i, 1787040000000+seq, turn, rest)
			}
		}
		mustWrite(t, filepath.Join(dir, fmt.Sprintf("tty-%03d", i), "events.jsonl"), b.String())
	}
	return dir
}
