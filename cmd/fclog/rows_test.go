package main_test

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDays: a day is no instant, in any format, nor in lists and structs.
func TestDays(t *testing.T) {
	h := newHome(t)
	good := testdata("bad", "good.jsonl")
	sql := `SELECT DATE '2026-12-01' AS d, DATE '1969-12-31' AS before, TIMESTAMP '2026-12-01 02:03:04' AS t, TIME '05:06:07' AS c,
		[DATE '2026-12-02', NULL] AS l, {'of': DATE '2026-12-03'} AS s, [TIMESTAMP '2026-12-04 00:00:00'] AS ts, NULL::DATE AS none`
	got := h.run("query", good, sql, "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	assert.JSONEq(t, `[{"d":"2026-12-01","before":"1969-12-31","t":"2026-12-01T02:03:04Z","c":"05:06:07","l":["2026-12-02",null],
		"s":{"of":"2026-12-03"},"ts":["2026-12-04T00:00:00Z"],"none":null}]`, got.stdout)

	got = h.run("query", good, sql, "--format", "csv")
	records, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 2)
	assert.Equal(t, []string{"2026-12-01", "1969-12-31", "2026-12-01T02:03:04Z", "05:06:07", `["2026-12-02",null]`, `{"of":"2026-12-03"}`,
		`["2026-12-04T00:00:00Z"]`, ""}, records[1])

	got = h.run("query", good, sql)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	assert.Contains(t, strings.Join(strings.Fields(lines[len(lines)-1]), " "), "2026-12-01 1969-12-31 2026-12-01 02:03:04 05:06:07")

	file := filepath.Join(h.dir, "days.parquet")
	require.Equal(t, 0, h.run("query", good, sql, "--format", "parquet", "-o", file).code)
	assert.Equal(t, []string{"d=2026-12-01T00:00:00Z before=1969-12-31T00:00:00Z t=2026-12-01T02:03:04Z c=05:06:07 " +
		`l=["2026-12-02",null] s={"of":"2026-12-03"} ts=["2026-12-04T00:00:00Z"] none=<nil>`}, readParquet(t, file))
}

// TestDaysOfAQuestion: good.jsonl holds one session of one day.
func TestDaysOfAQuestion(t *testing.T) {
	got := newHome(t).run("query", testdata("codex", "poll-0.104.jsonl"), "--name", "usage-by-day", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var rows []struct{ Day string }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &rows))
	require.NotEmpty(t, rows)
	assert.Equal(t, "2026-02-24", rows[0].Day)
}

// TestCSVKeepsEveryCharacter: quoted fields hold line breaks and control characters
// as they are. Large numbers are no text, whatever their sign.
func TestCSVKeepsEveryCharacter(t *testing.T) {
	sql := `SELECT 'a' || chr(27) || '[31m' || chr(7) || chr(0) AS control, 'one' || chr(10) || 'two' || chr(13) || chr(10) AS lines,
		chr(10) || '=1' AS formula, (-170141183460469231731687303715884105727)::HUGEINT AS huge, -1.5::DECIMAL(4, 1) AS small`
	got := newHome(t).run("query", testdata("bad", "good.jsonl"), sql, "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, "control,lines,formula,huge,small\n"+
		"a\x1b[31m\a\x00,\"one\ntwo\r\n\",\"'\n=1\",-170141183460469231731687303715884105727,-1.5\n", got.stdout)
	help := newHome(t).run("query", "--help").stdout
	for _, part := range []string{"RFC 4180", "control characters", "apostrophe"} {
		assert.Contains(t, help, part)
	}
}

// What is too wide for the screen comes row by row, with nothing cut and no line
// that wraps; into a pipe it stays a table.
func TestRowsTooWideForATable(t *testing.T) {
	h := newHome(t)
	sql := `SELECT 'first of two' AS what, 1234567.25 AS share, 12345678901 AS n1, 12345678902 AS n2, 12345678903 AS n3, 12345678904 AS n4, NULL AS none
		UNION ALL SELECT 'ünd 漢字', 0.5, 1, 2, 3, 4, 1 ORDER BY n1 DESC`
	got := h.run("query", testdata("bad", "good.jsonl"), sql, "--width", "60")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, `row 1
  what   first of two
  share  1,234,567
  n1     12,345,678,901
  n2     12,345,678,902
  n3     12,345,678,903
  n4     12,345,678,904
  none   –
row 2
  what   ünd 漢字
  share  0.5
  n1     1
  n2     2
  n3     3
  n4     4
  none   1
`, got.stdout)
	for _, wide := range [][]string{{"--width", "120"}, nil} {
		got = h.run(append([]string{"query", testdata("bad", "good.jsonl"), sql}, wide...)...)
		assert.Len(t, strings.Split(strings.TrimSpace(got.stdout), "\n"), 3, wide)
	}
}
