package analyze

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

func openFleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	f, err := OpenFleet(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

// TestFleetRecordings: sessions read one by one are those that are read together,
// from parts of their own and from merged ones.
func TestFleetRecordings(t *testing.T) {
	for _, format := range []string{"freecode", "codex", "claude-code"} {
		t.Run(format, func(t *testing.T) {
			dir := openLogs(t, filepath.Join("..", "testdata", format)).root
			for _, merged := range []bool{false, true} {
				if merged {
					require.NoError(t, dataset.Compact(t.Context(), dir))
				}
				want, err := open(t, Options{Dataset: dir}).Recordings(t.Context())
				require.NoError(t, err)
				byID := map[string]spelledOut{}
				own := map[string]int64{}
				for _, s := range want {
					byID[s.ID], own[s.ID] = plainly(s), ownRequests(s)
				}
				f := openFleet(t, Options{Dataset: dir})
				sessions, err := f.Sessions(t.Context())
				require.NoError(t, err)
				require.Len(t, sessions, len(want))
				for _, batch := range Batches(sessions, 3, 1<<20) {
					got, err := f.Recordings(t.Context(), batch)
					require.NoError(t, err)
					require.Len(t, got, len(batch))
					for i, s := range got {
						assert.Equal(t, batch[i].ID, s.ID)
						assert.Equal(t, byID[s.ID], plainly(s), s.ID)
						assert.Equal(t, own[s.ID], ownRequests(s), s.ID)
					}
				}
			}
		})
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	of := func(source, month string, bytes int64) FleetSession {
		return FleetSession{Source: source, Month: month, Bytes: bytes}
	}
	got := [][]int64{}
	for _, b := range Batches([]FleetSession{of("a", "1", 5), of("a", "1", 5), of("a", "1", 50), of("a", "2", 1), of("b", "2", 1), of("b", "2", 1), of("b", "2", 1)}, 2, 10) {
		sizes := []int64{}
		for _, s := range b {
			sizes = append(sizes, s.Bytes)
		}
		got = append(got, sizes)
	}
	assert.Equal(t, [][]int64{{5, 5}, {50}, {1}, {1, 1}, {1}}, got)
}

// datasetOf holds sessions a, b, c … of one request each.
func datasetOf(t *testing.T, ids ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, id := range ids {
		p := session("codex", id, day(1+i, 0))
		addRequest(p, "r-"+id, nil)
		write(t, dir, p)
	}
	return dir
}

func idsOf(t *testing.T, f *Fleet) []string {
	t.Helper()
	sessions, err := f.Sessions(t.Context())
	require.NoError(t, err)
	ids := []string{}
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestWhere(t *testing.T) {
	dir := datasetOf(t, "a", "b", "c")
	for condition, want := range map[string][]string{
		"":                                    {"a", "b", "c"},
		"session_id IN ('a', 'c')":            {"a", "c"},
		"source = 'codex' AND session_id>'a'": {"b", "c"},
		"session_id = 'a' -- the first":       {"a"},
		"len(models) >= 0 AND month = '2026-01' AND session_id <> 'b'": {"a", "c"},
		"false": {},
	} {
		got := idsOf(t, openFleet(t, Options{Dataset: dir, Selection: Selection{Where: condition}}))
		assert.Equal(t, want, got, condition)
		assert.Equal(t, []string{string(rune('0' + len(want)))}, rowsOf(t, open(t, Options{Dataset: dir, Selection: Selection{Where: condition}}), "SELECT count(*) FROM sessions"))
	}
}

// TestWhereIsAnExpression: nothing but a condition over sessions gets through, and
// nothing of it is run.
func TestWhereIsAnExpression(t *testing.T) {
	dir := datasetOf(t, "a")
	secret := filepath.Join(t.TempDir(), "secret.csv")
	require.NoError(t, os.WriteFile(secret, []byte("x\n1\n"), 0o600))
	for _, condition := range []string{
		"true; DROP TABLE selected",
		"true) OR (SELECT count(*) FROM read_csv('" + secret + "')) > 0 --",
		"EXISTS (SELECT 1 FROM read_csv('" + secret + "'))",
		"session_id IN (SELECT x FROM '" + secret + "')",
		"true) UNION SELECT 1 FROM read_csv('" + secret + "') WHERE (true",
		"true) GROUP BY session_id HAVING (true",
		"true) ORDER BY (1",
		"true) LIMIT (1",
		"true) QUALIFY (true",
		"getenv('HOME') <> ''",
		"(session_id = 'a'",
		"session_id = 'a' /*",
		"(FROM (COPY (SELECT 1) TO '" + secret + "')) > 0",
		"(ATTACH '" + secret + "')",
		"session_id = (VALUES ('a'))",
		" ",
	} {
		_, err := OpenFleet(t.Context(), Options{Dataset: dir, Selection: Selection{Where: condition}})
		require.Error(t, err, condition)
		_, err = Open(t.Context(), Options{Dataset: dir, Selection: Selection{Where: condition}})
		require.Error(t, err, condition)
	}
	for _, condition := range []string{"true) UNION SELECT 1 FROM sessions WHERE (true", "session_id IN (SELECT 'a')", "true; SELECT 1", "nonsense", "agent_version = nonsense(1)"} {
		_, err := OpenFleet(t.Context(), Options{Dataset: dir, Selection: Selection{Where: condition}})
		assert.ErrorIs(t, err, ErrCondition, condition)
	}
	raw, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "x\n1\n", string(raw))
}

// TestSample: as many as asked for, the same ones every time, others by another seed,
// and a larger sample holds the smaller one.
func TestSample(t *testing.T) {
	ids := []string{}
	for i := range 40 {
		ids = append(ids, string(rune('A'+i)))
	}
	dir := datasetOf(t, ids...)
	draw := func(n int, seed int64) []string {
		f := openFleet(t, Options{Dataset: dir, Selection: Selection{Sample: n, Seed: seed}})
		assert.Equal(t, int64(40), f.Population)
		return idsOf(t, f)
	}
	ten := draw(10, 1)
	assert.Len(t, ten, 10)
	assert.Equal(t, ten, draw(10, 1))
	assert.NotEqual(t, ten, draw(10, 2))
	assert.Subset(t, draw(20, 1), ten)
	assert.Len(t, draw(100, 1), 40)
}
