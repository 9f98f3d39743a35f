package copilot

import (
	"github.com/fclog/fclog/rollout"
)

// compacted replaces what stood there when the compaction began by its summary.
// What came since stays behind it.
func (r *reader) compacted(a *agent, e *event) {
	d := &e.Data.V
	a.flush()
	mark := a.mark
	a.mark = -1
	if mark < 0 || mark > len(a.pieces) {
		mark = len(a.pieces)
	}
	r.compactionCall(a, e)
	if d.Success.OK && !d.Success.V || d.Summary.V == "" {
		return
	}
	later := len(a.pieces) - mark
	a.cut(mark)
	a.put(a.text(rollout.Summary, rollout.RoleUser, "compaction", d.Summary.V, rollout.Inferred))
	var order []*rollout.Entry
	order = append(order, a.pieces[later].entries...)
	for _, p := range a.pieces[:later] {
		order = append(order, p.entries...)
	}
	a.chain.Reorder(order)
	a.pieces = append([]piece{a.pieces[later]}, a.pieces[:later]...)
	for _, reply := range a.responses {
		reply.piece++
	}
}

// compactionCall notes the call that wrote a summary, unless a usage record of
// its own already tells of it.
func (r *reader) compactionCall(a *agent, e *event) {
	u := e.Data.V.Compaction
	a.lost["compaction request"] = true
	for _, rec := range r.usages {
		if !rec.taken && rec.agent == a && rec.usage.Interaction.V == "conversation-compaction" && rec.event.line < e.line && rec.event.line > a.compactedAt {
			a.compactedAt = e.line
			return
		}
	}
	a.compactedAt = e.line
	if !u.OK {
		return
	}
	a.b.Session.OtherBilled = append(a.b.Session.OtherBilled, rollout.OtherBilled{
		Kind: "conversation-compaction", Time: e.time(), Model: u.V.Model.V, Usage: r.tokens(a, u.V, e.line), Line: e.line,
	})
}

// cleared empties the conversation.
func (r *reader) cleared(a *agent, e *event) {
	a.flush()
	a.cut(len(a.pieces))
	a.open = nil
	if text := e.Data.V.InitialMessage.V; text != "" {
		a.hold(a.text(rollout.UserText, rollout.RoleUser, "", text, rollout.Logged))
	}
}
