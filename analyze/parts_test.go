package analyze

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze/dataset"
)

// A part selects the sessions it holds. Of a session that two parts hold the
// longer copy counts, whichever part is named.
func TestSelectionOfParts(t *testing.T) {
	dir := t.TempDir()
	short, long, other := session("codex", "a", day(1, 0)), session("codex", "a", day(1, 0)), session("claude-code", "a", day(2, 0))
	short.Sessions[0].Part, long.Sessions[0].Part, other.Sessions[0].Part = "short", "long", "other"
	addRequest(short, "r1", nil)
	addRequest(long, "r1", nil)
	addRequest(long, "r2", nil)
	addRequest(other, "r3", nil)
	write(t, dir, short, long, other)
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{nil, "claude-code codex codex"},
		{[]string{}, ""},
		{[]string{"short"}, "codex codex"},
		{[]string{"long", "short"}, "codex codex"},
		{[]string{"other"}, "claude-code"},
		{[]string{"other", "short"}, "claude-code codex codex"},
		{[]string{"absent"}, ""},
		{[]string{"') OR true --"}, ""},
	} {
		db := open(t, Options{Dataset: dir, Selection: Selection{Parts: c.parts}})
		got := rowsOf(t, db, "SELECT source FROM requests ORDER BY source")
		assert.Equal(t, c.want, strings.Join(got, " "), c.parts)
	}
}

// Texts are read when asked for, after the bounds on files are in force.
func TestTextsBelowAPathWithSpecialCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's [a]*? folder")
	p := session("codex", "a", day(1, 0))
	p.Texts = []dataset.Text{{Part: p.Sessions[0].Part, SessionID: "a", TextHash: "h", Text: "x"}}
	write(t, dir, p)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"x"}, rowsOf(t, db, "SELECT text FROM texts"))
}
