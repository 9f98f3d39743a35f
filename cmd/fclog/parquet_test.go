package main_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"
)

// readParquet lists the rows of a file as name=value, read by DuckDB.
func readParquet(t *testing.T, file string) []string {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT * FROM read_parquet(?)", file)
	require.NoError(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	var out []string
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		require.NoError(t, rows.Scan(dest...))
		var parts []string
		for i, v := range values {
			if at, ok := v.(time.Time); ok {
				v = at.UTC().Format(time.RFC3339)
			}
			parts = append(parts, fmt.Sprintf("%s=%v", names[i], v))
		}
		out = append(out, strings.Join(parts, " "))
	}
	require.NoError(t, rows.Err())
	return out
}
