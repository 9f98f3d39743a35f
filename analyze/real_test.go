package analyze

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/codex"
	"github.com/fclog/fclog/rollout/freecode"
)

// knownTotals were counted apart from this program: requests, input, cache read
// and output tokens of each file.
var knownTotals = map[string][4]int64{
	"chromeext-0223-0041-child.jsonl": {45, 734302, 649856, 9632},
	"chromeext-0224-0011.jsonl":       {92, 7386119, 6953600, 41196},
	"chromeext-0224-0146.jsonl":       {47, 2089368, 1894400, 16262},
	"devenv-0219-2116-root.jsonl":     {24, 844311, 719360, 9328},
	"devenv-0219-2124-child.jsonl":    {21, 586059, 520704, 19223},
	"devenv-0317-1529.jsonl":          {27, 1337510, 1203328, 21394},
	"mjepa-0726-head.jsonl":           {154, 20780790, 20026112, 83274},
	"moonmind-1112.jsonl":             {102, 3633593, 3248000, 45096},
	"moonmind-1113b.jsonl":            {43, 1064529, 1019264, 25658},
}

func codexInputs(t *testing.T) []dataset.Input {
	var out []dataset.Input
	for name := range knownTotals {
		path := devdata.Dir(t, "codex", name)
		out = append(out, dataset.Input{Path: path, Read: func(ctx context.Context) ([]*rollout.Session, error) { return codex.Read(ctx, path) }})
	}
	return out
}

func freecodeInputs(t *testing.T) []dataset.Input {
	var out []dataset.Input
	require.NoError(t, filepath.WalkDir(devdata.Dir(t, "freecode", "large-seven"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "events.jsonl" {
			out = append(out, dataset.Input{
				Path: path, Depends: freecode.Depends(path),
				Read: func(ctx context.Context) ([]*rollout.Session, error) { return freecode.Read(ctx, path) },
			})
		}
		return err
	}))
	return out
}

func TestRealSessionsKeepTheirTotals(t *testing.T) {
	dir := t.TempDir()
	sum, err := dataset.Import(t.Context(), dir, codexInputs(t), dataset.Options{})
	require.NoError(t, err)
	require.Empty(t, sum.Failed)
	want := []string{}
	for name, n := range knownTotals {
		want = append(want, fmt.Sprintf("%s %d %d %d %d", name, n[0], n[1], n[2], n[3]))
	}
	db := open(t, Options{Dataset: dir})
	assert.ElementsMatch(t, want, rowsOf(t, db, `SELECT parse_filename(file), count(*), sum(input_tokens)::BIGINT, sum(cache_read_tokens)::BIGINT, sum(output_tokens)::BIGINT
FROM requests JOIN sessions USING (source, part, session_id) WHERE counts GROUP BY ALL`))
}

func TestRealSessionsAreStoredOnce(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		_, err := dataset.Import(t.Context(), dir, freecodeInputs(t), dataset.Options{})
		require.NoError(t, err)
	}
	assert.Equal(t, content(t, first), content(t, second), "two imports give the same bytes")
	before := dump(t, first)
	require.NoError(t, dataset.Compact(t.Context(), first))
	assert.Equal(t, before, dump(t, first))

	db := open(t, Options{Dataset: second})
	assert.Equal(t, []string{"229 58665373 33902976 28254"}, rowsOf(t, db, `SELECT count(*), sum(input_tokens)::BIGINT, sum(cache_read_tokens)::BIGINT, sum(output_tokens)::BIGINT
FROM requests WHERE counts AND session_id LIKE 'b4d6d881%'`))
	assert.Equal(t, rowsOf(t, db, "SELECT sum(counted_tokens)::BIGINT FROM requests WHERE NOT inherited"),
		rowsOf(t, db, "SELECT sum(tokens * requests)::BIGINT FROM spans"), "what items carried is what requests held")
	assert.Equal(t, []string{"0"}, rowsOf(t, db, `SELECT count(*) FROM spans ANTI JOIN texts USING (text_hash) JOIN items USING (part, session_id, item)
WHERE kind NOT IN ('image', 'reasoning')`), "every text with words is stored")
}

// content is every file of a dataset but the cache.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, "_state") {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = string(raw)
		return err
	}))
	return out
}

// A question larger than the memory limit goes on in the temporary folder.
func TestQueryLargerThanMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts 200 MB")
	}
	dir := t.TempDir()
	write(t, dir, session("codex", "a", day(1, 0)))
	db := open(t, Options{Dataset: dir, MemoryMB: 100, Threads: 2})
	got := rowsOf(t, db, `SELECT count(*) FROM (SELECT repeat(md5(i::VARCHAR), 6) AS x, row_number() OVER (ORDER BY md5(i::VARCHAR)) AS n FROM range(1000000) r(i)) WHERE n > 5`)
	assert.Equal(t, []string{"999995"}, got)
}
