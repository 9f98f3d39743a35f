package main_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/term/termtest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fclog-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "fclog")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building fclog: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// result is what one command line did.
type result struct {
	code           int
	stdout, stderr string
}

// home is a machine of its own for one test: home and temporary folder.
type home struct {
	t    *testing.T
	dir  string
	temp string
}

func newHome(t *testing.T) home {
	h := home{t: t, dir: t.TempDir(), temp: t.TempDir()}
	t.Cleanup(func() {
		left, err := os.ReadDir(h.temp)
		require.NoError(t, err)
		assert.Empty(t, left, "a command left temporary files behind")
	})
	return h
}

func (h home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = []string{"HOME=" + h.dir, "USERPROFILE=" + h.dir, "TMPDIR=" + h.temp, "TMP=" + h.temp, "TEMP=" + h.temp, "PATH=" + os.Getenv("PATH")}
	return cmd
}

func (h home) run(args ...string) result { return h.feed("", args...) }

func (h home) feed(stdin string, args ...string) result {
	h.t.Helper()
	var out, errOut bytes.Buffer
	cmd := h.command(context.Background(), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	if err := cmd.Run(); cmd.ProcessState == nil {
		require.NoError(h.t, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func testdata(parts ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata"}, parts...)...)
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	good, codex := testdata("bad", "good.jsonl"), testdata("codex", "poll-0.104.jsonl")
	empty := t.TempDir()
	for _, c := range []struct {
		args   string // PATH stands for good.jsonl, CODEX for a Codex log, EMPTY for an empty folder, NONE for no text
		code   int
		stdout string // parts that must be there, ' & ' between them
		stderr string
	}{
		{"", 0, "Usage: & audit & Examples:", ""},
		{"--help", 0, "Usage:", ""},
		{"--version", 0, "fclog & " + runtime.Version(), ""},
		{"audit --help", 0, "--since & --format & --demo & --top", ""},
		{"completion bash", 0, "bash completion", ""},
		{"completion zsh", 0, "compdef", ""},
		{"__complete audit --format ", 0, "term & md & json", ""},
		{"__complete query --name cache", 0, "cache-breaks", ""},

		{"nonsense", 2, "", `fclog: unknown command "nonsense"; see 'fclog --help'`},
		{"version", 2, "", `fclog: unknown command "version", did you mean --version?`},
		{"aduit", 2, "", `did you mean "audit"?`},
		{"audit --nonsense", 2, "", "fclog: unknown flag: --nonsense; see 'fclog audit --help'"},
		{"audit --format pdf PATH", 2, "", "not one of term, md, json, html"},
		{"audit --since yesterday PATH", 2, "", "--since"},
		{"audit --tz Mars/Olympus PATH", 2, "", "--tz"},
		{"audit --last -1 PATH", 2, "", "--last"},
		{"audit --agent emacs PATH", 2, "", "not one of freecode, codex, claude-code"},
		{"audit --top 0 PATH", 2, "", "--top"},
		{"audit --width -5 PATH", 2, "", "--width"},
		{"audit --compact PATH", 2, "", "--compact"},
		{"audit --demo PATH", 2, "", "--demo"},
		{"audit --last 0 PATH", 2, "", "--last 0 must be 1 or more"},
		{"audit --width 0 PATH", 2, "", "--width 0 must be 1 or more"},
		{"sessions --last 0", 2, "", "--last 0 must be 1 or more"},
		{"payload PATH --request 0", 2, "", "--request 0 must be 1 or more"},
		{"query PATH --name sessions --limit 0", 2, "", "--limit 0 must be 1 or more"},
		{"query --list --width 0", 2, "", "--width 0 must be 1 or more"},
		{"audit NONE", 2, "", "argument 1, PATH, is empty & 'fclog audit --help'"},
		{"audit PATH NONE", 2, "", "argument 2, PATH, is empty"},
		{"import NONE -o x", 2, "", "argument 1, PATH, is empty"},
		{"query NONE --name sessions", 2, "", "argument 1, DATASET, is empty"},
		{"query PATH NONE", 2, "", "argument 2, SQL, is empty"},
		{"compare PATH NONE", 2, "", "argument 2, CANDIDATE, is empty"},
		{"replay NONE", 2, "", "argument 1, PATH, is empty"},
		{"audit PATH -o NONE", 2, "", "-o names nothing"},
		{"import", 2, "", "fclog: 0 arguments given; it is 'fclog import PATH… -o DATASET'"},
		{"import PATH", 2, "", "-o DATASET is missing"},
		{"query", 2, "", "DATASET is missing"},
		{"query PATH", 2, "", "what to ask is missing"},
		{"query PATH --name nonsense", 2, "", "not one of"},
		{"query PATH --format parquet --name sessions", 2, "", "needs -o FILE"},
		{"query PATH DROP", 2, "", "only one SELECT"},
		{"payload PATH --request -2", 2, "", "--request"},

		{"audit no-such-file", 1, "", "no-such-file & no such file"},
		{"audit EMPTY", 3, "", "no session log found"},
		{"audit", 3, "", "no session log found on this machine & name a log file or folder"},
		{"sessions", 3, "", "no session log found on this machine"},
		{"audit PATH --model none-such", 3, "", "no session matches the selection"},
		{"payload PATH --request 99", 3, "", "no such request"},
		{"audit ../../testdata/bad/empty.jsonl", 3, "", "empty.jsonl"},
		{"audit ../../testdata/bad/binary.jsonl", 3, "", "binary.jsonl"},
		{"audit ../../testdata/bad/unknown.jsonl", 3, "", "unknown.jsonl"},
		{"audit ../../testdata/bad/lfs-pointer.jsonl", 3, "", "Git LFS"},

		{"audit PATH", 0, "1 session & 2 requests & 2,100 & Where the tokens went", ""},
		{"audit PATH --format md", 0, "# fclog audit & | input | 2,100 |", ""},
		{"audit PATH --format json --compact", 0, `"schema_version":1 & "input_tokens":2100`, ""},
		{"audit ../../testdata/bad/cut-last-line.jsonl --width 160", 0, "cut-line & cut-last-line.jsonl:7", ""},
		{"audit --demo", 0, "freecode & MiniMax-M3 & bundled session & Cache breaks & Growth", ""},
		{"audit CODEX --tz Europe/Vienna", 0, "2026-02-24 16:00", ""}, // 15:00 UTC
		{"payload PATH", 0, "request & counted & unlogged", ""},
		{"payload PATH --request 2", 0, "Request 2 of session & kind", ""},
		{"sessions ../../testdata/bad/good.jsonl", 0, "freecode & good.jsonl", ""},
		{"query --list", 0, "cache-breaks & composition", ""},
		{"query PATH --name sessions", 0, "session_id & freecode", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, a := range strings.Split(c.args, " ") {
				if c.args != "" {
					args = append(args, strings.NewReplacer("PATH", good, "EMPTY", empty, "CODEX", codex, "NONE", "").Replace(a))
				}
			}
			got := newHome(t).run(args...)
			assert.Equal(t, c.code, got.code, "stderr: %s", got.stderr)
			for _, part := range strings.Split(c.stdout, " & ") {
				assert.Contains(t, got.stdout, part)
			}
			for _, part := range strings.Split(c.stderr, " & ") {
				assert.Contains(t, got.stderr, part)
			}
			if c.code != 0 {
				assert.Empty(t, got.stdout)
				assert.True(t, strings.HasPrefix(got.stderr, "fclog: "), got.stderr)
			}
		})
	}
}

func TestInputFromPipe(t *testing.T) {
	t.Parallel()
	log, err := os.ReadFile(testdata("bad", "good.jsonl"))
	require.NoError(t, err)
	got := newHome(t).feed(string(log), "audit", "-", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, `"file": "standard input"`)
	assert.NotContains(t, got.stdout, "fclog-", "no temporary path gets out")

	got = newHome(t).feed("", "audit", "-")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "standard input")
	assert.NotContains(t, got.stderr, "fclog-", "no temporary path gets out")
}

func TestNewestSessionOfTheMachine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	old, fresh := filepath.Join(h.dir, ".codex", "sessions", "old.jsonl"), filepath.Join(h.dir, ".codex", "sessions", "2026", "new.jsonl")
	for path, age := range map[string]time.Duration{old: 48 * time.Hour, fresh: time.Hour} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		copyFile(t, testdata("codex", "poll-0.104.jsonl"), path)
		require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(-age)))
	}
	got := h.run("audit", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "newest session on this machine: "+fresh)
	assert.Contains(t, got.stdout, "new.jsonl")

	got = h.run("sessions", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var found []struct{ File, Source string }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &found))
	require.Len(t, found, 2)
	assert.Equal(t, fresh, found[0].File)
	got = h.run("sessions", "--since", "1d")
	assert.NotContains(t, got.stdout, "old.jsonl")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o644))
}

