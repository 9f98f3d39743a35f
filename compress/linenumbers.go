package compress

import (
	"regexp"
	"strconv"
	"strings"
)

// minNumbered is how many consecutive numbers make a result a numbered one.
const minNumbered = 3

// numberWidth is what cat -n, nl and most tools right-align a number to.
const numberWidth = 6

// form is one way agents put line numbers in front of the lines of a file.
type form struct {
	lead    string // stands before the number
	padding int    // how many spaces may stand before the number
	mark    string // stands between the number and the line
	fewest  int    // lines that make a block
	fits    func(result) bool
}

// forms, in the order they are tried. What looks the same in data (a table, a list,
// a mapping, the matches of a search) must stand where that tool puts it.
var forms = []form{
	// Claude Code up to 2.1.49, its Edit snippets too: right-aligned to 6, an arrow.
	{padding: 5, mark: "→", fewest: minNumbered, fits: always},
	// OpenCode up to about 1.1: zero-padded to 5, a bar.
	{mark: "| ", fewest: minNumbered, fits: zeroPadded},
	// cat -n, nl -ba, SWE-agent's editor: right-aligned to 6, a tab.
	{padding: 5, mark: "\t", fewest: minNumbered, fits: aligned},
	// Claude Code since 2.1.86: a tab.
	{mark: "\t", fewest: minNumbered, fits: wholeFile},
	// FreeCode and OpenCode: inside a content element.
	{mark: ": ", fewest: minNumbered, fits: insideContent},
	// SWE-agent's window: behind a head line that names the file.
	{mark: ":", fewest: minNumbered, fits: behindFileHead},
	// SWE-agent's outline of a large file: right-aligned to 6, a space, gaps.
	{padding: 5, mark: " ", fewest: 1, fits: outline},
	// Copilot CLI up to about 1.0.3x.
	{mark: ". ", fewest: minNumbered, fits: wholeListing},
	// Codex's read_file tool.
	{lead: "L", mark: ": ", fewest: minNumbered, fits: readFile},
}

// LineNumbers finds the line-number prefixes that a tool put before the lines of a
// file and returns the text without them and how many lines had one. It takes only
// lines whose numbers follow each other; headings and notes around them stay. ok is
// false, and the text unchanged, where there are none or where they may as well be
// the file's own content.
func LineNumbers(text string) (stripped string, lines int, ok bool) {
	if !anyNumbered(text) {
		return text, 0, false
	}
	all := strings.Split(text, "\n")
	for _, f := range forms {
		r := result{form: f, lines: all, blocks: f.blocks(all)}
		if len(r.blocks) == 0 || !f.fits(r) {
			continue
		}
		for _, b := range r.blocks {
			for i := b.from; i < b.to; i++ {
				_, all[i], _ = f.parse(all[i])
			}
			lines += b.to - b.from
		}
		return strings.Join(all, "\n"), lines, true
	}
	return text, 0, false
}

// anyNumbered says whether any line begins with a number of some form. Most texts have
// none and need not be taken apart.
func anyNumbered(text string) bool {
	for text != "" {
		text = strings.TrimPrefix(strings.TrimLeft(text, " "), "L")
		if text != "" && text[0] >= '0' && text[0] <= '9' {
			return true
		}
		_, text, _ = strings.Cut(text, "\n")
	}
	return false
}

// block is a run of lines, from ≤ i < to, whose numbers follow each other.
type block struct{ from, to, first, last int }

// result is a tool result seen through a form.
type result struct {
	form   form
	lines  []string
	blocks []block
}

// blocks finds the runs of numbered lines that are long enough.
func (f form) blocks(lines []string) []block {
	var out []block
	for i := 0; i < len(lines); {
		b := f.block(lines, i)
		if b.to-b.from >= f.fewest {
			out = append(out, b)
		}
		i = max(b.to, i+1)
	}
	return out
}

// block reads consecutive numbers from a line on.
func (f form) block(lines []string, from int) block {
	b := block{from: from, to: from}
	for b.to < len(lines) {
		n, _, ok := f.parse(lines[b.to])
		if !ok || b.to > from && n != b.last+1 {
			break
		}
		if b.to == from {
			b.first = n
		}
		b.last = n
		b.to++
	}
	return b
}

