package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// A test log is a text file: its first line is "ID DAY", every other line one
// request with that line as the user's text before it.
func read(path string) func(context.Context) ([]*rollout.Session, error) {
	return func(context.Context) ([]*rollout.Session, error) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(string(raw), "log ") {
			return nil, errors.New("line 1: unknown format")
		}
		return []*rollout.Session{parse(path, string(raw))}, nil
	}
}

func parse(path, content string) *rollout.Session {
	lines := strings.Split(strings.TrimSpace(content), "\n")
	b := rollout.NewBuilder("codex")
	s := b.Session
	var day int
	fmt.Sscanf(lines[0], "log %s %d", &s.ID, &day)
	s.File, s.Records, s.CWD = path, len(lines), "/home/somebody/secret-project"
	if day > 0 {
		s.Started = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		s.Ended = s.Started.Add(time.Hour)
	}
	chain := b.Chain()
	for i, line := range lines[1:] {
		if line == "?" {
			b.Problem(rollout.Problem{File: path, Line: i + 2, Kind: "unknown-record", Detail: "a record of unknown type"})
			continue
		}
		chain.Add(rollout.SlotConversation, b.Item(rollout.Item{
			Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text(line),
		}))
		size := int64(len(line))
		r := chain.Request(rollout.Request{
			ID: fmt.Sprint(s.ID, i), Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Model: "gpt-5",
			Usage: rollout.Usage{Input: &size, Output: &size}, OutputFinal: true, Line: i + 2,
		})
		args := b.Text(`{"path":"/home/somebody/` + line + `"}`)
		b.Call(rollout.Call{
			Request: r, ID: fmt.Sprint("c", i), Tool: "read", Class: rollout.ReadTool, Args: args, ArgsItem: -1, ResultItem: -1,
			Command: "cat " + line, Path: "/home/somebody/" + line, Range: "1:" + line, ReadOnly: true, Ran: true, Handle: "/tmp/" + line,
		})
	}
	return b.Finish()
}

func logFile(t *testing.T, dir, name, content string) Input {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return Input{Path: path, Read: read(path)}
}

func importInto(t *testing.T, dir string, inputs ...Input) Summary {
	t.Helper()
	sum, err := Import(t.Context(), dir, inputs, Options{})
	require.NoError(t, err)
	return counts(sum)
}

// counts is a summary without its parts, which have a test of their own.
func counts(sum Summary) Summary {
	sum.Parts = nil
	return sum
}

// tree is every file of a dataset but the cache, by relative path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if strings.HasPrefix(name, "_state") {
			return nil
		}
		raw, err := os.ReadFile(path)
		out[name] = string(raw)
		return err
	}))
	return out
}

// parts lists the session files of a dataset.
func parts(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "sessions", "source=codex", "*", "*.parquet"))
	require.NoError(t, err)
	return paths
}

// all reads every row of a table, the files in order of their paths.
func all[T any](t *testing.T, dir, table string) []T {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, table, "source=*", "month=*", "*.parquet"))
	require.NoError(t, err)
	var out []T
	for _, p := range paths {
		require.NoError(t, scanFile(p, func(rows []T) error {
			out = append(out, rows...)
			return nil
		}))
	}
	return out
}

func TestImportIsDeterministic(t *testing.T) {
	logs := t.TempDir()
	inputs := []Input{logFile(t, logs, "a", "log A 1\none\ntwo\n"), logFile(t, logs, "b", "log B 2\none\n?\n"), logFile(t, logs, "c", "log C 0\nthree\n")}
	first, second := t.TempDir(), t.TempDir()
	sum := importInto(t, first, inputs...)
	assert.Equal(t, Summary{Imported: 3, Sessions: 3, Problems: 1}, sum)
	importInto(t, second, inputs[2], inputs[1], inputs[0])
	assert.Equal(t, tree(t, first), tree(t, second))
	scratch := t.TempDir()
	_, err := Import(t.Context(), scratch, inputs, Options{Scratch: true})
	require.NoError(t, err)
	assert.Equal(t, tree(t, first), tree(t, scratch))
	assert.Len(t, parts(t, first), 2, "one file a month")
	assert.DirExists(t, filepath.Join(first, "sessions", "source=codex", "month=2026-01"))
	assert.DirExists(t, filepath.Join(first, "sessions", "source=codex", "month=unknown"))
}

