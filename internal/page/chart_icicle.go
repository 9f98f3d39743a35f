package page

import (
	"fmt"
	"math"

	"github.com/fclog/fclog/internal/term"
)

// Icicle is a whole cut into ever smaller pieces, one layer below the other.
type Icicle struct {
	ID, Title, Desc string
	Heads           []Column // of the cells that nodes add to the twin
	Roots           []Node
}

// Node is a piece with the pieces it consists of; what they leave is drawn empty.
type Node struct {
	Name     Text
	Class    string
	Value    float64
	Cells    []Cell
	Excerpt  string // ID of its text; "" not shown
	Children []Node
}

// layers are their heights in pixels.
var layers = []float64{40, 40, 72}

const (
	layerGap  = 2
	minCell   = 0.12 // percent: narrower cells cannot be seen
	minLetter = 3    // percent: narrower cells bear no name
	wide      = 1120 // pixels: a page as wide as it gets
	narrow    = 296  // pixels: a page on the narrowest phone
)

// Figure draws it.
func (c Icicle) Figure() Figure {
	f := Figure{ID: c.ID, Title: c.Title, Desc: c.Desc}
	f.Twin = &Table{Caption: c.Title, Columns: append([]Column{{Title: "what"}, {Title: "carried", Number: true}, {Title: "share", Number: true}}, c.Heads...)}
	total := 0.0
	for _, n := range c.Roots {
		total += max(n.Value, 0)
	}
	x := 0.0
	for _, n := range c.Roots {
		x += c.add(&f, n, 0, x, total)
	}
	for _, h := range layers {
		f.Height += int(h) + layerGap
	}
	for _, n := range c.Roots {
		f.Legend = append(f.Legend, Legend{Class: n.Class, Name: n.Name})
	}
	return f
}

// letters is how many fit into a cell so many percent of a page wide.
func letters(width, page float64) int {
	const margin, letter = 8, 7.0
	return int((width/100*page - margin) / letter)
}

// add draws a node and what is in it, and returns its width in percent.
func (c Icicle) add(f *Figure, n Node, depth int, x, total float64) float64 {
	if total <= 0 {
		return 0
	}
	width := 100 * max(n.Value, 0) / total
	row := rowID(c.ID, len(f.Twin.Rows))
	name := n.Name
	for range depth {
		name.Before = "  " + name.Before
	}
	share := n.Value / total
	f.Twin.Rows = append(f.Twin.Rows, Row{ID: row, Excerpt: n.Excerpt, Cells: append([]Cell{
		{Text: name}, {Text: Own(term.Exact(int64(math.Round(n.Value))))}, {Text: Own(term.Percent(share))},
	}, n.Cells...)})
	if width >= minCell && depth < len(layers) {
		y := 0.0
		for _, h := range layers[:depth] {
			y += h + layerGap
		}
		s := Shape{Kind: "cell", Class: n.Class, X: coordinate(x), Y: coordinate(y), W: coordinate(width), H: coordinate(layers[depth]), Row: row,
			Label: fmt.Sprintf("%s, %s", term.Short(int64(n.Value)), term.Percent(share)), LabelExtra: Own(n.Name.plain())}
		if width >= minLetter {
			s.Text = Own(term.Cut(n.Name.plain(), letters(width, wide)))
			s.Small = term.Width(s.Text.S) > letters(width, narrow) // is left out on narrow screens
		}
		f.Shapes = append(f.Shapes, s)
	}
	at := x
	for _, child := range n.Children {
		at += c.add(f, child, depth+1, at, total)
	}
	return width
}
