package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/clickhouse"
)

// clickHousePriceList prices some of the models in testdata, with every kind of key
// and a tier of long requests.
func clickHousePriceList() []Price {
	return []Price{
		{Model: "gpt-5.3-codex", Provider: "openai", Input: ptr(1.75), CacheRead: ptr(0.175), Output: ptr(14.0), Date: "2026-03-01"},
		{Model: "gpt-5.3-codex", Input: ptr(2.0), Output: ptr(15.0)},
		{Model: "claude-sonnet-4-6", Input: ptr(3.0), CacheRead: ptr(0.3), CacheWrite5m: ptr(3.75), CacheWrite1h: ptr(6.0), Output: ptr(15.0),
			LongAbove: ptr(int64(1000)), Long: LongPrice{Input: ptr(6.0), CacheRead: ptr(0.6), Output: ptr(22.5)}, File: `it's a \ file`},
		{Model: "anthropic/claude-opus-4-6", Input: ptr(5.0), CacheRead: ptr(0.5), CacheWrite5m: ptr(6.25), CacheWrite1h: ptr(10.0), Output: ptr(25.0)},
	}
}

// The two engines answer every shipped question alike over the same files.
func TestQuestionsOnClickHouse(t *testing.T) {
	engine, err := clickhouse.Find("..")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	shelf := newShelf(t, append(testdata(t), copies(t))...)
	prices := clickHousePriceList()
	require.NoError(t, shelf.imported(t, dir, shelf.inputs).Close())
	db := open(t, Options{Dataset: dir, Prices: prices})

	setup, err := ClickHouseTables(dir, prices)
	require.NoError(t, err)
	cases := questionCases(t, db)
	var queries []clickhouse.Query
	for name, a := range cases {
		sql, err := ClickHouseQuestion(a.question, a.params)
		require.NoError(t, err)
		queries = append(queries, clickhouse.Query{Name: name, SQL: sql})
	}
	answers, err := engine.Run(t.Context(), setup, queries)
	require.NoError(t, err)
	for name, a := range cases {
		t.Run(name, func(t *testing.T) {
			answer, ok := answers[name]
			require.True(t, ok, "ClickHouse gave no answer")
			require.NoError(t, answer.Err)
			want := askDuckDB(t, db, a)
			assert.Equal(t, len(want), len(answer.Rows), "rows")
			for i := range min(len(want), len(answer.Rows)) {
				compareAnswers(t, fmt.Sprintf("row %d of DuckDB's %d: %v\nClickHouse: %v", i, len(want), want[i], answer.Rows[i]), want[i], answer.Rows[i])
			}
		})
	}
}

// questionCase is a question with its parameters.
type questionCase struct {
	question string
	params   Params
}

// questionCases are all shipped questions, those with parameters with other values
// too.
func questionCases(t *testing.T, db *DB) map[string]questionCase {
	questions, err := Questions()
	require.NoError(t, err)
	require.NotEmpty(t, questions)
	session := query(t, db, "SELECT session_id FROM requests WHERE counts GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")[0][0].(string)
	out := map[string]questionCase{}
	for _, q := range questions {
		out[q.Name] = questionCase{q.Name, Params{}}
		for _, p := range q.Params {
			with := map[string]Params{"tz": {TZ: "Pacific/Auckland"}, "limit": {Limit: 3}, "session": {Session: session}}[p]
			out[q.Name+" with "+p] = questionCase{q.Name, with}
		}
	}
	return out
}

func askDuckDB(t *testing.T, db *DB, a questionCase) [][]any {
	rows, err := Ask(context.Background(), db, a.question, a.params)
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var out [][]any
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, rows.Scan(into...))
		out = append(out, values)
	}
	require.NoError(t, rows.Err())
	return out
}

func compareAnswers(t *testing.T, what string, want, got []any) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		if !equalValues(want[i], got[i]) {
			assert.Failf(t, "different answers", "column %d: DuckDB %#v, ClickHouse %#v\n%s", i, want[i], got[i], what)
		}
	}
}

// equalValues compares by DuckDB's type: ClickHouse gives many booleans as 0 and 1,
// and times and days as text.
func equalValues(want, got any) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	switch w := want.(type) {
	case bool:
		return got == w || got == json.Number(map[bool]string{false: "0", true: "1"}[w])
	case string:
		return got == w
	case time.Time:
		text := w.UTC().Format("2006-01-02 15:04:05.000")
		return got == text || got == strings.TrimSuffix(text, " 00:00:00.000")
	case *big.Int:
		return fmt.Sprint(got) == w.String()
	case float64:
		n, ok := got.(json.Number)
		if !ok {
			return false
		}
		f, err := n.Float64()
		return err == nil && math.Abs(f-w) <= 1e-9*max(math.Abs(f), math.Abs(w))
	case []any:
		list, ok := got.([]any)
		return ok && slices.EqualFunc(w, list, equalValues)
	}
	n, ok := got.(json.Number)
	return ok && n.String() == fmt.Sprint(want)
}

func TestClickHouseStandIns(t *testing.T) {
	names, err := filepath.Glob("sql/clickhouse/*.sql")
	require.NoError(t, err)
	for _, folder := range []string{"views", "shared"} {
		more, err := filepath.Glob("sql/clickhouse/" + folder + "/*.sql")
		require.NoError(t, err)
		names = append(names, more...)
	}
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.FileExists(t, strings.Replace(name, "clickhouse/", "", 1), "what %s stands in for", name)
	}
}