func TestImportIsIdempotent(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\ntwo\n")
	importInto(t, dir, a)
	before := tree(t, dir)

	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, a), "by the cache")
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, logFile(t, logs, "copy/b", "log A 1\none\ntwo\n")), "under another name")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "_state")))
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, a), "without the cache")
	require.NoError(t, os.Chtimes(a.Path, time.Now(), time.Now().Add(time.Hour)))
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, a), "touched")
	assert.Equal(t, before, tree(t, dir))
}

func TestSameContentTwiceInOneImport(t *testing.T) {
	logs, dir, other := t.TempDir(), t.TempDir(), t.TempDir()
	a, b := logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log A 1\none\n")
	assert.Equal(t, Summary{Imported: 1, Unchanged: 1, Sessions: 1}, importInto(t, dir, b, a))
	importInto(t, other, a, b)
	assert.Equal(t, tree(t, dir), tree(t, other))
	assert.Equal(t, a.Path, all[Session](t, dir, "sessions")[0].File)
}

func TestPackedFileIsTheSamePart(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("log A 1\none\n"))
	require.NoError(t, z.Close())
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, logFile(t, logs, "a.gz", packed.String())))
}

func TestGrownFileReplacesItsPart(t *testing.T) {
	logs, dir, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"))
	grown := logFile(t, logs, "a", "log A 1\none\ntwo\n")
	assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, importInto(t, dir, grown))
	importInto(t, fresh, grown)
	assert.Equal(t, tree(t, fresh), tree(t, dir), "as if it had been imported once")
}

// An import that is killed after it committed a part has not yet removed the
// older one.
func TestOlderPartLeftByAKilledImport(t *testing.T) {
	logs, dir, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"))
	old := tree(t, dir)
	grown := logFile(t, logs, "a", "log A 1\none\ntwo\n")
	importInto(t, dir, grown)
	for name, content := range old {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "_state")))
	importInto(t, fresh, grown)
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, grown))
	assert.Equal(t, tree(t, fresh), tree(t, dir))
}

func TestBrokenCacheIsNoCache(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\n")
	importInto(t, dir, a)
	before := tree(t, dir)
	for _, broken := range []string{"", "{", `{"importer":"` + Importer + `"}`, `{"importer":"0","files":{}}`, "null"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "_state", "files.json"), []byte(broken), 0o600))
		assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, a), broken)
		assert.Equal(t, before, tree(t, dir))
	}
}

// Whoever holds the lock is the only writer: whatever is aside was left behind.
func TestLeftoversOfKilledImportsGo(t *testing.T) {
	dir := t.TempDir()
	importInto(t, dir)
	left := []string{filepath.Join("_tmp", "1-old"), filepath.Join("_tmp", "2-young"), "fclog-dataset.json.123", filepath.Join("_state", "files.json.456")}
	for _, name := range left {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	require.NoError(t, os.Chtimes(filepath.Join(dir, left[0]), time.Now(), time.Now().Add(-48*time.Hour)))
	importInto(t, dir)
	for _, name := range left {
		assert.NoDirExists(t, filepath.Join(dir, name))
	}
	assert.FileExists(t, filepath.Join(dir, "fclog-dataset.json"))
}

// An import that was killed before there was a dataset leaves as little.
func TestLeftoversOfTheMarkerGo(t *testing.T) {
	for _, left := range []string{"fclog-dataset.json.123", filepath.Join("_state", "files.json.456")} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(left)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, left), []byte("{"), 0o600))
		importInto(t, dir)
		assert.NoFileExists(t, filepath.Join(dir, left))
		assert.FileExists(t, filepath.Join(dir, "fclog-dataset.json"))
	}
}

// Without locks another import may be at work on what is young.
func TestLeftoversWithoutLocks(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, "_tmp", "1-old"), filepath.Join(dir, "_tmp", "2-young")
	require.NoError(t, os.MkdirAll(old, 0o700))
	require.NoError(t, os.MkdirAll(young, 0o700))
	require.NoError(t, os.Chtimes(old, time.Now(), time.Now().Add(-48*time.Hour)))
	in, err := openInside(dir)
	require.NoError(t, err)
	defer in.root.Close()
	(&store{inside: in}).dropLeftovers()
	assert.NoDirExists(t, old)
	assert.DirExists(t, young)
}

