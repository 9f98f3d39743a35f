package pi

import (
	"fmt"
	"time"

	"github.com/fclog/fclog/rollout"
)

// children takes what a result says of the sub-agents its call ran: a session
// for each whose messages it holds, else what it cost.
func (r *reader) children(c *rollout.Call, e *entry, m *message) {
	if c.Inherited {
		return
	}
	for i, child := range m.Details.V.Results.V {
		if s := r.child(c, e, i, &child.V); s != nil {
			if c.Child == "" {
				c.Child = s.ID
			}
			continue
		}
		tokens, ok := child.V.Usage.V.tokens()
		if !child.V.Usage.OK || !ok || tokens == (rollout.Usage{}) {
			continue
		}
		r.b.Session.OtherBilled = append(r.b.Session.OtherBilled, rollout.OtherBilled{
			Kind: "subagent", Time: e.time(), Model: child.V.Model.V, Usage: tokens, Line: e.line,
		})
	}
}

// child is the session of a sub-agent, from the messages that a result holds of
// it; nil where no call of it is among them.
func (r *reader) child(c *rollout.Call, e *entry, index int, of *childResult) *rollout.Session {
	sub := newReader(r.path)
	id := fmt.Sprintf("%s/%s/%d", r.b.Session.ID, c.ID, index)
	sub.header = &entry{ID: str{V: id, OK: true}, CWD: str{V: r.b.Session.CWD, OK: true}, Version: num{V: 3, OK: true}}
	calls := 0
	for i, m := range of.Messages.V {
		if m.V.Role.V == "assistant" {
			calls++
		}
		name := fmt.Sprintf("%s/%d/%d", c.ID, index, i)
		sub.tie(&entry{Type: str{V: "message", OK: true}, ID: str{V: name, OK: true}, Timestamp: ended(&m.V), Message: m, line: e.line})
	}
	if calls == 0 {
		return nil
	}
	for _, entry := range sub.entries {
		sub.clock(entry)
	}
	s := sub.build()
	r.sessions = append(append(r.sessions, s), sub.sessions...)
	s.ParentID, s.ParentCall, s.Agent, s.SpawnedAt = r.b.Session.ID, c.ID, of.Agent.V, c.Time
	return s
}

// ended stands in for the time an entry is written: messages in details have only
// the time they began.
func ended(m *message) str {
	at := m.started()
	if at.IsZero() {
		return str{}
	}
	return str{V: at.Format(time.RFC3339Nano), OK: true}
}
