package gemini

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
	"github.com/fclog/fclog/rollout/shellcmd"
)

// classes name what the tools do, under the names of all versions.
var classes = map[string]rollout.ToolClass{
	"run_shell_command": rollout.ShellTool,
	"read_file":         rollout.ReadTool, "read_many_files": rollout.ReadTool, "list_directory": rollout.ReadTool,
	"grep_search": rollout.SearchTool, "search_file_content": rollout.SearchTool, "glob": rollout.SearchTool,
	"replace": rollout.EditTool, "write_file": rollout.EditTool,
	"write_todos":               rollout.TodoTool,
	"list_background_processes": rollout.PollTool, "read_background_output": rollout.PollTool,
	"invoke_agent": rollout.AgentTool, "delegate_to_agent": rollout.AgentTool,
	"codebase_investigator": rollout.AgentTool, "cli_help": rollout.AgentTool, "generalist": rollout.AgentTool,
	"web_fetch": rollout.WebTool, "google_web_search": rollout.WebTool,
}

// harmless are tools that leave files and outside state as they are, beside
// those that read, search, poll and look at the web.
var harmless = map[string]bool{
	"write_todos": true, "update_topic": true, "activate_skill": true, "complete_task": true,
	"enter_plan_mode": true, "exit_plan_mode": true, "ask_user": true, "get_internal_docs": true,
}

// arguments are the call arguments that say what a call is about.
type arguments struct {
	Command      text                   `json:"command"`
	Background   logfile.Lenient[bool]  `json:"is_background"`
	FilePath     text                   `json:"file_path"`
	AbsolutePath text                   `json:"absolute_path"`
	DirPath      text                   `json:"dir_path"`
	Path         text                   `json:"path"`
	StartLine    logfile.Lenient[int64] `json:"start_line"`
	EndLine      logfile.Lenient[int64] `json:"end_line"`
	Offset       logfile.Lenient[int64] `json:"offset"`
	Limit        logfile.Lenient[int64] `json:"limit"`
	PID          jsontext.Value         `json:"pid"`
}

// describeCall fills in what the name and the arguments of a call tell.
func (c *chat) describeCall(call *rollout.Call, args string) {
	var a arguments
	if logfile.Unmarshal([]byte(args), &a) != nil {
		a = arguments{}
	}
	call.Class = rollout.OtherTool
	if class, ok := classes[call.Tool]; ok {
		call.Class = class
	}
	switch call.Class {
	case rollout.ReadTool, rollout.SearchTool, rollout.WebTool, rollout.PollTool:
		call.ReadOnly = true
	}
	call.Mutates = !call.ReadOnly && !harmless[call.Tool]
	switch call.Class {
	case rollout.ShellTool:
		call.Command = a.Command.V
		call.ReadOnly, call.Mutates = shellcmd.Effect(a.Command.V)
		if !a.Background.V {
			c.watch(call)
		}
	case rollout.PollTool:
		call.Task, call.Poll = strings.Trim(string(a.PID), `" `), rollout.PollUnknown
		if call.Task == "" && len(c.tasks) > 0 {
			call.Task = c.tasks[len(c.tasks)-1].id
		}
	default:
		call.Path = first(a.FilePath.V, a.AbsolutePath.V, a.DirPath.V, a.Path.V)
		call.Range = rangeOf(&a)
		c.watch(call)
	}
	c.recovers(call)
}

func first(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}

// rangeOf is "OFFSET:LIMIT" of a read, lines counted from 0 as the tool's older
// arguments do; "" for the whole file.
func rangeOf(a *arguments) string {
	if a.StartLine.OK || a.EndLine.OK {
		start := max(a.StartLine.V, 1)
		if !a.EndLine.OK {
			return num(start-1) + ":"
		}
		return num(start-1) + ":" + num(max(a.EndLine.V-start+1, 0))
	}
	if !a.Offset.OK && !a.Limit.OK {
		return ""
	}
	out := ":"
	if a.Offset.OK {
		out = num(a.Offset.V) + out
	}
	if a.Limit.OK {
		out += num(a.Limit.V)
	}
	return out
}

// recovers ties a call to an earlier output that was cut and that it goes back
// to: by the path of the stored output, or another look at the same file.
func (c *chat) recovers(call *rollout.Call) {
	if call.Class == rollout.ReadTool {
		call.Recovers = c.handles[call.Path]
		return
	}
	if call.Class != rollout.ShellTool && call.Class != rollout.SearchTool {
		return
	}
	for path, handle := range c.handles {
		if len(path) > 8 && (strings.Contains(call.Command, path) || call.Path == path) {
			call.Recovers = max(call.Recovers, handle)
		}
	}
}

var (
	tooLarge  = regexp.MustCompile(`Output too large\. (?:Showing first [\d,]+ and last [\d,]+ characters\. For full output see|Full output available at): (\S+)`)
	cutRead   = regexp.MustCompile(`^\s*IMPORTANT: The file content has been truncated\.\s+Status: Showing lines (\d+)-(\d+) of (\d+) total lines`)
	exitCode  = regexp.MustCompile(`(?m)^Exit Code: (\S+)`)
	signalled = regexp.MustCompile(`(?m)^Signal: (\S+)`)
)

// readLimit is the most lines a read brings back.
const readLimit = 2000

// outcome fills in what the result of a call tells.
func (c *chat) outcome(call *rollout.Call, s string) {
	if refused(s) {
		call.Denied, call.Ran, call.Failed = true, false, nil
		return
	}
	if call.Class == rollout.ShellTool && call.Failed != nil {
		failed := *call.Failed || told(exitCode, s, "0") || told(signalled, s, "(none)")
		call.Failed = &failed
	}
	if m := tooLarge.FindStringSubmatch(s); m != nil && strings.HasPrefix(strings.TrimSpace(s), "Output too large") {
		call.Truncated, call.Handle = rollout.Recoverable, strings.TrimRight(m[1], ".")
		c.handles[call.Handle] = call.Handle
		c.whole(call)
	} else if m := cutRead.FindStringSubmatch(s); m != nil && call.Class == rollout.ReadTool && readWasCut(call, m[1], m[2]) {
		call.Truncated, call.Handle = rollout.Recoverable, call.Path
		c.handles[call.Path] = call.Path
	}
	c.background(call, s)
}

// readWasCut tells a read that stopped at the tool's limit, not at the model's.
func readWasCut(call *rollout.Call, from, to string) bool {
	if call.Path == "" {
		return false
	}
	_, limit, _ := strings.Cut(call.Range, ":")
	return call.Range == "" || limit == "" || atoi(to)-atoi(from)+1 == readLimit && atoi(limit) > readLimit
}

// told reports a labelled line with another value than the usual one.
func told(label *regexp.Regexp, s, usual string) bool {
	all := label.FindAllStringSubmatch(s, -1)
	return len(all) > 0 && all[len(all)-1][1] != usual
}
