package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/demo"
)

// TestBundledSessionsAreUpToDate: the simulation gives what the binary carries.
func TestBundledSessionsAreUpToDate(t *testing.T) {
	for plain, unpack := range map[bool]func(string) (string, error){false: demo.Unpack, true: demo.UnpackCandidate} {
		dir := t.TempDir()
		path, err := unpack(dir)
		require.NoError(t, err)
		assert.FileExists(t, path)
		for _, f := range simulate(plain) {
			got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.path)))
			require.NoError(t, err)
			assert.True(t, string(f.content) == string(got), "%s differs: run go run ./internal/demo/generate", f.path)
		}
	}
}

// TestSessionFitsTheBudget: the simulation leaves out FreeCode's history
// pruning, which begins at 200 000 characters of results.
func TestSessionFitsTheBudget(t *testing.T) {
	files := simulate(false)
	s := 0
	for _, f := range files {
		if filepath.Base(f.path) == "messages.jsonl" {
			s = len(f.content)
		}
	}
	assert.Less(t, s, 200_000)
}