func TestImportQueryAndAuditAgree(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dataset := filepath.Join(h.dir, "dataset")
	got := h.run("import", testdata("bad", "good.jsonl"), "-o", dataset)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "1 file imported")
	got = h.run("import", testdata("bad", "good.jsonl"), "-o", dataset, "--compact")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "0 files imported")

	const sum = "SELECT count(*) AS n, sum(input_tokens) AS input, max(model) AS model FROM requests"
	got = h.run("query", dataset, sum, "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	assert.JSONEq(t, `[{"n":2,"input":2100,"model":"MiniMax-M3"}]`, got.stdout)
	got = h.run("query", dataset, sum, "--format", "csv")
	assert.Equal(t, "n,input,model\n2,2100,MiniMax-M3\n", got.stdout)
	got = h.run("query", dataset, sum)
	assert.Contains(t, got.stdout, "2,100")

	assert.Contains(t, h.run("audit", dataset, "--format", "json", "--compact").stdout, `"input_tokens":2100`)
	assert.Equal(t, 1, h.run("audit", dataset, testdata("bad", "good.jsonl")).code, "a dataset stands alone")
	kept := filepath.Join(h.dir, "kept")
	require.Equal(t, 0, h.run("audit", testdata("bad", "good.jsonl"), "--dataset", kept).code)
	assert.FileExists(t, filepath.Join(kept, "fclog-dataset.json"))
}

