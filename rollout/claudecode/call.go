package claudecode

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// toolInfo says what a tool does.
type toolInfo struct {
	class    rollout.ToolClass
	readOnly bool
	mutates  bool
}

var toolTable = map[string]toolInfo{
	"Bash":            {class: rollout.ShellTool, mutates: true},
	"PowerShell":      {class: rollout.ShellTool, mutates: true},
	"REPL":            {class: rollout.ShellTool, mutates: true},
	"Read":            {class: rollout.ReadTool, readOnly: true},
	"NotebookRead":    {class: rollout.ReadTool, readOnly: true},
	"LS":              {class: rollout.ReadTool, readOnly: true},
	"Grep":            {class: rollout.SearchTool, readOnly: true},
	"Glob":            {class: rollout.SearchTool, readOnly: true},
	"LSP":             {class: rollout.SearchTool, readOnly: true},
	"ToolSearch":      {class: rollout.OtherTool, readOnly: true},
	"Edit":            {class: rollout.EditTool, mutates: true},
	"MultiEdit":       {class: rollout.EditTool, mutates: true},
	"Write":           {class: rollout.EditTool, mutates: true},
	"NotebookEdit":    {class: rollout.EditTool, mutates: true},
	"TodoWrite":       {class: rollout.TodoTool},
	"TodoRead":        {class: rollout.TodoTool, readOnly: true},
	"TaskCreate":      {class: rollout.TodoTool},
	"TaskUpdate":      {class: rollout.TodoTool},
	"TaskList":        {class: rollout.TodoTool, readOnly: true},
	"TaskGet":         {class: rollout.TodoTool, readOnly: true},
	"BashOutput":      {class: rollout.PollTool, readOnly: true},
	"TaskOutput":      {class: rollout.PollTool, readOnly: true},
	"AgentOutputTool": {class: rollout.PollTool, readOnly: true},
	"Task":            {class: rollout.AgentTool, mutates: true},
	"Agent":           {class: rollout.AgentTool, mutates: true},
	"WebFetch":        {class: rollout.WebTool, readOnly: true},
	"WebSearch":       {class: rollout.WebTool, readOnly: true},
	"web_search":      {class: rollout.WebTool, readOnly: true},
	"web_fetch":       {class: rollout.WebTool, readOnly: true},

	"Skill":           {class: rollout.OtherTool},
	"AskUserQuestion": {class: rollout.OtherTool},
	"EnterPlanMode":   {class: rollout.OtherTool},
	"ExitPlanMode":    {class: rollout.OtherTool},
	"Monitor":         {class: rollout.OtherTool},

	"ListMcpResourcesTool": {class: rollout.OtherTool, readOnly: true},
	"ReadMcpResourceTool":  {class: rollout.OtherTool, readOnly: true},
}

// callInput is what is read of a call's arguments.
type callInput struct {
	Command    logfile.Lenient[string]  `json:"command"`
	FilePath   logfile.Lenient[string]  `json:"file_path"`
	Notebook   logfile.Lenient[string]  `json:"notebook_path"`
	Path       logfile.Lenient[string]  `json:"path"`
	Offset     logfile.Lenient[float64] `json:"offset"`
	Limit      logfile.Lenient[float64] `json:"limit"`
	Background logfile.Lenient[bool]    `json:"run_in_background"`
	BashID     logfile.Lenient[string]  `json:"bash_id"`
	ShellID    logfile.Lenient[string]  `json:"shell_id"`
	TaskID     logfile.Lenient[string]  `json:"task_id"`
	AgentID    logfile.Lenient[string]  `json:"agentId"`
	Prompt     logfile.Lenient[string]  `json:"prompt"`
}

var (
	outputFile   = regexp.MustCompile(`/tasks/([\w-]+)\.output`)
	waitingLoop  = regexp.MustCompile(`(?:^|[;&|(\n]\s*)sleep\s+\d|\b(?:until|while)\b[\s\S]*\bsleep\b`)
	watchesCI    = regexp.MustCompile(`\bgh\s+(?:run\s+(?:view|watch)|pr\s+checks)\b`)
	redirects    = regexp.MustCompile(`\d*>&\d|&?\d*>\s*/dev/null`)
	quoted       = regexp.MustCompile("'[^']*'|\"[^\"$`]*\"")
	shellJoints  = regexp.MustCompile(`&&|\|\||[;|\n]`)
	backgroundID = regexp.MustCompile(`(?:running in background with ID:|moved to the background \(ID:)\s*([\w-]+)`)
	monitorID    = regexp.MustCompile(`Monitor started \(task ([\w-]+)`)
	agentID      = regexp.MustCompile(`agentId:\s*([\w-]+)`)
)

// looking are shell commands that change nothing.
var looking = map[string]bool{
	"ls": true, "cat": true, "head": true, "tail": true, "grep": true, "rg": true, "wc": true, "pwd": true,
	"which": true, "file": true, "stat": true, "du": true, "df": true, "tree": true, "sort": true, "uniq": true,
	"cut": true, "diff": true, "echo": true, "printf": true, "date": true, "ps": true, "sleep": true, "cd": true, "jq": true,
}

