package report

import (
	"io"
	"math"

	"github.com/fclog/fclog/internal/page"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/detour"
)

// CompareHTML writes a comparison as one self-contained page.
func CompareHTML(w io.Writer, r *compare.Result, o Options) error {
	d := compareDocument(r, o)
	p := pageOf(d)
	if len(p.Sections) > 0 {
		p.Sections[0].Lead = true
	}
	for i, s := range d.sections {
		switch s.id {
		case "figures":
			p.Sections[i].Figures = deltaFigures(r)
		case "tasks":
			p.Sections[i].Figures = taskFigures(r)
		}
	}
	return page.Write(w, p)
}

// ExperimentsHTML lists several A/Bs of one file as a page.
func ExperimentsHTML(w io.Writer, list []Experiment, _ Options) error {
	p := pageOf(experimentsDocument(list))
	c := page.Changes{ID: "experiments", Title: "Change of tokens by experiment", Heads: append(numbers("change", "low", "high"), page.Column{Title: "verdict"}),
		Desc: "Points are the measured changes, lines their 95 % intervals; left of the middle is less."}
	for _, e := range list {
		if row, ok := changeRow(page.FromLog(term.Fit(e.Name, maxHTMLCell)), e.Result.Deltas.Tokens); ok {
			row.Sub = page.Own(e.Result.Verdict.Verdict)
			row.Cells = append(row.Cells, own(e.Result.Verdict.Verdict))
			c.Rows = append(c.Rows, row)
		}
	}
	if len(c.Rows) > 0 {
		p.Sections[0].Figures = []page.Figure{c.Figure()}
	}
	return page.Write(w, p)
}

// RatesHTML writes base rates of detours as a page.
func RatesHTML(w io.Writer, r detour.Rates) error {
	return page.Write(w, pageOf(ratesDocument(r)))
}

// deltaFigures are the changes with their intervals.
func deltaFigures(r *compare.Result) []page.Figure {
	c := page.Changes{ID: "changes", Title: "Changes from base to candidate",
		Desc:  "Points are the measured changes in percent, lines their 95 % intervals; left of the middle is less. A line that crosses the middle may be chance.",
		Heads: append(numbers("change", "low", "high"), page.Column{Title: "why not significant"})}
	for _, d := range []struct {
		name  string
		delta *compare.Delta
	}{
		{"tokens", r.Deltas.Tokens}, {"requests", r.Deltas.Requests}, {"tokens per request", r.Deltas.TokensPerRequest}, {"input tokens", r.Deltas.Input},
		{"uncached", r.Deltas.Uncached}, {"cache read", r.Deltas.CacheRead}, {"cache write", r.Deltas.CacheWrite}, {"output tokens", r.Deltas.Output}, {"USD", r.Deltas.CostUSD},
	} {
		if row, ok := changeRow(page.Own(d.name), d.delta); ok {
			row.Cells = append(row.Cells, own(d.delta.Why))
			c.Rows = append(c.Rows, row)
		}
	}
	if len(c.Rows) == 0 {
		return nil
	}
	return []page.Figure{c.Figure()}
}

// changeRow is a change in percent; false where there is none.
func changeRow(name page.Text, d *compare.Delta) (page.BarRow, bool) {
	if d == nil || !d.Log || d.Percent == nil {
		return page.BarRow{}, false
	}
	row := page.BarRow{Name: name, Value: d.Mark + compare.SignedPercent(*d.Percent), Size: d.Percent, Low: d.PercentLow, High: d.PercentHigh, Class: "other"}
	switch {
	case d.Significant && *d.Percent < 0:
		row.Class = "good"
	case d.Significant:
		row.Class = "bad"
	}
	row.Cells = []page.Cell{own(row.Value), own(term.Opt(d.PercentLow, compare.SignedPercent)), own(term.Opt(d.PercentHigh, compare.SignedPercent))}
	return row, true
}

// maxTaskRows is how many tasks the figure shows.
const maxTaskRows = 60

func taskFigures(r *compare.Result) []page.Figure {
	c := page.Changes{ID: "by-task", Title: "Change of tokens by task", Desc: "Each point is one task, mean over its trials; left of the middle is less.",
		Heads: append(numbers("change", "base", "candidate"), page.Column{Title: "case verdict"})}
	for _, t := range r.Tasks[:min(len(r.Tasks), maxTaskRows)] {
		if t.LnTokens == nil {
			continue
		}
		percent := 100 * math.Expm1(*t.LnTokens)
		c.Rows = append(c.Rows, page.BarRow{Name: page.FromLog(term.Fit(t.Label, maxHTMLCell)), Value: compare.SignedPercent(percent), Size: &percent, Class: "other",
			Cells: []page.Cell{own(compare.SignedPercent(percent)), own(term.Opt(t.Baseline.Tokens, wholeTokens)), own(term.Opt(t.Candidate.Tokens, wholeTokens)), own(words(t.Verdict))}})
	}
	if len(c.Rows) == 0 {
		return nil
	}
	return []page.Figure{c.Figure()}
}
