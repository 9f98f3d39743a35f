package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shardLogs writes n logs of one turn each, in two folders.
func shardLogs(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "logs")
	for i := range n {
		id := "shard-" + strconv.Itoa(i)
		mustWrite(t, filepath.Join(dir, []string{"even", "odd"}[i%2], id, "events.jsonl"), `
{"type":"model.request","id":"01M0000001","seq":1,"aggregateID":"`+id+`","timestamp":1787040000000,"turnId":"t","provider":"minimax","model":"MiniMax-M3","messageCount":2,"toolCount":16,"promptChars":1200,"streamed":true}
{"type":"model.response","id":"01M0000002","seq":2,"aggregateID":"`+id+`","timestamp":1787040000001,"turnId":"t","provider":"minimax","model":"MiniMax-M3","duration_ms":900,"inputTokens":100,"outputTokens":20,"cacheReadTokens":0,"cacheWriteTokens":0}
`)
	}
	return dir
}

// TestShards: what is left is told, the tool's own numbers add up, and the last
// shard makes the dataset that one import makes.
func TestShards(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs, dir := shardLogs(t, 20), filepath.Join(t.TempDir(), "dataset")

	got := h.run("shards", dir, logs, "--of", "3", "--missing")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "1-3\n", got.stdout)
	assert.Contains(t, got.stderr, "is not an fclog dataset")

	for _, shard := range []string{"3/3", "1/3"} {
		got = h.run("import", logs, "-o", dir, "--shard", shard)
		require.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, got.stdout, "shard "+shard+" of 20 files: ")
	}
	got = h.run("shards", dir, logs, "--of", "3", "--missing")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "2\n", got.stdout)
	assert.Contains(t, got.stderr, "1 of 3 shards are not complete")

	got = h.run("shards", dir, logs, "--of", "3", "--format", "json")
	assert.Equal(t, 1, got.code)
	var r struct {
		Of, Complete, Files, Held, Missing int
		Shards                             []struct {
			Shard, Files, Held, Missing int
			MissingFiles                []string `json:"missing_files"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r))
	assert.Equal(t, []int{3, 2, 20}, []int{r.Of, r.Complete, r.Files})
	require.Len(t, r.Shards, 3)
	assert.Equal(t, 20, r.Shards[0].Files+r.Shards[1].Files+r.Shards[2].Files, "every file is in one shard")
	assert.Equal(t, r.Shards[1].Files, r.Missing)
	assert.Len(t, r.Shards[1].MissingFiles, r.Missing)
	assert.Equal(t, 20-r.Missing, r.Held)

	require.Equal(t, 0, h.run("import", logs, "-o", dir, "--shard", "2/3").code)
	for _, of := range []string{"3", "7"} {
		got = h.run("shards", dir, logs, "--of", of)
		assert.Equal(t, 0, got.code, "in whatever number of shards: %s", got.stderr)
		assert.Contains(t, got.stdout, of+" of "+of+" shards complete; of 20 session files 20 held, 0 unreadable, 0 missing\n")
	}
	assert.Equal(t, result{}, h.run("shards", dir, logs, "--of", "3", "--missing"), "nothing is left, and nothing said")

	whole := filepath.Join(t.TempDir(), "whole")
	require.Equal(t, 0, h.run("import", logs, "-o", whole, "--shard", "1/1").code)
	assert.Equal(t, tablesOf(t, whole), tablesOf(t, dir))
	got = h.run("verify", dir)
	assert.Equal(t, 0, got.code, got.stdout)
}

// TestShardsThatMove: the folder stands elsewhere on another machine, and is named in
// another way.
func TestShardsThatMove(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs := shardLogs(t, 12)
	moved := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.CopyFS(moved, os.DirFS(logs)))
	here, there := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "there")
	require.Equal(t, 0, h.run("import", logs, "-o", here, "--shard", "2/3").code)
	require.Equal(t, 0, h.run("import", moved+"/", "-o", there, "--shard", "2/3").code)
	names := func(dir string) []string { return slices.Sorted(maps.Keys(tablesOf(t, dir))) }
	assert.Equal(t, names(here), names(there), "parts are named by content")
}

func TestShardUsage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs, dir := shardLogs(t, 1), filepath.Join(t.TempDir(), "dataset")
	for _, c := range []struct {
		line   string
		code   int
		stderr string
	}{
		{"import LOGS -o DIR --shard 0/3", 2, "the first of 3 shards is 1"},
		{"import LOGS -o DIR --shard 4/3", 2, "the last 3"},
		{"import LOGS -o DIR --shard 3", 2, "use I/N, such as 1/4"},
		{"import LOGS -o DIR --shard 1/3 --compact", 2, "merge when all shards are complete"},
		{"shards DIR LOGS", 2, "how many shards there are"},
		{"shards DIR LOGS --of 0", 2, "how many shards there are"},
		{"shards DIR --of 2", 2, "DATASET PATH"},
		{"shards DIR NOWHERE --of 2", 1, "NOWHERE"},
	} {
		line := strings.NewReplacer("LOGS", logs, "DIR", dir).Replace(c.line)
		got := h.run(strings.Fields(line)...)
		assert.Equal(t, c.code, got.code, c.line)
		assert.Contains(t, got.stderr, c.stderr, c.line)
	}
}

// TestShardWithoutFiles: more shards than files, and files without a session, are no
// failure of a job.
func TestShardWithoutFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	logs, dir := shardLogs(t, 1), filepath.Join(t.TempDir(), "dataset")
	for _, shard := range []string{"1/4", "2/4", "3/4", "4/4"} {
		got := h.run("import", logs, "-o", dir, "--shard", shard)
		assert.Equal(t, 0, got.code, got.stderr)
	}
	assert.Equal(t, 0, h.run("shards", dir, logs, "--of", "4").code)
}

// tablesOf is the SHA-256 of every file of a dataset but the notes of the imports that
// wrote it.
func tablesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "source=*", "month=*", "*.parquet"))
	require.NoError(t, err)
	for _, path := range append(paths, filepath.Join(dir, "fclog-dataset.json")) {
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		out[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, path))))
	}
	return out
}
