package dataset

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// partsOf is the parts of a dataset by the base name of the file they are from.
func partsOf(t *testing.T, dir string, logs ...Input) []string {
	t.Helper()
	ix, err := (&store{inside: inside{dir: dir}, text: true}).readIndex()
	require.NoError(t, err)
	var out []string
	for _, c := range ix.parts {
		if slices.ContainsFunc(logs, func(in Input) bool { return in.Path == c.file }) {
			out = append(out, c.part)
		}
	}
	slices.Sort(out)
	return out
}

// The summary names the part of every input, however it came to be there.
func TestImportNamesTheParts(t *testing.T) {
	dir, logs := t.TempDir(), t.TempDir()
	a, b := logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log B 1\ntwo\n")
	same, bad := logFile(t, logs, "z-same-as-a", "log A 1\none\n"), logFile(t, logs, "bad", "nothing")
	parts := func(inputs ...Input) []string {
		sum, err := Import(t.Context(), dir, inputs, Options{})
		require.NoError(t, err)
		return sum.Parts
	}
	first := parts(a, b, same, bad)
	assert.Len(t, first, 2)
	assert.Equal(t, partsOf(t, dir, a, b), first)
	assert.Equal(t, partsOf(t, dir, a), parts(a), "unchanged")
	assert.Equal(t, partsOf(t, dir, a), parts(same), "under another name")
	assert.Empty(t, parts(bad))

	grown := logFile(t, logs, "b", "log B 1\ntwo\nthree\n")
	now := parts(a, grown)
	assert.Equal(t, partsOf(t, dir, a, grown), now)
	assert.NotEqual(t, first, now, "the grown file is another part")
}
