package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// private is a word of the log that no message may repeat.
const private = "xyzzy-private"

// forProgrammers is what no user should have to read.
var forProgrammers = regexp.MustCompile(`jsontext|\bjson: (un|can)|unmarshal|strconv|\*?[a-z]+\.[A-Z]\w+|goroutine|panic|runtime|0x[0-9a-f]{6}|LINE \d|%!|<nil>|errno|Error:`)

// begins is how a message begins: a small letter, a flag, a path, a quote, a number, or
// an argument's name.
var begins = regexp.MustCompile(`^fclog: ([-a-z0-9"'/._(]|[A-Z]+ )`)

// TestErrors walks the errors that can be brought about from the command line: each
// is one line, of one style, with the status that it should have.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := errorFiles(t)
	for _, c := range []struct {
		args string // words; those with a file of errorFiles begin with ./
		code int
		says string // parts, ' & ' between them
	}{
		{"audit ./gone", 1, "cannot read & gone: no such file"},
		{"audit ./good.jsonl/x", 1, "cannot read & not a directory"},
		{"audit ./empty", 3, "no session log found"},
		{"audit ./broken.json", 3, "broken.json: not a session log"},
		{"audit ./damaged.zst", 3, "damaged.zst: not a session log: the compressed file is damaged"},
		{"audit ./damaged.gz", 3, "damaged.gz: not a session log & damaged"},
		{"audit ./foreign.jsonl", 3, "unknown log format: the first record has keys"},
		{"audit ./ds ./good.jsonl", 1, "is a dataset; name it alone"},
		{"audit ./good.jsonl --prices ./gone", 1, "reading prices: cannot read"},
		{"audit ./good.jsonl --prices ./broken.json", 1, "broken.json: not a JSON object of prices: not valid JSON at byte"},
		{"audit ./good.jsonl --prices ./kinds.json", 1, "kinds.json & another kind is expected at /input"},
		{"audit ./good.jsonl --prices ./empty", 1, "not read: a folder"},
		{"audit ./good.jsonl -o ./gone/x", 1, "writing & no such file or directory"},
		{"audit ./good.jsonl -o ./empty", 2, "is a folder"},
		{"audit ./good.jsonl --dataset ./good.jsonl", 1, "importing into & not a directory"},
		{"audit ./good.jsonl --session none", 3, "no session matches the selection"},
		{"audit --width x", 2, `--width "x" is not a whole number; see 'fclog audit --help'`},
		{"audit --last 99999999999999999999", 2, "is too large"},
		{"audit --demo=perhaps", 2, `--demo "perhaps" is neither true nor false`},
		{"audit --since ./good.jsonl", 2, "--since"},
		{"audit ./damaged", 1, "opening dataset & requests & 'fclog verify DATASET'"},
		{"audit ./newer", 1, "schema version 99; this fclog reads up to version 1: a newer fclog is needed"},
		{"audit ./unmarked", 1, "not a dataset marker"},
		{"payload ./damaged", 1, "opening dataset"},
		{"replay ./damaged -V mask", 1, "opening dataset"},
		{"query ./damaged --name sessions", 1, "opening dataset"},
		{"replay ./garbled -V mask", 1, "'fclog verify DATASET' names it"},
		{"verify ./gone", 3, "no such file or directory"},
		{"verify ./good.jsonl", 3, "not a directory"},
		{"verify ./damaged", 1, "is not sound"},
		{"verify ./newer", 1, "a newer fclog is needed"},
		{"import ./good.jsonl -o ./good.jsonl", 2, "must be the folder of a dataset"},
		{"import ./good.jsonl -o ./good.jsonl/x", 1, "not a directory"},
		{"import ./good.jsonl -o ./newer", 1, "a newer fclog is needed"},
		{"import ./gone -o ./new", 1, "cannot read"},
		{"import ./empty -o ./new", 3, "no session log found"},
		{"query ./ds SELEC", 2, "only one SELECT statement"},
		{"query ./ds SELECT\u00a01;SELECT\u00a02", 2, "only one SELECT statement"},
		{"query ./ds --name none", 2, "is not one of"},
		{"query ./ds --name sessions --format parquet -o ./gone/x", 1, "writing"},
		{"replay ./good.jsonl -V none", 2, `unknown variant "none"`},
		{"replay ./good.jsonl -V mask:keep=x", 2, "option keep: want a whole number"},
		{"replay ./good.jsonl -V exec:cmd=no-such-program", 2, `program "no-such-program" cannot be run`},
		{"replay ./good.jsonl --variants ./gone", 1, "reading variants: cannot read"},
		{"replay ./good.jsonl --variants ./broken.yaml", 1, "broken.yaml:1"},
		{"replay ./good.jsonl --variants ./kinds.yaml", 1, "kinds.yaml:1: variants: want a list"},
		{"replay ./good.jsonl --variants ./pattern.yaml", 1, "pattern.yaml:4: pattern"},
		{"replay ./good.jsonl -V mask --rates ./gone", 1, "reading base rates: cannot read"},
		{"replay ./good.jsonl -V mask --rates ./broken.json", 1, "not a file of base rates: not valid JSON"},
		{"replay ./good.jsonl -V mask --rates ./list.json", 1, "not a file of base rates: a JSON value of another kind is expected"},
		{"replay ./good.jsonl -V mask --rates ./version.json", 1, "another kind is expected at /schema_version"},
		{"replay ./good.jsonl -V mask --emit ./ds", 1, "is not empty; name a new folder"},
		{"replay ./good.jsonl -V mask --emit ./good.jsonl", 1, "not a directory"},
		{"compare ./good.jsonl", 1, "no A/B report"},
		{"compare ./good.jsonl ./gone", 1, "cannot read"},
		{"compare ./broken.json ./good.jsonl", 3, "broken.json: not a session log"},
		{"compare ./good.jsonl ./ds --predicted ./gone", 1, "cannot read"},
		{"compare ./good.jsonl ./ds --predicted ./list.json", 1, "list.json:1: a JSON value of another kind"},
		{"payload ./good.jsonl --against ./gone", 1, "cannot read"},
		{"payload ./good.jsonl --against ./broken.json", 3, "no request bodies found"},
		{"payload ./good.jsonl --request 99", 3, "no such request"},
		{"sessions ./gone", 1, "cannot read"},
		{"formats none", 2, "is not one of"},
		{"variants none", 2, "no variant"},
		{"prompts none", 2, "VARIANT is missing"},
		{"completion none", 2, "no completion"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, a := range strings.Split(c.args, " ") {
				if rest, ok := strings.CutPrefix(a, "./"); ok {
					a = filepath.Join(dir, filepath.FromSlash(rest))
				}
				args = append(args, strings.ReplaceAll(a, "\u00a0", " "))
			}
			got := newHome(t).run(args...)
			assert.Equal(t, c.code, got.code, got.stderr)
			if !strings.HasPrefix(c.args, "verify ") { // whose report is the list of what is wrong
				assert.Empty(t, got.stdout)
			}
			for _, part := range strings.Split(c.says, " & ") {
				assert.Contains(t, got.stderr, part)
			}
			checkStyle(t, got.stderr)
		})
	}
}