func TestChangedDependencyReplaces(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\n")
	a.Depends = []string{filepath.Join(logs, "store.json")}
	importInto(t, dir, a)
	assert.Equal(t, Summary{Unchanged: 1}, importInto(t, dir, a))
	logFile(t, logs, "store.json", "{}")
	assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, importInto(t, dir, a))
	assert.Len(t, parts(t, dir), 1)
}

func TestTextGoneFromTheFileIsKept(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\nprecious\n"))
	assert.Equal(t, Summary{Replaced: 1, Kept: 1, Sessions: 1}, importInto(t, dir, logFile(t, logs, "a", "log A 1\nsummary\ntwo\n")))
	assert.Len(t, parts(t, dir), 2)
	assert.Equal(t, Summary{Replaced: 1, Kept: 1, Sessions: 1}, importInto(t, dir, logFile(t, logs, "a", "log A 1\nsummary\ntwo\nthree\n")))
	assert.Len(t, parts(t, dir), 2, "the middle one lost nothing and went")
	var texts []string
	for _, row := range all[Text](t, dir, "texts") {
		texts = append(texts, row.Text)
	}
	assert.Contains(t, texts, "precious")
}

func TestFailuresDoNotStopTheOthers(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	bad, good := logFile(t, logs, "bad", "rubbish"), logFile(t, logs, "good", "log A 1\none\n")
	missing := Input{Path: filepath.Join(logs, "missing"), Read: read(filepath.Join(logs, "missing"))}
	panics := logFile(t, logs, "panics", "log P 1\n")
	panics.Read = func(context.Context) ([]*rollout.Session, error) { panic("a fault of the reader") }
	nothing := logFile(t, logs, "void", "log N 1\n")
	nothing.Read = func(context.Context) ([]*rollout.Session, error) { return nil, nil }
	twice := logFile(t, logs, "yy", "log Y 1\n")
	twice.Read = func(context.Context) ([]*rollout.Session, error) {
		s := parse(twice.Path, "log Y 1\none\n")
		return []*rollout.Session{s, s}, nil
	}
	done := 0
	sum, err := Import(t.Context(), dir, []Input{bad, good, missing, panics, nothing, twice}, Options{Progress: func(d, total int) {
		done++
		assert.Equal(t, done, d)
		assert.Equal(t, 6, total)
	}})
	require.NoError(t, err)
	assert.Equal(t, 6, done)
	assert.Equal(t, 1, sum.Imported)
	require.Len(t, sum.Failed, 5)
	assert.Equal(t, bad.Path, sum.Failed[0].Path)
	assert.ErrorContains(t, sum.Failed[0].Err, "line 1: unknown format")
	assert.ErrorIs(t, sum.Failed[1].Err, fs.ErrNotExist)
	assert.ErrorContains(t, sum.Failed[2].Err, "internal error: panic with a value of type string")
	assert.NotContains(t, sum.Failed[2].Err.Error(), "a fault of the reader", "what panics say may be text of a log")
	assert.ErrorContains(t, sum.Failed[3].Err, "no session in it")
	assert.ErrorContains(t, sum.Failed[4].Err, "session Y")
	assert.Len(t, importInto(t, dir, bad, good).Failed, 1, "a failure is not remembered as done")
}

func TestFileGrowingWhileRead(t *testing.T) {
	logs, dir, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\n")
	reads := 0
	growing := a
	growing.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		if reads++; reads == 1 {
			logFile(t, logs, "a", "log A 1\none\ntwo\n")
		}
		return a.Read(ctx)
	}
	importInto(t, dir, growing)
	assert.Equal(t, 2, reads)
	importInto(t, fresh, a)
	assert.Equal(t, tree(t, fresh), tree(t, dir))
}

func TestFileThatNeverRests(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	content := "log A 1\none\n"
	a := logFile(t, logs, "a", content)
	restless := a
	restless.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		content += "more\n"
		logFile(t, logs, "a", content)
		return a.Read(ctx)
	}
	importInto(t, dir, restless)
	sum := importInto(t, dir, a)
	assert.Zero(t, sum.Unchanged, "it is read again")
	assert.Len(t, parts(t, dir), 1)
	assert.Len(t, all[Request](t, dir, "requests"), strings.Count(content, "\n")-1)
}

