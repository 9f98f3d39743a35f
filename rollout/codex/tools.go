package codex

import (
	"github.com/fclog/fclog/rollout/logfile"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
)

var toolClasses = map[string]rollout.ToolClass{
	"shell": rollout.ShellTool, "container.exec": rollout.ShellTool, "local_shell": rollout.ShellTool,
	"shell_command": rollout.ShellTool, "exec_command": rollout.ShellTool, "unified_exec": rollout.ShellTool, "exec": rollout.ShellTool,
	"write_stdin": rollout.PollTool, "wait": rollout.PollTool, "wait_agent": rollout.PollTool, "sleep": rollout.PollTool, "list_agents": rollout.PollTool,
	"apply_patch": rollout.EditTool, "update_plan": rollout.TodoTool,
	"view_image": rollout.ReadTool, "read_file": rollout.ReadTool, "list_dir": rollout.ReadTool,
	"grep_files": rollout.SearchTool, "web_search": rollout.WebTool, "spawn_agent": rollout.AgentTool,
}

// arguments are the members that some tool's arguments have.
type arguments struct {
	Command  jsontext.Value            `json:"command"`
	Cmd      logfile.Lenient[string]   `json:"cmd"`
	Chars    logfile.Lenient[string]   `json:"chars"`
	Session  jsontext.Value            `json:"session_id"`
	Cell     jsontext.Value            `json:"cell_id"`
	IDs      logfile.Lenient[[]string] `json:"ids"`
	Targets  logfile.Lenient[[]string] `json:"targets"`
	Path     logfile.Lenient[string]   `json:"path"`
	FilePath logfile.Lenient[string]   `json:"file_path"`
	DirPath  logfile.Lenient[string]   `json:"dir_path"`
}

// describe fills what the arguments of a call tell.
func describe(c *rollout.Call, it *item, text string) {
	args := decode[arguments]([]byte(text))
	c.Class = toolClasses[c.Tool]
	switch {
	case it.Type.V == "custom_tool_call" && c.Tool == "exec":
		describeScript(c, parseScript(text))
		return
	case c.Class == "":
		c.Class = rollout.OtherTool
		c.Mutates = !harmless[c.Tool]
	case c.Class == rollout.ShellTool:
		c.Command = first(args.Cmd.V, shellCommand(args.Command))
		c.ReadOnly, c.Mutates = effect(c.Command)
		c.Path, c.Range = readTarget(c.Command)
	case c.Class == rollout.PollTool:
		describePoll(c, args)
	case c.Class == rollout.EditTool:
		c.Mutates = true
		c.Path = patchedFile(text)
	case c.Class == rollout.AgentTool:
		c.Mutates = true
	case c.Class == rollout.ReadTool || c.Class == rollout.SearchTool || c.Class == rollout.WebTool:
		c.ReadOnly = true
		c.Path = first(args.Path.V, args.FilePath.V, args.DirPath.V)
	}
}

// harmless tools of no class change no file. An unknown tool may.
var harmless = map[string]bool{
	"request_user_input": true, "tool_search": true, "get_goal": true, "create_goal": true, "update_goal": true,
	"send_message": true, "close_agent": true, "list_mcp_resources": true, "read_mcp_resource": true, "list_mcp_resource_templates": true,
}

func shellCommand(raw jsontext.Value) string {
	if raw.Kind() == '[' {
		return commandLine(decode[[]string](raw))
	}
	return decode[string](orNull(raw))
}

// describePoll tells polls from real input and names the task asked about.
func describePoll(c *rollout.Call, args arguments) {
	switch {
	case c.Tool == "write_stdin":
		c.Task = scalar(args.Session)
		if args.Chars.V != "" {
			c.Class, c.Mutates = rollout.ShellTool, true
		}
	case len(args.Cell) > 0:
		c.Task = cellTask(scalar(args.Cell))
	case len(args.IDs.V) == 1:
		c.Task = args.IDs.V[0]
	case len(args.Targets.V) == 1:
		c.Task = args.Targets.V[0]
	}
}

