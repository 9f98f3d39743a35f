package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/rollout"
)

// fleetLogs writes logs of one, two or three requests in folders of months.
func fleetLogs(t *testing.T, dir string, n int) []Input {
	t.Helper()
	var out []Input
	for i := range n {
		text := fmt.Sprintf("log S%d %d\n", i, 1+i%28)
		for k := range 1 + i%3 {
			text += fmt.Sprintf("request %d of %d\n", k, i)
		}
		out = append(out, logFile(t, dir, fmt.Sprintf("m%d/s%d", i%4, i), text))
	}
	return out
}

// mine are the inputs of a shard, as its caller chooses them.
func mine(t *testing.T, s shard.Shard, root string, inputs []Input) []Input {
	t.Helper()
	keep, err := Distinct(t.Context(), inputs)
	require.NoError(t, err)
	var out []Input
	for i, in := range inputs {
		if keep[i] && s.Has(shard.Key([]string{root}, in.Path)) {
			out = append(out, in)
		}
	}
	return out
}

func importShard(t *testing.T, dir string, s shard.Shard, inputs []Input) Summary {
	t.Helper()
	sum, err := Import(t.Context(), dir, inputs, Options{Shard: s})
	require.NoError(t, err)
	return counts(sum)
}

// TestShardsMakeTheSameDataset: at the same time, in whatever number, with copies in
// several places, the files are those of one import, and after a merge too.
func TestShardsMakeTheSameDataset(t *testing.T) {
	logs := t.TempDir()
	inputs := fleetLogs(t, logs, 24)
	inputs = append(inputs, logFile(t, logs, "a-copy", "log S3 4\nrequest 0 of 3\n"), logFile(t, logs, "z-copy", "log S3 4\nrequest 0 of 3\n"))
	whole := t.TempDir()
	sum := importShard(t, whole, shard.Shard{Index: 1, Of: 1}, mine(t, shard.Shard{}, logs, inputs))
	assert.Equal(t, Summary{Imported: 24, Sessions: 24}, sum, "three of 26 files have one content")
	plain := t.TempDir()
	importInto(t, plain, inputs...)
	for _, n := range []int{2, 5, 16} {
		dir := t.TempDir()
		var all sync.WaitGroup
		for i := n; i >= 1; i-- {
			s := shard.Shard{Index: i, Of: n}
			files := mine(t, s, logs, inputs)
			all.Go(func() {
				_, err := Import(t.Context(), dir, files, Options{Shard: s})
				assert.NoError(t, err)
			})
		}
		all.Wait()
		assert.Equal(t, tree(t, whole), tree(t, dir), "%d shards", n)
		require.NoError(t, Compact(t.Context(), dir))
		if n == 5 {
			require.NoError(t, Compact(t.Context(), plain))
			assert.Equal(t, tree(t, plain), tree(t, dir))
		}
	}
}

// TestShardAgain: a shard that runs again changes nothing, and finds what grew.
func TestShardAgain(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	inputs := fleetLogs(t, logs, 12)
	one := shard.Shard{Index: 1, Of: 2}
	files := mine(t, one, logs, inputs)
	require.NotEmpty(t, files)
	importShard(t, dir, one, files)
	before := tree(t, dir)
	assert.Equal(t, Summary{Unchanged: len(files)}, importShard(t, dir, one, files))
	assert.Equal(t, before, tree(t, dir))

	grown := files[0]
	raw, err := os.ReadFile(grown.Path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(grown.Path, append(raw, "one more\n"...), 0o600))
	assert.Equal(t, Summary{Replaced: 1, Unchanged: len(files) - 1, Sessions: 1}, importShard(t, dir, one, files))

	fresh := t.TempDir()
	importShard(t, fresh, one, files)
	assert.Equal(t, tree(t, fresh), tree(t, dir))
}

// TestKilledShard: what a killed run of a shard left aside goes with its next run,
// that of others stays, and a file that grew since replaces the part of the killed run.
func TestKilledShard(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	one, two := shard.Shard{Index: 1, Of: 2}, shard.Shard{Index: 2, Of: 2}
	a := logFile(t, logs, "a", "log A 1\none\n")
	importShard(t, dir, one, []Input{a})
	require.NoError(t, os.Remove(filepath.Join(dir, "_state", "shard-1-of-2.json")), "a killed run notes nothing")
	own := filepath.Join(dir, "_tmp", "shard-1-of-2-123")
	other := filepath.Join(dir, "_tmp", "shard-2-of-2-456")
	longer := filepath.Join(dir, "_tmp", "shard-1-of-20-789")
	for _, aside := range []string{own, other, longer} {
		require.NoError(t, os.MkdirAll(aside, 0o700))
	}
	a = logFile(t, logs, "a", "log A 1\none\ntwo\n")
	assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, importShard(t, dir, one, []Input{a}))
	assert.Len(t, parts(t, dir), 1)
	assert.NoDirExists(t, own)
	assert.DirExists(t, other)
	assert.DirExists(t, longer)
	importShard(t, dir, two, nil)
	assert.NoDirExists(t, other)
}

// TestImportBesideShards: one that wants the dataset for itself is refused while a
// shard writes, and the other way round.
func TestImportBesideShards(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\n")
	during := a
	during.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		_, err := Import(ctx, dir, nil, Options{})
		assert.ErrorContains(t, err, "another fclog import is writing dataset")
		importShard(t, dir, shard.Shard{Index: 2, Of: 2}, nil)
		return a.Read(ctx)
	}
	importShard(t, dir, shard.Shard{Index: 1, Of: 2}, []Input{during})

	b := logFile(t, logs, "b", "log B 1\none\n")
	during = b
	during.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		_, err := Import(ctx, dir, nil, Options{Shard: shard.Shard{Index: 1, Of: 2}})
		assert.ErrorContains(t, err, "another fclog import is writing dataset")
		return b.Read(ctx)
	}
	importInto(t, dir, during)
}

