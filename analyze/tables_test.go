package analyze

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// tables are the rows of a small hand-built dataset. Every session is a part of
// its own, and its source is "test".
type tables struct {
	sessions    []dataset.Session
	requests    []dataset.Request
	items       []dataset.Item
	spans       []dataset.Span
	calls       []dataset.Call
	texts       []dataset.Text
	otherBilled []dataset.OtherBilled
	reported    []dataset.Reported
	calibration []dataset.Calibration
	problems    []dataset.Problem
	prices      []Price
}

// open loads the rows through Parquet, so that types and NULLs are those of a
// real dataset, and sets up the tables and views as Open does.
func (tb tables) open(t testing.TB) *DB {
	t.Helper()
	ctx := context.Background()
	pool, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	conn, err := pool.Conn(ctx)
	require.NoError(t, err)
	second, err := pool.Conn(ctx)
	require.NoError(t, err)
	d := &DB{db: pool, conn: conn, second: second, tmp: t.TempDir(), root: t.TempDir()}
	t.Cleanup(func() { d.Close() })
	require.NoError(t, d.exec(ctx, d.sideViews("")...))
	load(t, d, "sessions", tb.sessions)
	load(t, d, "requests", tb.requests)
	load(t, d, "items", tb.items)
	load(t, d, "spans", tb.spans)
	load(t, d, "calls", tb.calls)
	load(t, d, "texts", tb.texts)
	load(t, d, "other_billed", tb.otherBilled)
	load(t, d, "reported", tb.reported)
	load(t, d, "calibration", tb.calibration)
	load(t, d, "problems", tb.problems)
	for _, c := range []*sql.Conn{conn, second} {
		_, err := c.ExecContext(ctx, "SET TimeZone = 'UTC'")
		require.NoError(t, err)
	}
	require.NoError(t, d.loadPrices(ctx, tb.prices))
	require.NoError(t, d.setUp(ctx, Selection{}))
	return d
}

func load[T any](t testing.TB, d *DB, table string, rows []T) {
	t.Helper()
	file := filepath.Join(d.tmp, table+".parquet")
	f, err := os.Create(file)
	require.NoError(t, err)
	w := parquet.NewGenericWriter[T](f)
	_, err = w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	source := ", 'test' AS source"
	if table == "sessions" {
		source = ""
	}
	query := fmt.Sprintf("CREATE TABLE raw_%s AS SELECT *%s, '2026-01' AS month, part AS stem FROM read_parquet(%s)", table, source, quote(file))
	require.NoError(t, d.exec(context.Background(), query))
}

// ask runs a question and returns its rows as maps.
func ask(t testing.TB, db *DB, name string, p Params) []map[string]any {
	t.Helper()
	rows, err := Ask(context.Background(), db, name, p)
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	out := []map[string]any{}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		require.NoError(t, rows.Scan(values...))
		row := map[string]any{}
		for i, column := range columns {
			row[column] = *(values[i].(*any))
		}
		out = append(out, row)
	}
	require.NoError(t, rows.Err())
	return out
}

func ptr[T any](v T) *T { return &v }

// known is v, or nil for a zero value: an unknown one.
func known[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
