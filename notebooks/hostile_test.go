package notebooks

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/fclog/fclog/internal/hostile"
)

// TestTablesOfHostileTexts: the table that a notebook shows of texts of logs is a table
// of text, whatever they hold.
func TestTablesOfHostileTexts(t *testing.T) {
	needJupyter(t)
	dir := t.TempDir()
	binary, log := filepath.Join(dir, "fclog"), filepath.Join(dir, "a.jsonl")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/fclog").CombinedOutput()
	require.NoError(t, err, "%s", out)
	var b strings.Builder
	texts := hostile.Short()
	for n, text := range texts {
		raw, err := json.Marshal(text)
		require.NoError(t, err)
		parent := fmt.Sprintf(`"u%d"`, n-1)
		if n == 0 {
			parent = "null"
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"sessionId":"a","version":"2.1.44","uuid":"u%d","timestamp":"2026-03-01T10:00:00.000Z","type":"user","message":{"role":"user","content":[{"type":"text","text":%s}]}}`+"\n", parent, n, raw)
	}
	fmt.Fprintf(&b, `{"parentUuid":"u%d","isSidechain":false,"sessionId":"a","version":"2.1.44","uuid":"last","timestamp":"2026-03-01T10:00:01.000Z","type":"assistant","requestId":"r","message":{"id":"m","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Yes"}],"stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":5}}}`+"\n", len(texts)-1)
	require.NoError(t, os.WriteFile(log, []byte(b.String()), 0o600))
	script := `import sys, pandas as pd
from fclog import query
pd.set_option("display.max_rows", None, "display.max_colwidth", None)
print(query(sys.argv[1], "SELECT text, text AS \"<img src=x onerror=alert(1)>\" FROM texts")._repr_html_())`
	cmd := exec.Command("/usr/bin/python3", "-c", script, log)
	cmd.Env = append(os.Environ(), "FCLOG="+binary, "MPLCONFIGDIR="+dir, "TMPDIR="+dir, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=.")
	page, err := cmd.Output()
	require.NoError(t, err)
	root, err := html.Parse(strings.NewReader(string(page)))
	require.NoError(t, err)
	seen := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			seen[n.Data]++
		}
	}
	for _, name := range []string{"html", "head", "body", "div", "style", "table", "thead", "tbody", "tr", "th", "td", "p"} {
		delete(seen, name)
	}
	assert.Empty(t, seen, "elements that texts brought in")
	assert.Greater(t, strings.Count(string(page), "<td>"), len(texts))
}
