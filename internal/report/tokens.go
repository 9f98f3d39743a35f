package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// composition is what the input tokens were spent on. Framing and unlogged are
// always shown, however small.
func composition(a *analyze.Audit, o Options) *section {
	s := &section{title: "Where the tokens went", prose: []string{
		"An agent sends its whole conversation again with every request: **carried** is an item's tokens times the requests that carried it, " + unit(a) + ". **Once** is its size as fclog counts it."}}
	if len(a.Composition) == 0 {
		s.prose = []string{"No content is logged."}
		return s
	}
	s.table = &table{columns: []column{
		{title: "what", flex: true, min: 24}, {title: "items", number: true, optional: 3}, {title: "once", number: true},
		{title: "carried", number: true}, {title: "share", number: true}, {bar: true, min: 12, optional: 2}, {title: "basis", optional: 1},
	}}
	shares := slices.Clone(a.Composition)
	slices.SortStableFunc(shares, func(x, y analyze.Share) int {
		return cmp.Or(cmp.Compare(rest(x), rest(y)), cmp.Compare(carried(y), carried(x)))
	})
	content := slices.IndexFunc(shares, func(x analyze.Share) bool { return rest(x) == 1 })
	if content < 0 {
		content = len(shares)
	}
	// Twice the usual number of rows: this is the report's main answer.
	shown := min(content, 2*o.top())
	for _, x := range shares[:shown] {
		s.table.rows = append(s.table.rows, shareRow(x))
	}
	if shown < content {
		s.table.rows = append(s.table.rows, folded(shares[shown:content]))
	}
	for _, x := range shares[content:] {
		s.table.rows = append(s.table.rows, shareRow(x))
		if x.Kind == "unlogged" {
			s.table.rows = append(s.table.rows, unloggedRows(a)...)
		}
	}
	s.after = []string{"*Framing* is what messages and calls cost beside their text. *Unlogged* is recorded input that neither the logged items nor framing explain: mostly the system prompt and tool definitions."}
	s.after = append(s.after, unloggedProse(a)...)
	s.after = append(s.after, "Basis: **measured** is reported by the provider; **counted** is counted by fclog with the model's own tokenizer; **calibrated** is counted and scaled to the provider's tokens, by what requests reported or else by a usual factor of the model; **estimated** rests on an assumption.")
	if slices.ContainsFunc(a.Composition, func(x analyze.Share) bool { return x.Kind == "unlogged" && x.Share != nil && *x.Share < -negligible }) {
		s.after = append(s.after, "Unlogged is **negative** here: the log holds more content than the recorded input has room for, so the shares above it add up to more than 100 %.")
	}
	return s
}

// negligible is the negative share of unlogged input that rounding and the error
// of a calibration explain.
const negligible = 0.01

// unit says whose tokens the carried figures are.
func unit(a *analyze.Audit) string {
	for _, x := range a.Composition {
		if x.BilledTokens != nil {
			return "in the provider's tokens"
		}
	}
	return "as fclog counts it, because no request logs its input"
}

// rest is 1 for the rows that are no logged content, which come last.
func rest(x analyze.Share) int {
	if x.Kind == "framing" || x.Kind == "unlogged" {
		return 1
	}
	return 0
}

// carried is the figure to rank by.
func carried(x analyze.Share) int64 { return provider(x.CarriedTokens, x.BilledTokens) }

// provider is a count in the provider's tokens where those are known, so that it
// agrees with its share of the input.
func provider(raw int64, billed *float64) int64 {
	if billed == nil {
		return raw
	}
	return int64(math.Round(*billed))
}

func shareRow(x analyze.Share) row {
	items, once := number(x.Items), number(x.Tokens)
	if rest(x) == 1 {
		items, once = cell{}, cell{}
	}
	return row{cells: []cell{
		kind(x.Kind, x.Tool), items, once, number(carried(x)), share(x.Share), bar(x.Share), basis(x.Basis),
	}}
}

func folded(list []analyze.Share) row {
	sum := analyze.Share{}
	total, known := 0.0, true
	for _, x := range list {
		sum.Items += x.Items
		sum.Tokens += x.Tokens
		sum.CarriedTokens += carried(x)
		if x.Share == nil {
			known = false
			continue
		}
		total += *x.Share
	}
	if known {
		sum.Share = &total
	}
	r := shareRow(sum)
	r.cells[0] = plain("… " + term.Count(int64(len(list)), "more kind", "more kinds"))
	r.cells[6] = basis(list[0].Basis)
	r.faint = true
	return r
}

// savings is how much each technique could touch at most.
func savings(a *analyze.Audit) *section {
	s := &section{title: "Size of each saving", prose: []string{
		"Upper bounds: what a technique could **touch**, not what it would save. They overlap, so never add them up. `fclog replay` says what a change would really save."}}
	if len(a.Savings) == 0 {
		s.prose = []string{"Nothing that the known techniques could touch was found."}
		return s
	}
	s.table = &table{noteHead: "what is counted", columns: []column{
		{title: "technique", flex: true, min: 16}, {title: "once", number: true}, {title: "carried", number: true}, {title: "share", number: true},
		{bar: true, min: 6, optional: 3}, {title: "requests", number: true, optional: 2}, {title: "label"},
	}}
	var untouched []string
	list := slices.Clone(a.Savings)
	slices.SortStableFunc(list, func(x, y analyze.Saving) int { return cmp.Compare(value(y.Share), value(x.Share)) })
	for _, x := range list {
		if nothing(x) {
			untouched = append(untouched, technique(x))
			continue
		}
		s.table.rows = append(s.table.rows, row{notes: savingNotes(x), cells: []cell{
			plain(technique(x)), optional(x.AddressableTokens), optional(x.AddressableCarriedTokens), share(x.Share),
			bar(x.Share), optional(x.AddressableRequests), basis(x.Basis),
		}})
	}
	if len(untouched) > 0 {
		s.after = []string{"Nothing to touch: " + strings.Join(untouched, ", ") + "."}
	}
	return s
}

