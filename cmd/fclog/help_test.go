package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exampleLine is one line of the Examples of a help text.
var exampleLine = regexp.MustCompile(`(?m)^  (\S.*?)(?: {3,}.*)?$`)

// examplesOf are the command lines that the help of a command shows.
func examplesOf(t *testing.T, help string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(help, "\nExamples:\n")
	require.True(t, ok, "no examples in\n%s", help)
	block, _, _ := strings.Cut(rest, "\n\n")
	var out []string
	for _, m := range exampleLine.FindAllStringSubmatch(block, -1) {
		out = append(out, m[1])
	}
	return out
}

// commandNames are all commands, as the man pages list them.
func commandNames(t *testing.T) []string {
	t.Helper()
	got := newHome(t).run("__man", filepath.Join(t.TempDir(), "man"))
	require.Equal(t, 0, got.code, got.stderr)
	var out []string
	for _, page := range strings.Fields(got.stdout) {
		name := strings.TrimSuffix(filepath.Base(page), ".1")
		out = append(out, strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(name, "fclog"), "-"), "-", " "))
	}
	require.Greater(t, len(out), 10)
	return out
}

// shell runs a command line of a document as a person would: with fclog on the path.
func (h home) shell(dir, line string) result {
	h.t.Helper()
	cmd := h.command(context.Background())
	sh := exec.Command("sh", "-c", line)
	sh.Dir = dir
	sh.Env = append(cmd.Env, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out, errOut bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &errOut
	if err := sh.Run(); sh.ProcessState == nil {
		require.NoError(h.t, err)
	}
	return result{sh.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// TestExamples runs the examples of every command: the first two on an empty machine,
// in an empty folder, the others where everything they name is there.
func TestExamples(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell")
	}
	for _, name := range commandNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			empty, full := newHome(t), newHome(t)
			got := empty.run(append(strings.Fields(name), "--help")...)
			require.Equal(t, 0, got.code, got.stderr)
			lines := examplesOf(t, got.stdout)
			require.GreaterOrEqual(t, len(lines), 2, "two examples that work on the bundled session")
			bare, furnished := t.TempDir(), furnish(t, full)
			for i, line := range lines {
				h, dir := empty, bare
				if i >= 2 {
					h, dir = full, furnished
				}
				got := h.shell(dir, line)
				assert.Equal(t, 0, got.code, "%s\n%s", line, got.stderr)
				assert.True(t, got.stdout != "" || strings.Contains(line, " -o ") || strings.Contains(line, " > "), "%s says nothing", line)
			}
		})
	}
}

// furnish gives a machine the logs, texts and folders that examples name, and returns
// the working folder. All of them are made of the bundled sessions and of testdata.
func furnish(t *testing.T, h home) string {
	t.Helper()
	dir := t.TempDir()
	put := func(from, to string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		copyFile(t, from, to)
	}
	codex := testdata("codex", "poll-0.104.jsonl")
	put(codex, filepath.Join(h.dir, ".codex", "sessions", "2026", "02", "24", "rollout.jsonl"))
	put(testdata("bad", "good.jsonl"), filepath.Join(h.dir, ".freecode", "rollout", "sessions", "s1", "events.jsonl"))
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, ".claude", "projects"), 0o755))
	put(testdata("bad", "good.jsonl"), filepath.Join(dir, "logs", "a.jsonl"))
	put(testdata("against", "codex.jsonl"), filepath.Join(dir, "session.jsonl"))
	put(testdata("against", "bodies.jsonl"), filepath.Join(dir, "bodies.jsonl"))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "runs"), os.DirFS(testdata("ab"))))
	put(testdata("ab", "eval-ab.json"), filepath.Join(h.dir, ".freecode", "eval-ab", "2026-03-14.json"))
	put(testdata("ab", "experiments.jsonl"), filepath.Join(dir, "evals", "experiments.jsonl"))
	texts := map[string]string{
		"old.md":   "Make independent calls in one response.\n",
		"new.md":   "Make independent calls in one response. Be brief.\n",
		"own.yaml": "variants:\n  - name: short\n    steps:\n      - use: cap\n        options: {max: 2000}\n",
	}
	for name, text := range texts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, line := range []string{
		"gzip -k session.jsonl",
		"fclog import --demo -o dataset",
		"fclog replay session.jsonl --format json -o replay.json",
	} {
		got := h.shell(dir, line)
		require.Equal(t, 0, got.code, "%s\n%s", line, got.stderr)
	}
	return dir
}

func TestManPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man")
	got := newHome(t).run("__man", dir)
	require.Equal(t, 0, got.code, got.stderr)
	page, err := os.ReadFile(filepath.Join(dir, "fclog-audit.1"))
	require.NoError(t, err)
	for _, part := range []string{".TH FCLOG-AUDIT 1", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", `\-\-since`, ".SH EXAMPLES", "fclog audit \\-\\-demo", ".SH SEE ALSO"} {
		assert.Contains(t, string(page), part)
	}
	if _, err := exec.LookPath("man"); err == nil {
		checkPages(t, dir)
	}
}

// checkPages has man itself say what is wrong with the pages.
func checkPages(t *testing.T, dir string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	require.NoError(t, err)
	for _, page := range pages {
		cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANROFFSEQ=")
		var warnings bytes.Buffer
		cmd.Stderr = &warnings
		require.NoError(t, cmd.Run(), page)
		assert.Empty(t, warnings.String(), page)
	}
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := newHome(t).run("completion", shell)
		require.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, got.stdout, "fclog", shell)
		if path, err := exec.LookPath(shell); err == nil && shell != "powershell" {
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(got.stdout)
			out, err := check.CombinedOutput()
			assert.NoError(t, err, "%s: %s", shell, out)
		}
	}
}

func TestMistyped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sessions"), 0o755))
	copyFile(t, testdata("bad", "good.jsonl"), filepath.Join(dir, "sessions", "good.jsonl"))
	for line, hint := range map[string]string{
		"fclog adit":                                 `did you mean "audit"?`,
		"fclog adit --demo":                          `did you mean "audit"?`,
		"fclog help adit":                            `did you mean "audit"?`,
		"fclog audit --fromat json":                  `did you mean "--format"?`,
		"fclog audit --demo --format jsn":            `did you mean "json"?`,
		"fclog audit --agent cladue-code":            `did you mean "claude-code"?`,
		"fclog replay --demo --variant maks":         `did you mean "mask"?`,
		"fclog replay --demo --variant mask:keeep=3": `did you mean "keep"?`,
		"fclog variants compres":                     `did you mean "compress"?`,
		"fclog query --demo --name cache-break":      `did you mean "cache-breaks"?`,
		"fclog prompts agent laen":                   `did you mean "lean"?`,
		"fclog audit sesions/good.jsonl":             "did you mean sessions/good.jsonl?",
		"fclog query session 'SELECT 1'":             "did you mean sessions?",
		"fclog sessions sessions/god.jsonl":          "did you mean sessions/good.jsonl?",
		"fclog compare sessions sesions":             "did you mean sessions?",
		"fclog verify sesions":                       "did you mean sessions?",
		"fclog formats codx":                         `did you mean "codex"?`,
		"fclog completion bsh":                       `did you mean "bash"?`,
	} {
		got := h.shell(dir, line)
		assert.NotEqual(t, 0, got.code, line)
		assert.Contains(t, got.stderr, hint, line)
	}
	got := h.shell(dir, "fclog audit --zzz")
	assert.NotContains(t, got.stderr, "did you mean")
}

func TestEmptyMachine(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"audit", "payload", "sessions", "replay"} {
		got := newHome(t).run(command)
		assert.Equal(t, 3, got.code, command)
		for _, part := range []string{"no session log found on this machine", ".codex", "name a log file or folder", "fclog audit --demo"} {
			assert.Contains(t, got.stderr, part, command)
		}
	}
}
