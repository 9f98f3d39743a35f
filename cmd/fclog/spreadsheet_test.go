package main

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/hostile"
)

// TestCSVRunsNoFormulas: no field begins as a formula does, and the text is there
// whole, behind an apostrophe where it would.
func TestCSVRunsNoFormulas(t *testing.T) {
	for _, text := range hostile.Texts() {
		field := csvText(text, false)
		var b bytes.Buffer
		out := csv.NewWriter(&b)
		require.NoError(t, out.Write([]string{"first", field, "last"}))
		out.Flush()
		back, err := csv.NewReader(&b).ReadAll()
		require.NoError(t, err, "%.60q", text)
		require.Len(t, back, 1)
		require.Len(t, back[0], 3, "%.60q", text)
		if text != "" {
			assert.False(t, strings.ContainsAny(field[:1], "=+-@\t\r\n"), "%.60q", field)
			assert.False(t, strings.HasPrefix(field, "＝"), "%.60q", field)
		}
		// encoding/csv reads \r\n in a field as \n, as its documentation says.
		assert.Equal(t, strings.ReplaceAll(text, "\r\n", "\n"), strings.TrimPrefix(back[0][1], strings.TrimSuffix(field, text)))
	}
}

// TestNamesOfFilesAreSafe: whatever a variant is called, its folder is one plain name.
func TestNamesOfFilesAreSafe(t *testing.T) {
	for _, text := range hostile.Texts() {
		assert.Regexp(t, `^[A-Za-z0-9_-]{0,40}$`, safeName(text))
	}
}
