package rollout

import "time"

// ToolClass says what a tool does, in one vocabulary for all agents.
type ToolClass string

const (
	ShellTool    ToolClass = "shell"
	ReadTool     ToolClass = "read"     // a file or directory listing by path
	SearchTool   ToolClass = "search"   // grep, glob
	EditTool     ToolClass = "edit"     // changes files: edit, write, patch
	TodoTool     ToolClass = "todo"     // the agent's own to-do list
	PollTool     ToolClass = "poll"     // asks for the state of background work
	RetrieveTool ToolClass = "retrieve" // pages the stored output of an earlier call
	AgentTool    ToolClass = "agent"    // starts a sub-agent
	WebTool      ToolClass = "web"
	OtherTool    ToolClass = "other"
)

// PollClass is what a poll brought back.
type PollClass string

const (
	NoPoll       PollClass = ""
	PollEmpty    PollClass = "empty"    // still running, nothing new
	PollProgress PollClass = "progress" // still running, new text
	PollFinal    PollClass = "final"    // the task had ended
	PollLost     PollClass = "lost"     // no such task
	PollUnknown  PollClass = "unknown"  // the result does not tell
)

// Truncation says whether the model saw only a part of a call's output.
type Truncation string

const (
	NotTruncated Truncation = ""
	Recoverable  Truncation = "recoverable" // the rest can be asked for (Call.Handle)
	Lost         Truncation = "lost"        // the rest is gone; only a new run brings it
)

// Call is one tool call that a response asked for.
type Call struct {
	Request    int    // index of the request whose response made it; -1 unknown
	ID         string // the agent's call ID, unique within the session after reading
	Tool       string // as logged
	Class      ToolClass
	Args       TextID  // arguments as sent: compact JSON, keys in original order, or free text
	ArgsItem   int     // index of its tool_call item; -1 none
	ResultItem int     // index of its tool_result item; -1 none
	Full       *TextID // the whole output, where the log keeps it beside a result that was sent shorter; nil none
	Command    string  // shell command line; "" not a shell call
	Path       string  // file or directory it is about; "" none
	Range      string  // part of the file asked for, "OFFSET:LIMIT"; "" the default
	ReadOnly   bool    // cannot change anything, so calls like it could share one response
	Mutates    bool    // may change files or state: earlier results may be out of date
	Ran        bool    // the log shows that it ran
	Denied     bool    // refused by a rule, a hook or the user
	Failed     *bool   // nil unknown
	Inherited  bool    // copied from another session's log
	Time       time.Time
	DurationMS *int64
	Task       string // background task it starts or asks about; "" none
	Starts     bool   // it starts Task
	Poll       PollClass
	Truncated  Truncation
	Handle     string // what names the rest of a truncated output: call ID or path
	Recovers   string // handle of the earlier output this call goes back to; "" none
	Parent     string // ID of the call whose script made this one; "" the model itself did
	Child      string // session ID of the sub-agent it started; "" none or unknown
	Line       int    // line in the log, 1-based
}
