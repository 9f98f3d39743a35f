package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/term/termtest"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

func terminal(t *testing.T, a *analyze.Audit, o report.Options) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.Terminal(&out, a, o))
	return out.String()
}

func markdown(t *testing.T, a *analyze.Audit) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.Markdown(&out, a, report.Options{}))
	return out.String()
}

func TestGolden(t *testing.T) {
	for name, got := range map[string]string{
		"term-80.txt":       terminal(t, sample(), report.Options{Width: 80, UTF8: true}),
		"term-160.txt":      terminal(t, sample(), report.Options{Width: 160, UTF8: true}),
		"term-80-ascii.txt": terminal(t, sample(), report.Options{Width: 80}),
		"report.md":         markdown(t, sample()),
		"empty.txt":         terminal(t, &analyze.Audit{SchemaVersion: 1}, report.Options{Width: 80, UTF8: true}),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run with -update to make it")
			assert.Equal(t, string(want), got)
		})
	}
}

func TestColorChangesNothingButColor(t *testing.T) {
	for _, width := range []int{80, 160} {
		plain := terminal(t, sample(), report.Options{Width: width, UTF8: true})
		colored := terminal(t, sample(), report.Options{Width: width, UTF8: true, Color: true})
		assert.NotContains(t, plain, "\x1b")
		assert.Contains(t, colored, "\x1b[1m")
		termtest.CheckTerminal(t, colored, width, true)
		assert.Equal(t, plain, termtest.WithoutColor(colored))
	}
}

func TestASCIIHoldsOnlyASCII(t *testing.T) {
	for _, r := range terminal(t, sample(), report.Options{Width: 80}) {
		assert.Less(t, r, rune(0x80))
	}
}

func TestFitsEveryWidth(t *testing.T) {
	for width := 60; width <= 200; width++ {
		termtest.CheckTerminal(t, terminal(t, sample(), report.Options{Width: width, UTF8: true}), width, false)
	}
}

// hostile puts one text into every field that may hold text of a log.
func hostile(s string) *analyze.Audit {
	a := sample()
	for i := range a.Sessions {
		x := &a.Sessions[i]
		x.SessionID, x.File, x.AgentVersion, x.Agent, x.Models = s, s, &s, &s, []string{s, s + "2"}
	}
	a.Sessions = append(a.Sessions, a.Sessions[0])
	for i := range a.Composition {
		a.Composition[i].Tool = &s
	}
	for i := range a.TopItems {
		a.TopItems[i].Tool, a.TopItems[i].What = &s, &s
	}
	for i := range a.RepeatedCalls {
		a.RepeatedCalls[i].Tool, a.RepeatedCalls[i].Args = s, &s
	}
	for i := range a.Counting {
		a.Counting[i].Model, a.Counting[i].SessionID = &s, s
	}
	for i := range a.Problems {
		a.Problems[i].File = s
	}
	for i := range a.CostBasis {
		a.CostBasis[i].Provider, a.CostBasis[i].Model, a.CostBasis[i].PriceFile = &s, &s, &s
	}
	a.CostBasis = append(a.CostBasis, analyze.CostBasis{Model: &s, Basis: "no-price", Requests: 1})
	a.OtherBilled[0].Kind = s
	a.Missing[0].What = s
	return a
}

func TestHostileTextOnTheTerminal(t *testing.T) {
	for _, s := range termtest.Hostile() {
		for _, width := range []int{80, 160} {
			termtest.CheckTerminal(t, terminal(t, hostile(s), report.Options{Width: width, UTF8: true, Color: true}), width, true)
		}
	}
}

// TestHostileTextInMarkdown compares the structure of the document: whatever the
// text, it holds the same headings, tables and rows, and no links or HTML.
func TestHostileTextInMarkdown(t *testing.T) {
	want := structure(t, markdown(t, hostile("plain")))
	for _, s := range termtest.Hostile() {
		if s == "" {
			continue // the subtitle is left out
		}
		assert.Equal(t, want, structure(t, markdown(t, hostile(s))), "%q", s)
	}
}

func structure(t *testing.T, md string) map[string]int {
	t.Helper()
	kinds := map[string]int{}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(md)))
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		kind := n.Kind().String()
		if entering && kind != "Text" && kind != "CodeSpan" {
			kinds[kind]++
		}
		return ast.WalkContinue, nil
	}))
	assert.Zero(t, kinds["Link"]+kinds["AutoLink"]+kinds["Image"]+kinds["RawHTML"]+kinds["HTMLBlock"])
	return kinds
}

func TestJSONRoundTrips(t *testing.T) {
	for _, s := range append(termtest.Hostile(), "plain") {
		for _, indent := range []bool{false, true} {
			var out bytes.Buffer
			a := hostile(s)
			require.NoError(t, report.JSON(&out, a, indent))
			var back analyze.Audit
			require.NoError(t, json.Unmarshal(out.Bytes(), &back))
			assert.Equal(t, string([]rune(s)), *back.TopItems[0].What, "every invalid byte becomes U+FFFD")
			back.TopItems[0].What, a.TopItems[0].What = nil, nil
			assert.Equal(t, a.Totals, back.Totals)
			assert.Equal(t, a.Growth, back.Growth)
			termtest.CheckTerminal(t, out.String(), term.Width(out.String()), false)
		}
	}
}

func TestJSONKeysAndNulls(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.JSON(&out, &analyze.Audit{SchemaVersion: 1}, false))
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), "compact is one line")
	var got map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	for _, key := range []string{"sessions", "composition", "repeated_calls", "cache_breaks", "savings", "problems"} {
		assert.Equal(t, []any{}, got[key], "an empty list is [], not null: %s", key)
	}
	totals := got["totals"].(map[string]any)
	assert.Nil(t, totals["input_tokens"])
	assert.Contains(t, totals, "input_tokens", "unknown is null, not absent")
	assert.Equal(t, float64(0), totals["requests"])
}

func TestUnknownIsShownAsSuch(t *testing.T) {
	a := sample()
	a.Totals.InputTokens, a.Totals.CostUSD, a.Totals.CacheWriteTokens = nil, nil, nil
	a.CostBasis = []analyze.CostBasis{{Basis: "no-usage", Requests: 119}}
	out := terminal(t, a, report.Options{Width: 80, UTF8: true})
	for _, want := range []string{"unknown: usage not logged", "cache write          –"} {
		assert.Contains(t, out, want)
	}
}

func TestPartlyKnownSums(t *testing.T) {
	a := sample()
	other := a.Sessions[0]
	other.Own.CacheWriteTokens = nil
	a.Sessions = append(a.Sessions, other, other)
	out := terminal(t, a, report.Options{Width: 120, UTF8: true})
	assert.Contains(t, out, "partial: unknown in 2 of 3 sessions")
	assert.Equal(t, 1, strings.Count(out, "partial:"))
}

func TestProblemsAreFolded(t *testing.T) {
	a := sample()
	for range 500 {
		a.Problems = append(a.Problems, analyze.Problem{File: "a.jsonl", Line: 7, Kind: "bad-json", Detail: "the line is not valid JSON", Count: 1})
	}
	out := terminal(t, a, report.Options{Width: 80, UTF8: true})
	assert.Equal(t, 1, strings.Count(out, "bad-json"))
	assert.Contains(t, out, "500")
}
