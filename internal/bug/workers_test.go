package bug

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// begins is where a function of its own goroutine begins.
var begins = regexp.MustCompile(`^\s*go (func|[a-z]+(\.[a-zA-Z]+)*\()|\.Go\(func`)

// onlyBytes are files whose goroutines copy or count bytes and look into none.
var onlyBytes = []string{
	"analyze/dataset/disk.go", "cmd/fclog/pager.go", "cmd/fclog/sink.go", "cmd/fclog/wiring.go", "internal/progress/progress.go", "replay/variants/filter.go",
}

// TestWorkersCarryTheirPanics: a panic of a goroutine ends the process with the value
// of the panic, which may be text of a log, unless it is carried to whoever waits.
func TestWorkersCarryTheirPanics(t *testing.T) {
	root := filepath.Join("..", "..")
	found := 0
	for _, top := range []string{"analyze", "cmd", "compress", "internal", "prompts", "replay", "rollout"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, path)
			rel = filepath.ToSlash(rel)
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(rel, "test/") || slices.Contains(onlyBytes, rel) {
				return err
			}
			raw, err := os.ReadFile(path)
			lines := strings.Split(string(raw), "\n")
			for n, line := range lines {
				if begins.MatchString(line) {
					found++
					body := strings.Join(lines[n:min(n+8, len(lines))], "\n")
					assert.True(t, strings.Contains(body, ".Do(func") || strings.Contains(body, "recover()"), "%s:%d", rel, n+1)
				}
			}
			return err
		}))
	}
	assert.Greater(t, found, 3)
}
