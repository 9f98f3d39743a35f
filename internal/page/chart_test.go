package page

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func ptr[T any](v T) *T { return &v }

func TestMarkdown(t *testing.T) {
	assert.Equal(t, Prose{{S: "a "}, {S: "b", Strong: true}, {S: " "}, {S: "c", Em: true}, {S: " "}, {S: "--d *e*", Code: true}, {S: "."}},
		Markdown("a **b** *c* `--d *e*`."))
	assert.Equal(t, Prose{{S: "<b> & “x”"}}, Markdown("<b> & “x”"))
	assert.Empty(t, Markdown(""))
}

// No text is lost or made up, whatever is marked.
func TestMarkdownKeepsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching("[a*` ]{0,30}").Draw(t, "s")
		var b strings.Builder
		for _, r := range Markdown(s) {
			b.WriteString(r.S)
		}
		assert.Equal(t, strings.Count(s, "a"), strings.Count(b.String(), "a"))
	})
}

func TestCoordinate(t *testing.T) {
	for want, v := range map[string]float64{"0": -0.001, "1": 1, "1.5": 1.5, "0.13": 0.125001, "100": 100, "-2": -2} {
		assert.Equal(t, want, coordinate(v))
	}
}

func TestNiceStep(t *testing.T) {
	for _, c := range []struct{ top, step float64 }{{0, 0}, {3, 1}, {9, 2}, {10, 2}, {15, 5}, {29, 5}, {30, 10}, {415_833, 100_000}, {50_117, 10_000}} {
		assert.InDelta(t, c.step, niceStep(c.top), 1e-9, "%v", c.top)
	}
}

// Columns that share one in the drawing share a row of the twin, with their sums.
func TestStackOfManyColumns(t *testing.T) {
	s := Stack{ID: "s", Head: "request", Series: []Series{{Class: "a", Name: Own("a")}}}
	for i := range int64(1500) {
		s.Columns = append(s.Columns, StackColumn{Number: i + 1, Values: []float64{2}})
	}
	f := s.Figure()
	require.Len(t, f.Twin.Rows, 500, "three of 1,500 share one, as 600 is the most")
	assert.Equal(t, "1–3", f.Twin.Rows[0].Cells[0].S)
	assert.Equal(t, "6", f.Twin.Rows[0].Cells[1].S)
	assert.Equal(t, 500, f.Marks())
	assert.Contains(t, f.Shapes[0].Paths[0].D, "M0 0H1500", "all means are alike")
}

func TestStackLeavesGaps(t *testing.T) {
	s := Stack{ID: "s", Head: "request", Series: []Series{{Class: "a", Name: Own("a")}}, Lanes: []Lane{{"x", "happens"}, {"y", "never"}},
		Columns: []StackColumn{{Number: 1, Values: []float64{4}, Lanes: []bool{true, false}}, {Number: 2, Lanes: []bool{true, false}}, {Number: 3, Values: []float64{-2}, Lanes: []bool{false, false}}}}
	f := s.Figure()
	assert.Equal(t, "–", f.Twin.Rows[1].Cells[1].S, "unknown is not 0")
	assert.Equal(t, "-2", f.Twin.Rows[2].Cells[1].S, "below 0 is told")
	assert.Equal(t, "M0 0H1V280H3V280H2V280H1V280H0Z", f.Shapes[0].Paths[0].D)
	require.Len(t, f.Legend, 2, "what never happened has no place")
	assert.Equal(t, "happens (2)", f.Legend[1].Name.S)
}

// What is in a node never reaches beyond it, and widths are shares of the whole.
func TestIcicleNests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var roots []Node
		total := 0.0
		for range rapid.IntRange(1, 5).Draw(t, "roots") {
			var n Node
			for range rapid.IntRange(0, 5).Draw(t, "children") {
				c := Node{Value: float64(rapid.IntRange(1, 1000).Draw(t, "value"))}
				n.Value += c.Value
				n.Children = append(n.Children, c)
			}
			n.Value += float64(rapid.IntRange(1, 100).Draw(t, "rest"))
			total += n.Value
			roots = append(roots, n)
		}
		f := Icicle{ID: "i", Roots: roots}.Figure()
		var right float64
		for _, s := range f.Shapes {
			x, w := float(s.X), float(s.W)
			if s.Y == "0" {
				assert.InDelta(t, right, x, 0.5+minCell, "roots stand side by side")
				right = x + w
			}
			assert.LessOrEqual(t, x+w, right+0.02)
		}
		assert.LessOrEqual(t, right, 100.02)
	})
}

