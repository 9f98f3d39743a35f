package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

var storedTables = []string{"sessions", "requests", "items", "spans", "calls", "texts", "other_billed", "reported", "calibration", "problems", "session_tree"}

// dump renders every table of a dataset as views show it.
func dump(t *testing.T, dir string) map[string][]string {
	t.Helper()
	db, err := Open(t.Context(), Options{Dataset: dir})
	require.NoError(t, err)
	defer db.Close()
	out := map[string][]string{}
	for _, table := range storedTables {
		out[table] = rowsOf(t, db, "SELECT to_json(x)::VARCHAR FROM "+table+" x ORDER BY 1")
	}
	return out
}

// threeParts are two sessions and an older copy of one, all in one month, and a
// third session in another month.
func threeParts(t *testing.T) []*dataset.Rows {
	a, b, c := filled(t, "pa", true), filled(t, "pb", true), filled(t, "pc", false)
	older := filled(t, "pd", true)
	older.Sessions[0].SessionID = "pa"
	for i := range older.Requests {
		older.Requests[i].SessionID, older.Requests[i].Inherited = "pa", true
	}
	return []*dataset.Rows{a, b, c, older}
}

func TestMergedDatasetShowsTheSame(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, threeParts(t)...)
	before := dump(t, dir)
	require.Len(t, before["sessions"], 3)
	require.NoError(t, dataset.Compact(t.Context(), dir))
	assert.Equal(t, before, dump(t, dir))
}

// A merge may be killed after any of its steps.
func TestKilledMerge(t *testing.T) {
	dir, merged := t.TempDir(), t.TempDir()
	write(t, dir, threeParts(t)...)
	write(t, merged, threeParts(t)...)
	before := dump(t, dir)
	require.NoError(t, dataset.Compact(t.Context(), merged))
	var steps []func()
	tables := dataset.Tables() // sessions last
	for _, table := range tables {
		steps = append(steps, func() { copyMerged(t, merged, dir, table) })
	}
	for i := len(tables) - 1; i >= 0; i-- {
		steps = append(steps, func() { removeUnmerged(t, merged, dir, tables[i]) })
	}
	for i, step := range steps {
		step()
		assert.Equal(t, before, dump(t, dir), "after step %d", i)
	}
}

func files(t *testing.T, dir, table string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, table, "source=codex", "*", "*.parquet"))
	require.NoError(t, err)
	return paths
}

func copyMerged(t *testing.T, from, to, table string) {
	for _, path := range files(t, from, table) {
		name, err := filepath.Rel(from, path)
		require.NoError(t, err)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, name), raw, 0o600))
	}
}

func removeUnmerged(t *testing.T, merged, dir, table string) {
	for _, path := range files(t, dir, table) {
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		if _, err := os.Stat(filepath.Join(merged, name)); err != nil {
			require.NoError(t, os.Remove(path))
		}
	}
}

// Of two parts with as many requests the one with more usage counts, whatever their
// names are. What a longer one lacks is a problem.
func TestUsageGoneFromAFile(t *testing.T) {
	for _, names := range [][2]string{{"1", "2"}, {"2", "1"}} {
		whole, poorer, longer := session("freecode", "a", day(1, 0)), session("freecode", "a", day(1, 0)), session("freecode", "a", day(1, 0))
		whole.Sessions[0].Part, poorer.Sessions[0].Part, longer.Sessions[0].Part = names[0], names[1], "3"
		poorer.Sessions[0].Records = 100
		for i, r := range []*dataset.Rows{whole, poorer, longer} {
			addRequest(r, "r1", func(q *dataset.Request) { q.InputTokens, q.OutputTokens = num(int64(1000)), num(int64(7)) })
			addRequest(r, "r2", func(q *dataset.Request) {
				q.InputTokens, q.OutputTokens = nil, nil
				if i == 0 {
					q.InputTokens, q.OutputTokens = num(int64(2000)), num(int64(8))
				}
			})
		}
		addRequest(longer, "r3", nil)

		dir := t.TempDir()
		write(t, dir, whole, poorer)
		db := open(t, Options{Dataset: dir})
		assert.Equal(t, []string{"3000 15"}, rowsOf(t, db, "SELECT sum(input_tokens), sum(output_tokens) FROM requests"))
		assert.Empty(t, rowsOf(t, db, "SELECT * FROM problems"))

		dir = t.TempDir()
		write(t, dir, whole, longer)
		db = open(t, Options{Dataset: dir})
		assert.Equal(t, []string{"a 3 usage-gone 1"}, rowsOf(t, db, "SELECT session_id, part, kind, count FROM problems"))
	}
}

