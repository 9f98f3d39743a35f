package analyze

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// A dataset that is copied file by file in the order that docs/other-engines.md
// gives for object stores holds every session with its figures of before or of
// afterwards, at every moment, and is the same in the end.
func TestCopyInOrder(t *testing.T) {
	logs, dir, bucket := t.TempDir(), t.TempDir(), t.TempDir()
	tree, err := os.ReadFile("../testdata/pi/tree-v3.jsonl")
	require.NoError(t, err)
	poll, err := os.ReadFile("../testdata/codex/poll-0.104.jsonl")
	require.NoError(t, err)
	put := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(logs, name), data, 0o600))
	}
	importLogs := func() {
		shelf := newShelf(t, logs)
		require.NoError(t, shelf.imported(t, dir, shelf.inputs).Close())
	}
	put("tree.jsonl", bytes.Join(bytes.SplitAfter(tree, []byte("\n"))[:10], nil))
	put("poll.jsonl", poll)
	importLogs()
	for _, step := range copySteps(t, dir, bucket) {
		step()
	}
	before := sessionFigures(t, bucket)

	put("tree.jsonl", tree)
	other, err := os.ReadFile("../testdata/codex/compaction-0.118.jsonl")
	require.NoError(t, err)
	put("other.jsonl", other)
	importLogs()
	require.NoError(t, dataset.Compact(t.Context(), dir))
	after := sessionFigures(t, dir)
	require.Len(t, before, 2)
	require.Len(t, after, 4, "the tree's sub-agent and the other log are new")
	require.NotEqual(t, before[piTree], after[piTree])

	steps := copySteps(t, dir, bucket)
	for i, step := range steps {
		step()
		for id, figures := range sessionFigures(t, bucket) {
			assert.Contains(t, []string{before[id], after[id]}, figures, "session %s after step %d of %d", id, i+1, len(steps))
		}
	}
	assert.Equal(t, after, sessionFigures(t, bucket))
	assert.Equal(t, copiedFiles(t, dir), copiedFiles(t, bucket))
}

// sessionFigures are requests and input of every session.
func sessionFigures(t *testing.T, dir string) map[string]string {
	db, err := Open(t.Context(), Options{Dataset: dir})
	require.NoError(t, err)
	defer db.Close()
	out := map[string]string{}
	const figures = `SELECT s.session_id, count(r.request), sum(r.input_tokens)::BIGINT
FROM sessions s LEFT JOIN requests r ON r.part = s.part AND r.session_id = s.session_id AND r.counts GROUP BY 1`
	for _, row := range query(t, db, figures) {
		out[row[0].(string)] = fmt.Sprint(row[1:]...)
	}
	return out
}

// copySteps are what makes bucket a copy of dir, one file a step: what is not of the
// sessions table, then that table, new files and gone ones in any order, then the
// gone files of the others.
func copySteps(t *testing.T, dir, bucket string) []func() {
	from, to := copiedFiles(t, dir), copiedFiles(t, bucket)
	var first, sessions, last []func()
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if from[name] == to[name] {
			continue
		}
		step := func() {
			path := filepath.Join(bucket, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(from[name]), 0o600))
		}
		if strings.HasPrefix(name, "sessions") {
			sessions = append(sessions, step)
		} else {
			first = append(first, step)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if _, kept := from[name]; kept {
			continue
		}
		step := func() { require.NoError(t, os.Remove(filepath.Join(bucket, name))) }
		if strings.HasPrefix(name, "sessions") {
			sessions = append(sessions, step)
		} else {
			last = append(last, step)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, steps := range [][]func(){first, sessions, last} {
		random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	}
	return slices.Concat(first, sessions, last)
}

// copiedFiles are the files of a dataset that are copied, with their content.
func copiedFiles(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "_state" || d.Name() == "_tmp" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(data)
		return err
	}))
	return out
}
