package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term/termtest"
)

// sampleCharts are the charts of the sample audit: 120 requests whose parts add up
// to 9,000,000, 75,000 each, as 60,000 results, 10,000 text, 4,000 unlogged, 1,000 framing.
func sampleCharts() *analyze.Charts {
	c := &analyze.Charts{SessionID: "0f3c2a52-1111-4222-8333-944455556666", Items: sample().TopItems}
	for i := int64(1); i <= 120; i++ {
		r := analyze.ChartRequest{Request: i, Run: 1 + i/40, Kind: "turn", InputTokens: ptr(int64(75_000)), OutputTokens: ptr(int64(300)),
			CacheRead: ptr(int64(56_000)), CacheReadable: ptr(int64(60_000)), Compacted: i == 83, NewRun: i%40 == 0, Polled: i == 17,
			Parts: []analyze.ChartPart{{Kind: "tool_result", Tokens: 60_000}, {Kind: "assistant_text", Tokens: 10_000}, {Kind: "unlogged", Tokens: 4_000}, {Kind: "framing", Tokens: 1_000}}}
		if i%30 == 0 {
			r.Cause, r.LostTokens = ptr("run-border"), ptr(int64(4_000))
		}
		c.Requests = append(c.Requests, r)
	}
	for _, x := range c.Items {
		c.Lifetimes = append(c.Lifetimes, analyze.Lifetime{TopItem: x, Spans: []analyze.LifeSpan{{First: x.FirstRequest, Last: x.LastRequest, Requests: x.Requests, Tokens: x.Tokens}}})
	}
	return c
}

func auditPage(t *testing.T, h report.HTMLAudit) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.HTML(&out, h, report.Options{}))
	return out.String()
}

func parse(t *testing.T, text string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return doc
}

// all calls do for every element.
func all(n *html.Node, do func(*html.Node)) {
	if n.Type == html.ElementNode {
		do(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		all(c, do)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func content(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(content(c))
	}
	return b.String()
}

func byID(t *testing.T, doc *html.Node, id string) *html.Node {
	t.Helper()
	var found *html.Node
	all(doc, func(n *html.Node) {
		if attribute(n, "id") == id {
			found = n
		}
	})
	require.NotNil(t, found, "#%s", id)
	return found
}

// twin is the table of a figure as text, without its head.
func twin(t *testing.T, doc *html.Node, figure string) [][]string {
	t.Helper()
	var rows [][]string
	all(byID(t, doc, figure), func(n *html.Node) {
		if n.Data != "tr" || n.Parent.Data != "tbody" {
			return
		}
		var row []string
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode {
				row = append(row, strings.TrimSpace(content(c)))
			}
		}
		rows = append(rows, row)
	})
	return rows
}

// number reads 12,345; what is not known is 0.
func number(t *testing.T, s string) int64 {
	t.Helper()
	if s == "–" || s == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	require.NoError(t, err)
	return n
}

func TestPagePolicyHoldsWhatIsInThePage(t *testing.T) {
	doc := parse(t, auditPage(t, report.HTMLAudit{Audit: sample(), Charts: sampleCharts()}))
	policy, inline := "", map[string]string{}
	all(doc, func(n *html.Node) {
		if n.Data == "meta" && attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
		if n.Data == "style" || n.Data == "script" {
			assert.Empty(t, inline[n.Data], "one %s only", n.Data)
			inline[n.Data] = content(n)
		}
	})
	for name, text := range inline {
		sum := sha256.Sum256([]byte(text))
		assert.Contains(t, policy, fmt.Sprintf("%s-src 'sha256-%s'", name, base64.StdEncoding.EncodeToString(sum[:])))
	}
	assert.Contains(t, policy, "default-src 'none'")
	assert.NotContains(t, policy, "unsafe")
}

// checkInert holds a page against what it may consist of: nothing that loads, runs or
// leads out of the file.
func checkInert(t *testing.T, doc *html.Node) map[string]int {
	t.Helper()
	elements := map[string]int{}
	all(doc, func(n *html.Node) {
		elements[n.Data]++
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"style", "src", "srcset", "action", "formaction", "data", "poster", "background", "ping"}, a.Key) {
				t.Errorf("%s of %s", a.Key, n.Data)
			}
			if strings.HasSuffix(a.Key, "href") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("%s leads to %s", n.Data, a.Val)
			}
		}
	})
	for _, name := range []string{"img", "iframe", "object", "embed", "link", "base", "form", "image", "use", "foreignobject", "foreignObject", "animate", "set", "video", "audio", "input"} {
		assert.Zero(t, elements[name], name)
	}
	return elements
}

