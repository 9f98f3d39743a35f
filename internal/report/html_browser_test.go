package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/page/browsertest"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term/termtest"
)

// pages are one page of each command, with the given text wherever text of a log
// may be.
func pages(t *testing.T, text string) map[string]string {
	t.Helper()
	a, c := hostile(text), sampleCharts()
	for i := range c.Items {
		c.Items[i].What, c.Items[i].Tool = &text, &text
		c.Lifetimes[i].What, c.Lifetimes[i].Tool = &text, &text
	}
	texts := map[analyze.ItemKey]string{{SessionID: c.Items[0].SessionID, Item: c.Items[0].Item}: "the logged text\n" + text}
	var replayed, compared bytes.Buffer
	require.NoError(t, report.ReplayHTML(&replayed, sampleReplay(text), report.ReplayOptions{Diff: true, Lines: 20}))
	require.NoError(t, report.CompareHTML(&compared, sampleComparison(t, text), report.Options{}))
	return map[string]string{
		"audit": auditPage(t, report.HTMLAudit{Audit: a, Charts: c, Texts: texts}), "replay": replayed.String(), "compare": compared.String(),
	}
}

// Every page in a real browser: nothing runs that is not the page's own, nothing is
// asked for, nothing reaches beyond the screen.
func TestPagesInABrowser(t *testing.T) {
	b := browsertest.Open(t)
	for name, text := range pages(t, strings.Join(termtest.Hostile(), " ")+`</script><script>document.title="owned"</script><img src=x onerror='document.title="owned"'>`) {
		path := filepath.Join(t.TempDir(), name+".html")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		for _, width := range []int{375, 1440} {
			var behind [2]any
			for i, dark := range []bool{false, true} {
				b.Screen(width, 900, dark)
				b.Load(path)
				at := fmt.Sprintf("%s at %d, dark %v", name, width, dark)
				assert.Empty(t, b.Console(), at)
				assert.Equal(t, []string{"file://" + path}, b.Requests(), at)
				assert.Equal(t, "fclog "+name, b.Eval("document.title"), at)
				assert.LessOrEqual(t, b.Eval("document.documentElement.scrollWidth"), float64(width), at)
				assert.Zero(t, b.Eval(`Array.from(document.querySelectorAll('figure')).filter(f => !Array.from(f.querySelectorAll('svg.drawing .plot path, svg.cell, .track rect')).some(e => e.getBoundingClientRect().width > 0)).length`),
					"%s: figures without anything drawn", at)
				behind[i] = b.Eval("getComputedStyle(document.body).backgroundColor")
				b.Shoot(fmt.Sprintf("sample-%s-%d-%v", name, width, map[bool]string{false: "light", true: "dark"}[dark]))
			}
			assert.Equal(t, []any{"rgb(255, 255, 255)", "rgb(20, 23, 27)"}, behind[:])
		}
	}
}

func TestPanelTellsOfTheItem(t *testing.T) {
	b := browsertest.Open(t)
	path := filepath.Join(t.TempDir(), "audit.html")
	c := sampleCharts()
	key := analyze.ItemKey{SessionID: c.Items[0].SessionID, Item: c.Items[0].Item}
	require.NoError(t, os.WriteFile(path, []byte(auditPage(t, report.HTMLAudit{Audit: sample(), Charts: c, Texts: map[analyze.ItemKey]string{key: "the logged <b>text</b>"}})), 0o600))
	panel := func() any {
		return b.Eval(`document.getElementById('panel').hidden ? '' : document.getElementById('panel').innerText`)
	}
	b.Screen(1440, 900, false)
	b.Load(path)
	assert.Equal(t, "", panel())

	b.Point(`[data-row="lifetime-0"]`)
	text := panel()
	for _, want := range []string{"exec_command", "go test ./... -count=1", "12–82", "times carried", "71", "695,800", "the logged <b>text</b>"} {
		assert.Contains(t, text, want)
	}
	b.Point(`[data-row="payload-16"]`)
	assert.Contains(t, panel(), "request 17")
	assert.Contains(t, panel(), "only a poll")
	b.Point("h1")
	assert.Equal(t, "", panel())

	b.Eval(`document.querySelector('#payload .mark[tabindex="0"]').focus()`)
	assert.Contains(t, panel(), "request 1\n")
	b.Press("ArrowRight", 39)
	assert.Contains(t, panel(), "request 2\n")
	assert.Equal(t, "payload-1", b.Eval("document.activeElement.dataset.row"))
	assert.Equal(t, float64(1), b.Eval(`document.querySelectorAll('#payload .mark[tabindex="0"]').length`), "one stop for Tab")
	b.Press("End", 35)
	assert.Contains(t, panel(), "request 120")
	b.Press("Escape", 27)
	assert.Equal(t, "", panel())
	assert.Empty(t, b.Console())
}

