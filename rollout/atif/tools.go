package atif

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
	"github.com/fclog/fclog/rollout/shellcmd"
)

// toolClasses sorts the tools of the agents Harbor drives. Names do not collide
// in meaning.
var toolClasses = map[string]rollout.ToolClass{
	"bash": rollout.ShellTool, "Bash": rollout.ShellTool, "shell": rollout.ShellTool, "exec_command": rollout.ShellTool, "shell_command": rollout.ShellTool,
	"local_shell": rollout.ShellTool, "container.exec": rollout.ShellTool, "bash_command": rollout.ShellTool, "execute_bash": rollout.ShellTool,
	"run_shell_command": rollout.ShellTool, "run_terminal_cmd": rollout.ShellTool, "terminal": rollout.ShellTool, "PowerShell": rollout.ShellTool,
	"write_stdin": rollout.PollTool, "BashOutput": rollout.PollTool, "TaskOutput": rollout.PollTool, "AgentOutputTool": rollout.PollTool,
	"bashoutput": rollout.PollTool, "job_read_output": rollout.PollTool, "job_list": rollout.PollTool, "wait_agent": rollout.PollTool,
	"Read": rollout.ReadTool, "read": rollout.ReadTool, "read_file": rollout.ReadTool, "view_image": rollout.ReadTool, "NotebookRead": rollout.ReadTool,
	"LS": rollout.ReadTool, "ls": rollout.ReadTool, "list": rollout.ReadTool, "list_dir": rollout.ReadTool, "list_directory": rollout.ReadTool, "read_many_files": rollout.ReadTool,
	"Grep": rollout.SearchTool, "grep": rollout.SearchTool, "Glob": rollout.SearchTool, "glob": rollout.SearchTool, "grep_files": rollout.SearchTool,
	"search_file_content": rollout.SearchTool, "grep_search": rollout.SearchTool,
	"Edit": rollout.EditTool, "MultiEdit": rollout.EditTool, "Write": rollout.EditTool, "NotebookEdit": rollout.EditTool, "edit": rollout.EditTool, "write": rollout.EditTool,
	"edit_file": rollout.EditTool, "write_file": rollout.EditTool, "replace": rollout.EditTool, "apply_patch": rollout.EditTool, "patch": rollout.EditTool,
	"str_replace_editor": rollout.EditTool, "str_replace_based_edit_tool": rollout.EditTool,
	"TodoWrite": rollout.TodoTool, "TodoRead": rollout.TodoTool, "todowrite": rollout.TodoTool, "todoread": rollout.TodoTool, "update_plan": rollout.TodoTool,
	"write_todos": rollout.TodoTool, "task_list": rollout.TodoTool, "task_tracker": rollout.TodoTool,
	"TaskCreate": rollout.TodoTool, "TaskUpdate": rollout.TodoTool, "TaskList": rollout.TodoTool, "TaskGet": rollout.TodoTool,
	"Task": rollout.AgentTool, "Agent": rollout.AgentTool, "task": rollout.AgentTool, "spawn_agent": rollout.AgentTool, "delegate": rollout.AgentTool,
	"WebFetch": rollout.WebTool, "WebSearch": rollout.WebTool, "web_search": rollout.WebTool, "web_fetch": rollout.WebTool, "webfetch": rollout.WebTool,
	"websearch": rollout.WebTool, "google_web_search": rollout.WebTool,
}

// harmless tools of no class change no file. An unknown tool may.
var harmless = map[string]bool{
	"Skill": true, "use_skill": true, "communicate": true, "think": true, "finish": true, "mark_task_complete": true, "ToolSearch": true,
	"AskUserQuestion": true, "request_user_input": true, "ExitPlanMode": true, "EnterPlanMode": true,
}

