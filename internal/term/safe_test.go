package term_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/term/termtest"
)

func TestSafe(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text ~", "plain text ~"},
		{"a\nb\r\tc", `a\nb\r\tc`},
		{"\x1b[31m", `\x1b[31m`},
		{"\x00\x07\x7f", `\x00\x07\x7f`},
		{"\u009b", `\x9b`},
		{"\x9b", `\x9b`},
		{"\xed\xa0\x80", `\xed\xa0\x80`},
		{"\u202eabc", `\u202eabc`},
		{"a\u200db", `a\u200db`},
		{"\ufeff", `\ufeff`},
		{"\u2028", `\u2028`},
		{"\U000e0041", `\U000e0041`},
		{"❤\ufe0f", `❤\ufe0f`},
		{"e\u0301", "e\u0301"},
		{"\u0301e", `\u0301e`},
		{"a\u0301\u0302\u0303\u0304", "a\u0301\u0302\u0303" + `\u0304`},
		{`C:\new`, `C:\new`},
		{"漢字 😀", "漢字 😀"},
		{"\ufffd", "\ufffd"},
	} {
		assert.Equal(t, c.want, term.Safe(c.in), "%q", c.in)
	}
}

func TestSafeOnHostileText(t *testing.T) {
	for _, s := range termtest.Hostile() {
		out := term.Safe(s)
		termtest.CheckTerminal(t, out, term.Width(out), false)
		assert.NotContains(t, out, "\n")
		assert.True(t, utf8.ValidString(out))
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range termtest.Hostile() {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = 3 + abs(width)%200
		termtest.CheckTerminal(t, term.Fit(s, width), width, false)
		onlyText(t, term.SafeMarkdown(s), s)
		onlyText(t, "| h |\n|---|\n| "+term.CodeMarkdown(s)+" |\n", s)
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func TestMarkdownOfHostileTextIsOnlyText(t *testing.T) {
	for _, s := range termtest.Hostile() {
		for _, safe := range []string{term.SafeMarkdown(s), term.CodeMarkdown(s)} {
			onlyText(t, safe, s)
			onlyText(t, "- "+safe, s)
			onlyText(t, "before "+safe+" after", s)
			onlyText(t, "| h | i |\n|---|---|\n| "+safe+" | x |\n", s)
		}
	}
}

// onlyText parses Markdown as GitHub does and asserts that nothing but text came
// of it, in one cell of the tables this test writes.
func onlyText(t *testing.T, markdown, original string) {
	t.Helper()
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(markdown)))
	cells := 0
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch kind := n.Kind().String(); kind {
		case "Document", "Paragraph", "Text", "String", "CodeSpan", "TextBlock", "Table", "TableHeader", "TableRow":
		case "TableCell":
			cells++
		case "List", "ListItem":
			assert.True(t, strings.HasPrefix(markdown, "- "), "%s from %q: %q", kind, original, markdown)
		default:
			assert.Fail(t, "markup got through", "%s from %q: %q", kind, original, markdown)
		}
		return ast.WalkContinue, nil
	})
	assert.NoError(t, err)
	if strings.HasPrefix(markdown, "| h | i |") {
		assert.Equal(t, 4, cells, "%q: %q", original, markdown)
	}
}