func TestHostileTextInHTML(t *testing.T) {
	hostiles := append(termtest.Hostile(),
		`</script><script>alert(1)</script>`, `</title></style></svg><svg onload=alert(1)>`, `"><img src=x onerror=alert(1)>`, `' autofocus onfocus='alert(1)`,
		`{{.Title}} ${alert(1)} javascript:alert(1)`, `]]><!--`, `</pre></details></bdi><h1>big</h1>`)
	page := func(s string) *html.Node {
		c := sampleCharts()
		texts := map[analyze.ItemKey]string{}
		for i := range c.Items {
			c.Items[i].Tool, c.Items[i].What, c.Items[i].SessionID = &s, &s, s
			texts[analyze.ItemKey{SessionID: s, Item: c.Items[i].Item}] = s
		}
		for i := range c.Lifetimes {
			c.Lifetimes[i].Tool, c.Lifetimes[i].What, c.Lifetimes[i].SessionID = &s, &s, s
		}
		a := hostile(s)
		text := auditPage(t, report.HTMLAudit{Audit: a, Charts: c, Texts: texts})
		for _, r := range text {
			if r != '\n' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) {
				t.Fatalf("%U of %q", r, s)
			}
		}
		return parse(t, text)
	}
	want := checkInert(t, page("plain"))
	for _, s := range hostiles {
		if strings.TrimSpace(s) == "" {
			continue // what is empty is left out
		}
		got := checkInert(t, page(s))
		for name := range got {
			if name != "p" && name != "text" && name != "bdi" { // lines of one text, names of cells
				assert.Equal(t, want[name], got[name], "%s with %q", name, s)
			}
		}
	}
}

func TestEveryChartAddsUpToTheAudit(t *testing.T) {
	a := sample()
	doc := parse(t, auditPage(t, report.HTMLAudit{Audit: a, Charts: sampleCharts()}))

	payload, all := twin(t, doc, "payload"), int64(0)
	require.Len(t, payload, 120)
	for _, row := range payload {
		sum := int64(0)
		for _, cell := range row[2:6] { // unlogged, framing, assistant text, tool results
			sum += number(t, cell)
		}
		assert.Equal(t, number(t, row[1]), sum)
		all += sum
	}
	assert.Equal(t, *a.Totals.InputTokens, all)

	where := twin(t, doc, "where")
	assert.Equal(t, []string{"tool results", "5,850,000", "65.0 %"}, where[0][:3], "4,500,000 + 1,350,000 of 9,000,000")
	kinds, carried := map[string]bool{"tool results": true, "reasoning": true, "call arguments": true, "unlogged": true, "user text": true, "assistant text": true,
		"project context": true, "framing": true, "summaries": true}, int64(0)
	for _, row := range where {
		if kinds[row[0]] {
			carried += number(t, row[1])
		}
	}
	assert.Equal(t, *a.Totals.InputTokens, carried)

	cache, read, could := twin(t, doc, "cache-read"), int64(0), int64(0)
	for _, row := range cache {
		read += number(t, row[1])
		could += number(t, row[2])
	}
	assert.Equal(t, int64(120*56_000), read)
	assert.Equal(t, int64(120*60_000), could)

	bounds := twin(t, doc, "bounds")
	sizes := map[string]int64{}
	for _, row := range bounds {
		sizes[row[0]] = number(t, row[1])
	}
	for _, s := range a.Savings {
		if s.AddressableCarriedTokens != nil {
			assert.Equal(t, *s.AddressableCarriedTokens, sizes[strings.NewReplacer("line-number-prefixes", "line-number prefixes", "-", " ").Replace(s.Technique)], s.Technique)
		}
	}
	// By tool: exec_command 4,500,000 + 720,000 = 5,220,000 of 9,000,000 = 58.0 %, over
	// 98 calls 53,265 each; read_file has no arguments.
	assert.Equal(t, [][]string{
		{"exec_command", "4,500,000", "720,000", "98", "53.3K", "58.0 %"},
		{"read_file", "1,350,000", "0", "0", "–", "15.0 %"},
	}, twin(t, doc, "tools"))
	lives := twin(t, doc, "lifetime")
	require.Len(t, lives, 3)
	assert.Equal(t, "695,800", lives[0][5])
}