// checkStyle: one line that begins as all do, has no full stop, and holds neither text
// of the log nor names that only programmers know.
func checkStyle(t *testing.T, message string) {
	t.Helper()
	assert.Equal(t, 1, strings.Count(message, "\n"), message)
	assert.Regexp(t, begins, message)
	assert.NotRegexp(t, `\.\n$`, message)
	assert.NotRegexp(t, forProgrammers, message)
	assert.NotContains(t, message, private)
}

// errorFiles makes everything that the command lines of TestErrors stumble over.
func errorFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	log, err := os.ReadFile(testdata("bad", "good.jsonl"))
	require.NoError(t, err)
	write("good.jsonl", strings.ReplaceAll(string(log), "/p/note.txt", "/p/"+private+".txt"))
	write("broken.json", `{"a": "`+private)
	write("kinds.json", `{"m": {"input": "`+private+`", "output": 1}}`)
	write("list.json", `["`+private+`"]`)
	write("version.json", `{"schema_version": "`+private+`"}`)
	write("broken.yaml", "x: [1, "+private)
	write("kinds.yaml", "variants: 5")
	write("pattern.yaml", "variants:\n  - name: a\n    steps:\n      - replace: {pattern: \"(\", with: x}\n")
	write("foreign.jsonl", `{"some":"`+private+`"}`+"\n"+`{"other":1}`+"\n")
	write("damaged.zst", "\x28\xb5\x2f\xfdgarbage")
	write("damaged.gz", "\x1f\x8bgarbage")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))

	got := newHome(t).run("import", filepath.Join(dir, "good.jsonl"), "-o", filepath.Join(dir, "ds"))
	require.Equal(t, 0, got.code, got.stderr)
	for _, name := range []string{"damaged", "garbled", "newer", "unmarked"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(dir, "ds"))))
	}
	write(filepath.Join("newer", "fclog-dataset.json"), `{"schema_version":99}`)
	write(filepath.Join("unmarked", "fclog-dataset.json"), private)
	change(t, filepath.Join(dir, "damaged", "requests"), func(b []byte) []byte { return b[:len(b)/2] })
	change(t, filepath.Join(dir, "garbled", "texts"), func(b []byte) []byte {
		i := bytes.Index(b, []byte(private))
		if i < 0 { // packed: any damage of the pages will do
			i = len(b) / 3
		}
		for n := range len(private) {
			b[i+n] = 0xff
		}
		return b
	})
	return dir
}

// change rewrites the Parquet files below a folder.
func change(t *testing.T, folder string, how func([]byte) []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*", "*.parquet"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, how(raw), 0o600))
	}
}

// TestErrorsOfPlaces: what is no file at all is told as well.
func TestErrorsOfPlaces(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("/dev and /proc are Linux's")
	}
	for args, code := range map[string]int{
		"audit /dev/null": 3, "audit /dev/zero": 3, "audit /proc/self/mem": 3, "audit /proc/self/environ": 3, "audit /dev/full": 3,
		"payload /dev/zero": 3, "replay /dev/zero -V mask": 3, "compare /dev/zero /dev/null": 3, "verify /dev/null": 3, "sessions /dev/zero": 3,
		"import /dev/zero -o x": 3, "audit --demo --prices /dev/zero": 1, "replay --demo --variants /dev/zero": 1, "replay --demo -V mask --rates /dev/zero": 1,
		"replay --demo -V prompt:file=/dev/zero": 1, "compare /dev/zero": 1, "payload --demo --against /dev/zero": 3,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			got := newHome(t).run(strings.Split(args, " ")...)
			assert.Contains(t, []int{code, 1, 2, 3}, got.code, got.stderr)
			checkStyle(t, got.stderr)
			assert.Contains(t, got.stderr, "/", "the place is named")
		})
	}
}
