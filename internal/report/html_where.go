package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/page"
	"github.com/fclog/fclog/internal/term"
)

// composition is where the tokens went: kinds, tools, and the items themselves.
func (c *auditCharts) composition() []page.Figure {
	if len(c.audit.Composition) == 0 {
		return nil
	}
	x := page.Icicle{
		ID: "where", Title: "Carried tokens by kind, tool and item",
		Desc: "The width of a piece is its share of the carried tokens: kinds of content on top, below them the tools they belong to, then single items. " +
			"Items that are not among the heaviest leave a gap.",
		Heads: append([]page.Column{{Title: "path or command"}}, numbers("requests", "times carried", "once")...),
	}
	for _, kind := range c.kindsByWeight() {
		x.Roots = append(x.Roots, c.kindNode(kind))
	}
	return append([]page.Figure{x.Figure()}, c.tools()...)
}

// tools are what each tool's results and arguments cost, on one scale.
func (c *auditCharts) tools() []page.Figure {
	b := page.Bars{
		ID: "tools", Title: "Carried tokens by tool",
		Desc:   "What the results of each tool cost over all requests; the pale piece is the arguments of its calls.",
		Heads:  numbers("results", "arguments", "calls", "carried by a call", "share"),
		Legend: []page.Legend{{Class: "tool_result", Name: page.Own("results")}, {Class: "pale", Name: page.Own("arguments")}},
	}
	list := toolsOf(c.audit.Composition)
	for _, t := range list[:min(len(list), max(c.options.top(), DefaultTop))] {
		results, all := float64(t.results), float64(t.results+t.arguments)
		each := term.Unknown
		if t.calls > 0 {
			each = term.Short((t.results + t.arguments) / t.calls)
		}
		share := term.Opt(t.share, term.Percent)
		b.Rows = append(b.Rows, page.BarRow{
			Name: page.FromLog(term.Fit(t.name, maxHTMLCell)), Class: "tool_result", MoreClass: "pale", Size: &results, More: &all,
			Value: share + " · " + term.Short(t.results+t.arguments),
			Cells: []page.Cell{exact(t.results), exact(t.arguments), exact(t.calls), own(each), own(share)},
		})
	}
	if len(b.Rows) < 2 {
		return nil
	}
	f := b.Figure()
	if left := len(list) - len(b.Rows); left > 0 {
		f.Twin.More = more(left, "tool", "tools")
	}
	return []page.Figure{f}
}

// toolShare is what one tool carried.
type toolShare struct {
	name                      string
	results, arguments, calls int64
	share                     *float64 // of all input; nil where that is not known
}

// toolsOf adds up the composition by tool, heaviest first.
func toolsOf(composition []analyze.Share) []toolShare {
	var list []toolShare
	for _, s := range composition {
		if s.Tool == nil || s.Kind != "tool_result" && s.Kind != "tool_call" {
			continue
		}
		i := slices.IndexFunc(list, func(t toolShare) bool { return t.name == *s.Tool })
		if i < 0 {
			i, list = len(list), append(list, toolShare{name: *s.Tool})
		}
		t := &list[i]
		if s.Kind == "tool_result" {
			t.results += carried(s)
		} else {
			t.arguments += carried(s)
			t.calls += s.Items
		}
		if s.Share != nil {
			sum := *s.Share
			if t.share != nil {
				sum += *t.share
			}
			t.share = &sum
		}
	}
	slices.SortStableFunc(list, func(x, y toolShare) int { return cmp.Compare(y.results+y.arguments, x.results+x.arguments) })
	return list
}

// kindsByWeight are the kinds of the composition, heaviest first.
func (c *auditCharts) kindsByWeight() []string {
	sums := map[string]int64{}
	var kinds []string
	for _, s := range c.audit.Composition {
		if _, ok := sums[s.Kind]; !ok {
			kinds = append(kinds, s.Kind)
		}
		sums[s.Kind] += carried(s)
	}
	slices.SortStableFunc(kinds, func(x, y string) int { return cmp.Compare(sums[y], sums[x]) })
	return kinds
}