func TestCancelLeavesNothingHalfWritten(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\n")
	importInto(t, dir, a)
	before := tree(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	b := logFile(t, logs, "b", "log B 1\none\n")
	b.Read = func(ctx context.Context) ([]*rollout.Session, error) {
		cancel()
		return nil, ctx.Err()
	}
	_, err := Import(ctx, dir, []Input{b, logFile(t, logs, "c", "log C 1\none\n")}, Options{})
	assert.ErrorIs(t, err, context.Canceled)
	after := tree(t, dir)
	for name, content := range before {
		assert.Equal(t, content, after[name], name)
	}
	assert.LessOrEqual(t, len(parts(t, dir)), 2)
	assert.Equal(t, Summary{Imported: 2, Sessions: 2}, importInto(t, dir, logFile(t, logs, "b", "log B 1\none\n"), logFile(t, logs, "c2", "log C2 1\none\n")))
}

// A write that fails after any number of bytes leaves the old dataset whole.
func TestFullDisk(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"))
	grown := logFile(t, logs, "a", "log A 1\none\ntwo\n")
	before := tree(t, dir)
	for _, room := range []int{0, 1, 100, 3000, 9000} {
		left := &space{left: room}
		sum, err := Import(t.Context(), dir, []Input{grown}, Options{create: func(path string) (io.WriteCloser, error) {
			f, err := createFile(path)
			return &fullDisk{f, path, left}, err
		}})
		var failed *WriteError
		require.ErrorAs(t, err, &failed, "room for %d bytes", room)
		assert.ErrorContains(t, err, "no space left")
		assert.ErrorContains(t, err, filepath.Join(dir, "_tmp"), "names the path")
		assert.Zero(t, sum.Replaced)
		assert.Equal(t, before, tree(t, dir), "room for %d bytes", room)
	}
	assert.Equal(t, 1, importInto(t, dir, grown).Replaced)
}

// space is what files that are written at the same time have between them.
type space struct {
	mu   sync.Mutex
	left int
}

func (s *space) take(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.left {
		return false
	}
	s.left -= n
	return true
}

// fullDisk takes only so many bytes.
type fullDisk struct {
	io.WriteCloser
	path  string
	space *space
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if !d.space.take(len(p)) {
		return 0, &fs.PathError{Op: "write", Path: d.path, Err: errors.New("no space left on device")}
	}
	return d.WriteCloser.Write(p)
}

func TestNoTextHoldsNoText(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	a := logFile(t, logs, "secret-folder/a", "log A 1\nconfidential words\n?\n")
	sum, err := Import(t.Context(), dir, []Input{a}, Options{NoText: true})
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Imported)
	held := tree(t, dir)
	raw, err := os.ReadFile(filepath.Join(dir, "_state", "files.json"))
	require.NoError(t, err)
	held["cache"] = string(raw)
	held["decoded"] = fmt.Sprint(all[Session](t, dir, "sessions"), all[Request](t, dir, "requests"), all[Item](t, dir, "items"),
		all[Span](t, dir, "spans"), all[Call](t, dir, "calls"), all[Problem](t, dir, "problems"))
	for name, content := range held {
		for _, secret := range []string{"confidential", "words", "secret", "somebody"} {
			assert.False(t, strings.Contains(content, secret), "%s in %s", secret, name)
		}
	}
	s := all[Session](t, dir, "sessions")[0]
	assert.False(t, s.HasText)
	assert.Equal(t, "a", s.File)
	assert.Empty(t, all[Text](t, dir, "texts"))
	call := all[Call](t, dir, "calls")[0]
	assert.Equal(t, make([]*string, 5), []*string{call.Args, call.Command, call.Path, call.Range, call.Handle})
	item := all[Item](t, dir, "items")[0]
	assert.Equal(t, int64(len("confidential words")), item.Chars)
	assert.Len(t, item.TextHash, 64)

	sum, err = Import(t.Context(), dir, []Input{logFile(t, logs, "secret-folder/a", "log A 1\nconfidential words\nmore\n")}, Options{NoText: true})
	require.NoError(t, err)
	assert.Equal(t, 1, sum.Replaced, "an older part is found by its base name and session")
	_, err = Import(t.Context(), dir, []Input{a}, Options{})
	assert.ErrorContains(t, err, "was made without texts")
}

