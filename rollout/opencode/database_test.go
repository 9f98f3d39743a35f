package opencode

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

var update = flag.Bool("update", false, "build testdata/opencode/opencode.db from the exports")

const schema = "CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text NOT NULL, `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL, `agent` text, `cost` real DEFAULT 0 NOT NULL, `tokens_input` integer DEFAULT 0 NOT NULL, `tokens_output` integer DEFAULT 0 NOT NULL, `tokens_reasoning` integer DEFAULT 0 NOT NULL, `tokens_cache_read` integer DEFAULT 0 NOT NULL, `tokens_cache_write` integer DEFAULT 0 NOT NULL, `revert` text, `time_created` integer NOT NULL, `time_updated` integer NOT NULL);" +
	"CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);" +
	"CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);"

type object = map[string]any

// created is the time of an object in milliseconds.
func created(info object) int64 {
	times, _ := info["time"].(object)
	ms, _ := times["created"].(float64)
	return int64(ms)
}

// data is an object as a database stores it: without the IDs that are columns.
func data(t *testing.T, o object) string {
	t.Helper()
	kept := object{}
	for k, v := range o {
		if k != "id" && k != "sessionID" && k != "messageID" {
			kept[k] = v
		}
	}
	raw, err := json.Marshal(kept)
	require.NoError(t, err)
	return string(raw)
}

// insert writes an exported session into a database.
func insert(t *testing.T, db *sql.DB, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		Info     object
		Messages []struct {
			Info  object
			Parts []object
		}
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	exec := func(query string, args ...any) {
		_, err := db.Exec(query, args...)
		require.NoError(t, err)
	}
	i, tokens := doc.Info, object{}
	cache := object{}
	if v, ok := i["tokens"].(object); ok {
		tokens, cache = v, v["cache"].(object)
	}
	number := func(v any) int64 { f, _ := v.(float64); return int64(f) }
	exec("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", i["id"], i["projectID"], i["parentID"], i["slug"], i["directory"], i["title"], i["version"], i["agent"],
		i["cost"], number(tokens["input"]), number(tokens["output"]), number(tokens["reasoning"]), number(cache["read"]), number(cache["write"]), nil, created(i), created(i))
	for _, m := range doc.Messages {
		exec("INSERT INTO message VALUES (?,?,?,?,?)", m.Info["id"], i["id"], created(m.Info), created(m.Info), data(t, m.Info))
		for _, p := range m.Parts {
			exec("INSERT INTO part VALUES (?,?,?,?,?,?)", p["id"], m.Info["id"], i["id"], created(m.Info), created(m.Info), data(t, p))
		}
	}
}

func newDatabase(t *testing.T, path string, pragmas ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, p := range append(pragmas, schema) {
		_, err := db.Exec(p)
		require.NoError(t, err)
	}
	return db
}

var exports = []string{"port.export.json", "port-survey.export.json", "compaction.export.json"}

// TestDatabaseFile: the stored database is the exports.
func TestDatabaseFile(t *testing.T) {
	path := filepath.Join(testdata, "opencode.db")
	if *update {
		require.NoError(t, os.RemoveAll(path))
		db := newDatabase(t, path)
		for _, e := range exports {
			insert(t, db, filepath.Join(testdata, e))
		}
		require.NoError(t, db.Close())
	}
	all := sessionsOf(t, path)
	require.Len(t, all, 3)
	for _, s := range all {
		var file string
		switch s.ID {
		case "ses_port01":
			file = exports[0]
		case "ses_port02":
			file = exports[1]
			assert.Equal(t, "ses_port01", s.ParentID)
			assert.Equal(t, "toolu_07", s.ParentCall, "only a file with both can tell")
			s.ParentCall = ""
		default:
			file = exports[2]
		}
		same(t, one(t, file), s)
	}
	assert.Equal(t, "ses_long01", all[0].ID)
	assert.Equal(t, "ses_port01", all[1].ID, "parents first")
}

// same compares two readings of one session, all but where it was read from.
// Objects of a test database have their keys in another order, and so have the
// arguments of its calls.
func same(t *testing.T, want, got *rollout.Session) {
	t.Helper()
	assert.Len(t, got.Texts, len(want.Texts), want.ID)
	assert.Equal(t, want.Spans, got.Spans, want.ID)
	assert.Equal(t, want.Items, got.Items, want.ID)
	assert.Equal(t, want.Reported[0].Usage, got.Reported[0].Usage, want.ID)
	require.Len(t, got.Requests, len(want.Requests), want.ID)
	for i := range want.Requests {
		w, g := want.Requests[i], got.Requests[i]
		w.Line, g.Line = 0, 0
		assert.Equal(t, w, g, want.ID)
	}
	assert.Equal(t, want.ParentID, got.ParentID)
	assert.Equal(t, want.Started, got.Started)
	assert.Equal(t, want.Ended, got.Ended)
}

// folder is the files of a folder with their content and times.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		out[e.Name()] = fmt.Sprintf("%x %s %v", sha256.Sum256(raw), info.ModTime(), info.Mode())
	}
	return out
}

