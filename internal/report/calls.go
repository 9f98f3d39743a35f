package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

func topItems(a *analyze.Audit, o Options) *section {
	s := &section{title: "Most expensive items"}
	if len(a.TopItems) == 0 {
		return nil
	}
	s.table = &table{columns: []column{
		{title: "what", flex: true, min: 8}, {title: "path or command", flex: true, min: 16}, {title: "requests", number: true, optional: 1},
		{title: "once", number: true, optional: 2}, {title: "carried", number: true}, {title: "share", number: true},
	}}
	for i, x := range a.TopItems {
		if i == o.top() {
			break
		}
		s.table.rows = append(s.table.rows, row{cells: []cell{
			itemKind(x), logged(deref(x.What)), plain(requestRange(x.FirstRequest, x.LastRequest)),
			number(x.Tokens), number(provider(x.CarriedTokens, x.BilledTokens)), share(x.Share),
		}})
	}
	s.after = []string{"**Once** and **carried** are as above; **requests** are the first and the last that carried the item."}
	return s
}

// itemKind is shorter than kind: beside a path or command the tool says enough.
func itemKind(x analyze.TopItem) cell {
	c := kind(x.Kind, x.Tool)
	switch {
	case c.log && x.Kind == "tool_result":
		c.after = ""
	case c.log && x.Kind == "tool_call":
		c.after = " args"
	}
	return c
}

// standing tells calls that are made again by nature: polls and to-do lists.
func standing(r analyze.RepeatedCall) bool { return r.Class == "poll" || r.Class == "todo" }

func repeatedCalls(a *analyze.Audit, o Options) *section {
	t := a.Totals
	s := &section{title: "Repeated calls"}
	switch {
	case t.Calls == 0:
		s.prose = []string{"None: no tool was called."}
		return s
	case t.RepeatedCalls == 0 && t.RepeatedCallsStrict == 0:
		s.prose = []string{fmt.Sprintf("None of %s.", term.Count(t.Calls, "call", "calls"))}
		return s
	}
	s.prose = []string{fmt.Sprintf(
		"**%s** of %s by FreeCode's definition (same tool, same arguments as sent); **%s** strictly (same meaning, and nothing in between that could have changed the result). **Again** is the size of all results but the first, **carried** that over the requests that carried them · counted.",
		term.Exact(t.RepeatedCalls), term.Count(t.Calls, "call", "calls"), term.Exact(t.RepeatedCallsStrict))}
	s.table = callTable(filter(a.RepeatedCalls, false), o)
	return s
}

func standingCalls(a *analyze.Audit, o Options) *section {
	list := filter(a.RepeatedCalls, true)
	if len(list) == 0 {
		return nil
	}
	return &section{
		title: "Repeated polls and to-do lists",
		prose: []string{"Made again by nature, so kept apart. They count in FreeCode's figure above."},
		table: callTable(list, o),
	}
}

func filter(list []analyze.RepeatedCall, want bool) []analyze.RepeatedCall {
	return slices.DeleteFunc(slices.Clone(list), func(r analyze.RepeatedCall) bool { return standing(r) != want })
}

func callTable(list []analyze.RepeatedCall, o Options) *table {
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(x, y analyze.RepeatedCall) int {
		return cmp.Or(cmp.Compare(y.CarriedTokens, x.CarriedTokens), cmp.Compare(y.Times, x.Times))
	})
	t := &table{columns: []column{
		{title: "tool", flex: true, min: 8}, {title: "arguments", flex: true, min: 20}, {title: "times", number: true},
		{title: "strict", number: true}, {title: "again", number: true, optional: 1}, {title: "carried", number: true},
	}}
	for i, x := range list {
		if i == o.top() {
			t.more = more(len(list)-i, "call", "calls")
			break
		}
		t.rows = append(t.rows, row{cells: []cell{
			logged(x.Tool), args(x.Args), number(x.Times), number(x.StrictRepeats), number(x.Tokens), number(x.CarriedTokens),
		}})
	}
	return t
}

func args(s *string) cell {
	if s == nil {
		return plain("(text not kept)")
	}
	return logged(arguments(*s))
}

func polling(a *analyze.Audit) *section {
	p := a.Polling
	if p.Episodes == 0 && p.Polls == 0 {
		return nil
	}
	requests := term.Count(p.RequestsHigh, "request", "requests")
	if p.RequestsHigh != p.RequestsLow {
		requests = term.Exact(p.RequestsLow) + "–" + requests
	}
	took := fmt.Sprintf("Waiting took **%s**: %s input, %s output · %s.",
		requests, term.Opt(p.InputTokens, term.Short), term.Opt(p.OutputTokens, term.Short), p.Basis)
	return &section{title: "Polling", prose: []string{polls(p) + " " + took}}
}

// polls counts the looks at background work, without what there was none of.
func polls(p analyze.Polling) string {
	s := fmt.Sprintf("**%s** in %s", term.Count(p.Polls, "poll", "polls"), term.Count(p.Episodes, "episode", "episodes"))
	if p.EmptyPolls > 0 {
		s += fmt.Sprintf(", %s of them without news", term.Exact(p.EmptyPolls))
	}
	switch {
	case p.PiggyBacked == 1:
		s += "; 1 came along with other work and cost no request of its own"
	case p.PiggyBacked > 1:
		s += fmt.Sprintf("; %s came along with other work and cost no request of their own", term.Exact(p.PiggyBacked))
	}
	return s + "."
}
