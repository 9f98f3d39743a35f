package codex

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// Record types of the envelope.
const (
	typeMeta     = "session_meta"
	typeItem     = "response_item"
	typeEvent    = "event_msg"
	typeContext  = "turn_context"
	typeCompact  = "compacted"
	typeUsage    = "token_usage_record"
	typeAgentMsg = "inter_agent_communication"
	typeState    = "state"
)

// envelope is the outer form of a record, and of the bare records that files
// before September 2025 hold.
type envelope struct {
	Timestamp  logfile.Lenient[string] `json:"timestamp"`
	Ordinal    logfile.Lenient[int64]  `json:"ordinal"`
	Type       logfile.Lenient[string] `json:"type"`
	Payload    jsontext.Value          `json:"payload"`
	RecordType logfile.Lenient[string] `json:"record_type"`
	ID         logfile.Lenient[string] `json:"id"`
}

// record is one log record in the form of the envelope, whatever its age.
type record struct {
	typ     string
	at      time.Time // zero unknown
	ordinal int64     // -1 none
	payload []byte
	bare    bool // written before the envelope existed
	badTime bool // the time stamp is not valid, or an envelope has none
}

// parseRecord tells what a JSON value of the log is; false if it is no object
// that Codex writes.
func parseRecord(raw []byte) (record, bool) {
	var env envelope
	if logfile.Decode(raw, &env) != nil {
		return record{}, false
	}
	rec := record{typ: env.Type.V, ordinal: -1, payload: env.Payload}
	if at, err := time.Parse(time.RFC3339Nano, env.Timestamp.V); err == nil {
		rec.at = at
	}
	if env.Ordinal.OK {
		rec.ordinal = env.Ordinal.V
	}
	rec.badTime = rec.at.IsZero() && (len(env.Payload) > 0 || env.Timestamp.OK)
	if len(env.Payload) > 0 {
		return rec, rec.typ != ""
	}
	rec.bare, rec.payload = true, raw
	switch {
	case env.RecordType.OK:
		rec.typ = typeState
	case rec.typ != "":
		rec.typ = typeItem
	case env.ID.OK && env.Timestamp.OK:
		rec.typ = typeMeta
	default:
		return record{}, false
	}
	return rec, true
}

// content is one element of a message, a summary or an output.
type content struct {
	Type      logfile.Lenient[string] `json:"type"`
	Text      logfile.Lenient[string] `json:"text"`
	ImageURL  logfile.Lenient[string] `json:"image_url"`
	Encrypted logfile.Lenient[string] `json:"encrypted_content"`
}

type passthrough struct {
	TurnID logfile.Lenient[string]   `json:"turn_id"`
	Kinds  logfile.Lenient[[]string] `json:"content_item_kinds"`
}

// item is the payload of a response_item. Raw values are parts of the record.
type item struct {
	Type      logfile.Lenient[string]                     `json:"type"`
	Role      logfile.Lenient[string]                     `json:"role"`
	Name      logfile.Lenient[string]                     `json:"name"`
	Namespace logfile.Lenient[string]                     `json:"namespace"`
	Phase     logfile.Lenient[string]                     `json:"phase"`
	ID        logfile.Lenient[string]                     `json:"id"`
	CallID    logfile.Lenient[string]                     `json:"call_id"`
	Arguments jsontext.Value                              `json:"arguments"`
	Input     logfile.Lenient[string]                     `json:"input"`
	Output    jsontext.Value                              `json:"output"`
	Action    jsontext.Value                              `json:"action"`
	Content   logfile.Lenient[[]logfile.Lenient[content]] `json:"content"`
	Summary   logfile.Lenient[[]logfile.Lenient[content]] `json:"summary"`
	Encrypted jsontext.Value                              `json:"encrypted_content"`
	Result    logfile.Lenient[string]                     `json:"result"`
	Pass      logfile.Lenient[passthrough]                `json:"internal_chat_message_metadata_passthrough"`

	call    string    // what a call carries
	outputs []content // elements of an output
	listed  bool      // the output is a list of elements
	whole   string    // of types sent as they are
	sealed  sealed    // encrypted reasoning
}

// counts is a usage vector as the log writes it.
type counts struct {
	Input      logfile.Lenient[int64] `json:"input_tokens"`
	Cached     logfile.Lenient[int64] `json:"cached_input_tokens"`
	CacheWrite logfile.Lenient[int64] `json:"cache_write_input_tokens"`
	Output     logfile.Lenient[int64] `json:"output_tokens"`
	Reasoning  logfile.Lenient[int64] `json:"reasoning_output_tokens"`
	Total      logfile.Lenient[int64] `json:"total_tokens"`
}

// empty says that the vector holds no tokens but perhaps a total: the form of
// an estimate after a compaction and of a context overflow.
func (c counts) empty() bool {
	return c.Input.V == 0 && c.Cached.V == 0 && c.CacheWrite.V == 0 && c.Output.V == 0 && c.Reasoning.V == 0
}

type tokenInfo struct {
	Total logfile.Lenient[counts] `json:"total_token_usage"`
	Last  logfile.Lenient[counts] `json:"last_token_usage"`
}

type rateLimits struct {
	PlanType logfile.Lenient[string] `json:"plan_type"`
}

type duration struct {
	Secs  logfile.Lenient[int64] `json:"secs"`
	Nanos logfile.Lenient[int64] `json:"nanos"`
}

