package apilog

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// toolClasses sorts the tools of the agents whose calls are met in such logs,
// by name in lower case without separators.
var toolClasses = map[string]rollout.ToolClass{
	"bash": rollout.ShellTool, "shell": rollout.ShellTool, "shellcommand": rollout.ShellTool, "execcommand": rollout.ShellTool,
	"runshellcommand": rollout.ShellTool, "localshell": rollout.ShellTool, "terminal": rollout.ShellTool, "runterminalcmd": rollout.ShellTool,
	"executecommand": rollout.ShellTool, "runcommand": rollout.ShellTool, "exec": rollout.ShellTool, "powershell": rollout.ShellTool,
	"read": rollout.ReadTool, "readfile": rollout.ReadTool, "view": rollout.ReadTool, "ls": rollout.ReadTool, "list": rollout.ReadTool,
	"listdirectory": rollout.ReadTool, "listdir": rollout.ReadTool, "listfiles": rollout.ReadTool, "readmanyfiles": rollout.ReadTool, "viewimage": rollout.ReadTool,
	"grep": rollout.SearchTool, "glob": rollout.SearchTool, "find": rollout.SearchTool, "search": rollout.SearchTool, "grepsearch": rollout.SearchTool,
	"searchfilecontent": rollout.SearchTool, "searchfiles": rollout.SearchTool, "rg": rollout.SearchTool, "codebasesearch": rollout.SearchTool,
	"edit": rollout.EditTool, "write": rollout.EditTool, "multiedit": rollout.EditTool, "notebookedit": rollout.EditTool, "writefile": rollout.EditTool,
	"replace": rollout.EditTool, "applypatch": rollout.EditTool, "strreplaceeditor": rollout.EditTool, "create": rollout.EditTool,
	"strreplacebasededittool": rollout.EditTool, "editfile": rollout.EditTool, "patch": rollout.EditTool, "createfile": rollout.EditTool,
	"todowrite": rollout.TodoTool, "todoread": rollout.TodoTool, "updateplan": rollout.TodoTool, "writetodos": rollout.TodoTool, "updatetodo": rollout.TodoTool,
	"bashoutput": rollout.PollTool, "taskoutput": rollout.PollTool, "writestdin": rollout.PollTool, "wait": rollout.PollTool, "waitagent": rollout.PollTool,
	"readbackgroundoutput": rollout.PollTool, "listbackgroundprocesses": rollout.PollTool, "readbash": rollout.PollTool,
	"output": rollout.RetrieveTool,
	"task":   rollout.AgentTool, "agent": rollout.AgentTool, "spawnagent": rollout.AgentTool, "invokeagent": rollout.AgentTool, "newtask": rollout.AgentTool,
	"webfetch": rollout.WebTool, "websearch": rollout.WebTool, "googlewebsearch": rollout.WebTool, "fetch": rollout.WebTool, "webrun": rollout.WebTool,
}

// harmless tools of no class change nothing. An unknown tool may.
var harmless = map[string]bool{"skill": true, "askuserquestion": true, "question": true, "toolsearch": true, "updatetopic": true, "think": true}

func toolKey(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
}

// callArguments are the members that say what a call is about, under the names
// the agents give them.
type callArguments struct {
	Command   jsontext.Value          `json:"command"`
	Cmd       logfile.Lenient[string] `json:"cmd"`
	Chars     logfile.Lenient[string] `json:"chars"`
	FilePath  logfile.Lenient[string] `json:"file_path"`
	CamelPath logfile.Lenient[string] `json:"filePath"`
	Path      logfile.Lenient[string] `json:"path"`
	Absolute  logfile.Lenient[string] `json:"absolute_path"`
	Dir       logfile.Lenient[string] `json:"dir_path"`
	Notebook  logfile.Lenient[string] `json:"notebook_path"`
	Offset    jsontext.Value          `json:"offset"`
	Limit     jsontext.Value          `json:"limit"`
	StartLine jsontext.Value          `json:"start_line"`
	EndLine   jsontext.Value          `json:"end_line"`
	ViewRange jsontext.Value          `json:"view_range"`
	TaskID    jsontext.Value          `json:"task_id"`
	BashID    jsontext.Value          `json:"bash_id"`
	Session   jsontext.Value          `json:"session_id"`
	PID       jsontext.Value          `json:"pid"`
	ID        logfile.Lenient[string] `json:"id"`
}

