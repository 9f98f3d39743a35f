package variants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// 10 lines of two words would become 5 lines and a marker of 13 words: 23 for 20.
func TestCompressNeverLengthens(t *testing.T) {
	text := lines("step %d", 1, 10)
	v := newMaker().request(100).call(shellCall("c1", "make all"), text).request(120).view(t)
	assert.Empty(t, plan(t, v, "compress:head=2,tail=3,min=10").Edits)
}

func TestCompressSavesWhatItLeavesOut(t *testing.T) {
	text := lines("step %d", 1, 50) + "\nerror: no space\n" + lines("step %d", 51, 60)
	m := newMaker().request(100).call(shellCall("c1", "make all"), text).request(250).says("done").request(260)
	v := m.view(t)
	p := plan(t, v, "compress:head=2,tail=3,min=10")
	marker := func(n string) string {
		return "[... " + n + " lines omitted — full output via the `output` tool, id=\"c1\" ...]"
	}
	want := "step 1\nstep 2\n" + marker("48") + "\nerror: no space\n" + marker("7") + "\nstep 58\nstep 59\nstep 60"
	assert.Equal(t, []string{"", want, want}, sent(v, p, "c1"))
	// 48 + 7 lines of two words go, two markers of 13 words come: 110 - 26 = 84.
	assert.Equal(t, []int64{0, 84, 84}, saved(v, p))
	assert.True(t, p.Edits[0].Lossy)
	assert.Equal(t, "log-middle", p.Edits[0].Why)
	assert.True(t, p.Edits[0].Early(v.Session))
	assert.Zero(t, p.Edits[0].Call)
}

// What the agent's own head cut off was never sent and is nobody's saving; a command
// run again saves again what it sends, and no more; and what was paged back in is
// counted as it is. Compressed, 20 lines of two words become five and a marker of 13: 40 - 23.
// Capped at 44 of 150 characters they become three lines (21 characters), two (15, as
// the third last begins one character too early) and a marker of 8: 40 - 18.
func TestBaselineIsWhatTheModelGot(t *testing.T) {
	text := lines("step %d", 1, 20)
	const compress, compressed = "compress:head=2,tail=3,min=10", 2*20 - (2*5 + 13)
	const cut, capped = "cap:max=44,head=0.5", 2*20 - (2*5 + 8)
	all, head := shellCall("c1", "make all"), shellCall("c1", "make all 2>&1 | head -20")
	paged := rollout.Call{ID: "c2", Tool: "output", Class: rollout.RetrieveTool, Recovers: "c1", ReadOnly: true}
	for _, c := range []struct {
		name, spec string
		m          *maker
		want       []int64 // of every request
	}{
		{"the command as it is", compress, newMaker().request(100).call(all, text).request(150).request(160), []int64{0, compressed, compressed}},
		{"through its own head", compress, newMaker().request(100).call(head, text).request(150).request(160), []int64{0, 0, 0}},
		{"run again", compress, newMaker().request(100).call(all, text).request(150).call(shellCall("c2", "make all"), text).request(200), []int64{0, compressed, 2 * compressed}},
		{"paged back", compress, newMaker().request(100).call(all, text).request(150).call(paged, text).request(200), []int64{0, compressed, compressed}},
		{"capped", cut, newMaker().request(100).call(all, text).request(150).request(160), []int64{0, capped, capped}},
		{"capped, 20 lines of however many", cut, newMaker().request(100).call(head, text).request(150).request(160), []int64{0, capped, capped}},
		{"nothing left to cap", cut, newMaker().request(100).call(shellCall("c1", "make all 2>&1 | head -5"), lines("step %d", 1, 5)).request(110), []int64{0, 0}},
	} {
		v := c.m.view(t)
		assert.Equal(t, c.want, saved(v, plan(t, v, c.spec)), c.name)
	}
}