// parse splits a line into its number and what follows the mark.
func (f form) parse(line string) (number int, rest string, ok bool) {
	s, ok := strings.CutPrefix(line, f.lead)
	if !ok {
		return 0, "", false
	}
	pad := len(s) - len(strings.TrimLeft(s, " "))
	if pad > f.padding {
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

// before and after are the lines around all blocks.
func (r result) before() []string { return r.lines[:r.blocks[0].from] }
func (r result) after() []string  { return r.lines[r.blocks[len(r.blocks)-1].to:] }

// numbered calls a function for every numbered line, as long as it returns true.
func (r result) numbered(each func(line string) bool) bool {
	for _, b := range r.blocks {
		for _, line := range r.lines[b.from:b.to] {
			if !each(line) {
				return false
			}
		}
	}
	return true
}

func always(result) bool { return true }

// zeroPadded wants every number to have at least five digits.
func zeroPadded(r result) bool {
	return r.numbered(func(line string) bool { return strings.IndexByte(line, '|') >= 5 })
}

// isAligned says whether all numbers end in the same column, except the very first,
// whose padding some loggers trim.
func (r result) isAligned() bool {
	first := true
	return r.numbered(func(line string) bool {
		_, rest, _ := r.form.parse(line)
		ok := first || len(line)-len(rest)-len(r.form.mark) >= numberWidth
		first = false
		return ok
	})
}

// aligned wants numbers that end in the same column, and little else beside them: a
// heading, notes, separators between several files, a cut.
func aligned(r result) bool {
	if !r.isAligned() {
		return false
	}
	numbered, texts := 0, 0
	for _, b := range r.blocks {
		numbered += b.to - b.from
	}
	for _, line := range r.lines {
		if strings.TrimSpace(line) != "" {
			texts++
		}
	}
	return 4*numbered >= 3*texts || len(r.blocks) == 1 && isHeading(r.before()) && isNote(r.after())
}

// wholeFile wants one block with nothing but notes around it, and something that a
// table has not: another number of columns in some line, an empty or indented
// column behind the number, or what the tool writes around it.
func wholeFile(r result) bool {
	if len(r.blocks) > 1 || !isHeading(r.before()) || !isNote(r.after()) {
		return false
	}
	b := r.blocks[0]
	columns := strings.Count(r.lines[b.from], "\t")
	same := r.numbered(func(line string) bool { return strings.Count(line, "\t") == columns })
	return !same || r.looksLikeFile(1) || columns == 1 && (isHarness(lastText(r.before())) || isHarness(firstText(r.after())))
}

// isHarness recognises what an agent writes around a file.
func isHarness(line string) bool {
	return strings.HasPrefix(line, "<") || strings.Contains(line, "cat -n")
}

// looksLikeFile says whether any line is empty behind its number, or indented by a
// tab or that many spaces.
func (r result) looksLikeFile(spaces int) bool {
	indent := strings.Repeat(" ", spaces)
	return !r.numbered(func(line string) bool {
		_, rest, _ := r.form.parse(line)
		return rest != "" && rest[0] != '\t' && !strings.HasPrefix(rest, indent)
	})
}

// wholeListing wants what no numbered list has: an empty or deeply indented line.
func wholeListing(r result) bool {
	return len(r.blocks) == 1 && lastText(r.before()) == "" && isNote(r.after()) && r.looksLikeFile(3)
}

// readFile wants the whole result, and more than a few labels such as L1, L2, L3.
func readFile(r result) bool {
	if len(r.blocks) > 1 || !isHeading(r.before()) || strings.HasPrefix(lastText(r.before()), "File:") || !isNote(r.after()) {
		return false
	}
	return r.looksLikeFile(1) || r.blocks[0].to-r.blocks[0].from > 8
}

// footer finds which lines a read says it shows.
var footer = regexp.MustCompile(`\((?:End of file - total (\d+) lines|(?:Output capped at 50 KB\. )?Showing lines (\d+)-(\d+)\b)`)

// insideContent wants the element that FreeCode and OpenCode wrap a file in, all of
// its lines numbered, and the numbers that the footer names.
func insideContent(r result) bool {
	if lastText(r.before()) != "<content>" {
		return false
	}
	for i, b := range r.blocks {
		end := len(r.lines)
		if i+1 < len(r.blocks) {
			end = r.blocks[i+1].from
		}
		if !isNote(r.lines[b.to:end]) {
			return false
		}
	}
	m := footer.FindStringSubmatch(strings.Join(r.after(), "\n"))
	if m == nil {
		return true
	}
	last := m[1] + m[3]
	return strconv.Itoa(r.blocks[len(r.blocks)-1].last) == last && (m[2] == "" || strconv.Itoa(r.blocks[0].first) == m[2])
}

// behindFileHead wants the head line of SWE-agent's window right before.
func behindFileHead(r result) bool {
	head := lastText(r.before())
	if len(r.blocks) > 1 || !isNote(r.after()) {
		return false
	}
	return strings.HasPrefix(head, "[File: ") || strings.HasPrefix(head, "(") && strings.HasSuffix(head, " more lines above)")
}

// outline wants SWE-agent's note that only an outline is shown, aligned numbers and
// none but elided lines between them.
func outline(r result) bool {
	if !strings.Contains(strings.Join(r.before(), "\n"), "abbreviated version") || !r.isAligned() {
		return false
	}
	for i := 1; i < len(r.blocks); i++ {
		a, b := r.blocks[i-1], r.blocks[i]
		if b.first <= a.last {
			return false
		}
		_, end, _ := r.form.parse(r.lines[b.from-1])
		if b.from == a.to && !strings.HasPrefix(end, elided) {
			return false
		}
		for _, line := range r.lines[a.to:b.from] {
			if !strings.HasPrefix(strings.TrimSpace(line), elided) {
				return false
			}
		}
	}
	return isNote(r.after())
}

const elided = "... eliding lines "

// isHeading says whether the lines before a block introduce it: a harness element,
// a sentence about cat -n, the head of a shell result.
func isHeading(lines []string) bool {
	last := lastText(lines)
	return last == "" || strings.HasPrefix(last, "<") || strings.HasSuffix(last, ">") || strings.HasSuffix(last, ":")
}

// isNote says whether the lines behind a block are none of its content: nothing, a
// harness element, a note in brackets, the marker of a cut.
func isNote(lines []string) bool {
	first := firstText(lines)
	return first == "" || strings.IndexByte("<([", first[0]) >= 0 || strings.HasPrefix(first, "... [truncated ") || strings.HasPrefix(first, elided)
}

// lastText and firstText return the last or first line that is not blank, "" if
// there is none.
func lastText(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

func firstText(lines []string) string {
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
