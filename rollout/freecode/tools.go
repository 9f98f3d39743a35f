package freecode

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// unknownCallID has the form and length of the IDs providers give; it stands in
// truncation markers whose ID no file holds.
const unknownCallID = "call_0000000000000000"

// classes sorts FreeCode's tools into the common vocabulary.
var classes = map[string]rollout.ToolClass{
	"bash": rollout.ShellTool,
	"read": rollout.ReadTool, "ls": rollout.ReadTool,
	"grep": rollout.SearchTool, "glob": rollout.SearchTool,
	"edit": rollout.EditTool, "write": rollout.EditTool,
	"todowrite": rollout.TodoTool, "bashoutput": rollout.PollTool,
	"output": rollout.RetrieveTool, "agent": rollout.AgentTool,
	"webfetch": rollout.WebTool, "websearch": rollout.WebTool,
}

// concurrencySafe are the tools FreeCode runs side by side.
var concurrencySafe = map[string]bool{
	"read": true, "grep": true, "glob": true, "ls": true, "lsp": true, "skill": true,
	"webfetch": true, "websearch": true, "output": true, "bashoutput": true,
}

// harmless are tools that leave files and outside state as they are.
var harmless = map[string]bool{
	"todowrite": true, "question": true, "tool_search": true, "monitor": true,
}

// arguments are the call arguments that describe what a call is about. Numbers
// may come as strings.
type arguments struct {
	Command  string         `json:"command"`
	FilePath string         `json:"filePath"`
	Path     string         `json:"path"`
	Offset   jsontext.Value `json:"offset"`
	Limit    jsontext.Value `json:"limit"`
	ID       string         `json:"id"`
	BashID   string         `json:"bash_id"`
}

// describe fills in what a call's arguments tell.
func describe(c *rollout.Call, args string) {
	var a arguments
	parseArguments(args, &a)
	c.Class = rollout.OtherTool
	if class, ok := classes[c.Tool]; ok {
		c.Class = class
	}
	c.ReadOnly = concurrencySafe[c.Tool]
	c.Mutates = !c.ReadOnly && !harmless[c.Tool]
	switch c.Tool {
	case "bash":
		c.Command = a.Command
		c.Mutates = !onlyLooks(a.Command)
		if waits.MatchString(a.Command) {
			c.Poll = rollout.PollUnknown
		}
	case "bashoutput":
		c.Task, c.Poll = a.BashID, rollout.PollUnknown
	case "killbash":
		c.Task = a.BashID
	case "output":
		c.Recovers = a.ID
		c.Range = rangeOf(a)
	default:
		c.Path = a.FilePath
		if c.Path == "" {
			c.Path = a.Path
		}
		c.Range = rangeOf(a)
	}
}

// parseArguments reads what it can: one argument of an unexpected type must not
// hide the others.
func parseArguments(args string, a *arguments) {
	if logfile.Unmarshal([]byte(args), a) == nil {
		return
	}
	var fields map[string]jsontext.Value
	if logfile.Unmarshal([]byte(args), &fields) != nil {
		return
	}
	for name, into := range map[string]*string{
		"command": &a.Command, "filePath": &a.FilePath, "path": &a.Path, "id": &a.ID, "bash_id": &a.BashID,
	} {
		var s string
		if logfile.Unmarshal(fields[name], &s) == nil {
			*into = s
		}
	}
	a.Offset, a.Limit = fields["offset"], fields["limit"]
}

// rangeOf is "OFFSET:LIMIT" with the absent side empty; "" for the default.
func rangeOf(a arguments) string {
	offset, limit := number(a.Offset), number(a.Limit)
	if offset == "" && limit == "" {
		return ""
	}
	return offset + ":" + limit
}

// number is a JSON number, or a string that holds one, as plain digits.
func number(raw jsontext.Value) string {
	s := strings.TrimSpace(string(raw))
	if s == "null" {
		return ""
	}
	return strings.TrimSpace(strings.Trim(s, `"`))
}

// waits matches a command that only waits, FreeCode's own test for a polling
// call.
var waits = regexp.MustCompile(`^\s*(sleep\s+[\d.]+[smhd]?|wait(\s+\S+)*)\s*((&&|;)\s*(echo\b.*|true))?\s*$`)

// lookers are programs that only read, whatever their arguments.
var lookers = map[string]bool{
	"cat": true, "head": true, "tail": true, "ls": true, "grep": true, "rg": true, "ag": true, "wc": true,
	"pwd": true, "echo": true, "sleep": true, "wait": true, "true": true, "which": true, "file": true,
	"stat": true, "du": true, "df": true, "date": true, "ps": true, "sort": true, "uniq": true, "cut": true,
	"diff": true, "tree": true, "printf": true, "env": false, "cd": true, "test": true,
}

