package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// passed and found are what go test 1.26 says.
const (
	passed = `fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed
fuzz: elapsed: 3s, execs: 1200 (400/sec), new interesting: 2 (total: 14)
fuzz: elapsed: 6s, execs: 48213 (15671/sec), new interesting: 5 (total: 17)
PASS
ok  	github.com/fclog/fclog/compress	6.105s
`
	found = `fuzz: elapsed: 3s, execs: 77 (25/sec), new interesting: 1 (total: 14)
fuzz: minimizing 38-byte failing input file
--- FAIL: FuzzRead (3.02s)
    --- FAIL: FuzzRead (0.00s)
        read_test.go:90: negative tokens

    Failing input written to testdata/fuzz/FuzzRead/771e938e4458e983
    To re-run:
    go test -run=FuzzRead/771e938e4458e983
FAIL
`
)

func TestRead(t *testing.T) {
	at := target{"github.com/fclog/fclog/compress", "FuzzClassify"}
	got := read(at, passed)
	assert.Equal(t, result{target: at, execs: 48213, fresh: 5}, got)
	assert.Equal(t, "none", got.finding())

	got = read(at, found)
	got.failed = true
	assert.EqualValues(t, 77, got.execs)
	assert.Equal(t, "read_test.go:90: negative tokens (testdata/fuzz/FuzzRead/771e938e4458e983)", got.finding())

	assert.Equal(t, "none, but the time was too short to try a new input", read(at, "PASS").finding())

	got = read(at, "--- FAIL: FuzzClassify (61.02s)\n    context deadline exceeded\nFAIL\n")
	assert.True(t, got.late, "no finding")
	got = read(at, "--- FAIL: FuzzClassify (9s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n")
	got.failed = true
	assert.Equal(t, "fuzzing process hung or terminated unexpectedly: exit status 2", got.finding())

	got = read(at, "build failed")
	got.failed = true
	assert.Equal(t, "it failed without an input", got.finding())
}

func TestReplace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o644))
	results := []result{{target: target{"github.com/fclog/fclog/compress", "FuzzClassify"}, execs: 48213, fresh: 5}}
	require.NoError(t, replace(page, table(results, time.Minute, time.Date(2026, 3, 14, 23, 0, 0, 0, time.UTC))))
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Regexp(t, `^before\n<!-- table: make fuzz -->\nLast run: 2026-03-14, 1m0s for each test, Go .*\n\n\| package .*\n.*\n\| compress \| FuzzClassify \| 48,213 \| 5 \| none \|\n<!-- end of table -->\nafter\n$`, string(got))

	require.NoError(t, os.WriteFile(page, []byte("no table"), 0o644))
	assert.Error(t, replace(page, "x"))
}

// TestDiscover: the packages of this test are named, so that none is built that
// need not be.
func TestDiscover(t *testing.T) {
	got, err := discover(t.Context(), "^Fuzz", []string{"github.com/fclog/fclog/internal/term", "github.com/fclog/fclog/internal/smallfile"})
	require.NoError(t, err)
	assert.Equal(t, []target{{"github.com/fclog/fclog/internal/term", "FuzzSafe"}}, got)
}