func (c *auditCharts) kindNode(kind string) page.Node {
	n := page.Node{Name: page.Own(kindName(kind)), Class: class(kind)}
	items, once := int64(0), int64(0)
	var shares []analyze.Share
	for _, s := range c.audit.Composition {
		if s.Kind == kind {
			shares = append(shares, s)
			n.Value += float64(carried(s))
			items += s.Items
			once += s.Tokens
		}
	}
	n.Cells = countCells(items, once)
	slices.SortStableFunc(shares, func(x, y analyze.Share) int { return cmp.Compare(carried(y), carried(x)) })
	for _, s := range shares {
		if s.Tool == nil {
			n.Children = append(n.Children, c.itemNodes(kind, nil)...)
			continue
		}
		n.Children = append(n.Children, page.Node{
			Name: page.FromLog(term.Fit(*s.Tool, maxHTMLCell)), Class: class(kind), Value: float64(carried(s)),
			Cells: countCells(s.Items, s.Tokens), Children: c.itemNodes(kind, s.Tool),
		})
	}
	return n
}

// countCells tell of a group what itemCells tell of an item.
func countCells(items, once int64) []page.Cell {
	if items == 0 {
		return []page.Cell{{}, {}, {}, {}}
	}
	return []page.Cell{own(term.Count(items, "item", "items")), {}, {}, exact(once)}
}

// itemNodes are the heaviest items of a kind and tool.
func (c *auditCharts) itemNodes(kind string, tool *string) []page.Node {
	var out []page.Node
	for _, x := range c.charts.Items {
		if x.Kind != kind || (x.Tool == nil) != (tool == nil) || deref(x.Tool) != deref(tool) {
			continue
		}
		name := page.Own("item " + term.Exact(x.Item))
		if what := shortName(deref(x.What)); what != "" {
			name = page.FromLog(term.Fit(what, maxHTMLCell))
		}
		out = append(out, page.Node{
			Name: name, Class: class(kind), Value: float64(provider(x.CarriedTokens, x.BilledTokens)), Excerpt: c.excerpt(x),
			Cells: []page.Cell{fromLogCell(x.What), own(requestRange(x.FirstRequest, x.LastRequest)), exact(x.Requests), exact(x.Tokens)},
		})
	}
	return out
}

