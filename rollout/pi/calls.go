package pi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
	"github.com/fclog/fclog/rollout/shellcmd"
)

// tool says what a tool does.
type tool struct {
	class             rollout.ToolClass
	readOnly, mutates bool
}

var tools = map[string]tool{
	"bash":       {rollout.ShellTool, false, true},
	"read":       {rollout.ReadTool, true, false},
	"ls":         {rollout.ReadTool, true, false},
	"grep":       {rollout.SearchTool, true, false},
	"find":       {rollout.SearchTool, true, false},
	"edit":       {rollout.EditTool, false, true},
	"write":      {rollout.EditTool, false, true},
	"todo":       {rollout.TodoTool, false, false},
	"subagent":   {rollout.AgentTool, false, true},
	"web_search": {rollout.WebTool, true, false},
	"web_fetch":  {rollout.WebTool, true, false},
	"fetch":      {rollout.WebTool, true, false},
}

type arguments struct {
	Command str            `json:"command"`
	Path    str            `json:"path"`
	File    str            `json:"file_path"`
	Offset  jsontext.Value `json:"offset"`
	Limit   jsontext.Value `json:"limit"`
}

// describe fills in what a call's name and arguments tell.
func describe(c *rollout.Call, args string) {
	var a arguments
	_ = logfile.Unmarshal([]byte(args), &a)
	t, ok := tools[c.Tool]
	if !ok {
		t = tool{rollout.OtherTool, false, true}
	}
	c.Class, c.ReadOnly, c.Mutates = t.class, t.readOnly, t.mutates
	switch c.Class {
	case rollout.ShellTool:
		c.Command = a.Command.V
		c.ReadOnly, c.Mutates = shellcmd.Effect(c.Command)
		if shellcmd.Waits(c.Command) {
			c.Poll = rollout.PollUnknown
		}
	case rollout.ReadTool, rollout.SearchTool, rollout.EditTool:
		c.Path = a.Path.V
		if c.Path == "" {
			c.Path = a.File.V
		}
		if c.Class == rollout.ReadTool {
			c.Range = lines(a.Offset, a.Limit)
		}
	}
}

// lines is "OFFSET:LIMIT" with the absent side empty; "" for the default.
func lines(offset, limit jsontext.Value) string {
	from, count := digits(offset), digits(limit)
	if from == "" && count == "" {
		return ""
	}
	return from + ":" + count
}

func digits(raw jsontext.Value) string {
	s := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	if s == "null" || len(s) > 20 {
		return ""
	}
	return s
}

// outcome fills in what a result tells of its call.
func (r *reader) outcome(e *entry, m *message, item int, text string) {
	index, ok := r.calls[m.CallID.V]
	if !ok {
		r.fold("result-without-call", e.line, "a result answers a call that is not in the log")
		return
	}
	c := &r.b.Session.Calls[index]
	if c.ResultItem >= 0 {
		return
	}
	c.ResultItem, c.Ran = item, true
	if m.IsError.OK {
		c.Failed = &m.IsError.V
	}
	if ms := e.time().Sub(c.Time).Milliseconds(); !e.time().IsZero() && !c.Time.IsZero() && ms >= 0 && ms < longestCall {
		c.DurationMS = &ms
	}
	if c.Class == rollout.ShellTool {
		r.background(c, text)
	}
	r.truncation(c, m, text)
	r.children(c, e, m)
}

var (
	readCut   = regexp.MustCompile(`\n\n\[Showing lines \d+-\d+ of \d+(?: \([\d.]+\w+ limit\))?\. Use offset=\d+ to continue\.\]$|^\[Line \d+ is [^\]\n]* limit\. Use bash: `)
	askedCut  = regexp.MustCompile(`\n\n\[\d+ more lines in file\. Use offset=\d+ to continue\.\]$`)
	shellCut  = regexp.MustCompile(`\[Showing (?:lines \d+-\d+ of \d+|last [^\n\]]+ of line \d+)[^\n\]]*\. Full output: ([^\n\]]+)\]`)
	searchCut = regexp.MustCompile(`\n\n\[[^\n\]]*(?:limit reached|lines truncated)[^\n]*\]$`)
)

// tail is how much of a result's end is searched for pi's own notices.
const tail = 1000

// truncation tells whether the model saw only a part of the output. A read that
// ends where the model asked it to is no truncation.
func (r *reader) truncation(c *rollout.Call, m *message, text string) {
	end := text[max(0, len(text)-tail):]
	switch {
	case c.Class == rollout.ReadTool && readCut.MatchString(end):
		c.Truncated, c.Handle = rollout.Recoverable, c.Path
	case c.Class == rollout.ReadTool && askedCut.MatchString(end):
	case c.Class == rollout.ShellTool && shellCut.MatchString(end):
		c.Truncated, c.Handle = rollout.Recoverable, shellCut.FindStringSubmatch(end)[1]
	case (c.Class == rollout.SearchTool || c.Tool == "ls") && searchCut.MatchString(end):
		c.Truncated = rollout.Lost
	case m.Details.V.Truncation.V.Truncated.V:
		c.Truncated = rollout.Lost
	}
	if c.Handle != "" && !slices.Contains(r.handles, c.Handle) {
		r.handles = append(r.handles, c.Handle)
	}
}

// recovers marks a call that goes back to an output the model saw a part of: the
// same file from another line on, or the file that holds the whole output.
func (r *reader) recovers(c *rollout.Call) {
	for _, h := range slices.Backward(r.handles) {
		switch {
		case c.Class == rollout.ReadTool && c.Path == h && (c.Range != "" || !r.wasRead(h)):
		case c.Class == rollout.ShellTool && strings.Contains(c.Command, h):
		default:
			continue
		}
		c.Recovers = h
		return
	}
}

// wasRead says whether a handle is a file that the read tool cut: reading it
// again from the start brings back the same part.
func (r *reader) wasRead(handle string) bool {
	return slices.ContainsFunc(r.b.Session.Calls, func(c rollout.Call) bool { return c.Handle == handle && c.Class == rollout.ReadTool })
}

// task is something a command left running.
type task struct {
	name string
	last string // newest look at it
}

// background follows what shell commands leave running, and the commands that
// only look after it. The log does not tell whether it had ended.
func (r *reader) background(c *rollout.Call, text string) {
	if name := shellcmd.Task(c.Command); name != "" {
		c.Task, c.Starts, c.Poll = name, true, rollout.NoPoll
		r.tasks = append(r.tasks, &task{name: name})
		return
	}
	for _, t := range slices.Backward(r.tasks) {
		if !shellcmd.LooksAt(c.Command, t.name) {
			continue
		}
		c.Task, c.Poll = t.name, rollout.PollUnknown
		if text == t.last {
			c.Poll = rollout.PollEmpty
		}
		t.last = text
		return
	}
	if c.Poll != rollout.NoPoll && len(r.tasks) == 1 {
		c.Task = r.tasks[0].name
	}
}
