package apilog

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout/logfile"
)

func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(testdata("*.*"))
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		if filepath.Ext(f) != ".md" {
			out[filepath.Base(f)] = data
		}
	}
	return out
}

// FuzzRead: no content makes the reader panic or build what does not pass the
// check.
func FuzzRead(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
		for line := range bytes.Lines(data) {
			f.Add(bytes.Clone(line))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "log")
		require.NoError(t, os.WriteFile(path, data, 0o644))
		if head, err := logfile.Head(path, 20); err == nil {
			Detect(head)
		}
		if _, err := Read(context.Background(), path); err != nil {
			assert.ErrorIs(t, err, logfile.ErrNotLog)
		}
	})
}

// TestCutAnywhere cuts every file at many places: what stands before is read.
func TestCutAnywhere(t *testing.T) {
	for name, data := range seeds(t) {
		for cut := 1; cut < len(data); cut += 1 + len(data)/60 {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, data[:cut], 0o644))
			sessions, err := Read(context.Background(), path)
			if err != nil {
				require.ErrorIs(t, err, logfile.ErrNotLog, "%s at %d", name, cut)
				continue
			}
			assert.NotEmpty(t, sessions)
		}
	}
}

// TestNULTail: a crashed machine leaves zeros.
func TestNULTail(t *testing.T) {
	for name, data := range seeds(t) {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, append(bytes.Clone(data), make([]byte, 9<<10)...), 0o644))
		assert.Equal(t, sumUp(read(t, testdata(name))), sumUp(read(t, path)), name)
	}
}

// TestRepeatedRecords: a file written twice counts its calls once, for every
// one of these has an ID.
func TestRepeatedRecords(t *testing.T) {
	for _, name := range []string{"otlp.jsonl", "litellm.jsonl", "helicone.jsonl"} {
		data := seeds(t)[name]
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, append(bytes.Clone(data), data...), 0o644))
		once, twice := sumUp(read(t, testdata(name))), sumUp(read(t, path))
		assert.Equal(t, once, twice, name)
	}
}