// arguments are the members that some tool's arguments have.
type arguments struct {
	Command  jsontext.Value           `json:"command"`
	Cmd      logfile.Lenient[string]  `json:"cmd"`
	Keys     logfile.Lenient[string]  `json:"keystrokes"`
	Chars    logfile.Lenient[string]  `json:"chars"`
	Input    logfile.Lenient[string]  `json:"input"`
	Session  jsontext.Value           `json:"session_id"`
	BashID   logfile.Lenient[string]  `json:"bash_id"`
	TaskID   logfile.Lenient[string]  `json:"task_id"`
	JobID    logfile.Lenient[string]  `json:"job_id"`
	FilePath logfile.Lenient[string]  `json:"file_path"`
	CamelCas logfile.Lenient[string]  `json:"filePath"`
	Path     logfile.Lenient[string]  `json:"path"`
	DirPath  logfile.Lenient[string]  `json:"dir_path"`
	Notebook logfile.Lenient[string]  `json:"notebook_path"`
	Offset   logfile.Lenient[float64] `json:"offset"`
	Limit    logfile.Lenient[float64] `json:"limit"`
}

// describe fills what the arguments of a call tell.
func describe(c *rollout.Call, raw jsontext.Value) {
	var a arguments
	_ = logfile.Unmarshal(raw, &a)
	c.Class = toolClasses[c.Tool]
	if c.Class == "" {
		c.Class = rollout.OtherTool
	}
	c.Path = first(a.FilePath.V, a.CamelCas.V, a.Path.V, a.DirPath.V, a.Notebook.V)
	switch c.Class {
	case rollout.ShellTool:
		c.Path = ""
		c.Command = first(a.Cmd.V, commandOf(a.Command), a.Keys.V)
		c.ReadOnly, c.Mutates = shellcmd.Effect(c.Command)
		if c.Command == "" {
			c.Mutates = true
		}
		if shellcmd.Waits(c.Command) {
			c.Poll = rollout.PollUnknown
		}
	case rollout.PollTool:
		c.Task, c.Poll, c.ReadOnly = first(scalar(a.Session), a.BashID.V, a.TaskID.V, a.JobID.V), rollout.PollUnknown, true
		if a.Chars.V != "" {
			c.Class, c.Poll, c.ReadOnly, c.Mutates = rollout.ShellTool, rollout.NoPoll, false, true
		}
	case rollout.ReadTool, rollout.SearchTool, rollout.WebTool:
		c.ReadOnly, c.Range = true, rangeOf(a)
	case rollout.EditTool:
		c.Mutates = true
		c.Path = first(c.Path, patchedFile(a.Input.V))
		if word := commandOf(a.Command); word == "view" {
			c.Class, c.ReadOnly, c.Mutates = rollout.ReadTool, true, false
		}
	case rollout.AgentTool:
		c.Mutates, c.Path = true, ""
	case rollout.OtherTool:
		c.Mutates = !harmless[c.Tool]
	}
}

// shellNames are the programs whose -c argument is the real command line.
var shellNames = map[string]bool{"bash": true, "sh": true, "zsh": true, "dash": true}

