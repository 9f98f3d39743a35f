package compress

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// printed are pieces of files in many languages; %d makes the lines of every copy
// differ. None says "error".
var printed = map[string]string{
	"Go":         "// step%[1]d adds.\nfunc step%[1]d(a, b int) int {\n\tif a > %[1]d {\n\t\treturn a + b\n\t}\n\n\treturn b - a\n}\n\n",
	"Python":     "def step_%[1]d(a, b):\n    \"\"\"Add things.\"\"\"\n    if a > %[1]d:\n        return a + b\n    return b - a\n\n\n",
	"TypeScript": "export const step%[1]d = (a: number, b: number): number => {\n  const c = a * %[1]d;\n  return c + b;\n};\n\n",
	"Rust":       "pub fn step_%[1]d(a: u32, b: u32) -> u32 {\n    let c = a * %[1]d;\n    c + b\n}\n\n",
	"Java":       "  /** Adds. */\n  public int step%[1]d(int a, int b) {\n    int c = a * %[1]d;\n    return c + b;\n  }\n\n",
	"C":          "static int step_%[1]d(int a, int b)\n{\n\tint c = a * %[1]d;\n\n\treturn c + b;\n}\n\n",
	"SQL":        "SELECT a, b, sum(c) AS total\nFROM table_%[1]d t\nJOIN other o ON o.id = t.id\nWHERE t.x > %[1]d\nGROUP BY a, b\nORDER BY total DESC;\n\n",
	"assembly":   "step_%[1]d:\n\tpush\trbp\n\tmov\trbp, rsp\n\tadd\teax, %[1]d\n\tcmp\teax, 12\n\tjne\t.L%[1]d\n\tpop\trbp\n\tret\n",
	"Lisp":       "(defun step-%[1]d (a b)\n  \"Add.\"\n  (let ((c (* a %[1]d)))\n    (+ c b)))\n\n",
	"shell":      "step_%[1]d() {\n  local a=\"$1\"\n  if [ \"$a\" -gt %[1]d ]; then\n    echo \"Installing $a\"\n  fi\n}\n\n",
	"TOML":       "[package.step%[1]d]\nname = \"step\"\nversion = \"1.%[1]d.0\"\nfeatures = [\"a\", \"b\"]\n\n",
	"YAML":       "- name: step%[1]d\n  runs: on\n  with:\n    value: %[1]d\n    level: info\n",
	"Makefile":   "step%[1]d: a.o b.o\n\t$(CC) -o $@ $^\n\t@echo done %[1]d\n\n.PHONY: step%[1]d\n",
	"HTML":       "<div class=\"row\" id=\"r%[1]d\">\n  <p>Some words</p>\n  <span>%[1]d</span>\n</div>\n",
	"CSS":        ".row-%[1]d {\n  margin: 0 auto;\n  width: %[1]dpx;\n}\n\n",
	"JSON":       "{\"id\": %[1]d, \"name\": \"step\", \"tags\": [\"a\", \"b\"]},\n",
	"package":    "    \"step-%[1]d\": \"^1.%[1]d.0\",\n    \"@types/step-%[1]d\": \"~2.0.%[1]d\",\n",
	"CSV":        "%[1]d,alpha,2.5,2026-01-02 10:00:00,yes\n",
	"log as CSV": "id%[1]d;2026-01-02;INFO;started\n",
	"Markdown":   "## Step %[1]d\n\nSome words about it, and more of them.\n\n- first thing\n- second thing\n\n",
	"prose":      "In the %[1]d. year there was nothing much to say about it.\nPeople went home early.\n\n",
	"diff":       "@@ -%[1]d,3 +%[1]d,4 @@\n context\n-old line %[1]d\n+new line %[1]d\n more context\n",
	"Haskell":    "step%[1]d :: Int -> Int\nstep%[1]d a = a * %[1]d\n  where b = a\n\n",
	"env":        "STEP_%[1]d=value\nINFO=%[1]d\n",
}

// numberedLines puts line numbers in front, as cat -n does.
func numberedLines(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return b.String()
}

func copies(piece string, min int) string {
	var b strings.Builder
	for i := 1; b.Len() < min; i++ {
		fmt.Fprintf(&b, piece, i)
	}
	return b.String()
}

// A command that may print a file or run a build leaves what is in the file alone.
func TestCarefulLeavesPrintedFilesAlone(t *testing.T) {
	for name, piece := range printed {
		text := copies(piece, 19_000)
		if strings.Count(fmt.Sprintf(piece, 7), "7") == 0 {
			t.Errorf("%s: all copies are equal", name)
		}
		for how, text := range map[string]string{"plain": text, "numbered": numberedLines(text), "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "run by npm": "\n> app@1.0.0 print-source\n> node print.js\n\n" + text} {
			out, changed, lossy := Careful().Compress(Careful().Classify("make show"), text, "c")
			assert.False(t, changed || lossy, "%s, %s", name, how)
			assert.Equal(t, text, out, "%s, %s", name, how)
		}
	}
	for _, command := range []string{"npm run print-source", "make show", "pytest -q | cat"} {
		require.Equal(t, Log, Careful().Classify(command), "else nothing was tested")
	}
}

// goRoot is where the Go library lies.
func goRoot(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(root))
}

// Every file of the Go library of 8,000 characters or more is left alone.
func TestCarefulLeavesTheGoLibraryAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some thousand files")
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(goRoot(t), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) < 8000 {
			return err
		}
		files++
		_, changed, _ := Careful().Compress(Log, string(data), "c")
		assert.False(t, changed, path)
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, files, 1000)
}

// What builds, tests and installs print is still taken for a log.
func TestCarefulStillCompressesLogs(t *testing.T) {
	for name, piece := range map[string]string{
		"go test":   "=== RUN   TestStep%[1]d\n--- PASS: TestStep%[1]d (0.00s)\n",
		"pytest":    "tests/test_step.py::test_%[1]d PASSED                [ 27%%]\n",
		"cargo":     "   Compiling step%[1]d v1.0.%[1]d\n",
		"pip":       "Collecting step%[1]d\n  Downloading step%[1]d-1.0-py3-none-any.whl (12 kB)\nRequirement already satisfied: other in ./lib\n",
		"npm":       "npm warn deprecated step%[1]d@1.0.0: use another\n",
		"times":     "2026-01-02T10:00:00.%[1]dZ starting worker %[1]d\n",
		"levels":    "[INFO] building module %[1]d\n",
		"make":      "  CC      src/step%[1]d.o\n",
		"gcc":       "gcc -Wall -O2 -c -o step%[1]d.o step%[1]d.c\n",
		"docker":    "#12 0.%[1]d fetching layer\n",
		"vitest":    " ✓ src/step%[1]d.test.ts (3 tests) 12ms\n",
		"apt":       "Get:%[1]d http://deb.example.org stable/main step [12.3 kB]\nUnpacking step%[1]d (1.0) ...\nSetting up step%[1]d (1.0) ...\n",
		"rust test": "test step::works_%[1]d ... ok\n",
	} {
		out, changed, _ := Careful().Compress(Log, copies(piece, 19_000), "c")
		assert.True(t, changed, name)
		assert.Less(t, len(out), 12_000, name)
	}
}

// The profile that is FreeCode's own looks at the command alone, as FreeCode does.
func TestFreecodeLooksAtNoText(t *testing.T) {
	text := copies(printed["Go"], 40_000)
	out, changed, _ := Freecode().Compress(Log, text, "c")
	assert.True(t, changed)
	assert.Equal(t, refCompress(Log, text, "c", 40, 60, 30_000), out)
}
