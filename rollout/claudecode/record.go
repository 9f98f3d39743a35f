package claudecode

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// lenient decodes a member whose type differs between versions: what does not
// fit is skipped and leaves OK false, so that one odd member never costs the line.
type lenient[T any] struct {
	V   T
	OK  bool
	Odd bool // there, but not of this type
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *lenient[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() != 'n' {
		l.OK = logfile.Unmarshal(raw, &l.V) == nil
		l.Odd = !l.OK
	}
	return nil
}

// record is one line of a transcript, as far as it is read.
type record struct {
	Type        string                 `json:"type"`
	Subtype     lenient[string]        `json:"subtype"`
	UUID        lenient[string]        `json:"uuid"`
	Parent      lenient[string]        `json:"parentUuid"`
	Session     lenient[string]        `json:"sessionId"`
	Agent       lenient[string]        `json:"agentId"`
	Version     lenient[string]        `json:"version"`
	CWD         lenient[string]        `json:"cwd"`
	Time        lenient[string]        `json:"timestamp"`
	Sidechain   lenient[bool]          `json:"isSidechain"`
	Meta        lenient[bool]          `json:"isMeta"`
	Summary     lenient[bool]          `json:"isCompactSummary"`
	Invisible   lenient[bool]          `json:"isVisibleInTranscriptOnly"`
	APIError    lenient[bool]          `json:"isApiErrorMessage"`
	RequestID   lenient[string]        `json:"requestId"`
	RequestRef  lenient[string]        `json:"requestRef"`
	Message     lenient[message]       `json:"message"`
	Content     lenient[string]        `json:"content"`
	ToolResult  lenient[resultMeta]    `json:"toolUseResult"`
	ForkedFrom  lenient[forkedFrom]    `json:"forkedFrom"`
	Attachment  lenient[attachment]    `json:"attachment"`
	Rendered    lenient[[]rendered]    `json:"rendered"`
	RenderRole  lenient[string]        `json:"renderedRole"`
	Compact     lenient[compactMeta]   `json:"compactMetadata"`
	Micro       lenient[microMeta]     `json:"microcompactMetadata"`
	Data        lenient[progressData]  `json:"data"`
	ParentTool  lenient[string]        `json:"parentToolUseID"`
	AgentType   lenient[string]        `json:"attributionAgent"`
	ID          lenient[string]        `json:"id"`
	Base        lenient[string]        `json:"base"`
	Keep        lenient[int]           `json:"keep"`
	Tail        lenient[[]string]      `json:"tail"`
	ShapeHash   lenient[string]        `json:"shapeHash"`
	Hash        lenient[string]        `json:"hash"`
	Shape       lenient[requestShape]  `json:"shape"`
	QuerySource lenient[string]        `json:"querySource"`
	Params      lenient[requestParams] `json:"params"`
}

type message struct {
	ID         lenient[string]   `json:"id"`
	Role       lenient[string]   `json:"role"`
	Model      lenient[string]   `json:"model"`
	Content    jsontext.Value    `json:"content"`
	StopReason lenient[string]   `json:"stop_reason"`
	Usage      lenient[rawUsage] `json:"usage"`
}

type rawUsage struct {
	Input         lenient[int64]         `json:"input_tokens"`
	CacheCreation lenient[int64]         `json:"cache_creation_input_tokens"`
	CacheRead     lenient[int64]         `json:"cache_read_input_tokens"`
	Output        lenient[int64]         `json:"output_tokens"`
	Lifetimes     lenient[lifetimes]     `json:"cache_creation"`
	Details       lenient[outputDetails] `json:"output_tokens_details"`
}

type lifetimes struct {
	FiveMinutes lenient[int64] `json:"ephemeral_5m_input_tokens"`
	OneHour     lenient[int64] `json:"ephemeral_1h_input_tokens"`
}

type outputDetails struct {
	Thinking lenient[int64] `json:"thinking_tokens"`
}

// resultMeta is the part of toolUseResult that is read: facts about the result,
// none of its text (the model saw message.content only).
type resultMeta struct {
	Agent      lenient[string]   `json:"agentId"`
	Background lenient[string]   `json:"backgroundTaskId"`
	Duration   lenient[int64]    `json:"durationMs"`
	Total      lenient[int64]    `json:"totalDurationMs"`
	Async      lenient[bool]     `json:"isAsync"`
	File       lenient[fileMeta] `json:"file"`
}

type fileMeta struct {
	Start lenient[int] `json:"startLine"`
	Lines lenient[int] `json:"numLines"`
	Total lenient[int] `json:"totalLines"`
}

type forkedFrom struct {
	Session lenient[string] `json:"sessionId"`
}

type compactMeta struct {
	PreTokens lenient[int64]     `json:"preTokens"`
	Segment   lenient[segment]   `json:"preservedSegment"`
	Messages  lenient[preserved] `json:"preservedMessages"`
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
	Tools       lenient[[]string] `json:"compactedToolIds"`
	Attachments lenient[[]string] `json:"clearedAttachmentUUIDs"`
}

type progressData struct {
	Type    lenient[string]          `json:"type"`
	Agent   lenient[string]          `json:"agentId"`
	Message lenient[progressMessage] `json:"message"`
}

type progressMessage struct {
	Type      string           `json:"type"`
	Time      lenient[string]  `json:"timestamp"`
	UUID      lenient[string]  `json:"uuid"`
	RequestID lenient[string]  `json:"requestId"`
	Message   lenient[message] `json:"message"`
}

type requestShape struct {
	System []jsontext.Value `json:"system"`
	Tools  []jsontext.Value `json:"tools"`
}

type requestParams struct {
	Model lenient[string] `json:"model"`
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
