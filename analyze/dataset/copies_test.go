package dataset

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/shard"
)

// A copy of a log is found to be there already. When the log grows, the part stays for
// the copy, and the notes of the copy lead to it: in a file of several parts, too.
func TestLogGrowsBesideItsCopy(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	log := logFile(t, logs, "a", "log A 1\none\n")
	kept, other := logFile(t, logs, "copy", "log A 1\none\n"), logFile(t, logs, "other", "log B 1\ntwo\n")
	importInto(t, dir, log, other)
	require.Equal(t, Summary{Unchanged: 3}, importInto(t, dir, log, kept, other))

	assert.Equal(t, Summary{Replaced: 1, Kept: 0, Sessions: 1}, importInto(t, dir, logFile(t, logs, "a", "log A 1\none\nmore\n")))
	sum, err := Import(t.Context(), dir, []Input{kept}, Options{})
	require.NoError(t, err)
	held, err := (&store{inside: inside{dir: dir}, text: true}).partNames()
	require.NoError(t, err)
	require.Len(t, sum.Parts, 1)
	assert.True(t, held[sum.Parts[0]], "the part of the copy stands")
	assert.Len(t, held, 3)

	// Then the copy grows as well: the part is nobody's any more. It leads to no part
	// of its own path, so that only the notes tell.
	assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, importInto(t, dir, logFile(t, logs, "copy", "log A 1\none\nanother\n")))
	held, err = (&store{inside: inside{dir: dir}, text: true}).partNames()
	require.NoError(t, err)
	assert.Len(t, held, 3)
}

// A copy of what a log was is no reason to take away, or to hide, what the log is.
func TestCopyOfAnOlderState(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\ntwo\nthree\n"))
	importInto(t, dir, logFile(t, logs, "a", "log B 1\none\ntwo\nfour\n"))
	require.Equal(t, []string{"B"}, counted(t, dir))
	importInto(t, dir, logFile(t, logs, "backup", "log A 1\none\ntwo\nthree\n"))
	assert.ElementsMatch(t, []string{"A", "B"}, counted(t, dir), "both files are there")
}

// Logs are given other names, as when they are rotated: each name's content stands, also
// where one holds all that another does.
func TestLogsChangePlaces(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\ntwo\n"), logFile(t, logs, "b", "log B 1\none\n"))
	a, b := logFile(t, logs, "a", "log B 1\none\n"), logFile(t, logs, "b", "log A 1\none\ntwo\n")
	importInto(t, dir, a, b)
	assert.ElementsMatch(t, []string{"A", "B"}, counted(t, dir))
	assert.Equal(t, Summary{Unchanged: 2}, importInto(t, dir, a, b))
	assert.ElementsMatch(t, []string{"A", "B"}, counted(t, dir))
}

// A log that is named by its content is given another name, and grows: what it was does
// not count beside it.
func TestRenamedLogGrows(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\n")
	importInto(t, dir, a)
	b := logFile(t, logs, "b", "log A 1\none\n")
	require.NoError(t, os.Remove(a.Path))
	require.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, b))
	importInto(t, dir, logFile(t, logs, "b", "log B 1\none\ntwo\n"))
	assert.Equal(t, []string{"B"}, counted(t, dir))
	assert.Len(t, all[Session](t, dir, "sessions"), 1)
}

// Two logs become the same: what each of them was goes with the one import that finds
// that out, and the next one has nothing to do.
func TestLogsBecomeTheSame(t *testing.T) {
	for _, which := range []shard.Shard{{}, {Index: 1, Of: 1}} {
		logs, dir := t.TempDir(), t.TempDir()
		bring := func(inputs ...Input) Summary {
			sum, err := Import(t.Context(), dir, inputs, Options{Shard: which})
			require.NoError(t, err)
			return counts(sum)
		}
		bring(logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log B 1\none\ntwo\n"))
		a, b := logFile(t, logs, "a", "log C 1\none\ntwo\nthree\n"), logFile(t, logs, "b", "log C 1\none\ntwo\nthree\n")
		assert.Equal(t, Summary{Replaced: 1, Unchanged: 1, Sessions: 1}, bring(a, b))
		if which.None() {
			assert.Equal(t, []string{"C"}, counted(t, dir))
		}
		read := bring(a, b)
		assert.Equal(t, Summary{Unchanged: 2}, read)
	}
}
