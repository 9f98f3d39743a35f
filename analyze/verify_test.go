package analyze

import (
	"context"
	"database/sql"
	"fmt"
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
	"github.com/fclog/fclog/rollout/formats"
)

// importLogs imports invented logs of Codex: two files, one session each.
func importLogs(t *testing.T, dir string) {
	t.Helper()
	var inputs []dataset.Input
	for _, name := range []string{"poll-0.104.jsonl", "compaction-0.118.jsonl"} {
		path := filepath.Join("..", "testdata", "codex", name)
		inputs = append(inputs, dataset.Input{Path: path, Read: func(ctx context.Context) ([]*rollout.Session, error) { return codex.Read(ctx, path) }})
	}
	sum, err := dataset.Import(t.Context(), dir, inputs, dataset.Options{})
	require.NoError(t, err)
	require.Empty(t, sum.Failed)
}

func verify(t *testing.T, dir string) *Verification {
	t.Helper()
	v, err := Verify(t.Context(), dir)
	require.NoError(t, err)
	return v
}

// tableFile is the first file with rows of a table.
func tableFile(t *testing.T, dir, table string) string {
	t.Helper()
	found := files(t, dir, table)
	require.NotEmpty(t, found)
	return found[0]
}

// rewrite replaces a Parquet file by what a query over it gives; FILE stands for
// the old one.
func rewrite(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	defer db.Close()
	query = strings.ReplaceAll(query, "FILE", "read_parquet("+quote(path)+", hive_partitioning = false)")
	_, err = db.Exec(fmt.Sprintf("COPY (%s) TO %s (FORMAT parquet)", query, quote(path+".new")))
	require.NoError(t, err)
	require.NoError(t, os.Rename(path+".new", path))
}

func TestVerifySoundDatasets(t *testing.T) {
	dir := t.TempDir()
	importLogs(t, dir)
	v := verify(t, dir)
	assert.Empty(t, v.Findings)
	assert.True(t, v.Sound)
	assert.True(t, v.Text)
	assert.Equal(t, []int64{2, 2}, []int64{v.Parts, v.Sessions})
	assert.Equal(t, []string{dataset.Importer}, v.Importers)
	assert.Len(t, v.Checks, 10)

	require.NoError(t, dataset.Compact(t.Context(), dir))
	assert.Empty(t, verify(t, dir).Findings, "merged")
	empty := t.TempDir()
	_, err := dataset.Import(t.Context(), empty, nil, dataset.Options{NoText: true})
	require.NoError(t, err)
	assert.Empty(t, verify(t, empty).Findings, "empty")
}

