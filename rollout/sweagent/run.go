package sweagent

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// run rebuilds the requests of one document.
type run struct {
	b       *rollout.Builder
	path    string
	line    int
	model   string
	count   int             // pieces so far
	request int             // the newest; -1 none
	number  int             // of the run: attempts are runs
	ids     map[string]bool // call IDs given out
	folded  map[string]int
	cut     map[string]bool // paths whose output was cut
	guessed bool            // payloads are what the history says
	opened  string          // file that the windowed tools show
}

func newRun(path string, line int) *run {
	return &run{b: rollout.NewBuilder(Name), path: path, line: line, request: -1, ids: map[string]bool{}, folded: map[string]int{}, cut: map[string]bool{}}
}

// attempt reads one trajectory of SWE-agent.
func (r *run) attempt(t *trajectory) {
	r.number, r.request = r.number+1, -1
	r.replay(t.Replay)
	steps := r.steps(t.Steps.V)
	lists := r.lists(&steps, messages(t.History.V))
	r.follow(lists, steps)
}

// steps decodes the steps that are model calls. Where steps hold what was sent,
// one that holds nothing was none: the program submitted by itself.
func (r *run) steps(raws []jsontext.Value) []step {
	var all, asked []step
	for _, raw := range raws {
		var s step
		if logfile.Unmarshal(raw, &s) != nil {
			r.fold("bad-record", "a step could not be read; what it held is missing")
			continue
		}
		all = append(all, s)
		if s.Messages.OK || slices.ContainsFunc(messages(s.Query.V), func(m message) bool { return role(&m) != "" }) {
			asked = append(asked, s)
		}
	}
	if len(asked) == 0 && !slices.ContainsFunc(all, func(s step) bool { return s.Query.OK }) {
		return all
	}
	return asked
}

// follow makes a request of every list but the last, which ends with the last
// answer.
func (r *run) follow(lists [][]message, steps []step) {
	d := r.dialog()
	var open []*open
	for k := range steps {
		d.set(lists[k], open)
		r.ask(d, rollout.Request{Model: r.model})
		r.cwd(steps[k].State)
		open = r.calls(lastAnswer(lists[k+1]), &steps[k])
	}
	d.set(lists[len(steps)], open)
}

// ask records a request.
func (r *run) ask(d *dialog, q rollout.Request) {
	n := int64(len(d.groups))
	q.Kind, q.Run, q.Attempt, q.Base, q.Status, q.Messages, q.Line = rollout.KindTurn, max(r.number, 1), 1, -1, rollout.Answered, &n, r.line
	r.request = d.conv.Chain().Request(q)
}

// lists are the messages each step sent, and those of the last with its answer.
// Logs without them get what their history says, and its answers as steps.
func (r *run) lists(steps *[]step, history []message) [][]message {
	sent := make([][]message, 0, len(*steps)+1)
	for _, s := range *steps {
		switch {
		case s.Query.OK:
			sent = append(sent, messages(s.Query.V))
		case s.Messages.OK && len(sent) == 0:
			first := messages(s.Messages.V)
			sent = append(sent, first[:max(lastIndex(first), 0)], first)
		case s.Messages.OK:
			sent = append(sent, messages(s.Messages.V))
		default:
			return r.fromHistory(steps, history)
		}
	}
	if len(sent) > len(*steps) || len(sent) == 0 {
		return r.cutResult(sent, steps, history)
	}
	last := sent[len(sent)-1]
	answer := lastAnswer(history)
	if answer == nil || len(history) <= len(last) {
		answer = said(&(*steps)[len(*steps)-1])
	}
	return append(sent, append(last[:len(last):len(last)], *answer))
}

// cutResult drops what stands behind the last answer: it was never sent.
func (r *run) cutResult(sent [][]message, steps *[]step, history []message) [][]message {
	if len(sent) == 0 {
		return r.fromHistory(steps, history)
	}
	last := sent[len(sent)-1]
	sent[len(sent)-1] = last[:lastIndex(last)+1]
	return sent
}