// TestReadWhileTheAgentWrites: an open database in WAL mode, half of its rows in
// the log alone, is read whole; not a byte beside it changes, no file comes, and
// the writer goes on.
func TestReadWhileTheAgentWrites(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	path := filepath.Join(dir, "opencode.db")
	db := newDatabase(t, path, "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0")
	insert(t, db, filepath.Join(testdata, exports[0]))
	_, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	insert(t, db, filepath.Join(testdata, exports[2]))
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("DELETE FROM message")
	require.NoError(t, err)

	before := folder(t, dir)
	require.Contains(t, before, "opencode.db-wal")
	assert.True(t, Carrier(path))
	all := sessionsOf(t, path)
	require.Len(t, all, 2)
	for _, s := range all {
		assert.Equal(t, byHand[s.ID], totalsOf(s), "uncommitted changes do not show")
	}
	assert.Equal(t, before, folder(t, dir))
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left, "the copy is removed")

	require.NoError(t, tx.Rollback())
	insert(t, db, filepath.Join(testdata, exports[1]))
	assert.Len(t, sessionsOf(t, path), 3, "the writer was not disturbed, and its newest rows are seen")
	assert.Equal(t, []string{path + "-wal"}, Depends(path))
}

// TestReadBesideABusyWriter: rows that come and go with checkpoints all the time;
// every reading is one state of the database: as many parts as messages.
func TestReadBesideABusyWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	db := newDatabase(t, path, "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=100")
	_, err := db.Exec("INSERT INTO session VALUES ('ses_busy','p',NULL,'s','/','t','1.18.0',NULL,0,0,0,0,0,0,NULL,1,1)")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		var err error
		for n := 0; ctx.Err() == nil && err == nil; n++ {
			_, err = db.Exec(fmt.Sprintf(`BEGIN;
				INSERT INTO message VALUES ('msg_%06d','ses_busy',%d,1,'{"role":"user"}');
				INSERT INTO part VALUES ('prt_%06d','msg_%06d','ses_busy',1,1,'{"type":"text","text":"%0800d"}'); COMMIT`, n, n+10, n, n, n))
			time.Sleep(5 * time.Millisecond)
		}
		done <- err
	}()
	last := 0
	for range 15 {
		all := sessionsOf(t, path)
		require.Len(t, all, 1)
		s := all[0]
		assert.Empty(t, s.Problems)
		assert.Equal(t, 1+2*len(s.Items), s.Records, "a part for every message")
		assert.GreaterOrEqual(t, len(s.Items), last)
		last = len(s.Items)
	}
	stop()
	require.NoError(t, <-done)
	assert.Positive(t, last)
}

func TestSnapshotIsPrivate(t *testing.T) {
	copied, remove, err := snapshot(context.Background(), filepath.Join(testdata, "opencode.db"))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Dir(copied))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	remove()
	_, err = os.Stat(copied)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestForeignDatabases: other databases and files that only begin like one.
func TestForeignDatabases(t *testing.T) {
	dir := t.TempDir()
	crush := filepath.Join(dir, "crush.db")
	db, err := sql.Open("sqlite", crush)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE sessions (id text); CREATE TABLE messages (id text); CREATE TABLE files (id text); CREATE TABLE message (id text)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	assert.False(t, Carrier(crush))
	for name, content := range map[string]string{
		"empty": "", "short": "SQLite format 3\x00", "zeros": "SQLite format 3\x00" + string(make([]byte, 200)), "text": "CREATE TABLE session (",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		assert.False(t, Carrier(path), name)
	}
	assert.False(t, Carrier(dir))
	assert.False(t, Carrier(filepath.Join(dir, "absent")))
}

// TestDamagedDatabase: a database cut or overwritten anywhere is an error or a
// session, never a crash.
func TestDamagedDatabase(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testdata, "opencode.db"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "opencode.db")
	for at := 1000; at < len(raw); at += 7001 {
		require.NoError(t, os.WriteFile(path, raw[:at], 0o600))
		_, _ = Read(context.Background(), path)
		broken := append([]byte{}, raw...)
		copy(broken[at:], make([]byte, 600))
		require.NoError(t, os.WriteFile(path, broken, 0o600))
		_, _ = Read(context.Background(), path)
	}
}

// TestForeignColumns: tables named alike that hold something else are named so, with
// the path once.
func TestForeignColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE session (id text); CREATE TABLE message (id text, body text); CREATE TABLE part (id text); INSERT INTO session VALUES ('a')")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = Read(context.Background(), path)
	require.ErrorIs(t, err, logfile.ErrNotLog)
	assert.ErrorContains(t, err, "something else")
	assert.Equal(t, 1, strings.Count(err.Error(), path))
}

// TestDamageStaysInItsSession: with one page of the database lost, the sessions whose
// rows do not stand on it are read whole, and the damage is listed.
func TestDamageStaysInItsSession(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testdata, "opencode.db"))
	require.NoError(t, err)
	const page = 4096
	path := filepath.Join(t.TempDir(), "opencode.db")
	partly := 0
	for at := page; at+page <= len(raw); at += page {
		broken := append([]byte{}, raw...)
		copy(broken[at:at+page], make([]byte, page))
		require.NoError(t, os.WriteFile(path, broken, 0o600))
		sessions, err := Read(context.Background(), path)
		if err != nil {
			assert.Equal(t, 1, strings.Count(err.Error(), path), err)
			continue
		}
		damaged := 0
		for _, s := range sessions {
			if slices.ContainsFunc(s.Problems, func(p rollout.Problem) bool { return p.Kind == "damaged-database" }) {
				damaged++
			}
		}
		if len(sessions) == 3 && damaged > 0 {
			partly++
		}
	}
	assert.Positive(t, partly, "some page holds messages or parts alone")
}
