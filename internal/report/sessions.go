package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// maxSubAgents is how many sub-agents of one session are listed.
const maxSubAgents = 5

// sessionTree is the sessions of an audit, each below the one that started it.
type sessionTree struct {
	audit    *analyze.Audit
	options  Options
	children map[int][]int // by index; roots under -1
	table    *table
}

// sessions lists the sessions when there is more than one.
func sessions(a *analyze.Audit, o Options) *section {
	if len(a.Sessions) < 2 {
		return nil
	}
	t := newSessionTree(a, o)
	prose := "Largest input first · measured, cost estimated."
	if len(t.children) > 1 {
		prose = "Sub-agents stand below the session that started them. **Inclusive** is a session's input with that of all sub-agents below it. Largest first · measured, cost estimated."
	}
	if n := orphans(a); n > 0 {
		prose += fmt.Sprintf(" %s started by a session that is not among these.",
			term.Count(n, "sub-agent", "sub-agents"))
	}
	roots := t.children[-1]
	for i, root := range roots {
		if i == o.top() {
			t.table.more = more(len(roots)-i, "session", "sessions")
			break
		}
		t.add(root, 0)
	}
	return &section{title: "Sessions", prose: []string{prose}, table: t.table}
}

func newSessionTree(a *analyze.Audit, o Options) *sessionTree {
	t := &sessionTree{audit: a, options: o, children: map[int][]int{}}
	parents := parentsOf(a.Sessions)
	for i, s := range a.Sessions {
		if captured(a, s) && !ownBelow(a, parents, i) {
			continue
		}
		t.children[parents[i]] = append(t.children[parents[i]], i)
	}
	for _, list := range t.children {
		slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(weight(a.Sessions[y]), weight(a.Sessions[x])) })
	}
	t.table = &table{columns: []column{
		{title: "session", flex: true, min: 18}, {title: "agent", optional: 2, flex: true, min: 8}, {title: "started", optional: 4},
		{title: "requests", number: true}, {title: "input", number: true}, {title: "share", number: true, optional: 1},
		{title: "output", number: true, optional: 3}, {title: "cost", number: true},
	}}
	if len(t.children) > 1 {
		t.table.columns = append(t.table.columns, column{title: "inclusive", number: true})
	}
	return t
}

// parentsOf gives every session the index of the one that started it, -1 where
// that is not among them. Sessions that name each other as parents have none.
func parentsOf(list []analyze.SessionSummary) []int {
	type key struct{ source, id string }
	index := map[key]int{}
	for i, s := range list {
		index[key{s.Source, s.SessionID}] = i
	}
	parents := make([]int, len(list))
	for i, s := range list {
		parents[i] = -1
		if s.ParentSessionID == nil {
			continue
		}
		if p, ok := index[key{s.Source, *s.ParentSessionID}]; ok {
			parents[i] = p
		}
	}
	for i := range parents {
		for at, steps := parents[i], 0; at >= 0; at, steps = parents[at], steps+1 {
			if at == i || steps > len(parents) {
				parents[i] = -1
				break
			}
		}
	}
	return parents
}

// captured says that all a session holds is counted in a log of another format.
func captured(a *analyze.Audit, s analyze.SessionSummary) bool {
	return s.Own.Sessions == 0 && s.Own.Requests == 0 && slices.ContainsFunc(a.Copies, func(c analyze.Copy) bool {
		return c.Source == s.Source && c.OwnerSource != s.Source
	})
}

// ownBelow says that a sub-agent of session i counts.
func ownBelow(a *analyze.Audit, parents []int, i int) bool {
	for child, parent := range parents {
		if parent == i && !captured(a, a.Sessions[child]) {
			return true
		}
	}
	return false
}

// orphans counts the sub-agents whose parents are not among the sessions.
func orphans(a *analyze.Audit) int64 {
	ids := map[[2]string]bool{}
	for _, s := range a.Sessions {
		ids[[2]string{s.Source, s.SessionID}] = true
	}
	n := int64(0)
	for _, s := range a.Sessions {
		if s.ParentSessionID != nil && !ids[[2]string{s.Source, *s.ParentSessionID}] {
			n++
		}
	}
	return n
}

// weight is what sessions are ordered by; unknown comes last.
func weight(s analyze.SessionSummary) int64 {
	switch {
	case s.Inclusive.InputTokens != nil:
		return *s.Inclusive.InputTokens
	case s.Own.InputTokens != nil:
		return *s.Own.InputTokens
	}
	return -1
}

func (t *sessionTree) add(i, depth int) {
	s := t.audit.Sessions[i]
	id := logged(s.SessionID)
	if depth > 0 {
		// Claude Code's sub-agents carry the ID of their session in front.
		if own := strings.TrimPrefix(s.SessionID, deref(s.ParentSessionID)+"/"); own != "" {
			id.s = own
		}
		id.before = strings.Repeat("  ", depth-1) + "└ "
	}
	r := row{cells: []cell{
		id, logged(agentOf(s)), plain(t.started(s)), number(s.Own.Requests), optional(s.Own.InputTokens),
		share(ratio(s.Own.InputTokens, t.audit.Totals.InputTokens)), optional(s.Own.OutputTokens), plain(term.Opt(s.Own.CostUSD, term.USD)),
	}}
	children := t.children[i]
	if len(t.children) > 1 {
		inclusive := cell{}
		if len(children) > 0 {
			inclusive = optional(s.Inclusive.InputTokens)
		}
		r.cells = append(r.cells, inclusive)
	}
	t.table.rows = append(t.table.rows, r)
	for n, child := range children {
		if n == maxSubAgents && len(children) > maxSubAgents+1 {
			t.addFolded(children[n:], depth+1)
			break
		}
		t.add(child, depth+1)
	}
}

// addFolded is one row for sub-agents that are not listed, with all below them.
func (t *sessionTree) addFolded(list []int, depth int) {
	var requests int64
	sum := map[string]*int64{}
	var cost *float64
	for _, i := range list {
		s := t.audit.Sessions[i].Inclusive
		requests += s.Requests
		sum["input"] = plus(sum["input"], s.InputTokens)
		sum["output"] = plus(sum["output"], s.OutputTokens)
		cost = plus(cost, s.CostUSD)
	}
	name := plain(strings.Repeat("  ", depth-1) + "  … " + term.Count(int64(len(list)), "more sub-agent", "more sub-agents"))
	r := row{faint: true, cells: []cell{
		name, {}, {}, number(requests), optional(sum["input"]), share(ratio(sum["input"], t.audit.Totals.InputTokens)),
		optional(sum["output"]), plain(term.Opt(cost, term.USD)), {},
	}}
	t.table.rows = append(t.table.rows, r)
}

// plus adds two values of which either may be unknown.
func plus[N int64 | float64](a, b *N) *N {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := *a + *b
	return &sum
}

func (t *sessionTree) started(s analyze.SessionSummary) string {
	if s.StartedAt == nil {
		return term.Unknown
	}
	return s.StartedAt.In(t.options.location()).Format("2006-01-02 15:04")
}
