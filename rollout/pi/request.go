package pi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// longestCall bounds the durations that are believed: a day.
const longestCall = 24 * 3600 * 1000

// assistant records a model call and adds what its response brought.
func (r *reader) assistant(br *branch, i int, e *entry, m *message) {
	r.settle(br)
	if r.run == 0 || r.stopped && br.failed == 0 {
		r.run++
	}
	r.stopped = m.StopReason.V != "toolUse"
	made := m.Provider.V + "/" + m.API.V + "/" + m.Model.V
	r.model = m.Model.V
	r.forget(br, made)
	request := r.request(br, i, e, m)
	if broke(m) {
		br.failed++
		r.broken(br, i, m, request, made)
		return
	}
	br.failed = 0
	p := &piece{entry: i, messages: 1, model: made}
	for _, b := range blocks(m.Content) {
		r.produced(p, e, b, request)
	}
	r.append(br, p)
}

// broke says whether a call brought no whole answer.
func broke(m *message) bool { return m.StopReason.V == "error" || m.StopReason.V == "aborted" }

// broken is an answer that broke off. It is left out of later payloads; version 1
// kept its text: recorded inputs grow by just that.
func (r *reader) broken(br *branch, i int, m *message, request int, made string) {
	if !r.first() {
		return
	}
	p := &piece{entry: i, messages: 1, model: made}
	for _, b := range blocks(m.Content) {
		if b.Type.V == "text" && strings.TrimSpace(b.Text.V) != "" {
			p.items = append(p.items, r.assistantItem(rollout.AssistantText, r.b.Text(b.Text.V), request))
		}
	}
	if len(p.items) > 0 {
		r.append(br, p)
	}
}

// forget drops encrypted reasoning of other models: only its maker can read it.
func (r *reader) forget(br *branch, made string) {
	if br.made == made {
		return
	}
	br.made = made
	br.sealed = slices.DeleteFunc(br.sealed, func(p *piece) bool {
		if p.model == made {
			return false
		}
		r.drop(br, p, r.isSealed)
		return true
	})
}

func (r *reader) request(br *branch, i int, e *entry, m *message) int {
	tokens, ok := m.Usage.V.tokens()
	if !ok {
		r.fold("usage-inconsistent", e.line, "a token count is negative, impossibly large or no number; it was left out")
	}
	messages := br.sent
	req := rollout.Request{
		ID: r.requestID(e, m), Kind: rollout.KindTurn, Run: max(r.run, 1), Attempt: 1 + br.failed, Base: -1,
		Inherited: r.inherited(e), Time: m.started(), Provider: m.Provider.V, Model: m.Model.V, Status: status(m),
		Usage: tokens, OutputFinal: !broke(m) && tokens.Output != nil, LoggedUSD: m.Usage.V.usd(), Messages: &messages, Line: e.line,
	}
	if req.Time.IsZero() {
		req.Time = e.time()
	} else if ms := e.time().Sub(req.Time).Milliseconds(); !e.time().IsZero() && ms > 0 && ms < longestCall {
		req.DurationMS = &ms
	}
	return br.chain.Request(req)
}

func status(m *message) rollout.Status {
	switch m.StopReason.V {
	case "error":
		return rollout.Errored
	case "aborted":
		return rollout.CutOff
	}
	return rollout.Answered
}

// inherited says whether a call was copied from the file this one was forked
// from: it was made before this session began.
func (r *reader) inherited(e *entry) bool {
	if r.header == nil || r.header.forkedFrom() == "" {
		return false
	}
	at, began := e.time(), r.header.time()
	return !at.IsZero() && at.Before(began)
}

// requestID is the provider's response ID, else one made of what copies of the
// entry share. Some servers give every response the same ID.
func (r *reader) requestID(e *entry, m *message) string {
	id := m.ResponseID.V
	if id == "" || r.requestIDs[id] {
		if e.ID.V == "" && !m.Time.OK {
			return ""
		}
		id = fmt.Sprintf("%s@%d", e.ID.V, m.Time.V)
	}
	if r.requestIDs[id] {
		return ""
	}
	r.requestIDs[id] = true
	return id
}

// produced adds one part of a response.
func (r *reader) produced(p *piece, e *entry, b block, request int) {
	switch b.Type.V {
	case "text":
		if strings.TrimSpace(b.Text.V) != "" {
			p.items = append(p.items, r.assistantItem(rollout.AssistantText, r.b.Text(b.Text.V), request))
		}
	case "thinking":
		if strings.TrimSpace(b.Thinking.V) != "" && !b.Redacted.V {
			p.items = append(p.items, r.assistantItem(rollout.Reasoning, r.b.Text(b.Thinking.V), request))
		}
		if data := encrypted(b); data != "" {
			p.items = append(p.items, r.assistantItem(rollout.Reasoning, r.b.OpaqueText(data), request))
		}
	case "toolCall":
		r.toolCall(p, e, b, request)
	default:
		r.fold("unknown-part", e.line, "a response holds a part of a type that is not known; it was left out", b.Type.V)
	}
}

func (r *reader) assistantItem(kind rollout.ItemKind, text rollout.TextID, request int) int {
	return r.b.Item(rollout.Item{Kind: kind, Role: rollout.RoleAssistant, Origin: rollout.Logged, Request: request, Text: text})
}

// toolCall adds a call. Its arguments go out as compact JSON.
func (r *reader) toolCall(p *piece, e *entry, b block, request int) {
	args, err := logfile.Compact(b.Arguments)
	if err != nil || args == "" {
		args = "{}"
	}
	item := r.b.Item(rollout.Item{
		Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: b.Name.V, CallID: b.ID.V,
		Origin: rollout.Logged, Request: request, Text: r.b.Text(args),
	})
	p.items = append(p.items, item)
	p.calls = append(p.calls, openCall{id: b.ID.V, tool: b.Name.V, item: item})
	c := rollout.Call{
		Request: request, ID: r.callID(b.ID.V), Tool: b.Name.V, Args: r.b.Session.Items[item].Text, ArgsItem: item, ResultItem: -1,
		Inherited: r.b.Session.Requests[request].Inherited, Time: e.time(), Line: e.line,
	}
	describe(&c, args)
	r.recovers(&c)
	r.calls[b.ID.V] = r.b.Call(c)
}

func (r *reader) callID(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; r.used[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	r.used[unique] = true
	return unique
}
