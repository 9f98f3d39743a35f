//go:build unix

package main_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crashFiles is how many logs a crash test imports: many small ones, so that a
// kill falls between two files as likely as into one.
const crashFiles = 16

// crashApart is how many milliseconds lie between the logs: the 16 begin in seven
// months, so an import writes seven packs of two or three sessions, one after the other.
const crashApart = 12 * 24 * 3600 * 1000

// logVersion is what a crash test does to its logs from one import to the next.
type logVersion int

const (
	halfLogs    logVersion = iota // the first half of the turns
	grownLogs                     // all of them
	rewroteLogs                   // every third log lost a text, as after a compaction
)

func crashTurns(file int, v logVersion) int {
	whole := 2 + 2*(file%7)
	if v == halfLogs {
		return whole / 2
	}
	return whole
}

// crashInput is what the provider counted for a turn.
func crashInput(file, turn int) int { return 1000*(file+1) + 10*turn }

// writeLogs writes all logs of a version, with one time of change, so that two
// imports of them note the same.
func writeLogs(t *testing.T, dir string, v logVersion) {
	t.Helper()
	for i := range crashFiles {
		var b strings.Builder
		seq := 0
		event := func(kind string, turn int, rest string) {
			seq++
			fmt.Fprintf(&b, `{"type":%q,"id":"01M%07d","seq":%d,"aggregateID":"crash-%d","timestamp":%d,"turnId":"turn-%d",%s}`+"\n",
				kind, seq, seq, i, 1787040000000+crashApart*i+seq, turn, rest)
		}
		for turn := range crashTurns(i, v) {
			text := strings.Repeat(fmt.Sprintf("file %d turn %d. ", i, turn), 50*(1+i%5))
			if v == rewroteLogs && i%3 == 0 && turn == 0 {
				text = "summary"
			}
			event("model.request", turn, `"provider":"minimax","model":"MiniMax-M3","messageCount":2,"toolCount":16,"promptChars":1200,"streamed":true`)
			event("model.response", turn, fmt.Sprintf(`"provider":"minimax","model":"MiniMax-M3","duration_ms":900,"inputTokens":%d,"outputTokens":20,"cacheReadTokens":0,"cacheWriteTokens":0`, crashInput(i, turn)))
			event("turn.started", turn, `"x":1`)
			event("function.call", turn, fmt.Sprintf(`"tool":"read","args":{"filePath":"/p/%d.txt"}`, turn))
			event("function.output", turn, fmt.Sprintf(`"tool":"read","output":%q,"duration_ms":4`, text))
		}
		path := filepath.Join(dir, fmt.Sprintf("crash-%02d", i), "events.jsonl")
		mustWrite(t, path, b.String())
		at := time.Date(2026, 8, 1+int(v), 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(path, at, at))
	}
}

// wantRows is what a session must count, by the arithmetic of its log.
func wantRows(file int, v logVersion) string {
	sum := 0
	for turn := range crashTurns(file, v) {
		sum += crashInput(file, turn)
	}
	return fmt.Sprintf("%d,%d", crashTurns(file, v), sum)
}

// wholeTree is every file of a dataset but the lock, by relative path.
func wholeTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out[name] = read(t, path)
		return err
	}))
	return out
}

