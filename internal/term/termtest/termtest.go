// Package termtest holds the hostile texts that every report is tested with, and
// the check that none of them got through to a terminal.
package termtest

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/term"
)

// Hostile returns texts that a log may hold and a terminal, a Markdown renderer
// or a table must not act on.
func Hostile() []string {
	return []string{
		"\x1b[2J\x1b[H\x1b[31mred\x1b[0m",
		"\x1b]0;new title\x07",
		"\x1b]8;;https://example.org\x1b\\click\x1b]8;;\x1b\\",
		"\x9b31mC1 as a byte",
		"\u009b31mC1 as a character",
		"\x1bP1$r\x1b\\ \x1b[6n \x1bc",
		"over\rwritten\bback\abell\vtab\fform\x00nul\x7fdel",
		"first\nsecond\r\nthird\tcolumn",
		"\u202egnp.exe\u202c \u2066isolate\u2069 \u200fmark",
		"zero\u200bwidth\u200djoiner\ufeffmark\u00adhyphen\u2060word",
		"line\u2028separator\u2029paragraph\u0085next",
		"tag\U000e0041\U000e0042 selector\ufe0f\U000e0100 filler\u3164\u115f",
		"lone \ufffd surrogate \xed\xa0\x80 bad \xff\xfe\xc3",
		"\u0301starts with a mark, then z\u0351\u0352\u0357\u0358\u0359\u035a\u035b",
		"# heading\n## second\n---\n===",
		"[link](https://example.org) ![image](https://example.org/x.png) <https://example.org>",
		"https://example.org www.example.org someone@example.org @someone #1",
		"<script>alert(1)</script><img src=x onerror=alert(1)><!-- comment --> &lt;b&gt; &amp;",
		"| a | b |\n|---|---|\n| 1 \\| 2 |",
		"`code` ``two`` ```\nfence\n``` ~~~\nfence\n~~~",
		"*emphasis* _under_ **strong** ~~struck~~ $x^2$ [^1]",
		"- list\n+ list\n1. list\n> quote\n- [ ] task",
		"[ref]: https://example.org\n[ref]",
		"\\ backslash at the end \\",
		"`", "``", "|", "\\|", " ", "", "    indented code",
		"=HYPERLINK(\"https://example.org\")",
		"漢字かなカナ한글 全角　幅 😀👩\u200d👩\u200d👧👍🏽🇩🇪",
		strings.Repeat("漢", 400),
		strings.Repeat("very/long/path/", 400) + "end.go",
		strings.Repeat("👍🏽", 300),
		"cafe\u0301 naïve Ångström נקודה हिन्दी ไทย",
	}
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