func TestCompressLeavesAlone(t *testing.T) {
	text := lines("step %d", 1, 200)
	for name, call := range map[string]rollout.Call{
		"text of a file":      shellCall("c1", "cat build.log"),
		"another command":     shellCall("c1", "./run"),
		"a read":              readCall("c1", "build.log", ""),
		"a shell, no command": {ID: "c1", Tool: "bash", Class: rollout.ShellTool},
	} {
		m := newMaker().request(100).call(call, text).request(500)
		if name == "a shell, no command" {
			m.call(shellCall("c2", "ls"), "a")
		}
		p := plan(t, m.view(t), "compress:min=10")
		assert.Equal(t, replay.Plan{}, p, name)
	}
}

func TestCompressRepeatedLinesAreNotLossy(t *testing.T) {
	text := "a.go: found it\n" + strings.Repeat("b.go: found it again and again\n", 40) + "c.go: found it"
	v := newMaker().request(1).call(shellCall("c1", "grep -r it ."), text).request(1).view(t)
	p := plan(t, v, "compress:min=10")
	assert.Equal(t, "a.go: found it\nb.go: found it again and again\n  [previous line repeated 39 more times]\nc.go: found it", sent(v, p, "c1")[1])
	assert.False(t, p.Edits[0].Lossy)
	// 39 lines of six words go, a marker of six comes.
	assert.Equal(t, []int64{0, 39*6 - 6}, saved(v, p))
}

// What the rules would make of the whole output cannot be told from its cut copy.
func TestCompressLeavesCutOutputAlone(t *testing.T) {
	text := lines("step %d", 1, 60) + "\n\n... [truncated 40000 chars total — use the `output` tool with id=\"c1\" (offset, limit, or pattern) to read the omitted middle] ...\n\n" + lines("step %d", 900, 960)
	call := shellCall("c1", "make")
	call.Truncated, call.Handle = rollout.Recoverable, "c1"
	v := newMaker().request(1).call(call, text).request(1).view(t)
	p := plan(t, v, "compress:min=10")
	assert.Empty(t, p.Edits)
	require.Len(t, p.Warnings, 1)
	assert.Contains(t, p.Warnings[0], "1 shell output was left alone")
}

// ownMarker is the marker of FreeCode's cut: 22 words.
func ownMarker(id string) string {
	return "\n\n... [truncated 40000 chars total — use the `output` tool with id=\"" + id + "\" (offset, limit, or pattern) to read the omitted middle] ...\n\n"
}

// The rules work on the whole output of 301 lines: 2 and 3 stay, line 151 tells of a
// failure, so 148 and 147 go. What that saves is counted against the part that was
// sent: 60 and 11 lines of two words and a marker of 22 are 164 words; 5 lines of two
// words, one of three and two markers of 13 are 39.
func TestCompressWorksOnTheWholeOutput(t *testing.T) {
	whole := lines("step %d", 1, 150) + "\nerror: no space\n" + lines("step %d", 151, 300)
	part := lines("step %d", 1, 60) + ownMarker("x9") + lines("step %d", 290, 300)
	call := shellCall("c1", "make all")
	call.Truncated = rollout.Recoverable
	m := newMaker().request(300).call(call, part).keepsWhole(whole).request(500)
	m.chain.Replace(m.results["c1"][0], m.b.Text("[tool result omitted to save context — 900 chars.]"), nil)
	v := m.request(320).view(t)
	p := plan(t, v, "compress:head=2,tail=3,min=10")
	marker := func(n string) string {
		return "[... " + n + " lines omitted — full output via the `output` tool, id=\"x9\" ...]"
	}
	want := "step 1\nstep 2\n" + marker("148") + "\nerror: no space\n" + marker("147") + "\nstep 298\nstep 299\nstep 300"
	assert.Equal(t, []string{"", want, "[tool result omitted to save context — 900 chars.]"}, sent(v, p, "c1"), "what pruning put in its place stays")
	assert.Equal(t, []int64{0, 164 - 39, 0}, saved(v, p))
	assert.Empty(t, p.Warnings)
	require.Len(t, p.Edits, 1)
	assert.True(t, p.Edits[0].Lossy)
	// Text of files is never compressed: what the agent's cut left of it stays.
	call.Command = "cat build.log"
	v = newMaker().request(300).call(call, part).keepsWhole(whole).request(500).view(t)
	assert.Equal(t, replay.Plan{}, plan(t, v, "compress:head=2,tail=3,min=10"))
}