func savingNotes(x analyze.Saving) []string {
	var notes []string
	if x.Note != "" {
		notes = append(notes, x.Note)
	}
	if x.Published != nil {
		notes = append(notes, "published: "+*x.Published)
	}
	return notes
}

// nothing tells a technique that has nothing to touch, which is known and not
// just missing.
func nothing(x analyze.Saving) bool {
	return x.AddressableCarriedTokens != nil && *x.AddressableCarriedTokens == 0
}

// technique is its name in words; hyphens inside words stay.
func technique(x analyze.Saving) string {
	switch x.Technique {
	case "repeats-and-re-reads":
		return "repeats and re-reads"
	case "line-number-prefixes":
		return "line-number prefixes"
	}
	return words(x.Technique)
}

// value is v for sorting: unknown comes last.
func value(v *float64) float64 {
	if v == nil {
		return -1
	}
	return *v
}

func cacheBreaks(a *analyze.Audit) *section {
	s := &section{title: "Cache breaks"}
	if a.Totals.CacheReadTokens == nil {
		s.prose = []string{"Unknown: cache figures are not logged."}
		return s
	}
	if len(a.CacheBreaks) == 0 {
		s.prose = []string{"None: every request read back what the one before it had sent."}
		return s
	}
	s.prose = []string{"Requests that read less from the prompt cache than the request before them had sent. **Lost** is the difference: what was sent of it again was paid for at the full or the write price."}
	s.table = &table{noteHead: "meaning", columns: []column{
		{title: "cause", flex: true, min: 20}, {title: "requests", number: true}, {title: "lost", number: true},
		{title: "of input", number: true}, {bar: true, min: 8, optional: 2}, {title: "basis", optional: 1},
	}}
	for _, x := range a.CacheBreaks {
		s.table.rows = append(s.table.rows, row{notes: meaning(x.Cause), cells: []cell{
			plain(words(x.Cause)), number(x.Requests), number(x.LostTokens), share(x.ShareOfInput), bar(x.ShareOfInput), basis(x.Basis),
		}})
	}
	return s
}

// meaning says in a few words what a cause of cache breaks is.
func meaning(cause string) []string {
	switch cause {
	case "compaction":
		return []string{"the conversation was summarised or mostly dropped"}
	case "model-changed":
		return []string{"another model answered: each has a cache of its own"}
	case "lifetime":
		return []string{"the cache had expired: 5 minutes, or an hour where that was paid for, without a request"}
	case "run-border":
		return []string{"the first request of a run, without another cause in sight"}
	case "block-before-conversation":
		return []string{"something in front of the conversation changed, such as reminders or the to-do list"}
	case "content-changed":
		return []string{"a part of the conversation was pruned, cleared or rewritten"}
	case "unknown":
		return []string{"nothing logged explains it"}
	}
	return nil
}

// growth is the input of every request of the largest session's main chain.
func growth(a *analyze.Audit) *section {
	if len(a.Growth) < 2 {
		return nil
	}
	c := &chart{first: a.Growth[0].Request}
	for _, p := range a.Growth {
		// Requests without usage are not in the list; they leave a gap.
		for c.first+int64(len(c.values)) < p.Request {
			c.values, c.marks = append(c.values, nil), append(c.marks, nil)
		}
		c.values = append(c.values, p.InputTokens)
		c.marks = append(c.marks, p.Events)
	}
	title := "Growth"
	if len(a.Sessions) > 1 {
		title = "Growth of the largest session"
	}
	return &section{title: title, prose: []string{"Input tokens of each request of the main conversation · measured."}, chart: c}
}

func otherBilled(a *analyze.Audit) *section {
	if len(a.OtherBilled) == 0 {
		return nil
	}
	s := &section{title: "Billed outside these totals", prose: []string{"Calls whose content is not logged. They are in no figure above."},
		table: &table{columns: []column{
			{title: "what", flex: true, min: 16}, {title: "calls", number: true}, {title: "input", number: true},
			{title: "output", number: true}, {title: "basis"},
		}}}
	for _, x := range a.OtherBilled {
		b := basis(analyze.Measured)
		switch {
		case x.InputTokens == nil && x.OutputTokens == nil:
			b = plain(term.Unknown)
		case x.Estimate:
			b = basis(analyze.Estimated)
		}
		s.table.rows = append(s.table.rows, row{cells: []cell{
			logged(words(x.Kind)), number(x.Calls), optional(x.InputTokens), optional(x.OutputTokens), b,
		}})
	}
	return s
}

// factor is a calibration with its spread: 1.08 (1.02–1.15).
func factor(c analyze.Counting) string {
	if c.Factor == nil {
		return term.Unknown
	}
	s := fmt.Sprintf("%.3f", *c.Factor)
	if c.FactorLow != nil && c.FactorHigh != nil && *c.FactorLow != *c.FactorHigh {
		if *c.FactorLow <= 0 { // too few requests to tell
			return s + " (unsure)"
		}
		s += fmt.Sprintf(" (%.2f–%.2f)", *c.FactorLow, *c.FactorHigh)
	}
	return s
}
