package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

const (
	// minWidth is the narrowest layout; narrower terminals wrap it themselves.
	minWidth = 60
	// maxWidth is the widest: beyond it the eye loses the line.
	maxWidth = 160
	// proseWidth keeps sentences readable on wide terminals.
	proseWidth = 100
	// wideWidth is where notes get a column of their own.
	wideWidth = 120
	// indent is how far everything below a heading stands in.
	indent = 2
	// maxBar is the longest bar.
	maxBar = 40
	// maxCell bounds how much of one log text is looked at.
	maxCell = 200
	// chartHeight is the number of rows of a chart.
	chartHeight = 7
)

// Terminal writes an audit for a terminal of Options.Width columns.
func Terminal(w io.Writer, a *analyze.Audit, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(build(a, o)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	out := t.out.String()
	if !o.UTF8 {
		out = term.ASCII(out)
	}
	_, err := io.WriteString(w, out)
	return err
}

type terminal struct {
	width int
	theme term.Theme
	prose *proseRenderer
	out   bytes.Buffer
}

func (t *terminal) document(d document) error {
	prose, err := newProseRenderer(min(t.width, proseWidth)-indent, t.theme.Color)
	if err != nil {
		return err
	}
	t.prose = prose
	t.title(d)
	for _, s := range d.sections {
		if err := t.section(s); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) line(s string) {
	t.out.WriteString(strings.TrimRight(s, " "))
	t.out.WriteByte('\n')
}

func (t *terminal) title(d document) {
	parts := []string{}
	for _, p := range d.subtitle {
		parts = append(parts, show(p, 2*maxCell))
	}
	rest := strings.Join(parts, " · ")
	if term.Width(d.title)+2+term.Width(rest) <= t.width {
		t.line(t.theme.Title.Render(d.title) + "  " + t.theme.Strong.Render(rest))
		parts = nil
	} else {
		t.line(t.theme.Title.Render(d.title))
	}
	for _, p := range parts {
		for _, line := range term.Wrap(p, t.width-indent) {
			t.line(strings.Repeat(" ", indent) + t.theme.Strong.Render(line))
		}
	}
	if d.file.s != "" {
		t.line(strings.Repeat(" ", indent) + t.theme.Faint.Render(term.Fit(d.file.s, t.width-indent)))
	}
}

func (t *terminal) section(s section) error {
	t.line("")
	if s.title != "" {
		t.line(t.theme.Heading.Render(s.title))
	}
	if err := t.paragraphs(s.prose); err != nil {
		return err
	}
	for _, l := range s.lines {
		for _, line := range term.Wrap(show(l, 10*maxCell), min(t.width, proseWidth)-indent) {
			t.line(strings.Repeat(" ", indent) + line)
		}
	}
	if s.table != nil {
		if len(s.prose)+len(s.lines) > 0 {
			t.line("")
		}
		for _, line := range t.table(*s.table).Render(t.width, t.theme) {
			t.line(line)
		}
		if s.table.more != "" {
			t.line(strings.Repeat(" ", indent) + t.theme.Faint.Render(s.table.more))
		}
	}
	if s.chart != nil {
		t.line("")
		t.chart(*s.chart)
	}
	if len(s.after) > 0 {
		t.line("")
	}
	return t.paragraphs(s.after)
}

func (t *terminal) paragraphs(list []string) error {
	for _, p := range list {
		lines, err := t.prose.render(p)
		if err != nil {
			return err
		}
		for _, line := range lines {
			t.line(strings.Repeat(" ", indent) + line)
		}
	}
	return nil
}

// show makes a piece of text safe; own text needs nothing.
func show(x text, width int) string {
	if x.log {
		return x.before + term.Fit(x.s, width) + x.after
	}
	return x.s
}

// table turns the model's table into one of fixed width. Notes become a last
// column on wide terminals and lines below their rows on narrow ones.
func (t *terminal) table(m table) term.Table {
	out := term.Table{Indent: indent}
	for _, c := range m.columns {
		out.Columns = append(out.Columns, term.Column{
			Title: c.title, Right: c.number, Flex: c.flex, Min: c.min, Optional: c.optional, Bar: c.bar, Max: t.barWidth(m, c), Wrap: c.wrap,
		})
	}
	wide := m.noteHead != "" && (m.inline || t.width >= wideWidth)
	if wide {
		out.Columns = append(out.Columns, term.Column{Title: strings.TrimSpace(m.noteHead), Wrap: true, Min: 24})
	}
	longest := longestBar(m)
	for _, r := range m.rows {
		line := term.Row{}
		for i, c := range r.cells {
			line.Cells = append(line.Cells, t.cell(m.columns[i], c, longest, r.faint))
		}
		switch {
		case len(r.notes) > 0 && wide:
			line.Cells = append(line.Cells, term.Cell{Text: screenNote(strings.Join(r.notes, " · ")), Style: t.theme.Faint})
		default:
			for _, note := range r.notes {
				line.Detail = append(line.Detail, screenNote(note))
			}
		}
		out.Rows = append(out.Rows, line)
	}
	return out
}

// screenNote leaves out addresses: they break lines, and Markdown and JSON have
// them.
func screenNote(s string) string {
	return term.Safe(addresses.ReplaceAllString(s, ""))
}

var addresses = regexp.MustCompile(`,? *https?://[^\s)]+`)

// barWidth is the longest bar of a column; beside notes bars are shorter.
func (t *terminal) barWidth(m table, c column) int {
	switch {
	case m.noteHead == "":
		return maxBar
	case t.width >= wideWidth:
		return 3 * c.min
	}
	return c.min
}

// longestBar is the share that fills a bar: bars compare rows with each other.
func longestBar(m table) float64 {
	longest := 0.0
	for _, r := range m.rows {
		for _, c := range r.cells {
			if c.share != nil {
				longest = max(longest, *c.share)
			}
		}
	}
	return longest
}

func (t *terminal) cell(c column, x cell, longest float64, faint bool) term.Cell {
	out := term.Cell{Text: show(x.text, maxCell)}
	switch {
	case c.bar && x.share != nil && longest > 0:
		relative := *x.share / longest
		out.Share, out.Style = &relative, t.theme.Bar
	case faint, out.Text == term.Unknown, c.title == "basis", c.title == "label", c.title == "kind":
		out.Style = t.theme.Faint
	}
	return out
}
