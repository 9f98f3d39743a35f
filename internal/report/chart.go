package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/term"
)

// eventMarks are the signs below a chart, the most telling first: a column shows
// the first that happened in it, the legend counts all.
var eventMarks = []struct{ event, mark, name string }{
	{"compaction", "C", "compaction"},
	{"cache-break", "×", "cache break"},
	{"run", "|", "new run"},
}

// chart draws columns over an axis with the events marked below.
func (t *terminal) chart(c chart) {
	top := int64(0)
	for _, v := range c.values {
		if v != nil {
			top = max(top, *v)
		}
	}
	axis := chartAxis(top)
	label := 0
	for _, s := range axis {
		label = max(label, term.Width(s))
	}
	width := min(t.width-indent-label-2, chartWidth(len(c.values), t.width))
	for i, line := range term.Chart(c.values, width, chartHeight) {
		t.line(strings.Repeat(" ", indent) + t.theme.Faint.Render(term.Pad(axis[i], label, true)+" │") + t.theme.Bar.Render(strings.TrimRight(line, " ")))
	}
	left := strings.Repeat(" ", indent+label+1)
	if marks := markLine(c.marks, width); strings.TrimSpace(marks) != "" {
		t.line(left + " " + t.theme.Warn.Render(strings.TrimRight(marks, " ")))
	}
	first, last := term.Exact(c.first), "request "+term.Exact(c.first+int64(len(c.values))-1)
	t.line(left + " " + t.theme.Faint.Render(first+term.Pad(last, width-term.Width(first), true)))
	if legend := chartLegend(c.marks); legend != "" {
		t.line(left + " " + t.theme.Faint.Render(legend))
	}
}

// chartAxis labels the top of the highest and the middle line.
func chartAxis(top int64) [chartHeight]string {
	var axis [chartHeight]string
	axis[0] = term.Short(top)
	axis[chartHeight/2] = term.Short(top * (chartHeight - chartHeight/2) / chartHeight)
	return axis
}

// chartWidth gives short sessions columns of whole width instead of a chart of
// wide blocks.
func chartWidth(n, width int) int {
	if n*4 < width {
		return max(n*4, 24)
	}
	return width
}

func markLine(marks [][]string, width int) string {
	var b strings.Builder
	for c := range width {
		from, to := term.Bucket(c, width, len(marks))
		before := -1
		if c > 0 {
			before, _ = term.Bucket(c-1, width, len(marks))
		}
		if from == before { // the request was marked in its first column
			b.WriteByte(' ')
			continue
		}
		b.WriteString(markOf(marks[from:to]))
	}
	return b.String()
}

func markOf(requests [][]string) string {
	for _, e := range eventMarks {
		for _, events := range requests {
			if slices.Contains(events, e.event) {
				return e.mark
			}
		}
	}
	return " "
}

// chartLegend names the signs with how often each event happened.
func chartLegend(marks [][]string) string {
	var parts []string
	for _, e := range eventMarks {
		n := int64(0)
		for _, events := range marks {
			if slices.Contains(events, e.event) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", e.mark, e.name, term.Exact(n)))
		}
	}
	return strings.Join(parts, "  ")
}
