package main_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manySessions is a dataset of 26 sessions: those of an invented one, cut off after
// more and more of its records.
func manySessions(t *testing.T, h home, dir string) string {
	t.Helper()
	const id = "019c8b0d-0000-7000-8000-000000000001"
	log := read(t, testdata("codex", "poll-0.104.jsonl"))
	require.Contains(t, log, id)
	lines := strings.SplitAfter(strings.TrimSpace(log), "\n")
	logs := filepath.Join(h.dir, "sessions")
	for i := range 26 {
		cut := strings.Join(lines[:len(lines)-i/2], "")
		cut = strings.ReplaceAll(cut, id, fmt.Sprintf("%s%02d", id[:len(id)-2], i))
		cut = strings.ReplaceAll(cut, "run the tests", fmt.Sprintf("run the tests of part %d", i/2)) // two sessions a task
		mustWrite(t, filepath.Join(logs, fmt.Sprintf("rollout-%02d.jsonl", i)), cut)
	}
	got := h.run("import", logs, "-o", dir)
	require.Equal(t, 0, got.code, got.stderr)
	return dir
}

var fleetVariants = []string{"--variant", "cap:max=20", "--variant", "mask:keep=1,batch=1"}

func (h home) fleet(args ...string) string {
	h.t.Helper()
	got := h.run(append(append([]string{"replay", "--format", "json"}, fleetVariants...), args...)...)
	require.Equal(h.t, 0, got.code, got.stderr)
	return got.stdout
}

// filesIn are the files below a folder and what is in them.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[path] = read(t, filepath.Join(dir, path))
		}
		return err
	})
	require.NoError(t, err)
	return out
}

// TestFleetReplay: one run, three shards in another order, one thread and a merged
// dataset report the same to the last byte, and the same work leaves the same files.
func TestFleetReplay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	whole := manySessions(t, h, filepath.Join(h.dir, "a", "dataset"))
	want := h.fleet(whole, "--no-save")
	assert.NoDirExists(t, filepath.Join(whole, "estimates"))
	assert.Equal(t, want, h.fleet(whole), "kept")
	once := filesIn(t, filepath.Join(whole, "estimates"))
	assert.Len(t, once, 1, "one file of 26 sessions and two variants")
	assert.Equal(t, want, h.fleet(whole), "found again")
	assert.Equal(t, once, filesIn(t, filepath.Join(whole, "estimates")))

	divided := manySessions(t, h, filepath.Join(h.dir, "b", "dataset"))
	for _, part := range []string{"2/3", "3/3", "1/3", "2/3"} {
		assert.Contains(t, h.fleet(divided, "--shard", part), `"shard": "`+part+`"`)
	}
	assert.Equal(t, want, h.fleet(divided))
	assert.Len(t, filesIn(t, filepath.Join(divided, "estimates")), 3)
	got := h.run("verify", divided)
	assert.Equal(t, 0, got.code, got.stdout)

	alone := manySessions(t, h, filepath.Join(h.dir, "c", "dataset"))
	got = h.run("import", "--compact", alone)
	require.Equal(t, 0, got.code, got.stderr)
	cmd := h.command(t.Context(), append([]string{"replay", alone, "--format", "json"}, fleetVariants...)...)
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, want, string(out), "one thread, merged files")
	assert.Equal(t, once, filesIn(t, filepath.Join(alone, "estimates")))
}

// TestFleetShardsMerged: four shards in a random order, one variant after the other, and
// one run over all leave the same files once they are merged, and the same report.
func TestFleetShardsMerged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	merged := func(dir string) map[string]string {
		got := h.run("import", "--compact", dir)
		require.Equal(t, 0, got.code, got.stderr)
		return filesIn(t, filepath.Join(dir, "estimates"))
	}
	whole := manySessions(t, h, filepath.Join(h.dir, "a", "dataset"))
	want := h.fleet(whole)
	once := merged(whole)
	divided := manySessions(t, h, filepath.Join(h.dir, "b", "dataset"))
	for _, variant := range []string{fleetVariants[3], fleetVariants[1]} {
		for _, i := range rand.Perm(4) {
			got := h.run("replay", divided, "--variant", variant, "--shard", fmt.Sprintf("%d/4", i+1))
			require.Equal(t, 0, got.code, got.stderr)
		}
	}
	require.Greater(t, len(filesIn(t, filepath.Join(divided, "estimates"))), 4)
	assert.Equal(t, once, merged(divided))
	assert.Equal(t, once, merged(divided), "nothing left to do")
	assert.Equal(t, want, h.fleet(divided))
	assert.Equal(t, once, filesIn(t, filepath.Join(divided, "estimates")), "all estimates were found")
}