func TestQueryRefusesWhatDoesNotOnlyRead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, sql := range []string{"DELETE FROM requests", "COPY requests TO '/tmp/x'", "SELECT 1; SELECT 2", "SET threads = 1"} {
		got := h.run("query", testdata("bad", "good.jsonl"), sql)
		assert.Equal(t, 2, got.code, sql)
		assert.Contains(t, got.stderr, "only one SELECT", sql)
	}
	got := h.run("query", testdata("bad", "good.jsonl"), "SELECT * FROM read_text('/etc/hostname')")
	assert.Equal(t, 1, got.code)
}

// TestCSVFormulas has DuckDB return text as a spreadsheet would run it.
func TestCSVFormulas(t *testing.T) {
	t.Parallel()
	sql := `SELECT '=1+1' AS a, '+x' AS b, '-x' AS c, '@x' AS d, -5 AS e, 'plain, "quoted"' AS f, NULL AS g, 2.5::DOUBLE AS h, [1, 2] AS i`
	got := newHome(t).run("query", testdata("bad", "good.jsonl"), sql, "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	records, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, [][]string{
		{"a", "b", "c", "d", "e", "f", "g", "h", "i"},
		{"'=1+1", "'+x", "'-x", "'@x", "-5", `plain, "quoted"`, "", "2.5", "[1,2]"},
	}, records)
}

// TestParquetOutput reads what was written back through another dataset's query.
func TestParquetOutput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "out.parquet")
	sql := `SELECT 1::BIGINT AS z, 'x' AS a, NULL::BIGINT AS n, 1.5::DOUBLE AS d, true AS b, TIMESTAMP '2026-03-14 09:26:53' AS t, sum(input_tokens) AS s FROM requests`
	got := h.run("query", testdata("bad", "good.jsonl"), sql, "--format", "parquet", "-o", file)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, []string{"z=1 a=x n=<nil> d=1.5 b=true t=2026-03-14T09:26:53Z s=2100"}, readParquet(t, file))
}

func TestOutputFileIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	out := filepath.Join(h.dir, "report.md")
	require.NoError(t, os.WriteFile(out, []byte("old"), 0o644))
	got := h.run("query", testdata("bad", "good.jsonl"), "SELECT error('boom') FROM requests", "--format", "csv", "-o", out)
	assert.Equal(t, 1, got.code)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))
	entries, err := os.ReadDir(h.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing half-written beside it")

	got = h.run("audit", testdata("bad", "good.jsonl"), "--format", "md", "-o", out)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Empty(t, got.stdout)
	data, err = os.ReadFile(out)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(data), "# fclog audit"))
	assert.Equal(t, 1, h.run("audit", testdata("bad", "good.jsonl"), "-o", filepath.Join(h.dir, "no", "folder")).code)
}

func TestReportFitsItsWidth(t *testing.T) {
	t.Parallel()
	got := newHome(t).run("audit", "--demo", "--width", "100") // every width: internal/report
	require.Equal(t, 0, got.code, got.stderr)
	termtest.CheckTerminal(t, got.stdout, 100, false)
}

