package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/fclog/fclog/internal/page"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
)

// ReplayHTML writes a replay as one self-contained page. Texts before and after are
// shown with ReplayOptions.Diff only.
func ReplayHTML(w io.Writer, r *Replay, o ReplayOptions) error {
	p := pageOf(replayDocument(r, o, true))
	for i := range p.Sections {
		if p.Sections[i].ID == "variants" {
			p.Sections[i].Figures = variantFigures(r)
		}
	}
	p.Sections[0].Lead = true
	if o.Diff {
		if s := changedTexts(r, o); len(s.Texts) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	return page.Write(w, p)
}

// variantFigures set the variants side by side: in tokens, and in USD.
func variantFigures(r *Replay) []page.Figure {
	var out []page.Figure
	if f, ok := tokenFigure(r); ok {
		out = append(out, f)
	}
	if f, ok := usdFigure(r); ok {
		out = append(out, f)
	}
	if f, ok := detourFigure(r); ok {
		out = append(out, f)
	}
	return out
}

func tokenFigure(r *Replay) (page.Figure, bool) {
	b := page.Bars{
		ID: "saved", Title: "Input tokens saved, variants side by side",
		Desc: "Static saving of each variant: the pale piece is saved only if removals that the log does not settle are possible. " +
			"The line is what remains of the saving if the model makes the estimated detours, from many to few.",
		Heads: append(numbers("saved", "at most", "share", "with many detours", "with few"), page.Column{Title: "verdict"}),
	}
	for _, e := range r.Report.Variants {
		if e.StaticSavingTokens == nil || e.Unsupported != nil || e.Idle() {
			continue
		}
		size := float64(*e.StaticSavingTokens)
		row := page.BarRow{Name: page.FromLog(term.Fit(e.Variant, maxHTMLCell)), Sub: page.Own(verdictOf(e)), Class: "good", MoreClass: "pale", Size: &size,
			Value: term.Opt(e.StaticSavingShare, term.Percent) + " · " + tokenRange(e.StaticSavingTokens, e.StaticSavingTokensHigh)}
		if size < 0 {
			row.Class = "bad"
		}
		if e.StaticSavingTokensHigh != nil {
			high := float64(*e.StaticSavingTokensHigh)
			row.More = &high
		}
		row.Low, row.High = leftOver(size, e.BreakEvenRequestsTokens, e.Detours)
		row.Cells = []page.Cell{exact(*e.StaticSavingTokens), optionalExact(e.StaticSavingTokensHigh), own(term.Opt(e.StaticSavingShare, term.Percent)),
			own(term.Opt(row.Low, wholeTokens)), own(term.Opt(row.High, wholeTokens)), own(verdictOf(e))}
		b.Rows = append(b.Rows, row)
	}
	return b.Figure(), len(b.Rows) > 0
}

func usdFigure(r *Replay) (page.Figure, bool) {
	b := page.Bars{
		ID: "usd", Title: "USD saved, variants side by side",
		Desc:  "What the recorded requests would have cost less, with the prompt cache modelled. The line is what remains of it with the estimated detours.",
		Heads: append(numbers("saved", "at most", "of cost", "with many detours", "with few"), page.Column{Title: "verdict"}),
	}
	for _, e := range r.Report.Variants {
		if e.StaticSavingUSD == nil || e.Unsupported != nil || e.Idle() {
			continue
		}
		size := *e.StaticSavingUSD
		row := page.BarRow{Name: page.FromLog(term.Fit(e.Variant, maxHTMLCell)), Sub: page.Own(verdictOf(e)), Class: "good", MoreClass: "pale", Size: &size,
			More: e.StaticSavingUSDHigh, Value: usdRange(e.StaticSavingUSD, e.StaticSavingUSDHigh)}
		if e.StaticSavingUSDShare != nil {
			row.Value = term.Percent(*e.StaticSavingUSDShare) + " · " + row.Value
		}
		if size < 0 {
			row.Class = "bad"
		}
		row.Low, row.High = leftOver(size, e.BreakEvenRequestsUSD, e.Detours)
		row.Cells = []page.Cell{own(dearer(size)), own(term.Opt(e.StaticSavingUSDHigh, dearer)), own(term.Opt(e.StaticSavingUSDShare, term.Percent)), own(term.Opt(row.Low, dearer)), own(term.Opt(row.High, dearer)), own(verdictOf(e))}
		b.Rows = append(b.Rows, row)
	}
	return b.Figure(), len(b.Rows) > 0
}

// detourFigure sets the detours that are expected against those that a saving can bear.
func detourFigure(r *Replay) (page.Figure, bool) {
	b := page.Bars{
		ID: "detours", Title: "How much of each saving in tokens the detours may eat",
		Desc: "Requests that the model is expected to add to get back what was cut, in percent of the requests that would eat the whole saving, " +
			"which is the upright line. The line across is the interval of the estimate.",
		Heads: append(numbers("expected", "low", "high", "break-even in tokens", "break-even in USD", "paired runs needed"), page.Column{Title: "verdict"}),
	}
	whole := 1.0
	for _, e := range r.Report.Variants {
		d, most := e.Detours, e.BreakEvenRequestsTokens
		if d == nil || most == nil || *most <= 0 {
			continue
		}
		expected, low, high := d.Expected / *most, d.Low / *most, d.High / *most
		b.Rows = append(b.Rows, page.BarRow{
			Name: page.FromLog(term.Fit(e.Variant, maxHTMLCell)), Sub: page.Own(verdictOf(e)), Class: "bad", Size: &expected, Low: &low, High: &high, Limit: &whole,
			Value: fmt.Sprintf("%s · %s of %s", term.Percent(expected), few(d.Expected), few(*most)),
			Cells: []page.Cell{own(few(d.Expected)), own(few(d.Low)), own(few(d.High)), own(few(*most)), own(term.Opt(e.BreakEvenRequestsUSD, few)),
				own(term.Opt(e.TrialsNeeded, pairs)), own(verdictOf(e))},
		})
	}
	return b.Figure(), len(b.Rows) > 0
}

// leftOver is what detours leave of a saving: break-even requests eat all of it, so
// each eats its share.
func leftOver(saving float64, breakEven *float64, d *replay.Detours) (low, high *float64) {
	if breakEven == nil || d == nil || *breakEven <= 0 || saving <= 0 {
		return nil, nil
	}
	worst, best := saving*(1 - d.High / *breakEven), saving*(1 - d.Low / *breakEven)
	return &worst, &best
}

func wholeTokens(v float64) string { return term.Exact(int64(v)) }

// replayVerdict says in words which variant to try first and how sure that is.
func replayVerdict(r *Replay) string {
	best := -1
	for i, e := range r.Report.Variants {
		if promise(r, e) > 0 && (best < 0 || better(r, e, r.Report.Variants[best])) {
			best = i
		}
	}
	if best < 0 {
		return "**Nothing to try first:** no variant replayed here is free or worth an A/B."
	}
	e := r.Report.Variants[best]
	name := fmt.Sprintf("variant %d", best+1)
	if plainVariant.MatchString(e.Variant) {
		name = "`" + e.Variant + "`"
	}
	s := fmt.Sprintf("**Try first:** %s, **%s**. With the model behaving as recorded it saves %s", name, e.Verdict, savedInWords(e))
	switch d := e.Detours; {
	case d != nil && e.BreakEvenRequestsTokens != nil:
		s += fmt.Sprintf("; %s detours are expected (%s to %s), and %s would eat the saving", few(d.Expected), few(d.Low), few(d.High), few(*e.BreakEvenRequestsTokens))
	case d == nil:
		s += "; nothing is cut that the model could miss"
	}
	return s + ". Whether the model makes more requests then, only a live A/B shows."
}

// savedInWords is what a variant saves in tokens, in USD, or both.
func savedInWords(e replay.Estimate) string {
	var parts []string
	if e.StaticSavingShare != nil && *e.StaticSavingShare > 0 {
		parts = append(parts, term.Percent(*e.StaticSavingShare)+" of the input tokens")
	}
	if e.StaticSavingUSD != nil && *e.StaticSavingUSD > 0 {
		usd := usdRange(e.StaticSavingUSD, e.StaticSavingUSDHigh)
		if e.StaticSavingUSDShare != nil {
			usd += " (" + ofCost(*e.StaticSavingUSDShare) + ")"
		}
		parts = append(parts, usd)
	}
	if len(parts) == 1 && e.StaticSavingUSD != nil && *e.StaticSavingUSD > 0 {
		return parts[0] + ", but no tokens: what is sent gets cheaper"
	}
	return strings.Join(parts, " and ")
}

// better prefers what is free by rule, then what saves the larger share.
func better(r *Replay, x, y replay.Estimate) bool {
	if (x.Verdict == replay.FreeByRule) != (y.Verdict == replay.FreeByRule) {
		return x.Verdict == replay.FreeByRule
	}
	return promise(r, x) > promise(r, y)
}

// promise is the larger share that a variant saves of input or cost; 0 where that is
// not worth a sentence, or the verdict speaks against it.
func promise(r *Replay, e replay.Estimate) float64 {
	if e.Verdict != replay.FreeByRule && e.Verdict != replay.WorthAB {
		return 0
	}
	share := 0.0
	if e.StaticSavingShare != nil {
		share = *e.StaticSavingShare
	}
	if b := r.Report.Baseline.CostUSD; b != nil && *b > 0 && e.StaticSavingUSD != nil {
		share = max(share, *e.StaticSavingUSD / *b)
	}
	if share < worthwhile {
		return 0
	}
	return share
}

// changedTexts are the largest edited texts before and after.
func changedTexts(r *Replay, o ReplayOptions) page.Section {
	s := page.Section{ID: "texts", Title: "Changed texts", Prose: []page.Prose{page.Markdown("Lines that go begin with -, lines that come with +.")}}
	for i, v := range r.Variants {
		for _, c := range shownChanges(v, o) {
			e := page.Excerpt{Name: page.FromLog(r.Report.Variants[i].Variant + ": " + changeTitle(c))}
			var part page.ExcerptPart
			for _, line := range changeLines(c, o.Lines) {
				part.Lines = append(part.Lines, page.FromLog(line))
			}
			e.Parts = append(e.Parts, part)
			s.Texts = append(s.Texts, e)
		}
	}
	return s
}
