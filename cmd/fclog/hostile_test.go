package main_test

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/internal/term/termtest"
	"github.com/fclog/fclog/rollout/formats"
)

var number = regexp.MustCompile(`^-?[0-9.]+(e[-+]?[0-9]+)?$`)

// TestHostileLogs: the logs of every format with hostile texts in every place,
// through every command and every form of output.
func TestHostileLogs(t *testing.T) {
	t.Parallel()
	for _, d := range hostile.Damages() {
		if !strings.Contains(d.Name, "texts") || strings.Contains(d.Name, "nothing") {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			logs := filepath.Join(h.dir, "logs")
			hostileLogs(t, logs, d)
			data := filepath.Join(h.dir, "data")
			got := h.run("import", logs, "-o", data)
			require.Equal(t, 0, got.code, got.stderr)
			checkHostile(t, got, "md")
			emitted := filepath.Join(h.dir, "emitted")
			for n, line := range []string{
				"verify DATA", "verify DATA --format md", "verify DATA --format json",
				"audit DATA --debug", "audit DATA --format md", "audit DATA --format json", "audit DATA --format html", "audit DATA --format html --with-text",
				"sessions LOGS", "sessions LOGS --format json",
				"payload DATA", "payload DATA --request 2", "payload DATA --format json",
				"query DATA FROM_sessions", "query DATA FROM_sessions --format csv", "query DATA FROM_sessions --format json",
				"query DATA FROM_texts --format csv", "query DATA FROM_calls", "query DATA FROM_calls --format csv", "query DATA FROM_problems --format csv",
				"replay DATA -V mask:keep=0 -V cap:max=1 --emit EMITTED --details --diff", "replay DATA -V mask:keep=0 --format md --diff", "replay DATA -V mask:keep=0 --format json",
				"replay DATA -V mask:keep=0 --format html --with-text", "compare DATA LOGS", "compare DATA LOGS --format md", "compare DATA LOGS --format json", "compare DATA LOGS --format html",
			} {
				if d.Name != "texts" && n%3 != 0 {
					continue // most has been seen
				}
				var args []string
				for _, word := range strings.Fields(line) {
					args = append(args, strings.NewReplacer("DATA", data, "LOGS", logs, "EMITTED", emitted, "_", " ").Replace(word))
				}
				format := "term"
				if i := strings.Index(line, "--format "); i >= 0 {
					format = strings.Fields(line[i:])[1]
				}
				got := h.run(args...)
				require.Contains(t, []int{0, 3}, got.code, "%s: %s", line, got.stderr)
				if format == "term" && (strings.HasPrefix(line, "sessions") || strings.HasPrefix(line, "compare") || strings.HasPrefix(line, "query")) {
					format = "md" // as wide as what they show
				}
				checkHostile(t, got, format)
			}
			if _, err := os.Stat(emitted); err == nil {
				checkEmitted(t, emitted)
			}
		})
	}
}

// checkHostile: nothing in the output acts on what shows it.
func checkHostile(t *testing.T, got result, format string) {
	t.Helper()
	termtest.CheckTerminal(t, got.stderr, 1<<30, false)
	switch format {
	case "term":
		termtest.CheckTerminal(t, got.stdout, 80, false)
	case "md", "json":
		termtest.CheckTerminal(t, got.stdout, 1<<30, false)
		for dec := json.NewDecoder(strings.NewReader(got.stdout)); format == "json"; { // one value or many
			var v any
			if err := dec.Decode(&v); err == io.EOF {
				break
			} else if !assert.NoError(t, err) {
				break
			}
		}
	case "html":
		for _, active := range []string{"<script>alert", "onerror=alert(1)>", "<svg onload", "srcdoc='", "<iframe", "javascript:alert(1)\"", "href=\"https://example.org"} {
			assert.NotContains(t, got.stdout, active)
		}
	case "csv":
		rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
		require.NoError(t, err)
		for _, row := range rows {
			for _, field := range row {
				if field != "" && !number.MatchString(field) {
					assert.False(t, strings.ContainsAny(field[:1], "=+-@\t\r\n"), "%.60q", field)
				}
			}
		}
	}
}

// hostileLogs are all logs of testdata, damaged, in their folders.
func hostileLogs(t *testing.T, into string, d hostile.Damage) {
	t.Helper()
	require.NoError(t, os.CopyFS(into, os.DirFS(testdata())))
	require.NoError(t, os.RemoveAll(filepath.Join(into, "bad")))
	files, _, err := formats.Expand(t.Context(), []string{into})
	require.NoError(t, err)
	for n, f := range files {
		if f.Format.Carrier != nil && f.Format.Carrier(f.Path) {
			continue
		}
		log, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(f.Path, hostile.Rewrite(log, d.Change(n%d.Seeds)), 0o600))
	}
}
