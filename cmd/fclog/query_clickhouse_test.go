package main_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/clickhouse"
)

// What is printed runs as it is. The log has 2 requests, 2,100 input tokens.
func TestQueryForClickHouse(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, "dataset")
	require.Equal(t, 0, h.run("import", testdata("bad", "good.jsonl"), "-o", dir).code)
	got := h.run("query", dir, "--clickhouse", "--name", "usage-by-agent")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "CREATE TABLE requests AS")
	assert.Contains(t, got.stdout, "-- usage-by-agent")
	assert.NotContains(t, h.run("query", dir, "--clickhouse").stdout, "-- usage-by-agent")

	engine, err := clickhouse.Find(filepath.Join("..", ".."))
	if err != nil {
		t.Skip(err)
	}
	answers, err := engine.Run(t.Context(), "SELECT 1", []clickhouse.Query{{Name: "all", SQL: got.stdout}})
	require.NoError(t, err)
	require.NoError(t, answers["all"].Err)
	require.Len(t, answers["all"].Rows, 1)
	assert.Equal(t, []any{"freecode", json.Number("1"), json.Number("2"), json.Number("2100")}, answers["all"].Rows[0][:4])
}

func TestQueryForClickHouseRefusals(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"query", "--clickhouse"}, "takes a DATASET and nothing else", 2},
		{[]string{"query", "dataset", "SELECT 1", "--clickhouse"}, "takes a DATASET and nothing else", 2},
		{[]string{"query", "dataset", "--clickhouse", "--since", "7d"}, "takes no --since", 2},
		{[]string{"query", "dataset", "--clickhouse", "--format", "csv"}, "takes no --format", 2},
		{[]string{"query", "dataset", "--clickhouse", "--name", "no-such"}, "no-such", 2},
		{[]string{"query", "dataset", "--clickhouse", "--tz", "Nowhere/City"}, "no time zone", 2},
		{[]string{"query", h.dir, "--clickhouse"}, "is not an fclog dataset", 1},
	} {
		got := h.run(c.args...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.want, c.args)
		assert.Empty(t, got.stdout, c.args)
	}
}
