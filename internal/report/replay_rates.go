package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/detour"
)

// RatesTerminal writes base rates of detours and how well they predict.
func RatesTerminal(w io.Writer, r detour.Rates, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(ratesDocument(r)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// RatesMarkdown is RatesTerminal as Markdown.
func RatesMarkdown(w io.Writer, r detour.Rates, _ Options) error {
	_, err := io.WriteString(w, markdownDocument(ratesDocument(r)))
	return err
}

func ratesDocument(r detour.Rates) document {
	d := document{title: "fclog replay --calibrate", subtitle: []text{{s: term.Count(r.Sessions, "session", "sessions")}}}
	head := "A recovery is another look at the same output within three requests. **Null** is how often the same pattern follows outputs of the same kind and size that were whole; only the difference, **net**, is a detour. Its interval bounds 95 %."
	if r.Overall.Cases == 0 {
		head += " No truncated output here tells a rate."
	} else if r.Sessions > 0 {
		head += fmt.Sprintf(" Rates are pooled, hence not the plain share of recovered cases: each stratum is drawn to the overall rate as if it held %.0f more cases of it.", r.PriorCases)
	}
	d.sections = append(d.sections, section{
		title: "How often agents went back to what was cut",
		prose: []string{head},
		table: ratesTable(r),
	}, calibrationSection(r.Calibration))
	return d
}

func ratesTable(r detour.Rates) *table {
	t := &table{columns: []column{
		{title: "agent", flex: true, min: 8}, {title: "kind"}, {title: "size"}, {title: "marker", flex: true, min: 6}, {title: "recovered", number: true},
		{title: "rate", number: true, optional: 2}, {title: "null", number: true, optional: 1}, {title: "net", number: true}, {title: "95 % of net", number: true},
	}}
	whole := r.Overall.NullCases // without any, the null is the prior alone
	if r.Sessions == 0 {
		whole = r.Overall.Cases // published nulls have no count
	}
	for i, s := range append([]detour.Stratum{r.Overall}, r.Strata...) {
		agent := logged(s.Agent)
		if s.Agent == "" {
			agent = plain("all")
		}
		t.rows = append(t.rows, row{faint: i > 0 && s.Cases < 5, cells: []cell{
			agent, plain(orAll(string(s.Kind))), plain(orAll(s.Band)), plain(orAll(string(s.Marker))), plain(recovered(s)),
			known(s.Rate, s.Cases), known(s.NullRate, whole), known(s.Net, min(s.Cases, whole)), netInterval(s, whole),
		}})
	}
	return t
}

func recovered(s detour.Stratum) string {
	return term.Exact(s.Recoveries) + " of " + term.Exact(s.Cases)
}

// known is a rate where there were cases to tell it.
func known(rate float64, cases int64) cell {
	if cases == 0 {
		return plain(term.Unknown)
	}
	return share(&rate)
}

func netInterval(s detour.Stratum, whole int64) cell {
	if s.Cases == 0 || whole == 0 {
		return plain(term.Unknown)
	}
	return plain(percents(s.NetLow, s.NetHigh))
}

// percents is a range of shares with one sign of percent, where both ends are plain
// numbers.
func percents(low, high float64) string {
	from, to := term.Percent(low), term.Percent(high)
	if from == to || strings.ContainsAny(from+to, "<>") {
		return compare.Range(from, to)
	}
	return strings.TrimSuffix(from, " %") + "–" + to
}

func orAll(s string) string {
	if s == "" {
		return "all"
	}
	return term.Safe(s)
}

func calibrationSection(c *detour.Calibration) section {
	s := section{title: "How well they predict"}
	if c == nil {
		s.prose = []string{"Not checked: that takes truncated outputs in two sessions that do not belong together."}
		return s
	}
	words := "The strata predict no better than the overall rate"
	if c.Better {
		words = "The strata predict better than the overall rate"
	}
	if c.Error != nil {
		words += fmt.Sprintf(": Brier score %+.3f, standard error %.3f", c.Difference, *c.Error)
	}
	s.prose = []string{fmt.Sprintf("Each of %s predicted from the other sessions, in %s. %s.",
		term.Count(c.Cases, "truncated output", "truncated outputs"), term.Count(c.Folds, "fold", "folds"), words)}
	s.table = &table{
		columns: []column{{title: ""}, {title: "calibration error", number: true}, {title: "Brier score", number: true}},
		rows: []row{
			{cells: []cell{plain("these rates"), plain(fmt.Sprintf("%.3f", c.ECE)), plain(fmt.Sprintf("%.3f", c.Brier))}},
			{cells: []cell{plain("overall rate for every case"), plain(fmt.Sprintf("%.3f", c.OverallECE)), plain(fmt.Sprintf("%.3f", c.OverallBrier))}},
		},
	}
	return s
}