// differing names the files that two datasets do not have in common, byte by byte.
func differing(a, b map[string]string) (names []string) {
	for name := range a {
		if in, ok := b[name]; !ok || in != a[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// crashStage is one command that is killed until it gets to its end.
type crashStage struct {
	name     string
	before   logVersion // -1: no dataset yet
	after    logVersion
	args     []string // of fclog
	want     map[string]string
	took     time.Duration // undisturbed
	kills    int
	finished int
	seen     [4]int // what a kill left: nothing yet, all old, some new, all new
}

// crasher runs the stages over and over and counts what it finds.
type crasher struct {
	t      *testing.T
	h      home
	logs   string
	random *rand.Rand

	looks                                     int
	verified                                  int
	losses, duplicates, unreadable, different int
}

// killsAtOnce is how often a command is killed before it may end. On a busy machine it
// would hardly ever end by itself, and most kills would find all its work done.
const killsAtOnce = 10

// verifyEvery is after how many kills the whole dataset is verified; what counts is
// looked at after each.
const verifyEvery = 8

// TestCrash kills imports and merges with SIGKILL at points spread over their
// time, looks at what is left, repeats the command, lets it end, and compares with
// what it makes undisturbed. FCLOG_KILLS says how often (make crash KILLS=1000).
func TestCrash(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv("FCLOG_KILLS"))
	if err != nil {
		kills = 20
	}
	seed := uint64(kills)
	c := &crasher{t: t, h: newHome(t), logs: filepath.Join(t.TempDir(), "logs"), random: rand.New(rand.NewPCG(seed, seed))}
	dir := filepath.Join(c.h.dir, "ds")
	stages := c.stages(dir)
	begun := time.Now()
	for total := 0; total < kills; {
		require.NoError(t, os.RemoveAll(dir))
		for _, s := range stages {
			total += c.stage(s, dir, min(killsAtOnce, kills-total))
		}
	}
	var all [5]int
	table := fmt.Sprintf("| killed | undisturbed | kills | nothing yet | all old | some new | all new | completed, identical |\n|%s\n", strings.Repeat("---|", 8))
	for _, s := range stages {
		table += fmt.Sprintf("| %s | %d ms | %d | %d | %d | %d | %d | %d |\n", s.name, s.took.Milliseconds(), s.kills, s.seen[0], s.seen[1], s.seen[2], s.seen[3], s.finished)
		all[4] += s.kills
		for i, n := range s.seen {
			all[i] += n
		}
	}
	t.Logf("%d kills in %s, verified whole %d times\n%slosses %d, duplicates %d, unreadable %d, different at the end %d",
		all[4], time.Since(begun).Round(time.Second), c.verified, table, c.losses, c.duplicates, c.unreadable, c.different)
	assert.Equal(t, []int{0, 0, 0, 0}, []int{c.losses, c.duplicates, c.unreadable, c.different})
	assert.GreaterOrEqual(t, all[4], kills)
}

// stages runs every command once undisturbed, for what it must make.
func (c *crasher) stages(dir string) []*crashStage {
	importing := []string{"import", c.logs, "-o", dir}
	stages := []*crashStage{
		{name: "first import", before: -1, after: halfLogs, args: importing},
		{name: "import of grown logs", before: halfLogs, after: grownLogs, args: importing},
		{name: "import of logs that lost text", before: grownLogs, after: rewroteLogs, args: importing},
		{name: "merge of the parts", before: rewroteLogs, after: rewroteLogs, args: []string{"import", "--compact", dir}},
	}
	for _, s := range stages {
		writeLogs(c.t, c.logs, s.after)
		begun := time.Now()
		got := c.h.run(s.args...)
		s.took = time.Since(begun)
		require.Equal(c.t, 0, got.code, got.stderr)
		s.want = wholeTree(c.t, dir)
		c.look(s, dir)
		require.Equal(c.t, 1, s.seen[3], "the undisturbed one is right")
		s.seen = [4]int{}
	}
	return stages
}

// stage kills a command at most so many times, then lets it end.
func (c *crasher) stage(s *crashStage, dir string, most int) (kills int) {
	writeLogs(c.t, c.logs, s.after)
	for kills < most && c.killed(s) {
		kills++
		c.look(s, dir)
	}
	s.kills += kills
	fmt.Fprintf(os.Stderr, "%s: %d kills\n", s.name, s.kills)
	if kills == most { // it has not got to its end by itself
		got := c.h.run(s.args...)
		require.Equal(c.t, 0, got.code, got.stderr)
	}
	c.sweep()
	s.finished++
	if !assert.Empty(c.t, differing(s.want, wholeTree(c.t, dir)), s.name) {
		c.different++
	}
	return kills
}

// killed starts the command and kills it after a while; false: it was done before.
func (c *crasher) killed(s *crashStage) bool {
	cmd := exec.Command(binary, s.args...)
	cmd.Env = c.h.command(c.t.Context()).Env
	require.NoError(c.t, cmd.Start())
	time.Sleep(time.Duration(c.random.Float64() * float64(s.took)))
	require.NoError(c.t, cmd.Process.Kill())
	err := cmd.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() {
		require.NoError(c.t, err, "the command failed by itself")
	}
	return status.Signaled()
}

// sweep removes the temporary folders that killed commands cannot.
func (c *crasher) sweep() {
	left, err := filepath.Glob(filepath.Join(c.h.temp, "*"))
	require.NoError(c.t, err)
	for _, path := range left {
		require.NoError(c.t, os.RemoveAll(path))
	}
}

// verify checks every byte and every reference of what a kill left.
func (c *crasher) verify(s *crashStage, dir string) {
	c.verified++
	got := c.h.run("verify", dir)
	if !assert.Equal(c.t, 0, got.code, "%s: %s%s", s.name, got.stdout, got.stderr) {
		c.unreadable++
	}
}

// look checks what a kill left: a sound dataset in which every session counts as
// before or as after, never less, never more.
func (c *crasher) look(s *crashStage, dir string) {
	c.sweep()
	if _, err := os.Stat(filepath.Join(dir, "fclog-dataset.json")); err != nil {
		if !assert.Equal(c.t, logVersion(-1), s.before, "the dataset is gone") {
			c.losses++
		}
		s.seen[0]++
		return
	}
	if c.looks++; c.looks%verifyEvery == 0 {
		c.verify(s, dir)
	}
	got := c.h.run("query", dir, "SELECT session_id, count(*) AS n, sum(input_tokens) AS input FROM requests WHERE counts GROUP BY ALL", "--format", "csv")
	if !assert.Equal(c.t, 0, got.code, got.stderr) {
		c.unreadable++
		return
	}
	counted := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(got.stdout), "\n")[1:] {
		id, rest, _ := strings.Cut(line, ",")
		counted[id] = rest
	}
	news := 0
	for i := range crashFiles {
		switch is := counted[fmt.Sprintf("crash-%d", i)]; {
		case is == wantRows(i, s.after):
			news++
		case is == "" && s.before < 0, s.before >= 0 && is == wantRows(i, s.before):
		case is == "":
			c.losses++
			assert.Fail(c.t, "a session is lost", "%s: crash-%d", s.name, i)
		default:
			c.duplicates++
			assert.Fail(c.t, "a session counts otherwise than before or after", "%s: crash-%d: %s", s.name, i, is)
		}
	}
	assert.LessOrEqual(c.t, len(counted), crashFiles)
	switch news {
	case 0:
		s.seen[1]++
	case crashFiles:
		s.seen[3]++
	default:
		s.seen[2]++
	}
}
