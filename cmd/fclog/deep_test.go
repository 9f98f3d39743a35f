package main_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/hostile"
)

// TestTooDeepAnywhere: JSON inside JSON, 100,000 levels of it, in the place of every
// file that a command takes, and as the answer of a filter, ends at once: in a short
// message, or as the text that it may be.
func TestTooDeepAnywhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const levels = 100_000
	for name, deep := range map[string]string{
		"lists.json":   strings.Repeat("[", levels) + strings.Repeat("]", levels),
		"objects.json": strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels),
	} {
		file, filter := filepath.Join(h.dir, name), filepath.Join(h.dir, name+".sh")
		mustWrite(t, file, deep+"\n")
		mustWrite(t, filter, "while IFS= read -r line; do cat '"+file+"'; done\n")
		for _, c := range []struct {
			line  string
			codes []int
		}{
			{"audit FILE", []int{3}}, {"payload FILE", []int{3}}, {"sessions FILE", []int{3}}, {"import FILE -o DS", []int{3}}, {"verify FILE", []int{3}},
			{"audit --demo --prices FILE", []int{1}}, {"replay --demo -V mask --rates FILE", []int{1}}, {"replay --demo --variants FILE", []int{1}},
			{"compare FILE", []int{1, 3}}, {"compare --demo --predicted FILE", []int{1}}, {"payload --demo --against FILE", []int{3}},
			{"prompts FILE lean", []int{0}}, {"prompts agent FILE", []int{0}},
			{"replay --demo -V exec:cmd=sh_FILTER,mode=jsonl,timeout=5s", []int{0}},
		} {
			args := strings.Fields(c.line)
			for i := range args {
				args[i] = strings.NewReplacer("FILE", file, "FILTER", filter, "DS", filepath.Join(h.dir, "ds"), "_", " ").Replace(args[i])
			}
			start := time.Now()
			got := h.run(args...)
			assert.Contains(t, c.codes, got.code, "%s: %.300s", c.line, got.stderr)
			assert.Less(t, len(got.stderr), 1000, c.line)
			assert.Less(t, time.Since(start), time.Minute, c.line)
			if got.code != 0 {
				assert.NotContains(t, got.stderr, "panic", c.line)
			}
		}
	}
}

// TestParquetOfHostileTexts: Parquet is data, so every text is in it as it was, with
// nothing added or lost, whatever it and its column are called.
func TestParquetOfHostileTexts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var lines []string
	want := map[string]bool{}
	for _, text := range hostile.Texts() {
		text = strings.ToValidUTF8(text, "\uFFFD")
		if strings.TrimSpace(text) == "" {
			continue
		}
		n := len(lines)
		raw, err := json.Marshal(text)
		require.NoError(t, err)
		lines = append(lines, strings.Replace(asked("a", n, "TEXT"), `"TEXT"`, `[{"type":"text","text":`+string(raw)+`}]`, 1), said("a", n+1, fmt.Sprint("m", n), 100, 0, 5, words("Yes")))
		want[text] = true
	}
	for i := range lines {
		lines[i] = strings.Replace(lines[i], fmt.Sprintf("T10:%02d:00", i), fmt.Sprintf("T%02d:%02d:00", 10+i/60, i%60), 1)
	}
	path, file := filepath.Join(h.dir, "a.jsonl"), filepath.Join(h.dir, "out.parquet")
	mustWrite(t, path, logOf(lines...))
	const column = "=1+1 <script>\u202e"
	got := h.run("query", path, `SELECT text AS "`+column+`" FROM texts`, "--format", "parquet", "-o", file)
	require.Equal(t, 0, got.code, got.stderr)
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), "SELECT * FROM read_parquet(?)", file)
	require.NoError(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	assert.Equal(t, []string{column}, names)
	stored := map[string]bool{}
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		stored[text] = true
	}
	require.NoError(t, rows.Err())
	for text := range want {
		assert.True(t, stored[text], "%.80q", text)
	}
}
