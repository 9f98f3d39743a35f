package rollout

import "time"

// Session is one recorded conversation of an agent. A sub-agent is a session of
// its own with a parent.
type Session struct {
	ID           string    // unique within Source; a Claude sub-agent is "SESSION/AGENT"
	Source       string    // name of the log format, as its package's Name
	AgentVersion string    // newest version the log names; "" unknown
	Agent        string    // type or name of a sub-agent; "" for a main session
	ParentID     string    // session that started this one; "" none known
	ParentCall   string    // ID of the parent's call that started it; "" unknown
	ForkedFrom   string    // session whose history this one copied; "" none
	SpawnedAt    time.Time // when a parent started it, if only the ID tells; zero unknown
	Started      time.Time // first time stamp in the log; zero unknown
	Ended        time.Time // last time stamp in the log; zero unknown
	CWD          string    // working directory of the agent; "" unknown
	File         string    // path of the log file as given to the reader
	Records      int       // JSON records read for this session
	Missing      []string  // what this log does not hold, one plain phrase each
	// FrontMoves says that content which the log does not hold and which changes along
	// the way (reminders, lists) stands before the conversation: a change of it ends
	// there what a prompt cache can serve.
	FrontMoves bool

	Texts       []Text
	Requests    []Request
	Items       []Item
	Spans       []Span
	Calls       []Call
	OtherBilled []OtherBilled
	Reported    []Reported
	Problems    []Problem
}

// TextID is the index of a Text in its session.
type TextID int

// Text is one distinct text of a session, as it was sent.
type Text struct {
	Hash   [32]byte // SHA-256 of the UTF-8 text; of the raw data when Opaque
	S      string   // valid UTF-8; "" when Opaque
	Chars  int      // Unicode code points; of the raw data when Opaque
	Bytes  int      // UTF-8 bytes; of the raw data when Opaque
	Opaque bool     // image data or encrypted text: no words to count or to show
}

// RequestKind says why a request was made.
type RequestKind string

const (
	KindTurn       RequestKind = "turn"       // the agent's work
	KindCompaction RequestKind = "compaction" // summarises the conversation
	KindTitle      RequestKind = "title"      // names the session
	KindHelper     RequestKind = "helper"     // other side call with a logged payload
	KindWarmUp     RequestKind = "warm-up"    // keeps or fills the prompt cache
)

// Status says how a request ended.
type Status string

const (
	Answered Status = "answered"  // a response is logged
	Errored  Status = "error"     // the attempt failed
	Hung     Status = "hung"      // no answer although the log goes on for long enough
	InFlight Status = "in-flight" // no answer yet when the log ends
	CutOff   Status = "cut-off"   // no answer: the process or run ended
)

// MaxTokens bounds what one request can count of anything: more is no reported
// figure but damage, and sums of it would overflow. Readers leave it out and say so.
const MaxTokens = 1 << 40

// MaxUSD bounds what one request or session can have cost, as MaxTokens does.
const MaxUSD = 1e9

// Usage is what the provider reported for one request. Nil means not reported,
// which is never the same as 0. All counts are tokens.
type Usage struct {
	Input        *int64 // everything sent: uncached + cache read + cache write
	CacheRead    *int64 // part of Input served from the prompt cache
	CacheWrite   *int64 // part of Input written to the prompt cache, any lifetime
	CacheWrite5m *int64 // part of CacheWrite with the 5 minute lifetime
	CacheWrite1h *int64 // part of CacheWrite with the 1 hour lifetime
	Output       *int64 // everything produced, reasoning included
	Reasoning    *int64 // part of Output
}

// Request is one model call. Retries are requests too.
type Request struct {
	ID           string // response or request ID that copies in other files share; "" unknown
	Chain        int    // chain it belongs to; 0 is the main chain
	Number       int    // 1, 2, 3 … along the chain
	Kind         RequestKind
	Run          int  // 1, 2, 3 …: runs of the session in order
	Attempt      int  // 1, 2, 3 …: tries of the same payload
	Inherited    bool // copied from another session's log; its usage is not counted here
	Base         int  // index of the request whose whole payload this one sends again; -1 none
	Time         time.Time
	DurationMS   *int64
	TTFTMS       *int64 // time to first token
	Provider     string // "" unknown
	Model        string // "" unknown
	Status       Status
	Usage        Usage
	OutputFinal  bool     // Usage.Output is the provider's final figure, not a snapshot
	Subscription bool     // billed by subscription: no price per token
	LoggedUSD    *float64 // what the log itself says the request cost, in USD; nil not logged
	Messages     *int64   // pieces on the wire that framing is paid for, as the format's package says; nil unknown
	PromptChars  *int64   // characters the agent itself counted (UTF-16 units); nil not logged
	Line         int      // line in the log, 1-based
}

// ItemKind says what a piece of content is.
type ItemKind string

const (
	SystemPrompt    ItemKind = "system_prompt"
	ToolDefinitions ItemKind = "tool_definitions"
	ProjectContext  ItemKind = "project_context" // instruction files, environment, file tree
	UserText        ItemKind = "user_text"
	Reminder        ItemKind = "reminder" // text the harness injects along the way
	AssistantText   ItemKind = "assistant_text"
	Reasoning       ItemKind = "reasoning"
	ToolCall        ItemKind = "tool_call" // a call's arguments
	ToolResult      ItemKind = "tool_result"
	Image           ItemKind = "image"
	Summary         ItemKind = "summary" // of a compaction
)

// Role is the message role an item was sent under.
type Role string

const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Origin says where an item's text comes from.
type Origin string

const (
	Logged     Origin = "logged"     // stands in the log as sent
	Recomputed Origin = "recomputed" // rebuilt by the agent's own rule from what is logged
	Inferred   Origin = "inferred"   // assumed; the log only hints at it
)

// Item is one piece of content that requests carry.
type Item struct {
	Kind    ItemKind
	Role    Role
	Tool    string // tool that a call or result belongs to; "" otherwise
	CallID  string // ID of that call; "" otherwise
	Label   string // finer kind in the agent's own words, such as "todo"; "" none
	Origin  Origin
	Request int    // index of the request whose response produced it; -1 for input
	Text    TextID // the text it had first
	Tokens  *int64 // size where Text has no words (image price, reasoning from usage); nil: count Text
}

// Span is a stretch of requests of one chain that carried an item unchanged.
type Span struct {
	Item     int
	Chain    int
	First    int   // request number of the chain, 1-based, inclusive
	Last     int   // inclusive, >= First
	Position int64 // order within a payload; unique among spans alive at one request
	Text     TextID
	Tokens   *int64 // as Item.Tokens
}

// OtherBilled is a call that was billed but whose payload the log does not hold
// (cache warm-up, memory judge, an unlogged compaction …). It is in no total.
type OtherBilled struct {
	Kind     string // the agent's own word
	Time     time.Time
	Provider string
	Model    string
	Usage    Usage
	Estimate bool // Usage is inferred, not reported
	Line     int
}

// Reported is what a log says about a session as a whole: the only usage where
// requests have none of their own, a check on their sum where they do. One per
// model, or one of all models together.
type Reported struct {
	Model    string // "" all models of the session together
	Requests *int64 // model calls; nil not reported
	Usage    Usage  // sums over the session, not of one request
	CostUSD  *float64
	Line     int
}

// Problem is something the reader could not read or reconcile.
type Problem struct {
	File   string
	Line   int    // 1-based; 0 for the whole file
	Kind   string // short and stable: bad-json, cut-line, unknown-record, missing-result …
	Detail string // one plain sentence; holds no text of the log
	Count  int    // how often, when equal problems were folded; at least 1
}
