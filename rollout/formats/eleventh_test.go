package formats

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// CONTRIBUTING.md shows the functions between these two lines: a whole reader of a
// format that nobody uses.
//
// walk-through: begin

type record struct {
	Toy    logfile.Lenient[string] `json:"toy"` // the session's ID
	Role   logfile.Lenient[string] `json:"role"`
	Text   logfile.Lenient[string] `json:"text"`
	Input  *int64                  `json:"input"`
	Output *int64                  `json:"output"`
}

// detect looks at content alone, at the keys it needs and no more.
func detect(head [][]byte) bool {
	var r record
	return len(head) > 0 && logfile.Unmarshal(head[0], &r) == nil && r.Toy.V != "" && r.Role.V != ""
}

func read(_ context.Context, path string) ([]*rollout.Session, error) {
	log, err := logfile.Open(path) // plain, gzip or zstd; damage becomes a problem of the session
	if err != nil {
		return nil, err
	}
	defer log.Close()
	b := rollout.NewBuilder("toy")
	chain := b.Chain()
	for log.Next() {
		var r record
		if err := logfile.Unmarshal(log.Record(), &r); err != nil || r.Role.V != "user" && r.Role.V != "assistant" {
			b.Problem(rollout.Problem{File: path, Line: log.Line(), Kind: "unknown-record", Detail: "a record of an unknown type", Count: 1})
			continue
		}
		b.Session.ID = r.Toy.V
		item := rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text(r.Text.V)}
		if r.Role.V == "assistant" {
			// The request first: it carried what stands in the chain now. Then what its response brought.
			item.Request = chain.Request(rollout.Request{
				Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Line: log.Line(),
				Usage: rollout.Usage{Input: r.Input, Output: r.Output}, OutputFinal: true,
			})
			item.Kind, item.Role = rollout.AssistantText, rollout.RoleAssistant
		}
		chain.Add(rollout.SlotConversation, b.Item(item))
	}
	if err := log.Err(); err != nil {
		return nil, err
	}
	s := b.Finish()
	s.File, s.Missing, s.Problems = path, []string{"system prompt", "tool definitions"}, append(s.Problems, log.Problems()...)
	return []*rollout.Session{s}, rollout.Check(s)
}

func toy() rollout.Format {
	return rollout.Format{
		Name: "toy", Title: "Toy", Detect: detect, Read: read,
		Homes: func(getenv func(string) string) []string { return []string{filepath.Join(getenv("HOME"), ".toy")} },
		About: rollout.About{
			Carriers: []string{"*.jsonl"},
			Versions: []string{"0.1"},
			Lacks:    []rollout.Lack{{What: "system prompt"}, {What: "tool definitions"}},
		},
	}
}

// walk-through: end

// TestEleventhFormat: with one more line in the list, a file of a new format is
// found, told apart, read and left out of nobody else's.
func TestEleventhFormat(t *testing.T) {
	root := tree(t, map[string]string{".toy/a.jsonl": `{"toy":"s1","role":"user","text":"Hello there"}
{"toy":"s1","role":"assistant","text":"Hi","input":40,"output":1}
{"toy":"s1","role":"user","text":"Bye"}
{"toy":"s1","role":"weather"}
{"toy":"s1","role":"assistant","text":"Bye","input":46,"output":1}
`})
	path := filepath.Join(root, ".toy", "a.jsonl")
	_, err := All().Detect(path)
	require.ErrorIs(t, err, ErrUnknown)

	list := append(All(), toy())
	found, _, err := list.Installed(context.Background(), func(key string) string { return map[string]string{"HOME": root}[key] })
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "toy", found[0].Format.Name)
	sessions, err := found[0].Format.Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	s := sessions[0]
	require.Len(t, s.Requests, 2)
	assert.EqualValues(t, 46, *s.Requests[1].Usage.Input)
	assert.Len(t, s.Items, 4)
	// The first text rode twice, the first answer and the second text once, the last not.
	assert.Len(t, s.Spans, 3)
	require.Len(t, s.Problems, 1)
	assert.Equal(t, 4, s.Problems[0].Line)
	assert.Contains(t, list.titles(), "Toy")
}

