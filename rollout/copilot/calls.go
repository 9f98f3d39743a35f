package copilot

import (
	"fmt"
	"slices"
	"strings"

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
	"bash":          {rollout.ShellTool, false, true},
	"powershell":    {rollout.ShellTool, false, true},
	"read_bash":     {rollout.PollTool, true, false},
	"list_bash":     {rollout.PollTool, true, false},
	"read_agent":    {rollout.PollTool, true, false},
	"list_agents":   {rollout.PollTool, true, false},
	"view":          {rollout.ReadTool, true, false},
	"rg":            {rollout.SearchTool, true, false},
	"grep":          {rollout.SearchTool, true, false},
	"glob":          {rollout.SearchTool, true, false},
	"lsp":           {rollout.SearchTool, true, false},
	"create":        {rollout.EditTool, false, true},
	"edit":          {rollout.EditTool, false, true},
	"apply_patch":   {rollout.EditTool, false, true},
	"task":          {rollout.AgentTool, false, true},
	"web_search":    {rollout.WebTool, true, false},
	"web_fetch":     {rollout.WebTool, true, false},
	"update_todo":   {rollout.TodoTool, false, false},
	"report_intent": {rollout.OtherTool, false, false},
	"task_complete": {rollout.OtherTool, false, false},
	"skill":         {rollout.OtherTool, true, false},
	"stop_bash":     {rollout.OtherTool, false, false},
	"write_agent":   {rollout.OtherTool, false, false},

	"read_powershell": {rollout.PollTool, true, false},
	"list_powershell": {rollout.PollTool, true, false},
	"stop_powershell": {rollout.OtherTool, false, false},

	"fetch_copilot_cli_documentation": {rollout.OtherTool, true, false},
}

type callInput struct {
	Command   str                      `json:"command"`
	Path      str                      `json:"path"`
	ViewRange logfile.Lenient[[]float] `json:"view_range"`
	ShellID   str                      `json:"shellId"`
	Session   str                      `json:"sessionId"`
	AgentID   str                      `json:"agent_id"`
	Mode      str                      `json:"mode"`
	Async     flag                     `json:"async"`
}

// describe fills in what a call's name and arguments tell.
func describe(c *rollout.Call, args string) {
	var in callInput
	_ = logfile.Unmarshal([]byte(args), &in)
	t, ok := tools[c.Tool]
	if !ok {
		t = tool{rollout.OtherTool, false, true}
	}
	if c.Tool == "str_replace_editor" {
		t = tools[map[string]string{"view": "view"}[in.Command.V]]
		if t.class == "" {
			t = tools["edit"]
		}
	}
	c.Class, c.ReadOnly, c.Mutates = t.class, t.readOnly, t.mutates
	switch {
	case c.Class == rollout.ShellTool:
		c.Command = in.Command.V
		c.ReadOnly, c.Mutates = shellcmd.Effect(c.Command)
		if shellcmd.Waits(c.Command) {
			c.Poll = rollout.PollUnknown
		}
	case c.Class == rollout.PollTool:
		c.Task, c.Poll = first(in.ShellID.V, in.Session.V, in.AgentID.V), rollout.PollUnknown
	case c.Tool == "write_bash" || c.Tool == "stop_bash" || c.Tool == "write_agent":
		c.Task = first(in.ShellID.V, in.Session.V, in.AgentID.V)
	case c.Tool == "apply_patch":
		c.Path = patched(args)
	default:
		c.Path, c.Range = in.Path.V, in.lines()
	}
}

// lines is the part of a file asked for, "OFFSET:LIMIT"; an end of -1 is the
// file's.
func (in *callInput) lines() string {
	v := in.ViewRange.V
	if len(v) != 2 || !v[0].OK || !v[1].OK || v[0].V < 0 || v[0].V > 1e9 || v[1].V > 1e9 {
		return ""
	}
	from, to := int64(v[0].V), int64(v[1].V)
	if to < from {
		return fmt.Sprintf("%d:", from)
	}
	return fmt.Sprintf("%d:%d", from, to-from+1)
}

// patched is the file of a patch that changes only one.
func patched(patch string) string {
	var path string
	for line := range strings.Lines(patch) {
		for _, start := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), start)
			switch {
			case !ok:
			case path != "":
				return ""
			default:
				path = name
			}
		}
	}
	return path
}

// recovers marks a call that goes back to the file with the whole of an output.
func (a *agent) recovers(c *rollout.Call) {
	for _, h := range slices.Backward(a.handles) {
		if c.Path == h || c.Command != "" && strings.Contains(c.Command, h) {
			c.Recovers = h
			return
		}
	}
}
