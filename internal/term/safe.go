package term

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks in a row are left as they are. No
// writing system needs more; longer stacks draw over the lines around them.
const maxMarks = 3

// Safe returns s as one line that cannot change a terminal or hide anything:
// control characters, line breaks, invalid bytes, direction marks, zero-width
// and other invisible characters become visible escapes such as \n, \x1b or
// \u202e. A backslash stays as it is, so the result is for reading, not for
// decoding.
func Safe(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := maxMarks // a mark at the start would join what stands before it
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			marks = 0
		case unicode.Is(unicode.M, r) && !invisible(r) && marks < maxMarks:
			b.WriteString(s[i : i+size])
			marks++
		case unicode.Is(unicode.M, r) || invisible(r):
			b.WriteString(escape(r))
			marks = 0
		default:
			b.WriteString(s[i : i+size])
			marks = 0
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// invisible tells characters that print nothing of their own or change how
// others print. Spaces stay.
func invisible(r rune) bool {
	if unicode.Is(unicode.Zs, r) {
		return false
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// markdownSpecial starts or ends a construct, a link or a reference anywhere in
// a line. CommonMark lets all ASCII punctuation be escaped with a backslash.
const markdownSpecial = "!#$&*:<>@[\\]^_`{|}~"

// markdownLead holds what starts a construct at the beginning of a line only:
// lists, rules, underlines of headings, numbers of lists, www links.
var markdownLead = regexp.MustCompile(`^[-+=]|^\d+[.)]|(?i:www)\.`)

// blankMarkdown keeps text of blanks only visible as a blank.
const blankMarkdown = "&nbsp;"

// SafeMarkdown returns Safe(s) as Markdown that renders as just that text, in a
// paragraph or a table cell.
func SafeMarkdown(s string) string {
	s = strings.TrimSpace(Safe(s))
	escaped := map[int]bool{}
	for _, at := range markdownLead.FindAllStringIndex(s, -1) {
		escaped[at[1]-1] = true
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	for i := range len(s) {
		if escaped[i] || strings.IndexByte(markdownSpecial, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	if b.Len() == 0 {
		return blankMarkdown
	}
	return b.String()
}

// CodeMarkdown returns Safe(s) as a Markdown code span that may stand in a
// table cell. Nothing inside a code span is a link, a mention or HTML.
func CodeMarkdown(s string) string {
	s = Safe(s)
	if strings.TrimSpace(s) == "" {
		return blankMarkdown
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