func describeScript(c *rollout.Call, s script) {
	c.Class = s.class()
	c.Command = s.command
	switch c.Class {
	case rollout.PollTool:
		c.Task = s.session
	case rollout.ShellTool:
		c.ReadOnly, c.Mutates = effect(s.command)
		c.Mutates = c.Mutates || s.command == ""
		c.Path, c.Range = readTarget(s.command)
	case rollout.ReadTool, rollout.SearchTool, rollout.WebTool:
		c.ReadOnly = true
	case rollout.EditTool, rollout.AgentTool, rollout.OtherTool:
		c.Mutates = true
	}
}

// cellTask keeps scripts apart from processes, which have numbers of their own.
func cellTask(id string) string {
	if id == "" {
		return ""
	}
	return "cell " + id
}

// scalar is the text of a JSON number or string.
func scalar(raw jsontext.Value) string {
	if raw.Kind() == '"' {
		return decode[string](raw)
	}
	if raw.Kind() == '0' {
		return string(raw)
	}
	return ""
}

// patchedFile is the file of a patch that touches only one.
func patchedFile(patch string) string {
	file := ""
	for rest := patch; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		name := headedFile(line)
		if name == "" {
			continue
		}
		if file != "" {
			return ""
		}
		file = name
	}
	return file
}

// headedFile is the file that a line of a patch says to begin with; "" for other
// lines.
func headedFile(line string) string {
	rest, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return ""
	}
	for _, verb := range []string{"Update", "Add", "Delete"} {
		if name, ok := strings.CutPrefix(rest, verb+" File: "); ok {
			return strings.TrimRight(name, "\t\f\r ")
		}
	}
	return ""
}

// spawned is the answer of spawn_agent, in its first and second version.
type spawned struct {
	AgentID  logfile.Lenient[string] `json:"agent_id"`
	TaskName logfile.Lenient[string] `json:"task_name"`
}

// waited is the answer of a wait for sub-agents.
type waited struct {
	TimedOut logfile.Lenient[bool] `json:"timed_out"`
}

// settle fills what the output of a call tells.
func settle(c *rollout.Call, o outcome) {
	c.Ran = !o.denied
	c.Denied = o.denied
	c.Failed = o.failed
	if c.DurationMS == nil {
		c.DurationMS = o.durationMS
	}
	if o.truncated {
		c.Truncated = rollout.Lost
	}
	running := first(o.session, cellTask(o.cell))
	switch {
	case c.Class == rollout.PollTool:
		c.Poll = pollClass(c, o, running)
	case c.Class == rollout.AgentTool:
		a := decode[spawned]([]byte(o.body))
		c.Child = a.AgentID.V
		c.Task = first(a.AgentID.V, a.TaskName.V)
		c.Starts = c.Task != ""
	case running != "" && c.Task == "":
		c.Task, c.Starts = running, true
	}
}

func pollClass(c *rollout.Call, o outcome, running string) rollout.PollClass {
	empty := strings.TrimSpace(o.body) == ""
	if w := decode[waited]([]byte(o.body)); w.TimedOut.OK {
		if w.TimedOut.V {
			return rollout.PollEmpty
		}
		return rollout.PollFinal
	}
	// A script that polls and fails says nothing of the task: its end is the end of
	// the poll. A cell that is waited for is the script itself.
	failed := o.header && strings.HasPrefix(o.body, "Script error:")
	asked := failed || !o.exited || strings.HasPrefix(o.body, "write_stdin failed")
	switch {
	case running != "" && empty:
		return rollout.PollEmpty
	case running != "":
		return rollout.PollProgress
	case asked && (rollout.LostTask(o.body) || strings.HasPrefix(o.body, "write_stdin failed")):
		return rollout.PollLost
	case failed && c.Tool != "wait":
		return rollout.PollUnknown
	case o.exited:
		return rollout.PollFinal
	}
	return rollout.PollUnknown
}