// gitLookers are the git commands that only read.
var gitLookers = map[string]bool{
	"status": true, "diff": true, "log": true, "show": true, "blame": true, "ls-files": true, "grep": true, "rev-parse": true,
}

var commandSplit = regexp.MustCompile(`&&|\|\||[;|\n]`)

// onlyLooks tells a shell command that cannot change files: every program in it
// is a known reader and nothing is redirected, substituted or put in the
// background. When in doubt it says no.
func onlyLooks(command string) bool {
	plain := strings.NewReplacer("2>&1", "", "2>/dev/null", "", ">/dev/null", "").Replace(command)
	if strings.ContainsAny(strings.ReplaceAll(plain, "&&", ""), ">`&") || strings.Contains(plain, "$(") {
		return false
	}
	looked := false
	for _, part := range commandSplit.Split(plain, -1) {
		words := strings.Fields(part)
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

// outcome fills in what a call's result tells.
func (r *reader) outcome(call *rollout.Call, s *slot, text string, known bool) {
	if !known || s.parent != "" && !s.answered {
		return
	}
	if call.Failed == nil && call.Ran && s.answered {
		failed := looksFailed(call.Tool, text)
		call.Failed = &failed
	}
	r.truncation(call, s, text)
	r.background(call, text)
}

// Error texts of failed calls, for builds that logged no flag. They stand alone.
// A shell prints what it likes, so only what FreeCode itself says of it counts.
var (
	failedCall  = regexp.MustCompile(`^(Tool '[^'\n]*' not found$|Missing required param: |Permission denied: |Blocked by hook: )`)
	failedFile  = regexp.MustCompile(`^(Could not find oldString in the file|File not found: )`)
	failedAgent = regexp.MustCompile(`^(Subagent: [^\n]*\n)?Status: FAILED(\n|$)`)
	timedOut    = regexp.MustCompile(`^Command timed out after \d+ms`)
)

func looksFailed(tool, text string) bool {
	switch tool {
	case "bash":
		return timedOut.MatchString(text) || strings.HasPrefix(text, "Missing required param: ") || strings.HasPrefix(text, "Blocked by hook: ")
	case "agent":
		return failedAgent.MatchString(text) || failedCall.MatchString(text)
	}
	return failedCall.MatchString(text) || failedFile.MatchString(text)
}

var (
	truncated  = regexp.MustCompile("\\.\\.\\. \\[truncated (\\d+) chars total — use the .output. tool with id=\"([^\"]+)\"")
	readCapped = regexp.MustCompile(`\n\((Output capped at 50 KB\. )?Showing lines \d+-\d+(?: of \d+)?\. Use offset=\d+ to continue\.\)\n</content>$`)
	listCapped = regexp.MustCompile(`(?:^|\n)\.\.\. truncated at \d+ (?:of \d+ matches|entries)`)
)

// truncation tells whether the model saw only a part of the output.
func (r *reader) truncation(call *rollout.Call, s *slot, text string) {
	_, _, total := split(s.display)
	cutHere := s.answered && total > maxModelOutput
	marks := truncated.FindAllStringSubmatch(text, -1)
	switch {
	case cutHere && s.realID != "":
		call.Truncated, call.Handle = rollout.Recoverable, s.realID
	case cutHere && len(marks) > 0 && marks[len(marks)-1][2] != unknownCallID:
		call.Truncated, call.Handle = rollout.Recoverable, marks[len(marks)-1][2]
	case cutHere:
		call.Truncated = rollout.Recoverable
	case len(marks) > 0 && call.Class != rollout.ReadTool && call.Class != rollout.SearchTool:
		call.Truncated, call.Handle = rollout.Recoverable, marks[0][2]
	case call.Tool == "read" && readWasCapped(call, text):
		call.Truncated, call.Handle = rollout.Recoverable, call.Path
	case (call.Tool == "glob" || call.Tool == "ls") && listCapped.MatchString(text):
		call.Truncated = rollout.Lost
	case call.Tool == "bash" && strings.HasSuffix(text, "\n[output truncated]"):
		call.Truncated = rollout.Lost
	}
}

// readWasCapped tells a read that stopped at FreeCode's limits, not at the limit
// the model asked for.
func readWasCapped(call *rollout.Call, text string) bool {
	m := readCapped.FindStringSubmatch(text)
	return m != nil && (m[1] != "" || call.Range == "" || strings.HasSuffix(call.Range, ":"))
}

func itoa(n int) string { return strconv.Itoa(n) }
