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

	"github.com/fclog/fclog/analyze/dataset"
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
	logs := t.TempDir()
	shelf := newShelf(t, append(testdata(t), copies(t))...)
	require.NoError(t, shelf.imported(t, logs, shelf.inputs).Close())
	rare := t.TempDir()
	write(t, rare, rareParts()...)
	rows := map[string]int{}
	for name, dir := range map[string]string{"logs of every format": logs, "rare rows": rare} {
		t.Run(name, func(t *testing.T) { sameAnswers(t, engine, dir, rows) })
	}
	for name, n := range rows {
		assert.NotZero(t, n, "%s has no answer in any of the datasets, so nothing was compared", name)
	}
}

// sameAnswers adds the rows that were compared to those of each question.
func sameAnswers(t *testing.T, engine clickhouse.Engine, dir string, rows map[string]int) {
	prices := clickHousePriceList()
	db := open(t, Options{Dataset: dir, Prices: prices})
	setup, err := ClickHouseTables(dir, prices)
	require.NoError(t, err)
	cases := questionCases(t, db)
	var queries []clickhouse.Query
	for name, c := range cases {
		sql, err := ClickHouseQuestion(c.question, c.params)
		require.NoError(t, err)
		queries = append(queries, clickhouse.Query{Name: name, SQL: sql})
	}
	answers, err := engine.Run(t.Context(), setup, queries)
	require.NoError(t, err)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, ok := answers[name]
			require.True(t, ok, "ClickHouse gave no answer")
			require.NoError(t, answer.Err)
			want := askDuckDB(t, db, c)
			require.Len(t, answer.Rows, len(want), "DuckDB: %v", want)
			for i := range want {
				compareAnswers(t, fmt.Sprintf("row %d of %d: DuckDB %v, ClickHouse %v", i, len(want), want[i], answer.Rows[i]), want[i], answer.Rows[i])
			}
			rows[c.question] += len(want)
		})
	}
}

// rareParts hold what no log of testdata does: sub-agents of which no log was read,
// content beyond the input, a copy that went its own way and holds texts that are
// gone, line numbers, a poll, a break of the cache in front of the conversation.
func rareParts() []*dataset.Rows {
	b := &builder{tables: handBuilt()}
	b.call("a", 3, dataset.Call{Tool: "Task", Class: "agent", CallID: "left-out", BatchSize: 1})
	b.session(dataset.Session{SessionID: "b", Models: []string{"m1"}, StartedAt: ptr(start.UnixMilli() + 1), Missing: []string{"todo list"}})
	b.request("b", usage(6000, 0, 10, 11_000, 5))
	b.request("b", usage(7000, 100, 10, 6800, 5))
	b.request("b", usage(9000, 4000, 10, 8800, 5))
	front := b.item("b", dataset.Item{Kind: "system_prompt"}, 3000)
	b.span("b", front, 0, 1, 1, inSystem)
	b.span("b", front, 0, 2, 3, inSystem)
	b.carry("b", "user_text", "", 5800, 1, 3)
	args := b.carry("b", "tool_call", "BashOutput", 7, 3, 3)
	b.call("b", 2, dataset.Call{Tool: "BashOutput", Class: "other", Poll: ptr("empty"), Task: ptr("1"), ArgsItem: &args, BatchSize: 1})

	var parts []*dataset.Rows
	for _, s := range b.sessions {
		s.Importer, s.Encoding, s.EndedAt = "1", "o200k_base", ptr(*s.StartedAt+60_000)
		parts = append(parts, &dataset.Rows{
			Sessions: []dataset.Session{s}, Requests: ofPart(b.requests, s.Part, func(r dataset.Request) string { return r.Part }),
			Items: ofPart(b.items, s.Part, func(i dataset.Item) string { return i.Part }),
			Spans: ofPart(b.spans, s.Part, func(x dataset.Span) string { return x.Part }),
			Calls: ofPart(b.calls, s.Part, func(c dataset.Call) string { return c.Part }),
		})
	}
	old := session("test", "a", start.UnixMilli())
	old.Sessions[0].Part, old.Sessions[0].File = "old", parts[0].Sessions[0].File
	addRequest(old, "only-in-the-copy", nil)
	old.Items = []dataset.Item{{Part: "old", SessionID: "a", Kind: "user_text", Origin: "logged", TextHash: "gone", Tokens: ptr(int64(3))}}
	return append(parts, old)
}

func ofPart[T any](rows []T, part string, partOf func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(rows), func(r T) bool { return partOf(r) != part })
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

// A stand-in whose file was renamed would be forgotten.
func TestClickHouseStandIns(t *testing.T) {
	var names []string
	for _, pattern := range []string{"sql/clickhouse/*/*.sql", "sql/clickhouse/*.sql"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		names = append(names, found...)
	}
	require.NotEmpty(t, names)
	for _, name := range names {
		if filepath.Base(name) != "settings.sql" {
			assert.FileExists(t, strings.Replace(name, "clickhouse/", "", 1), "what %s stands in for", name)
		}
	}
}

func TestClickHousePatternsInPaths(t *testing.T) {
	_, err := ClickHouseTables("/data/{a,b}", nil)
	assert.ErrorContains(t, err, "{a,b}")
}

func TestClickHouseInObjectStore(t *testing.T) {
	text, err := ClickHouseTables("https://s3.example.org/logs/o'neil/", nil)
	require.NoError(t, err)
	for _, table := range append(dataset.Tables(), dataset.SideTables()...) {
		assert.Contains(t, text, `FROM s3('https://s3.example.org/logs/o\'neil/`+table+`/*/*/*.parquet', Parquet, '`)
	}
	assert.NotContains(t, text, "file(")
	for _, address := range []string{"https://me:secret@s3.example.org/logs", "s3://logs/x?AWS_SECRET=secret", "s3:///x", "http://[::1"} {
		_, err := ClickHouseTables(address, nil)
		assert.ErrorContains(t, err, "AWS_ACCESS_KEY_ID", address)
		assert.NotContains(t, err.Error(), "secret", "keys are not repeated")
	}
}

// TestEstimatesOnClickHouse: money keeps its places behind the point, and lists of
// records their fields.
func TestEstimatesOnClickHouse(t *testing.T) {
	engine, err := clickhouse.Find("..")
	if err != nil {
		t.Skip(err)
	}
	dir := datasetOf(t, "a")
	part := rowsOf(t, open(t, Options{Dataset: dir}), "SELECT part FROM sessions")[0]
	require.NoError(t, dataset.WriteEstimates(dir, "codex", "2026-01", []dataset.Estimate{estimateOf(part, "a", "cap")}))
	setup, err := ClickHouseTables(dir, nil)
	require.NoError(t, err)
	answers, err := engine.Run(t.Context(), setup, []clickhouse.Query{{Name: "q",
		SQL: "SELECT toString(static_saving_usd) AS usd, static_saving_tokens, detour_strata[1].kind AS kind, detour_strata[1].items AS items FROM estimates"}})
	require.NoError(t, err)
	require.NoError(t, answers["q"].Err)
	assert.Equal(t, [][]any{{"1.5", json.Number("100"), "log", json.Number("2")}}, answers["q"].Rows)
}
