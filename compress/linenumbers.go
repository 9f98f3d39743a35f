package compress

import (
	"strings"
)

// minNumbered is how many consecutive numbers make a result a numbered one.
const minNumbered = 3

// form is one way agents put line numbers in front of the lines of a file.
type form struct {
	lead   string // characters that may stand before the number: padding
	maxPad int
	mark   string // what stands between the number and the line
	fits   func(before, block, after []string) bool
}

// forms, in the order they are tried. Where a form could as well be data (a table,
// a list, a mapping), it must stand where that agent puts it.
var forms = []form{
	// Claude Code up to 2.1.49: right-aligned to 6, an arrow.
	{maxPad: 5, mark: "→", fits: anywhere},
	// OpenCode up to about 1.1: zero-padded to 5, a bar.
	{maxPad: 0, mark: "| ", fits: zeroPadded},
	// Claude Code since 2.1.86, cat -n, nl -ba, SWE-agent's editor: a tab.
	{maxPad: 5, mark: "\t", fits: wholeFile},
	// FreeCode and OpenCode: inside a content element.
	{maxPad: 0, mark: ": ", fits: insideContent},
	// SWE-agent's window: behind a head line that names the file.
	{maxPad: 0, mark: ":", fits: behindFileHead},
	// Copilot CLI up to about 1.0.3x.
	{maxPad: 0, mark: ". ", fits: wholeListing},
	// Codex's read_file tool.
	{lead: "L", maxPad: 0, mark: ": ", fits: anywhere},
}

// LineNumbers finds the line-number prefixes that a tool put before the lines of a
// file and returns the text without them and how many lines had one. It takes
// only a block of at least three lines whose numbers follow each other line by
// line; headings and notes around it stay. ok is false, and the text unchanged,
// where there is no such block or where it may as well be the file's own content.
func LineNumbers(text string) (stripped string, lines int, ok bool) {
	all := strings.Split(text, "\n")
	for _, f := range forms {
		from, to := f.block(all)
		if to-from < minNumbered || !f.fits(all[:from], all[from:to], all[to:]) {
			continue
		}
		for i := from; i < to; i++ {
			_, all[i], _ = f.parse(all[i])
		}
		return strings.Join(all, "\n"), to - from, true
	}
	return text, 0, false
}

// block returns the first run of consecutively numbered lines that is long enough.
func (f form) block(lines []string) (from, to int) {
	for from = 0; from < len(lines); from = max(to, from+1) {
		to = from
		want := -1
		for to < len(lines) {
			n, _, ok := f.parse(lines[to])
			if !ok || want >= 0 && n != want {
				break
			}
			want = n + 1
			to++
		}
		if to-from >= minNumbered {
			return from, to
		}
	}
	return 0, 0
}

// parse splits a line into its number and what follows the mark.
func (f form) parse(line string) (number int, rest string, ok bool) {
	s, ok := strings.CutPrefix(line, f.lead)
	if !ok {
		return 0, "", false
	}
	pad := len(s) - len(strings.TrimLeft(s, " "))
	if pad > f.maxPad {
		return 0, "", false
	}
	s = s[pad:]
	digits := 0
	for digits < len(s) && digits < 9 && s[digits] >= '0' && s[digits] <= '9' {
		number = number*10 + int(s[digits]-'0')
		digits++
	}
	if digits == 0 {
		return 0, "", false
	}
	rest, ok = strings.CutPrefix(s[digits:], f.mark)
	return number, rest, ok
}

func anywhere(before, block, after []string) bool { return true }

// zeroPadded wants every number to have at least five digits.
func zeroPadded(before, block, after []string) bool {
	for _, line := range block {
		if strings.IndexByte(line, '|') < 5 {
			return false
		}
	}
	return true
}

// wholeFile wants nothing but notes around the block, and no table: in a table
// all lines have the same number of columns, more than one behind the number.
func wholeFile(before, block, after []string) bool {
	if !isHeading(before) || !isNote(after) {
		return false
	}
	columns := strings.Count(block[0], "\t")
	for _, line := range block {
		if strings.Count(line, "\t") != columns {
			return true
		}
	}
	return columns == 1 || looksLikeFile(block, "\t")
}

// wholeListing wants what no numbered list has: an empty or indented line.
func wholeListing(before, block, after []string) bool {
	return len(before) == 0 && isNote(after) && looksLikeFile(block, ". ")
}

// looksLikeFile says whether any line is empty or indented behind its number.
func looksLikeFile(block []string, mark string) bool {
	for _, line := range block {
		_, rest, _ := strings.Cut(line, mark)
		if rest == "" || rest[0] == ' ' || rest[0] == '\t' {
			return true
		}
	}
	return false
}

// insideContent wants the element that FreeCode and OpenCode wrap a file in.
func insideContent(before, block, after []string) bool {
	return lastText(before) == "<content>"
}

func behindFileHead(before, block, after []string) bool {
	for _, line := range before {
		if strings.HasPrefix(line, "[File: ") {
			return true
		}
	}
	return false
}

// isHeading says whether the lines before a block introduce it: a harness
// element, a sentence about cat -n, or the head of a shell result.
func isHeading(lines []string) bool {
	last := lastText(lines)
	return last == "" || strings.HasPrefix(last, "<") || strings.HasSuffix(last, ">") || strings.HasSuffix(last, ":")
}

// isNote says whether the lines behind a block are none of its content: nothing,
// or a harness element.
func isNote(lines []string) bool {
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			return line[0] == '<' || line[0] == '(' || line[0] == '['
		}
	}
	return true
}

// lastText returns the last line that is not blank, "" if there is none.
func lastText(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}
