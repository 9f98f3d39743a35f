package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// maxNames is how many agents or models the subtitle names.
const maxNames = 3

func subtitle(a *analyze.Audit) []text {
	var agents, models []string
	versions := map[string][]string{}
	for _, s := range a.Sessions {
		versions[s.Source] = addNew(versions[s.Source], deref(s.AgentVersion))
		agents = addNew(agents, s.Source)
		for _, m := range s.Models {
			models = addNew(models, m)
		}
	}
	for i, agent := range agents {
		switch v := versions[agent]; len(v) {
		case 0:
		case 1:
			agents[i] += " " + v[0]
		default:
			agents[i] += fmt.Sprintf(" (%d versions)", len(v))
		}
	}
	parts := []text{fromLog(someOf(agents, "agent", "agents")), fromLog(someOf(models, "model", "models"))}
	return slices.DeleteFunc(parts, func(t text) bool { return t.s == "" })
}

func addNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func someOf(names []string, one, many string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxNames], ", ") + " and " + term.Count(int64(len(names)-maxNames), "more "+one, "more "+many)
}

// head is the totals: what was sent, cached or not, and what came back.
func head(a *analyze.Audit, o Options) *section {
	t := a.Totals
	rows := []row{
		total("input", t.InputTokens, t.InputTokens, measured(t.InputTokens, "everything sent", lacking(t, t.RequestsWithoutUsage), wholeSessions(t))),
		total("  uncached", t.UncachedInputTokens, t.InputTokens, partial(t.UncachedInputTokens, t, "")),
		total("  cache read", t.CacheReadTokens, t.InputTokens, partial(t.CacheReadTokens, t, unknownIn(a, cacheRead))),
		total("  cache write", t.CacheWriteTokens, t.InputTokens, partial(t.CacheWriteTokens, t, unknownIn(a, cacheWrite))),
		total("output", t.OutputTokens, nil, outputNote(t)),
		{cells: []cell{plain("cost"), plain(term.Opt(t.CostUSD, term.USD)), {}, {}}, notes: []string{costNote(a)}},
		total("peak context", t.PeakInputTokens, nil, measured(t.PeakInputTokens, "largest request")),
	}
	return &section{
		prose: scope(a, o),
		table: &table{
			columns:  []column{{title: ""}, {title: "tokens", number: true}, {title: "share", number: true}, {bar: true, min: 10, optional: 1}},
			rows:     rows,
			noteHead: " ",
			inline:   true,
		},
	}
}

func total(name string, n, whole *int64, note string) row {
	part := ratio(n, whole)
	percent := cell{}
	if part != nil {
		percent = share(part)
	}
	r := row{cells: []cell{plain(name), plain(term.Opt(n, term.Exact)), percent, bar(part)}}
	if note != "" {
		r.notes = []string{note}
	}
	return r
}

func cacheRead(t analyze.Totals) *int64  { return t.CacheReadTokens }
func cacheWrite(t analyze.Totals) *int64 { return t.CacheWriteTokens }