// asking are programs that ask for the state of something, with the arguments for
// which that is all they do.
var asking = map[string]*regexp.Regexp{
	"curl":      regexp.MustCompile(`^(?:-(?:[sSfkILm]+|o|-max-time|w)\s+|\d+\s+|Q\s*|/dev/null\s*|https?://\S+\s*|localhost\S*\s*)*$`),
	"gh":        regexp.MustCompile(`^(?:run\s+(?:view|watch|list)|pr\s+(?:checks|view|status))\b`),
	"docker":    regexp.MustCompile(`^(?:info|ps|inspect|logs|compose\s+(?:ps|logs))\b`),
	"kubectl":   regexp.MustCompile(`^(?:get|describe|logs|rollout\s+status)\b`),
	"git":       regexp.MustCompile(`^(?:status|log|diff|show)\b`),
	"kill":      regexp.MustCompile(`^-0\s`),
	"sed":       regexp.MustCompile(`^-n\s`),
	"systemctl": regexp.MustCompile(`^(?:status|is-active)\b`),
	"pgrep":     anything, "lsof": anything, "nc": anything, "pg_isready": anything, "awk": anything, "tr": anything,
	"test": anything, "[": anything, "[[": anything, "true": anything, "false": anything, "wait": anything, "seq": anything,
	"break": anything, "exit": anything,
}

var anything = regexp.MustCompile("")

// loopWords are shell keywords that stand before a command.
var loopWords = map[string]bool{"until": true, "while": true, "do": true, "done": true, "if": true, "then": true, "else": true, "fi": true, "!": true, "(": true, ")": true, "{": true, "}": true}

var lookingGit = map[string]bool{"status": true, "log": true, "diff": true, "show": true, "blame": true, "ls-files": true}

// onlyLooks says whether a command line consists of commands known to change
// nothing. In doubt it says no.
func onlyLooks(command string) bool {
	command = redirects.ReplaceAllString(command, "")
	if strings.ContainsAny(command, "><`") || strings.Contains(command, "$(") || strings.TrimSpace(command) == "" {
		return false
	}
	for _, part := range shellJoints.Split(command, -1) {
		words := strings.Fields(part)
		switch {
		case len(words) == 0:
		case words[0] == "git" && len(words) > 1 && lookingGit[words[1]]:
		case words[0] == "find" && !strings.Contains(part, " -exec") && !strings.Contains(part, " -delete"):
		case words[0] == "sed" && len(words) > 1 && words[1] == "-n" && !strings.Contains(part, " -i"):
		case !looking[words[0]] || strings.HasSuffix(strings.TrimSpace(part), "&"):
			return false
		}
	}
	return true
}

// onlyWaits says whether a command line only waits and looks: every program in it is
// known to change nothing, or asks something for its state. In doubt it says no.
func onlyWaits(command string) bool {
	command = quoted.ReplaceAllString(redirects.ReplaceAllString(command, ""), "Q")
	for _, part := range shellJoints.Split(command, -1) {
		words := strings.Fields(part)
		for len(words) > 0 && loopWords[words[0]] {
			words = words[1:]
		}
		if len(words) == 0 || words[0] == "for" {
			continue
		}
		program := words[0][strings.LastIndexByte(words[0], '/')+1:]
		asked := asking[program]
		switch {
		case looking[program], asked != nil && asked.MatchString(strings.Join(words[1:], " ")):
		default:
			return false
		}
	}
	return true
}

// makeCall notes the call a block makes. An ID used before gets a number.
func (rb *rebuild) makeCall(r *response, b block, item int) {
	var in callInput
	_ = logfile.Unmarshal([]byte(b.text), &in)
	info, known := toolTable[b.name]
	if !known {
		info = toolInfo{class: rollout.OtherTool, mutates: true}
	}
	c := rollout.Call{
		Request: r.request, ID: rb.callID(b.id), Tool: b.name, Class: info.class, ReadOnly: info.readOnly, Mutates: info.mutates,
		Args: rb.s.Items[item].Text, ArgsItem: item, ResultItem: -1, Time: rb.timeOf(r, b), Inherited: r.inherited,
		Line: rb.lineOf(r, b),
	}
	in.fill(&c)
	index := rb.b.Call(c)
	if _, ok := rb.calls[b.id]; !ok {
		rb.calls[b.id] = index
	}
}

func (rb *rebuild) callID(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; rb.used[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	rb.used[unique] = true
	return unique
}

// fill reads what the arguments tell.
func (in *callInput) fill(c *rollout.Call) {
	c.Path = firstOf(in.FilePath.V, in.Notebook.V, in.Path.V)
	if in.Offset.OK || in.Limit.OK {
		c.Range = fmt.Sprintf("%s:%s", number(in.Offset), number(in.Limit))
	}
	switch c.Class {
	case rollout.ShellTool:
		c.Command = in.Command.V
		if onlyLooks(c.Command) {
			c.ReadOnly, c.Mutates = true, false
		}
		in.shellPoll(c)
	case rollout.PollTool:
		c.Task, c.Poll = firstOf(in.BashID.V, in.TaskID.V, in.AgentID.V), rollout.PollUnknown
	case rollout.ReadTool:
		if m := outputFile.FindStringSubmatch(c.Path); m != nil {
			c.Task, c.Poll = m[1], rollout.PollUnknown
		}
	case rollout.OtherTool:
		c.Task = firstOf(in.ShellID.V, in.TaskID.V)
	}
}

// shellPoll finds commands that only look after background work: a task's output
// file, a waiting loop, a CI run. A command that also does something is work.
func (in *callInput) shellPoll(c *rollout.Call) {
	if in.Background.V || !onlyWaits(c.Command) {
		return
	}
	if m := outputFile.FindStringSubmatch(c.Command); m != nil {
		c.Task, c.Poll = m[1], rollout.PollUnknown
		return
	}
	if waitingLoop.MatchString(c.Command) || watchesCI.MatchString(c.Command) {
		c.Poll = rollout.PollUnknown
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func number(v logfile.Lenient[float64]) string {
	if !v.OK {
		return ""
	}
	return fmt.Sprintf("%.0f", v.V)
}
