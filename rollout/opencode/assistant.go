package opencode

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fclog/fclog/rollout"
)

// clearedResult is what pruning leaves of a tool result.
const clearedResult = "[Old tool result content cleared]"

// step is one model call of a message and what it brought.
type step struct {
	parts   []*part
	retries []*part
	finish  *part
	started bool
}

// steps cuts a message at its step-start parts.
func steps(m *message) []step {
	out := []step{{}}
	for j := range m.parts {
		p := &m.parts[j]
		cur := &out[len(out)-1]
		switch p.Type.V {
		case partStart:
			if cur.started {
				out = append(out, step{started: true})
				continue
			}
			cur.started = true
		case partFinish:
			cur.finish = p
		case partRetry:
			cur.retries = append(cur.retries, p)
		default:
			cur.parts = append(cur.parts, p)
		}
	}
	return out
}

// assistant records the calls of a message and adds what they brought.
func (r *builder) assistant(i int) {
	m := &r.doc.messages[i]
	all := steps(m)
	if made(m, all) {
		r.step(i, all[0].parts, -1)
		return
	}
	unwrap := r.wrap(i)
	for n := range all {
		request := r.request(m, all, n)
		unwrap()
		r.step(i, all[n].parts, request)
	}
}

// made tells a message that OpenCode wrote itself: a command the user ran, a
// sub-agent the user started. No model was asked for it.
func made(m *message, all []step) bool {
	failed, _ := m.errored()
	first := all[0]
	return len(all) == 1 && !first.started && first.finish == nil && !failed && m.Tokens.V.empty() &&
		len(first.parts) > 0 && !slices.ContainsFunc(first.parts, func(p *part) bool { return p.Type.V != partTool })
}

// request records call n of a message, behind the failed tries of it.
func (r *builder) request(m *message, all []step, n int) int {
	s := all[n]
	req := r.newRequest(m, n)
	r.model = req.Provider + "/" + req.Model
	r.before(req.Time)
	for _, p := range s.retries {
		try := req
		try.ID, try.Status, try.Attempt = p.ID.V, rollout.Errored, req.Attempt
		if t := at(p.Time.V.Created); !t.IsZero() {
			try.Time = t
		}
		r.chain.Request(try)
		req.Attempt++
	}
	r.outcome(&req, m, all, n)
	return r.chain.Request(req)
}

// newRequest is what all calls of a message have in common.
func (r *builder) newRequest(m *message, n int) rollout.Request {
	req := rollout.Request{ID: m.ID.V, Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Time: m.created(), Line: m.line, Inherited: r.inherited(m)}
	if n > 0 && req.ID != "" {
		req.ID = fmt.Sprintf("%s#%d", m.ID.V, n+1)
	}
	req.Provider, req.Model = m.messageInfo.model()
	return req
}

// outcome tells how a call ended, what it used and how long it took.
func (r *builder) outcome(req *rollout.Request, m *message, all []step, n int) {
	s, last := all[n], n == len(all)-1
	switch {
	case s.finish != nil && s.finish.Tokens.OK && !s.finish.Tokens.V.empty():
		r.counts(req, s.finish.Tokens, s.finish.Cost, m.line)
	case len(all) == 1:
		r.counts(req, m.Tokens, m.Cost, m.line)
	}
	req.Status = r.status(m, s, last)
	if req.Status == rollout.Answered && req.Usage.Input == nil && req.Usage.Output == nil {
		r.problem("response-without-usage", m.line, "a response has no usage")
	}
	if len(all) == 1 && !slices.ContainsFunc(s.parts, func(p *part) bool { return p.Type.V == partTool }) {
		req.DurationMS = between(m.Time.V.Created, m.Time.V.Completed)
	}
}

func (r *builder) status(m *message, s step, last bool) rollout.Status {
	failed, aborted := m.errored()
	switch {
	case s.finish != nil || !last:
		return rollout.Answered
	case failed && aborted:
		return rollout.CutOff
	case failed:
		return rollout.Errored
	case m.Finish.V != "" || !m.Tokens.V.empty() || at(m.Time.V.Completed) != (time.Time{}):
		return rollout.Answered
	case m.ID.V == r.doc.messages[len(r.doc.messages)-1].ID.V:
		return rollout.InFlight
	}
	return rollout.CutOff
}

func between(from, to number) *int64 {
	start, end := at(from), at(to)
	if start.IsZero() || end.Before(start) {
		return nil
	}
	ms := end.Sub(start).Milliseconds()
	return &ms
}

// before brings the payload to the state of a request at an instant: what was
// pruned by then, and what another model than its own does not get.
func (r *builder) before(when time.Time) {
	for len(r.cleared) > 0 && !when.IsZero() && !r.cleared[0].clear.After(when) {
		p := r.cleared[0]
		r.cleared = r.cleared[1:]
		switch {
		case p.entry == nil:
		case p.gone:
			r.drop(p)
		default:
			r.chain.Replace(p.entry, r.b.Text(clearedResult), nil)
		}
	}
	for _, p := range r.signed {
		if p.entry == nil {
			continue
		}
		if it := r.s.Items[p.item]; p.model == r.model {
			r.chain.Replace(p.entry, it.Text, it.Tokens)
		} else {
			r.chain.Replace(p.entry, r.b.Text(""), nil)
		}
	}
}

// clearLater keeps the results to be cleared in the order of their stamps.
func (r *builder) clearLater(p *placed) {
	at, _ := slices.BinarySearchFunc(r.cleared, p, func(x, y *placed) int { return cmp.Or(x.clear.Compare(y.clear), -1) })
	r.cleared = slices.Insert(r.cleared, at, p)
}

// step adds what one call brought: its text and calls, then their results. What
// a failed message holds is kept without being sent.
func (r *builder) step(i int, parts []*part, request int) {
	m := &r.doc.messages[i]
	sent := r.sentAgain(m)
	var results []*result
	for _, p := range parts {
		switch p.Type.V {
		case partText:
			r.assistantText(i, p, request, sent)
		case partReasoning:
			r.reasoning(i, p, request, sent)
		case partTool:
			results = append(results, r.call(i, p, request, sent))
		case partFile:
			r.unloggedFiles = true
		default:
			r.unknownPart(p, m.line)
		}
	}
	for _, res := range results {
		r.result(i, res, sent)
	}
}

// sentAgain tells whether later requests carry a message. Failed ones are left
// out, interrupted ones only when nothing came.
func (r *builder) sentAgain(m *message) bool {
	failed, aborted := m.errored()
	if !failed {
		return true
	}
	return aborted && slices.ContainsFunc(m.parts, func(p part) bool { return p.Type.V != partStart && p.Type.V != partReasoning })
}

// produced makes an item of what a response brought and sends it on if sent.
func (r *builder) produced(i int, it rollout.Item, request int, sent bool) *placed {
	it.Origin, it.Request = rollout.Logged, request
	item := r.b.Item(it)
	if sent {
		return r.add(i, rollout.SlotConversation, item)
	}
	return &placed{item: item}
}

func (r *builder) assistantText(i int, p *part, request int, sent bool) {
	if p.Text.V == "" {
		return
	}
	kind := rollout.AssistantText
	if r.doc.messages[i].Summary.V {
		kind = rollout.Summary
	}
	r.produced(i, rollout.Item{Kind: kind, Role: rollout.RoleAssistant, Text: r.b.Text(p.Text.V)}, request, sent)
}
