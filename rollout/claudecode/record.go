package claudecode

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// record is one line of a transcript, as far as it is read. Raw values are parts of
// the line.
type record struct {
	Type        string                         `json:"type"`
	Subtype     logfile.Lenient[string]        `json:"subtype"`
	UUID        logfile.Lenient[string]        `json:"uuid"`
	Parent      logfile.Lenient[string]        `json:"parentUuid"`
	Session     logfile.Lenient[string]        `json:"sessionId"`
	Agent       logfile.Lenient[string]        `json:"agentId"`
	Version     logfile.Lenient[string]        `json:"version"`
	CWD         logfile.Lenient[string]        `json:"cwd"`
	Time        logfile.Lenient[string]        `json:"timestamp"`
	Sidechain   logfile.Lenient[bool]          `json:"isSidechain"`
	Meta        logfile.Lenient[bool]          `json:"isMeta"`
	Summary     logfile.Lenient[bool]          `json:"isCompactSummary"`
	Invisible   logfile.Lenient[bool]          `json:"isVisibleInTranscriptOnly"`
	APIError    logfile.Lenient[bool]          `json:"isApiErrorMessage"`
	RequestID   logfile.Lenient[string]        `json:"requestId"`
	RequestRef  logfile.Lenient[string]        `json:"requestRef"`
	Message     logfile.Lenient[message]       `json:"message"`
	Content     logfile.Lenient[string]        `json:"content"`
	ToolResult  logfile.Lenient[resultMeta]    `json:"toolUseResult"`
	ForkedFrom  logfile.Lenient[forkedFrom]    `json:"forkedFrom"`
	Attachment  logfile.Lenient[attachment]    `json:"attachment"`
	Rendered    logfile.Lenient[[]rendered]    `json:"rendered"`
	RenderRole  logfile.Lenient[string]        `json:"renderedRole"`
	Compact     logfile.Lenient[compactMeta]   `json:"compactMetadata"`
	Micro       logfile.Lenient[microMeta]     `json:"microcompactMetadata"`
	Data        logfile.Lenient[progressData]  `json:"data"`
	ParentTool  logfile.Lenient[string]        `json:"parentToolUseID"`
	AgentType   logfile.Lenient[string]        `json:"attributionAgent"`
	ID          logfile.Lenient[string]        `json:"id"`
	Base        logfile.Lenient[string]        `json:"base"`
	Keep        logfile.Lenient[int]           `json:"keep"`
	Tail        logfile.Lenient[[]string]      `json:"tail"`
	ShapeHash   logfile.Lenient[string]        `json:"shapeHash"`
	Hash        logfile.Lenient[string]        `json:"hash"`
	Shape       logfile.Lenient[requestShape]  `json:"shape"`
	QuerySource logfile.Lenient[string]        `json:"querySource"`
	Params      logfile.Lenient[requestParams] `json:"params"`
}

type message struct {
	ID         logfile.Lenient[string]   `json:"id"`
	Role       logfile.Lenient[string]   `json:"role"`
	Model      logfile.Lenient[string]   `json:"model"`
	Content    jsontext.Value            `json:"content"`
	StopReason logfile.Lenient[string]   `json:"stop_reason"`
	Usage      logfile.Lenient[rawUsage] `json:"usage"`
}

type rawUsage struct {
	Input         logfile.Lenient[int64]         `json:"input_tokens"`
	CacheCreation logfile.Lenient[int64]         `json:"cache_creation_input_tokens"`
	CacheRead     logfile.Lenient[int64]         `json:"cache_read_input_tokens"`
	Output        logfile.Lenient[int64]         `json:"output_tokens"`
	Lifetimes     logfile.Lenient[lifetimes]     `json:"cache_creation"`
	Details       logfile.Lenient[outputDetails] `json:"output_tokens_details"`
}

type lifetimes struct {
	FiveMinutes logfile.Lenient[int64] `json:"ephemeral_5m_input_tokens"`
	OneHour     logfile.Lenient[int64] `json:"ephemeral_1h_input_tokens"`
}

type outputDetails struct {
	Thinking logfile.Lenient[int64] `json:"thinking_tokens"`
}

// resultMeta is the part of toolUseResult that is read: facts about the result,
// none of its text (the model saw message.content only).
type resultMeta struct {
	Agent      logfile.Lenient[string]   `json:"agentId"`
	Background logfile.Lenient[string]   `json:"backgroundTaskId"`
	Duration   logfile.Lenient[int64]    `json:"durationMs"`
	Total      logfile.Lenient[int64]    `json:"totalDurationMs"`
	Async      logfile.Lenient[bool]     `json:"isAsync"`
	File       logfile.Lenient[fileMeta] `json:"file"`
}

type fileMeta struct {
	Start logfile.Lenient[int] `json:"startLine"`
	Lines logfile.Lenient[int] `json:"numLines"`
	Total logfile.Lenient[int] `json:"totalLines"`
}

type forkedFrom struct {
	Session logfile.Lenient[string] `json:"sessionId"`
}

type compactMeta struct {
	PreTokens logfile.Lenient[int64]     `json:"preTokens"`
	Segment   logfile.Lenient[segment]   `json:"preservedSegment"`
	Messages  logfile.Lenient[preserved] `json:"preservedMessages"`
}

type segment struct {
	Head   string `json:"headUuid"`
	Anchor string `json:"anchorUuid"`
	Tail   string `json:"tailUuid"`
}

type preserved struct {
	Anchor string   `json:"anchorUuid"`
	UUIDs  []string `json:"uuids"`
	All    []string `json:"allUuids"`
}

type microMeta struct {
	Tools       logfile.Lenient[[]string] `json:"compactedToolIds"`
	Attachments logfile.Lenient[[]string] `json:"clearedAttachmentUUIDs"`
}

type progressData struct {
	Type    logfile.Lenient[string]          `json:"type"`
	Agent   logfile.Lenient[string]          `json:"agentId"`
	Message logfile.Lenient[progressMessage] `json:"message"`
}

type progressMessage struct {
	Type      string                   `json:"type"`
	Time      logfile.Lenient[string]  `json:"timestamp"`
	UUID      logfile.Lenient[string]  `json:"uuid"`
	RequestID logfile.Lenient[string]  `json:"requestId"`
	Message   logfile.Lenient[message] `json:"message"`
}

type requestShape struct {
	System []jsontext.Value `json:"system"`
	Tools  []jsontext.Value `json:"tools"`
}

type requestParams struct {
	Model logfile.Lenient[string] `json:"model"`
}

// line is what is kept of a record: its place in the tree and what was sent.
type line struct {
	seq        int // order over the whole file
	number     int // line of the file, 1-based
	typ        string
	sub        string
	uuid       string
	parentID   string
	parent     *line
	session    string
	agent      string
	sidechain  bool
	meta       bool
	summary    bool
	hidden     bool // only shown to the user, never sent
	apiError   bool
	inherited  bool
	stringBody bool // content was a plain string
	time       time.Time
	msgID      string
	requestID  string
	requestRef string
	role       string
	model      string
	stop       string
	usage      *rawUsage
	blocks     []block
	result     resultMeta
	label      string // attachment type
	compact    *compactMeta
	micro      *microMeta
	snapshot   *snapshot
	wire       *wireRequest

	conv  *conversation
	items []int // made from blocks, one each and in order; nil before
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
