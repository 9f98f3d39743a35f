package report

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/page"
	"github.com/fclog/fclog/internal/term"
)

// auditCharts turns an audit into the figures of its page.
type auditCharts struct {
	audit    *analyze.Audit
	charts   *analyze.Charts
	texts    map[analyze.ItemKey]string
	excerpts map[analyze.ItemKey]string // IDs of texts that are shown
	shown    []page.Excerpt
	bytes    int // of them, about
	options  Options
}

// addTo puts every figure into the section whose numbers it shows.
func (c *auditCharts) addTo(p *page.Page) {
	figures := map[string][]page.Figure{
		"growth": c.payloads(), "composition": c.composition(), "items": c.lifetimes(),
		"savings": c.savings(), "cache": c.cache(), "sessions": c.sessions(),
	}
	if len(figures["growth"]) > 0 && !slices.ContainsFunc(p.Sections, func(s page.Section) bool { return s.ID == "growth" }) {
		p.Sections = append(p.Sections, page.Section{ID: "growth", Title: "Growth"})
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		s.Figures = figures[s.ID]
		if s.ID == "items" && len(s.Figures) > 0 || s.ID == "sessions" {
			s.Table = nil // the figure's own has the same and more
		}
	}
	c.order(p)
	if len(c.shown) > 0 {
		p.Sections = append(p.Sections, page.Section{ID: "texts", Title: "Texts of the heaviest items",
			Prose: []page.Prose{page.Markdown("As logged, each cut to its beginning; invisible characters are written out.")}, Texts: c.shown})
	}
}

// order moves the pictures that tell most up behind the totals.
func (c *auditCharts) order(p *page.Page) {
	place := map[string]int{"advice": 1, "totals": 2, "growth": 3, "composition": 4, "items": 5, "savings": 6, "cache": 7, "sessions": 8}
	slices.SortStableFunc(p.Sections, func(x, y page.Section) int {
		return cmp.Compare(cmp.Or(place[x.ID], len(place)+1), cmp.Or(place[y.ID], len(place)+1))
	})
}

// layers are the kinds of content from the lowest layer to the highest: what stands
// in front of the conversation, then the conversation.
var layers = []string{
	"unlogged", "framing", "system_prompt", "tool_definitions", "project_context", "reminder", "user_text", "summary",
	"assistant_text", "reasoning", "tool_call", "image", "tool_result",
}

// payloads is what every request carried, by kind.
func (c *auditCharts) payloads() []page.Figure {
	requests := c.charts.Requests
	if len(requests) < 2 {
		return nil
	}
	kinds := c.kinds()
	s := page.Stack{
		ID: "payload", Head: "request", Title: "What each request carried, in tokens",
		Desc: "Input tokens of each request of the main conversation, stacked by kind of content, with compactions, cache breaks, polls and runs marked below. " +
			"Kinds of logged content are scaled alike, so that they add up to the recorded input.",
		Heads: append(numbers("run", "output", "read from cache"), page.Column{Title: "what happened"}),
		Lanes: []page.Lane{{Class: "break", Name: "cache break"}, {Class: "compaction", Name: "compaction"}, {Class: "poll", Name: "only a poll"}, {Class: "run", Name: "new run"}},
	}
	if len(c.audit.Sessions) > 1 {
		s.Title = "What each request of the largest session carried, in tokens"
	}
	for _, k := range kinds {
		s.Series = append(s.Series, page.Series{Class: class(k), Name: page.Own(kindName(k))})
	}
	usage := slices.ContainsFunc(requests, func(r analyze.ChartRequest) bool { return r.InputTokens != nil })
	if !usage {
		s.Desc = "Tokens of each request of the main conversation as fclog counts them, stacked by kind of content, because no request logs its input."
	}
	for _, r := range requests {
		col := stackColumn(r, kinds)
		if usage && r.InputTokens == nil { // in no total either
			col.Values = nil
		}
		s.Columns = append(s.Columns, col)
	}
	return []page.Figure{s.Figure()}
}

// kinds are the kinds that the requests carried, in order of their layers.
func (c *auditCharts) kinds() []string {
	var out []string
	for _, r := range c.charts.Requests {
		for _, p := range r.Parts {
			if !slices.Contains(out, p.Kind) {
				out = append(out, p.Kind)
			}
		}
	}
	slices.SortFunc(out, func(x, y string) int {
		return cmp.Or(cmp.Compare(slices.Index(layers, x), slices.Index(layers, y)), strings.Compare(x, y))
	})
	return out
}

func stackColumn(r analyze.ChartRequest, kinds []string) page.StackColumn {
	col := page.StackColumn{
		Number: r.Request, Lanes: []bool{r.Cause != nil, r.Compacted, r.Polled, r.NewRun},
		Cells: []page.Cell{exact(r.Run), optionalExact(r.OutputTokens), optionalExact(r.CacheRead), own(happened(r))},
	}
	switch {
	case r.Compacted:
		col.Border = "compaction"
	case r.NewRun:
		col.Border = "run"
	}
	if len(r.Parts) > 0 {
		col.Values = make([]float64, len(kinds))
	}
	for _, p := range r.Parts {
		col.Values[slices.Index(kinds, p.Kind)] += p.Tokens
	}
	return col
}

// happened says in words what the marks of a request stand for.
func happened(r analyze.ChartRequest) string {
	var out []string
	if r.Compacted {
		out = append(out, "compaction")
	}
	if r.NewRun {
		out = append(out, "new run")
	}
	if r.Cause != nil {
		out = append(out, fmt.Sprintf("cache break, %s lost: %s", term.Opt(r.LostTokens, term.Short), strings.Join(meaning(*r.Cause), "")))
	}
	if r.Polled {
		out = append(out, "only a poll")
	}
	if r.InputTokens == nil {
		out = append(out, "usage not logged")
	}
	if r.Kind != "turn" {
		out = append(out, words(r.Kind))
	}
	return strings.Join(out, "; ")
}