// A rule that leaves more of the output than the agent's cut did costs tokens: 21
// lines of three words and one of six are 69; two lines of three words and the marker
// of 22 were 28.
func TestCompressMayLeaveMoreThanTheCut(t *testing.T) {
	whole := lines("a.go:%d: x y", 1, 20) + strings.Repeat("\nz.go:9: x y", 5)
	call := shellCall("c1", "grep -r x .")
	call.Truncated, call.Handle = rollout.Recoverable, "c1"
	v := newMaker().request(1).call(call, "a.go:1: x y"+ownMarker("c1")+"z.go:9: x y").keepsWhole(whole).request(1).view(t)
	p := plan(t, v, "compress:min=10")
	assert.Equal(t, []string{"", lines("a.go:%d: x y", 1, 20) + "\nz.go:9: x y\n  [previous line repeated 4 more times]"}, sent(v, p, "c1"))
	assert.Equal(t, []int64{0, 28 - 69}, saved(v, p))
	assert.Equal(t, []string{"session s: 1 shell output becomes longer than what was sent, as the rules leave more of the whole than the agent's cut did"}, p.Warnings)
	assert.False(t, p.Edits[0].Lossy)
	// The profile's own cut to 40 characters keeps a head of 32. Lines take 12, so the
	// last line break in reach is that of the second, at 23.
	cut := sent(v, plan(t, v, "compress:min=10,cut=40"), "c1")[1]
	assert.True(t, strings.HasPrefix(cut, "a.go:1: x y\na.go:2: x y\n\n... [truncated "), cut)
}

func TestNoLineNumbers(t *testing.T) {
	numbered := "     1→package main\n     2→\n     3→func main() {}"
	m := newMaker().request(1).call(readCall("c1", "main.go", ""), numbered).call(shellCall("c2", "cat -n x"), "1\ta\n2\t\n3\tb c").
		request(1).call(rollout.Call{ID: "c3", Tool: "grep", Class: rollout.SearchTool}, numbered).request(1)
	v := m.view(t)
	p := plan(t, v, "no-line-numbers")
	assert.Equal(t, []string{"", "package main\n\nfunc main() {}", "package main\n\nfunc main() {}"}, sent(v, p, "c1"))
	asked := "1\ta\n2\t\n3\tb c"
	assert.Equal(t, []string{"", asked, asked}, sent(v, p, "c2"), "the model asked for them")
	assert.Equal(t, []string{"", "", numbered}, sent(v, p, "c3"), "a search result is no file")
	// c1: "1→package" is one word as "package" is; only "2→" goes: 1. c2: three numbers
	// in two requests.
	assert.Equal(t, []int64{0, 1, 1}, saved(v, p))
	counted := "session s: 6 tokens of line numbers in 1 shell output, over all requests that carry them, were asked for by the model's own commands; they "
	assert.Equal(t, []string{counted + "stay: asked=drop would take them out"}, p.Warnings)

	p = plan(t, v, "no-line-numbers:asked=drop")
	assert.Equal(t, []string{"", "a\n\nb c", "a\n\nb c"}, sent(v, p, "c2"))
	assert.Equal(t, []int64{0, 4, 4}, saved(v, p))
	assert.Equal(t, []string{counted + "are part of this saving: no harness can drop them without working against the command"}, p.Warnings)
	for _, e := range p.Edits {
		assert.True(t, e.Lossy, "numbers can be missed")
		assert.True(t, e.Early(v.Session))
	}
}

// What a command prints without being asked for numbers holds them itself.
func TestNoLineNumbersOfAFileThatHoldsThem(t *testing.T) {
	v := newMaker().request(1).call(shellCall("c1", "cat listing.txt"), "1\ta\n2\t\n3\tb c").request(1).view(t)
	assert.Equal(t, replay.Plan{}, plan(t, v, "no-line-numbers"))
	assert.Equal(t, replay.Plan{}, plan(t, v, "no-line-numbers:asked=drop"))
}

