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
	slices.SortStableFunc(list, func(x, y analyze.Counting) int {
		return cmp.Or(cmp.Compare(unscored(x), unscored(y)), cmp.Compare(value(x.Explained), value(y.Explained)))
	})
	scored := slices.IndexFunc(list, func(c analyze.Counting) bool { return unscored(c) == 1 })
	if scored < 0 {
		scored = len(list)
	}
	return &section{title: "How tokens were counted", prose: countingProse(list, scored), table: countingTable(list, scored, o)}
}

func unscored(c analyze.Counting) int {
	if c.Explained == nil {
		return 1
	}
	return 0
}

func countingProse(list []analyze.Counting, scored int) []string {
	s := "**Explained** is how much of the recorded growth from request to request the logged items account for, scored on pairs of requests the calibration was not fitted on; pairs across a compaction or clearing, or with an early snapshot of the output, are left out."
	if scored > 1 {
		s += fmt.Sprintf(" Median %s, lowest first.", term.Percent(*medianExplained(list)))
	}
	if slices.ContainsFunc(list, func(c analyze.Counting) bool { return !c.PublicEncoding }) {
		s += " Where the model's own tokenizer is not public, o200k_base stands in and **factor** scales its counts."
	}
	return []string{s}
}

// countingTable lists what could be scored; where nothing could, it lists all.
func countingTable(list []analyze.Counting, scored int, o Options) *table {
	t := &table{columns: []column{
		{title: "model", flex: true, min: 10}, {title: "session", flex: true, min: 13, optional: sessionColumn(list)}, {title: "tokenizer", optional: 2},
		{title: "factor", number: true}, {title: "per message", number: true, optional: 3}, {title: "explained", number: true},
		{title: "pairs", number: true}, {title: "left out", number: true, optional: 1},
	}}
	shown := scored
	if shown == 0 {
		shown = len(list)
	}
	for i, c := range list[:shown] {
		if i == o.top() {
			t.more = more(shown-i, "session", "sessions")
			break
		}
		r := countingRow(c)
		if len(r.notes) > 0 {
			t.noteHead = "remark"
		}
		t.rows = append(t.rows, r)
	}
	if short := len(list) - shown; short > 0 {
		t.more = strings.TrimPrefix(t.more+"; "+term.Count(int64(short), "session", "sessions")+" too short to score", "; ")
	}
	return t
}

// sessionColumn is when the column of sessions gives way: never where rows differ in
// nothing else.
func sessionColumn(list []analyze.Counting) int {
	seen := map[string]bool{}
	for _, c := range list {
		if seen[deref(c.Model)] {
			return 0
		}
		seen[deref(c.Model)] = true
	}
	return 4
}

func countingRow(c analyze.Counting) row {
	perMessage := term.Unknown
	if c.FramingPerMessage != nil {
		perMessage = fmt.Sprintf("%.1f", *c.FramingPerMessage)
	}
	model := plain(term.Unknown)
	if c.Model != nil && *c.Model != "" {
		model = logged(*c.Model)
	}
	r := row{cells: []cell{
		model, logged(c.SessionID), plain(c.Encoding), plain(factor(c)), plain(perMessage), share(c.Explained),
		number(c.Pairs), number(c.LeftOut),
	}}
	if c.Cause != nil && *c.Cause != "" {
		r.notes = []string{*c.Cause}
	}
	return r
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
	title := "What the log does not hold"
	if len(a.Sessions) > 1 {
		title = "What the logs do not hold"
	}
	return &section{title: title, lines: []text{fromLog(strings.Join(parts, ", "))}}
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
	folder := commonFolder(a)
	for i, p := range list {
		if i == 2*o.top() {
			s.table.more = more(len(list)-i, "problem", "problems")
			break
		}
		where := logged(place(p.Problem, folder))
		if where.s == "" {
			where = plain("several places")
		}
		what := term.Safe(p.Detail)
		if n := len(p.files); n > 1 {
			what = strings.TrimSuffix(what, ".") + fmt.Sprintf("; in %s files, the first is named", term.Exact(int64(n)))
		}
		s.table.rows = append(s.table.rows, row{cells: []cell{where, plain(p.Kind), number(p.Count), plain(what)}})
	}
	return s
}

// sameProblem is problems of one kind and detail; the first says where.
type sameProblem struct {
	analyze.Problem
	files map[string]bool
}

// fold joins problems that differ in nothing but their file and line.
func fold(list []analyze.Problem) []sameProblem {
	var out []sameProblem
	at := map[[2]string]int{}
	for _, p := range list {
		p.Count = max(p.Count, 1)
		key := [2]string{p.Kind, p.Detail}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, sameProblem{p, map[string]bool{}})
		} else {
			out[i].Count += p.Count
		}
		out[i].files[p.File] = true
	}
	return out
}

// commonFolder is the beginning that the paths of all sessions and problems
// share, up to a separator: what is left tells them apart.
func commonFolder(a *analyze.Audit) string {
	var paths []string
	for _, s := range a.Sessions {
		paths = append(paths, s.File)
	}
	for _, p := range a.Problems {
		if p.File != "" {
			paths = append(paths, p.File)
		}
	}
	if len(paths) == 0 {
		return ""
	}
	// What the first and the last in order share, all share.
	first, last := slices.Min(paths), slices.Max(paths)
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	return first[:strings.LastIndexAny(first[:n], `/\`)+1]
}

func place(p analyze.Problem, folder string) string {
	file := strings.TrimPrefix(p.File, folder)
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, p.Line)
}
