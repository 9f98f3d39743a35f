package report

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
)

// staticOnly must stand beside every static figure.
const staticOnly = "**Saved** is the static part: what the recorded requests would have cost less had the model behaved exactly as recorded. It is not the expected result of an A/B, which also moves the number of requests."

// replayTable sets the variants side by side. Where it is narrow, what has no column
// stands below its row.
func replayTable(r *Replay, wide bool) section {
	t := &table{columns: []column{
		{title: "variant", flex: true, min: 18}, {title: "saved", number: true}, {title: "share", number: true}, {title: "USD saved", number: true},
	}}
	if wide {
		t.columns = append(t.columns, column{title: "of cost", number: true})
	}
	t.columns = append(t.columns, column{title: "removed", number: true})
	if wide {
		t.columns = append(t.columns, column{title: "detours", number: true}, column{title: "break-even", number: true, optional: 1}, column{title: "pairs", number: true, optional: 2})
	}
	t.columns = append(t.columns, column{title: "verdict"})
	for i, e := range r.Report.Variants {
		row := replayRow(e, r.Variants[i], wide)
		if len(row.notes) > 0 {
			t.noteHead = "remark"
		}
		t.rows = append(t.rows, row)
	}
	return section{id: "variants", title: "Variants", prose: []string{staticOnly}, table: t, after: []string{legend(r)}}
}

// verdicts explains what the verdicts mean; package replay has the rules.
const verdicts = "**Free by rule** takes nothing that the model could miss; **below the noise** is under 2 % of the input and of the cost; **risky** is what comes out dearer, what detours may eat (the high end of their range reaches a break-even), and what leaves hardly any text."

// legend explains the words of the table that need it.
func legend(r *Replay) string {
	s := "**Share** is of the recorded input, and **of cost** of all that the recorded requests cost, both at the low end of a range. **Removed** is requests taken out, a range where the log does not settle it. **Detours** is how many requests the model might add to get back what was cut; the saving is gone at **break-even**, in tokens / in USD; **none**: it already costs more."
	s += " " + verdicts + " Below, **before** and **after** are the counted tokens of one text, or the input tokens of a removed request; **saved** is in provider tokens, over all requests that carried it. Removals that only the high end of a range holds say so."
	for _, v := range r.Variants {
		if v.Need != nil {
			return s + fmt.Sprintf(" **Pairs** is how many %s show a saving of this size with 80 %% power, by the spread of %s: a standard deviation of %.3f of the log ratio.", v.Need.Unit, v.Need.Basis, v.Need.SD)
		}
	}
	return s
}

func replayRow(e replay.Estimate, v ReplayVariant, wide bool) row {
	tokens, usd := term.Opt(e.StaticSavingTokens, term.Short), term.Opt(e.StaticSavingUSD, dearer)
	if wide {
		tokens, usd = tokenRange(e.StaticSavingTokens, e.StaticSavingTokensHigh), usdRange(e.StaticSavingUSD, e.StaticSavingUSDHigh)
	}
	cells := []cell{logged(e.Variant), plain(tokens), share(e.StaticSavingShare), plain(usd)}
	if wide {
		cells = append(cells, share(e.StaticSavingUSDShare))
	}
	cells = append(cells, plain(removedOf(e)))
	if wide {
		cells = append(cells, plain(detoursOf(e)), plain(breakEvenOf(e)), plain(term.Opt(e.TrialsNeeded, pairs)))
	}
	return row{cells: append(cells, plain(verdictOf(e))), notes: replayNotes(e, v, wide)}
}