// TestSoleImportSparesShards: where the lock does not reach other machines, files
// aside of shards and parts without a sessions file are left alone for a day.
func TestSoleImportSparesShards(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"))
	aside := filepath.Join(dir, "_tmp", "shard-1-of-2-123")
	require.NoError(t, os.MkdirAll(aside, 0o700))
	half := filepath.Join(dir, "items", "source=codex", "month=2026-01", "00000000000000000000000000000000.parquet")
	require.NoError(t, os.WriteFile(half, []byte("being written"), 0o600))
	importInto(t, dir)
	assert.DirExists(t, aside)
	assert.FileExists(t, half)
	old := time.Now().Add(-25 * time.Hour)
	require.NoError(t, os.Chtimes(aside, old, old))
	importInto(t, dir)
	assert.NoDirExists(t, aside)
	assert.NoFileExists(t, half)
}

// TestShardLeavesMergedFiles: an older part in a merged file is left to the next
// import that has the dataset for itself.
func TestShardLeavesMergedFiles(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	one := shard.Shard{Index: 1, Of: 1}
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log B 1\none\n"))
	require.NoError(t, Compact(t.Context(), dir))
	merged, err := filepath.Glob(filepath.Join(dir, "sessions", "source=codex", "*", "merged-*.parquet"))
	require.NoError(t, err)
	require.Len(t, merged, 1)
	before, err := os.ReadFile(merged[0])
	require.NoError(t, err)

	a := logFile(t, logs, "a", "log A 1\none\ntwo\n")
	assert.Equal(t, Summary{Imported: 1, Sessions: 1}, importShard(t, dir, one, []Input{a}))
	after, err := os.ReadFile(merged[0])
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Len(t, all[Session](t, dir, "sessions"), 3)

	importInto(t, dir, a)
	assert.Len(t, all[Session](t, dir, "sessions"), 2, "the older part is gone now")
}

// TestShardsAgreeOnText: a dataset with texts takes no shard without, also one that
// was about to make it.
func TestShardsAgreeOnText(t *testing.T) {
	dir := t.TempDir()
	one := shard.Shard{Index: 1, Of: 2}
	importShard(t, dir, one, nil)
	_, err := Import(t.Context(), dir, nil, Options{Shard: shard.Shard{Index: 2, Of: 2}, NoText: true})
	require.ErrorContains(t, err, "holds texts")

	in, err := openInside(dir)
	require.NoError(t, err)
	defer in.root.Close()
	late := &store{inside: in, shard: one, create: in.create}
	require.NoError(t, late.init(), "it thought that there is no dataset")
	m, err := readMarker(dir)
	require.NoError(t, err)
	assert.True(t, m.Text, "the marker that was there first stands")
}

func TestStandings(t *testing.T) {
	logs, dir := t.TempDir(), filepath.Join(t.TempDir(), "new")
	a, b, c := logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log B 1\none\n"), logFile(t, logs, "c", "no log\n")
	inputs := []Input{a, b, c}
	look := func(why string, want ...Standing) {
		t.Helper()
		got, err := Standings(t.Context(), dir, inputs)
		require.NoError(t, err)
		assert.Equal(t, want, got, why)
	}
	one := shard.Shard{Index: 1, Of: 2}
	look("no dataset", Missing, Missing, Missing)
	importShard(t, dir, one, []Input{a, c})
	look("one shard", Held, Missing, Unreadable)
	require.NoError(t, os.Remove(filepath.Join(dir, "_state", "shard-1-of-2.json")))
	look("from the parts alone", Held, Missing, Missing)
	importShard(t, dir, shard.Shard{Index: 2, Of: 2}, []Input{b, c})
	look("both", Held, Held, Unreadable)
	require.NoError(t, Compact(t.Context(), dir))
	look("merged", Held, Held, Unreadable)
	logFile(t, logs, "b", "log B 1\none\ntwo\n")
	look("grown", Held, Missing, Unreadable)
	found, err := Inspect(t.Context(), dir)
	require.NoError(t, err)
	assert.Empty(t, found.Faults)
}

// TestFailedFilesAreTriedAgain: that a file could not be read is noted for Standings
// and keeps no import from trying again.
func TestFailedFilesAreTriedAgain(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	c := logFile(t, logs, "c", "no log\n")
	for range 2 {
		sum := importInto(t, dir, c)
		assert.Len(t, sum.Failed, 1)
	}
	gone := Input{Path: filepath.Join(logs, "gone"), Read: read(filepath.Join(logs, "gone"))}
	importInto(t, dir, gone)
	got, err := Standings(t.Context(), dir, []Input{c, gone})
	require.NoError(t, err)
	assert.Equal(t, []Standing{Unreadable, Missing}, got, "what the system could not read may be there the next time")
}

func TestDistinct(t *testing.T) {
	logs := t.TempDir()
	long := string(make([]byte, beginningBytes))
	inputs := []Input{
		logFile(t, logs, "b", "same\n"),
		logFile(t, logs, "a", "same\n"),
		logFile(t, logs, "c", "else\n"),
		logFile(t, logs, "long-1", long+"1"),
		logFile(t, logs, "long-2", long+"2"),
		logFile(t, logs, "long-3", long+"2"),
		{Path: packedCopy(t, logs, "a.gz", "same\n")},
		{Path: filepath.Join(logs, "gone")},
	}
	keep, err := Distinct(t.Context(), inputs)
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true, true, true, true, false, false, true}, keep)
}

// packedCopy writes a gzip file.
func packedCopy(t *testing.T, dir, name, content string) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return logFile(t, dir, name, packed.String()).Path
}
