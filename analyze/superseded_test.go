package analyze

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/codex"
)

// What a file holds under another ID by now counts nowhere; its texts stay.
func TestSupersededSessionsDoNotCount(t *testing.T) {
	dir := t.TempDir()
	old, now := session("codex", "a", day(1, 0)), session("codex", "b", day(1, 0))
	addRequest(old, "r1", nil)
	addRequest(now, "r1", nil)
	old.Sessions[0].Superseded = ptr(true)
	old.Items = []dataset.Item{{Part: "part-of-a", SessionID: "a", Kind: "user_text", Origin: "logged", TextHash: "gone"}}
	old.Texts = []dataset.Text{{Part: "part-of-a", SessionID: "a", TextHash: "gone", Text: "precious"}}
	write(t, dir, old, now)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"b"}, rowsOf(t, db, "SELECT session_id FROM sessions"))
	assert.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM requests"))
	assert.Equal(t, []string{"0"}, rowsOf(t, db, "SELECT count(*) FROM items"))
	assert.Equal(t, []string{"precious"}, rowsOf(t, db, "SELECT text FROM texts WHERE text_hash = 'gone'"))
}

// A dataset of an older version is read as it is, and its parts are replaced by the
// next import.
func TestDatasetOfAnOlderImporter(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	raw, err := os.ReadFile("../testdata/codex/poll-0.104.jsonl")
	require.NoError(t, err)
	path := filepath.Join(logs, "log.jsonl")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	in := dataset.Input{Path: path, Read: func(ctx context.Context) ([]*rollout.Session, error) { return codex.Read(ctx, path) }}
	_, err = dataset.Import(t.Context(), dir, []dataset.Input{in}, dataset.Options{})
	require.NoError(t, err)
	want := dump(t, dir)

	const older = "0123456789abcdef0123456789abcdef"
	for _, table := range dataset.Tables() {
		for _, path := range files(t, dir, table) {
			query := "SELECT * REPLACE ('" + older + "' AS part) FROM FILE"
			if table == "sessions" {
				query = "SELECT * EXCLUDE (contents, file_key, superseded) REPLACE ('" + older + "' AS part, '1' AS importer) FROM FILE"
			}
			rewrite(t, path, query)
			require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), older+".parquet")))
		}
		if table == "sessions" {
			rewrite(t, filepath.Join(dir, table, "source=none", "month=none", "empty.parquet"), "SELECT * EXCLUDE (contents, file_key, superseded) FROM FILE")
		}
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "_state")))
	v := verify(t, dir)
	assert.Empty(t, v.Findings)
	assert.Equal(t, []string{"1"}, v.Importers)
	assert.Len(t, dump(t, dir)["requests"], len(want["requests"]), "read as it is")

	sum, err := dataset.Import(t.Context(), dir, []dataset.Input{in}, dataset.Options{})
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Replaced)
	assert.Equal(t, want, dump(t, dir), "upgraded")
	assert.Equal(t, []string{dataset.Importer}, verify(t, dir).Importers)
}
