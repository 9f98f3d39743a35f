package freecode

import "github.com/go-json-experiment/json/jsontext"

// event is one line of events.jsonl. Only the fields the model needs are read;
// a pointer is nil where the field is absent.
type event struct {
	Type        string `json:"type"`
	ID          string `json:"id"` // unique; "" in builds without
	AggregateID string `json:"aggregateID"`
	Timestamp   int64  `json:"timestamp"`
	TurnID      string `json:"turnId"`

	Provider     string   `json:"provider"`
	Model        string   `json:"model"`
	EchoedModel  string   `json:"echoedModel"`
	MessageCount *int64   `json:"messageCount"`
	PromptChars  *int64   `json:"promptChars"`
	DurationMS   *int64   `json:"duration_ms"`
	TTFTMS       *int64   `json:"ttft_ms"`
	Input        *int64   `json:"inputTokens"`
	Output       *int64   `json:"outputTokens"`
	CacheRead    *int64   `json:"cacheReadTokens"`
	CacheWrite   *int64   `json:"cacheWriteTokens"`
	Reasoning    *int64   `json:"reasoningTokens"`
	AuthMode     string   `json:"authMode"`
	ToolCalls    []string `json:"toolCalls"`
	TextChars    int64    `json:"textChars"`

	Tool         string         `json:"tool"`
	Args         jsontext.Value `json:"args"`
	CallID       string         `json:"callId"`
	ParentCallID string         `json:"parentCallId"`
	Display      *string        `json:"output"` // display copy of a result
	Failed       *bool          `json:"failed"`
	Reason       string         `json:"reason"`

	SubagentID string `json:"subagentId"`
	MessageID  string `json:"messageId"`
	To         string `json:"to"`
	Purpose    string `json:"purpose"`

	line int
}

// maxNumber bounds sizes and durations: what JavaScript can count exactly.
const maxNumber = 1 << 53

// dropImpossible takes out sizes and durations that cannot be; false if there
// was one. Token counts are looked at with the usage.
func (e *event) dropImpossible() bool {
	sound := true
	for _, p := range []**int64{&e.MessageCount, &e.PromptChars, &e.DurationMS, &e.TTFTMS} {
		if *p != nil && (**p < 0 || **p > maxNumber) {
			*p, sound = nil, false
		}
	}
	return sound
}

// Event names, as FreeCode writes them.
const (
	evTurnStarted    = "turn.started"
	evRequest        = "model.request"
	evFirstToken     = "model.first_token"
	evResponse       = "model.response"
	evError          = "model.error"
	evCall           = "function.call"
	evOutput         = "function.output"
	evDenied         = "function.denied"
	evHookBlocked    = "hook.blocked"
	evCompact        = "compact.occurred"
	evSubagentStart  = "subagent.start"
	evSubagentStop   = "subagent.stop"
	evSteered        = "message.steered"
	evCacheWarm      = "cache.warm"
	evAuxiliary      = "memory.auxiliary"
	evRedirect       = "redirect.triggered"
	evMemoryExposure = "memory.exposure"
	evNavigate       = "session.navigate"
)

// silentEvents are known events that change neither payload nor cost.
var silentEvents = map[string]bool{
	"hook.triggered": true, evHookBlocked: true, "context.overflow": true, evMemoryExposure: true,
	"redirect.skipped": true, "poke.triggered": true, "poke.skipped": true, "todo.signal": true,
	"checkpoint.captured": true, "checkpoint.skipped": true, "checkpoint.restored": true,
	"parse.error": true, "turn.aborted": true, "skill.invoked": true,
}

// sinceSeptember are events and signs that builds before September 2026 never
// wrote.
func (e *event) sinceSeptember() bool {
	switch e.Type {
	case evDenied, evSubagentStart, evSubagentStop, evSteered, evMemoryExposure, "hook.triggered", "context.overflow":
		return true
	}
	return e.CallID != "" || e.Failed != nil
}
