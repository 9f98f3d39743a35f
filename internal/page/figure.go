package page

import (
	"fmt"
	"strconv"
	"strings"
)

// Figure is a picture with its twin: a table of the same numbers. It is a drawing
// of some height over the whole width, or a list of rows.
type Figure struct {
	ID     string
	Title  string
	Desc   string // what the picture shows, in a sentence or two
	Height int    // of the drawing, in pixels
	Shapes []Shape
	Bars   []Bar
	Axis   []Text // below the rows: left, middle, right
	Legend []Legend
	Twin   *Table
	Open   bool // the twin is open from the start
}

// Interactive says that the figure has marks to point at.
func (f Figure) Interactive() bool { return len(f.Bars) > 0 || f.Marks() > 0 }

// Marks is how many shapes can be pointed at.
func (f Figure) Marks() int {
	n := 0
	for _, s := range f.Shapes {
		if s.Row != "" {
			n++
		}
	}
	return n
}

// Legend explains one colour or sign.
type Legend struct {
	Class string // of the swatch; "" a sign
	Sign  string
	Name  Text
}

// Shape is one part of a drawing. Horizontal coordinates are in percent of its
// width, vertical ones in pixels, so that it fits every width and its letters keep
// their size.
type Shape struct {
	Kind       string // rect, line, tag, plot, cell
	Class      string
	X, Y       string
	W, H       string // of line: the other end; of tag: in pixels
	Text       Text
	Paths      []Path // of a plot
	ViewBox    string // of a plot
	Small      bool   // of a cell: no room for its text on a narrow screen
	Row        string // row of the twin that tells about it; "" none
	Label      string // said of it
	LabelExtra Text   // log text that follows
}

// Path is a line or area of a plot.
type Path struct{ Class, D string }

// Bar is one row of a list: a label, a track with bars, a value.
type Bar struct {
	Label Text
	Sub   Text // below the label
	Value string
	Depth int // of a tree
	Parts []BarPart
	Row   string
	Faint bool
}

// BarPart is a piece of a track, in percent of its width.
type BarPart struct {
	Class string
	X, W  string
	Kind  string // rect, tick, whisker
}

func rect(class string, x, y, w, h float64) Shape {
	return Shape{Kind: "rect", Class: class, X: coordinate(x), Y: coordinate(y), W: coordinate(w), H: coordinate(h)}
}

func line(class string, x1, y1, x2, y2 float64) Shape {
	return Shape{Kind: "line", Class: class, X: coordinate(x1), Y: coordinate(y1), W: coordinate(x2), H: coordinate(y2)}
}

// tag is a few letters at the left, on the page's background: they are read whatever
// is drawn below them.
func tag(y float64, s string) Shape {
	const letter, height = 7.5, 15
	return Shape{Kind: "tag", Y: coordinate(y), W: coordinate(4 + letter*float64(len(s))), H: coordinate(height), Text: Own(s)}
}

// coordinate is short: hundredths of a percent or pixel cannot be seen.
func coordinate(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "" || s == "-0" {
		return "0"
	}
	return s
}

// thinnest is the width in percent of what is there but too small to be seen.
const thinnest = 0.3

// part is a piece of a track from one share of it to another.
func part(class string, from, to float64) BarPart {
	width := 100 * (to - from)
	if width > 0 {
		width = max(width, thinnest)
	}
	return BarPart{Kind: "rect", Class: class, X: coordinate(100 * from), W: coordinate(width)}
}

func tick(class string, at float64) BarPart {
	return BarPart{Kind: "tick", Class: class, X: coordinate(100 * at)}
}

func whisker(class string, from, to float64) BarPart {
	return BarPart{Kind: "whisker", Class: class, X: coordinate(100 * from), W: coordinate(100 * to)}
}

func rowID(figure string, i int) string { return fmt.Sprintf("%s-%d", figure, i) }
