package analyze

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

// shelf is a number of logs to import again and again. Each is read once.
type shelf struct {
	inputs []dataset.Input
	tokens *tokens.Tokens
}

func newShelf(t *testing.T, paths ...string) *shelf {
	t.Helper()
	files, _, err := formats.Expand(t.Context(), paths)
	require.NoError(t, err)
	s := &shelf{tokens: tokens.New()}
	for _, f := range files {
		read := sync.OnceValues(func() ([]*rollout.Session, error) { return f.Format.Read(context.Background(), f.Path) })
		var depends []string
		if f.Format.Depends != nil {
			depends = f.Format.Depends(f.Path)
		}
		s.inputs = append(s.inputs, dataset.Input{Path: f.Path, Depends: depends, Read: func(context.Context) ([]*rollout.Session, error) { return read() }})
	}
	return s
}

// imported brings the inputs in, one import after the other, and opens what came
// of it.
func (s *shelf) imported(t require.TestingT, dir string, batches ...[]dataset.Input) *DB {
	for _, inputs := range batches {
		summary, err := dataset.Import(context.Background(), dir, inputs, dataset.Options{Scratch: true, Tokens: s.tokens})
		require.NoError(t, err)
		require.Empty(t, summary.Failed)
	}
	db, err := Open(context.Background(), Options{Dataset: dir})
	require.NoError(t, err)
	return db
}

// picture is all that the order of importing must not change: totals, tree, kinds,
// copies, and problems. Which of several equal files was read first shows in paths
// alone, and those are left out.
func picture(t require.TestingT, db *DB) []string {
	var out []string
	for _, query := range []string{
		"SELECT source, session_id, requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, calls, counted_tokens, usage_basis FROM totals",
		"FROM session_tree",
		"SELECT source, part, session_id, kind, count(*), sum(count) FROM problems GROUP BY ALL",
		"SELECT source, session_id, request_index, kind, response_id, counts, input_tokens, output_tokens, counted_tokens FROM requests",
		"SELECT * REPLACE (round(cost_usd, 9) AS cost_usd) FROM kinds", // floats are summed in any order
		"FROM copies",
		"SELECT * FROM other_billed",
	} {
		query = strings.NewReplacer("FROM totals", "FROM ("+questionSQL(t, "session-totals")+")", "FROM kinds", "FROM ("+questionSQL(t, "usage-by-kind")+")",
			"FROM copies", "FROM ("+questionSQL(t, "copies")+")").Replace(query)
		rows, err := db.Query(context.Background(), "SELECT row_to_json(x)::VARCHAR FROM ("+query+") x ORDER BY 1")
		require.NoError(t, err)
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			out = append(out, line)
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
	return out
}

func questionSQL(t require.TestingT, name string) string {
	q, err := FindQuestion(name)
	require.NoError(t, err)
	return q.SQL
}

// shuffled imports the shelf in one go, then in random orders and splits.
func shuffled(t *testing.T, s *shelf, checks string) *DB {
	first := s.imported(t, t.TempDir(), s.inputs)
	t.Cleanup(func() { first.Close() })
	want := picture(t, first)
	fewerChecks(t, checks)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		batches := make([][]dataset.Input, rapid.IntRange(1, 4).Draw(rt, "imports"))
		for _, i := range rapid.Permutation(indexes(len(s.inputs))).Draw(rt, "order") {
			b := rapid.IntRange(0, len(batches)-1).Draw(rt, "import")
			batches[b] = append(batches[b], s.inputs[i])
		}
		db := s.imported(rt, dir, batches...)
		defer db.Close()
		if got := picture(rt, db); !slices.Equal(want, got) {
			assert.Equal(rt, want, got)
		}
	})
	return first
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

const (
	claudeProject = "../testdata/claude-code/projects/-home-dev-demo/"
	piTree        = "5f0c1d2e-0000-7000-8000-0000000000a1"
)

// copies are what people have beside their logs: archived ones, backups from
// before a session went on, one cut in the middle of a line, a session that was
// resumed under a new ID before logs said so, a trajectory made of a log. None of
// them is a request more.
func copies(t *testing.T) string {
	dir := t.TempDir()
	put := func(name, from string, change func([]byte) []byte) {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), change(data), 0o600))
	}
	whole := func(b []byte) []byte { return b }
	lines := func(n int) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:n], nil) }
	}
	put("archived/poll.jsonl", "../testdata/codex/poll-0.104.jsonl", whole)
	put("archived/01.jsonl", claudeProject+"aaaaaaaa-0000-4000-8000-000000000001.jsonl", whole)
	put("backup/compaction.jsonl", "../testdata/codex/compaction-0.118.jsonl", lines(12))
	put("backup/03.jsonl", claudeProject+"aaaaaaaa-0000-4000-8000-000000000003.jsonl", lines(9))
	put("backup/tree.jsonl", "../testdata/pi/tree-v3.jsonl", lines(10))
	put("cut/tree.jsonl", "../testdata/pi/tree-v3.jsonl", func(b []byte) []byte { return b[:len(b)/2] })
	put("resumed/02.jsonl", claudeProject+"aaaaaaaa-0000-4000-8000-000000000002.jsonl", func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("000000000002"), []byte("0000000000f2"))
	})
	trajectory := fmt.Sprintf(`{"schema_version":"ATIF-v1.6","session_id":%q,"agent":{"name":"pi","version":"1","model_name":"claude-sonnet-4-6"},"steps":[
{"step_id":1,"timestamp":"2026-03-01T10:00:00Z","source":"user","message":"Do it"},
{"step_id":2,"timestamp":"2026-03-01T10:00:05Z","source":"agent","message":"Done","metrics":{"prompt_tokens":3010,"completion_tokens":80}}],
"final_metrics":{"total_prompt_tokens":45590,"total_completion_tokens":435}}`, piTree)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trajectory.json"), []byte(trajectory), 0o600))
	return dir
}

