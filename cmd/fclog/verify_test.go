package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := filepath.Join(h.dir, "ds")
	require.Equal(t, 0, h.run("import", testdata("codex"), "-o", dir).code)
	got := h.run("verify", dir)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "Sound: ")
	assert.Contains(t, got.stdout, "nothing is wrong")

	found, err := filepath.Glob(filepath.Join(dir, "items", "source=codex", "*", "*.parquet"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(found[0], 50))
	got = h.run("verify", dir)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "Not sound")
	assert.Contains(t, got.stderr, "is not sound")
	name, err := filepath.Rel(dir, found[0])
	require.NoError(t, err)
	var report struct {
		Sound    bool
		Findings []struct{ Check, Level, File, Do string }
	}
	got = h.run("verify", dir, "--format", "json")
	assert.Equal(t, 1, got.code)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.False(t, report.Sound)
	require.Len(t, report.Findings, 1, "what refers into the file is not reported too")
	assert.Equal(t, filepath.ToSlash(name), report.Findings[0].File)
	assert.Contains(t, report.Findings[0].Do, "import the log again")
	got = h.run("verify", dir, "--format", "md", "-o", filepath.Join(h.dir, "report.md"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, read(t, filepath.Join(h.dir, "report.md")), "# fclog verify")

	assert.Equal(t, 3, h.run("verify", h.dir).code)
	assert.Equal(t, 3, h.run("verify", filepath.Join(h.dir, "none")).code)
	assert.Equal(t, 2, h.run("verify").code)
	mustWrite(t, filepath.Join(dir, "fclog-dataset.json"), `{"schema_version":99,"text":true}`)
	got = h.run("verify", dir)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "schema version 99")
	for _, args := range [][]string{{"query", dir, "SELECT 1"}, {"audit", dir}, {"import", testdata("codex"), "-o", dir}, {"import", "--compact", dir}} {
		got = h.run(args...)
		assert.Equal(t, 1, got.code, args)
		assert.Contains(t, got.stderr, "schema version 99", args)
	}
}
