package codex

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// TestPatchedFile compares with the headers as a pattern would find them.
func TestPatchedFile(t *testing.T) {
	header := regexp.MustCompile(`(?m)^\*\*\* (?:Update|Add|Delete) File: (\S.*?)\s*$`)
	line := rapid.SampledFrom([]string{"*** Begin Patch", "*** Update File: a.go", "*** Add File: b c \t\r", "*** Delete File: é", "*** Update File: ", "*** Update File:", " *** Add File: x", "-*** Add File: x", "", "+x", "*** Move to: y"})
	rapid.Check(t, func(t *rapid.T) {
		patch := strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "lines"), "\n")
		want := ""
		if m := header.FindAllStringSubmatch(patch, -1); len(m) == 1 {
			want = m[0][1]
		}
		assert.Equal(t, want, patchedFile(patch), "%q", patch)
	})
}
