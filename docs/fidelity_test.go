package docs

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCaptures: every row of the table is read. Rows are told by another way than
// the reader's: a count of requests in the third column.
func TestCaptures(t *testing.T) {
	page, err := os.ReadFile("fidelity.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| ([a-z-]+)( [0-9.]+)? \| ([^|]+) \| (\d+) of (\d+) \|`).FindAllSubmatch(page, -1)
	require.NotEmpty(t, rows)
	got := Captures()
	require.Len(t, got, len(rows))
	for i, c := range got {
		assert.Equal(t, string(rows[i][1]), c.Source)
		assert.Equal(t, string(rows[i][3]), c.Name)
		assert.Positive(t, c.Tokens, c.Name)
		assert.Greater(t, c.Rebuilt, 0.5, c.Name)
		assert.LessOrEqual(t, c.Worst, c.Rebuilt, c.Name)
		assert.LessOrEqual(t, c.Requests, c.Sent, c.Name)
	}
}

func TestCaptureOf(t *testing.T) {
	row := []string{"codex 0.171.0", "codex-0.171.0/x", "58 of 61", "3,679,484", "99.93 %", "99.51 %", "58 of 58", "0.56 % / 0.00 %", "two failed attempts"}
	got, ok := captureOf(row)
	require.True(t, ok)
	assert.Equal(t, Capture{"codex", "0.171.0", "codex-0.171.0/x", 58, 61, 3_679_484, 0.9993, 0.9951, "two failed attempts"}, got)
	row[leftColumn] = "–"
	got, _ = captureOf(row)
	assert.Empty(t, got.Left)
	for _, i := range []int{requestsColumn, tokensColumn, rebuiltColumn, worstColumn} {
		broken := append([]string{}, row...)
		broken[i] = "–"
		_, ok := captureOf(broken)
		assert.False(t, ok, "column %d", i)
	}
}