// cache is what every request read from the prompt cache against what it could have.
func (c *auditCharts) cache() []page.Figure {
	if len(c.charts.Requests) < 2 || !slices.ContainsFunc(c.charts.Requests, func(r analyze.ChartRequest) bool { return r.CacheRead != nil }) {
		return nil
	}
	l := page.Level{
		ID: "cache-read", Head: "request", Title: "Cache read against what could have been read",
		Desc: "For each request of the main conversation, what it read from the prompt cache, before what the request before it had sent. The gap is what was paid for again.",
		Was:  "read from the cache", Could: "could have been read", Heads: append(numbers("input", "lost"), page.Column{Title: "cause"}),
	}
	for _, r := range c.charts.Requests {
		cause := ""
		if r.Cause != nil {
			cause = words(*r.Cause)
		}
		l.Columns = append(l.Columns, page.LevelColumn{Number: r.Request, Was: r.CacheRead, Could: r.CacheReadable,
			Cells: []page.Cell{optionalExact(r.InputTokens), optionalExact(r.LostTokens), own(cause)}})
	}
	return []page.Figure{l.Figure()}
}

// lifetimes are the heaviest items on the axis of requests.
func (c *auditCharts) lifetimes() []page.Figure {
	requests := c.charts.Requests
	if len(c.charts.Lifetimes) == 0 || len(requests) == 0 {
		return nil
	}
	l := page.Lives{
		ID: "lifetime", Head: "request", Title: "From where to where the heaviest items were carried",
		Desc:  "Each bar is one item of the main conversation, from the first request that carried it to the last. The longer the bar, the more often it was paid for.",
		First: requests[0].Request, Last: requests[len(requests)-1].Request, LineName: "compaction",
		Heads: append([]page.Column{{Title: "path or command"}}, numbers("requests", "times carried", "once", "carried", "share")...),
	}
	for _, r := range requests {
		if r.Compacted {
			l.Lines = append(l.Lines, r.Request)
		}
	}
	for i, x := range c.charts.Lifetimes {
		if i == max(c.options.top(), DefaultTop) {
			break
		}
		if life, ok := c.life(x); ok {
			l.Lives = append(l.Lives, life)
		}
	}
	if len(l.Lives) == 0 {
		return nil
	}
	return []page.Figure{l.Figure()}
}

func (c *auditCharts) life(x analyze.Lifetime) (page.Life, bool) {
	name := textOf(itemKind(x.TopItem).text, maxHTMLCell)
	life := page.Life{
		Name: name, Sub: page.FromLog(term.Fit(shortName(deref(x.What)), maxBarName)), Class: class(x.Kind), Excerpt: c.excerpt(x.TopItem),
		Value: fmt.Sprintf("%s · %s×", term.Short(provider(x.CarriedTokens, x.BilledTokens)), term.Exact(x.Requests)),
		Cells: itemCells(x.TopItem),
	}
	for _, s := range x.Spans {
		if s.Chain == 0 {
			life.Spans = append(life.Spans, [2]int64{s.First, s.Last})
		}
	}
	return life, len(life.Spans) > 0
}

// maxBarName is what has room beside a bar: cut in the middle, since commands that
// begin alike end differently.
const maxBarName = 30

func itemCells(x analyze.TopItem) []page.Cell {
	return []page.Cell{
		fromLogCell(x.What), own(requestRange(x.FirstRequest, x.LastRequest)), exact(x.Requests), exact(x.Tokens),
		exact(provider(x.CarriedTokens, x.BilledTokens)), own(term.Opt(x.Share, term.Percent)),
	}
}

// How much log text a page shows.
const (
	maxExcerptLines = 40
	maxExcerptBytes = 500_000 // as escaped, so that pages stay small
)

// excerpt makes the text of an item part of the page and returns its ID; "" where
// texts are not to be shown, or the page holds enough of them.
func (c *auditCharts) excerpt(x analyze.TopItem) string {
	key := analyze.ItemKey{SessionID: x.SessionID, Item: x.Item}
	if id, ok := c.excerpts[key]; ok {
		return id
	}
	body, ok := c.texts[key]
	if !ok || c.bytes > maxExcerptBytes {
		return ""
	}
	part := excerptPart(body, maxExcerptLines)
	for _, l := range part.Lines {
		c.bytes += len(html.EscapeString(l.S)) + len(`<bdi class="log"></bdi>`)
	}
	id := fmt.Sprintf("text-%d", len(c.shown)+1)
	c.excerpts[key] = id
	name := textOf(itemKind(x).text, maxHTMLCell)
	if what := deref(x.What); what != "" {
		name = page.Text{S: term.Fit(deref(x.Tool)+" "+what, maxHTMLCell), Log: true}
	}
	c.shown = append(c.shown, page.Excerpt{ID: page.Own(id), Name: name, Parts: []page.ExcerptPart{part}})
	return id
}

// excerptPart cuts a text to its first lines.
func excerptPart(body string, limit int) page.ExcerptPart {
	var part page.ExcerptPart
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for _, l := range lines[:min(len(lines), limit)] {
		part.Lines = append(part.Lines, page.FromLog(term.Fit(strings.TrimSuffix(l, "\r"), maxHTMLCell)))
	}
	if len(lines) > limit || len(body) >= maxItemText {
		part.More = "… the text goes on"
	}
	return part
}

// maxItemText is from where on texts have been cut already.
const maxItemText = 4000