func commandOf(raw jsontext.Value) string {
	if raw.Kind() == '"' {
		return scalar(raw)
	}
	var words []string
	if raw.Kind() != '[' || logfile.Unmarshal(raw, &words) != nil || len(words) == 0 {
		return ""
	}
	if len(words) == 3 && shellNames[words[0][strings.LastIndexByte(words[0], '/')+1:]] && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// scalar is the text of a JSON string or number.
func scalar(raw jsontext.Value) string {
	switch raw.Kind() {
	case '"':
		var text string
		_ = logfile.Unmarshal(raw, &text)
		return text
	case '0':
		return string(raw)
	}
	return ""
}

func rangeOf(a arguments) string {
	if !a.Offset.OK && !a.Limit.OK {
		return ""
	}
	number := func(v logfile.Lenient[float64]) string {
		if !v.OK {
			return ""
		}
		return strconv.FormatFloat(v.V, 'f', 0, 64)
	}
	return number(a.Offset) + ":" + number(a.Limit)
}

var patchHeader = regexp.MustCompile(`(?m)^\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$`)

// patchedFile is the file of a patch that touches only one.
func patchedFile(patch string) string {
	if m := patchHeader.FindAllStringSubmatch(patch, 2); len(m) == 1 {
		return m[0][1]
	}
	return ""
}

var (
	sessionLine = regexp.MustCompile(`(?m)^Process running with session ID (\S+)$`)
	exitLine    = regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:?) (-?\d+)$`)
	wallLine    = regexp.MustCompile(`(?m)^Wall time:? ([0-9.]+) seconds$`)
	returnCode  = regexp.MustCompile(`^\s*<returncode>(-?\d+)</returncode>`)
	endedWith   = regexp.MustCompile(`\[(?:The command completed|Command finished) with exit code (-?\d+)\.?\]`)
	background  = regexp.MustCompile(`running in background with ID:\s*([\w-]+)`)
	statusTag   = regexp.MustCompile(`<status>\s*(\w+)\s*</status>`)
	outputTag   = regexp.MustCompile(`<(?:stdout|stderr|output)>\s*\S`)
	truncated   = regexp.MustCompile(`…\d+ (?:tokens|chars) truncated…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]|\.\.\. \[\d+ (?:characters|lines) truncated\] \.\.\.|\[\d+ lines truncated\]|<elided_chars>|\[\.\.\. Observation truncated due to length \.\.\.\]`)
	savedTo     = regexp.MustCompile(`saved to: (\S[^\n]*)`)
)

// headBytes is how far into an output its header reaches.
const headBytes = 400

// settle fills what the output of a call tells.
func settle(c *rollout.Call, o output) {
	c.Ran = true
	text := o.text()
	head, body := header(text)
	c.Failed = o.failed
	code := firstGroup(exitLine, head)
	if code == "" {
		code = first(firstGroup(returnCode, text), firstGroup(endedWith, text))
	}
	if code != "" && (c.Class == rollout.ShellTool || c.Class == rollout.PollTool) {
		c.Failed = new(code != "0")
	}
	if refused(text) {
		c.Ran, c.Denied = false, true
	}
	if seconds, err := strconv.ParseFloat(firstGroup(wallLine, head), 64); err == nil && seconds >= 0 && seconds < 1e9 {
		c.DurationMS = new(int64(math.Round(seconds * 1000)))
	}
	running := firstGroup(sessionLine, head)
	switch {
	case c.Class == rollout.PollTool:
		c.Poll = pollClass(text, body, running, code)
	case c.Class == rollout.ShellTool && c.Task == "":
		c.Task = first(running, firstGroup(background, text[:min(len(text), headBytes)]))
		c.Starts = c.Task != ""
	}
	cut(c, text)
}

// header splits the lines Codex puts before an output off it. Other agents have
// none: there the head is what a code may stand in.
func header(text string) (head, body string) {
	if head, body, found := strings.Cut(text, "\nOutput:\n"); found && len(head) <= headBytes {
		return head, body
	}
	return text[:min(len(text), headBytes)], text
}

func cut(c *rollout.Call, text string) {
	switch {
	case strings.HasPrefix(text, "<persisted-output>"):
		c.Handle = strings.TrimSpace(firstGroup(savedTo, text[:min(len(text), 2000)]))
		c.Truncated = rollout.Recoverable
		if c.Handle == "" {
			c.Truncated = rollout.Lost
		}
	case (c.Class == rollout.ShellTool || c.Class == rollout.PollTool || c.Class == rollout.SearchTool) && truncated.MatchString(text):
		c.Truncated = rollout.Lost
	}
}

// refusals begin the results of calls that a rule or the user refused.
var refusals = []string{"The user doesn't want to", "Permission to use", "Claude requested permissions", "[Request interrupted by user for tool use", "exec command rejected by user", "patch rejected"}

func refused(text string) bool {
	for _, start := range refusals {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

func pollClass(text, body, running, code string) rollout.PollClass {
	status := firstGroup(statusTag, text)
	empty := strings.TrimSpace(body) == ""
	switch {
	case status == "running" || status == "pending":
		if outputTag.MatchString(text) {
			return rollout.PollProgress
		}
		return rollout.PollEmpty
	case status == "" && code == "" && running == "" && (strings.HasPrefix(body, "write_stdin failed") || rollout.LostTask(body)):
		return rollout.PollLost
	case status != "", code != "" && running == "":
		return rollout.PollFinal
	case running != "" && empty:
		return rollout.PollEmpty
	case running != "":
		return rollout.PollProgress
	}
	return rollout.PollUnknown
}

func firstGroup(re *regexp.Regexp, s string) string {
	if m := re.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}
