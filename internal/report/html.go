package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/page"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/fleet"
)

// maxHTMLCell bounds one log text in a table of a page.
const maxHTMLCell = 200

// HTMLAudit is what a page of an audit shows.
type HTMLAudit struct {
	Audit  *analyze.Audit
	Charts *analyze.Charts
	Texts  map[analyze.ItemKey]string // of items of the charts; nil: no log text is shown
	Fleet  *fleet.Audit               // what many sessions show beside their sums; nil for a handful
}

// HTML writes an audit as one self-contained page.
func HTML(w io.Writer, h HTMLAudit, o Options) error {
	d := build(h.Audit, o)
	if h.Fleet != nil {
		d.sections = append(d.sections, fleetPage(h.Fleet)...)
	}
	p := pageOf(d)
	lead(&p, "advice")
	c := &auditCharts{audit: h.Audit, charts: h.Charts, texts: h.Texts, excerpts: map[analyze.ItemKey]string{}, options: o}
	c.addTo(&p)
	return page.Write(w, p)
}

// lead puts the section of that name first.
func lead(p *page.Page, id string) {
	for i, s := range p.Sections {
		if s.ID == id {
			s.Lead = true
			p.Sections = append([]page.Section{s}, append(p.Sections[:i:i], p.Sections[i+1:]...)...)
			return
		}
	}
}

// pageOf lays a document out as a page, without its charts of the terminal.
func pageOf(d document) page.Page {
	p := page.Page{Title: d.title}
	for _, t := range d.subtitle {
		p.Subtitle = append(p.Subtitle, textOf(t, maxHTMLCell))
	}
	if d.file.s != "" {
		p.Subtitle = append(p.Subtitle, textOf(d.file, maxHTMLCell))
	}
	for i, s := range d.sections {
		p.Sections = append(p.Sections, sectionOf(s, i))
	}
	return p
}

func sectionOf(s section, i int) page.Section {
	out := page.Section{ID: cmp.Or(s.id, fmt.Sprintf("section-%d", i+1)), Title: s.title}
	for _, prose := range s.prose {
		out.Prose = append(out.Prose, page.Markdown(prose))
	}
	for _, l := range s.lines {
		out.Lines = append(out.Lines, textOf(l, maxHTMLLine))
	}
	if s.table != nil {
		out.Table = tableOf(*s.table, s.title)
	}
	for _, prose := range s.after {
		out.After = append(out.After, page.Markdown(prose))
	}
	return out
}

// maxHTMLLine bounds a paragraph that may hold log text.
const maxHTMLLine = 2000

func textOf(t text, limit int) page.Text {
	out := page.Text{S: t.s, Log: t.log, Before: t.before, After: t.after}
	if t.log {
		out.S = term.Fit(t.s, limit)
	}
	return out
}

func tableOf(t table, caption string) *page.Table {
	out := &page.Table{Caption: caption, More: t.more}
	for _, c := range t.columns {
		out.Columns = append(out.Columns, page.Column{Title: c.title, Number: c.number, Bar: c.bar})
	}
	for _, r := range t.rows {
		row := page.Row{Notes: r.notes, Faint: r.faint}
		for _, c := range r.cells {
			row.Cells = append(row.Cells, page.Cell{Text: textOf(c.text, maxHTMLCell), Share: c.share})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// own is a cell of fclog's own words or numbers.
func own(s string) page.Cell { return page.Cell{Text: page.Own(s)} }

func exact(n int64) page.Cell { return own(term.Exact(n)) }

func optionalExact(n *int64) page.Cell { return own(term.Opt(n, term.Exact)) }

func fromLogCell(s *string) page.Cell {
	return page.Cell{Text: page.FromLog(term.Fit(deref(s), maxHTMLCell))}
}

func numbers(titles ...string) []page.Column {
	var out []page.Column
	for _, t := range titles {
		out = append(out, page.Column{Title: t, Number: true})
	}
	return out
}

// class is the style of a kind of content.
func class(kind string) string {
	if _, ok := kindNames[kind]; ok {
		return kind
	}
	return "other"
}

func kindName(kind string) string {
	if name, ok := kindNames[kind]; ok {
		return name
	}
	return strings.ReplaceAll(kind, "_", " ")
}
