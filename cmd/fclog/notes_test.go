package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/term/termtest"
)

// foreign is a record of a format that fclog does not know.
const foreign = `{"event":"x","payload":1}` + "\n" + `{"event":"y","payload":2}` + "\n"

// mixed is a folder with a log, three files of something else and a damaged log.
func mixed(t *testing.T, h home) string {
	dir := filepath.Join(h.dir, "logs")
	require.NoError(t, os.Mkdir(dir, 0o755))
	copyFile(t, testdata("bad", "good.jsonl"), filepath.Join(dir, "good.jsonl"))
	for i := range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("other-%d.jsonl", i)), []byte(foreign), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty.jsonl"), nil, 0o644))
	return dir
}

func TestForeignFilesAreOneLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := mixed(t, h)
	got := h.run("import", dir, "-o", filepath.Join(h.dir, "dataset"))
	require.Equal(t, 0, got.code)
	assert.Contains(t, got.stderr, "fclog: 3 files skipped: not session logs (--debug lists them)\n")
	assert.Contains(t, got.stderr, "empty.jsonl was skipped")
	assert.Equal(t, 2, strings.Count(got.stderr, "\n"), got.stderr)

	got = h.run("query", dir, "SELECT count(*) AS n FROM sessions", "--format", "csv")
	assert.Equal(t, "n\n1\n", got.stdout)
	assert.Equal(t, 2, strings.Count(got.stderr, "skipped"), got.stderr)

	var a struct {
		Problems []struct {
			File, Kind, Detail string
			Count              int
		}
	}
	got = h.run("audit", dir, "--format", "json")
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
	require.Len(t, a.Problems, 2)
	assert.Equal(t, filepath.Join(dir, "empty.jsonl"), a.Problems[0].File)
	assert.Equal(t, dir, a.Problems[1].File)
	assert.Equal(t, 3, a.Problems[1].Count)
	assert.Empty(t, got.stderr)

	got = h.run("audit", dir, "--debug")
	require.Equal(t, 0, got.code)
	for i := range 3 {
		assert.Contains(t, got.stderr, fmt.Sprintf("other-%d.jsonl was skipped: unknown log format", i))
	}
}

func TestDebugShowsWhatIsBehindAnError(t *testing.T) {
	t.Parallel()
	got := newHome(t).run("audit", "no-such-file", "--debug")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "syscall.Errno: ")
	assert.Equal(t, 1, strings.Count(newHome(t).run("audit", "no-such-file").stderr, "\n"))
}

// good.jsonl has 2,100 input tokens of which 896 come from the cache, and 35 out.
func TestFreeCodePriceFile(t *testing.T) {
	t.Parallel()
	const prices = `{"minimax/MiniMax-M3": {"input": 100, "cacheRead": 10, "output": 1000}}`
	const want = ((2100-896)*100 + 896*10 + 35*1000) / 1e6
	cost := func(got result) (usd float64, file string) {
		require.Equal(t, 0, got.code, got.stderr)
		var a struct {
			Totals struct {
				Cost *float64 `json:"cost_usd"`
			}
			Basis []struct {
				Provider, File *string
				PriceFile      *string `json:"price_file"`
			} `json:"cost_basis"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
		require.NotNil(t, a.Totals.Cost)
		require.Len(t, a.Basis, 1)
		if a.Basis[0].PriceFile != nil {
			file = *a.Basis[0].PriceFile
		}
		return *a.Totals.Cost, file
	}
	h := newHome(t)
	args := []string{"audit", testdata("bad", "good.jsonl"), "--format", "json"}
	listed, file := cost(h.run(args...))
	assert.Empty(t, file)

	own := filepath.Join(h.dir, ".freecode", "pricing.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(own), 0o755))
	require.NoError(t, os.WriteFile(own, []byte(prices), 0o644))
	usd, file := cost(h.run(args...))
	assert.InDelta(t, want, usd, 1e-9)
	assert.Equal(t, own, file)
	assert.Contains(t, strings.Join(strings.Fields(h.run("audit", args[1], "--width", "160").stdout), " "), "prices from "+own)

	// A file named by the user stands in its place.
	other := filepath.Join(h.dir, "other.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"x/y": {"input": 1, "output": 1}}`), 0o644))
	usd, file = cost(h.run(append(args, "--prices", other)...))
	assert.InDelta(t, listed, usd, 1e-9)
	assert.Empty(t, file)

	// A broken one is told and left out.
	require.NoError(t, os.WriteFile(own, []byte("not JSON"), 0o644))
	got := h.run(args...)
	usd, _ = cost(got)
	assert.InDelta(t, listed, usd, 1e-9)
	assert.Contains(t, got.stderr, "FreeCode's price file is not used")
}

