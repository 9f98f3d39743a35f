package opencode

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

type (
	text   = logfile.Lenient[string]
	number = logfile.Lenient[int64]
)

// document is one session as any carrier stores it.
type document struct {
	info     sessionInfo
	messages []message
	records  int
	line     int
	problems []fault
}

// fault is something a carrier could not give.
type fault struct {
	kind, detail string
	line         int
}

type sessionInfo struct {
	ID        text                         `json:"id"`
	ParentID  text                         `json:"parentID"`
	ProjectID text                         `json:"projectID"`
	Directory text                         `json:"directory"`
	Version   text                         `json:"version"`
	Agent     text                         `json:"agent"`
	Time      logfile.Lenient[span]        `json:"time"`
	Tokens    logfile.Lenient[tokenCounts] `json:"tokens"`
	Cost      logfile.Lenient[float64]     `json:"cost"`
}

// span is a pair of instants in milliseconds, under the names each object uses.
type span struct {
	Created   number `json:"created"`
	Completed number `json:"completed"`
	Start     number `json:"start"`
	End       number `json:"end"`
	Compacted number `json:"compacted"`
}

type tokenCounts struct {
	Total     number `json:"total"`
	Input     number `json:"input"`
	Output    number `json:"output"`
	Reasoning number `json:"reasoning"`
	Cache     logfile.Lenient[struct {
		Read  number `json:"read"`
		Write number `json:"write"`
	}] `json:"cache"`
}

// message is a message with its parts in order.
type message struct {
	messageInfo
	parts []part
	line  int
}

type messageInfo struct {
	ID       text                         `json:"id"`
	Role     text                         `json:"role"`
	ParentID text                         `json:"parentID"`
	Time     logfile.Lenient[span]        `json:"time"`
	Agent    text                         `json:"agent"`
	Mode     text                         `json:"mode"`
	System   text                         `json:"system"`
	Model    logfile.Lenient[modelName]   `json:"model"`
	Provider text                         `json:"providerID"`
	ModelID  text                         `json:"modelID"`
	Tokens   logfile.Lenient[tokenCounts] `json:"tokens"`
	Cost     logfile.Lenient[float64]     `json:"cost"`
	Finish   text                         `json:"finish"`
	Summary  logfile.Lenient[bool]        `json:"summary"` // of a user message an object for the screen
	Error    logfile.Lenient[errorInfo]   `json:"error"`
}

type modelName struct {
	Provider text `json:"providerID"`
	Model    text `json:"modelID"`
}

type errorInfo struct {
	Name text `json:"name"`
}

// part is one part of a message, of any type.
type part struct {
	ID        text                         `json:"id"`
	Type      text                         `json:"type"`
	Text      text                         `json:"text"`
	Synthetic logfile.Lenient[bool]        `json:"synthetic"`
	Ignored   logfile.Lenient[bool]        `json:"ignored"`
	Metadata  jsontext.Value               `json:"metadata"`
	Time      logfile.Lenient[span]        `json:"time"`
	Tool      text                         `json:"tool"`
	CallID    text                         `json:"callID"`
	State     logfile.Lenient[toolState]   `json:"state"`
	Mime      text                         `json:"mime"`
	URL       text                         `json:"url"`
	Tokens    logfile.Lenient[tokenCounts] `json:"tokens"`
	Cost      logfile.Lenient[float64]     `json:"cost"`
	TailStart text                         `json:"tail_start_id"`
}

type toolState struct {
	Status      text                         `json:"status"`
	Input       jsontext.Value               `json:"input"`
	Output      text                         `json:"output"`
	Error       text                         `json:"error"`
	Metadata    logfile.Lenient[toolMeta]    `json:"metadata"`
	Time        logfile.Lenient[span]        `json:"time"`
	Attachments logfile.Lenient[[]fileValue] `json:"attachments"`
}

// toolMeta is what of a result's data for the screen tells about the call.
type toolMeta struct {
	SessionID   text                  `json:"sessionId"`
	Exit        number                `json:"exit"`
	Interrupted logfile.Lenient[bool] `json:"interrupted"`
	Output      text                  `json:"output"`
}

type fileValue struct {
	Mime text `json:"mime"`
	URL  text `json:"url"`
}

// Part types and tool states, as OpenCode writes them.
const (
	partText       = "text"
	partReasoning  = "reasoning"
	partTool       = "tool"
	partFile       = "file"
	partStart      = "step-start"
	partFinish     = "step-finish"
	partCompaction = "compaction"
	partSubtask    = "subtask"
	partRetry      = "retry"

	stateCompleted = "completed"
	stateError     = "error"
)

// silentParts are known parts that no request carries.
var silentParts = map[string]bool{"patch": true, "snapshot": true, "agent": true}

// at is an instant from milliseconds; zero when unknown or impossible.
func at(ms number) time.Time {
	if !ms.OK || ms.V <= 0 || ms.V > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(ms.V).UTC()
}

// maxMillis is the end of the year 9999.
const maxMillis = 253_402_300_799_999

func (m *messageInfo) created() time.Time { return at(m.Time.V.Created) }

// errored reports a message that ended with an error, and whether that was the
// user's interruption.
func (m *messageInfo) errored() (failed, aborted bool) {
	failed = m.Error.OK || m.Error.Odd
	return failed, failed && m.Error.V.Name.V == "MessageAbortedError"
}

// model names the model of an assistant message.
func (m *messageInfo) model() (provider, model string) {
	return first(m.Provider.V, m.Model.V.Provider.V), first(m.ModelID.V, m.Model.V.Model.V)
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// decode reads a record; false when it is no object of this kind at all.
func decode[T any](raw []byte) (v T, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return v, false
	}
	return v, logfile.Unmarshal(raw, &v) == nil
}