func TestNoLineNumbersWithoutAny(t *testing.T) {
	v := newMaker().request(1).call(readCall("c1", "a", ""), "a\nb\nc").request(1).view(t)
	assert.Equal(t, replay.Plan{}, plan(t, v, "no-line-numbers"), "nothing to do is not unsupported")
}

func TestCitations(t *testing.T) {
	file := "   120→a b\n   121→\n   122→c d"
	for _, c := range []struct {
		name, says, elsewhere string
		want                  int
	}{
		{"a line", "the fault is in line 121", "", 1},
		{"a range", "see lines 120-122.", "", 1},
		{"file and line", "see src/main.go:121 there", "", 1},
		{"L and number", "see L122", "", 1},
		{"an offset", `{"offset":121}`, "", 1},
		{"sed", "sed -n '121,130p' x", "", 1},
		{"two in one text are one text", "line 120 and line 121", "", 1},
		{"a bare number", "it took 121 ms", "", 0},
		{"a lower-case l", "val121 l121", "", 0},
		{"another number", "line 7", "", 0},
		{"also told elsewhere", "line 121", "stack trace: 121", 0},
	} {
		m := newMaker().request(1).call(readCall("c1", "x", ""), file)
		if c.elsewhere != "" {
			m.call(shellCall("c2", "./run"), c.elsewhere)
		}
		v := m.request(1).says(c.says).request(1).view(t)
		p := plan(t, v, "no-line-numbers")
		if c.want == 0 {
			assert.Empty(t, p.Warnings, c.name)
			continue
		}
		assert.Equal(t, []string{"session s: later on, 1 text of the model cites a line by a number that stood only in a dropped prefix"}, p.Warnings, c.name)
	}
	before := newMaker().request(1).says("line 121").call(readCall("c1", "x", ""), file).request(1).view(t)
	assert.Empty(t, plan(t, before, "no-line-numbers").Warnings, "said before it was read")
	gone := newMaker().request(1).call(readCall("c1", "x", ""), file).request(1).leaves("c1").request(1).says("line 121").request(1).view(t)
	assert.Empty(t, plan(t, gone, "no-line-numbers").Warnings, "no longer in the payload when it was said")
}