// replayNotes say what no column does.
func replayNotes(e replay.Estimate, v ReplayVariant, wide bool) []string {
	switch {
	case e.Unsupported != nil:
		return []string{*e.Unsupported}
	case e.Idle():
		return []string{"nothing to change here"}
	}
	var notes []string
	if e.StaticSavingTokens == nil {
		notes = append(notes, "no usage in the log; "+countedSaved(e.SavedCountedTokens))
	}
	if e.AddedRequests > 0 {
		notes = append(notes, term.Count(e.AddedRequests, "request", "requests")+" added")
	}
	if wide {
		return notes
	}
	var side []string
	if most := tokenRange(e.StaticSavingTokens, e.StaticSavingTokensHigh); strings.Contains(most, " to ") {
		side = append(side, "saved "+most+", "+usdRange(e.StaticSavingUSD, e.StaticSavingUSDHigh))
	}
	if e.StaticSavingUSDShare != nil {
		side = append(side, ofCost(*e.StaticSavingUSDShare))
	}
	side = append(side, "detours "+detoursOf(e))
	if b := breakEvenOf(e); b != unknownPair {
		if b == noBreakEven {
			b += ": it already costs more"
		}
		side = append(side, "break-even "+b)
	}
	if e.TrialsNeeded != nil {
		side = append(side, pairs(*e.TrialsNeeded)+" pairs")
	}
	return []string{strings.Join(append(notes, side...), " · ")}
}

// countedSaved says what is saved where there is no usage.
func countedSaved(n int64) string {
	if n < 0 {
		return strings.Replace(shortTokens(-n), " token", " more counted token", 1)
	}
	return strings.Replace(shortTokens(n), " token", " counted token", 1) + " saved"
}

func verdictOf(e replay.Estimate) string {
	switch {
	case e.Unsupported != nil:
		return "unsupported"
	case e.Verdict == "":
		return term.Unknown
	}
	return e.Verdict
}

func tokenRange(low, high *int64) string {
	a := term.Opt(low, term.Short)
	if high == nil || low == nil || term.Short(*high) == a {
		return a
	}
	return a + " to " + term.Short(*high)
}

func usdRange(low, high *float64) string {
	a := term.Opt(low, dearer)
	if high == nil || low == nil || dearer(*high) == a {
		return a
	}
	return a + " to " + dearer(*high)
}

// ofCost is a saving in USD as a share of all that was paid.
func ofCost(v float64) string {
	if v < 0 {
		return term.Percent(-v) + " dearer"
	}
	return term.Percent(v) + " of the cost"
}

// dearer says in words what a negative saving is.
func dearer(v float64) string {
	if v < 0 {
		return term.USD(-v) + " dearer"
	}
	return term.USD(v)
}

func removedOf(e replay.Estimate) string {
	if e.Unsupported != nil {
		return term.Unknown
	}
	return requestRange(e.RemovedRequestsLow, e.RemovedRequestsHigh)
}

func detoursOf(e replay.Estimate) string {
	switch d := e.Detours; {
	case d != nil:
		return fmt.Sprintf("%s (%s–%s)", few(d.Expected), few(d.Low), few(d.High))
	case e.Unsupported != nil:
		return term.Unknown
	}
	return "none" // nothing was cut that the model could miss
}

const (
	mostPairs  = 100_000 // beyond it the number says nothing any more
	mostTrials = 1000    // beyond it nobody runs an A/B
)

func pairs(n int64) string {
	if n > mostPairs {
		return ">" + term.Exact(mostPairs)
	}
	return term.Exact(n)
}

const unknownPair = term.Unknown + " / " + term.Unknown

// noBreakEven stands where a variant costs more as it is; the legend says so.
const noBreakEven = "none"

func breakEvenOf(e replay.Estimate) string {
	tokens, usd := term.Opt(e.BreakEvenRequestsTokens, few), term.Opt(e.BreakEvenRequestsUSD, few)
	if e.StaticSavingTokens != nil && *e.StaticSavingTokens < 0 {
		tokens = noBreakEven
	}
	if e.StaticSavingUSD != nil && *e.StaticSavingUSD < 0 {
		usd = noBreakEven
	}
	if tokens == noBreakEven && (usd == noBreakEven || usd == term.Unknown) {
		return noBreakEven
	}
	return tokens + " / " + usd
}

// few is a number of requests that need not be whole.
func few(v float64) string {
	switch {
	case v > 0 && v < 0.05:
		return "<0.1"
	case v < 100:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	return term.Short(int64(v))
}
