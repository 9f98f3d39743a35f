package logfile

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // registers the database driver
)

// TestDatabasesAreNamed: a database that no reader takes is no nameless binary data.
func TestDatabasesAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"older": {"CREATE TABLE sessions (id text); CREATE TABLE messages (id text); CREATE TABLE files (id text)", "older OpenCode or of Crush"},
		"other": {"CREATE TABLE sessions (id text); CREATE TABLE things (id text)", "none of an agent that is known"},
	} {
		path := filepath.Join(t.TempDir(), name+".db")
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = db.Exec(c.schema)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		_, err = Head(path, 20)
		require.ErrorIs(t, err, ErrNotLog)
		require.ErrorContains(t, err, c.want)
	}
}
