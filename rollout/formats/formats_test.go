package formats

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout/logfile"
)

// fakes are two formats told apart by one key: "a" logs bring what lies in
// their kids folder and read a notes file, "b" logs stand alone.
func fakes() List {
	detect := func(key string) func([][]byte) bool {
		return func(head [][]byte) bool { return bytes.Contains(head[0], []byte(`"`+key+`"`)) }
	}
	return List{
		{Name: "a", Title: "Agent A", Detect: detect("isA"), Companions: kids,
			Depends: func(path string) []string { return []string{filepath.Join(filepath.Dir(path), "notes.jsonl")} },
			Homes:   func(getenv func(string) string) []string { return []string{filepath.Join(getenv("HOME"), ".a")} }},
		{Name: "b", Title: "Agent B", Detect: detect("isB"),
			Homes: func(getenv func(string) string) []string {
				return []string{filepath.Join(getenv("HOME"), ".b"), filepath.Join(getenv("HOME"), ".b-old")}
			}},
	}
}

func kids(path string) []string {
	found, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "*.jsonl"))
	return found
}

const (
	logA  = `{"isA":1}` + "\n" + `{"n":2}` + "\n"
	logB  = `{"isB":1}` + "\n" + `{"n":2}` + "\n"
	other = `{"type":"x","payload":{"secret":"s3cret"}}` + "\n" + `{"type":"y"}` + "\n"
)

// tree writes files below a new folder, its path given with real links.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

// names shows files as FORMAT:PATH, relative to root.
func names(t *testing.T, root string, files []File) []string {
	t.Helper()
	var out []string
	for _, f := range files {
		rel, err := filepath.Rel(root, f.Path)
		require.NoError(t, err)
		out = append(out, f.Format.Name+":"+filepath.ToSlash(rel))
	}
	return out
}

