// Package notebooks runs the notebooks of this folder; there is no Go code in it.
package notebooks

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jupyter is Debian's: another one on the path may lack kernel and libraries.
const jupyter = "/usr/bin/jupyter"

// modules is what the notebooks import, apart from Python's own.
const modules = "import nbconvert, ipykernel, pandas, matplotlib"

func notebooks(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.ipynb")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// TestNotebooksRun executes every cell. FCLOG_NOTEBOOKS=1 makes a missing Jupyter a
// failure; FCLOG_NOTEBOOKS_OUT names a folder for the results as HTML.
func TestNotebooksRun(t *testing.T) {
	needJupyter(t)
	binary := filepath.Join(t.TempDir(), "fclog")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/fclog").CombinedOutput()
	require.NoError(t, err, "%s", out)
	results := os.Getenv("FCLOG_NOTEBOOKS_OUT")
	if results == "" {
		results = t.TempDir()
	}
	results, err = filepath.Abs(results)
	require.NoError(t, err)
	for _, file := range notebooks(t) {
		t.Run(strings.TrimSuffix(file, ".ipynb"), func(t *testing.T) {
			// One after the other: two kernels that start at once can choose the same port.
			ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute) // some 20 s where nothing else runs
			defer stop()
			cmd := exec.CommandContext(ctx, jupyter, "nbconvert", "--execute", "--to", "html", "--output-dir", results, file)
			home := t.TempDir()
			cmd.Env = append(os.Environ(), "FCLOG="+binary, "JUPYTER_PLATFORM_DIRS=1", "IPYTHONDIR="+home, "MPLCONFIGDIR="+home, "TMPDIR="+home, "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

func needJupyter(t *testing.T) {
	t.Helper()
	var missing string
	if _, err := os.Stat(jupyter); err != nil {
		missing = jupyter + " is not there"
	} else if out, err := exec.Command("/usr/bin/python3", "-c", modules).CombinedOutput(); err != nil {
		missing = strings.TrimSpace(string(out[strings.LastIndexByte(strings.TrimSpace(string(out)), '\n')+1:]))
	}
	if missing == "" {
		return
	}
	if os.Getenv("FCLOG_NOTEBOOKS") != "" {
		require.FailNow(t, "FCLOG_NOTEBOOKS is set", missing)
	}
	t.Skipf("notebooks are not run: %s; 'make test-notebooks' installs what they need", missing)
}

// TestNotebooksAreKeptWithoutOutputs: what a notebook shows is what it shows today.
func TestNotebooksAreKeptWithoutOutputs(t *testing.T) {
	for _, file := range notebooks(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var notebook struct {
			Cells []struct {
				Type    string   `json:"cell_type"`
				Source  []string `json:"source"`
				Outputs []any    `json:"outputs"`
				Count   *int     `json:"execution_count"`
			} `json:"cells"`
		}
		require.NoError(t, json.Unmarshal(data, &notebook), file)
		asserts, code := 0, 0
		for _, cell := range notebook.Cells {
			assert.Empty(t, cell.Outputs, file)
			assert.Nil(t, cell.Count, file)
			if cell.Type == "code" {
				code++
				asserts += strings.Count("\n"+strings.Join(cell.Source, ""), "\nassert ") + strings.Count(strings.Join(cell.Source, ""), "    assert ")
			}
		}
		assert.GreaterOrEqual(t, asserts, 4, "%s: conclusions are asserted", file)
		assert.Positive(t, code, file)
	}
}