func TestImportRefusesForeignFolders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.doc"), nil, 0o600))
	_, err := Import(t.Context(), dir, nil, Options{})
	assert.ErrorContains(t, err, "neither empty nor an fclog dataset")

	withText := t.TempDir()
	importInto(t, withText)
	_, err = Import(t.Context(), withText, nil, Options{NoText: true})
	assert.ErrorContains(t, err, "holds texts")

	require.NoError(t, os.WriteFile(filepath.Join(withText, "fclog-dataset.json"), []byte(`{"schema_version":99,"text":true}`), 0o600))
	_, err = Import(t.Context(), withText, nil, Options{})
	assert.ErrorContains(t, err, "schema version 99")
	assert.ErrorContains(t, Check(withText), "schema version 99")

	require.NoError(t, os.WriteFile(filepath.Join(withText, "fclog-dataset.json"), []byte(`{`), 0o600))
	assert.ErrorContains(t, Check(withText), "not a dataset marker")
}

func TestPermissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dataset")
	importInto(t, dir, logFile(t, t.TempDir(), "a", "log A 1\none\n"))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		info, statErr := d.Info()
		require.NoError(t, errors.Join(err, statErr))
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		assert.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
}

func TestCompact(t *testing.T) {
	logs, dir, again := t.TempDir(), t.TempDir(), t.TempDir()
	a := logFile(t, logs, "a", "log A 1\none\ntwo\n")
	inputs := []Input{a, logFile(t, logs, "b", "log B 2\none\n?\n"), logFile(t, logs, "c", "log C 0\nthree\n")}
	importInto(t, dir, inputs...)
	importInto(t, again, inputs...)
	before := []any{all[Session](t, dir, "sessions"), all[Request](t, dir, "requests"), all[Text](t, dir, "texts"), all[Problem](t, dir, "problems")}
	require.NoError(t, Compact(t.Context(), dir))
	require.NoError(t, Compact(t.Context(), again))
	assert.Equal(t, tree(t, dir), tree(t, again))
	after := []any{all[Session](t, dir, "sessions"), all[Request](t, dir, "requests"), all[Text](t, dir, "texts"), all[Problem](t, dir, "problems")}
	for i := range before {
		assert.ElementsMatch(t, before[i], after[i])
	}
	assert.Len(t, parts(t, dir), 2, "one file a month")

	merged := tree(t, dir)
	require.NoError(t, Compact(t.Context(), dir))
	assert.Equal(t, merged, tree(t, dir), "nothing left to merge")
	assert.Equal(t, Summary{Unchanged: 3}, importInto(t, dir, inputs...))
	assert.Equal(t, merged, tree(t, dir))
}

func TestGrownFileInMergedDataset(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"), logFile(t, logs, "b", "log B 2\none\n"))
	require.NoError(t, Compact(t.Context(), dir))
	assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, importInto(t, dir, logFile(t, logs, "a", "log A 1\none\ntwo\n")))
	ids := func() (out []string) {
		for _, s := range all[Session](t, dir, "sessions") {
			out = append(out, s.SessionID)
		}
		return out
	}
	assert.ElementsMatch(t, []string{"A", "B"}, ids())
	require.NoError(t, Compact(t.Context(), dir))
	assert.ElementsMatch(t, []string{"A", "B"}, ids())
	assert.Len(t, all[Request](t, dir, "requests"), 3, "the old part's row is gone")
}

func TestCompactDropsWhatAKilledImportLeft(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	importInto(t, dir, logFile(t, logs, "a", "log A 1\none\n"))
	before := tree(t, dir)
	importInto(t, dir, logFile(t, logs, "b", "log B 3\none\n"))
	for _, p := range parts(t, dir) {
		name, _ := filepath.Rel(dir, p)
		if _, old := before[name]; !old {
			require.NoError(t, os.Remove(p))
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "_tmp", "1-killed"), 0o700))
	require.NoError(t, Compact(t.Context(), dir))
	assert.Equal(t, before, tree(t, dir))
}

func TestPathsAreUTF8(t *testing.T) {
	for path, want := range map[string]string{"/a/é�": "/a/é�", "/a\xff/\xc3": `/a\xff/\xc3`, "": ""} {
		assert.Equal(t, want, utf8Path(path))
	}
}
