package copilot

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

type (
	str   = logfile.Lenient[string]
	num   = logfile.Lenient[int64]
	float = logfile.Lenient[float64]
	flag  = logfile.Lenient[bool]
)

// event is one line: an envelope and the data of all types that are read.
type event struct {
	Type      str                   `json:"type"`
	ID        str                   `json:"id"`
	Timestamp str                   `json:"timestamp"`
	AgentID   str                   `json:"agentId"`
	Data      logfile.Lenient[data] `json:"data"`
	line      int
}

type data struct {
	// session.start, session.resume, session.model_change
	SessionID str `json:"sessionId"`
	Version   str `json:"copilotVersion"`
	Model     str `json:"selectedModel"`
	NewModel  str `json:"newModel"`
	Context   logfile.Lenient[struct {
		CWD str `json:"cwd"`
	}] `json:"context"`

	// messages
	Role        str                                     `json:"role"`
	Content     str                                     `json:"content"`
	Transformed str                                     `json:"transformedContent"`
	Attachments logfile.Lenient[[]jsontext.Value]       `json:"attachments"`
	MessageID   str                                     `json:"messageId"`
	MadeBy      str                                     `json:"model"`
	CallID      str                                     `json:"apiCallId"`
	RequestID   str                                     `json:"requestId"`
	Turn        str                                     `json:"turnId"`
	Output      num                                     `json:"outputTokens"`
	Reasoning   str                                     `json:"reasoningText"`
	Opaque      str                                     `json:"reasoningOpaque"`
	Encrypted   str                                     `json:"encryptedContent"`
	Tools       logfile.Lenient[[]logfile.Lenient[ask]] `json:"toolRequests"`

	// tools
	ToolCallID str                     `json:"toolCallId"`
	ToolName   str                     `json:"toolName"`
	Arguments  jsontext.Value          `json:"arguments"`
	ParentCall str                     `json:"parentToolCallId"`
	Success    flag                    `json:"success"`
	Result     logfile.Lenient[result] `json:"result"`
	Error      logfile.Lenient[struct {
		Message str `json:"message"`
		Code    str `json:"code"`
	}] `json:"error"`

	// usage, compaction, the rest
	Usage          logfile.Lenient[usage]              `json:"usage"`
	AgentName      str                                 `json:"agentName"`
	Summary        str                                 `json:"summaryContent"`
	Compaction     logfile.Lenient[usage]              `json:"compactionTokensUsed"`
	Removed        num                                 `json:"messagesRemovedDuringTruncation"`
	InitialMessage str                                 `json:"initialMessage"`
	Metrics        logfile.Lenient[metrics]            `json:"modelMetrics"`
	AgentMetrics   logfile.Lenient[map[string]ofAgent] `json:"agentMetrics"`
}

// ask is one call that a response asks for.
type ask struct {
	ID        str            `json:"toolCallId"`
	Name      str            `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

type result struct {
	Content str `json:"content"`
}

// usage is what Copilot records of a model call. Input includes both cache
// figures, output includes reasoning.
type usage struct {
	Input       num   `json:"inputTokens"`
	CacheRead   num   `json:"cacheReadTokens"`
	CacheWrite  num   `json:"cacheWriteTokens"`
	Output      num   `json:"outputTokens"`
	Reasoning   num   `json:"reasoningTokens"`
	Model       str   `json:"model"`
	Provider    str   `json:"providerType"`
	Duration    float `json:"duration"`
	TTFT        float `json:"timeToFirstTokenMs"`
	CallID      str   `json:"apiCallId"`
	Interaction str   `json:"interactionType"`
	OwnKey      flag  `json:"isByok"`
}

// metrics are totals by model.
type metrics map[string]logfile.Lenient[struct {
	Requests logfile.Lenient[struct {
		Count num `json:"count"`
	}] `json:"requests"`
	Usage logfile.Lenient[usage] `json:"usage"`
}]

type ofAgent struct {
	Metrics logfile.Lenient[metrics] `json:"modelMetrics"`
}

func (e *event) time() time.Time { return parseTime(e.Timestamp.V) }

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
