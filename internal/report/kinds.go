package report

import (
	"fmt"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// requestKinds are the kinds of requests as a reader would say them.
var requestKinds = map[string]string{
	"turn":       "main agent",
	"sub-agent":  "sub-agents",
	"compaction": "compactions",
	"title":      "titles and summaries",
	"helper":     "other side calls",
	"warm-up":    "cache warm-ups",
}

// kinds says what requests were made for, when not all were a main agent's own.
func kinds(a *analyze.Audit) *section {
	if len(a.Kinds) < 2 && (len(a.Kinds) == 0 || a.Kinds[0].Kind == "turn") {
		return nil
	}
	t := &table{columns: []column{
		{title: "made for", flex: true, min: 16}, {title: "requests", number: true}, {title: "input", number: true},
		{title: "share", number: true}, {title: "cache read", number: true, optional: 2}, {title: "output", number: true, optional: 1},
		{title: "cost", number: true},
	}}
	for _, k := range a.Kinds {
		name, known := requestKinds[k.Kind]
		if !known {
			name = words(k.Kind)
		}
		t.rows = append(t.rows, row{cells: []cell{
			plain(name), number(k.Requests), optional(k.InputTokens), share(ratio(k.InputTokens, a.Totals.InputTokens)),
			optional(k.CacheReadTokens), optional(k.OutputTokens), plain(term.Opt(k.CostUSD, term.USD)),
		}})
	}
	prose := "What the requests were made for · measured, cost estimated."
	if a.Totals.ReportedSessions > 0 {
		prose += " Usage reported for sessions as a whole is in no row."
	}
	return &section{title: "Requests by kind", prose: []string{prose}, table: t}
}

// countedOnce says what was read twice and where it counts.
func countedOnce(copies []analyze.Copy) []string {
	var history, captured, silent, converted, trajectories int64
	for _, c := range copies {
		switch {
		case c.Basis == "session":
			trajectories += c.Sessions
		case c.Source == c.OwnerSource:
			history += c.Requests
		case c.OwnerSource == "api-log":
			silent += c.Requests
		case c.Source == "atif":
			converted += c.Requests
		default:
			captured += c.Requests
		}
	}
	var out []string
	say := func(n int64, one, many, rest string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("Counted once: **%s** %s.", term.Count(n, one, many), rest))
		}
	}
	say(captured, "request", "requests", "of captured bodies, already counted from the agent's own log")
	say(silent, "request", "requests", "whose usage the agent's log lacks, counted from captured bodies")
	say(converted, "request", "requests", "of trajectories, already counted from the agent's own log")
	say(trajectories, "trajectory", "trajectories", "left out, made of a log that was read")
	say(history, "request", "requests", "of copied history, counted in the session they come from")
	return out
}
