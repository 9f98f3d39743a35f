package apilog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read reads a log of calls. It gives one session per conversation that the file
// holds, parents before the sub-agents they started.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	log, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r := newReader(path)
	for log.Next() {
		if r.records%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.record(log.Record(), log.Line())
	}
	if err := log.Err(); err != nil {
		return nil, err
	}
	sessions := r.finish(log.Problems())
	if len(sessions) == 0 {
		return nil, fmt.Errorf("%s: %w: it holds no call of a model", path, logfile.ErrNotLog)
	}
	for _, s := range sessions {
		if err := rollout.Check(s); err != nil {
			return nil, fmt.Errorf("api-log reader: %w", err)
		}
	}
	return sessions, nil
}

// reader is the state of one walk over a file.
type reader struct {
	path      string
	st        *store
	p         *parser
	spans     *spans
	exchanges []*exchange
	records   int
	problems  []rollout.Problem
	folded    map[string]int
}

func newReader(path string) *reader {
	st := newStore()
	p := &parser{st: st}
	return &reader{path: path, st: st, p: p, spans: newSpans(p), folded: map[string]int{}}
}

// record takes one record of the log.
func (r *reader) record(raw []byte, line int) {
	r.records++
	for _, x := range r.open(decode[members](jsontext.Value(raw)), line) {
		x.line = line
		logged := x.usage
		if !x.parse(r.p) {
			r.fold("other-call", line, "the record is a call of something else than a model; it was counted only")
			continue
		}
		x.usage = mergeUsage(x.usage, logged)
		r.exchanges = append(r.exchanges, x)
	}
}

// mergeUsage joins what the response and the envelope tell: the envelope's
// counts where both have them, for it normalised them, the response's details.
func mergeUsage(response, envelope *rollout.Usage) *rollout.Usage {
	if envelope == nil || response == nil || envelope == response {
		return cmp.Or(response, envelope)
	}
	u := *response
	if envelope.Input != nil && (u.Input == nil || *envelope.Input > *u.Input) {
		u.Input = envelope.Input
	}
	if u.Output == nil {
		u.Output = envelope.Output
	}
	return &u
}

// fold notes a problem once per kind and counts the rest.
func (r *reader) fold(kind string, line int, detail string) {
	if i, ok := r.folded[kind]; ok {
		r.problems[i].Count++
		return
	}
	r.folded[kind] = len(r.problems)
	r.problems = append(r.problems, rollout.Problem{File: r.path, Line: line, Kind: kind, Detail: detail, Count: 1})
}

// finish sorts the calls into sessions and builds them.
func (r *reader) finish(problems []rollout.Problem) []*rollout.Session {
	r.exchanges = append(r.exchanges, r.spans.inner()...)
	slices.SortStableFunc(r.exchanges, byTime)
	r.dropRepeats()
	r.resolve()
	var out []*rollout.Session
	for _, g := range r.sort() {
		out = append(out, r.build(g))
	}
	tieChildren(out)
	if len(out) > 0 {
		out[0].Problems = append(out[0].Problems, r.problems...)
		out[0].Problems = append(out[0].Problems, problems...)
		out[0].Records = r.records
	}
	return out
}

// tieChildren names in the call that started a sub-agent the session it became.
func tieChildren(sessions []*rollout.Session) {
	type call struct{ session, id string }
	calls := map[call]*rollout.Call{}
	for _, s := range sessions {
		if s.ParentCall != "" {
			if c := calls[call{s.ParentID, s.ParentCall}]; c != nil {
				c.Child, c.Class = s.ID, rollout.AgentTool
			}
		}
		for i := range s.Calls {
			calls[call{s.ID, s.Calls[i].ID}] = &s.Calls[i]
		}
	}
}

// byTime orders calls by start; those without a time keep the order of the file.
func byTime(x, y *exchange) int {
	if x.start.IsZero() || y.start.IsZero() {
		return cmp.Compare(x.line, y.line)
	}
	return x.start.Compare(y.start)
}

// dropRepeats leaves out records that the file holds twice: the same ID, time and
// payload. Calls without an ID stay: a retry may follow within the same second.
func (r *reader) dropRepeats() {
	type key struct {
		id, span string
		at       int64
		l        lists
	}
	seen := map[key]bool{}
	r.exchanges = slices.DeleteFunc(r.exchanges, func(x *exchange) bool {
		id := first(x.id, x.record)
		if id == "" || x.start.IsZero() {
			return false
		}
		k := key{id, x.span, x.start.UnixNano(), x.lists}
		if seen[k] {
			r.fold("duplicate-record", x.line, "the call stands in the file again, with the same response and time; it was left out")
			return true
		}
		seen[k] = true
		return false
	})
}

// resolve puts what a server held in front of the bodies that only name it: the
// conversation of an earlier response, items of earlier outputs. What is not in
// the file is missing, and said to be.
func (r *reader) resolve() {
	byID := map[string]*exchange{}
	items := map[string][]int32{}
	for _, x := range r.exchanges {
		if x.previous != "" || x.references {
			r.complete(x, byID, items)
		}
		if x.id != "" {
			byID[x.id] = x
		}
		if x.api == responsesAPI && x.payload.session != "" {
			byID[conversationPrefix+x.payload.session] = x
		}
		for id, parts := range x.itemIDs {
			items[id] = parts
		}
		x.itemIDs = nil
		if x.partial {
			r.fold("partial-body", x.line, "the body does not hold all that the model saw: it was cut, or the server kept a part that no earlier record has")
		}
		if x.redacted {
			r.fold("redacted-body", x.line, "texts of the body were cut or left out by the gateway that logged it")
		}
	}
}

func (r *reader) complete(x *exchange, byID map[string]*exchange, items map[string][]int32) {
	var parts []int32
	if before := byID[x.previous]; before != nil {
		parts = append(r.st.partsOf(before.lists.conversation), before.outputs...)
		x.partial = before.partial
	} else if x.previous != "" {
		x.partial = len(x.previous) < len(conversationPrefix) || x.previous[:len(conversationPrefix)] != conversationPrefix || x.partial
	}
	for _, id := range r.st.partsOf(x.lists.conversation) {
		pt := r.st.parts[id]
		if pt.label != reference {
			parts = append(parts, id)
			continue
		}
		found, ok := items[pt.callID]
		x.partial = x.partial || !ok
		parts = append(parts, found...)
	}
	x.conversation, x.tools, x.system = parts, r.st.partsOf(x.lists.tools), r.st.partsOf(x.lists.system)
	x.settle(r.st)
}
