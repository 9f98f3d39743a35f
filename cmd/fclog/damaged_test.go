package main_test

import (
	endian "encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// damages are ways to spoil a Parquet file, whose last eight bytes are the length of
// its footer and a magic word.
var damages = []func(rng *rand.Rand, b []byte) []byte{
	func(rng *rand.Rand, b []byte) []byte { // the footer: schema, counts, offsets
		footer := int(endian.LittleEndian.Uint32(b[len(b)-8:]))
		for range 1 + rng.IntN(4) {
			b[len(b)-9-rng.IntN(footer)] = []byte{0, 0x7f, 0x80, 0xff, byte(rng.IntN(256))}[rng.IntN(5)]
		}
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { // anything
		for range 1 + rng.IntN(16) {
			b[rng.IntN(len(b))] = byte(rng.IntN(256))
		}
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { // the length of the footer
		lengths := []uint32{0, 1, 1<<31 - 1, 1<<32 - 1, uint32(len(b)), uint32(len(b)) - 8}
		endian.LittleEndian.PutUint32(b[len(b)-8:], lengths[rng.IntN(len(lengths))])
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { return b[:rng.IntN(len(b))] },
}

// TestDamagedDatasets: a dataset with a spoilt file makes no command crash, hang or
// panic. FCLOG_DAMAGES=400 tries so many; it says which seed failed.
func TestDamagedDatasets(t *testing.T) {
	t.Parallel()
	tries := 12
	if n, err := strconv.Atoi(os.Getenv("FCLOG_DAMAGES")); err == nil {
		tries = n
	}
	data := filepath.Join(t.TempDir(), "data")
	got := newHome(t).run("import", "--demo", "-o", data)
	require.Equal(t, 0, got.code, got.stderr)
	commands := []string{"audit DATA --format json", "query DATA --name sessions", "query DATA SELECT\u00a0max(text)\u00a0FROM\u00a0texts", "verify DATA", "replay DATA -V mask --format json", "payload DATA --format json"}
	for seed := range tries {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		dir := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(dir, os.DirFS(data)))
		spoil(t, rng, dir)
		line := commands[rng.IntN(len(commands))]
		var args []string
		for _, word := range strings.Fields(strings.ReplaceAll(line, "\u00a0", "\x00")) {
			args = append(args, strings.NewReplacer("DATA", dir, "\x00", " ").Replace(word))
		}
		name := fmt.Sprintf("seed %d: %s", seed, line)
		begun := time.Now()
		got := newHome(t).run(args...)
		assert.Less(t, time.Since(begun), 2*time.Minute, name)
		assert.Contains(t, []int{0, 1, 3}, got.code, "%s: %s", name, got.stderr)
		assert.NotContains(t, got.stderr, "internal error", name)
		assert.NotContains(t, got.stderr, "goroutine", name)
	}
}

// spoil damages one file of a dataset.
func spoil(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".parquet" {
			files = append(files, path)
		}
		return err
	}))
	file := files[rng.IntN(len(files))]
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, damages[rng.IntN(len(damages))](rng, raw), 0o600))
}
