package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateDocs = flag.Bool("update-docs", false, "put the current output into the console blocks of README.md and docs")

// Command blocks of a page are run in order, in one folder:
//
//   - sh blocks, line by line; every line must succeed;
//   - console blocks, whose lines with a $ in front are commands and all others the output,
//     where a line of … stands for any lines;
//   - file blocks, after a comment "file: NAME", are written to that file first.
//
// A block after a comment "not run: REASON" is left alone.
var fence = regexp.MustCompile("(?ms)^(?:<!-- (not run|file): ([^\n]*?) -->\n)?```([a-z]*)\n(.*?)^```$")

// elsewhere are words of the pages that stand for something of the reader's, and what
// they are here.
var elsewhere = strings.NewReplacer("go run ./cmd/fclog ", "fclog ", "bin/fclog ", "fclog ", "SESSION", "session.jsonl", "BODIES", "bodies.jsonl")

func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	require.NoError(t, err)
	return append(found, filepath.Join("..", "..", "README.md"))
}

func TestCommandBlocks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the pages are for a POSIX shell")
	}
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(page)
			require.NoError(t, err)
			if !strings.Contains(string(data), "```") {
				return
			}
			h := newHome(t)
			dir := furnish(t, h)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "dataset")))
			got := fence.ReplaceAllStringFunc(string(data), func(block string) string { return runBlock(t, h, dir, block) })
			if *updateDocs && got != string(data) {
				require.NoError(t, os.WriteFile(page, []byte(got), 0o644))
			}
		})
	}
}

// runBlock runs a block and returns it with the output of today.
func runBlock(t *testing.T, h home, dir, block string) string {
	m := fence.FindStringSubmatch(block)
	mark, note, kind, body := m[1], m[2], m[3], m[4]
	switch {
	case mark == "file":
		require.NoError(t, os.WriteFile(filepath.Join(dir, note), []byte(body), 0o755))
	case mark == "not run":
		require.NotEmpty(t, note, "a reason")
	case kind == "sh" || kind == "bash":
		for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
			got := h.shell(dir, elsewhere.Replace(line))
			assert.Equal(t, 0, got.code, "%s\n%s", line, got.stderr)
		}
	case kind == "console":
		return strings.Replace(block, body, runConsole(t, h, dir, body), 1)
	}
	return block
}

// runConsole runs the commands of a console block and returns it with their output.
func runConsole(t *testing.T, h home, dir, body string) string {
	var out strings.Builder
	for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		got := h.shell(dir, elsewhere.Replace(command))
		assert.Equal(t, 0, got.code, "%s\n%s", command, got.stderr)
		shown := trimLines(got.stdout)
		assert.True(t, *updateDocs || matches(trimLines(want), shown), "go test ./cmd/fclog -run CommandBlocks -update-docs\n$ %s\n%s", command, shown)
		if strings.Contains("\n"+want, "\n…") {
			shown = trimLines(want) // a cut output is brought up to date by hand
		}
		fmt.Fprintf(&out, "$ %s\n%s", command, shown)
	}
	return out.String()
}

// trimLines takes spaces off the ends of lines, and empty lines off the end.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	text = strings.TrimRight(strings.Join(lines, "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// matches tells whether an output is as shown, where a line of … stands for any lines.
func matches(want, got string) bool {
	var pattern strings.Builder
	for _, line := range strings.SplitAfter(want, "\n") {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString("(.*\n)*")
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(line))
	}
	return regexp.MustCompile("^" + pattern.String() + "$").MatchString(got)
}

func TestMatches(t *testing.T) {
	t.Parallel()
	assert.True(t, matches("a\nb\n", "a\nb\n"))
	assert.True(t, matches("a\n…\nc\n", "a\nb\nb\nc\n"))
	assert.True(t, matches("a\n…\n", "a\n"))
	assert.False(t, matches("a\n…\nc\n", "a\nb\n"))
	assert.False(t, matches("a.c\n", "abc\n"), "a dot is a dot")
	assert.False(t, matches("a\n", "a\nb\n"))
}

// TestIndexOfPages: docs/README.md leads to every page, and no link of a page is dead.
func TestIndexOfPages(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile(filepath.Join("..", "..", "docs", "README.md"))
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, page := range pages(t) {
		name := filepath.Base(page)
		if name != "README.md" {
			assert.Contains(t, string(index), "]("+name+")")
		}
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])) // a file or a folder
			assert.NoError(t, err, "%s: %s", name, m[0])
		}
	}
}

// TestEstimateIsTheSecondArm: the bundled A/B is scripted, so what replay makes of its
// first arm must be what the second arm recorded.
func TestEstimateIsTheSecondArm(t *testing.T) {
	t.Parallel()
	var replayed struct {
		Variants []struct {
			Input float64 `json:"input_tokens"`
			Read  float64 `json:"cache_read_tokens"`
		}
	}
	var compared struct {
		Candidate struct {
			Input float64 `json:"input_tokens"`
			Read  float64 `json:"cache_read_tokens"`
		}
	}
	for args, to := range map[string]any{"replay --demo --variant no-line-numbers --format json": &replayed, "compare --demo --format json": &compared} {
		got := newHome(t).run(strings.Fields(args)...)
		require.Equal(t, 0, got.code, got.stderr)
		require.NoError(t, json.Unmarshal([]byte(got.stdout), to))
	}
	require.Len(t, replayed.Variants, 1)
	assert.InDelta(t, compared.Candidate.Input, replayed.Variants[0].Input, 54, "a token a request")
	assert.InEpsilon(t, compared.Candidate.Read, replayed.Variants[0].Read, 0.02, "what is read from the cache is modelled")
}