// folders are the readers: packages below rollout that export Detect and Read.
func folders(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("..", "*"))
	require.NoError(t, err)
	var out []string
	for _, dir := range dirs {
		source := sourceOf(t, dir, false)
		if strings.Contains(source, "\nfunc Detect(head [][]byte) bool") && strings.Contains(source, "\nfunc Read(ctx context.Context") {
			out = append(out, dir)
		}
	}
	return out
}

func sourceOf(t *testing.T, dir string, tests bool) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var b strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") == tests {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			b.Write(raw)
		}
	}
	return b.String()
}

var nameConst = regexp.MustCompile(`(?m)^const Name = "([a-z-]+)"`)

// TestEveryFolderIsWhole: what CONTRIBUTING.md asks of a format, every one has.
func TestEveryFolderIsWhole(t *testing.T) {
	dirs := folders(t)
	require.Len(t, dirs, len(All()), "one line in the list for each folder")
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	for _, dir := range dirs {
		m := nameConst.FindStringSubmatch(sourceOf(t, dir, false))
		require.NotNil(t, m, dir)
		i := slices.IndexFunc(All(), func(f Format) bool { return f.Name == m[1] })
		require.GreaterOrEqual(t, i, 0, "%s is in the list", dir)
		assert.FileExists(t, filepath.Join(dir, "format.go"))
		assert.FileExists(t, filepath.Join("..", "..", "testdata", m[1], "README.md"))
		assert.Contains(t, sourceOf(t, dir, true), "\nfunc Fuzz", dir)
		assert.Regexp(t, `(?m)^\| [^|]*`+regexp.QuoteMeta(strings.TrimSuffix(All()[i].Title, " log")), string(readme), "README.md has a row")
	}
}

// TestWalkThrough: the code in CONTRIBUTING.md is the code above, and the reader
// it points to is the smallest.
func TestWalkThrough(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	require.NoError(t, err)
	source, err := os.ReadFile("eleventh_test.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(source), "// walk-through: begin\n")
	require.True(t, ok)
	code, _, ok := strings.Cut(rest, "// walk-through: end\n")
	require.True(t, ok)
	assert.Contains(t, string(page), "```go\n"+strings.TrimSpace(code)+"\n```\n")

	smallest, lines := "", 1<<30
	for _, dir := range folders(t) {
		if n := strings.Count(sourceOf(t, dir, false), "\n"); n < lines {
			smallest, lines = filepath.Base(dir), n
		}
	}
	_, section, ok := strings.Cut(string(page), "### A new format\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	assert.Contains(t, section, "`rollout/"+smallest+"`", "the smallest reader is the example")
	for _, m := range regexp.MustCompile("`((?:rollout|testdata|docs|cmd)/[a-z/_.]+)`").FindAllStringSubmatch(section, -1) {
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(m[1])))
		assert.NoError(t, err, "CONTRIBUTING.md names it")
	}
}

// TestFormatsKnowNothingOfEachOther: a reader imports no other reader and nothing
// that comes after reading.
func TestFormatsKnowNothingOfEachOther(t *testing.T) {
	const module = "github.com/fclog/fclog/"
	readers := map[string]bool{}
	for _, dir := range folders(t) {
		readers[module+"rollout/"+filepath.Base(dir)] = true
	}
	for pkg := range readers {
		imports, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, pkg).Output()
		require.NoError(t, err)
		for line := range bytes.Lines(imports) {
			other := strings.TrimSpace(string(line))
			assert.False(t, readers[other], "%s imports %s", pkg, other)
			for _, later := range []string{"analyze", "replay", "cmd", "internal/report"} {
				assert.False(t, strings.HasPrefix(other, module+later), "%s imports %s", pkg, other)
			}
		}
	}
}
