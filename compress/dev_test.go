package compress_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

// realResult is the result of a call in a real session, as the model first got it.
type realResult struct {
	agent string
	class rollout.ToolClass
	tool  string

	command, text string
}

// realResults reads the shell and read results of all real sessions.
func realResults(t *testing.T) []realResult {
	t.Helper()
	var out []realResult
	for _, folder := range []string{"codex", "claude", "freecode"} {
		files, _, err := formats.Expand(context.Background(), []string{devdata.Dir(t, folder)})
		require.NoError(t, err)
		for _, f := range files {
			sessions, err := f.Format.Read(context.Background(), f.Path)
			require.NoError(t, err)
			for _, s := range sessions {
				out = append(out, resultsOf(s)...)
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

func resultsOf(s *rollout.Session) []realResult {
	first := map[int]rollout.TextID{}
	for _, sp := range s.Spans {
		if _, ok := first[sp.Item]; !ok {
			first[sp.Item] = sp.Text
		}
	}
	var out []realResult
	for _, c := range s.Calls {
		id, ok := first[c.ResultItem]
		if !ok || c.Inherited || c.Class != rollout.ShellTool && c.Class != rollout.ReadTool {
			continue
		}
		out = append(out, realResult{s.Source, c.Class, c.Tool, c.Command, s.Texts[id].S})
	}
	return out
}

// TestPromisesOnRealOutputs holds both profiles against their promises on every
// real shell output, at their own thresholds and at ones that reach them all.
func TestPromisesOnRealOutputs(t *testing.T) {
	for _, r := range realResults(t) {
		if r.class != rollout.ShellTool {
			continue
		}
		for _, p := range compress.Profiles() {
			low := p
			low.Min, low.Head, low.Tail = 0, 4, 6
			for _, kind := range []compress.Kind{p.Classify(r.command), compress.Search, compress.Log} {
				checkReal(t, p, kind, r.text)
				checkReal(t, low, kind, r.text)
			}
		}
	}
}

var failure = regexp.MustCompile(`(^|\W)([Ee][Rr][Rr][Oo][Rr]|[Ff][Aa][Ii][Ll]([Ee][Dd]|[Uu][Rr][Ee])?|[Ff][Aa][Tt][Aa][Ll]|[Ee][Xx][Cc][Ee][Pp][Tt][Ii][Oo][Nn]|[Tt][Rr][Aa][Cc][Ee][Bb][Aa][Cc][Kk]|[Pp][Aa][Nn][Ii][Cc]|[Nn][Oo][Tt] [Oo][Kk])(\W|$)|(^|\W)[Ee][Rr][Rr]!|✗|✖`)

// escapeCodes are what terminals do not show; a careful log loses them.
var escapeCodes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

func checkReal(t *testing.T, p compress.Profile, kind compress.Kind, text string) {
	out, changed, lossy := p.Compress(kind, text, "call_1")
	if !changed {
		require.Equal(t, text, out)
		return
	}
	require.NotContains(t, []compress.Kind{compress.Source, compress.Other}, kind)
	require.Less(t, len(out), len(text)+100)
	have := map[string]bool{}
	for _, line := range strings.Split(out, "\n") {
		have[escapeCodes.ReplaceAllString(line, "")] = true
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(strings.TrimSuffix(line, "\r"), "\r") {
			continue // overwritten parts may go
		}
		plain := escapeCodes.ReplaceAllString(line, "")
		if kind == compress.Search || failure.MatchString(plain) {
			require.True(t, have[plain], "a line is lost (%s, %s)", p.Name, kind)
		}
	}
	require.Equal(t, lossy, strings.Count(out, " lines omitted ") > strings.Count(text, " lines omitted "))
	if p.Name == "careful" {
		again, _, _ := p.Compress(kind, out, "call_1")
		require.Equal(t, out, again)
	}
}

// prefixes are the forms of the read tools and of nl and cat -n, for a second look
// that knows nothing of the package.
var prefixes = regexp.MustCompile(`^ {0,5}(\d+)(?:→|\t|: |\| )`)

// TestLineNumbersOnRealResults counts the numbered lines of every real result in
// another way: all lines of the first prefix form that follow each other.
func TestLineNumbersOnRealResults(t *testing.T) {
	found, missed, lines := map[string]int{}, map[string]int{}, 0
	for _, r := range realResults(t) {
		stripped, n, ok := compress.LineNumbers(r.text)
		key := r.agent + " " + r.tool
		before, after := strings.Split(r.text, "\n"), strings.Split(stripped, "\n")
		require.Equal(t, len(before), len(after))
		consecutive, cut, last := 0, 0, -2
		for i, line := range before {
			m := prefixes.FindStringSubmatch(line)
			if line != after[i] {
				cut++
				require.NotNil(t, m, "no number was cut")
				require.Equal(t, line[len(m[0]):], after[i], "not the number alone was cut")
			}
			if m == nil {
				last = -2
				continue
			}
			number, _ := strconv.Atoi(m[1])
			if number == last+1 {
				consecutive++
			}
			last = number
		}
		require.Equal(t, n, cut)
		lines += n
		switch {
		case ok:
			found[key]++
		case consecutive >= 2:
			missed[key]++
		}
	}
	t.Logf("%d lines in results by tool: %v; numbered lines left alone in: %v", lines, found, missed)
	assert.NotEmpty(t, found)
}

// TestLogsOnRealOutputs counts the outputs of builds, tests and installs in the real
// sessions that the careful profile leaves alone for how they read. There are 8 of 53;
// by their beginnings, read by hand: three of stack traces with their source, two of
// markup that a failed test printed, two of the commands of a build, one of TAP with
// YAML. The 45 others were not read.
func TestLogsOnRealOutputs(t *testing.T) {
	p := compress.Careful()
	p.Min, p.Head, p.Tail = 0, 1, 1
	logs, spared := 0, 0
	for _, r := range realResults(t) {
		if r.class != rollout.ShellTool || len(r.text) < 600 || p.Classify(r.command) != compress.Log {
			continue
		}
		logs++
		if _, changed, _ := p.Compress(compress.Log, r.text, "c"); !changed {
			spared++
		}
	}
	t.Logf("%d of %d outputs of log commands are left alone", spared, logs)
	assert.LessOrEqual(t, 5*spared, logs, "at most a fifth")
}
