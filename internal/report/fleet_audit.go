package report

import (
	"fmt"
	"io"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/fleet"
)

// FleetAuditJSON writes an audit with what many sessions show beside their sums, under
// the key fleet.
func FleetAuditJSON(w io.Writer, a *analyze.Audit, f *fleet.Audit, indent bool) error {
	return WriteJSON(w, struct {
		*analyze.Audit
		Fleet *fleet.Audit `json:"fleet"`
	}{a, f}, indent)
}

// FleetAuditTerminal writes what many sessions show, to stand below their audit.
func FleetAuditTerminal(w io.Writer, f *fleet.Audit, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(document{title: "The fleet", sections: auditFleetSections(f)}); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// FleetAuditMarkdown is FleetAuditTerminal as plain Markdown.
func FleetAuditMarkdown(w io.Writer, f *fleet.Audit) error {
	_, err := io.WriteString(w, "\n"+markdownDocument(document{title: "The fleet", sections: auditFleetSections(f)}))
	return err
}

// fleetPage is the same for a page of the audit, on which its first section needs a title.
func fleetPage(f *fleet.Audit) []section {
	out := auditFleetSections(f)
	out[0].title = "The fleet"
	return out
}

func auditFleetSections(f *fleet.Audit) []section {
	head := section{prose: []string{fmt.Sprintf("**%s**, one by one. Tokens are measured; cost is by list prices, estimated.", term.Count(f.Sessions, "session", "sessions"))}}
	if f.Sessions < f.Population {
		head.prose = []string{fmt.Sprintf("**%s of %s sessions**, drawn by a hash of their IDs. Sums above are those of the sample.", term.Exact(f.Sessions), term.Exact(f.Population))}
	}
	head.table = &table{columns: []column{{title: "per session"}, {title: "mean", number: true}, {title: "10 in 100", number: true}, {title: "median", number: true}, {title: "90 in 100", number: true}, {title: "largest", number: true}}}
	whole := func(v float64) string { return term.Short(int64(v + 0.5)) }
	for _, line := range []struct {
		name string
		d    *fleet.Distribution
		show func(float64) string
	}{{"input tokens", f.Input, whole}, {"requests", f.Requests, whole}, {"cost", f.CostUSD, term.USD}} {
		if d := line.d; d != nil {
			head.table.rows = append(head.table.rows, row{cells: []cell{plain(line.name), plain(line.show(d.Mean)), plain(line.show(d.P10)), plain(line.show(d.Median)), plain(line.show(d.P90)), plain(line.show(d.Max))}})
		}
	}
	if f.TopTenth != nil {
		head.after = []string{fmt.Sprintf("The tenth of sessions that sent most holds **%s** of all input, measured.", term.Percent(*f.TopTenth))}
	}
	return []section{head, auditShares(f), auditGroups(f), auditHeaviest(f)}
}

func auditShares(f *fleet.Audit) section {
	s := section{title: "Shares of all input", table: &table{columns: []column{
		{title: "what", flex: true, min: 16}, {title: "share", number: true}, {title: "95 % interval", number: true}, {title: "median", number: true, optional: 1},
		{title: "90 in 100", number: true, optional: 2}, {title: "sessions", number: true}, {title: "basis"},
	}}}
	for _, x := range f.Shares {
		r := row{cells: []cell{
			plain(x.Name), shareIn(x.Share), rangeIn(x.Share), quantileOf(x.PerSession, func(d *fleet.Distribution) float64 { return d.Median }),
			quantileOf(x.PerSession, func(d *fleet.Distribution) float64 { return d.P90 }), number(x.Touched), plain(x.Basis),
		}}
		if x.Sample != nil && !x.Sample.Open() && !x.Sample.Alike() {
			s.table.noteHead = "remark"
			r.notes = []string{ofTheWhole(x.Sample)}
		}
		s.table.rows = append(s.table.rows, r)
	}
	s.after = []string{"The **interval** is of the share of all input, for sessions like these: studentised bootstrap over sessions with their sub-agents. **Median** and **90 in 100** are shares of single sessions. Upper bounds are what a technique could touch, not what it would save; they overlap. Of a sample, the remark says where the share of all sessions lies that it was drawn from, with 95 %."}
	return s
}

func auditGroups(f *fleet.Audit) section {
	t := &table{columns: []column{
		{title: "by"}, {title: "value", flex: true, min: 12}, {title: "sessions", number: true}, {title: "requests", number: true}, {title: "input", number: true},
		{title: "share", number: true}, {title: "cost", number: true, optional: 1},
	}}
	for _, g := range f.Strata {
		t.rows = append(t.rows, row{cells: []cell{
			plain(g.By), logged(g.Value), number(g.Sessions), number(g.Requests), number(g.Input), share(&g.OfAll), plain(term.Opt(g.CostUSD, term.USD)),
		}})
	}
	return section{title: "By kind of session", table: t}
}

func auditHeaviest(f *fleet.Audit) section {
	t := &table{columns: []column{{title: "session", flex: true, min: 12}, {title: "requests", number: true}, {title: "input", number: true}, {title: "share", number: true}}}
	for _, s := range f.Most {
		t.rows = append(t.rows, row{cells: []cell{logged(s.SessionID), number(s.Requests), number(s.Input), share(&s.OfAll)}})
	}
	return section{title: "Sessions that sent most", table: t}
}