// fromHistory takes every answer of the history for a step's, whose payload was
// all before it. Calls of other agents within it are left out.
func (r *run) fromHistory(steps *[]step, history []message) [][]message {
	r.guessed = true
	var own []message
	for _, m := range history {
		if len(own) == 0 || m.Agent.V == own[0].Agent.V {
			own = append(own, m)
		}
	}
	var out [][]message
	end := 0
	for i := range own {
		if role(&own[i]) == "assistant" && !own[i].Demo.V {
			out = append(out, own[:i])
			end = i + 1
		}
	}
	fit := make([]step, len(out))
	if len(*steps) >= len(out) {
		copy(fit, *steps)
	}
	*steps = fit
	return append(out, own[:end])
}

func lastIndex(l []message) int {
	for i := len(l) - 1; i >= 0; i-- {
		if role(&l[i]) == "assistant" {
			return i
		}
	}
	return -1
}

func lastAnswer(l []message) *message {
	if i := lastIndex(l); i >= 0 {
		return &l[i]
	}
	return nil
}

// said is an answer that stands in no list, from the step's own copy.
func said(s *step) *message {
	m := &message{Role: text{V: "assistant", OK: true}, Action: s.Action}
	if quoted, err := jsontext.AppendQuote(nil, s.Response.V); err == nil {
		m.Content = quoted
	}
	m.sent = sign(m)
	return m
}

// replay takes the model from the configuration: an object, or a string of it.
func (r *run) replay(raw jsontext.Value) {
	var s string
	if raw.Kind() == '"' && logfile.Unmarshal(raw, &s) == nil {
		raw = jsontext.Value(s)
	}
	var c struct {
		Agent struct {
			Model struct {
				Name text `json:"name"`
			} `json:"model"`
		} `json:"agent"`
	}
	if len(raw) > 0 && logfile.Unmarshal(raw, &c) == nil && c.Agent.Model.Name.V != "" {
		r.model = c.Agent.Model.Name.V
	}
}

// cwd takes the first working folder that a step names.
func (r *run) cwd(raw jsontext.Value) {
	if r.b.Session.CWD != "" {
		return
	}
	var s string
	if raw.Kind() == '"' && logfile.Unmarshal(raw, &s) == nil {
		raw = jsontext.Value(s)
	}
	var state struct {
		Dir text `json:"working_dir"`
	}
	if len(raw) > 0 && logfile.Unmarshal(raw, &state) == nil {
		r.b.Session.CWD = state.Dir.V
	}
}

// fold notes a problem once and counts its repeats.
func (r *run) fold(kind, detail string) {
	if i, ok := r.folded[kind+detail]; ok {
		r.b.Session.Problems[i].Count++
		return
	}
	r.folded[kind+detail] = len(r.b.Session.Problems)
	r.b.Problem(rollout.Problem{File: r.path, Line: r.line, Kind: kind, Detail: detail})
}

// identity is a name of a run that its copies share and other runs of the same
// task do not: the task and a sum over what was said.
func identity(instance string, d *document) string {
	h := sha256.New()
	for _, l := range [][]jsontext.Value{d.Steps.V, d.Attempts.V, d.History.V, d.Messages.V} {
		for _, raw := range l {
			if s, err := logfile.Compact(raw); err == nil {
				h.Write([]byte(s))
			}
		}
	}
	sum := hex.EncodeToString(h.Sum(nil)[:6])
	if instance == "" {
		return sum
	}
	return instance + "-" + sum
}

// clock is a time in seconds since 1970; zero if it is none.
func clock(a amount) time.Time {
	if !a.OK || !(a.V > 1e9 && a.V < 1e10) {
		return time.Time{}
	}
	return time.UnixMilli(int64(a.V * 1000)).UTC()
}

// widen stretches the session's time.
func (r *run) widen(t time.Time) {
	s := r.b.Session
	if t.IsZero() {
		return
	}
	if s.Started.IsZero() || t.Before(s.Started) {
		s.Started = t
	}
	if t.After(s.Ended) {
		s.Ended = t
	}
}

func trim(s string) string { return strings.TrimSpace(s) }
