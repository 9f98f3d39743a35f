// Package termtest holds the hostile texts that every report is tested with, and
// the check that none of them got through to a terminal.
package termtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/internal/term"
)

// Hostile returns texts that a log may hold and a terminal, a Markdown renderer
// or a table must not act on.
//
// The longest are left out: the Markdown parser that tests check with takes minutes
// for them.
func Hostile() []string {
	return slices.DeleteFunc(hostile.Texts(), func(s string) bool { return len(s) >= 10_000 })
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// CheckTerminal asserts that out holds no control or invisible character besides
// line ends and, where color is true, plain colour sequences, and that no line is
// wider than width.
func CheckTerminal(t testing.TB, out string, width int, color bool) {
	t.Helper()
	if color {
		out = sgr.ReplaceAllString(out, "")
	}
	for i, line := range strings.Split(out, "\n") {
		assert.LessOrEqual(t, term.Width(line), width, "line %d is too wide: %q", i+1, line)
		for _, r := range line {
			assert.False(t, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs),
				"line %d holds %U: %q", i+1, r, line)
		}
	}
}

// WithoutColor removes colour sequences.
func WithoutColor(s string) string { return sgr.ReplaceAllString(s, "") }
