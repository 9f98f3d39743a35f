package analyze

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/codex"
)

// fenced is a dataset with a neighbour that no SQL may reach, and what both hold.
type fenced struct {
	dir, out string
	files    []string
	settings string
}

const secretWord = "the-neighbours-secret"

func fence(f *testing.F) *fenced {
	f.Helper()
	root := f.TempDir()
	w := &fenced{dir: filepath.Join(root, "data"), out: filepath.Join(root, "out")}
	path := filepath.Join("..", "testdata", "codex", "poll-0.104.jsonl")
	_, err := dataset.Import(f.Context(), w.dir, []dataset.Input{{Path: path,
		Read: func(ctx context.Context) ([]*rollout.Session, error) { return codex.Read(ctx, path) }}}, dataset.Options{})
	require.NoError(f, err)
	require.NoError(f, os.Mkdir(w.out, 0o700))
	require.NoError(f, os.WriteFile(filepath.Join(w.out, "secret.csv"), []byte("a,b\n1,"+secretWord+"\n"), 0o600))
	w.files = w.all(f)
	return w
}

// all names every file of both folders with its size and time of change.
func (w *fenced) all(t testing.TB) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Dir(w.dir), func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		out = append(out, fmt.Sprint(path, info.Size(), info.ModTime()))
		return nil
	}))
	return out
}

// here puts the two folders in the place of DIR and OUT.
func (w *fenced) here(query string) string {
	return strings.NewReplacer("OUT", w.out, "DIR", w.dir).Replace(query)
}

// patience is more than any statement over so small a dataset needs; endless ones
// are stopped.
const patience = 3 * time.Second

// settingsOf are all settings of a database, and whether it logs.
func settingsOf(t testing.TB, db *DB) string {
	t.Helper()
	var text string
	err := db.conn.QueryRowContext(t.Context(), "SELECT string_agg(name || '=' || value, chr(10) ORDER BY name) FROM duckdb_settings()").Scan(&text)
	require.NoError(t, err)
	return text
}

// FuzzQuery: no statement changes a file or a setting, or shows what stands
// outside the dataset.
func FuzzQuery(f *testing.F) {
	w := fence(f)
	for _, query := range escapes {
		f.Add(query)
	}
	for _, query := range []string{"FROM sessions", "SELECT text FROM texts LIMIT 1", "PIVOT sessions ON source IN ('codex') USING count(*)", "SUMMARIZE sessions", "WITH a AS (SELECT 1) FROM a"} {
		f.Add(query)
	}
	db, err := Open(f.Context(), Options{Dataset: w.dir, Threads: 1, MemoryMB: 512})
	require.NoError(f, err)
	f.Cleanup(func() { db.Close() })
	// One harmless statement first: views are made when they are asked for.
	rows, err := db.Query(f.Context(), "SELECT count(*) FROM sessions")
	require.NoError(f, err)
	rows.Close()
	w.settings = settingsOf(f, db)
	f.Fuzz(func(t *testing.T, query string) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		shown := run(ctx, db, w.here(query))
		require.NotContains(t, shown, secretWord)
		require.Equal(t, w.files, w.all(t))
		require.Equal(t, w.settings, settingsOf(t, db))
	})
}

// run is the start of what a statement shows, its error included.
func run(ctx context.Context, db *DB, query string) string {
	rows, err := db.Query(ctx, query)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err.Error()
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	shown := fmt.Sprint(names)
	for n := 0; rows.Next() && n < 100; n++ {
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		shown += fmt.Sprint(values...)
	}
	return fmt.Sprint(shown, rows.Err())
}

