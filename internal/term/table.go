package term

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// maxWrap is how wide a sentence in a column would like to be.
const maxWrap = 80

// gap is the number of blanks between two columns.
const gap = 2

// Column describes one column of a table.
type Column struct {
	Title string
	Right bool // aligned right, as numbers are; such a column is never cut
	// Flex columns give way when the table is too wide: their text is cut in
	// the middle, down to Min columns.
	Flex bool
	Min  int
	// Optional columns above 0 are left out when the table cannot fit
	// otherwise, the highest first.
	Optional int
	// Bar columns draw Cell.Share over whatever width is left, between Min and
	// Max columns.
	Bar bool
	Max int
	// Wrap columns hold sentences: they get what is left, at least Min columns,
	// and run on below. Only the last column can be one.
	Wrap bool
}

// Cell is one field of a table. Its text must be safe already.
type Cell struct {
	Text  string
	Share *float64 // of a bar, relative to the longest: 0 to 1
	Style lipgloss.Style
}

// Row is one line of a table with lines of detail below it.
type Row struct {
	Cells  []Cell
	Detail []string // safe text, wrapped and faint below the row
}

// Table lays out rows in columns of fixed width.
type Table struct {
	Columns []Column
	Rows    []Row
	Indent  int
}

// Render returns the lines of the table, none wider than width as long as the
// columns that cannot give way fit.
func (t Table) Render(width int, theme Theme) []string {
	shown, widths := t.layout(width - t.Indent)
	lines := []string{t.line(shown, widths, t.header(theme))}
	for _, row := range t.Rows {
		lines = append(lines, t.rowLines(shown, widths, row.Cells)...)
		for _, detail := range row.Detail {
			for _, line := range Wrap(detail, width-t.Indent-gap) {
				lines = append(lines, strings.Repeat(" ", t.Indent+gap)+theme.Faint.Render(line))
			}
		}
	}
	return lines
}

// Fits tells whether no line of the table is wider than width.
func (t Table) Fits(width int) bool {
	shown, widths := t.layout(width - t.Indent)
	return len(t.Columns) == 0 || total(shown, widths) <= width-t.Indent
}

func (t Table) header(theme Theme) []Cell {
	cells := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = Cell{Text: c.Title, Style: theme.Faint}
	}
	return cells
}

// layout chooses the columns to show and their widths.
func (t Table) layout(width int) (shown []int, widths []int) {
	widths = t.natural()
	for i := range t.Columns {
		shown = append(shown, i)
	}
	for t.narrowest(shown, widths) > width {
		drop := t.leastNeeded(shown)
		if drop < 0 {
			break
		}
		shown = append(shown[:drop:drop], shown[drop+1:]...)
	}
	t.shrink(shown, widths, width)
	t.grow(shown, widths, width)
	return shown, widths
}

// natural is the width every column would like to have.
func (t Table) natural() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = max(Width(c.Title), c.Min)
		for _, row := range t.Rows {
			if !c.Bar && i < len(row.Cells) {
				widths[i] = max(widths[i], Width(row.Cells[i].Text))
			}
		}
		if c.Wrap {
			widths[i] = min(widths[i], max(c.Min, maxWrap))
		}
	}
	return widths
}

func (t Table) narrowest(shown, widths []int) int {
	sum := gap * (len(shown) - 1)
	for _, i := range shown {
		sum += t.least(i, widths[i])
	}
	return sum
}

func (t Table) least(i, natural int) int {
	if c := t.Columns[i]; c.Flex || c.Wrap {
		return min(natural, max(c.Min, Width(c.Title)))
	}
	return natural
}

func (t Table) leastNeeded(shown []int) int {
	drop := -1
	for at, i := range shown {
		if o := t.Columns[i].Optional; o > 0 && (drop < 0 || o > t.Columns[shown[drop]].Optional) {
			drop = at
		}
	}
	return drop
}

// shrink takes columns off the widest flexible column until the table fits.
func (t Table) shrink(shown, widths []int, width int) {
	for over := total(shown, widths) - width; over > 0; over-- {
		widest := -1
		for _, i := range shown {
			if widths[i] > t.least(i, widths[i]) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t Table) grow(shown, widths []int, width int) {
	for _, i := range shown {
		left := max(0, width-total(shown, widths))
		switch c := t.Columns[i]; {
		case c.Bar:
			widths[i] = min(max(c.Max, widths[i]), widths[i]+left)
		case c.Wrap:
			widths[i] += left
		}
	}
}

func total(shown, widths []int) int {
	sum := gap * (len(shown) - 1)
	for _, i := range shown {
		sum += widths[i]
	}
	return sum
}

// rowLines is a row and the lines its wrapped column runs on.
func (t Table) rowLines(shown, widths []int, cells []Cell) []string {
	last := shown[len(shown)-1]
	if !t.Columns[last].Wrap || last >= len(cells) {
		return []string{t.line(shown, widths, cells)}
	}
	var lines []string
	for i, part := range Wrap(cells[last].Text, widths[last]) {
		line := make([]Cell, len(t.Columns))
		if i == 0 {
			copy(line, cells)
		}
		line[last] = Cell{Text: part, Style: cells[last].Style}
		lines = append(lines, t.line(shown, widths, line))
	}
	return lines
}

func (t Table) line(shown, widths []int, cells []Cell) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", t.Indent))
	for at, i := range shown {
		if at > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell := Cell{}
		if i < len(cells) {
			cell = cells[i]
		}
		text := cell.Text
		if cell.Share != nil {
			text = Bar(*cell.Share, widths[i])
		}
		if t.Columns[i].Flex {
			text = CutMiddle(text, widths[i])
		}
		b.WriteString(padStyled(text, widths[i], t.Columns[i].Right, cell.Style))
	}
	return strings.TrimRight(b.String(), " ")
}

// padStyled puts the blanks outside the style, so that plain and coloured
// output differ in nothing but colour.
func padStyled(text string, width int, right bool, style lipgloss.Style) string {
	if text == "" {
		return strings.Repeat(" ", width)
	}
	fill := strings.Repeat(" ", max(0, width-Width(text)))
	if right {
		return fill + style.Render(text)
	}
	return style.Render(text) + fill
}

// Wrap breaks safe text into lines of at most width columns, between words where
// it can. A percentage stays on one line.
func Wrap(s string, width int) []string {
	width = max(width, 1)
	var lines []string
	line := ""
	for _, word := range strings.Split(strings.ReplaceAll(s, " %", "\u00a0%"), " ") {
		for Width(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := wordHead(word, width)
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0%", " %")
	}
	return append(lines, strings.ReplaceAll(line, "\u00a0%", " %"))
}

// wordHead is the part of a too long word that fits, at least one character.
func wordHead(word string, width int) string {
	if head := ansi.Truncate(word, width, ""); head != "" {
		return head
	}
	_, size := utf8.DecodeRuneInString(word)
	return word[:size]
}
