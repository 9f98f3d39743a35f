package compress

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// outputs draws texts of the shape of command output: repeated lines, failures,
// progress, colours, several scripts, carriage returns, counts and marks as the
// package itself writes them.
func outputs() *rapid.Generator[string] {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "ok", "same line", "same line ", "error: no", "npm ERR! code", "2 failed", "✗ broken", "NOT OK 3", "not  ok", "errors", "notok", "a_error", "error_b", "Traceback (most recent call last):",
			"  File \"x.py\", line 3", "src/a.go:12:3: undefined", "\x1b[31merror\x1b[0m", "\x1b[32mok\x1b[0m", "10%\r20%\r100%", "[===>   ] 3/9\rdone", "a\rb", "crlf\r", "TypeError: x", "界面", "😀 done",
			"  [previous line repeated 2 more times]", "[... 12 lines omitted — full output via the `output` tool, id=\"c\" ...]", "\x1b[\x1b[1m0m", "  at f (a.js:3:4)", "panic: x",
		}),
		rapid.StringMatching(`[a-zA-Z0-9 .:/_!]{0,40}`),
		rapid.Map(rapid.IntRange(0, 999), func(n int) string { return fmt.Sprintf("compiling unit %d of the project", n) }),
	)
	times := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 4, 9})
	return rapid.Custom(func(t *rapid.T) string {
		var lines []string
		for range rapid.IntRange(0, 60).Draw(t, "lines") {
			l := line.Draw(t, "line")
			for range times.Draw(t, "times") {
				lines = append(lines, l)
			}
		}
		return strings.Join(lines, "\n")
	})
}

// small makes profiles work on texts that a test can draw.
func small(t *rapid.T) (Profile, Kind, string) {
	p := rapid.SampledFrom(Profiles()).Draw(t, "profile")
	p.Head, p.Tail = rapid.IntRange(0, 8).Draw(t, "head"), rapid.IntRange(0, 8).Draw(t, "tail")
	p.Min, p.Cut = rapid.IntRange(0, 300).Draw(t, "min"), rapid.IntRange(0, 600).Draw(t, "cut")
	kind := rapid.SampledFrom([]Kind{Source, Search, Log, Other}).Draw(t, "kind")
	return p, kind, outputs().Draw(t, "text")
}

func TestFreecodeIsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, kind, text := small(t)
		f := Freecode()
		f.Head, f.Tail, f.Min = p.Head, p.Tail, p.Min
		out, changed, _ := f.Compress(kind, text, "id")
		assert.Equal(t, refCompress(kind, text, "id", f.Head, f.Tail, f.Min), out)
		assert.Equal(t, out != text, changed)
		limit := rapid.IntRange(1, 600).Draw(t, "limit")
		tail := rapid.IntRange(0, limit).Draw(t, "cutTail")
		cut, ok := Cut(text, "id", limit, tail)
		assert.Equal(t, refCut(text, "id", limit, tail), cut)
		assert.Equal(t, refLength(text) > limit, ok)
	})
}

func TestFreecodeClassifyIsItsRules(t *testing.T) {
	word := rapid.SampledFrom([]string{"grep", "rg", "cat", "head", "sed", "-n", "git", "diff", "show", "npm", "yarn", "ci", "i", "install", "run", "go", "make", "pip3", "docker", "x", "|", "||", "'", "\"", "`", "&&", " ", "  ", "\t", "\n", "\u00a0", "\ufeff", "\u0085", "-", "_", "."})
	rapid.Check(t, func(t *rapid.T) {
		command := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		assert.Equal(t, refClassify(command), Freecode().Classify(command), "%q", command)
	})
	for _, l := range labels(t, "commands.tsv") {
		assert.Equal(t, refClassify(l.command), Freecode().Classify(l.command), "%q", l.command)
	}
}

