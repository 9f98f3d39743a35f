package analyze

import (
	"database/sql"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/analyze/dataset"
)

// knownAt says which rows of a column are known.
type knownAt func(row int) bool

// inRuns is a pattern of runs that repeats, unknown and known in turn.
func inRuns(known bool, lengths []int) knownAt {
	var pattern []bool
	for range 2 {
		for _, n := range lengths {
			for range n {
				pattern = append(pattern, known)
			}
			known = !known
		}
	}
	return func(row int) bool { return pattern[row%len(pattern)] }
}

func drawPattern(t *rapid.T) knownAt {
	longest := rapid.SampledFrom([]int{2, 33, 70}).Draw(t, "longest")
	return inRuns(rapid.Bool().Draw(t, "known first"), rapid.SliceOfN(rapid.IntRange(1, longest), 1, 12).Draw(t, "runs"))
}

// halves has, in block n of 64 rows, n unknown values, n known ones and unknown
// ones to the end, for every n that fits: what the Parquet writer gets wrong for
// optional fields that are no pointers.
func halves(row int) bool {
	block, at := row/64%33, row%64
	return at >= block && at < 2*block
}

// patterned makes n rows for every table of a part. The optional columns take the
// patterns in turn. Every seventh known value is the zero value.
func patterned(t *testing.T, part string, n int, patterns []knownAt) *dataset.Rows {
	rows := &dataset.Rows{}
	v := reflect.ValueOf(rows).Elem()
	column := 0
	for i := range v.NumField() {
		table := reflect.MakeSlice(v.Field(i).Type(), n, n)
		for j := range table.Index(0).NumField() {
			known := func(int) bool { return true }
			if strings.Contains(table.Index(0).Type().Field(j).Tag.Get("parquet"), ",optional") {
				known = patterns[column%len(patterns)]
				column++
			}
			for row := range n {
				if known(row) {
					fillOrZero(t, table.Index(row).Field(j), row)
				}
			}
		}
		for row := range n {
			table.Index(row).FieldByName("Part").SetString(part)
		}
		v.Field(i).Set(table)
	}
	for i := range rows.Sessions {
		rows.Sessions[i].FileBytes = int64(i) // small files are merged into one
	}
	first := &rows.Sessions[0]
	first.Source, first.HasText, first.StartedAt = "codex", true, ptr(int64(0)) // the earliest: 1970-01 is the part's month
	return rows
}

func fillOrZero(t *testing.T, f reflect.Value, row int) {
	fill(t, f, int64(row))
	if f.Kind() == reflect.Pointer && row%7 == 0 {
		f.Elem().SetZero()
	}
}

// comparePatterned reads the merged file of every table with DuckDB and compares
// every value with the rows of the parts, in their order.
func comparePatterned(t require.TestingT, db *sql.DB, dir string, parts ...*dataset.Rows) {
	for i, table := range []string{"sessions", "requests", "items", "spans", "calls", "texts", "other_billed", "reported", "calibration", "problems"} {
		var want []reflect.Value
		for _, p := range parts {
			rows := reflect.ValueOf(p).Elem().Field(i)
			for j := range rows.Len() {
				want = append(want, rows.Index(j))
			}
		}
		paths, err := filepath.Glob(filepath.Join(dir, table, "source=codex", "month=1970-01", "merged-*.parquet"))
		require.NoError(t, err)
		require.Len(t, paths, 1)
		got, err := db.Query("SELECT * EXCLUDE (file_row_number) FROM read_parquet(?, file_row_number = true, hive_partitioning = false) ORDER BY file_row_number", paths[0])
		require.NoError(t, err)
		compareRows(t, table, want, got)
	}
}

func compareRows(t require.TestingT, table string, want []reflect.Value, got *sql.Rows) {
	defer got.Close()
	columns, err := got.Columns()
	require.NoError(t, err)
	n := 0
	for ; got.Next(); n++ {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, got.Scan(into...))
		require.Less(t, n, len(want), table)
		for i, column := range columns {
			if a, b := plain(want[n].Field(i)), values[i]; !reflect.DeepEqual(a, stored(b)) {
				require.Equal(t, a, stored(b), "%s.%s, row %d", table, column, n)
			}
		}
	}
	require.NoError(t, got.Err())
	require.Equal(t, len(want), n, table)
}

// plain is a field's value, nil where it is unknown.
func plain(f reflect.Value) any {
	if f.Kind() != reflect.Pointer {
		return f.Interface()
	}
	if f.IsNil() {
		return nil
	}
	return f.Elem().Interface()
}

// stored is a value of DuckDB as the row structs have it.
func stored(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UnixMilli()
	case []any:
		out := make([]string, len(v))
		for i := range v {
			out[i], _ = v[i].(string)
		}
		return out
	}
	return v
}

// Unknown stays unknown and known stays known, wherever they stand in a column.
func TestNullsComeBack(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	defer db.Close()
	check := func(t *testing.T, rt require.TestingT, n int, patterns []knownAt) {
		dir, err := os.MkdirTemp(t.TempDir(), "dataset")
		require.NoError(rt, err)
		defer os.RemoveAll(dir)
		a, b := patterned(t, "a", n, patterns), patterned(t, "b", n/2+1, patterns[1:])
		require.NoError(rt, dataset.WritePart(dir, a))
		require.NoError(rt, dataset.WritePart(dir, b))
		require.NoError(rt, dataset.Compact(t.Context(), dir))
		comparePatterned(rt, db, dir, a, b)
	}
	t.Run("halves", func(t *testing.T) {
		check(t, t, 33*64, []knownAt{halves, halves, func(row int) bool { return row > 0 && halves(row-1) }})
	})
	t.Run("any", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			patterns := make([]knownAt, 11)
			for i := range patterns {
				patterns[i] = drawPattern(rt)
			}
			check(t, rt, rapid.IntRange(100, 300).Draw(rt, "rows"), patterns)
		})
	})
}

// Plain optional fields lose NULLs, see schema.go of the dataset.
func TestOptionalColumnsArePointers(t *testing.T) {
	tables := reflect.TypeFor[dataset.Rows]()
	for i := range tables.NumField() {
		row := tables.Field(i).Type.Elem()
		for j := range row.NumField() {
			f := row.Field(j)
			optional := strings.Contains(f.Tag.Get("parquet"), ",optional")
			assert.Equal(t, optional, f.Type.Kind() == reflect.Pointer, "%s.%s", row.Name(), f.Name)
		}
	}
}