type fleetJSON struct {
	Sessions []struct{ ID string } `json:"sessions"`
	Baseline struct {
		Input int64 `json:"input_tokens"`
	}
	Variants []struct {
		Saving int64 `json:"static_saving_tokens"`
	}
	Fleet *struct {
		Sessions, Population int64
		Learnt               *struct{ Factor float64 }
		Variants             []struct {
			Share *struct {
				Ratio, Low, High float64
				Clusters         int
			} `json:"static_saving_share"`
			SampleError *float64 `json:"sample_error"`
		}
	}
}

func decoded(t *testing.T, text string) fleetJSON {
	t.Helper()
	var out fleetJSON
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	require.NotNil(t, out.Fleet)
	return out
}

// TestFleetAndQuery: SQL over the estimates adds up to the report, and samples say
// what they were drawn from.
func TestFleetAndQuery(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := manySessions(t, h, filepath.Join(h.dir, "dataset"))
	all := decoded(t, h.fleet(dir))
	assert.EqualValues(t, 26, all.Fleet.Population)
	clusters := all.Fleet.Variants[0].Share.Clusters
	assert.Less(t, clusters, 26, "sessions of one task are one")
	assert.GreaterOrEqual(t, clusters, 13)
	got := h.run("query", dir, "SELECT variant, count(*) AS n, sum(recorded_input_tokens) AS input, sum(static_saving_tokens) AS saved FROM estimates GROUP BY 1 ORDER BY 1", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var rows []struct {
		N, Input, Saved json.Number
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &rows), got.stdout)
	require.Len(t, rows, 2)
	for i, r := range rows {
		assert.Equal(t, "26", r.N.String())
		assert.JSONEq(t, jsonOf(t, all.Baseline.Input), r.Input.String())
		assert.JSONEq(t, jsonOf(t, all.Variants[i].Saving), r.Saved.String())
	}

	part := decoded(t, h.fleet(dir, "--sample", "10"))
	assert.Equal(t, []int64{10, 26}, []int64{part.Fleet.Sessions, part.Fleet.Population})
	require.NotNil(t, part.Fleet.Variants[0].SampleError)
	assert.Nil(t, all.Fleet.Variants[0].SampleError)
	assert.NotEqual(t, h.fleet(dir, "--sample", "10"), h.fleet(dir, "--sample", "10", "--seed", "7"))

	some := decoded(t, h.fleet(dir, "--where", "session_id NOT LIKE '%01'"))
	assert.Less(t, some.Baseline.Input, all.Baseline.Input)
	got = h.run("replay", dir, "--variant", "cap", "--where", "true; DROP TABLE selected")
	assert.Equal(t, 2, got.code, got.stderr)
	assert.Contains(t, got.stderr, "--where")

	got = h.run(append([]string{"replay", dir, "--width", "100"}, fleetVariants...)...)
	require.Equal(t, 0, got.code, got.stderr)
	for _, part := range []string{"Over the fleet", "95 % interval", "by kind of session", "1-9 requests", "what carries most of the saving"} {
		assert.Contains(t, got.stdout, part)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// TestOutcomesTeach: an A/B that is kept is listed, and corrects the base rates of the
// next replay of that dataset, unless told not to.
func TestOutcomesTeach(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := manySessions(t, h, filepath.Join(h.dir, "dataset"))
	got := h.run("outcomes", dir)
	assert.Equal(t, 3, got.code, "none yet")
	file := filepath.Join(h.dir, "replay.json")
	require.NoError(t, os.WriteFile(file, []byte(h.fleet(dir)), 0o600))
	assert.Nil(t, decoded(t, read(t, file)).Fleet.Learnt)

	compare := []string{"compare", testdata("ab", "base"), testdata("ab", "candidate"), "--save", dir}
	got = h.run(compare...)
	assert.Equal(t, 2, got.code, "nothing was predicted")
	got = h.run(append(compare, "--predicted", file)...)
	assert.Equal(t, 2, got.code, "the candidate ran one variant, not all that were replayed")
	assert.Contains(t, got.stderr, "--variant NAME says which of")
	got = h.run(append(compare, "--predicted", file, "--variant", "nosuch")...)
	assert.Equal(t, 2, got.code)
	for range 2 {
		got = h.run(append(compare, "--predicted", file, "--variant", "cap:max=20")...)
		require.Equal(t, 0, got.code, got.stderr)
	}
	got = h.run("outcomes", dir, "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var out struct {
		Outcomes []struct {
			Variant string
			Share   [3]*float64 `json:"predicted_static_share"`
			Tasks   int
		}
		Record struct {
			Requests struct{ Outcomes int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	require.Len(t, out.Outcomes, 1, "saved twice, kept once")
	assert.Equal(t, 13, out.Outcomes[0].Tasks)
	require.NotNil(t, out.Outcomes[0].Share[1], "the interval of the prediction is kept")
	assert.Equal(t, 1, out.Record.Requests.Outcomes)

	taught := decoded(t, h.fleet(dir))
	require.NotNil(t, taught.Fleet.Learnt)
	assert.Nil(t, decoded(t, h.fleet(dir, "--no-learn")).Fleet.Learnt)
}

// TestFleetThatCannotBeKept: estimates of a dataset that cannot be written are worked
// out all the same, with one note.
func TestFleetThatCannotBeKept(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := manySessions(t, h, filepath.Join(h.dir, "dataset"))
	want := h.fleet(dir, "--no-save")
	mustWrite(t, filepath.Join(dir, "estimates"), "in the way")
	got := h.run(append([]string{"replay", dir, "--format", "json"}, fleetVariants...)...)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, want, got.stdout)
	assert.Equal(t, 1, strings.Count(got.stderr, "estimates are not kept"))
	got = h.run("replay", dir, "--variant", "cap", "--shard", "1/2")
	assert.Equal(t, 1, got.code, "a shard is of no use then")
}

// TestDamagedEstimates: what fclog worked out itself is thrown away when it is
// damaged, and the message says which file.
func TestDamagedEstimates(t *testing.T) {
	h := newHome(t)
	dir := manySessions(t, h, filepath.Join(h.dir, "dataset"))
	want := h.fleet(dir)
	files, err := filepath.Glob(filepath.Join(dir, "estimates", "*", "*", "*.parquet"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	require.NoError(t, os.WriteFile(files[0], []byte("junk"), 0o600))
	got := h.run("replay", dir, "--variant", "cap")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, files[0])
	assert.Contains(t, got.stderr, "remove that file, and 'fclog replay' works its estimates out again")
	assert.Contains(t, unwrapped(h.run("verify", dir).stdout), "remove it: 'fclog replay' works those estimates out again")
	require.NoError(t, os.Remove(files[0]))
	assert.Equal(t, want, h.fleet(dir))
}

// TestFleetAudit: the audit of many sessions says beside its sums how they differ, and
// what it says of a sample.
func TestFleetAudit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := manySessions(t, h, filepath.Join(h.dir, "dataset"))
	type audited struct {
		Totals struct {
			Input int64 `json:"input_tokens"`
		}
		Fleet *struct {
			Sessions, Population int64
			Strata               []struct {
				By    string
				Input int64 `json:"input_tokens"`
			}
		}
	}
	run := func(args ...string) (out audited) {
		got := h.run(append([]string{"audit", dir, "--format", "json"}, args...)...)
		require.Equal(t, 0, got.code, got.stderr)
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
		return out
	}
	all := run()
	require.NotNil(t, all.Fleet)
	sums := map[string]int64{}
	for _, s := range all.Fleet.Strata {
		sums[s.By] += s.Input
	}
	assert.Equal(t, all.Totals.Input, sums["agent"])
	part := run("--sample", "5")
	require.NotNil(t, part.Fleet)
	assert.Equal(t, []int64{5, 26}, []int64{part.Fleet.Sessions, part.Fleet.Population})
	assert.Nil(t, run("--where", "session_id LIKE '%01'").Fleet, "one session")
	unknown := h.run("audit", "--demo", "--where", "nonsense")
	assert.Equal(t, 2, unknown.code)
	assert.Contains(t, unknown.stderr, "--where: this is no condition over the columns of sessions: ")
	assert.Contains(t, unknown.stderr, `"nonsense"`)
	assert.NotContains(t, unknown.stderr, "dataset /", "the temporary one is nobody's business")
	got := h.run("audit", dir, "--where", "(SELECT true)")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "--where")
	got = h.run("audit", dir, "--format", "md")
	assert.Contains(t, got.stdout, "# The fleet")
}