// TestVerifyFindsDamage changes one thing of a sound dataset at a time.
func TestVerifyFindsDamage(t *testing.T) {
	change := func(table, query string) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			path := tableFile(t, dir, table)
			rewrite(t, path, query)
			return path
		}
	}
	remove := func(table string) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			path := tableFile(t, dir, table)
			require.NoError(t, os.Remove(path))
			return path
		}
	}
	for _, c := range []struct {
		check  string
		name   string
		damage func(*testing.T, string) string // returns the file that must be named
	}{
		{"rows", "a table's file is gone", remove("calibration")},
		{"rows", "a row is gone", change("items", "FROM FILE WHERE item <> 1")},
		{"rows", "a row too many", change("calibration", "FROM FILE UNION ALL FROM FILE")},
		{"references", "span without item", change("spans", "SELECT * REPLACE (item + 100000 AS item) FROM FILE")},
		{"references", "span of a request that is none", change("spans", "SELECT * REPLACE (last_request + 100000 AS last_request) FROM FILE")},
		{"references", "span that ends before it begins", change("spans", "SELECT * REPLACE (last_request AS first_request, first_request AS last_request) FROM FILE")},
		{"references", "call of no request", change("calls", "SELECT * REPLACE (77777::BIGINT AS request_index) FROM FILE")},
		{"references", "call without result", change("calls", "SELECT * REPLACE (77777::BIGINT AS result_item) FROM FILE")},
		{"references", "base that is none", change("requests", "SELECT * REPLACE (77777::BIGINT AS base_request_index) FROM FILE")},
		{"sums", "tokens of a span", change("spans", "SELECT * REPLACE (tokens + 1 AS tokens) FROM FILE")},
		{"sums", "tokens of a request", change("requests", "SELECT * REPLACE (CASE WHEN request_index = 0 THEN counted_tokens + 1 ELSE counted_tokens END AS counted_tokens) FROM FILE")},
		{"hashes", "another text", change("texts", "SELECT * REPLACE (text || '!' AS text) FROM FILE")},
		{"texts", "texts are gone", change("texts", "FROM FILE LIMIT 0")},
		{"twice", "items twice", change("items", "FROM FILE UNION ALL FROM FILE")},
		{"twice", "IDs of calls", change("calls", "SELECT * REPLACE ('same' AS call_id) FROM FILE")},
		{"values", "negative size", change("items", "SELECT * REPLACE (-1::BIGINT AS chars) FROM FILE")},
		{"strangers", "another session", change("requests", "SELECT * REPLACE ('somebody' AS session_id) FROM FILE")},
		{"names", "another part", change("sessions", "SELECT * REPLACE ('0123456789abcdef0123456789abcdef' AS part) FROM FILE")},
		{"names", "another month", change("sessions", "SELECT * REPLACE (started_at - INTERVAL 1 YEAR AS started_at) FROM FILE")},
		{"names", "another format", change("sessions", "SELECT * REPLACE ('pi' AS source) FROM FILE")},
		{"names", "no texts", change("sessions", "SELECT * REPLACE (false AS has_text) FROM FILE")},
		{"files", "cut off", func(t *testing.T, dir string) string {
			path := tableFile(t, dir, "items")
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, info.Size()-100))
			return path
		}},
		{"files", "emptied", func(t *testing.T, dir string) string {
			path := tableFile(t, dir, "sessions")
			require.NoError(t, os.Truncate(path, 0))
			return path
		}},
		{"files", "of another table", func(t *testing.T, dir string) string {
			path := tableFile(t, dir, "items")
			raw, err := os.ReadFile(tableFile(t, dir, "texts"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, raw, 0o600))
			return path
		}},
		{"files", "foreign", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "items", "notes.txt")
			require.NoError(t, os.WriteFile(path, []byte("?"), 0o600))
			return path
		}},
		{"files", "a folder in a file's place", func(t *testing.T, dir string) string {
			path := tableFile(t, dir, "spans")
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
			return path
		}},
	} {
		t.Run(c.check+": "+c.name, func(t *testing.T) {
			dir := t.TempDir()
			importLogs(t, dir)
			path, err := filepath.Rel(dir, c.damage(t, dir))
			require.NoError(t, err)
			v := verify(t, dir)
			assert.False(t, v.Sound)
			var named []string
			for _, f := range v.Findings {
				assert.NotEmpty(t, f.Do)
				if f.Check == c.check && f.Level == FindingError {
					named = append(named, f.File)
				}
			}
			if c.check == "texts" || c.check == "sums" {
				assert.NotEmpty(t, named) // named is the file that lacks its counterpart
				return
			}
			assert.Contains(t, named, filepath.ToSlash(path), "%+v", v.Findings)
		})
	}
}

// TestVerifyNoticesEveryByte flips single bytes all over a file: each must be
// noticed, or change nothing of what the file holds.
func TestVerifyNoticesEveryByte(t *testing.T) {
	dir := t.TempDir()
	importLogs(t, dir)
	path := tableFile(t, dir, "requests")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	before := dump(t, dir)
	unnoticed := 0
	for at := 0; at < len(whole); at += 1 + len(whole)/25 {
		damaged := append([]byte{}, whole...)
		damaged[at] ^= 0x10
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		if v, err := Verify(t.Context(), dir); err == nil && v.Sound {
			unnoticed++
			assert.Equal(t, before, dump(t, dir), "byte %d of %d", at, len(whole))
		}
	}
	t.Logf("%d of 25 flips changed nothing", unnoticed)
}

func TestVerifyLeftovers(t *testing.T) {
	dir := t.TempDir()
	importLogs(t, dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "_tmp", "12-killed"), 0o700))
	require.NoError(t, os.Remove(tableFile(t, dir, "sessions")))
	v := verify(t, dir)
	assert.True(t, v.Sound)
	assert.Equal(t, int64(1), v.Sessions)
	require.NotEmpty(t, v.Findings)
	for _, f := range v.Findings {
		assert.Equal(t, FindingNote, f.Level, f.File)
	}
	importLogs(t, dir)
	assert.Empty(t, verify(t, dir).Findings, "the next import clears them away")
}

// TestVerifyRealLogs: all logs at hand make a sound dataset.
func TestVerifyRealLogs(t *testing.T) {
	root := devdata.Dir(t)
	var inputs []dataset.Input
	found, _, err := formats.Expand(t.Context(), []string{filepath.Join(root, "codex"), filepath.Join(root, "claude"), filepath.Join(root, "pi"), filepath.Join(root, "api-log")})
	require.NoError(t, err)
	for _, f := range found {
		inputs = append(inputs, dataset.Input{Path: f.Path, Read: func(ctx context.Context) ([]*rollout.Session, error) { return f.Format.Read(ctx, f.Path) }})
	}
	for _, noText := range []bool{false, true} {
		dir := t.TempDir()
		_, err := dataset.Import(t.Context(), dir, inputs, dataset.Options{NoText: noText})
		require.NoError(t, err)
		v := verify(t, dir)
		assert.Empty(t, v.Findings)
		assert.NotZero(t, v.Sessions)
	}
}
