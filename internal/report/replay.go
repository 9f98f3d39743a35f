package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/fleet"
)

// Replay is what a replay found out and what belongs beside it.
type Replay struct {
	Report   *replay.Report
	Variants []ReplayVariant // parallel to Report.Variants
	LeftOut  int64           // sub-agent sessions that are known but not among those read
	Fleet    *fleet.Report   // nil: a handful of sessions, replayed together
}

// ReplayVariant is what the engine does not know of a variant.
type ReplayVariant struct {
	Title   string        // what it changes, in fclog's or its author's words
	Need    *compare.Need // what a live A/B takes; nil unknown
	Line    *compare.Line // the command that runs it; nil: the agent has none
	Changes []TextChange  // largest first; empty unless asked for
}

// TextChange is one text before and after.
type TextChange struct {
	SessionID string
	Item      int // -1 added text
	Span      int
	Chain     int
	From      int // first request with the new text
	Last      int
	CallID    string
	Tool      string
	What      string // path, command or arguments of the call
	Why       string
	Lossy     bool
	Dropped   bool // nothing is sent instead
	Added     bool // there was nothing before
	Before    string
	After     string
}

// ReplayOptions say how a replay is laid out.
type ReplayOptions struct {
	Options
	Details bool // Top contributions of each variant instead of a few
	Diff    bool // the Top largest changes of text
	Lines   int  // of each of them
}

// fewContributions is how many contributions are listed without ReplayOptions.Details.
const fewContributions = 3

// wideReplay is where a table of variants has room for all its columns.
const wideReplay = maxWidth

// variantJSON is an estimate with what belongs beside it.
type variantJSON struct {
	replay.Estimate
	Trials *compare.Need `json:"trials"`     // how trials_needed came about
	Line   *compare.Line `json:"ab_command"` // null: the agent has none
}

// ReplayJSON writes a replay with its stable keys, on one line or indented.
func ReplayJSON(w io.Writer, r *Replay, indent bool) error {
	out := struct {
		SchemaVersion int                 `json:"schema_version"`
		Sessions      []replay.SessionRef `json:"sessions"`
		Baseline      replay.Totals       `json:"baseline"`
		Variants      []variantJSON       `json:"variants"`
		CacheModel    replay.CacheError   `json:"cache_model"`
		LeftOut       int64               `json:"left_out_sub_agent_sessions"`
		Warnings      []string            `json:"warnings"`
		Fleet         *fleet.Report       `json:"fleet,omitempty"` // more than a handful of sessions
	}{r.Report.SchemaVersion, r.Report.Sessions, r.Report.Baseline, []variantJSON{}, r.Report.CacheModel, r.LeftOut, r.Report.Warnings, r.Fleet}
	for i, e := range r.Report.Variants {
		out.Variants = append(out.Variants, variantJSON{e, r.Variants[i].Need, r.Variants[i].Line})
	}
	return WriteJSON(w, out, indent)
}

// ReplayTerminal writes a replay for a terminal of Options.Width columns.
func ReplayTerminal(w io.Writer, r *Replay, o ReplayOptions) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(replayDocument(r, o, o.Width >= wideReplay)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	if o.Diff {
		t.changes(r, o)
	}
	return t.flush(w, o.Options)
}

// flush writes what was laid out.
func (t *terminal) flush(w io.Writer, o Options) error {
	out := t.out.String()
	if !o.UTF8 {
		out = term.ASCII(out)
	}
	_, err := io.WriteString(w, out)
	return err
}

// ReplayMarkdown writes a replay as plain Markdown with GitHub tables.
func ReplayMarkdown(w io.Writer, r *Replay, o ReplayOptions) error {
	out := markdownDocument(replayDocument(r, o, true))
	if o.Diff {
		out += markdownChanges(r, o)
	}
	_, err := io.WriteString(w, out)
	return err
}

func replayDocument(r *Replay, o ReplayOptions, wide bool) document {
	d := document{title: "fclog replay", subtitle: replaySubtitle(r.Report)}
	if len(r.Report.Sessions) == 1 {
		d.file = fromLog(r.Report.Sessions[0].File)
	}
	d.sections = append(d.sections, replayHead(r), replayTable(r, wide))
	d.sections = append(d.sections, fleetSections(r, o)...)
	for i := range r.Report.Variants {
		if s := replaySection(r, i, o); s != nil {
			d.sections = append(d.sections, *s)
		}
	}
	if s := sourceSection(r.Report.Variants); s != nil {
		d.sections = append(d.sections, *s)
	}
	if r.Fleet == nil {
		d.sections = append(d.sections, cacheSection(r.Report))
	}
	if s := warningSection(r.Report.Warnings); s != nil {
		d.sections = append(d.sections, *s)
	}
	return d
}

func replaySubtitle(r *replay.Report) []text {
	var agents []string
	for _, s := range r.Sessions {
		agents = addNew(agents, s.Source)
	}
	return []text{fromLog(someOf(agents, "agent", "agents"))}
}

