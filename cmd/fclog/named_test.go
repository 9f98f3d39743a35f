package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout/formats"
)

// Help and README name every format that is read, and the table no other.
func TestEveryFormatIsNamed(t *testing.T) {
	root := rootCommand(&app{})
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(data), "\n## Formats\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n`fclog formats`")
	rows := strings.Count(table, "\n| ") - 1 // without the heading
	long := strings.ReplaceAll(root.Long, "\n", " ")
	for _, f := range formats.All() {
		assert.Contains(t, long, f.Title)
		assert.Contains(t, table, "| "+f.Title)
		for _, command := range []string{"audit", "sessions", "replay"} {
			c, _, err := root.Find([]string{command})
			require.NoError(t, err)
			require.NotNil(t, c.Flags().Lookup("agent"), command)
			assert.Contains(t, c.Flags().Lookup("agent").Usage, f.Name, command)
		}
	}
	assert.Equal(t, len(formats.All()), rows)
	for _, line := range strings.Split(root.Long, "\n") {
		assert.LessOrEqual(t, len(line), 82)
	}
}