func float(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}

func TestBarsShareOneScale(t *testing.T) {
	f := Bars{ID: "b", Rows: []BarRow{
		{Name: Own("x"), Class: "good", Size: ptr(50.0), Low: ptr(25.0), High: ptr(100.0)},
		{Name: Own("y"), Class: "bad", Size: ptr(-50.0)},
		{Name: Own("z")},
	}}.Figure()
	require.Len(t, f.Bars, 3)
	// From -50 to 100: zero stands at a third.
	x := f.Bars[0].Parts
	assert.Equal(t, BarPart{Kind: "rect", Class: "good", X: "33.33", W: "33.33"}, x[0])
	assert.Equal(t, BarPart{Kind: "whisker", Class: "whisker", X: "50", W: "100"}, x[1])
	assert.Equal(t, BarPart{Kind: "rect", Class: "bad", X: "0", W: "33.33"}, f.Bars[1].Parts[0])
	assert.Equal(t, []BarPart{{Kind: "tick", Class: "zero", X: "33.33"}}, f.Bars[2].Parts, "unknown has no bar")
}

// A line that reaches beyond the edge has no end there; a limit is part of the scale.
func TestBarsWithLimitsAndLongLines(t *testing.T) {
	// Bar and limit reach from 0 to 100; lines may reach half of that beyond: from -50.
	f := Bars{ID: "b", Rows: []BarRow{{Class: "bad", Size: ptr(50.0), Low: ptr(-500.0), High: ptr(70.0), Limit: ptr(100.0)}}}.Figure()
	assert.Equal(t, []BarPart{
		{Kind: "rect", Class: "bad", X: "33.33", W: "33.33"}, {Kind: "whisker", Class: "whisker", X: "0", W: "80"}, {Kind: "tick", Class: "whisker", X: "80"},
		{Kind: "tick", Class: "limit", X: "100"}, {Kind: "tick", Class: "zero", X: "33.33"},
	}, f.Bars[0].Parts)
}

func TestLettersFit(t *testing.T) {
	// 10 % of 1,120 pixels are 112; without margins 104, 14 letters of 7.
	assert.Equal(t, 14, letters(10, wide))
	f := Icicle{ID: "i", Roots: []Node{{Name: Own("rather-long-name.go"), Value: 10}, {Name: Own("rest"), Value: 90}}}.Figure()
	assert.Equal(t, "rather-long-n…", f.Shapes[0].Text.S)
}

// A name that is cut only by the border of its piece on a phone of 320 pixels, which
// leaves 296 to the picture, is not shown there: 15 % of it are 44 pixels, or 5 letters.
func TestIcicleNamesFitOnAPhone(t *testing.T) {
	f := Icicle{ID: "i", Roots: []Node{{Name: Own("reads"), Value: 15}, {Name: Own("readers"), Value: 15}, {Name: Own("call arguments"), Value: 70}}}.Figure()
	require.Len(t, f.Shapes, 3)
	for i, small := range []bool{false, true, false} {
		assert.Equal(t, small, f.Shapes[i].Small, f.Shapes[i].Text.S)
	}
}

func TestLivesAreWhereTheirRequestsAre(t *testing.T) {
	f := Lives{ID: "l", Head: "request", First: 1, Last: 10, Lives: []Life{{Name: Own("x"), Class: "a", Spans: [][2]int64{{1, 5}, {10, 10}}}}, Lines: []int64{6}}.Figure()
	assert.Equal(t, []BarPart{
		{Kind: "rect", Class: "a", X: "0", W: "50"}, {Kind: "rect", Class: "a", X: "90", W: "10"}, {Kind: "tick", Class: "compaction", X: "50"},
	}, f.Bars[0].Parts)
}

// No change is in the middle, and as much more as less lies as far on both sides.
func TestChangesAreAroundTheMiddle(t *testing.T) {
	f := Changes{ID: "c", Rows: []BarRow{{Class: "good", Size: ptr(-20.0), Low: ptr(-40.0), High: ptr(0.0)}, {Class: "bad", Size: ptr(20.0)}}}.Figure()
	assert.Equal(t, "50", f.Bars[0].Parts[0].X)
	assert.Equal(t, "50", f.Bars[0].Parts[1].W, "the interval ends at no change")
	left, right := f.Bars[0].Parts[2], f.Bars[1].Parts[1]
	assert.InDelta(t, 100, float(left.X)+float(right.X)+float(right.W), 0.05)
}
