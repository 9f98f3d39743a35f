package report

import (
	"time"

	"github.com/fclog/fclog/analyze"
)

// Options say how a report is laid out.
type Options struct {
	Width    int            // terminal columns; Markdown has none
	Color    bool           // terminal only
	UTF8     bool           // terminal only: false writes ASCII
	Top      int            // rows of every ranked list; 0 is DefaultTop
	Location *time.Location // for times; nil is UTC
}

// DefaultTop is how many rows ranked lists show.
const DefaultTop = 10

func (o Options) top() int {
	if o.Top > 0 {
		return o.Top
	}
	return DefaultTop
}

func (o Options) location() *time.Location {
	if o.Location != nil {
		return o.Location
	}
	return time.UTC
}

// build turns an audit into a document.
func build(a *analyze.Audit, o Options) document {
	d := document{title: "fclog audit", subtitle: subtitle(a)}
	if len(a.Sessions) == 1 {
		d.file = fromLog(a.Sessions[0].File)
	}
	for _, x := range []struct {
		id      string
		section *section
	}{
		{"totals", head(a, o)},
		{"advice", advice(a)},
		{"sessions", sessions(a, o)},
		{"kinds", kinds(a)},
		{"composition", composition(a, o)},
		{"savings", savings(a)},
		{"cache", cacheBreaks(a)},
		{"items", topItems(a, o)},
		{"repeated", repeatedCalls(a, o)},
		{"standing", standingCalls(a, o)},
		{"polling", polling(a)},
		{"growth", growth(a)},
		{"other", otherBilled(a)},
		{"counting", counting(a, o)},
		{"missing", missing(a)},
		{"problems", problems(a, o)},
	} {
		if x.section != nil {
			x.section.id = x.id
			d.sections = append(d.sections, *x.section)
		}
	}
	return d
}