func TestDedupReads(t *testing.T) {
	text := lines("word%d of the file", 1, 20) // 80 words
	stub := func(id string) string {
		return "[unchanged since an earlier read: the content stands above, in the result of call " + id + "]" // 15 words
	}
	edit := func(path string) rollout.Call {
		return rollout.Call{ID: "e", Tool: "edit", Class: rollout.EditTool, Path: path, Mutates: true}
	}
	part := func(from, to int) string { return lines("%6d→the line", from, to) }
	ls := shellCall("ls", "ls")
	ls.Mutates, ls.ReadOnly = false, true
	for _, c := range []struct {
		name  string
		m     *maker
		reads string // call that is looked at
		want  []string
	}{
		{"again", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", stub("a")}},
		{"three times", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "f", ""), text).request(1).call(readCall("c", "f", ""), text).request(1), "c", []string{"", "", "", stub("a")}},
		{"another path", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "g", ""), text).request(1), "b", []string{"", "", text}},
		{"other content", newMaker().request(1).call(readCall("a", "f", ""), text+"x").request(1).call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", text}},
		{"edited between", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(edit("f"), "ok").call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", text}},
		{"another file edited", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(edit("g"), "ok").call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", stub("a")}},
		{"a command that may write", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(shellCall("m", "make"), "ok").call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", text}},
		{"a command that looks", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(ls, "ok").call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", stub("a")}},
		{"both in one response", newMaker().request(1).call(readCall("a", "f", ""), text).call(readCall("b", "f", ""), text).request(1), "b", []string{"", text}},
		{"the first is gone", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).leaves("a").request(1).call(readCall("b", "f", ""), text).request(1), "b", []string{"", "", "", text}},
		{"the first goes later", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "f", ""), text).request(1).leaves("a").request(1).request(1), "b", []string{"", "", stub("a"), text, text}},
		{"the stub itself is no first", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "f", ""), text).leaves("a").request(1).call(readCall("c", "f", ""), text).request(1), "b", []string{"", "", text, text}},
		{"whole again, it serves as first", newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "f", ""), text).request(1).leaves("a").request(1).call(readCall("c", "f", ""), text).request(1), "c", []string{"", "", "", "", stub("b")}},
		{"a part", newMaker().request(1).call(readCall("a", "f", ""), part(1, 40)).request(1).call(readCall("b", "f", "11:20"), part(11, 30)).request(1), "b", []string{"", "", stub("a")}},
		{"more than the part", newMaker().request(1).call(readCall("a", "f", "11:20"), part(11, 30)).request(1).call(readCall("b", "f", ""), part(1, 40)).request(1), "b", []string{"", "", part(1, 40)}},
		{"a part with a reminder", newMaker().request(1).call(readCall("a", "f", ""), part(1, 40)).request(1).call(readCall("b", "f", "11:20"), part(11, 30)+"\n<system-reminder>\nbeware\n</system-reminder>").request(1), "b", []string{"", "", part(11, 30) + "\n<system-reminder>\nbeware\n</system-reminder>"}},
		{"shorter than the stub", newMaker().request(1).call(readCall("a", "f", ""), "tiny").request(1).call(readCall("b", "f", ""), "tiny").request(1), "b", []string{"", "", "tiny"}},
	} {
		v := c.m.view(t)
		p := plan(t, v, "dedup-reads")
		assert.Equal(t, c.want, sent(v, p, c.reads), c.name)
		for _, e := range p.Edits {
			assert.False(t, e.Lossy, c.name)
		}
	}
}

// A stub of 15 words for a text of 80, in the three requests that carry both.
func TestDedupReadsSaves(t *testing.T) {
	text := lines("word%d of the file", 1, 20)
	v := newMaker().request(1).call(readCall("a", "f", ""), text).request(1).call(readCall("b", "f", ""), text).
		request(1).request(1).request(1).leaves("a").request(1).view(t)
	assert.Equal(t, int64(15), countWords("", "[unchanged since an earlier read: the content stands above, in the result of call a]"))
	assert.Equal(t, []int64{0, 0, 65, 65, 65, 0}, saved(v, plan(t, v, "dedup-reads")))
}

func TestDedupReadsThroughTheShell(t *testing.T) {
	text := lines("word%d of the file", 1, 20)
	head := func(s string) string { return "Wall time: " + s + " seconds\nProcess exited with code 0\nOutput:\n" }
	show := func(id, command string) rollout.Call {
		return rollout.Call{ID: id, Tool: "exec_command", Class: rollout.ShellTool, Command: command, Path: "f", ReadOnly: true}
	}
	v := newMaker().request(1).call(show("a", "cat f"), head("0.1")+text).request(1).call(show("b", "cat f"), head("0.2")+text).
		call(show("c", "cat ./f"), head("0.2")+text).request(1).view(t)
	p := plan(t, v, "dedup-reads")
	assert.Contains(t, sent(v, p, "b")[2], "result of call a]")
	assert.Equal(t, head("0.2")+text, sent(v, p, "c")[2], "only the same command is known to show the same")
}

func TestDedupReadsNeedsPaths(t *testing.T) {
	v := newMaker().request(1).call(rollout.Call{ID: "a", Tool: "read", Class: rollout.ReadTool}, "x").request(1).view(t)
	assert.Equal(t, "the read calls of this log name no path", plan(t, v, "dedup-reads").Unsupported)
	v = newMaker().request(1).call(shellCall("a", "make"), "x").request(1).view(t)
	assert.Equal(t, replay.Plan{}, plan(t, v, "dedup-reads"))
}

