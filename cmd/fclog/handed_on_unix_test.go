//go:build unix

package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHandedOnDatasetEndsEveryCommand: in a dataset from someone else stands a pipe, at
// which reading would wait for ever, or a link to a device that never ends, where fclog
// keeps a file. Every command that reads it ends and says so or does without.
func TestHandedOnDatasetEndsEveryCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log := filepath.Join("..", "..", "testdata", "codex", "poll-0.104.jsonl")
	whole := filepath.Join(h.dir, "whole")
	require.Equal(t, 0, h.run("import", log, "-o", whole).code)
	require.Equal(t, 0, h.run("import", log, "-o", whole, "--shard", "1/1").code)

	pipe := func(at string) error { return syscall.Mkfifo(at, 0o600) }
	endless := func(at string) error { return os.Symlink("/dev/zero", at) }
	puts := map[string]func(string) error{"pipe": pipe, "endless": endless}
	if _, err := os.Stat("/dev/zero"); err != nil {
		delete(puts, "endless")
	}
	places := []string{"fclog-dataset.json", "_state/files.json", "_state/shard-1-of-1.json", "_state/lock", "sessions/source=none/month=none/empty.parquet", "items/source=codex/month=2026-02/handed-on.parquet"}
	for _, place := range places {
		for what, put := range puts {
			dir := filepath.Join(h.dir, strings.ReplaceAll(place, "/", "-")+what)
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			at := filepath.Join(dir, filepath.FromSlash(place))
			require.NoError(t, os.RemoveAll(at))
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
			require.NoError(t, put(at))
			commands := [][]string{
				{"verify", dir}, {"outcomes", dir}, {"shards", dir, log, "--of", "1"}, {"query", dir, "--clickhouse"}, {"query", dir, "SELECT count(*) FROM items"},
				{"audit", dir}, {"import", log, "-o", dir}, {"import", "--compact", "-o", dir},
			}
			for _, args := range commands {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				_ = h.command(ctx, args...).Run() // how it ends is for other tests
				assert.NoError(t, ctx.Err(), "%s at %s: %v does not end", what, place, args)
				stop()
			}
		}
	}
}
