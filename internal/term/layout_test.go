package term_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/term/termtest"
)

func ptr[T any](v T) *T { return &v }

func TestCutMiddle(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"internal/report/terminal.go", 11, "inte…nal.go"}, // 4 + 1 + 6
		{"漢字漢字漢字", 7, "漢…漢字"},                              // 2 + 1 + 4
		{"漢字漢字漢字", 6, "漢…字"},                               // 2 + 1 + 2: one more would make 7
		{"abc", 2, "a…"},
		{"abc", 0, ""},
	} {
		got := term.CutMiddle(c.in, c.width)
		assert.Equal(t, c.want, got, "%q at %d", c.in, c.width)
		assert.LessOrEqual(t, term.Width(got), c.width)
	}
}

func TestFitNeverExceedsItsWidth(t *testing.T) {
	for _, s := range termtest.Hostile() {
		for width := 1; width < 100; width++ {
			assert.LessOrEqual(t, term.Width(term.Fit(s, width)), width, "%q", s)
			for _, line := range term.Wrap(term.Safe(s), width+1) {
				assert.LessOrEqual(t, term.Width(line), width+1, "%q", s)
			}
		}
	}
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 1, 20).Draw(t, "words"), " ")
		width := rapid.IntRange(9, 40).Draw(t, "width")
		assert.Equal(t, s, strings.Join(term.Wrap(s, width), " "))
	})
	assert.Equal(t, []string{"a share of", "40.8 % is", "much"}, term.Wrap("a share of 40.8 % is much", 12))
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		width int
		want  string
	}{
		{0, 10, ""}, {0.0001, 10, "▏"}, {0.5, 4, "██"}, {1, 4, "████"}, {7, 4, "████"},
		{0.53125, 4, "██▏"}, // 0.53125 × 32 eighths = 17 = 2 columns + 1/8
		{-1, 4, ""},
	} {
		assert.Equal(t, c.want, term.Bar(c.share, c.width), "%v of %d", c.share, c.width)
	}
	assert.Equal(t, "###.", term.ASCII("██▊▎"))
}

func TestChart(t *testing.T) {
	values := []*int64{ptr(int64(16)), nil, ptr(int64(8)), ptr(int64(1))}
	assert.Equal(t, []string{"█   ", "█ █▁"}, term.Chart(values, 4, 2))
	assert.Equal(t, []string{"██    ", "██  ██"}, term.Chart(values[:3], 6, 2), "fewer values than columns")
	assert.Equal(t, []string{"█ ", "██"}, term.Chart(values, 2, 2), "a column shows its largest value")
	assert.Equal(t, []string{"█ ▄▁"}, term.Chart(values, 4, 1))
	assert.Equal(t, []string{"   "}, term.Chart(nil, 3, 1))
}

func TestTable(t *testing.T) {
	table := term.Table{
		Columns: []term.Column{
			{Title: "what", Flex: true, Min: 6},
			{Title: "tokens", Right: true},
			{Title: "", Bar: true, Min: 4, Max: 8},
			{Title: "basis", Optional: 1},
		},
		Rows: []term.Row{
			{Cells: []term.Cell{{Text: "tool results"}, {Text: "1.20M"}, {Share: ptr(1.0)}, {Text: "counted"}}},
			{Cells: []term.Cell{{Text: "rest"}, {Text: "3"}, {Share: ptr(0.25)}, {Text: "counted"}}, Detail: []string{"one two three"}},
		},
	}
	plain := term.NewTheme(false)
	assert.Equal(t, []string{
		"what          tokens            basis",
		"tool results   1.20M  ████████  counted",
		"rest               3  ██        counted",
		"  one two three",
	}, table.Render(60, plain))
	assert.Equal(t, []string{
		"what    tokens",
		"to…lts   1.20M  ████",
		"rest         3  █",
		"  one two three",
	}, table.Render(20, plain), "the optional column goes first, then text is cut")

	colored := strings.Join(table.Render(60, term.NewTheme(true)), "\n")
	assert.Contains(t, colored, "\x1b[2m")
	termtest.CheckTerminal(t, colored, 60, true)
}

func TestTablesOfHostileTextFit(t *testing.T) {
	table := term.Table{Columns: []term.Column{
		{Title: "what", Flex: true, Min: 8}, {Title: "n", Right: true}, {Title: "path", Flex: true, Min: 8},
	}}
	for _, s := range termtest.Hostile() {
		table.Rows = append(table.Rows, term.Row{
			Cells:  []term.Cell{{Text: term.Fit(s, 200)}, {Text: "12.3K"}, {Text: term.Fit(s, 200)}},
			Detail: []string{term.Safe(s)},
		})
	}
	for _, width := range []int{40, 80, 160} {
		termtest.CheckTerminal(t, strings.Join(table.Render(width, term.NewTheme(true)), "\n"), width, true)
	}
}

func TestDetect(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	assert.True(t, term.IsUTF8(env(nil)))
	assert.True(t, term.IsUTF8(env(map[string]string{"LANG": "de_DE.UTF-8"})))
	assert.False(t, term.IsUTF8(env(map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"})))
	assert.False(t, term.IsUTF8(env(map[string]string{"LANG": "en_US.ISO-8859-1"})))
	assert.Equal(t, 80, term.WidthOf(&strings.Builder{}, env(nil)))
	assert.Equal(t, 132, term.WidthOf(&strings.Builder{}, env(map[string]string{"COLUMNS": "132"})))
	assert.False(t, term.HasColor(&strings.Builder{}, env(map[string]string{"TERM": "xterm"})), "not a terminal")
}