// A bound is marked as one; how far the factor of calibration spreads is a line at
// its end, and only where there is a spread.
func TestBoundsAndTheSpreadOfTheirFactor(t *testing.T) {
	a := sample()
	bar := func() string {
		var found string
		all(parse(t, auditPage(t, report.HTMLAudit{Audit: a, Charts: sampleCharts()})), func(n *html.Node) {
			if attribute(n, "data-row") == "bounds-0" {
				var b strings.Builder
				require.NoError(t, html.Render(&b, n))
				found = b.String()
			}
		})
		return found
	}
	assert.Contains(t, bar(), "≤ 34.4 % · 3.10M")
	assert.NotContains(t, bar(), "whisker")
	a.Savings[0].Basis = analyze.Calibrated
	assert.NotContains(t, bar(), "whisker", "a public tokenizer has no spread")
	// 57 pairs from 0.9 to 1.1 around 1, 19 from 1.2 to 1.4 around 1.25 = 0.96 to 1.12:
	// (3 × 0.9 + 0.96) ÷ 4 = 0.915 and (3 × 1.1 + 1.12) ÷ 4 = 1.105. On a scale that
	// ends at 1.105 that is 82.81 % and 100 %.
	a.Counting[0].FactorLow, a.Counting[0].FactorHigh = ptr(0.9), ptr(1.1)
	more := a.Counting[0]
	more.Factor, more.FactorLow, more.FactorHigh, more.Pairs = ptr(1.25), ptr(1.2), ptr(1.4), 19
	a.Counting = append(a.Counting, more)
	assert.Contains(t, bar(), `class="whisker" x1="82.81%" x2="100%"`)
}

// The drawing says what the table says: the areas of the layers are in the ratio of
// the sums.
func TestDrawnHeightsAreTheNumbers(t *testing.T) {
	doc := parse(t, auditPage(t, report.HTMLAudit{Audit: sample(), Charts: sampleCharts()}))
	paths := map[string]string{}
	all(byID(t, doc, "payload"), func(n *html.Node) {
		if n.Data == "path" {
			paths[attribute(n, "class")] = attribute(n, "d")
		}
	})
	require.Len(t, paths, 4)
	// Every request is alike: 280 pixels are 75,000 tokens, from below 4,000 + 1,000 + 10,000 + 60,000.
	edge := func(tokens float64) string {
		return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(280-tokens/75_000*280, 'f', 2, 64), "0"), ".")
	}
	assert.True(t, strings.HasPrefix(paths["unlogged"], "M0 "+edge(4_000)+"H120V280"), paths["unlogged"])
	assert.True(t, strings.HasPrefix(paths["framing"], "M0 "+edge(5_000)+"H120V"+edge(4_000)), paths["framing"])
	assert.True(t, strings.HasPrefix(paths["assistant_text"], "M0 "+edge(15_000)+"H120V"+edge(5_000)), paths["assistant_text"])
	assert.True(t, strings.HasPrefix(paths["tool_result"], "M0 0H120V"+edge(15_000)), paths["tool_result"])
}

