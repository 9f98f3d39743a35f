package report

import (
	"fmt"
	"io"
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
