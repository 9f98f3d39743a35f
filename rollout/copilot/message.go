package copilot

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// system puts the system prompt in place, or another one in its stead.
func (r *reader) system(a *agent, e *event) {
	role := rollout.RoleSystem
	if e.Data.V.Role.V == "developer" {
		role = rollout.RoleDeveloper
	}
	if e.Data.V.Content.V == "" {
		return
	}
	if a.system != nil && a.b.Session.Texts[a.system.Text].S == e.Data.V.Content.V {
		return
	}
	item := a.text(rollout.SystemPrompt, role, "", e.Data.V.Content.V, rollout.Logged)
	if a.system == nil {
		a.system = a.chain.Add(rollout.SlotSystem, item)
		return
	}
	a.chain.Swap(a.system, item)
}

// user holds what the user typed, in the form it is sent.
func (r *reader) user(a *agent, e *event) {
	text := first(e.Data.V.Transformed.V, e.Data.V.Content.V)
	if text != "" {
		a.hold(a.text(rollout.UserText, rollout.RoleUser, "", text, rollout.Logged))
	}
	for _, raw := range e.Data.V.Attachments.V {
		var attachment struct {
			Type str `json:"type"`
		}
		if logfile.Unmarshal(raw, &attachment) == nil && (attachment.Type.V == "image" || attachment.Type.V == "blob") {
			a.lost["image bytes"] = true
		}
	}
	a.failed = 0
}

// turnStart opens a model call. Turns count from 0 on each user message.
func (r *reader) turnStart(a *agent, e *event) {
	r.unanswered(a, rollout.CutOff)
	a.turn = e
	if e.Data.V.Turn.V == "0" || a.run == 0 {
		a.run++
	}
}

// unanswered records a call that was opened and brought no message.
func (r *reader) unanswered(a *agent, status rollout.Status) {
	if a.turn == nil {
		return
	}
	turn := a.turn
	a.turn = nil
	a.flush()
	a.chain.Request(rollout.Request{
		Kind: rollout.KindTurn, Run: max(a.run, 1), Attempt: 1 + a.failed, Base: -1, Time: turn.time(), Model: r.modelOf(a),
		Status: status, Messages: a.messages(), Line: turn.line,
	})
	a.failed++
}

// close ends a conversation with the file.
func (r *reader) close(a *agent) {
	r.unanswered(a, rollout.InFlight)
	for _, c := range a.open {
		if !c.done {
			r.fold(a, "missing-result", a.b.Session.Calls[a.calls[c.id]].Line, "a call has no result in the log")
		}
	}
	a.b.Finish()
}

func (a *agent) messages() *int64 {
	n := int64(len(a.pieces))
	return &n
}

// modelOf is the model of calls that do not name theirs; a sub-agent's may be
// another than the session's.
func (r *reader) modelOf(a *agent) string {
	if a == r.main {
		return r.model
	}
	return a.model
}

var bareUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// inserted tells a call that the CLI put in by itself: no model made it.
func inserted(d *data) bool {
	if d.MadeBy.V != "" || d.CallID.V != "" || d.Turn.V != "" || d.RequestID.V != "" || d.Output.OK || d.Content.V != "" || len(d.Tools.V) == 0 {
		return false
	}
	for _, ask := range d.Tools.V {
		if !bareUUID.MatchString(ask.V.ID.V) {
			return false
		}
	}
	return true
}

// assistant takes a response in, or a part of one.
func (r *reader) assistant(a *agent, e *event) {
	d := &e.Data.V
	if inserted(d) {
		a.flush()
		at := a.begin()
		r.asks(a, e, -1, at)
		return
	}
	if reply := a.responses[d.CallID.V]; reply != nil && d.CallID.V != "" {
		r.produced(a, e, reply.request, reply.piece)
		return
	}
	a.flush()
	request := r.request(a, e)
	at := a.begin()
	if d.CallID.V != "" {
		a.responses[d.CallID.V] = &reply{request, at}
	}
	a.failed, a.turn = 0, nil
	r.produced(a, e, request, at)
}

// begin starts an empty message and returns its place.
func (a *agent) begin() int {
	a.pieces = append(a.pieces, piece{})
	return len(a.pieces) - 1
}

