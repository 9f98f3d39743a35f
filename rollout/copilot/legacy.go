package copilot

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// document is a session of 2025: the history as it was sent, and a timeline for
// display.
type document struct {
	ID       str                                          `json:"sessionId"`
	Start    str                                          `json:"startTime"`
	Messages logfile.Lenient[[]logfile.Lenient[chat]]     `json:"chatMessages"`
	Timeline logfile.Lenient[[]logfile.Lenient[shownOne]] `json:"timeline"`
}

// chat is one message of the history.
type chat struct {
	Role    str                                         `json:"role"`
	Content str                                         `json:"content"`
	CallID  str                                         `json:"tool_call_id"`
	Calls   logfile.Lenient[[]logfile.Lenient[askedOf]] `json:"tool_calls"`
}

type askedOf struct {
	ID       str `json:"id"`
	Function logfile.Lenient[struct {
		Name      str            `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}] `json:"function"`
}

// shownOne is one element of the timeline.
type shownOne struct {
	Type      str            `json:"type"`
	Timestamp str            `json:"timestamp"`
	Text      str            `json:"text"`
	CallID    str            `json:"callId"`
	Name      str            `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Result    logfile.Lenient[struct {
		Type str `json:"type"`
		Log  str `json:"log"`
	}] `json:"result"`
}

// legacy reads the single document. Where the history holds no calls although
// the timeline does, the timeline stands in for it.
func (r *reader) legacy(raw []byte, line int) {
	var d document
	if logfile.Unmarshal(raw, &d) != nil {
		return
	}
	a := r.main
	a.records = 1
	a.b.Session.ID = d.ID.V
	a.clock(parseTime(d.Start.V))
	for _, t := range d.Timeline.V {
		a.clock(parseTime(t.V.Timestamp.V))
	}
	l := &replay{r: r, a: a, line: line}
	if len(d.Messages.V) > 0 && (hasCalls(d) || !shownCalls(d)) {
		l.history(d)
	} else {
		l.timeline(d)
	}
	a.lost["requests"] = len(a.b.Session.Requests) == 0
}

func hasCalls(d document) bool {
	for _, m := range d.Messages.V {
		if len(m.V.Calls.V) > 0 {
			return true
		}
	}
	return false
}

func shownCalls(d document) bool {
	for _, t := range d.Timeline.V {
		if t.V.CallID.V != "" {
			return true
		}
	}
	return false
}

// replay builds requests out of messages that do not tell them apart.
type replay struct {
	r      *reader
	a      *agent
	line   int
	origin rollout.Origin
	open   bool      // the newest response may go on
	at     int       // its message
	when   time.Time // of its newest part
}

// history reads the messages. A response is written as one message for each of
// its calls; it ends where anything else comes.
func (l *replay) history(d document) {
	l.origin = rollout.Logged
	for _, m := range d.Messages.V {
		switch m.V.Role.V {
		case "user":
			l.user(m.V.Content.V)
		case "system", "developer":
			l.r.system(l.a, &event{Data: logfile.Lenient[data]{V: data{Role: m.V.Role, Content: m.V.Content}}})
		case "assistant":
			l.respond(time.Time{}, m.V.Content.V)
			for _, c := range m.V.Calls.V {
				l.call(c.V.ID.V, c.V.Function.V.Name.V, c.V.Function.V.Arguments, time.Time{})
			}
		case "tool":
			l.result(m.V.CallID.V, m.V.Content.V, nil)
		default:
			l.r.fold(l.a, "unknown-record", l.line, "message role "+plain(m.V.Role.V)+" is not known; it was left out", m.V.Role.V)
		}
	}
}

// together is how close the calls of one response stand in the timeline: they
// are noted when the response is there.
const together = 250 * time.Millisecond

// timeline reads what was shown. What the model saw of results may have been
// another text, and where a response ends is a guess: all of it is Inferred.
func (l *replay) timeline(d document) {
	l.origin = rollout.Inferred
	for _, t := range d.Timeline.V {
		when := parseTime(t.V.Timestamp.V)
		switch t.V.Type.V {
		case "user":
			l.user(t.V.Text.V)
		case "copilot":
			l.open = false
			l.respond(when, t.V.Text.V)
		case "tool_call_completed", "tool_call_requested":
			if _, ok := l.a.calls[t.V.CallID.V]; !ok {
				l.open = l.open && when.Sub(l.when).Abs() <= together
				l.respond(when, "")
				l.call(t.V.CallID.V, t.V.Name.V, t.V.Arguments, when)
			}
			if t.V.Result.OK {
				failed := t.V.Result.V.Type.V != "success"
				open := l.open
				l.result(t.V.CallID.V, t.V.Result.V.Log.V, &failed)
				l.open = open
			}
		}
	}
	if len(l.a.b.Session.Requests) > 0 {
		l.a.lost["results as sent"] = true
		l.r.fold(l.a, "display-only", l.line, "the history is empty; requests, calls and results were taken from what was shown")
	}
}

func (l *replay) user(text string) {
	l.open = false
	if text == "" {
		return
	}
	l.a.run++
	l.a.hold(l.a.text(rollout.UserText, rollout.RoleUser, "", text, l.origin))
}

// respond begins a response unless one is going on, and adds a text to it.
func (l *replay) respond(when time.Time, text string) {
	if !l.open {
		l.a.flush()
		l.a.chain.Request(rollout.Request{
			Kind: rollout.KindTurn, Run: max(l.a.run, 1), Attempt: 1, Base: -1, Time: when, Status: rollout.Answered,
			Subscription: true, Messages: l.a.messages(), Line: l.line,
		})
		l.at, l.open = l.a.begin(), true
	}
	l.when = when
	if text != "" {
		item := l.a.add(l.at, rollout.Item{Kind: rollout.AssistantText, Request: l.request(), Text: l.a.b.Text(text)})
		l.a.b.Session.Items[item].Origin = l.origin
	}
}

func (l *replay) request() int { return len(l.a.b.Session.Requests) - 1 }

func (l *replay) call(id, name string, raw jsontext.Value, when time.Time) {
	args := arguments(raw)
	item := l.a.add(l.at, rollout.Item{Kind: rollout.ToolCall, Tool: name, CallID: id, Request: l.request(), Text: l.a.b.Text(args)})
	l.a.b.Session.Items[item].Origin = l.origin
	c := rollout.Call{
		Request: l.request(), ID: l.a.callID(id), Tool: name, Args: l.a.b.Session.Items[item].Text, ArgsItem: item, ResultItem: -1,
		Time: when, Line: l.line,
	}
	describe(&c, args)
	l.a.recovers(&c)
	l.a.calls[id] = l.a.b.Call(c)
	l.a.open = append(l.a.open, &call{id: id})
}

func (l *replay) result(id, text string, failed *bool) {
	l.open = false
	index, ok := l.a.calls[id]
	if !ok || l.a.b.Session.Calls[index].ResultItem >= 0 {
		l.r.fold(l.a, "result-without-call", l.line, "a result answers a call that is not in the log, or one that has a result")
		return
	}
	c := &l.a.b.Session.Calls[index]
	item := l.a.b.Item(rollout.Item{
		Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: c.Tool, CallID: id, Origin: l.origin, Request: -1, Text: l.a.b.Text(text),
	})
	c.ResultItem, c.Ran, c.Failed = item, true, failed
	l.a.answer(id, item)
	l.a.outcome(c, text, failed != nil && *failed)
}
