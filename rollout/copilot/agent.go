package copilot

import (
	"fmt"
	"time"

	"github.com/fclog/fclog/rollout"
)

// agent is one conversation of the file: the main one or a sub-agent's.
type agent struct {
	id         string // "" for the main agent
	parentCall string
	b          *rollout.Builder
	chain      *rollout.Chain
	records    int
	folded     map[string]int

	system *rollout.Entry
	pieces []piece // what the next request carries, in order
	mark   int     // pieces that stood there when a compaction began; -1 none

	compactedAt int // line of the newest compaction

	held    []int   // items that go out behind the open calls' results
	open    []*call // calls of the newest response, in the order asked for
	calls   map[string]int
	used    map[string]bool
	started map[string]time.Time

	turn      *event // the open turn_start
	run       int
	failed    int               // attempts in a row that brought no answer
	responses map[string]*reply // by apiCallId
	ids       map[string]bool
	shutdown  int    // requests at the newest shutdown
	shared    bool   // its totals include those of sub-agents
	model     string // of a sub-agent, as its start says
	shells    map[string]string
	lost      map[string]bool // what the log turned out not to hold
	handles   []string
}

// piece is one message of the conversation.
type piece struct {
	entries []*rollout.Entry
	opaque  bool // reasoning in it survives a resume
}

// reply is a response that may come in several messages.
type reply struct{ request, piece int }

// call is a call that waits to be sent with its result.
type call struct {
	id    string
	items []int // its result
	done  bool
}

func (r *reader) newAgent(id string) *agent {
	b := rollout.NewBuilder(Name)
	b.Session.File = r.path
	a := &agent{
		id: id, b: b, chain: b.Chain(), folded: map[string]int{}, mark: -1, calls: map[string]int{}, used: map[string]bool{},
		started: map[string]time.Time{}, responses: map[string]*reply{}, ids: map[string]bool{}, shells: map[string]string{}, lost: map[string]bool{},
	}
	r.agents = append(r.agents, a)
	return a
}

// agentOf finds whose event it is. Older builds tell a sub-agent's only by the
// call that started it.
func (r *reader) agentOf(e *event) *agent {
	id, call := e.AgentID.V, e.Data.V.ParentCall.V
	if id == "" && call == "" {
		return r.main
	}
	if a := r.byID[id]; a != nil {
		return a
	}
	if a := r.byCall[call]; a != nil && (id == "" || a.id == id) {
		return a
	}
	a := r.newAgent(first(id, call))
	a.parentCall = call
	r.byID[a.id] = a
	if call != "" {
		r.byCall[call] = a
	}
	return a
}

// spawned takes what is said of a sub-agent at its start. Older builds write it
// under the agent that starts it.
func (r *reader) spawned(a *agent, e *event) {
	d := &e.Data.V
	if a == r.main {
		a = r.byCall[d.ToolCallID.V]
		if a == nil {
			a = r.newAgent(first(d.ToolCallID.V, fmt.Sprintf("line-%d", e.line)))
			r.byID[a.id] = a
		}
	}
	a.b.Session.Agent, a.b.Session.SpawnedAt = d.AgentName.V, e.time()
	a.model = d.MadeBy.V
	if a.parentCall == "" {
		a.parentCall = d.ToolCallID.V
	}
	if a.parentCall != "" && r.byCall[a.parentCall] == nil {
		r.byCall[a.parentCall] = a
	}
}

func (a *agent) clock(t time.Time) {
	if t.IsZero() {
		return
	}
	s := a.b.Session
	if s.Started.IsZero() || t.Before(s.Started) {
		s.Started = t
	}
	if t.After(s.Ended) {
		s.Ended = t
	}
}

// text makes an item of a readable text.
func (a *agent) text(kind rollout.ItemKind, role rollout.Role, label, text string, origin rollout.Origin) int {
	return a.b.Item(rollout.Item{Kind: kind, Role: role, Label: label, Origin: origin, Request: -1, Text: a.b.Text(text)})
}

// hold keeps an item until the open calls have their results: a provider takes
// nothing between a call and its result.
func (a *agent) hold(item int) { a.held = append(a.held, item) }

// flush puts the results of the open calls into the conversation, in the order
// asked for, then what was held behind them.
func (a *agent) flush() {
	var waiting []*call
	for _, c := range a.open {
		if !c.done {
			waiting = append(waiting, c)
			continue
		}
		a.put(c.items...)
	}
	a.open = waiting
	for _, item := range a.held {
		a.put(item)
	}
	a.held = nil
}

// put adds a message to the conversation.
func (a *agent) put(items ...int) {
	var p piece
	for _, item := range items {
		p.entries = append(p.entries, a.chain.Add(rollout.SlotConversation, item))
	}
	a.pieces = append(a.pieces, p)
}

// cut drops the first n messages.
func (a *agent) cut(n int) {
	n = min(max(n, 0), len(a.pieces))
	for _, p := range a.pieces[:n] {
		for _, e := range p.entries {
			a.chain.Remove(e)
		}
	}
	a.pieces = append([]piece(nil), a.pieces[n:]...)
	for key, reply := range a.responses {
		if reply.piece -= n; reply.piece < 0 {
			delete(a.responses, key)
		}
	}
}

// truncate drops the oldest messages, as many as the log says.
func (a *agent) truncate(removed num) {
	if !removed.OK || removed.V <= 0 {
		return
	}
	a.flush()
	a.cut(int(min(removed.V, int64(len(a.pieces)))))
}

// forgetReasoning drops readable reasoning: a resumed session goes on without.
func (a *agent) forgetReasoning() {
	for i := range a.pieces {
		p := &a.pieces[i]
		if p.opaque {
			continue
		}
		var kept []*rollout.Entry
		for _, e := range p.entries {
			if a.b.Session.Items[e.Item].Kind == rollout.Reasoning {
				a.chain.Remove(e)
				continue
			}
			kept = append(kept, e)
		}
		p.entries = kept
	}
}
