package analyze

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// escapes are statements that try to get out of the dataset DIR, to reach or write
// what is in OUT, or to change what DuckDB may do.
var escapes = []string{
	// read
	"FROM read_csv('OUT/secret.csv')", "FROM 'OUT/secret.csv'", "FROM read_text('OUT/secret.csv')", "FROM read_blob('OUT/*')", "FROM glob('OUT/*')",
	"FROM sniff_csv('OUT/secret.csv')", "FROM read_json('OUT/secret.csv')", "FROM parquet_metadata('OUT/secret.csv')", "FROM read_ndjson_objects('OUT/secret.csv')",
	"FROM read_duckdb('OUT/x.db')", "FROM read_text('DIR/../../../../../../etc/passwd')", "FROM read_text('DIR/items/link.csv')", "FROM read_text('/proc/self/environ')",
	"FROM read_csv('/dev/stdin')", "SELECT getenv('HOME')", "FROM which_secret('x', 's3')", "FROM duckdb_secrets()", "FROM read_csv(['DIR/fclog-dataset.json', 'OUT/secret.csv'])",
	// network
	"FROM read_parquet('http://127.0.0.1:9/x.parquet')", "FROM read_csv('https://127.0.0.1:9/x')", "FROM 's3://bucket/x.parquet'", "FROM read_text('hf://datasets/x')",
	// write
	"COPY (SELECT 1) TO 'OUT/x.csv'", "COPY (SELECT 1) TO 'DIR/x.csv'", "COPY sessions FROM 'OUT/secret.csv'", "EXPORT DATABASE 'OUT/e'", "EXPORT DATABASE 'DIR/e'", "IMPORT DATABASE 'OUT'",
	"ATTACH 'OUT/x.db'", "ATTACH 'DIR/x.db'", "CREATE TABLE x AS SELECT 1", "INSERT INTO sessions FROM sessions", "UPDATE sessions SET source = ''", "DELETE FROM sessions", "DROP TABLE sessions",
	"WITH x AS (DELETE FROM sessions RETURNING *) FROM x", "SELECT 1; DROP TABLE sessions", "EXPLAIN ANALYZE DELETE FROM sessions", "TRUNCATE sessions", "VACUUM", "CHECKPOINT",
	// change what DuckDB may do
	"SET enable_external_access = true", "RESET allowed_directories", "SET lock_configuration = false", "SET allowed_directories = ['/']", "PRAGMA enable_profiling", "SET profiling_output = 'OUT/p.json'",
	"INSTALL httpfs", "LOAD httpfs", "LOAD 'OUT/x.duckdb_extension'", "FORCE INSTALL httpfs FROM 'OUT'", "CREATE SECRET x (TYPE s3)", "SET VARIABLE x = 1", "USE memory", "BEGIN", "PREPARE x AS SELECT 1",
	// functions that do more than read, and ways around their names
	"FROM enable_logging(storage = 'file', storage_config = {'path': 'OUT/logs'})", "FROM enable_logging(storage = 'file', storage_config = {'path': 'DIR/logs'})",
	"CALL enable_logging()", "SELECT * FROM sessions, (FROM ENABLE_LOGGING())", "FROM system.main.\"enable_logging\"()", "WITH x AS (FROM enable_logging()) FROM x", "SUMMARIZE FROM enable_logging()",
	"FROM query('FROM enable_' || 'logging()')", "FROM query /* */ ('FROM sessions')", "FROM query_table('sessions')", "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
	"SELECT (SELECT count(*) FROM enable_profiling())", "FROM sessions WHERE EXISTS (FROM force_checkpoint())", "FROM disable_logging()", "FROM truncate_duckdb_logs()", "SELECT write_log('x')",
	"PIVOT (FROM enable_logging()) ON x USING count(*)", "PIVOT (FROM query('SELECT 1')) ON x USING count(*)", "PIVOT (FROM \"enable_logging\" -- x\n ()) ON x USING count(*)", "FROM arrow_scan(1, 2, 3)", "FROM enable_peg_parser()",
	"SELECT list_transform([1], lambda x: write_log('y'))", "FROM sessions SELECT sleep_ms(100000)", "SELECT pg_sleep(100000)",
	"PIVOT (FROM enable_logging/*\n*/()) ON x IN ('a') USING count(*)", "PIVOT (FROM enable_logging /* /* */ */ ()) ON x IN ('a') USING count(*)",
	"PIVOT (FROM sessions WHERE pg_sleep(100000) IS NULL) ON source IN ('a') USING count(*)", "FROM enable_logging\f()", "FROM enable_logging\u00a0()",
	"WITH a AS (UNPIVOT (FROM enable_logging()) ON *) FROM a", "SHOW (FROM enable_logging())", "DESCRIBE (FROM enable_logging())",
}

