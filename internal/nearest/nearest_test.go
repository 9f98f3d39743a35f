package nearest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"mask", "mask", 0},
		{"mask", "masks", 1},       // one too few
		{"mmask", "mask", 1},       // one too many
		{"mesk", "mask", 1},        // one wrong
		{"amsk", "mask", 1},        // two swapped
		{"aduit", "audit", 1},      // two swapped
		{"kitten", "sitting", 3},   // k→s, e→i, +g
		{"größe", "grösse", 2},     // ß→s, +s: characters count, not bytes
		{"fromat", "format", 1},    // two swapped
		{"compres", "compress", 1}, // one too few
	} {
		assert.Equal(t, c.want, mistakes(c.a, c.b), "%q %q", c.a, c.b)
	}
}

func TestMistakesAreADistance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{0,7}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		n := mistakes(a, b)
		require.Equal(t, n, mistakes(b, a), "symmetric")
		require.Equal(t, a == b, n == 0, "0 for equals only")
		require.GreaterOrEqual(t, n, max(len(a)-len(b), len(b)-len(a)), "every missing character is a mistake")
		require.LessOrEqual(t, n, max(len(a), len(b)), "writing it anew is no dearer")
	})
}

func TestWord(t *testing.T) {
	t.Parallel()
	names := []string{"compress", "no-line-numbers", "cap", "mask", "dedup-reads"}
	for word, want := range map[string]string{
		"compres": "compress", "COMPRESS": "compress", "maks": "mask", "cpa": "cap", "dedup": "dedup-reads", "no-line-number": "no-line-numbers",
		"nonsense": "", "": "", "x": "", "no": "",
	} {
		assert.Equal(t, want, Word(word, names), word)
	}
	assert.Equal(t, "", Word("mask", nil))
}

func TestPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sessions", "2026", "rollout.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for path, want := range map[string]string{
		"sessions/2026/rolout.jsonl": file,
		"sesions/2026/rollout.jsonl": file,
		"session/2026":               filepath.Dir(file),
		"session/2025":               "", // two parts are wrong: a guess would be wild
		"elsewhere":                  "",
	} {
		assert.Equal(t, want, Path(filepath.Join(dir, path)), path)
	}
}