// event is the payload of an event_msg.
type event struct {
	Type       logfile.Lenient[string]     `json:"type"`
	TurnID     logfile.Lenient[string]     `json:"turn_id"`
	Info       logfile.Lenient[tokenInfo]  `json:"info"`
	RateLimits logfile.Lenient[rateLimits] `json:"rate_limits"`
	NumTurns   logfile.Lenient[int64]      `json:"num_turns"`
	CallID     logfile.Lenient[string]     `json:"call_id"`
	Duration   logfile.Lenient[duration]   `json:"duration"`
	Settings   logfile.Lenient[settings]   `json:"thread_settings"`
}

type settings struct {
	Model    logfile.Lenient[string] `json:"model"`
	Provider logfile.Lenient[string] `json:"model_provider_id"`
}

type policy struct {
	Mode  logfile.Lenient[string] `json:"mode"`
	Limit logfile.Lenient[int64]  `json:"limit"`
}

type turnContext struct {
	TurnID logfile.Lenient[string] `json:"turn_id"`
	Model  logfile.Lenient[string] `json:"model"`
	Policy logfile.Lenient[policy] `json:"truncation_policy"`
}

type usageRecord struct {
	ThreadID   logfile.Lenient[string] `json:"thread_id"`
	ResponseID logfile.Lenient[string] `json:"response_id"`
	Usage      logfile.Lenient[counts] `json:"usage"`
}

// compaction is the payload of a compacted record. Raw values are parts of the
// record.
type compaction struct {
	Message    logfile.Lenient[string]           `json:"message"`
	History    logfile.Lenient[[]jsontext.Value] `json:"replacement_history"`
	ResponseID logfile.Lenient[string]           `json:"compaction_response_id"`

	items []*item // of the history
}

type threadSpawn struct {
	Parent   logfile.Lenient[string] `json:"parent_thread_id"`
	Path     logfile.Lenient[string] `json:"agent_path"`
	Nickname logfile.Lenient[string] `json:"agent_nickname"`
	Role     logfile.Lenient[string] `json:"agent_role"`
}

type subagent struct {
	Spawn logfile.Lenient[threadSpawn] `json:"thread_spawn"`
	Other logfile.Lenient[string]      `json:"other"`
}

type source struct {
	Subagent jsontext.Value `json:"subagent"`
}

type baseText struct {
	Text       logfile.Lenient[string]     `json:"text"`
	Provenance logfile.Lenient[provenance] `json:"provenance"` // newest builds only
}

// provenance says whose text a base prompt is: "model" for the model's own.
type provenance struct {
	Type logfile.Lenient[string] `json:"type"`
}

type historyBase struct {
	End jsontext.Value `json:"end_ordinal_exclusive"`
}

// meta is the payload of a session_meta.
type meta struct {
	ID           logfile.Lenient[string]           `json:"id"`
	Timestamp    logfile.Lenient[string]           `json:"timestamp"`
	CWD          logfile.Lenient[string]           `json:"cwd"`
	Version      logfile.Lenient[string]           `json:"cli_version"`
	Source       logfile.Lenient[source]           `json:"source"`
	Provider     logfile.Lenient[string]           `json:"model_provider"`
	Base         logfile.Lenient[baseText]         `json:"base_instructions"`
	Tools        logfile.Lenient[[]jsontext.Value] `json:"dynamic_tools"`
	ForkedFrom   logfile.Lenient[string]           `json:"forked_from_id"`
	Parent       logfile.Lenient[string]           `json:"parent_thread_id"`
	Nickname     logfile.Lenient[string]           `json:"agent_nickname"`
	Role         logfile.Lenient[string]           `json:"agent_role"`
	Path         logfile.Lenient[string]           `json:"agent_path"`
	StartOrdinal jsontext.Value                    `json:"subagent_history_start_ordinal"`
	HistoryBase  logfile.Lenient[historyBase]      `json:"history_base"`
	ForkOrdinal  jsontext.Value                    `json:"forked_from_ordinal_exclusive"`
}

// agent returns the parent thread and the kind or name of a sub-agent, "" for
// what the record does not say.
func (m meta) agent() (parent, name string) {
	raw := m.Source.V.Subagent
	var word logfile.Lenient[string]
	var sub logfile.Lenient[subagent]
	_ = logfile.Unmarshal(orNull(raw), &word)
	_ = logfile.Unmarshal(orNull(raw), &sub)
	spawn := sub.V.Spawn.V
	parent = first(m.Parent.V, spawn.Parent.V)
	name = first(m.Role.V, spawn.Role.V, m.Nickname.V, spawn.Nickname.V, m.Path.V, spawn.Path.V, word.V, sub.V.Other.V)
	if name == "" && sub.V.Spawn.OK {
		name = "subagent"
	}
	return parent, name
}

// number reads a number or a string that holds one.
func number(raw jsontext.Value) (int64, bool) {
	var n logfile.Lenient[int64]
	_ = logfile.Unmarshal(orNull(raw), &n)
	if n.OK {
		return n.V, true
	}
	var s logfile.Lenient[string]
	_ = logfile.Unmarshal(orNull(raw), &s)
	return parseInt(s.V)
}

// within decodes a payload or a part of one, whose raw values the result shares;
// what does not fit stays zero.
func within[T any](payload []byte) T {
	var v, none T
	if logfile.Decode(orNull(payload), &v) != nil {
		return none
	}
	return v
}

// decode fills v from any JSON; what does not fit stays zero.
func decode[T any](raw []byte) T {
	var v, none T
	if logfile.Unmarshal(orNull(raw), &v) != nil {
		return none
	}
	return v
}

func orNull(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