// measured ends a note by where its figure is from, if there is a figure.
func measured(figure *int64, parts ...string) string {
	if figure == nil {
		return "not logged"
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(append(parts, "measured"), " · ")
}

// partial marks a part of the input that is not known of everything: of the
// sessions as the note says, or of the responses that the input's own row counts.
func partial(sum *int64, t analyze.Totals, sessions string) string {
	switch {
	case sum == nil:
		return ""
	case sessions == "" && t.RequestsWithoutUsage > 0:
		return "partial"
	}
	return sessions
}

// wholeSessions says how much of a sum is known by session only.
func wholeSessions(t analyze.Totals) string {
	const whole = "reported for the session as a whole, no input per request"
	switch t.ReportedSessions {
	case 0:
		return ""
	case t.Sessions:
		return whole
	}
	return fmt.Sprintf("in %d of %s %s", t.ReportedSessions, term.Count(t.Sessions, "session", "sessions"), whole)
}

// lacking says how many responses a sum leaves out.
func lacking(t analyze.Totals, unknown int64) string {
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf("partial: unknown for %s of %s", term.Exact(unknown), term.Count(t.AnsweredRequests, "response", "responses"))
}

// unknownIn says in how many of the sessions with usage a part of it is unknown.
func unknownIn(a *analyze.Audit, part func(analyze.Totals) *int64) string {
	unknown, known := int64(0), int64(0)
	for _, s := range a.Sessions {
		switch {
		case s.Own.InputTokens == nil:
		case part(s.Own) == nil:
			unknown++
		default:
			known++
		}
	}
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf("partial: unknown in %d of %s", unknown, term.Count(unknown+known, "session", "sessions"))
}

// scope says how much was looked at, and what was not.
func scope(a *analyze.Audit, o Options) []string {
	t := a.Totals
	s := fmt.Sprintf("**%s**, %s in %s", term.Count(t.Sessions, "session", "sessions"),
		term.Count(t.Requests, "request", "requests"), term.Count(t.Runs, "run", "runs"))
	if t.AnsweredRequests != t.Requests {
		s += fmt.Sprintf(" (%s answered)", term.Exact(t.AnsweredRequests))
	}
	s += ", " + term.Count(t.Calls, "tool call", "tool calls")
	if when := period(a, o.location()); when != "" {
		s += ", " + when
	}
	out := []string{s + "."}
	if n := a.LeftOut.SubAgentSessions; n > 0 {
		log, them := "logs were", "them"
		if n == 1 {
			log, them = "log was", "it"
		}
		out = append(out, fmt.Sprintf("Left out: **%s**, whose %s not among those read. Name the folder that holds %s to include the cost.",
			term.Count(n, "sub-agent session", "sub-agent sessions"), log, them))
	}
	if n := a.LeftOut.Deselected; n > 0 {
		out = append(out, fmt.Sprintf("Deselected: **%s** of the sessions shown, which the conditions leave out.",
			term.Count(n, "sub-agent session", "sub-agent sessions")))
	}
	return append(out, countedOnce(a.Copies)...)
}

func period(a *analyze.Audit, loc *time.Location) string {
	var from, to time.Time
	for _, s := range a.Sessions {
		if s.StartedAt != nil && (from.IsZero() || s.StartedAt.Before(from)) {
			from = *s.StartedAt
		}
		if s.EndedAt != nil && s.EndedAt.After(to) {
			to = *s.EndedAt
		}
	}
	switch {
	case from.IsZero():
		return ""
	case to.IsZero():
		return from.In(loc).Format("2006-01-02 15:04 MST")
	}
	from, to = from.In(loc), to.In(loc)
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return from.Format("2006-01-02 15:04") + to.Format("–15:04 MST")
	}
	return from.Format("2006-01-02 15:04") + to.Format(" – 2006-01-02 15:04 MST")
}

func outputNote(t analyze.Totals) string {
	var parts []string
	if t.ReasoningTokens != nil {
		parts = append(parts, term.Exact(*t.ReasoningTokens)+" reasoning")
	}
	if n := t.NonFinalOutputs; n > 0 {
		parts = append(parts, fmt.Sprintf("too low: %s logged an early snapshot%s", term.Count(n, "response", "responses"), beyond(t.UnreportedOutputTokens)))
	}
	parts = append(parts, lacking(t, t.RequestsWithoutOutput))
	return measured(t.OutputTokens, parts...)
}

// beyond tells what was said after snapshots of outputs were taken.
func beyond(tokens *int64) string {
	if tokens == nil || *tokens == 0 {
		return ""
	}
	return fmt.Sprintf(" (about %s missing, estimated)", term.Short(*tokens))
}

func agentOf(s analyze.SessionSummary) string {
	if s.Agent != nil {
		return *s.Agent
	}
	return s.Source
}

func sign(n int64) int64 {
	return max(-1, min(1, n))
}