// TestQueryStaysInside tries to get out of the dataset, or to change anything.
func TestQueryStaysInside(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	importLogs(t, dir)
	secret := filepath.Join(out, "secret.csv")
	require.NoError(t, os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "items", "link.csv")))
	before, outside := everything(t, dir), everything(t, out)
	db := open(t, Options{Dataset: dir})
	for _, query := range escapes {
		query = strings.NewReplacer("OUT", out, "DIR", dir).Replace(query)
		rows, err := db.Query(t.Context(), query)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		assert.Error(t, err, query)
	}
	assert.Equal(t, []string{"2"}, rowsOf(t, db, "SELECT count(*) FROM sessions"))
	assert.Equal(t, before, everything(t, dir))
	assert.Equal(t, outside, everything(t, out))
}

// everything is all files below a folder, the links too.
func everything(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

// TestQueryReads: what a question may need works.
func TestQueryReads(t *testing.T) {
	dir := t.TempDir()
	importLogs(t, dir)
	db := open(t, Options{Dataset: dir})
	for _, query := range []string{
		"SELECT count(*) FROM sessions", "FROM range(3)", "FROM generate_series(1, 3)", "SELECT unnest([1, 2])", "FROM unnest([1, 2])", "DESCRIBE sessions", "SUMMARIZE sessions", "SHOW TABLES",
		"PIVOT sessions ON source IN ('codex', 'pi') USING count(*)", "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b", "TABLE sessions", "VALUES (1)", "(SELECT 1)", "WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM a WHERE x < 3) FROM a",
		"SELECT text FROM texts LIMIT 1", "SELECT 'query(1)' AS query, 'enable_logging()' AS x", "SELECT query FROM (SELECT 1 AS query)", "FROM read_parquet('DIR/texts/*/*/*.parquet')", "SELECT * FROM duckdb_tables()",
		"SELECT 1 AS log, ln(2) + log(3)", "-- a comment\nSELECT 1", "FROM json_each('{\"a\": 1}')", "SELECT regexp_extract(text, 'x') FROM texts",
	} {
		query = strings.ReplaceAll(query, "DIR", dir)
		rows, err := db.Query(t.Context(), query)
		if assert.NoError(t, err, query) {
			for rows.Next() {
			}
			assert.NoError(t, rows.Err(), query)
			rows.Close()
		}
	}
}

// TestMacrosHideNothing: a function of DuckDB's own that is written in SQL calls none
// that is refused, or is refused too.
func TestMacrosHideNothing(t *testing.T) {
	dir := t.TempDir()
	importLogs(t, dir)
	db := open(t, Options{Dataset: dir})
	macros := rowsOf(t, db, "SELECT DISTINCT function_name || ' ' || macro_definition FROM duckdb_functions() WHERE macro_definition IS NOT NULL AND internal")
	require.NotEmpty(t, macros)
	for _, macro := range macros {
		name, definition, _ := strings.Cut(macro, " ")
		for function := range scalarFunctions {
			if strings.Contains(definition, function+"(") {
				assert.True(t, scalarFunctions[name], macro)
			}
		}
	}
}
