package page

// Lives shows who lives from where to where on one axis.
type Lives struct {
	ID, Title, Desc string
	Head            string // of the axis, such as request
	First, Last     int64  // of the axis
	Lines           []int64
	LineName        string // what happens at the lines
	Lives           []Life
	Heads           []Column // of the twin, after the name
}

// Life is one bar with its stretches.
type Life struct {
	Name    Text
	Sub     Text
	Value   string
	Class   string
	Spans   [][2]int64 // first and last, both included
	Cells   []Cell     // of the twin, after the name
	Excerpt string
}

// Figure draws them.
func (l Lives) Figure() Figure {
	f := Figure{ID: l.ID, Title: l.Title, Desc: l.Desc, Axis: axisOf(l.Head, l.First, l.Last),
		Twin: &Table{Caption: l.Title, Columns: append([]Column{{Title: "what"}}, l.Heads...)}}
	n := float64(max(l.Last-l.First+1, 1))
	at := func(request int64) float64 { return min(max(float64(request-l.First)/n, 0), 1) }
	for i, life := range l.Lives {
		row := rowID(l.ID, i)
		b := Bar{Label: life.Name, Sub: life.Sub, Value: life.Value, Row: row}
		for _, s := range life.Spans {
			b.Parts = append(b.Parts, part(life.Class, at(s[0]), at(s[1]+1)))
		}
		for _, request := range l.Lines {
			b.Parts = append(b.Parts, tick("compaction", at(request)))
		}
		f.Bars = append(f.Bars, b)
		f.Twin.Rows = append(f.Twin.Rows, Row{ID: row, Excerpt: life.Excerpt, Cells: append([]Cell{{Text: life.Name}}, life.Cells...)})
	}
	if len(l.Lines) > 0 {
		f.Legend = []Legend{{Class: "compaction", Name: Own(l.LineName)}}
	}
	return f
}
