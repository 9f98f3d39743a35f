package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/term"
)

// maxColumns is how many columns a drawing has at most; more than that, and several
// requests share one.
const maxColumns = 600

// Stack is a value per column, made up of series.
type Stack struct {
	ID, Title, Desc string
	Head            string // of the columns, such as request
	Series          []Series
	Columns         []StackColumn
	Lanes           []Lane
	Heads           []Column // of the cells that columns add to the twin
}

// Series is one layer of a stack.
type Series struct {
	Class string
	Name  Text
}

// StackColumn is one column. Values are parallel to the series; nil values leave a
// gap. Values below 0 are told by the twin alone.
type StackColumn struct {
	Number int64
	Values []float64
	Lanes  []bool // parallel to the lanes: it happened here
	Border string // class of a vertical line before the column; "" none
	Cells  []Cell // further cells of the twin
}

// Lane is something that happens at some columns: a strip of marks below the stack.
type Lane struct {
	Class, Name string
}

const (
	stackHeight = 280
	laneHeight  = 9
	laneGap     = 3
)

// Figure draws the stack.
func (s Stack) Figure() Figure {
	s = s.withoutIdleLanes()
	f := Figure{ID: s.ID, Title: s.Title, Desc: s.Desc, Height: stackHeight + len(s.Lanes)*(laneHeight+laneGap) + laneGap}
	top := 0.0
	for _, c := range s.Columns {
		top = max(top, c.sum())
	}
	f.Shapes = append(f.Shapes, Shape{Kind: "plot", X: "0", Y: "0", W: "100", H: coordinate(stackHeight),
		ViewBox: fmt.Sprintf("0 0 %d %d", len(s.Columns), stackHeight), Paths: s.paths(top)})
	f.Shapes = append(f.Shapes, s.borders()...)
	f.Shapes = append(f.Shapes, grid(top, stackHeight)...)
	f.Shapes = append(f.Shapes, s.lanes()...)
	f.Shapes = append(f.Shapes, s.hits(f.Height)...)
	f.Axis = s.axis()
	f.Legend = s.legend()
	f.Twin = s.twin()
	return f
}

// withoutIdleLanes leaves out what never happened.
func (s Stack) withoutIdleLanes() Stack {
	var lanes []Lane
	columns := slices.Clone(s.Columns)
	for i := range columns {
		columns[i].Lanes = nil
	}
	for l, lane := range s.Lanes {
		if !slices.ContainsFunc(s.Columns, func(c StackColumn) bool { return c.Lanes[l] }) {
			continue
		}
		lanes = append(lanes, lane)
		for i := range columns {
			columns[i].Lanes = append(columns[i].Lanes, s.Columns[i].Lanes[l])
		}
	}
	s.Lanes, s.Columns = lanes, columns
	return s
}

func (c StackColumn) sum() float64 {
	sum := 0.0
	for _, v := range c.Values {
		sum += max(v, 0)
	}
	return sum
}

// per is how many columns share one that is drawn.
func (s Stack) per() int { return max(1, (len(s.Columns)+maxColumns-1)/maxColumns) }

// paths are the layers, the first series lowest, each as one area of steps.
func (s Stack) paths(top float64) []Path {
	base := make([]float64, len(s.Columns))
	var out []Path
	for i, series := range s.Series {
		upper := make([]float64, len(base))
		any := false
		for k, c := range s.Columns {
			upper[k] = base[k]
			if c.Values != nil && c.Values[i] > 0 {
				upper[k] += c.Values[i]
				any = true
			}
		}
		if any {
			out = append(out, Path{Class: series.Class, D: area(upper, base, top, stackHeight, s.per())})
		}
		base = upper
	}
	return out
}

// area is the outline between two step lines. Of columns that share one it draws
// the mean.
func area(upper, lower []float64, top, height float64, per int) string {
	up, down := means(upper, per), means(lower, per)
	y := func(v float64) string { return coordinate(height - v/cmp.Or(top, 1)*height) }
	var b strings.Builder
	for i, v := range up {
		x := fmt.Sprint(i * per)
		if i == 0 {
			b.WriteString("M0 " + y(v))
		} else if y(v) != y(up[i-1]) {
			b.WriteString("H" + x + "V" + y(v))
		}
	}
	b.WriteString(fmt.Sprintf("H%d", len(upper)))
	for i := len(down) - 1; i >= 0; i-- {
		b.WriteString("V" + y(down[i]) + fmt.Sprintf("H%d", i*per))
	}
	return b.String() + "Z"
}

func means(values []float64, per int) []float64 {
	if per == 1 {
		return values
	}
	var out []float64
	for i := 0; i < len(values); i += per {
		group := values[i:min(i+per, len(values))]
		sum := 0.0
		for _, v := range group {
			sum += v
		}
		out = append(out, sum/float64(len(group)))
	}
	return out
}

// at is where a column begins, in percent.
func (s Stack) at(i int) float64 { return 100 * float64(i) / float64(max(len(s.Columns), 1)) }

