//go:build unix

package variants

import (
	"context"
	"fmt"
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

	"github.com/fclog/fclog/replay"
)

// execPlan runs the exec variant on three results: "one two", "three four" and
// "one two" again.
func execPlan(t testing.TB, values replay.Values) (replay.View, replay.Plan) {
	v := newMaker().request(1).call(shellCall("a", "make"), "one two").call(readCall("b", "f", ""), "three four").
		request(1).call(shellCall("c", "make"), "one two").request(1).view(t)
	return v, Exec().Plan(v, values)
}

// script writes a filter and returns its path.
func script(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "filter.sh")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	return path
}

func TestExecEach(t *testing.T) {
	v, p := execPlan(t, replay.Values{"cmd": `awk '{print "<" $1 ">"}'`})
	assert.Empty(t, p.Warnings)
	assert.Equal(t, []string{"", "<one>\n", "<one>\n"}, sent(v, p, "a"))
	assert.Equal(t, []string{"", "<three>\n", "<three>\n"}, sent(v, p, "b"))
	assert.Equal(t, []string{"", "", "<one>\n"}, sent(v, p, "c"))
	assert.Len(t, p.Edits, 3)
	assert.True(t, p.Edits[0].Lossy)
	assert.True(t, p.Edits[0].Early(v.Session))
}

func TestExecKnowsWhatItFilters(t *testing.T) {
	show := script(t, `printf '%s %s %s %s %s' "$FCLOG_TOOL" "$FCLOG_CLASS" "$FCLOG_COMMAND" "$FCLOG_PATH" "$FCLOG_CALL"`)
	v, p := execPlan(t, replay.Values{"cmd": show, "lossy": "false"})
	assert.Equal(t, "bash shell make  a", sent(v, p, "a")[1])
	assert.Equal(t, "read read  f b", sent(v, p, "b")[1])
	assert.Equal(t, "bash shell make  c", sent(v, p, "c")[2], "an answer that names the call is its own")
	assert.False(t, p.Edits[0].Lossy)
}

func TestExecAsksOnceForEqualResults(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	filter := script(t, fmt.Sprintf("echo asked >> %s; cat; echo", log))
	variant := Exec()
	v, _ := execPlan(t, replay.Values{"cmd": "cat"})
	for range 2 {
		p := variant.Plan(v, replay.Values{"cmd": filter})
		assert.Equal(t, "one two\n", sent(v, p, "c")[2])
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "asked\nasked\n", string(text), "two distinct results")
}

func TestExecUsesNoShellUnasked(t *testing.T) {
	v, p := execPlan(t, replay.Values{"cmd": "echo $HOME; echo 'a b'"})
	assert.Equal(t, "$HOME; echo a b\n", sent(v, p, "a")[1])
	v, p = execPlan(t, replay.Values{"cmd": "tr a-z A-Z | cut -c1-5", "sh": "true"})
	assert.Equal(t, "ONE T\n", sent(v, p, "a")[1])
}

func TestExecOnlyOneClass(t *testing.T) {
	v, p := execPlan(t, replay.Values{"cmd": "echo x", "class": "read"})
	assert.Equal(t, "one two", sent(v, p, "a")[1])
	assert.Equal(t, "x\n", sent(v, p, "b")[1])
}