// TestFreecodeByHand works one case through with its own thresholds.
func TestFreecodeByHand(t *testing.T) {
	// 300 lines of 119 characters and a line break, line 150 a failure: 36,000
	// characters. 40 head and 60 tail lines stay; between them stand 40…149 (110
	// lines), the failure, 151…239 (89 lines).
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf("%-119d", i)
	}
	lines[150] = fmt.Sprintf("%-119s", "it Failed here")
	text := strings.Join(lines, "\n") + "\n"
	require.Len(t, text, 36_000)
	want := strings.Join(lines[:40], "\n") +
		"\n[... 110 lines omitted — full output via the `output` tool, id=\"call_1\" ...]\n" + lines[150] +
		// The empty piece behind the last line break is the 60th tail line.
		"\n[... 90 lines omitted — full output via the `output` tool, id=\"call_1\" ...]\n" +
		strings.Join(lines[241:], "\n") + "\n"
	out, changed, lossy := Freecode().Compress(Log, text, "call_1")
	assert.Equal(t, want, out)
	assert.True(t, changed)
	assert.True(t, lossy)

	short := strings.Repeat("a\n", 15_000)
	out, changed, _ = Freecode().Compress(Search, short, "c")
	assert.Equal(t, short, out, "exactly 30,000 characters")
	assert.False(t, changed)
	// 15,001 equal lines and the empty piece behind the last line break.
	out, changed, lossy = Freecode().Compress(Search, short+"a\n", "c")
	assert.Equal(t, "a\n  [previous line repeated 15000 more times]\n", out)
	assert.True(t, changed)
	assert.False(t, lossy, "the text can be told from what remains")
}

func TestApplyCutsAfterwards(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 400)
	out, changed, lossy := Freecode().Apply(Source, text, "c")
	assert.True(t, changed)
	assert.True(t, lossy)
	assert.Equal(t, refCut(text, "c", 30_000, 6_000), out)
	out, changed, _ = Freecode().Apply(Search, text, "c")
	assert.Equal(t, strings.Repeat("x", 99)+"\n  [previous line repeated 399 more times]\n", out)
	assert.True(t, changed)
	p := Freecode()
	p.Cut = 0
	out, changed, _ = p.Apply(Other, text, "c")
	assert.Equal(t, text, out)
	assert.False(t, changed)
}

func TestCompressPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, kind, text := small(t)
		checkPromises(t, p, kind, text, rapid.SampledFrom([]string{"", "call_9"}).Draw(t, "handle"))
	})
}

// checkPromises holds one result against what the package promises.
func checkPromises(t require.TestingT, p Profile, kind Kind, text, handle string) {
	out, changed, lossy := p.Compress(kind, text, handle)
	require.Equal(t, out != text, changed)
	if !changed {
		require.False(t, lossy)
		return
	}
	require.Contains(t, []Kind{Search, Log}, kind, "text of files was touched")
	require.Greater(t, refLength(text), p.Min)
	require.Less(t, refLength(out), refLength(text), "longer than before")

	have := map[string]bool{}
	for _, line := range strings.Split(out, "\n") {
		have[line] = true
	}
	given := strings.Split(text, "\n")
	if kind == Search {
		for _, line := range given {
			require.True(t, have[line], "lost the match %q", line)
		}
		require.False(t, lossy)
		return
	}
	if p.careful {
		given = strings.Split(withoutNoise(text), "\n")
	}
	for _, line := range given {
		require.True(t, have[line] || !refFailure(line), "lost the failure %q", line)
	}
	requireEnds(t, p, given, out)
	if lossy && (handle != "" || !p.careful) {
		require.Contains(t, out, "id=\""+handle+"\"", "the handle is not named")
	}
	if p.careful {
		again, changedAgain, _ := p.Compress(kind, out, handle)
		require.Equal(t, out, again)
		require.False(t, changedAgain)
	}
}

// requireEnds looks for the first and last lines, counted after runs of equal lines
// became two.
func requireEnds(t require.TestingT, p Profile, given []string, out string) {
	short := p.collapse(given)
	head, tail := short[:min(p.Head, len(short))], short[max(0, len(short)-p.Tail):]
	if len(head) > 0 {
		require.True(t, strings.HasPrefix(out+"\n", strings.Join(head, "\n")+"\n"), "head")
	}
	if len(tail) > 0 {
		require.True(t, strings.HasSuffix("\n"+out, "\n"+strings.Join(tail, "\n")), "tail")
	}
}

func TestSearchIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Careful()
		p.Min = rapid.IntRange(0, 200).Draw(t, "min")
		once, _, _ := p.Compress(Search, outputs().Draw(t, "text"), "c")
		twice, changed, _ := p.Compress(Search, once, "c")
		assert.Equal(t, once, twice)
		assert.False(t, changed)
	})
}

