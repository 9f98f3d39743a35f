// Package docs holds the pages of the documentation that the program quotes.
package docs

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
)

//go:embed fidelity.md
var fidelity string

// Capture is one row of the table in fidelity.md: a recorded session beside what
// its agent really sent.
type Capture struct {
	Source   string  `json:"source"`  // log format
	Version  string  `json:"version"` // of the agent; "" its logs name none
	Name     string  `json:"capture"`
	Requests int64   `json:"requests"`      // compared
	Sent     int64   `json:"requests_sent"` // really sent
	Tokens   int64   `json:"logged_tokens"` // of the parts that the log holds
	Rebuilt  float64 `json:"rebuilt"`       // share of them that was rebuilt as sent, 0 to 1
	Worst    float64 `json:"worst_session"` // the same of the session that fares worst
	Left     string  `json:"left"`          // what is left and why; "" nothing
}

// The columns of the table.
const (
	agentColumn = iota
	captureColumn
	requestsColumn
	tokensColumn
	rebuiltColumn
	worstColumn
	orderColumn
	errorColumn
	leftColumn
	columns
)

// Captures are the rows of the table, in its order. Rows that are not as expected
// are left out; a test counts them.
func Captures() []Capture {
	_, table, _ := strings.Cut(fidelity, "-run TestFidelity ")
	table, _, _ = strings.Cut(table, "<!-- end of table -->")
	var out []Capture
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != columns {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if c, ok := captureOf(cells); ok {
			out = append(out, c)
		}
	}
	return out
}

func captureOf(cells []string) (Capture, bool) {
	compared, sent, ok := strings.Cut(cells[requestsColumn], " of ")
	if !ok {
		return Capture{}, false
	}
	c := Capture{Name: cells[captureColumn], Left: strings.TrimPrefix(cells[leftColumn], "–")}
	c.Source, c.Version, _ = strings.Cut(cells[agentColumn], " ")
	good := true
	c.Requests = whole(compared, &good)
	c.Sent = whole(sent, &good)
	c.Tokens = whole(cells[tokensColumn], &good)
	c.Rebuilt = share(cells[rebuiltColumn], &good)
	c.Worst = share(cells[worstColumn], &good)
	return c, good
}

func whole(s string, good *bool) int64 {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	*good = *good && err == nil
	return n
}

func share(s string, good *bool) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, " %"), 64)
	*good = *good && err == nil
	return math.Round(v*100) / 1e4 // two decimals, as printed
}
