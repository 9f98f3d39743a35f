package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/term/termtest"
	"github.com/fclog/fclog/rollout/formats"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, ".codex", "sessions"), 0o755))

	got := h.run("formats", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var list struct {
		SchemaVersion int `json:"schema_version"`
		Formats       []struct {
			Name  string `json:"name"`
			Homes []struct {
				Path   string `json:"path"`
				Exists bool   `json:"exists"`
			} `json:"homes"`
			Lacks []struct {
				What string `json:"what"`
			} `json:"lacks"`
			Captures []struct {
				Worst float64 `json:"worst_session"`
			} `json:"captures"`
		} `json:"formats"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &list))
	assert.Equal(t, 1, list.SchemaVersion)
	require.Len(t, list.Formats, len(formats.All()))
	captured := 0
	for i, f := range formats.All() {
		assert.Equal(t, f.Name, list.Formats[i].Name)
		assert.NotEmpty(t, list.Formats[i].Lacks, f.Name)
		captured += min(1, len(list.Formats[i].Captures))
		for _, home := range list.Formats[i].Homes {
			assert.Equal(t, home.Path == filepath.Join(h.dir, ".codex", "sessions"), home.Exists, home.Path)
		}
	}
	assert.Equal(t, 7, captured, "agents whose requests were captured; not ATIF, SWE-agent and API logs")
}

// TestFormatsFit: every table at every width, whole words in the cells.
func TestFormatsFit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	names := []string{""}
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	for _, name := range names {
		for _, width := range []int{80, 100, 160} {
			got := h.run(append([]string{"formats", "--width", strconv.Itoa(width)}, strings.Fields(name)...)...)
			require.Equal(t, 0, got.code, got.stderr)
			termtest.CheckTerminal(t, got.stdout, width, false)
			if name == "" {
				for _, f := range formats.All() {
					assert.Contains(t, got.stdout, "\n  "+f.Name+" ", "%d columns", width)
				}
			}
		}
		got := h.run(append([]string{"formats", "--format", "md"}, strings.Fields(name)...)...)
		require.Equal(t, 0, got.code, got.stderr)
		assert.True(t, strings.HasPrefix(got.stdout, "# fclog formats\n"))
	}
}

func TestFormatsOfOneName(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	got := h.run("formats", "Claude Code", "--width", "100")
	require.Equal(t, 0, got.code, got.stderr)
	for _, want := range []string{"claude-code", filepath.Join(".claude", "projects"), "2.1.332", "helper requests", "What logs lack", "Limits"} {
		assert.Contains(t, got.stdout, want)
	}
	assert.NotContains(t, got.stdout, "rollout-*.jsonl")

	got = h.run("formats", "emacs")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `"emacs" is not one of freecode, codex`)
	assert.Equal(t, 2, h.run("formats", "codex", "pi").code)
}

// TestFormatsOfHostileHome: where logs lie is told by the environment, which may
// hold anything.
func TestFormatsOfHostileHome(t *testing.T) {
	t.Parallel()
	for _, text := range termtest.Hostile() {
		if strings.ContainsRune(text, 0) {
			continue
		}
		h := newHome(t)
		h.dir = "/" + text
		for _, format := range []string{"term", "md", "json"} {
			got := h.run("formats", "codex", "--format", format)
			require.Equal(t, 0, got.code, got.stderr)
			termtest.CheckTerminal(t, got.stdout, 1<<30, false)
		}
	}
}