func (s Stack) borders() []Shape {
	var out []Shape
	for i, c := range s.Columns {
		if c.Border != "" && i > 0 {
			out = append(out, line(c.Border, s.at(i), 0, s.at(i), stackHeight))
		}
	}
	return out
}

// lanes are the strips of marks. Neighbours become one.
func (s Stack) lanes() []Shape {
	var out []Shape
	for l, lane := range s.Lanes {
		y := float64(stackHeight + laneGap + l*(laneHeight+laneGap))
		from := -1
		for i := 0; i <= len(s.Columns); i++ {
			on := i < len(s.Columns) && s.Columns[i].Lanes[l]
			switch {
			case on && from < 0:
				from = i
			case !on && from >= 0:
				out = append(out, rect(lane.Class, s.at(from), y, s.at(i)-s.at(from), laneHeight))
				from = -1
			}
		}
	}
	return out
}

// hits are what can be pointed at: every column over the whole height.
func (s Stack) hits(height int) []Shape {
	var out []Shape
	for i := 0; i < len(s.Columns); i += s.per() {
		end := min(i+s.per(), len(s.Columns))
		r := rect("hit", s.at(i), 0, s.at(end)-s.at(i), float64(height))
		r.Row, r.Label = rowID(s.ID, i), s.Head+" "+s.name(i, end)
		out = append(out, r)
	}
	return out
}

func (s Stack) name(from, end int) string {
	first, last := term.Exact(s.Columns[from].Number), term.Exact(s.Columns[end-1].Number)
	if first == last {
		return first
	}
	return first + "–" + last
}

func (s Stack) axis() []Text {
	if len(s.Columns) == 0 {
		return nil
	}
	return axisOf(s.Head, s.Columns[0].Number, s.Columns[len(s.Columns)-1].Number)
}

// axisOf labels the left, the middle and the right of an axis.
func axisOf(head string, first, last int64) []Text {
	out := []Text{Own(head + " " + term.Exact(first))}
	if last-first > 3 {
		out = append(out, Own(term.Exact((first+last)/2)))
	}
	if last > first {
		out = append(out, Own(term.Exact(last)))
	}
	return out
}

func (s Stack) legend() []Legend {
	var out []Legend
	for i := len(s.Series) - 1; i >= 0; i-- { // as they lie on one another
		out = append(out, Legend{Class: s.Series[i].Class, Name: s.Series[i].Name})
	}
	for l, lane := range s.Lanes {
		n := int64(0)
		for _, c := range s.Columns {
			if c.Lanes[l] {
				n++
			}
		}
		out = append(out, Legend{Class: lane.Class, Name: Own(fmt.Sprintf("%s (%s)", lane.Name, term.Exact(n)))})
	}
	return out
}

// twin has one row per column; of columns that share one, the sums.
func (s Stack) twin() *Table {
	t := &Table{Caption: s.Title, Columns: []Column{{Title: s.Head, Number: true}, {Title: "all", Number: true}}}
	for _, series := range s.Series {
		t.Columns = append(t.Columns, Column{Title: series.Name.plain(), Number: true})
	}
	t.Columns = append(t.Columns, s.Heads...)
	per := s.per()
	for i := 0; i < len(s.Columns); i += per {
		end := min(i+per, len(s.Columns))
		row := Row{ID: rowID(s.ID, i), Cells: []Cell{{Text: Own(s.name(i, end))}}}
		sums, all, known := make([]float64, len(s.Series)), 0.0, false
		for _, c := range s.Columns[i:end] {
			for k, v := range c.Values {
				sums[k] += v
				all += v
				known = true
			}
		}
		row.Cells = append(row.Cells, tokens(all, known))
		for _, v := range sums {
			row.Cells = append(row.Cells, tokens(v, known))
		}
		row.Cells = append(row.Cells, s.Columns[i].Cells...)
		t.Rows = append(t.Rows, row)
	}
	if per > 1 {
		t.More = fmt.Sprintf("%d %ss share a row: sums of their tokens, the rest is of the first.", per, s.Head)
	}
	return t
}

func tokens(v float64, known bool) Cell {
	if !known {
		return Cell{Text: Own(term.Unknown)}
	}
	return Cell{Text: Own(term.Exact(int64(math.Round(v))))}
}

// grid is lines at round values with their labels above them.
func grid(top, height float64) []Shape {
	var out []Shape
	step := niceStep(top)
	for v := step; v <= top*1.0001 && step > 0; v += step {
		y := height - v/top*height
		out = append(out, line("grid", 0, y, 100, y))
		out = append(out, tag(max(y-15, 0), term.Short(int64(v))))
	}
	return out
}

// niceStep is 1, 2 or 5 times a power of ten, so that it goes three to seven times
// into top.
func niceStep(top float64) float64 {
	if top <= 0 {
		return 0
	}
	p := math.Pow(10, math.Floor(math.Log10(top/3)))
	for _, m := range []float64{5, 2} {
		if m*p*3 <= top {
			return m * p
		}
	}
	return p
}