// testdata lists the folders of invented logs, without the A/B runs: many of one
// kind.
func testdata(t *testing.T) []string {
	paths, err := filepath.Glob("../testdata/*")
	require.NoError(t, err)
	return slices.DeleteFunc(paths, func(p string) bool { return filepath.Base(p) == "ab" })
}

// The figures are those of the README of each folder of testdata, added up, file
// by file in its order.
func TestOrderOfImportsChangesNothing(t *testing.T) {
	db := shuffled(t, newShelf(t, append(testdata(t), copies(t))...), "3")
	type total struct{ requests, input, output int }
	want := map[string]total{
		"freecode": {6 + 8 + 2 + 2, 1740 + 6850 + 1240 + 2100, 115 + 245 + 27 + 35}, // all of testdata/bad is one session
		"codex": {
			4 + 3 + 2 + 1 + 1 + 7 + 3 + 2 + 3,
			21035 + 3300 + 6100 + 3200 + 3200 + 15290 + 27220 + (61 + 97 + 144),
			215 + 150 + 80 + 20 + 20 + 160 + 85 + (20 + 25 + 15),
		},
		"claude-code": { // the last is a warm-up of a session that is not there
			3 + 4 + 11 + 5 + 5 + 9 + 2 + 5 + 1,
			(1010 + 1315 + 1339) + (100 + 120 + 121 + 130) + (8*500 + (1+2+3+4+5+6+7)*1120 + 7300 + 5150 + 600) + (200 + 300 + 60 + 65 + 93) +
				(100 + 150 + 30 + 31 + 40) + (100 + 150 + 190 + 230 + 270 + 300 + 400 + 450 + 480) + (300 + 360) + (100 + 150 + 190 + 90) + 41,
			(60 + 12 + 8) + (5 + 9 + 2 + 2) + (9*20 + 5 + 4) + (60 + 6 + 40 + 1 + 7) + (20 + 5 + 6 + 7 + 3) + (20 + 7*25 + 9) + (50 + 3) + (40 + 5 + 3 + 2) + 3,
		},
		"copilot-cli": {13 + 2 + 3 + 2 + 3, 16050 + 640, 320 + 18 + 60},
		"gemini-cli":  {20 + 0 + 2 + 2, 159150 + 6200 + 10407, 519 + 50 + 80},
		"opencode":    {11 + 2 + 6 + 4, 45262 + 1900 + 8700 + 10000, 415 + 50 + 150 + 140},
		"pi":          {14 + 1 + 1 + 4, 45590 + 70 + 3155 + 400, 435 + 9 + 25 + 30},
		"swe-agent":   {6 + 2 + 5 + 2 + 5 + 4, 2860 + 1670, 117 + 72},
		"atif":        {4 + 1 + 1 + 2 + 2 + 6 + 7 + 6 + 8, 9000 + 500 + 900 + 2510 + 1434, 81 + 9 + 4 + 4 + 26},
		"api-log": { // of testdata/against only the attempt that the log does not hold
			12 + 4 + 4 + 3 + 4 + 3 + 3 + 4 + 9 + 1,
			9425 + 650 + 740 + 2030 + 1680 + 750 + 240 + 55 + 1623,
			289 + 30 + 56 + 102 + 62 + 28 + 19 + 7 + 152,
		},
	}
	got := map[string]total{}
	for _, row := range rowsOf(t, db, "SELECT source, count(*), sum(input_tokens)::BIGINT, sum(output_tokens)::BIGINT FROM requests WHERE counts GROUP BY ALL") {
		var source string
		var n total
		_, err := fmt.Sscan(row, &source, &n.requests, &n.input, &n.output)
		require.NoError(t, err)
		got[source] = n
	}
	assert.Equal(t, want, got)

	assert.Equal(t, []string{
		"api-log usage codex 3", // testdata/against
		"atif session pi 1",
		"claude-code history claude-code 4",
		"codex inherited codex 4", // two forks of two requests
		"pi inherited pi 1",
	}, rowsOf(t, db, "SELECT source, basis, owner_source, sum(requests)::BIGINT FROM ("+questionSQL(t, "copies")+") GROUP BY ALL ORDER BY ALL"))
	assert.Equal(t, []string{"title 1 60 6"}, rowsOf(t, db, "SELECT kind, requests, input_tokens, output_tokens FROM ("+questionSQL(t, "usage-by-kind")+") WHERE kind = 'title'"))
}

// Real logs, with the bodies that were captured beside one of them: its 4 + 21
// requests are those of the log, and a call for a title that the log does not hold.
func TestOrderOfImportsOfRealLogs(t *testing.T) {
	var folders []string
	for _, name := range []string{"api-log", "opencode", "pi", "gemini-cli", "copilot-cli", "atif", "swe-agent", "codex", "claude"} {
		folders = append(folders, devdata.Dir(t, name))
	}
	db := shuffled(t, newShelf(t, folders...), "1")
	assert.Equal(t, []string{"25"}, rowsOf(t, db, "SELECT count(*) FROM copied_requests WHERE source = 'api-log' AND owner_source = 'opencode'"))
	assert.Equal(t, []string{"title"}, rowsOf(t, db, "SELECT kind FROM requests WHERE source = 'api-log' AND session_id LIKE 'a2b5380e%' AND counts"))
}
