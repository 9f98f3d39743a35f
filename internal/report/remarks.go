package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// counting says how tokens were counted and how far that can be trusted.
func counting(a *analyze.Audit, o Options) *section {
	if len(a.Counting) == 0 {
		return nil
	}
	list := slices.Clone(a.Counting)
	slices.SortStableFunc(list, func(x, y analyze.Counting) int { return cmp.Compare(value(x.Explained), value(y.Explained)) })
	t := &table{noteHead: "remark", columns: []column{
		{title: "model", flex: true, min: 10}, {title: "session", flex: true, min: 8, optional: 2}, {title: "tokenizer"},
		{title: "factor", number: true}, {title: "per message", number: true, optional: 1}, {title: "explained", number: true},
	}}
	for i, c := range list {
		if i == o.top() {
			t.rows = append(t.rows, more(len(list)-i, "sessions", len(t.columns)))
			break
		}
		t.rows = append(t.rows, countingRow(c))
	}
	prose := "**Explained** is how much of the recorded growth from request to request the logged items account for, scored on requests the calibration was not fitted on."
	if median := medianExplained(list); median != nil && len(list) > 1 {
		prose += fmt.Sprintf(" Median %s, lowest first:", term.Percent(*median))
	}
	return &section{title: "How tokens were counted", prose: []string{prose}, table: t}
}

func countingRow(c analyze.Counting) row {
	perMessage := term.Unknown
	if c.FramingPerMessage != nil {
		perMessage = fmt.Sprintf("%.1f", *c.FramingPerMessage)
	}
	return row{notes: countingNotes(c), cells: []cell{
		logged(deref(c.Model)), logged(c.SessionID), plain(c.Encoding), plain(factor(c)), plain(perMessage), share(c.Explained),
	}}
}

func countingNotes(c analyze.Counting) []string {
	var parts []string
	if !c.PublicEncoding {
		parts = append(parts, "stand-in: the model's own tokenizer is not public")
	}
	if c.Pairs > 0 {
		parts = append(parts, "scored on "+term.Count(c.Pairs, "pair", "pairs"))
	}
	if c.LeftOut > 0 {
		parts = append(parts, term.Exact(c.LeftOut)+" left out (compaction, clearing, early snapshots)")
	}
	if c.Cause != nil && *c.Cause != "" {
		parts = append(parts, *c.Cause)
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, " · ")}
}

func medianExplained(list []analyze.Counting) *float64 {
	var known []float64
	for _, c := range list {
		if c.Explained != nil {
			known = append(known, *c.Explained)
		}
	}
	if len(known) == 0 {
		return nil
	}
	slices.Sort(known)
	n := len(known)
	median := (known[(n-1)/2] + known[n/2]) / 2
	return &median
}

func missing(a *analyze.Audit) *section {
	if len(a.Missing) == 0 {
		return nil
	}
	parts := make([]string, len(a.Missing))
	for i, m := range a.Missing {
		parts[i] = m.What
		if m.Sessions < a.Totals.Sessions {
			parts[i] += fmt.Sprintf(" (%s)", term.Count(m.Sessions, "session", "sessions"))
		}
	}
	return &section{title: "What the log does not hold", lines: []text{fromLog(strings.Join(parts, ", "))}}
}

func problems(a *analyze.Audit, o Options) *section {
	s := &section{title: "Problems found while reading"}
	if len(a.Problems) == 0 {
		s.prose = []string{"None."}
		return s
	}
	s.table = &table{columns: []column{
		{title: "where", flex: true, min: 16}, {title: "kind", optional: 1}, {title: "times", number: true}, {title: "what", wrap: true, min: 28},
	}}
	list := fold(a.Problems)
	for i, p := range list {
		if i == 2*o.top() {
			s.table.rows = append(s.table.rows, more(len(list)-i, "problems", len(s.table.columns)))
			break
		}
		s.table.rows = append(s.table.rows, row{cells: []cell{
			logged(place(p)), plain(p.Kind), number(max(p.Count, 1)), plain(term.Safe(p.Detail)),
		}})
	}
	return s
}

// fold joins problems that differ in nothing but their line.
func fold(list []analyze.Problem) []analyze.Problem {
	var out []analyze.Problem
	at := map[analyze.Problem]int{}
	for _, p := range list {
		key := analyze.Problem{File: p.File, Kind: p.Kind, Detail: p.Detail}
		if i, ok := at[key]; ok {
			out[i].Count += max(p.Count, 1)
			continue
		}
		at[key] = len(out)
		p.Count = max(p.Count, 1)
		out = append(out, p)
	}
	return out
}

func place(p analyze.Problem) string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}
