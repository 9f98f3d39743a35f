package dataset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted are the sessions that count.
func counted(t *testing.T, dir string) (ids []string) {
	t.Helper()
	for _, s := range all[Session](t, dir, "sessions") {
		if s.Superseded == nil {
			ids = append(ids, s.SessionID)
		}
	}
	return ids
}

// A file without an ID of its own is named by its content: it grows and has another.
func TestGrownFileWithAnotherID(t *testing.T) {
	for _, noText := range []bool{false, true} {
		logs, dir := t.TempDir(), t.TempDir()
		bring := func(in Input) Summary {
			sum, err := Import(t.Context(), dir, []Input{in}, Options{NoText: noText})
			require.NoError(t, err)
			return counts(sum)
		}
		bring(logFile(t, logs, "a", "log A 1\none\ntwo\n"))
		assert.Equal(t, Summary{Imported: 1, Sessions: 1}, bring(logFile(t, logs, "other/a", "log X 1\nsomething else\n")), "another file of that base name")
		assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, bring(logFile(t, logs, "a", "log B 1\none\ntwo\nthree\n")))
		assert.ElementsMatch(t, []string{"B", "X"}, counted(t, dir), "without texts: %t", noText)
		assert.Len(t, parts(t, dir), 2)

		// It lost a text besides: the part is kept for it, and counts no more.
		assert.Equal(t, Summary{Replaced: 1, Kept: 1, Sessions: 1}, bring(logFile(t, logs, "a", "log C 1\none\ntwo\nfour\n")))
		assert.ElementsMatch(t, []string{"C", "X"}, counted(t, dir))
		assert.Len(t, parts(t, dir), 3)
		if !noText {
			texts := []string{}
			for _, row := range all[Text](t, dir, "texts") {
				texts = append(texts, row.Text)
			}
			assert.Contains(t, texts, "three")
		}
		assert.Equal(t, Summary{Unchanged: 1}, bring(logFile(t, logs, "copy", "log C 1\none\ntwo\nfour\n")), "known by its content")
	}
}

// The file is again as it was: what was hidden counts again, and what replaced it
// is kept for its text.
func TestFileGoesBack(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\ntwo\nthree\n"))
	importInto(t, dir, logFile(t, logs, "a", "log B 1\none\ntwo\nfour\n"))
	require.Equal(t, []string{"B"}, counted(t, dir))
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\ntwo\nthree\n"))
	assert.Equal(t, []string{"A"}, counted(t, dir))
}

// A log that is written over by another session has lost the first one, which goes
// on counting.
func TestOverwrittenFileKeepsItsSession(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "latest", "log A 1\nshared\ntwo\nthree\n"))
	importInto(t, dir, logFile(t, logs, "latest", "log B 1\nshared\nother\n"))
	assert.ElementsMatch(t, []string{"A", "B"}, counted(t, dir))
}

// Many parts of one merged file are replaced at once, by as many workers.
func TestManyGrownFilesInMergedDataset(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	var before, after []Input
	want := []string{}
	for i := range 16 {
		name := fmt.Sprint("f", i)
		before = append(before, logFile(t, logs, name, fmt.Sprintf("log S%d 1\none %d\n", i, i)))
		want = append(want, fmt.Sprint("S", i))
	}
	importInto(t, dir, before...)
	require.NoError(t, Compact(t.Context(), dir))
	for i := range before {
		after = append(after, logFile(t, logs, fmt.Sprint("f", i), fmt.Sprintf("log S%d 1\none %d\ntwo\n", i, i)))
	}
	assert.Equal(t, 16, importInto(t, dir, after...).Replaced)
	assert.ElementsMatch(t, want, counted(t, dir))
}