func TestEveryMarkLeadsToARowAndHasAName(t *testing.T) {
	doc := parse(t, auditPage(t, report.HTMLAudit{Audit: sample(), Charts: sampleCharts()}))
	rows, marks := map[string]bool{}, 0
	all(doc, func(n *html.Node) {
		if id := attribute(n, "id"); id != "" {
			assert.False(t, rows[id], "%s twice", id)
			rows[id] = true
		}
	})
	all(doc, func(n *html.Node) {
		if row := attribute(n, "data-row"); row != "" {
			marks++
			assert.True(t, rows[row], row)
			assert.NotEmpty(t, attribute(n, "tabindex"))
			assert.True(t, attribute(n, "aria-label") != "" || strings.TrimSpace(content(n)) != "", row)
		}
		if n.Data == "svg" && attribute(n, "class") == "drawing" {
			for _, id := range strings.Fields(attribute(n, "aria-labelledby")) {
				assert.NotEmpty(t, strings.TrimSpace(content(byID(t, doc, id))), "title and description")
			}
		}
	})
	assert.Greater(t, marks, 240)
}

// What is first on the page is what the terminal says.
func TestPageLeadsWithTheSameSentences(t *testing.T) {
	a := sample()
	doc := parse(t, auditPage(t, report.HTMLAudit{Audit: a, Charts: sampleCharts()}))
	var first string
	all(doc, func(n *html.Node) {
		if n.Data == "section" && first == "" {
			first = strings.Join(strings.Fields(content(n)), " ")
		}
	})
	onTerminal := strings.Join(strings.Fields(terminal(t, a, report.Options{Width: 160, UTF8: true})), " ")
	assert.Contains(t, onTerminal, first)
	assert.True(t, strings.HasPrefix(first, "What to change first First: "), first)
}

func TestNoTextUnlessAskedFor(t *testing.T) {
	c := sampleCharts()
	key := analyze.ItemKey{SessionID: c.Items[0].SessionID, Item: c.Items[0].Item}
	const secret = "a text that a log holds"
	assert.NotContains(t, auditPage(t, report.HTMLAudit{Audit: sample(), Charts: c}), "Texts of the heaviest items")
	with := auditPage(t, report.HTMLAudit{Audit: sample(), Charts: c, Texts: map[analyze.ItemKey]string{key: secret + strings.Repeat("\nline", 500)}})
	assert.Contains(t, with, secret)
	assert.Equal(t, 39, strings.Count(with, ">line<"), "40 lines are shown, the first one is another")
	assert.Contains(t, with, "the text goes on")
}

// A page of 500 requests, 20 sub-agents and texts stays below 2 MB.
func TestPageStaysSmall(t *testing.T) {
	a, c := sample(), sampleCharts()
	kinds := []string{"tool_result", "tool_call", "assistant_text", "reasoning", "user_text", "system_prompt", "tool_definitions", "project_context", "reminder", "summary", "image", "framing", "unlogged"}
	for i := int64(121); i <= 500; i++ {
		r := c.Requests[i%120]
		r.Request, r.Cause, r.LostTokens, r.Compacted = i, ptr("block-before-conversation"), ptr(int64(123_456)), true
		c.Requests = append(c.Requests, r)
	}
	for i := range c.Requests {
		c.Requests[i].Parts = nil
		for k, kind := range kinds {
			c.Requests[i].Parts = append(c.Requests[i].Parts, analyze.ChartPart{Kind: kind, Tokens: float64(100_000 + 997*i%1_000 + k)})
		}
	}
	long, texts := strings.Repeat("/folder of many names", 20), map[analyze.ItemKey]string{}
	for i := int64(100); i < 220; i++ {
		x := c.Items[0]
		x.Item, x.What = i, &long
		c.Items = append(c.Items, x)
		texts[analyze.ItemKey{SessionID: x.SessionID, Item: i}] = strings.Repeat(strings.Repeat("<&>", 100)+"\n", 50)
	}
	text := auditPage(t, report.HTMLAudit{Audit: a, Charts: c, Texts: texts})
	assert.Less(t, len(text), 2_000_000)
	checkInert(t, parse(t, text))
}