func TestDetect(t *testing.T) {
	root := tree(t, map[string]string{
		"a.txt":    logA,
		"empty":    "",
		"blank":    "\n \n",
		"binary":   "\x00\x01\x02\x7fELF\x00\xff\xfe\x00\x10\x11\x12\x13",
		"prose":    "Dear diary,\nnothing happened.\n",
		"other":    other,
		"list":     "[1,2]\n[3]\n",
		"odd":      `{"a\u001b[31mb":1,"":2,"key-that-goes-on-for-far-too-long-to-be-shown":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":9}` + "\n{}\n",
		"lfs":      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
		"cut":      `{"isA":1,"te`,
		"nokeys":   "{}\n{}\n",
		"zeros":    logA + strings.Repeat("\x00", 64),
		"broken a": "{broken\n" + logA,
	})
	for name, want := range map[string]string{"a.txt": "a", "zeros": "a", "broken a": "a"} {
		f, err := fakes().Detect(filepath.Join(root, name))
		require.NoError(t, err, name)
		assert.Equal(t, want, f.Name, name)
	}
	for _, c := range []struct {
		name string
		is   error
		says string
	}{
		{"empty", logfile.ErrNotLog, "the file is empty"},
		{"blank", logfile.ErrNotLog, "only blanks"},
		{"binary", logfile.ErrNotLog, "binary data"},
		{"prose", logfile.ErrNotLog, "no line of it is a JSON object"},
		{"lfs", logfile.ErrNotLog, "git lfs pull"},
		{"cut", logfile.ErrNotLog, "cut off"},
		{"other", ErrUnknown, "the first record has keys type, payload; fclog reads Agent A and Agent B"},
		{"list", logfile.ErrNotLog, "no line of it is a JSON object"},
		{"nokeys", ErrUnknown, "has no keys"},
		{"odd", ErrUnknown, `keys "a\x1b[31mb", "", key-that-goes-on-for-far…, k4, k5, k6, k7, k8, …`},
		{".", logfile.ErrNotLog, "a folder"},
	} {
		_, err := fakes().Detect(filepath.Join(root, c.name))
		require.ErrorIs(t, err, c.is, c.name)
		assert.ErrorContains(t, err, c.says, c.name)
		assert.ErrorContains(t, err, root, "the path is named")
		assert.NotContains(t, err.Error(), "s3cret", "values stay private")
	}
	_, err := fakes().Detect(filepath.Join(root, "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestExpandFolder(t *testing.T) {
	root := tree(t, map[string]string{
		"z/one.jsonl":          logA,
		"z/notes.jsonl":        other, // depended on: not reported
		"z/meta.json":          `{"title":"x"}`,
		"deep/er/two.anything": logB,
		"deep/pretty.json":     "{\n  \"isA\": 1\n}\n",
		"deep/readme.md":       "# {hello}\n",
		"other.jsonl":          other,
		"photo.png":            "\x89PNG\r\n\x1a\n\x00\x00",
		"empty.txt":            "",
		"empty.jsonl":          "",
	})
	files, skipped, err := fakes().Expand(context.Background(), []string{root})
	require.NoError(t, err)
	assert.Equal(t, []string{"b:deep/er/two.anything", "a:deep/pretty.json", "a:z/one.jsonl"}, names(t, root, files))
	require.Len(t, skipped, 2)
	assert.Equal(t, Skipped{Path: filepath.Join(root, "empty.jsonl"), Reason: "not a session log: the file is empty"}, skipped[0])
	assert.Equal(t, filepath.Join(root, "other.jsonl"), skipped[1].Path)
	assert.Contains(t, skipped[1].Reason, "keys type, payload")
}

func TestExpandTakesEachFileOnce(t *testing.T) {
	root := tree(t, map[string]string{"d/a.jsonl": logA, "d/e/b.jsonl": logB})
	require.NoError(t, os.Symlink(root, filepath.Join(root, "d", "e", "loop")))
	require.NoError(t, os.Symlink("a.jsonl", filepath.Join(root, "d", "again.jsonl")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "d", "dangling")))
	files, skipped, err := fakes().Expand(context.Background(), []string{filepath.Join(root, "d", "e", "b.jsonl"), root, root})
	require.NoError(t, err)
	assert.Equal(t, []string{"b:d/e/b.jsonl", "a:d/a.jsonl"}, names(t, root, files), "named first, then by path")
	require.Len(t, skipped, 1)
	assert.Equal(t, "a link that leads nowhere", skipped[0].Reason)
}

func TestExpandCompanions(t *testing.T) {
	root := tree(t, map[string]string{"a.jsonl": logA, "a/kid1.jsonl": logA, "a/kid2.jsonl": logA, "b.jsonl": logA})
	files, _, err := fakes().Expand(context.Background(), []string{filepath.Join(root, "a.jsonl")})
	require.NoError(t, err)
	assert.Equal(t, []string{"a:a.jsonl", "a:a/kid1.jsonl", "a:a/kid2.jsonl"}, names(t, root, files))
	assert.Empty(t, files[0].PartOf)
	assert.Equal(t, files[0].Path, files[2].PartOf)

	files, _, err = fakes().Expand(context.Background(), []string{root})
	require.NoError(t, err)
	assert.Equal(t, []string{"a:a/kid1.jsonl", "a:a/kid2.jsonl", "a:a.jsonl", "a:b.jsonl"}, names(t, root, files))
	assert.Equal(t, filepath.Join(root, "a.jsonl"), files[0].PartOf, "also where the folder brought them")
}

func TestExpandPrefersPlain(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	packed := string(enc.EncodeAll([]byte(logA), nil))
	root := tree(t, map[string]string{"x.jsonl": logA, "x.jsonl.zst": packed, "y.jsonl.zst": packed})
	files, skipped, err := fakes().Expand(context.Background(), []string{root})
	require.NoError(t, err)
	assert.Equal(t, []string{"a:x.jsonl", "a:y.jsonl.zst"}, names(t, root, files))
	require.Len(t, skipped, 1)
	assert.Contains(t, skipped[0].Reason, "uncompressed original")
}

func TestExpandNothing(t *testing.T) {
	root := tree(t, map[string]string{"sub/readme.md": "hi", "sub/x.json": "{}"})
	_, _, err := fakes().Expand(context.Background(), []string{root})
	require.ErrorIs(t, err, ErrNothing)
	assert.ErrorContains(t, err, "none of the 2 files in "+root)
	assert.ErrorContains(t, err, "Agent A and Agent B")

	_, skipped, err := fakes().Expand(context.Background(), []string{filepath.Join(root, "sub/readme.md")})
	require.ErrorIs(t, err, ErrNothing)
	assert.ErrorContains(t, err, "readme.md: not a session log: no line of it is a JSON object")
	assert.Len(t, skipped, 1, "a named file always gets its reason")

	_, _, err = fakes().Expand(context.Background(), []string{filepath.Join(root, "absent")})
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = fakes().Expand(context.Background(), nil)
	assert.ErrorIs(t, err, ErrNothing)
}

func TestExpandStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := fakes().Expand(ctx, []string{tree(t, map[string]string{"a": logA})})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestInstalled(t *testing.T) {
	root := tree(t, map[string]string{".a/old.jsonl": logA, ".a/old/kid.jsonl": logA, ".b/new.jsonl": logB, ".b/mid.jsonl": logB, "elsewhere.jsonl": logA})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{".a/old.jsonl", ".b/mid.jsonl", ".b/new.jsonl"} {
		at := start.Add(time.Duration(i) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(root, name), at, at))
	}
	getenv := func(key string) string { return map[string]string{"HOME": root}[key] }
	sessions, _, err := fakes().Installed(context.Background(), getenv)
	require.NoError(t, err)
	require.Len(t, sessions, 3)
	assert.Equal(t, "new.jsonl", filepath.Base(sessions[0].Path))
	assert.Equal(t, "old.jsonl", filepath.Base(sessions[2].Path))
	assert.EqualValues(t, len(logB), sessions[0].Bytes)

	_, _, err = fakes().Installed(context.Background(), func(string) string { return filepath.Join(root, "nobody") })
	require.ErrorIs(t, err, ErrNothing)
	assert.ErrorContains(t, err, ".b-old", "says where it looked")
}