// replayHead is the baseline: what was recorded.
func replayHead(r *Replay) section {
	b := r.Report.Baseline
	parts := []string{fmt.Sprintf("Recorded: **%s**, %s", term.Count(int64(len(r.Report.Sessions)), "session", "sessions"), term.Count(b.Requests, "request", "requests"))}
	if b.InputTokens == nil {
		parts = append(parts, fmt.Sprintf("no usage; %s counted", shortTokens(b.CountedTokens)))
		return section{prose: []string{strings.Join(parts, ", ") + ".", replayVerdict(r)}}
	}
	input := fmt.Sprintf("**%s input tokens**", term.Short(*b.InputTokens))
	if read := ratio(b.CacheReadTokens, b.InputTokens); read != nil {
		input += fmt.Sprintf(" (%s from the cache)", term.Percent(*read))
	}
	parts = append(parts, input, fmt.Sprintf("%s output tokens", term.Opt(b.OutputTokens, term.Short)))
	switch {
	case b.CostUSD == nil:
		parts = append(parts, "cost unknown")
	case b.CostPartial:
		parts = append(parts, fmt.Sprintf("**%s** for the requests with a known price", term.USD(*b.CostUSD)))
	default:
		parts = append(parts, fmt.Sprintf("**%s**", term.USD(*b.CostUSD)))
	}
	s := section{prose: []string{strings.Join(parts, ", ") + "."}}
	if r.LeftOut > 0 {
		s.prose = append(s.prose, fmt.Sprintf("Left out: **%s**; name the folder that holds their logs to include them.", term.Count(r.LeftOut, "sub-agent session", "sub-agent sessions")))
	}
	s.prose = append(s.prose, replayVerdict(r))
	return s
}

// staticOnly must stand beside every static figure.
const staticOnly = "**Saved** is the static part: what the recorded requests would have cost less had the model behaved exactly as recorded. It is not the expected result of an A/B, which also moves the number of requests."

// replayTable sets the variants side by side. Where it is narrow, what has no column
// stands below its row.
func replayTable(r *Replay, wide bool) section {
	t := &table{columns: []column{
		{title: "variant", flex: true, min: 18}, {title: "saved", number: true}, {title: "share", number: true}, {title: "USD saved", number: true},
		{title: "removed", number: true},
	}}
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
	s := "**Share** is of the recorded input, at the low end of a range. **Removed** is requests taken out, a range where the log does not settle it. **Detours** is how many requests the model might add to get back what was cut; the saving is gone at **break-even**, in tokens / in USD; **none**: it already costs more."
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
	cells := []cell{logged(e.Variant), plain(tokens), share(e.StaticSavingShare), plain(usd), plain(removedOf(e))}
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

// sourceSection says where the base rates of detours come from.
func sourceSection(list []replay.Estimate) *section {
	var sources []string
	for _, e := range list {
		if e.Detours != nil {
			sources = addNew(sources, e.Detours.Evidence.Source)
		}
	}
	if len(sources) == 0 {
		return nil
	}
	s := &section{title: "Where base rates of detours come from"}
	for _, source := range sources {
		s.lines = append(s.lines, fromLog(capital(source)+"."))
	}
	return s
}

// capital begins a sentence.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
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

// cacheSection says how far the cache model is off on what was recorded.
func cacheSection(r *replay.Report) section {
	c, s := r.CacheModel, section{title: "How good the cache model is"}
	if c.Requests == 0 || c.MedianTokens == nil || c.WithinPercent == nil {
		if read := r.Baseline.CacheReadTokens; read != nil && *read == 0 {
			s.prose = []string{"By their cache figures the requests here read nothing from a cache, and wrote nothing to one: USD are those of a session without a prompt cache, and there is nothing to predict."}
			return s
		}
		s.prose = []string{"No request here has cache figures: USD are those of a session without a prompt cache."}
		if r.Baseline.CostUSD == nil {
			s.prose = []string{"No request here has cache figures, and no cost is known."}
		}
		return s
	}
	p := fmt.Sprintf("On the %s with cache figures the predicted cache read is off by %s in the median, and within 2 %% of the input for %s of them.",
		term.Count(c.Requests, "recorded request", "recorded requests"), shortTokens(int64(*c.MedianTokens)), term.Percent(*c.WithinPercent))
	if c.Residual != nil {
		p += fmt.Sprintf(" What it does not explain, %s in sum, is carried unchanged into every variant: a request reads what is predicted there plus its own difference, at least nothing and at most its input.", shortTokens(*c.Residual))
	}
	if c.MissedMoved > 0 && c.MissedTokens != nil {
		p += fmt.Sprintf(" Of the %s off by more, %s where the part of the payload that the log does not hold had just changed (reminders, lists, injected context): %s of the difference.",
			term.Count(c.Missed, "request", "requests"), term.Count(c.MissedMoved, "is one", "are ones"), shortTokens(*c.MissedTokens))
	}
	if c.Moving != nil {
		p += fmt.Sprintf(" Of FreeCode's builds until August 2026 it is known that such parts stand before the conversation: where they change by %s or more, or the to-do list is written anew, the prefix is taken to end there.", term.Count(c.Moving.Moves, "token", "tokens"))
	}
	s.prose = []string{p}
	for _, f := range c.Families {
		line := fmt.Sprintf("%s: entries live %s, at least %s tokens, blocks of %s", f.Name, lifetime(f.LifetimeS), term.Exact(f.Minimum), term.Exact(f.Block))
		if f.LongS > 0 {
			line += fmt.Sprintf("; %s where the session writes such", lifetime(f.LongS))
		}
		if f.Fitted > 0 {
			line += fmt.Sprintf("; fitted on %s of other sessions", term.Count(f.Fitted, "request", "requests"))
		}
		s.lines = append(s.lines, fromLog(line+"."))
	}
	return s
}

func lifetime(seconds int64) string {
	switch {
	case seconds%3600 == 0:
		return term.Count(seconds/3600, "hour", "hours")
	case seconds%60 == 0:
		return term.Count(seconds/60, "minute", "minutes")
	}
	return term.Count(seconds, "second", "seconds")
}

func warningSection(warnings []string) *section {
	if len(warnings) == 0 {
		return nil
	}
	s := &section{title: "Mind this"}
	for _, w := range warnings {
		s.lines = append(s.lines, fromLog("! "+w))
	}
	return s
}
