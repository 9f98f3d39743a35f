package copilot

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// toolStart notes when a call began. One that no message asked for, as older
// builds have them, is added to the newest response.
func (r *reader) toolStart(a *agent, e *event) {
	d := &e.Data.V
	id := d.ToolCallID.V
	a.started[id] = e.time()
	if _, ok := a.calls[id]; ok {
		return
	}
	r.fold(a, "call-without-response", e.line, "a call ran that no response names; it was added to the one before it")
	r.unasked(a, e, d.ToolName.V)
}

// unasked adds a call that stands in no message.
func (r *reader) unasked(a *agent, e *event, name string) {
	args := arguments(e.Data.V.Arguments)
	at, request := len(a.pieces)-1, len(a.b.Session.Requests)-1
	if at < 0 {
		at = a.begin()
	}
	item := a.add(at, rollout.Item{Kind: rollout.ToolCall, Tool: name, CallID: e.Data.V.ToolCallID.V, Request: request, Text: a.b.Text(args)})
	a.b.Session.Items[item].Origin = rollout.Inferred
	c := rollout.Call{
		Request: request, ID: a.callID(e.Data.V.ToolCallID.V), Tool: name, Args: a.b.Session.Items[item].Text, ArgsItem: item, ResultItem: -1,
		Time: e.time(), Line: e.line,
	}
	describe(&c, args)
	a.recovers(&c)
	a.calls[e.Data.V.ToolCallID.V] = a.b.Call(c)
	r.holder[e.Data.V.ToolCallID.V] = a
	a.open = append(a.open, &call{id: e.Data.V.ToolCallID.V})
}

// toolComplete takes a result in.
func (r *reader) toolComplete(a *agent, e *event) {
	d := &e.Data.V
	id := d.ToolCallID.V
	index, ok := a.calls[id]
	if !ok {
		r.fold(a, "result-without-call", e.line, "a result answers a call that is not in the log")
		return
	}
	c := &a.b.Session.Calls[index]
	if c.ResultItem >= 0 {
		r.fold(a, "second-result", e.line, "a call has a second result; it was left out")
		return
	}
	text, origin := d.Result.V.Content.V, rollout.Logged
	failed := d.Success.OK && !d.Success.V
	if failed && text == "" {
		text, origin = d.Error.V.Message.V, rollout.Inferred
		a.lost["texts of failed calls"] = true
	}
	item := a.b.Item(rollout.Item{
		Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: c.Tool, CallID: id, Origin: origin, Request: -1, Text: a.b.Text(text),
	})
	c.ResultItem = item
	c.Denied = failed && denied(d.Error.V.Code.V)
	c.Ran = !c.Denied
	if d.Success.OK {
		c.Failed = &failed
	}
	if began := a.started[id]; !began.IsZero() && !e.time().Before(began) {
		ms := e.time().Sub(began).Milliseconds()
		c.DurationMS = &ms
	}
	a.answer(id, item)
	a.outcome(c, text, failed)
}

// answer gives an open call its result.
func (a *agent) answer(id string, item int) {
	i := slices.IndexFunc(a.open, func(c *call) bool { return c.id == id && !c.done })
	if i < 0 {
		a.hold(item)
		return
	}
	a.open[i].items, a.open[i].done = []int{item}, true
}

// denied says whether an error code is that of a refusal.
func denied(code string) bool {
	return code == "denied" || code == "rejected" || code == "permission_denied"
}

var (
	spilled  = regexp.MustCompile(`^Output too large to read at once \([^)\n]*\)\. Saved to: (\S+)`)
	inShell  = regexp.MustCompile(`<command started in background with shellId: ([^>\s]+)>`)
	running  = regexp.MustCompile(`<command with shellId: ([^>\s]+) is still running after `)
	ended    = regexp.MustCompile(`<(?:shellId: [^>]+ completed|exited) with exit code -?\d+>\s*$|<command with shellId: [^>]* (?:was |has been )?(?:stopped|detached)`)
	agentIDs = regexp.MustCompile(`agent_id: ([\w-]+)`)
	statuses = regexp.MustCompile(`\bstatus: (\w+)`)
)

// outcome fills in what a result tells of its call.
func (a *agent) outcome(c *rollout.Call, text string, failed bool) {
	if m := spilled.FindStringSubmatch(text); m != nil {
		c.Truncated, c.Handle = rollout.Recoverable, m[1]
		a.handles = append(a.handles, m[1])
	}
	switch {
	case c.Class == rollout.ShellTool:
		a.shell(c, text)
	case c.Tool == "task":
		if m := agentIDs.FindStringSubmatch(text); m != nil && strings.HasPrefix(text, "Agent started in background") {
			c.Task, c.Starts = m[1], true
		}
	case c.Class == rollout.PollTool:
		c.Poll = a.poll(c, text, failed)
	}
}

// shell follows a command that goes on in the background.
func (a *agent) shell(c *rollout.Call, text string) {
	for _, re := range []*regexp.Regexp{inShell, running} {
		if m := re.FindStringSubmatch(text[max(0, len(text)-1000):]); m != nil {
			c.Task, c.Starts, c.Poll = m[1], true, rollout.NoPoll
			a.shells[m[1]] = ""
			return
		}
	}
}

// poll says what a look at background work brought. A shell's whole output so
// far comes back every time.
func (a *agent) poll(c *rollout.Call, text string, failed bool) rollout.PollClass {
	if failed {
		if rollout.LostTask(text) {
			return rollout.PollLost
		}
		return rollout.PollUnknown
	}
	if m := statuses.FindStringSubmatch(text); m != nil && c.Tool == "read_agent" {
		if m[1] == "running" {
			return rollout.PollEmpty
		}
		return rollout.PollFinal
	}
	end := text[max(0, len(text)-1000):]
	before := a.shells[c.Task]
	at := running.FindStringIndex(end)
	switch {
	case ended.MatchString(end):
		return rollout.PollFinal
	case at == nil:
		return rollout.PollUnknown
	}
	shown := strings.TrimSpace(text[:len(text)-len(end)+at[0]])
	a.shells[c.Task] = shown
	if shown == before {
		return rollout.PollEmpty
	}
	return rollout.PollProgress
}