func TestPageOfNothing(t *testing.T) {
	checkInert(t, parse(t, auditPage(t, report.HTMLAudit{Audit: &analyze.Audit{}, Charts: &analyze.Charts{}})))
}

func TestHostileTextInReplayAndCompareHTML(t *testing.T) {
	want := map[string]map[string]int{}
	for name, text := range pages(t, "plain") {
		want[name] = checkInert(t, parse(t, text))
	}
	for _, s := range append(termtest.Hostile(), `</script><script>alert(1)</script>`, `"><svg onload=alert(1)>`) {
		if strings.TrimSpace(s) == "" {
			continue
		}
		for name, text := range pages(t, s) {
			got := checkInert(t, parse(t, text))
			for _, element := range []string{"script", "style", "svg", "table", "a", "section", "figure", "h1", "h2"} {
				assert.Equal(t, want[name][element], got[element], "%s of %s with %q", element, name, s)
			}
		}
	}
}

func TestReplayAndCompareChartsAreTheirNumbers(t *testing.T) {
	replayed := sampleReplay("plain")
	var out bytes.Buffer
	require.NoError(t, report.ReplayHTML(&out, replayed, report.ReplayOptions{}))
	rows := twin(t, parse(t, out.String()), "saved")
	i := 0
	for _, e := range replayed.Report.Variants {
		if e.StaticSavingTokens == nil || e.Unsupported != nil || e.Idle() {
			continue
		}
		assert.Equal(t, *e.StaticSavingTokens, number(t, rows[i][1]), e.Variant)
		if e.Detours != nil && e.BreakEvenRequestsTokens != nil && *e.StaticSavingTokens > 0 {
			left := float64(*e.StaticSavingTokens) * (1 - e.Detours.High / *e.BreakEvenRequestsTokens)
			assert.InDelta(t, left, number(t, rows[i][4]), 1, e.Variant)
		}
		i++
	}
	assert.Len(t, rows, i)
	assert.Positive(t, i)
	rows = twin(t, parse(t, out.String()), "usd")
	require.Len(t, rows, 4)
	for i, want := range []string{"3.5 %", "1.6 %", "-196.6 %", "-22.3 %"} { // of $9.50: $0.33, $0.15, -$18.68, -$2.12
		assert.Equal(t, want, rows[i][3])
	}
	rows = twin(t, parse(t, out.String()), "detours")
	i = 0
	for _, e := range replayed.Report.Variants {
		if e.Detours != nil && e.BreakEvenRequestsTokens != nil && *e.BreakEvenRequestsTokens > 0 {
			assert.Equal(t, e.Verdict, rows[i][len(rows[i])-1], e.Variant)
			i++
		}
	}
	assert.Len(t, rows, i)
	assert.Positive(t, i)

	compared := sampleComparison(t, "plain")
	out.Reset()
	require.NoError(t, report.CompareHTML(&out, compared, report.Options{}))
	rows = twin(t, parse(t, out.String()), "changes")
	require.NotEmpty(t, rows)
	assert.Equal(t, "tokens", rows[0][0])
	change, err := strconv.ParseFloat(strings.Trim(strings.NewReplacer("−", "-", "~", "", "%", "", "+", "", " ", "").Replace(rows[0][1]), " "), 64)
	require.NoError(t, err)
	assert.InDelta(t, *compared.Deltas.Tokens.Percent, change, 0.06)
}
