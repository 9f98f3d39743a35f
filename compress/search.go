package compress

import (
	"strconv"
	"strings"
)

// minRun is how many equal lines in a row become one and a count.
const minRun = 3

const (
	repeatLead = "  [previous line repeated "
	repeatEnd  = " more times]"
)

// collapse replaces runs of equal lines by the line and how often it came again.
// The careful profile leaves runs of such counts alone, so that a text collapsed
// before stays as it is.
func (p Profile) collapse(lines []string) []string {
	out := make([]string, 0, len(lines))
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		if n < minRun || p.careful && isRepeatMarker(lines[i]) {
			out = append(out, lines[i:i+n]...)
		} else {
			out = append(out, lines[i], repeatLead+strconv.Itoa(n-1)+repeatEnd)
		}
		i += n
	}
	return out
}

func isRepeatMarker(line string) bool {
	return strings.HasPrefix(line, repeatLead) && strings.HasSuffix(line, repeatEnd)
}
