package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/page/browsertest"
)

// htmlPage runs a command that writes a page and returns the page's path and nodes.
func htmlPage(t *testing.T, h home, args ...string) (string, *html.Node) {
	t.Helper()
	path := filepath.Join(h.dir, "report.html")
	r := h.run(append(args, "--format", "html", "-o", path)...)
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Less(t, len(text), 2_000_000)
	doc, err := html.Parse(strings.NewReader(string(text)))
	require.NoError(t, err)
	return path, doc
}

// columnSum adds up a column of the table of a figure; of rows whose first cell is
// not set in, as a tree's is.
func columnSum(t *testing.T, n *html.Node, figure string, column int) int64 {
	t.Helper()
	sum := int64(0)
	for d := range n.Descendants() {
		if d.Data != "tr" || !strings.HasPrefix(attributeOf(d, "id"), figure+"-") {
			continue
		}
		var cells []string
		for c := range d.ChildNodes() {
			if c.Type == html.ElementNode {
				cells = append(cells, textOf(c))
			}
		}
		if strings.HasPrefix(cells[0], " ") || cells[column] == "–" || cells[column] == "" {
			continue
		}
		v, err := strconv.ParseInt(strings.ReplaceAll(cells[column], ",", ""), 10, 64)
		require.NoError(t, err)
		sum += v
	}
	return sum
}

func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// auditSums are what the pictures of an audit must add up to.
type auditSums struct {
	Totals struct {
		InputTokens     *int64 `json:"input_tokens"`
		CacheReadTokens *int64 `json:"cache_read_tokens"`
	} `json:"totals"`
	CacheBreaks []struct {
		LostTokens int64 `json:"lost_tokens"`
	} `json:"cache_breaks"`
}

// checkAuditPage holds the pictures of one session, all on its main chain, against
// the audit's totals.
func checkAuditPage(t *testing.T, paths ...string) string {
	t.Helper()
	h := newHome(t)
	path, doc := htmlPage(t, h, append([]string{"audit"}, paths...)...)
	r := h.run(append([]string{"audit", "--format", "json"}, paths...)...)
	require.Equal(t, 0, r.code, r.stderr)
	var want auditSums
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &want))

	assert.InDelta(t, *want.Totals.InputTokens, columnSum(t, doc, "payload", 1), 300, "every request is rounded")
	assert.InDelta(t, *want.Totals.InputTokens, columnSum(t, doc, "where", 1), 30, "every kind is rounded")
	assert.Equal(t, *want.Totals.CacheReadTokens, columnSum(t, doc, "cache-read", 1))
	lost := int64(0)
	for _, b := range want.CacheBreaks {
		lost += b.LostTokens
	}
	assert.Equal(t, lost, columnSum(t, doc, "cache-read", 4))
	return path
}

func TestHTMLOfTheBundledSession(t *testing.T) {
	checkAuditPage(t, "--demo")
}

// realSession is the largest of the sessions of a folder.
func realSession(t *testing.T) string {
	return devdata.Dir(t, "freecode", "large-seven", "freecode", "rollout", "sessions", "b4d6d881-2641-4c29-9423-d486cbc38aea", "events.jsonl")
}

func TestHTMLOfARealSession(t *testing.T) {
	path := checkAuditPage(t, realSession(t))
	b := browsertest.Open(t)
	for _, width := range []int{375, 1440} {
		b.Screen(width, 900, false)
		b.Load(path)
		assert.Empty(t, b.Console())
		assert.Equal(t, []string{"file://" + path}, b.Requests())
		assert.LessOrEqual(t, b.Eval("document.documentElement.scrollWidth"), float64(width))
		b.Shoot("real-" + strconv.Itoa(width))
	}
}

func TestHTMLShowsTextOnlyWhenAskedTo(t *testing.T) {
	h := newHome(t)
	_, without := htmlPage(t, h, "audit", "--demo")
	_, with := htmlPage(t, h, "audit", "--demo", "--with-text")
	texts := func(n *html.Node) (count int) {
		for d := range n.Descendants() {
			if d.Data == "pre" {
				count++
			}
		}
		return count
	}
	assert.Zero(t, texts(without))
	assert.Greater(t, texts(with), 10)

	_, replayed := htmlPage(t, h, "replay", "--demo")
	assert.Zero(t, texts(replayed))
	_, replayed = htmlPage(t, h, "replay", "--demo", "--with-text")
	assert.Positive(t, texts(replayed))
}

func TestHTMLFlags(t *testing.T) {
	h := newHome(t)
	for _, args := range [][]string{
		{"audit", "--demo", "--with-text"},
		{"replay", "--demo", "--with-text"},
		{"replay", "--demo", "--format", "html", "--diff"},
	} {
		r := h.run(args...)
		assert.Equal(t, 2, r.code, args)
		assert.Contains(t, r.stderr, "--with-text", args)
	}
}