func TestCap(t *testing.T) {
	text := "one\n" + strings.Repeat("abcdefghi\n", 20) + "last" // 4 + 200 + 4 characters
	v := newMaker().request(1).call(shellCall("a", "cat x"), text).request(1).view(t)
	p := plan(t, v, "cap:max=50,head=0.6")
	// Head: 30 characters hold "one" and two whole lines, up to the break behind them; tail:
	// the last 20 characters begin inside a line, what is whole behind it is one line and "last".
	want := "one\nabcdefghi\nabcdefghi\n\n... [171 of 208 characters left out] ...\n\nabcdefghi\nlast"
	assert.Equal(t, []string{"", want}, sent(v, p, "a"))
	assert.True(t, p.Edits[0].Lossy)
	// 22 words become 5 and 8 of the marker: 9 saved.
	assert.Equal(t, []int64{0, 9}, saved(v, p))
	assert.Empty(t, plan(t, v, "cap:max=208").Edits)
	assert.Empty(t, plan(t, v, "cap:max=50,class=read").Edits)
	cut := shellCall("a", "cat x")
	cut.Truncated = rollout.Recoverable
	v = newMaker().request(1).call(cut, text).request(1).view(t)
	assert.Empty(t, plan(t, v, "cap:max=50").Edits, "the agent's own marker may make it this much longer")
}

// Head and tail are those of the whole output, of which the agent had sent less.
func TestCapCutsTheWholeOutput(t *testing.T) {
	whole := "one\n" + strings.Repeat("abcdefghi\n", 20) + "two\nthree\nfour"
	cut := shellCall("a", "cat x")
	cut.Truncated = rollout.Recoverable
	part := "one\n" + strings.Repeat("abcdefghi\n", 19) + strings.Repeat("x ", 200) + "\nfour"
	v := newMaker().request(1).call(cut, part).keepsWhole(whole).request(1).view(t)
	// 218 characters. The head of 10 ends behind "one"; the tail of 10 begins inside a
	// line, which leaves "four": 7 stay and 211 go.
	assert.Equal(t, []string{"", "one\n\n... [211 of 218 characters left out] ...\n\nfour"}, sent(v, plan(t, v, "cap:max=20,head=0.5"), "a"))
}

func TestHeadAndTailInsideALine(t *testing.T) {
	assert.Equal(t, "ää\n\n... [6 of 10 characters left out] ...\n\nöö", headAndTail("ääääääööö"+"ö", 4, 0.5))
	assert.Equal(t, "\n\n... [4 of 5 characters left out] ...\n\ne", headAndTail("abcde", 1, 0))
	assert.Equal(t, "a\n\n... [4 of 5 characters left out] ...\n\n", headAndTail("abcde", 1, 1))
}

func TestEveryPartAndEverySpan(t *testing.T) {
	text := lines("step %d", 1, 200)
	m := newMaker().request(1).call(shellCall("a", "make"), text, text+"\nend").request(1)
	entries := m.results["a"]
	m.chain.Reorder([]*rollout.Entry{entries[1], entries[0]}) // both get new spans
	v := m.request(1).view(t)
	p := plan(t, v, "compress:min=10")
	assert.Len(t, p.Edits, 4)
	// 100 of 200 and 101 of 201 lines of two (and one) words go, 13 words of marker come.
	assert.Equal(t, []int64{0, 2*(200-13) + 2, 2*(200-13) + 2}, saved(v, p))
}

func TestNoResults(t *testing.T) {
	m := newMaker().request(1).call(shellCall("a", "make")).request(1)
	v := m.view(t)
	for _, spec := range []string{"compress", "no-line-numbers", "dedup-reads", "cap", "mask", "clear-tool-results", "exec:cmd=cat"} {
		assert.Equal(t, "this log does not hold the text of tool results", plan(t, v, spec).Unsupported, spec)
	}
	v = newMaker().request(1).view(t)
	for _, spec := range []string{"compress", "no-line-numbers", "dedup-reads", "cap", "mask", "clear-tool-results", "exec:cmd=cat"} {
		assert.Equal(t, replay.Plan{}, plan(t, v, spec), spec)
	}
}
