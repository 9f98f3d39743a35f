package term

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Ellipsis stands where text was cut.
const Ellipsis = "…"

// Width is the number of terminal columns s takes; escape sequences take none.
func Width(s string) int { return ansi.StringWidth(s) }

// Pad fills s with blanks up to width, on the left if right is true.
func Pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// Cut shortens s to width by leaving out its end.
func Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, Ellipsis)
}

// CutMiddle shortens s to width by leaving out its middle, a little more of the
// end kept: the end of a path tells most.
func CutMiddle(s string, width int) string {
	total := Width(s)
	switch {
	case total <= width:
		return s
	case width < 3:
		return Cut(s, width)
	}
	head := (width - 1) * 2 / 5
	left := ansi.Truncate(s, head, "")
	right := ansi.TruncateLeft(s, total-(width-1-Width(left)), "")
	return left + Ellipsis + keepRight(right, width-Width(left+Ellipsis))
}

// keepRight drops characters from the start of s until what is left fits: a wide
// character may have stood on the edge, or parts of one that are wider apart.
func keepRight(s string, width int) string {
	for Width(s) > width {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

// Fit makes log text safe and cuts it to width in the middle. Only the ends of
// very long text are looked at.
func Fit(s string, width int) string {
	return CutMiddle(Safe(ends(s, 8*max(width, 1))), width)
}

// ends keeps at most n bytes of each end of s, whole characters.
func ends(s string, n int) string {
	if len(s) <= 2*n+utf8.UTFMax {
		return s
	}
	from, to := n, len(s)-n
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return s[:from] + Ellipsis + s[to:]
}

// ASCII replaces everything outside ASCII, for terminals that do not show UTF-8.
// Every line keeps its width.
func ASCII(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		b.WriteString(asciiFor(r))
	}
	return b.String()
}

func asciiFor(r rune) string {
	switch {
	case strings.ContainsRune("█▉▊▋▌▅▆▇", r):
		return "#"
	case strings.ContainsRune("▍▎▏▁▂▃▄", r):
		return "."
	case strings.ContainsRune("–−─", r):
		return "-"
	case strings.ContainsRune("│┤", r):
		return "|"
	case r == '└':
		return "`"
	case r == '…':
		return "~"
	case r == '·':
		return "*"
	case r == '×':
		return "x"
	case r == '→':
		return ">"
	}
	return strings.Repeat("?", Width(string(r)))
}