// wheres are conditions that try to be more than that.
var wheres = []string{
	"true) --", "true) ORDER BY (1", "1=1); DROP TABLE sessions; --", "true /*", "true\n) UNION ALL SELECT 1 FROM sessions WHERE (true",
	"session_id IN (SELECT content FROM read_text('OUT/secret.csv'))", "EXISTS (FROM read_csv('OUT/secret.csv'))", "(SELECT count(*) FROM read_blob('OUT/*')) > 0",
	"session_id = ANY (FROM 'OUT/secret.csv')", "len(ARRAY(SELECT content FROM read_text('OUT/secret.csv'))) = 0", "getenv('HOME') = ''", "write_log('x') IS NULL", "pg_sleep(100000) IS NULL",
	"sleep_ms(100000) IS NULL", "set_config('threads', '1') = ''", "session_id = ?", "session_id = $1", "session_id = $name", ")", "'", "SELECT 1", "COPY sessions TO 'OUT/x.csv'",
	"[x FOR x IN (SELECT content FROM read_text('OUT/secret.csv'))] = []", "list_transform([1], lambda x: (SELECT count(*) FROM read_text('OUT/secret.csv')))[1] = 0",
	"CASE WHEN (FROM enable_logging()) THEN true END", "session_id IN (VALUES ('a'))", "(TABLE sessions) IS NULL", "query('SELECT 1')", "COLUMNS(*) IS NULL) AND (SELECT true",
}

// TestConditionsStayConditions: SQL of --where cannot be anything else, since it
// runs before files outside of the dataset are out of reach.
func TestConditionsStayConditions(t *testing.T) {
	dir := t.TempDir()
	importLogs(t, dir)
	out := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(out, "secret.csv"), []byte("a\n1\n"), 0o600))
	for _, where := range wheres {
		db, err := Open(t.Context(), Options{Dataset: dir, Selection: Selection{Where: strings.ReplaceAll(where, "OUT", out)}})
		if err == nil {
			db.Close()
		}
		require.Error(t, err, "%q", where)
	}
}

// FuzzWhere: a condition selects from the sessions or is refused, and does nothing
// else.
func FuzzWhere(f *testing.F) {
	w := fence(f)
	for _, where := range slices.Concat(wheres, hostile.Short()) {
		f.Add(where)
	}
	for _, where := range []string{"source = 'codex'", "started_at > '2026-01-01'", "len(models) = 1 AND NOT contains(cwd, 'x')", "true", "list_contains(list_transform(models, lambda m: lower(m)), 'x')"} {
		f.Add(where)
	}
	db, err := Open(f.Context(), Options{Dataset: w.dir, Threads: 1})
	require.NoError(f, err)
	f.Cleanup(func() { db.Close() })
	f.Fuzz(func(t *testing.T, where string) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if where == "" || db.checkWhere(ctx, w.here(where)) != nil {
			return
		}
		chosen, err := Open(ctx, Options{Dataset: w.dir, Threads: 1, Selection: Selection{Where: w.here(where)}})
		if err == nil {
			require.Contains(t, []string{"0", "1"}, rowsOf(t, chosen, "SELECT count(*) FROM sessions")[0])
			require.NoError(t, chosen.Close())
		} else {
			require.NotContains(t, err.Error(), secretWord)
		}
		require.Equal(t, w.files, w.all(t))
	})
}

// FuzzParams: whatever is asked of a question, it is a value.
func FuzzParams(f *testing.F) {
	w := fence(f)
	questions, err := Questions()
	require.NoError(f, err)
	for n, text := range hostile.Short() {
		f.Add(n, text, text, n)
	}
	f.Add(0, "' OR true --", "Europe/Vienna", 5)
	db, err := Open(f.Context(), Options{Dataset: w.dir, Threads: 1})
	require.NoError(f, err)
	f.Cleanup(func() { db.Close() })
	f.Fuzz(func(t *testing.T, n int, session, zone string, limit int) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		q := questions[uint(n)%uint(len(questions))]
		rows, err := Ask(ctx, db, q.Name, Params{Session: session, TZ: zone, Limit: limit})
		if err == nil {
			for rows.Next() {
			}
			rows.Close()
		}
		require.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM sessions"))
		require.Equal(t, w.files, w.all(t))
	})
}
