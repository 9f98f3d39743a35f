package apilog

import "github.com/fclog/fclog/rollout"

// inner returns the calls of all spans, each once: where a gateway or framework
// span stands around the client's own, the inner one counts, with the outer's
// messages if it has none itself. Log events give their messages to their span;
// those whose span never came are calls of their own.
func (ss *spans) inner() []*exchange {
	ss.orphans()
	outer := map[*exchange]bool{}
	for _, x := range ss.calls {
		for id, steps := x.parent, 0; id != "" && steps < maxDepth; id, steps = ss.tree[id].parent, steps+1 {
			y := ss.bySpan[id]
			if y == nil || y == x || !sameCall(x, y) {
				continue
			}
			outer[y] = true
			x.borrow(y)
		}
	}
	var out []*exchange
	for _, x := range ss.calls {
		if !outer[x] {
			ss.place(x)
			out = append(out, x)
		}
	}
	return out
}

// maxDepth bounds walks up a tree that a damaged file may have made a circle.
const maxDepth = 256

// orphans gives log events that came behind their span to it, and makes calls of
// those whose span is not in the file.
func (ss *spans) orphans() {
	for _, id := range ss.order {
		events, ok := ss.said[id]
		if !ok {
			continue
		}
		a := members{}
		for _, e := range events {
			mergeEvent(a, e)
		}
		x := &exchange{line: ss.at[id], api: spanAPI, span: id, trace: events[0].TraceID, record: events[0].TraceID + "/" + id, start: nanos(events[0].Time), final: true}
		x.session, x.id = a.str("gen_ai.conversation.id", "session.id"), a.str("gen_ai.response.id")
		x.provider, x.model = a.str("gen_ai.provider.name", "gen_ai.system"), a.str("gen_ai.response.model", "gen_ai.request.model")
		x.usage = spanUsage(a)
		ss.finish(x, a)
		if known := ss.bySpan[id]; known != nil {
			known.borrow(x)
			continue
		}
		ss.calls = append(ss.calls, x)
	}
}

// sameCall tells two spans of one call by the response or its usage.
func sameCall(x, y *exchange) bool {
	if x.id != "" && y.id != "" {
		return x.id == y.id
	}
	if x.usage == nil || y.usage == nil || x.usage.Input == nil || y.usage.Input == nil || x.usage.Output == nil || y.usage.Output == nil {
		return false
	}
	return *x.usage.Input == *y.usage.Input && *x.usage.Output == *y.usage.Output
}

// borrow takes from the outer span of the same call what this one lacks.
func (x *exchange) borrow(y *exchange) {
	if x.lists == (lists{}) {
		x.lists, x.partial, x.messages = y.lists, y.partial, y.messages
	}
	if len(x.outputs) == 0 {
		x.outputs = y.outputs
	}
	x.session, x.id = first(x.session, y.session), first(x.id, y.id)
}

// place finds the agent a call belongs to, and whether that one was started by
// another.
func (ss *spans) place(x *exchange) {
	var nearest string
	for id, steps := x.parent, 0; id != "" && steps < maxDepth; id, steps = ss.tree[id].parent, steps+1 {
		n := ss.tree[id]
		if n.callID != "" && nearest != "" && x.startedBy == "" {
			x.startedBy = n.callID
		}
		if !n.invoke {
			continue
		}
		if nearest == "" {
			nearest = id
			x.agent = first(x.agent, n.agent)
			continue
		}
		x.subAgent = nearest
	}
}

// durations puts the times of execute_tool spans into the calls of a session.
func (ss *spans) durations(s *rollout.Session) {
	for i := range s.Calls {
		if ms, ok := ss.took[s.Calls[i].ID]; ok && s.Calls[i].DurationMS == nil {
			s.Calls[i].DurationMS = &ms
		}
	}
}