func TestTextGoneFromAFile(t *testing.T) {
	dir := t.TempDir()
	old, grown := session("freecode", "a", day(1, 0)), session("freecode", "a", day(1, 0))
	old.Sessions[0].Part, grown.Sessions[0].Part = "old", "new"
	addRequest(old, "r1", nil)
	addRequest(grown, "r1", nil)
	addRequest(grown, "r2", nil)
	item := func(part, hash, origin string) dataset.Item {
		return dataset.Item{Part: part, SessionID: "a", Kind: "user_text", Origin: origin, TextHash: hash}
	}
	old.Items = []dataset.Item{item("old", "gone", "logged"), item("old", "still", "logged"), item("old", "made", "recomputed")}
	grown.Items = []dataset.Item{item("new", "still", "logged")}
	old.Texts = []dataset.Text{{Part: "old", SessionID: "a", TextHash: "gone", Text: "precious"}}
	write(t, dir, old, grown)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"2"}, rowsOf(t, db, "SELECT count(*) FROM requests"))
	assert.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM items"))
	assert.Equal(t, []string{"precious"}, rowsOf(t, db, "SELECT text FROM texts WHERE text_hash = 'gone'"))
	assert.Equal(t, []string{"a new text-gone 1"}, rowsOf(t, db, "SELECT session_id, part, kind, count FROM problems"))
}

// An older part that lost nothing, as a killed import leaves it, is no problem.
func TestOlderPartWithoutLoss(t *testing.T) {
	dir := t.TempDir()
	old, grown := session("freecode", "a", day(1, 0)), session("freecode", "a", day(1, 0))
	old.Sessions[0].Part, grown.Sessions[0].Part = "old", "new"
	addRequest(grown, "r1", nil)
	for _, p := range []*dataset.Rows{old, grown} {
		p.Items = []dataset.Item{{Part: p.Sessions[0].Part, SessionID: "a", Kind: "user_text", Origin: "logged", TextHash: "still"}}
	}
	write(t, dir, old, grown)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"0"}, rowsOf(t, db, "SELECT count(*) FROM problems"))
}

// More rows than a row group holds and texts longer than a page read back whole.
func TestManyRowsAndLongTexts(t *testing.T) {
	dir := t.TempDir()
	p := session("codex", "a", day(1, 0))
	const n = 120_001
	for i := range int64(n) {
		p.Spans = append(p.Spans, dataset.Span{
			Part: "part-of-a", SessionID: "a", Item: i, Span: i, FirstRequest: 1, LastRequest: i + 1, TextHash: fmt.Sprintf("%064x", i), Tokens: num(i),
		})
	}
	long := strings.Repeat("0123456789 é\n", 300_000)
	for i := range 5 {
		p.Texts = append(p.Texts, dataset.Text{Part: "part-of-a", SessionID: "a", TextHash: fmt.Sprint("h", i), Text: fmt.Sprint(i, long)})
	}
	write(t, dir, p)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{fmt.Sprintf("%d %d %d", n, n*(n-1)/2, n)}, rowsOf(t, db, "SELECT count(*), sum(tokens)::BIGINT, count(DISTINCT text_hash) FROM spans"))
	assert.Equal(t, []string{fmt.Sprintf("%064x 77777", 77_777)}, rowsOf(t, db, "SELECT text_hash, tokens FROM spans WHERE span = 77777"))
	for i := range 5 {
		got := rowsOf(t, db, "SELECT text = ? FROM texts WHERE text_hash = ?", fmt.Sprint(i, long), fmt.Sprint("h", i))
		assert.Equal(t, []string{"true"}, got)
	}
}

// An import that is killed at once may have made a folder and not yet its file.
func TestFolderWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, session("codex", "a", day(1, 0)))
	folder := filepath.Join(dir, "problems", "source=none", "month=none")
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.MkdirAll(folder, 0o700))
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM sessions"))
	assert.Equal(t, []string{"0"}, rowsOf(t, db, "SELECT count(*) FROM problems"))
}
