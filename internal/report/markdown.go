package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// maxMarkdownCell bounds one log text in a Markdown table.
const maxMarkdownCell = 120

// Markdown writes an audit as plain Markdown with GitHub tables.
func Markdown(w io.Writer, a *analyze.Audit, o Options) error {
	_, err := io.WriteString(w, markdownDocument(build(a, o)))
	return err
}

func markdownDocument(d document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", d.title)
	if len(d.subtitle) > 0 {
		parts := make([]string, len(d.subtitle))
		for i, p := range d.subtitle {
			parts[i] = markdownCell(cell{text: p})
		}
		fmt.Fprintf(&b, "\n%s\n", strings.Join(parts, " · "))
	}
	if d.file.s != "" {
		fmt.Fprintf(&b, "\nLog: %s\n", markdownCell(cell{text: d.file}))
	}
	for _, s := range d.sections {
		markdownSection(&b, s)
	}
	return b.String()
}

func markdownSection(b *strings.Builder, s section) {
	if s.title != "" {
		fmt.Fprintf(b, "\n## %s\n", s.title)
	}
	for _, p := range s.prose {
		fmt.Fprintf(b, "\n%s\n", p)
	}
	for _, l := range s.lines {
		fmt.Fprintf(b, "\n%s\n", markdownText(l))
	}
	if s.table != nil {
		b.WriteByte('\n')
		markdownTable(b, *s.table)
		if s.table.more != "" {
			fmt.Fprintf(b, "\n%s\n", s.table.more)
		}
	}
	if s.chart != nil {
		markdownChart(b, *s.chart)
	}
	for _, p := range s.after {
		fmt.Fprintf(b, "\n%s\n", p)
	}
}

func markdownText(x text) string {
	if x.log {
		return term.SafeMarkdown(x.s)
	}
	return x.s
}

// markdownTable writes all columns but bars.
func markdownTable(b *strings.Builder, t table) {
	var titles, rules []string
	for _, c := range t.columns {
		if c.bar {
			continue
		}
		titles = append(titles, c.title)
		rules = append(rules, rule(c.number))
	}
	if t.noteHead != "" {
		titles, rules = append(titles, strings.TrimSpace(t.noteHead)), append(rules, rule(false))
	}
	markdownRow(b, titles)
	fmt.Fprintf(b, "|%s|\n", strings.Join(rules, "|"))
	for _, r := range t.rows {
		var cells []string
		for i, c := range r.cells {
			if !t.columns[i].bar {
				cells = append(cells, markdownCell(c))
			}
		}
		if t.noteHead != "" {
			cells = append(cells, ownMarkdown(strings.Join(r.notes, " · ")))
		}
		markdownRow(b, cells)
	}
}

func rule(number bool) string {
	if number {
		return "---:"
	}
	return "---"
}

func markdownRow(b *strings.Builder, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteByte('\n')
}

// markdownCell puts text of a log in a code span: there GitHub neither links nor
// mentions anything.
func markdownCell(c cell) string {
	switch {
	case !c.log:
		return ownMarkdown(c.s)
	case c.s == "":
		return ""
	}
	return strings.TrimLeft(c.before, " ") + term.CodeMarkdown(term.Fit(c.s, maxMarkdownCell)) + c.after
}

// ownMarkdown escapes the little that fclog's own words may hold. Leading blanks
// of a table's first column are an indent on terminals only.
func ownMarkdown(s string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(strings.TrimSpace(s))
}

// markdownChart writes the chart as text in a code block; it holds numbers and
// blocks only.
func markdownChart(b *strings.Builder, c chart) {
	t := terminal{width: term.DefaultWidth, theme: term.NewTheme(false)}
	t.chart(c)
	fmt.Fprintf(b, "\n```text\n%s```\n", t.out.String())
}
