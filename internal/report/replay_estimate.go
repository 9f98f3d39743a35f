package report

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
)

// plainVariant is what a user may have called a variant that can stand in a heading.
var plainVariant = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.,:=+-]{0,70}$`)

// replaySection is one variant by itself; nil where there is nothing to say.
func replaySection(r *Replay, i int, o ReplayOptions) *section {
	e, v := r.Report.Variants[i], r.Variants[i]
	if e.Unsupported != nil || e.Idle() && len(e.Warnings) == 0 {
		return nil
	}
	s := &section{title: e.Variant}
	if !plainVariant.MatchString(e.Variant) {
		s.title = fmt.Sprintf("Variant %d", i+1)
		s.lines = append(s.lines, fromLog(e.Variant))
	}
	if v.Title != "" {
		s.lines = append(s.lines, fromLog(v.Title))
	}
	s.lines = append(s.lines, effect(e)...)
	s.lines = append(s.lines, evidence(e)...)
	s.lines = append(s.lines, liveTest(v)...)
	s.lines = append(s.lines, warningLines(e.Warnings, o)...)
	if command := commandOf(v); command != "" {
		s.after = []string{command}
	}
	s.table = contributions(e, len(r.Report.Sessions) > 1, o)
	return s
}

// fewWarnings is how many warnings of a variant are listed without
// ReplayOptions.Details: many sessions may each have their own.
const fewWarnings = 6

func warningLines(warnings []string, o ReplayOptions) []text {
	var out []text
	for i, w := range warnings {
		if left := len(warnings) - i; i >= fewWarnings && left > 1 && !o.Details {
			return append(out, text{s: "! " + more(left, "warning", "warnings") + "; --details lists them"})
		}
		out = append(out, fromLog("! "+w))
	}
	return out
}

// effect is what the variant does to these sessions, as sentences.
func effect(e replay.Estimate) []text {
	var parts []string
	if e.EditedItems > 0 {
		parts = append(parts, term.Count(e.EditedItems, "item", "items")+" edited")
	}
	if e.RemovedRequestsHigh > 0 {
		parts = append(parts, requestsRemoved(e))
	}
	if e.AddedRequests > 0 {
		parts = append(parts, term.Count(e.AddedRequests, "request", "requests")+" added")
	}
	if n := e.StaticSavingOutputTokens; n != nil && *n != 0 {
		parts = append(parts, outputSaved(*n))
	}
	if n := e.CacheReadLost; n != nil && *n > 0 {
		parts = append(parts, shortTokens(*n)+" no longer read from the cache, because "+breaks(e))
	}
	basis := "Basis: " + e.Basis
	if low, high := e.StaticSavingSpreadLow, e.StaticSavingSpreadHigh; low != nil && high != nil && term.Short(*low) != term.Short(*high) {
		basis += fmt.Sprintf("; with that factor at the quartiles of its spread the saving is %s to %s tokens", term.Short(*low), term.Short(*high))
	}
	var out []text
	if len(parts) > 0 {
		out = append(out, text{s: strings.Join(parts, "; ") + "."})
	}
	return append(out, text{s: basis + "."})
}

// outputSaved says what becomes of the output.
func outputSaved(n int64) string {
	if n < 0 {
		return strings.Replace(shortTokens(-n), " token", " more output token", 1)
	}
	return strings.Replace(shortTokens(n), " token", " output token", 1) + " saved"
}

func requestsRemoved(e replay.Estimate) string {
	if e.RemovedRequestsLow == 1 && e.RemovedRequestsHigh == 1 {
		return "1 request removed"
	}
	return requestRange(e.RemovedRequestsLow, e.RemovedRequestsHigh) + " requests removed"
}

// shortTokens is a number of tokens, with the word.
func shortTokens(n int64) string {
	if n == 1 || n == -1 {
		return term.Short(n) + " token"
	}
	return term.Short(n) + " tokens"
}

// breaks says why the cache serves less than it did.
func breaks(e replay.Estimate) string {
	switch {
	case e.RemovedRequestsHigh == 0:
		return "text that had been sent changes"
	case e.EditedItems == 0:
		return "requests that would have written them are gone"
	}
	return "text that had been sent changes, or requests that would have written it are gone"
}

// evidence is what the estimate of detours rests on.
func evidence(e replay.Estimate) []text {
	d := e.Detours
	if d == nil {
		return nil
	}
	v := d.Evidence
	expected := few(d.Expected) + " requests"
	if few(d.Expected) == "1" {
		expected = "1 request"
	}
	s := fmt.Sprintf("Detours: %s expected (%s) from %s; in %s of them what was cut turned up later in the model's words and stood nowhere else",
		expected, compare.Range(few(d.Low), few(d.High)), term.Count(v.Edits, "lossy edit", "lossy edits"), none(v.LaterUsed))
	if v.NullRate != nil && v.NullBasis != "" {
		s += fmt.Sprintf(" (by chance in %s, against %s)", term.Percent(*v.NullRate), v.NullBasis)
	}
	return []text{{s: s + baseRate(v) + "."}}
}

// fewStrata is how many strata of base rates are listed.
const fewStrata = 3

// baseRate says how often agents went back to outputs like those that were cut, and
// on how many cases that rests.
func baseRate(v replay.Evidence) string {
	switch {
	case v.BaseRate == nil:
		return ""
	case v.Truncations == 0:
		return ". No truncated output tells how often the agent goes back"
	}
	var parts []string
	for _, s := range v.Strata[:min(fewStrata, len(v.Strata))] {
		parts = append(parts, stratumRate(s, len(v.Strata) > 1))
	}
	if left := len(v.Strata) - len(parts); left > 0 {
		parts = append(parts, "and "+term.Count(int64(left), "more stratum", "more strata"))
	}
	s := fmt.Sprintf(". Base rate %s net, from %s", term.Percent(*v.BaseRate), term.Count(v.Truncations, "case", "cases"))
	if len(v.Strata) > 1 {
		s += fmt.Sprintf(" in %d strata, weighted by edits", len(v.Strata))
	}
	return s + ": " + strings.Join(parts, "; ")
}

// stratumRate is the rate of one stratum, with the edits that have it where there
// are several strata.
func stratumRate(v replay.EvidenceStratum, several bool) string {
	var name []string
	for _, part := range []string{v.Agent, strings.Join(v.Kinds, "/"), v.Band, words(v.Marker)} {
		if part != "" {
			name = append(name, part)
		}
	}
	label := term.Safe(strings.Join(name, " "))
	if label == "" {
		label = "all outputs"
	}
	s := fmt.Sprintf("%s: %s gone back to (%s of %s), %s by chance", label, term.Percent(v.Rate), term.Exact(v.Recoveries), term.Exact(v.Cases), term.Percent(v.NullRate))
	if v.Cases > 0 && math.Abs(v.Rate-float64(v.Recoveries)/float64(v.Cases)) >= 0.01 {
		s += ", pooled with the others"
	}
	if v.Marker == "line-numbers" {
		s = fmt.Sprintf("%s: %s cited later (%s of %s reads)", label, term.Percent(v.Rate), term.Exact(v.Recoveries), term.Exact(v.Cases))
	}
	if several {
		s += ", for " + term.Count(v.Edits, "edit", "edits")
	}
	return s
}

func none(n int64) string {
	if n == 0 {
		return "none"
	}
	return term.Exact(n)
}

// liveTest is what it takes to see the saving.
func liveTest(v ReplayVariant) []text {
	var out []text
	if n := v.Need; n != nil && n.Pairs > mostPairs {
		out = append(out, text{s: fmt.Sprintf("A live A/B cannot show it: that would take more than %s %s.", term.Exact(mostPairs), n.Unit)})
	} else if n != nil {
		out = append(out, text{s: fmt.Sprintf("A live A/B needs %s %s to show a change of %+.1f %%.", term.Exact(n.Pairs), n.Unit, 100*math.Expm1(n.Change))})
	}
	return out
}

// commandOf is the command that runs a live A/B, as Markdown; "" there is none.
func commandOf(v ReplayVariant) string {
	if v.Line == nil || v.Need != nil && v.Need.Pairs > mostTrials {
		return ""
	}
	s := "To run it: `" + v.Line.Command + "`"
	if len(v.Line.Notes) > 0 {
		s += " (" + strings.Join(v.Line.Notes, "; ") + ")"
	}
	return s + "."
}

// contributions lists what saves most; nil where nothing does.
func contributions(e replay.Estimate, sessions bool, o ReplayOptions) *table {
	if len(e.Top) == 0 {
		return nil
	}
	t := &table{columns: []column{{title: "what", flex: true, min: 18}, {title: "tool", flex: true, min: 4, optional: 2}}}
	if sessions {
		t.columns = append(t.columns, column{title: "session", flex: true, min: 8, optional: 3})
	}
	t.columns = append(t.columns, column{title: "why", optional: 1}, column{title: "before", number: true}, column{title: "after", number: true},
		column{title: "requests", number: true}, column{title: "saved", number: true})
	limit := fewContributions
	if o.Details {
		limit = o.top()
	}
	for _, c := range e.Top[:min(limit, len(e.Top))] {
		why := words(c.Why)
		if c.Uncertain {
			why += ", high end only"
		}
		what := logged(arguments(c.What))
		if c.What == "" {
			what = plain("–")
		}
		cells := []cell{what, logged(c.Tool)}
		if sessions {
			cells = append(cells, logged(c.SessionID))
		}
		t.rows = append(t.rows, row{cells: append(cells, logged(why), number(c.Before), number(c.After), number(c.Requests), number(int64(c.SavedTokens)))})
	}
	if left := e.EditedItems + e.RemovedRequestsHigh - int64(len(t.rows)); left > 0 {
		t.more = more(int(left), "contribution", "contributions")
	}
	return t
}