func TestHintOnManyParts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := filepath.Join(h.dir, "data[set]")
	require.Equal(t, 0, h.run("import", testdata("bad", "good.jsonl"), "-o", dir).code)
	parts, err := filepath.Glob(filepath.Join(h.dir, "data*", "sessions", "source=freecode", "*", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	got := h.run("audit", dir)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Empty(t, got.stderr)
	for i := range 300 { // of the same session, which counts once
		copyFile(t, parts[0], filepath.Join(filepath.Dir(parts[0]), fmt.Sprintf("copy-%d.parquet", i)))
	}
	got = h.run("query", dir, "SELECT count(*) AS n FROM sessions", "--format", "csv")
	assert.Equal(t, "n\n1\n", got.stdout, got.stderr)
	assert.Contains(t, got.stderr, "unmerged parts: 'fclog import --compact "+dir+"' makes it faster")

	got = h.run("import", "--compact", dir)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "compacted")
}

// TestHostileFileNames: whatever a file is called, no message moves the cursor
// or looks like another message.
func TestHostileFileNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("such names do not exist there")
	}
	for i, name := range hostileNames() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			checkHostileName(t, name, i == 0)
		})
	}
}

// checkHostileName runs every command that says something of files; audits, which
// take longest, where whole is set.
func checkHostileName(t *testing.T, name string, whole bool) {
	t.Helper()
	h := newHome(t)
	dir := filepath.Join(h.dir, "dir "+name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("the file system does not take such names: %v", err)
	}
	log, broken := filepath.Join(dir, "log "+name+".jsonl"), filepath.Join(dir, "empty "+name+".jsonl")
	copyFile(t, testdata("bad", "good.jsonl"), log)
	require.NoError(t, os.WriteFile(broken, nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x "+name+".jsonl"), []byte(foreign), 0o644))
	home := filepath.Join(h.dir, ".codex", "sessions")
	require.NoError(t, os.MkdirAll(home, 0o755))
	copyFile(t, testdata("codex", "poll-0.104.jsonl"), filepath.Join(home, "new "+name+".jsonl"))
	data := filepath.Join(h.dir, "data "+name)
	lines := [][]string{
		{"payload"}, {"audit", broken, "--debug"}, {"audit", filepath.Join(dir, "gone")}, {"sessions", dir},
		{"import", dir, "-o", data, "--debug"}, {"import", "--compact", data}, {"query", data, "SELECT '" + name}, {name}, {"audit", "--" + name},
	}
	if whole {
		lines = append(lines, []string{"audit", dir, "--debug"}, []string{"audit"})
	}
	for _, args := range lines {
		got := h.run(args...)
		termtest.CheckTerminal(t, got.stdout, 1<<20, false)
		termtest.CheckTerminal(t, got.stderr, 1<<20, false)
		for n, line := range strings.Split(strings.TrimSuffix(got.stderr, "\n"), "\n") {
			if n > 0 && got.stderr != "" {
				assert.Regexp(t, `^(fclog: .* was skipped|fclog: \d+ files? |  )`, line, "%q", args)
			}
		}
	}
}

// hostileNames packs the hostile texts that fit into file names.
func hostileNames() []string {
	names := []string{""}
	for _, text := range termtest.Hostile() {
		text = strings.NewReplacer("/", "-", "\x00", "0").Replace(text)
		last := &names[len(names)-1]
		switch {
		case len(text) > 200:
		case len(*last)+len(text) > 200:
			names = append(names, text)
		default:
			*last += text
		}
	}
	return names
}