// Whatever a filter does wrong leaves the result as it was and is said.
func TestExecTroubles(t *testing.T) {
	mute := `while read l; do :; done`
	for _, c := range []struct {
		name, script, want string
		values             replay.Values
	}{
		{"fails", "cat; exit 3", "session s: 3 results: the program failed; left as before", nil},
		{"is killed", "kill -9 $$", "session s: 3 results: the program failed; left as before", nil},
		{"no UTF-8", `printf 'a\377b'`, "session s: 3 results: the answer is not valid UTF-8; left as before", nil},
		{"too much", "yes", "session s: 3 results: the answer is too long; left as before", replay.Values{"max": "1000"}},
		{"hangs", "sleep 60", "session s: 3 results: no answer in time; left as before", replay.Values{"timeout": "50ms"}},
		{"leaves a child behind that holds its output, and says nothing", "sleep 60 & exit 0", "session s: 3 results: the program failed; left as before", nil},
		{"lines: fails", "read l; exit 3", "session s: 3 results: the program failed; left as before", replay.Values{"mode": "jsonl"}},
		{"lines: garbage", `while read l; do echo no; done`, "session s: 3 results: the answer is no line of JSON with id and text; left as before", replay.Values{"mode": "jsonl"}},
		{"lines: another id", `while read l; do echo '{"id":99,"text":"x"}'; done`, "session s: 3 results: the answer is no line of JSON with id and text; left as before", replay.Values{"mode": "jsonl"}},
		{"lines: no text", `while read l; do echo '{"id":1}'; done`, "session s: 3 results: the answer is no line of JSON with id and text; left as before", replay.Values{"mode": "jsonl"}},
		{"lines: no UTF-8", `while read l; do printf '{"id":1,"text":"\377"}\n'; done`, "session s: 3 results: the answer is not valid UTF-8; left as before", replay.Values{"mode": "jsonl"}},
		{"lines: too much", `yes | tr -d '\n'`, "session s: 3 results: the answer is too long; left as before", replay.Values{"mode": "jsonl", "max": "1000"}},
		{"lines: hangs", mute, "session s: 3 results: no answer in time; left as before", replay.Values{"mode": "jsonl", "timeout": "50ms"}},
		{"lines: hangs without reading", "sleep 60", "session s: 3 results: no answer in time; left as before", replay.Values{"mode": "jsonl", "timeout": "50ms"}},
	} {
		values := replay.Values{"cmd": script(t, c.script)}
		for name, value := range c.values {
			values[name] = value
		}
		start := time.Now()
		_, p := execPlan(t, values)
		assert.Less(t, time.Since(start), 20*time.Second, c.name)
		assert.Empty(t, p.Edits, c.name)
		assert.Equal(t, []string{c.want}, p.Warnings, c.name)
		assert.Empty(t, p.Unsupported, c.name)
	}
}

