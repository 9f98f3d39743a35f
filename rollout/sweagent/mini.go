package sweagent

import (
	"regexp"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// mini reads the messages of mini-swe-agent. What ends the list, a submission or
// why the run stopped, was never sent.
func (r *run) mini(d *document) {
	r.number = 1
	if c := d.Info.V.Config.V; c.Model.Name.V != "" {
		r.model = c.Model.Name.V
	}
	r.b.Session.CWD = d.Info.V.Config.V.Environment.CWD.V
	msgs := messages(d.Messages.V)
	talk, last := r.dialog(), 0
	var open []*open
	for i := range msgs {
		m := &msgs[i]
		if role(m) == "exit" {
			break
		}
		r.widen(clock(m.Extra.V.Timestamp))
		if !isAnswer(m) {
			continue
		}
		talk.set(msgs[:i], open)
		r.answered(talk, m)
		open, last = nil, i
		if role(m) == "assistant" {
			open, last = r.miniCalls(m, msgs[i+1:]), i+1
		}
	}
	if !d.Info.V.ExitStatus.OK {
		last = len(msgs)
	}
	talk.set(msgs[:last], open)
}

// isAnswer tells a message that an API response stands behind: an answer, or an
// explanation of why one was rejected.
func isAnswer(m *message) bool {
	return role(m) == "assistant" || role(m) == "user" && m.Extra.V.Response.Kind() == '{'
}

// answered records the request of an answer.
func (r *run) answered(d *dialog, m *message) {
	var a response
	switch {
	case m.Object.V == "response":
		a = m.whole
	case m.Extra.V.Response.Kind() == '{':
		if logfile.Unmarshal(m.Extra.V.Response, &a) != nil {
			r.fold("bad-record", "an API response could not be read; its usage is missing")
		}
	}
	q := rollout.Request{ID: a.ID.V, Time: clock(a.Created), Model: a.Model.V}
	if q.Time.IsZero() {
		q.Time = clock(a.At)
	}
	if q.Time.IsZero() {
		q.Time = clock(m.Extra.V.Timestamp)
	}
	if q.Model == "" {
		q.Model = r.model
	}
	r.widen(q.Time)
	q.Usage, q.OutputFinal = r.usage(&a.Usage)
	q.LoggedUSD = r.usd(a.Usage.V.Cost, m.Extra.V.Cost)
	r.ask(d, q)
	r.reasoning(&a)
}

// reasoning notes what an answer reasoned, which is not sent again.
func (r *run) reasoning(a *response) {
	if len(a.Choices.V) == 0 {
		return
	}
	said := a.Choices.V[0].Message
	s := said.Reasoning.V
	if s == "" {
		s = said.Content.V
	}
	tokens := r.b.Session.Requests[r.request].Usage.Reasoning
	if s == "" && (tokens == nil || *tokens == 0) {
		return
	}
	r.b.Item(rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Origin: rollout.Logged,
		Request: r.request, Text: r.b.Text(s), Tokens: tokens})
}

// usage is OpenAI's, whatever the provider: the prompt includes what was cached,
// the output what was reasoned.
func (r *run) usage(l *logfile.Lenient[usage]) (rollout.Usage, bool) {
	u := &l.V
	in, inDetails, out, outDetails := u.Prompt, u.PromptDetails.V, u.Completion, u.OutDetails.V
	if !in.OK && !out.OK {
		in, inDetails, out, outDetails = u.Input, u.InputDetails.V, u.Output, u.OutputDetails.V
	}
	if !in.OK && !out.OK {
		r.fold("response-without-usage", "a response has no usage")
		return rollout.Usage{}, false
	}
	got := rollout.Usage{Input: r.tokens(in), Output: r.tokens(out), CacheRead: r.tokens(inDetails.Cached),
		CacheWrite: r.tokens(inDetails.Written), Reasoning: r.tokens(outDetails.Reasoning)}
	if got.Input == nil || value(got.CacheRead)+value(got.CacheWrite) > *got.Input {
		if got.Input != nil {
			r.fold("usage-inconsistent", "more was cached than sent; the cache counts were left out")
		}
		got.CacheRead, got.CacheWrite = nil, nil
	}
	if got.Output != nil && value(got.Reasoning) > *got.Output {
		r.fold("usage-inconsistent", "more was reasoned than produced; the reasoning count was left out")
		got.Reasoning = nil
	}
	return got, got.Output != nil
}

// tokens is a count; nil if there is none or it is damage.
func (r *run) tokens(n number) *int64 {
	if !n.OK && !n.Odd {
		return nil
	}
	if n.Odd || n.V < 0 || n.V > rollout.MaxTokens {
		r.fold("bad-number", "a count is no number, negative or impossibly large; it was left out")
		return nil
	}
	return &n.V
}

// usd is the first amount that is there; nil if none is, or it is damage.
func (r *run) usd(amounts ...amount) *float64 {
	for _, a := range amounts {
		if !a.OK {
			continue
		}
		if !(a.V >= 0 && a.V <= rollout.MaxUSD) {
			r.fold("bad-number", "a cost is negative or impossibly large; it was left out")
			continue
		}
		return &a.V
	}
	return nil
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// block is a command in the text of an answer.
var block = regexp.MustCompile("(?s)```(?:bash|mswea_bash_command)\\s*\\n(.*?)\\n?```")

// miniCalls opens the calls of an answer; after are the messages behind it.
func (r *run) miniCalls(m *message, after []message) []*open {
	s := step{}
	if len(calls(m)) == 0 {
		if found := block.FindAllStringSubmatch(words(m.Content), -1); len(found) == 1 {
			s.Action = text{V: strings.TrimSpace(found[0][1]), OK: true}
		}
	}
	opened := r.calls(m, &s)
	for i, o := range opened {
		if i < len(after) && !isAnswer(&after[i]) {
			o.whole = after[i].Extra.V.Raw.V
			if code := after[i].Extra.V.Code; code.OK {
				failed := code.V != 0
				r.b.Session.Calls[o.call].Failed = &failed
			}
		}
	}
	return opened
}