// On a phone no table of a page loses a column or has to be moved sideways.
func TestTablesOnAPhone(t *testing.T) {
	b := browsertest.Open(t)
	for name, text := range pages(t, "a text of a log") {
		path := filepath.Join(t.TempDir(), name+".html")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		b.Screen(375, 900, false)
		b.Load(path)
		assert.NotZero(t, b.Eval(`document.querySelectorAll('section > .scroll').length`), name)
		assert.Zero(t, b.Eval(`Array.from(document.querySelectorAll('section > .scroll')).filter(e => e.scrollWidth > e.clientWidth + 1).length`), "%s: tables wider than the screen", name)
		assert.Zero(t, b.Eval(`Array.from(document.querySelectorAll('section > .scroll td:not(.b)')).filter(e => e.textContent !== '' && e.getBoundingClientRect().height === 0).length`), "%s: cells that are not shown", name)
		assert.Zero(t, b.Eval(`Array.from(document.querySelectorAll('section > .scroll td.n[data-head]')).filter(e => e.textContent !== '' && !getComputedStyle(e, '::before').content.includes(e.dataset.head)).length`), "%s: numbers without a name", name)
	}
}

// The numbers of a row stand apart however long they are: 12 digits are wider than a
// fifth of a phone.
func TestLongNumbersOnAPhone(t *testing.T) {
	a := sample()
	input, read := int64(123_456_789_012), int64(123_000_000_000)
	a.Totals.InputTokens, a.Totals.CacheReadTokens = &input, &read
	path := filepath.Join(t.TempDir(), "audit.html")
	require.NoError(t, os.WriteFile(path, []byte(auditPage(t, report.HTMLAudit{Audit: a, Charts: sampleCharts()})), 0o600))
	b := browsertest.Open(t)
	b.Screen(375, 900, false)
	b.Load(path)
	assert.Contains(t, b.Eval("document.body.textContent"), "123,456,789,012")
	assert.Zero(t, b.Eval(`Array.from(document.querySelectorAll('section > .scroll td.n')).filter(e => e.scrollWidth > e.clientWidth + 1).length`))
}

// On paper there is no panel and no list of sections, and what was folded stays so.
func TestPageOnPaper(t *testing.T) {
	b := browsertest.Open(t)
	path := filepath.Join(t.TempDir(), "audit.html")
	require.NoError(t, os.WriteFile(path, []byte(auditPage(t, report.HTMLAudit{Audit: sample(), Charts: sampleCharts()})), 0o600))
	b.Screen(794, 1123, true)
	b.Load(path)
	b.Call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	assert.Equal(t, "none", b.Eval("getComputedStyle(document.querySelector('nav')).display"))
	assert.Equal(t, "rgb(255, 255, 255)", b.Eval("getComputedStyle(document.body).backgroundColor"), "dark screens print on white")
	assert.Equal(t, "#ffffff", b.Eval("getComputedStyle(document.documentElement).getPropertyValue('--on').trim()"), "with the colours of the light scheme")
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": false}, nil) // A4 with margins of 1 cm
	assert.LessOrEqual(t, b.Eval("document.documentElement.scrollWidth"), 718.0, "no table goes beyond the paper")
	b.Shoot("sample-print")
}
