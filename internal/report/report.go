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
	for _, s := range []*section{
		head(a, o),
		sessions(a, o),
		kinds(a),
		composition(a, o),
		savings(a),
		cacheBreaks(a),
		topItems(a, o),
		repeatedCalls(a, o),
		standingCalls(a, o),
		polling(a),
		growth(a),
		otherBilled(a),
		counting(a, o),
		missing(a),
		problems(a, o),
	} {
		if s != nil {
			d.sections = append(d.sections, *s)
		}
	}
	return d
}