// TestCarriers: a database holds no JSON, is found all the same, and is as new
// as the log beside it.
func TestCarriers(t *testing.T) {
	root := tree(t, map[string]string{"home/data.db": "DB1\x00\x01", "home/data.db-wal": "w", "home/other.db": "DB2\x00", "a.jsonl": logA})
	list := append(fakes(), Format{Name: "c", Title: "Agent C",
		Detect:  func([][]byte) bool { return false },
		Depends: func(path string) []string { return []string{path + "-wal"} },
		Homes: func(getenv func(string) string) []string {
			return []string{filepath.Join(getenv("HOME"), "home", "data.db"), filepath.Join(getenv("HOME"), "home", "data-next.db")}
		},
		Carrier: func(path string) bool {
			raw, err := os.ReadFile(path)
			return err == nil && bytes.HasPrefix(raw, []byte("DB1"))
		}})
	db := filepath.Join(root, "home", "data.db")
	f, err := list.Detect(db)
	require.NoError(t, err)
	assert.Equal(t, "c", f.Name)
	files, skipped, err := list.Expand(context.Background(), []string{root})
	require.NoError(t, err)
	assert.Empty(t, skipped)
	assert.Equal(t, []string{"a:a.jsonl", "c:home/data.db"}, names(t, root, files))
	files, _, err = list.Expand(context.Background(), []string{db})
	require.NoError(t, err)
	assert.Len(t, files, 1)
	_, _, err = list.Expand(context.Background(), []string{filepath.Join(root, "home", "other.db")})
	assert.ErrorIs(t, err, ErrNothing)

	newer := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	require.NoError(t, os.Chtimes(db, newer.Add(-time.Hour), newer.Add(-time.Hour)))
	require.NoError(t, os.Chtimes(db+"-wal", newer, newer))
	sessions, _, err := list.Installed(context.Background(), func(key string) string { return map[string]string{"HOME": root}[key] })
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	assert.Equal(t, db, sessions[0].Path)
	assert.True(t, newer.Equal(sessions[0].Modified))
}