// TestHostileLog runs the main job over a log in which every name and command is
// an attack.
func TestHostileLog(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log := filepath.Join(h.dir, "hostile.jsonl")
	require.NoError(t, os.WriteFile(log, hostileLog(t), 0o644))
	for _, args := range [][]string{{"audit", log}, {"payload", log}, {"payload", log, "--request", "3"}, {"query", log, "SELECT tool, args FROM calls"}} {
		got := h.run(append(args, "--width", "80")...)
		require.Equal(t, 0, got.code, got.stderr)
		termtest.CheckTerminal(t, got.stdout, 80, false)
	}
	for _, args := range [][]string{{"audit", log, "--format", "md"}, {"audit", log, "--format", "json"}, {"query", log, "SELECT tool, args FROM calls", "--format", "json"}} {
		got := h.run(args...)
		require.Equal(t, 0, got.code, got.stderr)
		termtest.CheckTerminal(t, got.stdout, 1<<30, false)
		if args[len(args)-1] == "json" {
			assert.True(t, json.Valid([]byte(got.stdout)))
		}
	}
}

// hostileLog is a Codex session with other names, commands and outputs.
func hostileLog(t *testing.T) []byte {
	t.Helper()
	log, err := os.ReadFile(testdata("codex", "compaction-0.118.jsonl"))
	require.NoError(t, err)
	texts := termtest.Hostile()
	var out bytes.Buffer
	for i, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
		var record map[string]any
		require.NoError(t, json.Unmarshal(line, &record))
		payload, text := record["payload"].(map[string]any), texts[i%len(texts)]
		switch payload["type"] {
		case "function_call":
			args, err := json.Marshal(map[string]string{"cmd": text})
			require.NoError(t, err)
			payload["name"], payload["arguments"] = "x"+text, string(args)
		case "function_call_output":
			payload["output"] = text
		}
		if record["type"] == "turn_context" {
			payload["model"], payload["cwd"] = "m"+text, text
		}
		encoded, err := json.Marshal(record)
		require.NoError(t, err)
		out.Write(append(encoded, '\n'))
	}
	return out.Bytes()
}

// TestInterrupt stops a command that waits for input.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt signal for other processes")
	}
	h := newHome(t)
	cmd := h.command(context.Background(), "audit", "-")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		left, err := os.ReadDir(h.temp)
		return err == nil && len(left) > 0
	}, 10*time.Second, 10*time.Millisecond, "it has begun")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
		assert.Equal(t, 1, cmd.ProcessState.ExitCode())
		assert.Contains(t, errOut.String(), "stopped")
	case <-time.After(10 * time.Second):
		require.NoError(t, cmd.Process.Kill())
		t.Fatal("an interrupt does not stop it")
	}
}

// TestClosedPipe ends the reader before the first byte is written, as head does.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.command(context.Background(), "query", testdata("bad", "good.jsonl"), "SELECT range, 'some text' FROM range(1000000)", "--format", "csv")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	require.NoError(t, out.Close())
	require.NoError(t, cmd.Wait())
	assert.Empty(t, errOut.String())
}

// TestKnownTotals runs the main job over real logs; the totals are those counted
// independently when the logs were collected.
func TestKnownTotals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file                                 []string
		requests, input, read, write, output float64 // write -1: not in the log
	}{
		{[]string{"codex", "moonmind-1112.jsonl"}, 102, 3633593, 3248000, -1, 45096},
		{[]string{"codex", "chromeext-0224-0011.jsonl"}, 92, 7386119, 6953600, -1, 41196},
		{[]string{"claude", "cb-poll-2.1.44.jsonl"}, 133, 12529823, 12239758, 289894, 26507},
		{[]string{"claude", "vct-1.0.95.jsonl"}, 31, 1192671, 1093509, 99004, 3860},
		{[]string{"claude", "swe-briefcase-2.0.0.jsonl"}, 69, 2979907, 2832710, 145607, 7034},
	} {
		t.Run(filepath.Join(c.file...), func(t *testing.T) {
			t.Parallel()
			got := newHome(t).run("audit", devdata.Dir(t, c.file...), "--format", "json")
			require.Equal(t, 0, got.code, got.stderr)
			var a struct{ Totals map[string]any }
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
			assert.Equal(t, c.requests, a.Totals["requests"])
			assert.Equal(t, c.input, a.Totals["input_tokens"])
			assert.Equal(t, c.read, a.Totals["cache_read_tokens"])
			assert.Equal(t, c.output, a.Totals["output_tokens"])
			if c.write >= 0 {
				assert.Equal(t, c.write, a.Totals["cache_write_tokens"])
			} else {
				assert.Nil(t, a.Totals["cache_write_tokens"])
			}
		})
	}
}