// request records the call that a message answers.
func (r *reader) request(a *agent, e *event) int {
	d := &e.Data.V
	req := rollout.Request{
		ID: a.requestID(d), Kind: rollout.KindTurn, Run: max(a.run, 1), Attempt: 1 + a.failed, Base: -1, Time: e.time(),
		Model: first(d.MadeBy.V, r.modelOf(a)), Status: rollout.Answered, Subscription: true, Messages: a.messages(), Line: e.line,
	}
	if a.turn != nil && !a.turn.time().IsZero() {
		req.Time = a.turn.time()
	}
	if u := r.usages[d.CallID.V]; u != nil && !u.taken && d.CallID.V != "" {
		u.taken = true
		u.fill(&req, r.tokens(a, u.usage, u.event.line))
	} else if d.Output.OK {
		req.Usage = r.tokens(a, usage{Output: d.Output}, e.line)
	}
	req.OutputFinal = req.Usage.Output != nil
	return a.chain.Request(req)
}

// fill takes a usage record into its request. With the user's own key the
// provider bills by token, else Copilot does by request.
func (u *usageRecord) fill(req *rollout.Request, tokens rollout.Usage) {
	req.Usage = tokens
	req.Model = first(req.Model, u.usage.Model.V)
	req.Provider = u.usage.Provider.V
	req.Subscription = !u.usage.OwnKey.V
	req.DurationMS, req.TTFTMS = millis(u.usage.Duration), millis(u.usage.TTFT)
}

func millis(v float) *int64 {
	if !v.OK || !(v.V >= 0 && v.V < 24*3600*1000) {
		return nil
	}
	ms := int64(v.V)
	return &ms
}

// requestID is the provider's ID of a response, else Copilot's of the message.
// Some servers give every response the same.
func (a *agent) requestID(d *data) string {
	for _, id := range []string{d.CallID.V, d.MessageID.V} {
		if id != "" && !a.ids[id] {
			a.ids[id] = true
			return id
		}
	}
	return ""
}

// produced adds what a message brought: reasoning, text, calls.
func (r *reader) produced(a *agent, e *event, request, at int) {
	d := &e.Data.V
	opaque := first(d.Encrypted.V, d.Opaque.V)
	if d.Reasoning.V != "" {
		a.add(at, rollout.Item{Kind: rollout.Reasoning, Request: request, Text: a.b.Text(d.Reasoning.V)})
	}
	if opaque != "" {
		a.pieces[at].opaque = true
		// Anthropic's is the signature of the text beside it, which costs nothing.
		if d.Reasoning.V == "" || !strings.HasPrefix(a.b.Session.Requests[request].Model, "claude") {
			a.add(at, rollout.Item{Kind: rollout.Reasoning, Label: "encrypted", Request: request, Text: a.b.OpaqueText(opaque)})
		}
	}
	if d.Content.V != "" {
		a.add(at, rollout.Item{Kind: rollout.AssistantText, Request: request, Text: a.b.Text(d.Content.V)})
	}
	r.asks(a, e, request, at)
}

// add puts an item of a response into its message.
func (a *agent) add(at int, it rollout.Item) int {
	it.Role, it.Origin = rollout.RoleAssistant, rollout.Logged
	item := a.b.Item(it)
	a.pieces[at].entries = append(a.pieces[at].entries, a.chain.Add(rollout.SlotConversation, item))
	return item
}

// asks adds the calls of a message.
func (r *reader) asks(a *agent, e *event, request, at int) {
	for _, ask := range e.Data.V.Tools.V {
		args := arguments(ask.V.Arguments)
		item := a.add(at, rollout.Item{Kind: rollout.ToolCall, Tool: ask.V.Name.V, CallID: ask.V.ID.V, Request: request, Text: a.b.Text(args)})
		c := rollout.Call{
			Request: request, ID: a.callID(ask.V.ID.V), Tool: ask.V.Name.V, Args: a.b.Session.Items[item].Text, ArgsItem: item, ResultItem: -1,
			Time: e.time(), Line: e.line,
		}
		describe(&c, args)
		a.recovers(&c)
		a.calls[ask.V.ID.V] = a.b.Call(c)
		r.holder[ask.V.ID.V] = a
		a.open = append(a.open, &call{id: ask.V.ID.V})
	}
}

// arguments are compact JSON, or the free text of a custom tool.
func arguments(raw jsontext.Value) string {
	var text str
	if raw.Kind() == '"' && logfile.Unmarshal(raw, &text) == nil {
		return text.V
	}
	args, err := logfile.Compact(raw)
	if err != nil || args == "" || args == "null" {
		return "{}"
	}
	return args
}

func (a *agent) callID(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; a.used[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	a.used[unique] = true
	return unique
}

// usageRecord keeps a usage for the message that follows it.
func (r *reader) usageRecord(a *agent, e *event) {
	u := e.Data.V.Usage.V
	key := first(u.CallID.V, "line "+fmt.Sprint(e.line))
	if old := r.usages[key]; old != nil && !old.taken {
		key = "line " + fmt.Sprint(e.line)
	}
	r.usages[key] = &usageRecord{usage: u, agent: a, event: e}
}