// What a program leaves behind holds nobody up and does not make its answer a
// failure. It ends with the program unless it has gone into a session of its own.
func TestExecLeavesSomethingBehind(t *testing.T) {
	for _, c := range []struct {
		name, start, end, mode string
		ends                   bool
	}{
		{"each, in its group", "sleep 60 & echo $! >>%s", "echo hi", "each", true},
		{"each, in a session of its own", `setsid sh -c 'echo $$ >>%s; exec sleep 60' &`, "echo hi", "each", false},
		{"jsonl, in its group", "sleep 60 & echo $! >>%s", answerLines, "jsonl", true},
		{"jsonl, in a session of its own", `setsid sh -c 'echo $$ >>%s; exec sleep 60' &`, answerLines, "jsonl", false},
	} {
		if _, err := exec.LookPath("setsid"); err != nil && !c.ends {
			continue
		}
		begun := filepath.Join(t.TempDir(), "begun")
		require.NoError(t, os.WriteFile(begun, nil, 0o600))
		start := time.Now()
		v, p := execPlan(t, replay.Values{"cmd": script(t, fmt.Sprintf(c.start, begun)+"\nwhile [ ! -s "+begun+" ]; do sleep 0.01; done\n"+c.end), "mode": c.mode, "timeout": "20s"})
		assert.Less(t, time.Since(start), 15*time.Second, c.name)
		assert.Empty(t, p.Warnings, c.name)
		assert.Equal(t, "hi", strings.TrimSpace(sent(v, p, "a")[1]), c.name)
		text, err := os.ReadFile(begun)
		require.NoError(t, err)
		left := strings.Fields(string(text))
		require.NotEmpty(t, left, c.name)
		for _, id := range left {
			assert.Eventually(t, func() bool { return running(id) != c.ends }, 5*time.Second, 20*time.Millisecond, c.name)
			n, err := strconv.Atoi(id)
			require.NoError(t, err)
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

const answerLines = `n=0; while read l; do n=$((n+1)); echo "{\"id\":$n,\"text\":\"hi\"}"; done`

// running says whether a process is there and no zombie.
func running(id string) bool {
	state, _ := exec.Command("ps", "-o", "stat=", "-p", id).Output()
	return len(state) > 0 && state[0] != 'Z'
}

// Whatever limit is set, no more is read of an answer than what could be taken.
func TestExecReadsNoMoreThanItMayTake(t *testing.T) {
	q := question{Text: strings.Repeat("x", 1000)}
	for given, want := range map[int]int{
		1:         1000,            // the result itself always fits
		5000:      5000,            // as asked for
		20 << 20:  1000 + 16777216, // the result and 16 MiB
		maxAnswer: 1000 + 16777216,
	} {
		f := filter{max: given}
		assert.Equal(t, want, f.limit(q), given)
	}
	endless := map[string]string{"each": "yes", "jsonl": `yes | tr -d '\n'`}
	for mode, script := range endless {
		start := time.Now()
		_, p := execPlan(t, replay.Values{"cmd": script, "sh": "true", "mode": mode, "max": "1073741824", "timeout": "60s"})
		assert.Less(t, time.Since(start), 20*time.Second, mode)
		assert.Equal(t, []string{"session s: 3 results: the answer is too long; left as before"}, p.Warnings, mode)
		assert.Empty(t, p.Edits, mode)
	}
	for _, max := range []string{"1073741825", "9000000000000000000", "90000000000000000000", "0", "-1"} {
		_, p := execPlan(t, replay.Values{"cmd": "yes", "max": max})
		assert.Contains(t, p.Unsupported, "variant exec: option max: want a whole number, ", max)
	}
}

// A long result may be answered with one as long, also where max is small.
func TestExecLinesMayBeAsLongAsTheResult(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	v := newMaker().request(1).call(shellCall("a", "make"), text).request(1).view(t)
	echo := `while IFS= read -r line; do printf '{"id":1,%s\n' "\"text\":\"${line#*\"text\":\"}"; done`
	p := Exec().Plan(v, replay.Values{"cmd": script(t, echo), "mode": "jsonl", "max": "10", "timeout": "20s"})
	assert.Empty(t, p.Warnings)
	assert.Empty(t, p.Edits, "the same text")
}

// What a program says on standard error is thrown away, however much it is.
func TestExecThrowsStandardErrorAway(t *testing.T) {
	loud := "head -c 50000000 /dev/zero >&2; "
	v, p := execPlan(t, replay.Values{"cmd": script(t, loud+"echo hi")})
	assert.Equal(t, "hi\n", sent(v, p, "a")[1])
	v, p = execPlan(t, replay.Values{"cmd": script(t, loud+answerLines), "mode": "jsonl"})
	assert.Equal(t, "hi", sent(v, p, "a")[1])
	assert.Empty(t, p.Warnings)
}

// Answers may be long one by one, but not all of them together.
func TestExecAnswersTogether(t *testing.T) {
	m := newMaker()
	for i := range 6 {
		m.request(1).call(shellCall(fmt.Sprint(i), "make"), fmt.Sprint("result ", i))
	}
	v := m.request(1).view(t)
	p := Exec().Plan(v, replay.Values{"cmd": "head -c 4000000 /dev/zero | tr '\\0' x", "sh": "true"})
	assert.Len(t, p.Edits, 4, "4 × 4,000,000 bytes are below 16 MiB, 5 are not")
	assert.Equal(t, []string{"session s: 2 results: all answers together are too long; left as before"}, p.Warnings)
}

func TestExecGivesUpOnAFilterThatHangs(t *testing.T) {
	m := newMaker()
	for _, id := range strings.Split("abcdefgh", "") {
		m.request(1).call(shellCall(id, "./run"), big(id))
	}
	v := m.request(1).view(t)
	start := time.Now()
	p := Exec().Plan(v, replay.Values{"cmd": script(t, "sleep 60"), "timeout": "50ms"})
	assert.Less(t, time.Since(start), 10*time.Second)
	assert.Equal(t, []string{
		"session s: 3 results: no answer in time; left as before",
		"session s: given up after 3 time-outs in a row; 5 results were not asked about",
	}, p.Warnings)
}

func TestExecWithoutAProgram(t *testing.T) {
	_, p := execPlan(t, replay.Values{"cmd": "/no/such/program"})
	assert.Equal(t, "/no/such/program: the program cannot be started", p.Unsupported)
	_, p = execPlan(t, replay.Values{"cmd": "/no/such/program", "mode": "jsonl"})
	assert.Equal(t, "/no/such/program: the program cannot be started", p.Unsupported)
}

// One process answers all, in order; after its first failure a new one is asked.
func TestExecLines(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	filter := script(t, fmt.Sprintf(`echo start >> %s
n=0
while IFS= read -r line; do
  n=$((n+1))
  case "$line" in *three*) exit 1;; esac
  echo "{\"id\":$n,\"text\":\"<seen> $n\"}"
done`, log))
	v, p := execPlan(t, replay.Values{"cmd": filter, "mode": "jsonl", "timeout": "5s"})
	assert.Equal(t, "<seen> 1", sent(v, p, "a")[1])
	assert.Equal(t, "three four", sent(v, p, "b")[1])
	assert.Equal(t, "<seen> 1", sent(v, p, "c")[2], "remembered")
	assert.Equal(t, []string{"session s: 1 result: the program failed; left as before"}, p.Warnings)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "start\n", string(text))
}

func TestExecLinesCarryBigTexts(t *testing.T) {
	text := strings.Repeat("a line with <html> & \"quotes\"\t\\ and ünïcode\n", 4000) // 190 KB, more than a pipe holds
	v := newMaker().request(1).call(shellCall("a", "make"), text).request(1).view(t)
	filter := script(t, `while IFS= read -r line; do printf '%s%s\n' "${line%%\"text\":*}" "\"text\":\"!${line#*\"text\":\"}"; done`)
	p := Exec().Plan(v, replay.Values{"cmd": filter, "mode": "jsonl", "timeout": "20s"})
	assert.Empty(t, p.Warnings)
	assert.Equal(t, "!"+text, sent(v, p, "a")[1])
	p = Exec().Plan(v, replay.Values{"cmd": "head -c 5"})
	assert.Equal(t, "a lin", sent(v, p, "a")[1], "a program need not read all of its input")
	assert.Empty(t, p.Warnings)
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                 nil,
		"  ":               nil,
		"a b\tc\nd":        {"a", "b", "c", "d"},
		`awk '{print $1}'`: {"awk", "{print $1}"},
		`a "b 'c'" d''e`:   {"a", "b 'c'", "de"},
		`a ""`:             {"a", ""},
		`a\ b`:             {`a\`, "b"},
	} {
		got, err := words(line)
		assert.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
	_, err := words(`a "b`)
	assert.ErrorContains(t, err, `no closing "`)
}

// A stopped run ends the program and all it started at once, asks about no other
// result and remembers nothing of it.
func TestExecStops(t *testing.T) {
	for _, mode := range []string{"each", "jsonl"} {
		begun := filepath.Join(t.TempDir(), "begun")
		values := replay.Values{"cmd": script(t, "sleep 60 & echo $! >>"+begun+"; wait"), "mode": mode, "timeout": "50s"}
		m := newMaker()
		for _, id := range []string{"a", "b", "c"} {
			m.request(1).call(shellCall(id, "./run"), big(id))
		}
		rec := m.request(1).view(t).Recording
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer stop()
			for range 1000 {
				if text, _ := os.ReadFile(begun); len(text) > 0 {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		start := time.Now()
		e := &replay.Engine{Count: func(_, text string) int64 { return int64(len(text)) }}
		e.Plan(ctx, rec, replay.Use{Name: "exec", Steps: []replay.Step{{Variant: Exec(), Values: values}}})
		assert.Less(t, time.Since(start), 15*time.Second, mode)
		text, err := os.ReadFile(begun)
		require.NoError(t, err)
		require.Len(t, strings.Fields(string(text)), 1, "one process, no other after it")
		assert.Eventually(t, func() bool {
			return !running(strings.TrimSpace(string(text)))
		}, 5*time.Second, 20*time.Millisecond, "what it started is gone")
	}
}
