package freecode

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// unnamed is a result that was cut under a call ID that no file names outright.
type unnamed struct {
	item  int
	call  int
	lines int // of the whole output
	id    string
}

// pageFooter ends what the output tool brings back; it counts the lines of the
// output it paged.
var pageFooter = regexp.MustCompile(`\((?:lines from a (\d+)-line output|grep "[^\n]*" over (\d+) lines)\)\s*$`)

// paged learns a call ID from a call that pages the stored output by it: the
// only cut result with that many lines is the one it names.
func (r *reader) paged(call *rollout.Call, display string) {
	m := pageFooter.FindStringSubmatch(display)
	if call.Tool != "output" || m == nil || call.Recovers == "" {
		return
	}
	lines, err := strconv.Atoi(m[1] + m[2])
	if err != nil || slices.ContainsFunc(r.unnamed, func(u *unnamed) bool { return u.id == call.Recovers }) {
		return
	}
	var hit *unnamed
	for _, u := range r.unnamed {
		if u.id != "" || u.lines != lines {
			continue
		}
		if hit != nil {
			return
		}
		hit = u
	}
	if hit != nil {
		hit.id = call.Recovers
	}
}

// nameResults puts the learned call IDs into the markers that were written
// before they were known.
func (r *reader) nameResults(s *rollout.Session) {
	for _, u := range r.unnamed {
		if u.id == "" {
			continue
		}
		r.lostIDs--
		it := &s.Items[u.item]
		before := it.Text
		named := strings.Replace(s.Texts[before].S, cutID(unknownCallID), cutID(u.id), 1)
		it.Text, it.Origin = r.b.Text(named), rollout.Recomputed
		s.Calls[u.call].Handle = u.id
		for i := range s.Spans {
			if s.Spans[i].Item == u.item && s.Spans[i].Text == before {
				s.Spans[i].Text = it.Text
			}
		}
	}
}

func cutID(id string) string {
	return `chars total — use the ` + "`output`" + ` tool with id="` + id + `"`
}
