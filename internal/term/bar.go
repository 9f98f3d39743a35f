package term

import (
	"math"
	"strings"
)

// eighths are the block characters for 1/8 to 8/8 of a column, filled from the
// left.
var eighths = []rune("▏▎▍▌▋▊▉█")

// levels are the block characters for 1/8 to 8/8 of a row, filled from below.
var levels = []rune("▁▂▃▄▅▆▇█")

// Bar draws share (0 to 1) of width columns in steps of an eighth. A share that
// is not 0 shows at least an eighth. The result is not padded.
func Bar(share float64, width int) string {
	if !(share > 0) || width <= 0 {
		return ""
	}
	steps := int(math.Round(min(share, 1) * float64(width) * 8))
	steps = max(steps, 1)
	bar := strings.Repeat("█", steps/8)
	if rest := steps % 8; rest > 0 {
		bar += string(eighths[rest-1])
	}
	return bar
}

// Chart draws values as columns from 0 to their maximum: height lines of width
// columns, the top line first. Where there are more values than columns, a
// column shows the largest of those it stands for; where there are fewer, values
// are drawn wider. Unknown values leave a gap.
func Chart(values []*int64, width, height int) []string {
	columns := Columns(values, width)
	top := int64(0)
	for _, v := range columns {
		if v != nil {
			top = max(top, *v)
		}
	}
	lines := make([]string, height)
	for i := range lines {
		below := (height - 1 - i) * 8
		var b strings.Builder
		for _, v := range columns {
			b.WriteRune(block(v, top, height, below))
		}
		lines[i] = b.String()
	}
	return lines
}

// block is the part of one column that stands in the line above `below` eighths.
func block(v *int64, top int64, height, below int) rune {
	if v == nil || *v <= 0 || top == 0 {
		return ' '
	}
	steps := int(math.Round(float64(*v) / float64(top) * float64(height*8)))
	switch rest := max(steps, 1) - below; {
	case rest <= 0:
		return ' '
	case rest >= 8:
		return '█'
	default:
		return levels[rest-1]
	}
}

// Columns spreads values over width columns, each with the largest value it
// stands for; nil where none is known.
func Columns(values []*int64, width int) []*int64 {
	columns := make([]*int64, max(width, 0))
	for c := range columns {
		from, to := Bucket(c, width, len(values))
		for _, v := range values[from:to] {
			if v != nil && (columns[c] == nil || *v > *columns[c]) {
				columns[c] = v
			}
		}
	}
	return columns
}

// Bucket gives the values [from, to) that column c of width shows out of n.
func Bucket(c, width, n int) (from, to int) {
	if n == 0 || width <= 0 {
		return 0, 0
	}
	from = c * n / width
	to = max((c+1)*n/width, from+1)
	return from, min(to, n)
}
