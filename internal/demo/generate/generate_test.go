package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/demo"
)

// TestBundledSessionIsUpToDate: the simulation gives what the binary carries.
func TestBundledSessionIsUpToDate(t *testing.T) {
	dir := t.TempDir()
	path, err := demo.Unpack(dir)
	require.NoError(t, err)
	assert.FileExists(t, path)
	for _, f := range simulate() {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.path)))
		require.NoError(t, err)
		assert.True(t, string(f.content) == string(got), "%s differs: run go run ./internal/demo/generate", f.path)
	}
}

// TestSessionFitsTheBudget: the simulation leaves out FreeCode's history
// pruning, which begins at 200 000 characters of results.
func TestSessionFitsTheBudget(t *testing.T) {
	files := simulate()
	s := 0
	for _, f := range files {
		if filepath.Base(f.path) == "messages.jsonl" {
			s = len(f.content)
		}
	}
	assert.Less(t, s, 200_000)
}
