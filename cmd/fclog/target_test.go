package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// TestOutputSparesWhatIsRead: no command writes over what it reads, nor over any
// session log or part of a dataset, by whatever name it is called.
func TestOutputSparesWhatIsRead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	at := func(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }
	good := read(t, testdata("bad", "good.jsonl"))
	for _, name := range []string{"in.jsonl", "other.jsonl", "logs/a.jsonl", "logs/below/b.jsonl"} {
		mustWrite(t, at(name), good)
	}
	mustWrite(t, at("logs/cut.jsonl"), "{\"type\":")
	mustWrite(t, at("logs/result.json"), `{"task_name":"t","trial_name":"t__1","verifier_result":{"rewards":{"reward":1}}}`)
	mustWrite(t, at("prices.json"), `{}`)
	require.NoError(t, os.Symlink(at("in.jsonl"), at("link.jsonl")))
	require.NoError(t, os.Link(at("in.jsonl"), at("hard.jsonl")))
	require.NoError(t, os.Symlink(at("logs"), at("linked-logs")))
	mustWrite(t, at(".freecode/pricing.json"), `{}`)
	require.NoError(t, os.MkdirAll(at("claude"), 0o755))
	record := func(sidechain string) string {
		return `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"main","version":"2.1.0","cwd":"/p","isSidechain":` + sidechain +
			`,"timestamp":"2026-03-14T09:26:53.000Z","message":{"role":"user","content":"x"}}` + "\n"
	}
	mustWrite(t, at("claude/main.jsonl"), record("false"))
	mustWrite(t, at("claude/main/subagents/agent-1.jsonl"), record("true"))
	require.Equal(t, 0, h.run("import", at("in.jsonl"), "-o", at("ds")).code)
	parts, err := filepath.Glob(at("ds/sessions/source=freecode/month=*/*.parquet"))
	require.NoError(t, err)
	require.Len(t, parts, 1)

	before := contents(t, h.dir)
	for _, line := range []string{
		"audit in.jsonl -o in.jsonl",
		"audit in.jsonl -o link.jsonl",
		"audit in.jsonl -o hard.jsonl",
		"audit link.jsonl -o in.jsonl",
		"audit in.jsonl -o logs/../in.jsonl",
		"audit in.jsonl -o other.jsonl",
		"audit logs -o logs/a.jsonl",
		"audit logs -o linked-logs/below/b.jsonl",
		"audit logs -o logs/cut.jsonl",
		"audit claude/main.jsonl -o claude/main/subagents/agent-1.jsonl",
		"audit in.jsonl --prices prices.json -o prices.json",
		"audit in.jsonl -o .freecode/pricing.json",
		"audit ds -o PART",
		"audit in.jsonl -o ds/report.md",
		"audit ds -o ds/fclog-dataset.json",
		"audit in.jsonl --dataset new -o new/report.md",
		"audit in.jsonl --dataset ds/new",
		"audit in.jsonl -o logs",
		"payload in.jsonl -o in.jsonl",
		"sessions logs -o logs/a.jsonl",
		"query in.jsonl --name sessions -o in.jsonl",
		"query ds --name sessions --format csv -o PART",
		"query --list -o in.jsonl",
		"import in.jsonl -o in.jsonl",
		"import in.jsonl -o ds/sessions/new",
		"replay in.jsonl --variant compress -o in.jsonl",
		"replay in.jsonl --calibrate -o in.jsonl",
		"replay in.jsonl --variant compress --emit texts -o texts/index.json",
		"replay in.jsonl --variant compress --emit ds/texts",
		"replay in.jsonl --variant compress --rates prices.json -o prices.json",
		"compare logs claude -o logs/a.jsonl",
		"compare logs claude -o logs/result.json",
		"compare prices.json -o prices.json",
		"variants -o in.jsonl",
	} {
		t.Run(line, func(t *testing.T) {
			cmd := h.command(t.Context(), strings.Fields(strings.ReplaceAll(line, "PART", parts[0]))...)
			cmd.Dir = h.dir
			out, _ := cmd.CombinedOutput()
			assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", out)
			assert.Contains(t, string(out), "--help'")
			assert.Equal(t, before, contents(t, h.dir))
		})
	}
}

// contents are the files below a folder, with their content.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out[path] = read(t, path)
		}
		return err
	}))
	return out
}

// TestOutputBesideLogs: what is no log may be written again, also next to logs.
func TestOutputBesideLogs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs := filepath.Join(h.dir, "logs")
	mustWrite(t, filepath.Join(logs, "a.jsonl"), read(t, testdata("bad", "good.jsonl")))
	for range 2 {
		for _, args := range [][]string{
			{"audit", logs, "--format", "md", "-o", filepath.Join(logs, "report.md")},
			{"payload", logs, "--format", "json", "-o", filepath.Join(logs, "payload.jsonl")},
		} {
			got := h.run(args...)
			require.Equal(t, 0, got.code, got.stderr)
		}
	}
	assert.True(t, strings.HasPrefix(read(t, filepath.Join(logs, "report.md")), "# fclog audit"))
}