// TestNoise says what careful takes out of a log before anything else.
func TestNoise(t *testing.T) {
	cases := map[string]string{
		"plain\r\nlines\r\n":                    "plain\r\nlines\r\n",
		"\x1b[1m\x1b[32mok\x1b[0m 3":            "ok 3",
		"\x1b]8;;http://x\x07link\x1b]8;;\x07":  "link",
		"10%\r50%\r100% done":                   "100% done",
		"[=>  ] 1/3: error: x\r[==> ] 2/3\rend": "[=>  ] 1/3: error: x\rend",
		"first\rsecond":                         "first\rsecond",
		"\x1b":                                  "",
	}
	for text, want := range cases {
		assert.Equal(t, want, withoutNoise(text), "%q", text)
	}
}

func TestFailures(t *testing.T) {
	both := []string{"error", "An ERROR occurred", "npm ERR! code 1", "x: Failed", "a-fail-b", "fatal: x", "java.lang.Exception: x", "not ok 4 - x", "✗ a", "1 ✖ b", "panic: x"}
	careful := []string{"3 errors", "panicked at x", "a.go:3:4: x", "src/a.ts(3,4): x", "ld: undefined reference", "cannot open", "ValueError: x", "E       assert 1 == 2", "Segmentation fault (core dumped)", "permission denied", "command not found", "timed out", "× a test", "x.java.io.IOException"}
	neither := []string{"", "ok", "not okay", "notok 4", "terror", "my_error_count", "failover", "compiling a.go", "100%", "errno", "noterr!"}
	for _, line := range both {
		assert.True(t, Freecode().isFailure(line), line)
		assert.True(t, Careful().isFailure(line), line)
	}
	for _, line := range careful {
		assert.False(t, Freecode().isFailure(line), line)
		assert.True(t, Careful().isFailure(line), line)
	}
	for _, line := range neither {
		assert.False(t, Freecode().isFailure(line), line)
		assert.False(t, Careful().isFailure(line), line)
	}
	// Letters that only Unicode folds to ASCII ones are not the word.
	assert.False(t, Freecode().isFailure("not o\u212a"))
	assert.True(t, Freecode().isFailure("not OK"))
}

func TestNamed(t *testing.T) {
	for _, p := range Profiles() {
		got, ok := Named(p.Name)
		assert.True(t, ok)
		assert.Equal(t, p, got)
	}
	_, ok := Named("bold")
	assert.False(t, ok)
}

func TestCompressIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	for _, piece := range []string{"a\n", "\n", "x", "\r", "1%\r", "\x1b[0m", "\x1b[", "\x1b]", "not ", "err", "a.b:", "error\n", "😀", "line 1\nline 2\n", "[= "} {
		for _, p := range Profiles() {
			timed := func(size int) time.Duration {
				text, start := strings.Repeat(piece, size/len(piece)), time.Now()
				p.Apply(Log, text, "c")
				return time.Since(start)
			}
			one, four := timed(100_000), timed(400_000)
			// The least of several tries is near to what a machine without other work takes.
			for try := 0; try < 10 && four > 8*one+50*time.Millisecond; try++ {
				one, four = min(one, timed(100_000)), min(four, timed(400_000))
			}
			assert.Less(t, four, 8*one+50*time.Millisecond, "%s %q: four times the text, quadratic is sixteen times the time", p.Name, piece)
		}
	}
}

func FuzzCompress(f *testing.F) {
	f.Add("a\na\na\nerror\n\x1b[0m1%\r2%\rb", "c", uint8(2), uint8(2), uint16(4))
	f.Fuzz(func(t *testing.T, text, handle string, head, tail uint8, minimum uint16) {
		if !utf8.ValidString(text) || strings.Contains(handle, "\n") {
			t.Skip()
		}
		for _, p := range Profiles() {
			p.Head, p.Tail, p.Min = int(head), int(tail), int(minimum)
			for _, kind := range []Kind{Source, Search, Log, Other} {
				checkPromises(t, p, kind, text, handle)
				p.Apply(kind, text, handle)
			}
		}
	})
}