// shortName is the file of a path, for where there is little room; other text stays.
func shortName(what string) string {
	if strings.ContainsAny(what, " \t\n") {
		return what
	}
	return what[strings.LastIndexAny(strings.TrimRight(what, `/\`), `/\`)+1:]
}

// savings are the upper bounds of all techniques on one scale.
func (c *auditCharts) savings() []page.Figure {
	b := page.Bars{
		ID: "bounds", Title: "What each technique could touch at most",
		Desc: "A bar ends at the upper bound in carried tokens: what a change saves lies somewhere in it, what it costs is not in it. The bars overlap. " +
			"A pale bar is paid for again, not sent in vain.",
		Heads: append(numbers("at most", "share", "requests"), page.Column{Title: "label"}, page.Column{Title: "what is counted"}, page.Column{Title: "published"}),
	}
	low, high, known := spread(c.audit)
	if known {
		b.Desc += " The line at the end of a calibrated bar is how far the factor from counted to provider's tokens spreads."
	}
	list := slices.DeleteFunc(slices.Clone(c.audit.Savings), nothing)
	slices.SortStableFunc(list, func(x, y analyze.Saving) int {
		return cmp.Compare(known64(y.AddressableCarriedTokens), known64(x.AddressableCarriedTokens))
	})
	for _, x := range list {
		r := page.BarRow{
			Name: page.Own(technique(x)), Sub: page.Own(string(x.Basis)), Class: "good",
			Value: "≤ " + term.Opt(x.AddressableCarriedTokens, term.Short),
			Cells: []page.Cell{optionalExact(x.AddressableCarriedTokens), own(term.Opt(x.Share, term.Percent)), optionalExact(x.AddressableRequests), own(string(x.Basis)),
				own(x.Note), own(deref(x.Published))},
		}
		if x.Share != nil {
			r.Value = "≤ " + term.Percent(*x.Share) + " · " + term.Opt(x.AddressableCarriedTokens, term.Short)
		}
		if x.Technique == "cache-breaks" {
			r.Class = "pale"
		}
		if x.AddressableCarriedTokens != nil {
			size := float64(*x.AddressableCarriedTokens)
			r.Size = &size
			if known && x.Basis == analyze.Calibrated {
				from, to := size*low, size*high
				r.Low, r.High = &from, &to
			}
		}
		b.Rows = append(b.Rows, r)
	}
	if len(b.Rows) == 0 {
		return nil
	}
	return []page.Figure{b.Figure()}
}

// leastSpread is the share of a factor below which its spread cannot be seen.
const leastSpread = 0.005

// spread is how far the factors of calibration lie below and above the ones used, in
// parts of them: their quartiles, each session weighing as much as it has pairs of
// requests. It is not known where no factor was fitted.
func spread(a *analyze.Audit) (low, high float64, known bool) {
	pairs := 0.0
	for _, c := range a.Counting {
		if c.Factor == nil || c.FactorLow == nil || c.FactorHigh == nil || *c.Factor <= 0 {
			continue
		}
		n := float64(c.Pairs)
		low += n * *c.FactorLow / *c.Factor
		high += n * *c.FactorHigh / *c.Factor
		pairs += n
	}
	if pairs == 0 {
		return 0, 0, false
	}
	low, high = low/pairs, high/pairs
	return low, high, high-low >= leastSpread
}

func known64(v *int64) int64 {
	if v == nil {
		return -1
	}
	return *v
}

// maxSessionBars is how many sessions the tree shows; the totals have all.
const maxSessionBars = 60

// sessions is the tree of sessions with what each and all below it sent.
func (c *auditCharts) sessions() []page.Figure {
	if len(c.audit.Sessions) < 2 {
		return nil
	}
	b := page.Bars{
		ID: "tree", Title: "Sessions and the sub-agents below them",
		Desc:   "Input tokens of each session; the pale piece is that of the sub-agents it started, which stand below it.",
		Heads:  append([]page.Column{{Title: "agent"}, {Title: "started"}}, numbers("requests", "input", "with sub-agents", "output", "cost")...),
		Legend: []page.Legend{{Class: "other", Name: page.Own("own input")}, {Class: "pale", Name: page.Own("of its sub-agents")}},
	}
	t := newSessionTree(c.audit, c.options)
	for _, root := range t.children[-1] {
		c.addSession(&b, t, root, 0)
	}
	f := b.Figure()
	if left := len(c.audit.Sessions) - len(b.Rows); left > 0 {
		f.Twin.More = more(left, "session", "sessions")
	}
	return []page.Figure{f}
}

func (c *auditCharts) addSession(b *page.Bars, t *sessionTree, i, depth int) {
	if len(b.Rows) == maxSessionBars {
		return
	}
	s := c.audit.Sessions[i]
	agent := agentOf(s)
	r := page.BarRow{
		Name: page.FromLog(term.Fit(s.SessionID, maxHTMLCell)), Sub: fromLogCell(&agent).Text, Depth: depth, Class: "other", MoreClass: "pale",
		Value: term.Opt(s.Own.InputTokens, term.Short),
		Cells: []page.Cell{fromLogCell(&agent), own(t.started(s)), exact(s.Own.Requests), optionalExact(s.Own.InputTokens),
			optionalExact(s.Inclusive.InputTokens), optionalExact(s.Own.OutputTokens), own(term.Opt(s.Own.CostUSD, term.USD))},
	}
	if s.Own.InputTokens != nil {
		size := float64(*s.Own.InputTokens)
		r.Size = &size
	}
	if s.Inclusive.InputTokens != nil {
		all := float64(*s.Inclusive.InputTokens)
		r.More = &all
		if r.Size == nil {
			r.Size = new(float64)
		}
	}
	b.Rows = append(b.Rows, r)
	for _, child := range t.children[i] {
		c.addSession(b, t, child, depth+1)
	}
}