// describeCall fills in what a call's arguments tell.
func describeCall(c *rollout.Call, args string) {
	a := decode[callArguments](jsontext.Value(args))
	key := toolKey(c.Tool)
	class, known := toolClasses[key]
	if !known {
		class = rollout.OtherTool
	}
	c.Class = class
	c.Path = first(a.FilePath.V, a.CamelPath.V, a.Absolute.V, a.Path.V, a.Notebook.V, a.Dir.V)
	c.Range = rangeOf(a)
	switch class {
	case rollout.ShellTool:
		c.Path = ""
		c.Command = first(str(a.Command), a.Cmd.V, strings.Join(decode[[]string](a.Command), " "))
		c.ReadOnly = onlyLooks(c.Command)
		c.Mutates = !c.ReadOnly
		if waits.MatchString(c.Command) {
			c.Poll = rollout.PollUnknown
		}
	case rollout.PollTool:
		c.Task = first(scalar(a.BashID), scalar(a.TaskID), scalar(a.Session), scalar(a.PID))
		c.Poll = rollout.PollUnknown
		if a.Chars.V != "" {
			c.Class, c.Mutates, c.Poll = rollout.ShellTool, true, rollout.NoPoll
		}
	case rollout.RetrieveTool:
		c.ReadOnly, c.Recovers = true, a.ID.V
	case rollout.ReadTool, rollout.SearchTool, rollout.WebTool:
		c.ReadOnly = true
	case rollout.EditTool:
		c.Mutates = true
		if c.Path == "" {
			c.Path = patchedFile(args)
		}
	case rollout.AgentTool:
		c.Mutates = true
	case rollout.OtherTool:
		c.Mutates = !harmless[key]
	}
}

// rangeOf is "OFFSET:LIMIT" with the absent side empty; "" for the default.
func rangeOf(a callArguments) string {
	offset, limit := scalar(a.Offset), scalar(a.Limit)
	if start, end := scalar(a.StartLine), scalar(a.EndLine); offset+limit == "" && start+end != "" {
		return lines(start, end)
	}
	if view := decode[[]int64](a.ViewRange); len(view) == 2 {
		return lines(strconv.FormatInt(view[0], 10), strconv.FormatInt(view[1], 10))
	}
	if offset == "" && limit == "" {
		return ""
	}
	return offset + ":" + limit
}

// lines turns a first and last line into an offset and a limit.
func lines(start, end string) string {
	i, err := strconv.Atoi(start)
	j, err2 := strconv.Atoi(end)
	if err != nil || err2 != nil || j < i {
		return start + ":"
	}
	return start + ":" + strconv.Itoa(j-i+1)
}

// scalar is the text of a JSON number or string.
func scalar(raw jsontext.Value) string {
	if raw.Kind() == '0' {
		return string(raw)
	}
	return str(raw)
}

var patchHeader = regexp.MustCompile(`\*\*\* (?:Update|Add|Delete) File: ([^\n\\"]+)`)

// patchedFile is the file of a patch that touches only one.
func patchedFile(patch string) string {
	m := patchHeader.FindAllStringSubmatch(patch, 2)
	if len(m) != 1 {
		return ""
	}
	return strings.TrimSpace(m[0][1])
}

// waits matches a command that only waits.
var waits = regexp.MustCompile(`^\s*(sleep\s+[\d.]+[smhd]?|wait(\s+\S+)*)\s*((&&|;)\s*(echo\b.*|true))?\s*$`)

// lookers are programs that only read, whatever their arguments.
var lookers = map[string]bool{
	"cat": true, "head": true, "tail": true, "ls": true, "grep": true, "rg": true, "ag": true, "wc": true, "nl": true,
	"pwd": true, "echo": true, "sleep": true, "wait": true, "true": true, "which": true, "file": true, "jq": true,
	"stat": true, "du": true, "df": true, "date": true, "ps": true, "uniq": true, "cut": true, "diff": true, "tree": true, "printf": true, "cd": true, "test": true,
}

// gitLookers are the git commands that only read.
var gitLookers = map[string]bool{"status": true, "diff": true, "log": true, "show": true, "blame": true, "ls-files": true, "grep": true, "rev-parse": true}

var commandSplit = regexp.MustCompile(`&&|\|\||[;|\n]`)

// onlyLooks tells a shell command that cannot change files. When in doubt it says
// no.
func onlyLooks(command string) bool {
	plain := strings.NewReplacer("2>&1", "", "2>/dev/null", "", ">/dev/null", "").Replace(command)
	if strings.ContainsAny(strings.ReplaceAll(plain, "&&", ""), ">`&") || strings.Contains(plain, "$(") {
		return false
	}
	looked := false
	for _, one := range commandSplit.Split(plain, -1) {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		git := words[0] == "git" && len(words) > 1 && gitLookers[words[1]]
		if !lookers[words[0]] && !git {
			return false
		}
		looked = true
	}
	return looked
}
