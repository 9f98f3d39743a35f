package page

// Bars compares sizes: one bar per row from zero, on one scale.
type Bars struct {
	ID, Title, Desc string
	Rows            []BarRow
	Heads           []Column // of the twin, after the name
	Legend          []Legend
}

// BarRow is one size. Nil is unknown: the row has no bar.
type BarRow struct {
	Name      Text
	Sub       Text
	Value     string
	Class     string
	Size      *float64 // the bar; below 0 it goes the other way
	More      *float64 // a paler piece that reaches this far
	MoreClass string
	Low, High *float64 // a line over it
	Limit     *float64 // an upright line
	Depth     int
	Faint     bool
	Cells     []Cell
}

// Figure draws them.
func (b Bars) Figure() Figure {
	f := Figure{ID: b.ID, Title: b.Title, Desc: b.Desc, Legend: b.Legend,
		Twin: &Table{Caption: b.Title, Columns: append([]Column{{Title: "what"}}, b.Heads...)}}
	s := b.scale()
	for i, r := range b.Rows {
		row := rowID(b.ID, i)
		bar := Bar{Label: r.Name, Sub: r.Sub, Value: r.Value, Depth: min(r.Depth, maxDepth), Row: row, Faint: r.Faint}
		if r.Size != nil {
			end := *r.Size
			if r.More != nil && *r.More > end {
				bar.Parts = append(bar.Parts, part(r.MoreClass, s.at(max(end, 0)), s.at(*r.More)))
			}
			bar.Parts = append(bar.Parts, part(r.Class, s.at(min(0, end)), s.at(max(0, end))))
		}
		if r.Low != nil && r.High != nil {
			bar.Parts = append(bar.Parts, whisker("whisker", s.at(*r.Low), s.at(*r.High)))
			for _, end := range []float64{*r.Low, *r.High} {
				if end >= s.low && end <= s.high { // a line that goes on beyond the edge has no end there
					bar.Parts = append(bar.Parts, tick("whisker", s.at(end)))
				}
			}
		}
		if r.Limit != nil {
			bar.Parts = append(bar.Parts, tick("limit", s.at(*r.Limit)))
		}
		if s.low < 0 {
			bar.Parts = append(bar.Parts, tick("zero", s.at(0)))
		}
		f.Bars = append(f.Bars, bar)
		f.Twin.Rows = append(f.Twin.Rows, Row{ID: row, Faint: r.Faint, Cells: append([]Cell{{Text: r.Name}}, r.Cells...)})
	}
	return f
}

// maxDepth is how deep the style sheet sets rows in.
const maxDepth = 4

// scale maps values to shares of a track.
type scale struct{ low, high float64 }

func (s scale) at(v float64) float64 {
	if s.high <= s.low {
		return 0
	}
	return min(max((v-s.low)/(s.high-s.low), 0), 1)
}

// scale holds zero and all values. A line may reach beyond the bars by half their
// range at most: it would press them flat.
func (b Bars) scale() scale {
	var s, whole scale
	for _, r := range b.Rows {
		for _, v := range []*float64{r.Size, r.More, r.Limit} {
			if v != nil {
				s.low, s.high = min(s.low, *v), max(s.high, *v)
			}
		}
		for _, v := range []*float64{r.Low, r.High} {
			if v != nil {
				whole.low, whole.high = min(whole.low, *v), max(whole.high, *v)
			}
		}
	}
	room := (s.high - s.low) / 2
	return scale{low: max(min(whole.low, s.low), s.low-room), high: min(max(whole.high, s.high), s.high+room)}
}

// Changes shows changes with their intervals around no change.
type Changes struct {
	ID, Title, Desc string
	Rows            []BarRow // Size is the change
	Heads           []Column
}

// Figure draws them as points with lines.
func (c Changes) Figure() Figure {
	f := Figure{ID: c.ID, Title: c.Title, Desc: c.Desc,
		Twin: &Table{Caption: c.Title, Columns: append([]Column{{Title: "what"}}, c.Heads...)}}
	reach := 0.0
	for _, r := range c.Rows {
		for _, v := range []*float64{r.Size, r.Low, r.High} {
			if v != nil {
				reach = max(reach, *v, -*v)
			}
		}
	}
	reach *= 1.05 // points at the ends are whole
	s := scale{-reach, reach}
	for i, r := range c.Rows {
		row := rowID(c.ID, i)
		bar := Bar{Label: r.Name, Sub: r.Sub, Value: r.Value, Row: row, Parts: []BarPart{tick("zero", 0.5)}}
		if r.Low != nil && r.High != nil {
			bar.Parts = append(bar.Parts, whisker("whisker", s.at(*r.Low), s.at(*r.High)))
		}
		if r.Size != nil {
			at := s.at(*r.Size)
			bar.Parts = append(bar.Parts, part(r.Class, max(at-0.006, 0), min(at+0.006, 1)))
		}
		f.Bars = append(f.Bars, bar)
		f.Twin.Rows = append(f.Twin.Rows, Row{ID: row, Cells: append([]Cell{{Text: r.Name}}, r.Cells...)})
	}
	return f
}
