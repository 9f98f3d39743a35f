package page

import (
	"fmt"

	"github.com/fclog/fclog/internal/term"
)

// Level sets two values per column against each other: what there was, as an area,
// below what there could have been, as a line.
type Level struct {
	ID, Title, Desc string
	Head            string
	Was, Could      string // names
	Columns         []LevelColumn
	Heads           []Column
}

// LevelColumn is one column; nil is unknown.
type LevelColumn struct {
	Number     int64
	Was, Could *int64
	Cells      []Cell
}

const levelHeight = 200

// Figure draws it.
func (l Level) Figure() Figure {
	s := Stack{ID: l.ID, Head: l.Head, Heads: l.Heads}
	n := len(l.Columns)
	was, could, none := make([]float64, n), make([]float64, n), make([]float64, n)
	top := 0.0
	for i, c := range l.Columns {
		was[i], could[i] = float64(known(c.Was)), float64(known(c.Could))
		top = max(top, was[i], could[i])
		s.Columns = append(s.Columns, StackColumn{Number: c.Number})
	}
	f := Figure{ID: l.ID, Title: l.Title, Desc: l.Desc, Height: levelHeight, Axis: s.axis()}
	f.Shapes = append(f.Shapes, Shape{Kind: "plot", X: "0", Y: "0", W: "100", H: coordinate(levelHeight),
		ViewBox: fmt.Sprintf("0 0 %d %d", n, levelHeight), Paths: []Path{
			{Class: "lost", D: area(could, none, top, levelHeight, s.per())},
			{Class: "was", D: area(was, none, top, levelHeight, s.per())},
		}})
	f.Shapes = append(f.Shapes, grid(top, levelHeight)...)
	f.Shapes = append(f.Shapes, s.hits(levelHeight)...)
	f.Legend = []Legend{{Class: "was", Name: Own(l.Was)}, {Class: "lost", Name: Own(l.Could)}}
	f.Twin = l.twin(s)
	return f
}

func (l Level) twin(s Stack) *Table {
	t := &Table{Caption: l.Title, Columns: append([]Column{{Title: l.Head, Number: true}, {Title: l.Was, Number: true}, {Title: l.Could, Number: true}}, l.Heads...)}
	per := s.per()
	for i := 0; i < len(l.Columns); i += per {
		end := min(i+per, len(l.Columns))
		var was, could *int64
		for _, c := range l.Columns[i:end] {
			was, could = plus(was, c.Was), plus(could, c.Could)
		}
		t.Rows = append(t.Rows, Row{ID: rowID(l.ID, i), Cells: append([]Cell{
			{Text: Own(s.name(i, end))}, {Text: Own(term.Opt(was, term.Exact))}, {Text: Own(term.Opt(could, term.Exact))},
		}, l.Columns[i].Cells...)})
	}
	if per > 1 {
		t.More = fmt.Sprintf("%d %ss share a row: sums of their tokens, the rest is of the first.", per, l.Head)
	}
	return t
}

func known(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func plus(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := *a + *b
	return &sum
}
