package codex

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// maybe is a JSON value that may be missing, null or of an unexpected type: the
// rest of its record is still worth reading.
type maybe[T any] struct {
	V  T
	OK bool
}

// UnmarshalJSON never fails; what does not fit leaves the zero value.
func (m *maybe[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if string(raw) == "null" || logfile.Unmarshal(raw, &v) != nil {
		*m = maybe[T]{}
		return nil
	}
	m.V, m.OK = v, true
	return nil
}

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
	Timestamp  maybe[string]  `json:"timestamp"`
	Ordinal    maybe[int64]   `json:"ordinal"`
	Type       maybe[string]  `json:"type"`
	Payload    jsontext.Value `json:"payload"`
	RecordType maybe[string]  `json:"record_type"`
	ID         maybe[string]  `json:"id"`
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
	if logfile.Unmarshal(raw, &env) != nil {
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
	Type      maybe[string] `json:"type"`
	Text      maybe[string] `json:"text"`
	ImageURL  maybe[string] `json:"image_url"`
	Encrypted maybe[string] `json:"encrypted_content"`
}

type passthrough struct {
	TurnID maybe[string]   `json:"turn_id"`
	Kinds  maybe[[]string] `json:"content_item_kinds"`
}

// item is the payload of a response_item.
type item struct {
	Type      maybe[string]           `json:"type"`
	Role      maybe[string]           `json:"role"`
	Name      maybe[string]           `json:"name"`
	Namespace maybe[string]           `json:"namespace"`
	Phase     maybe[string]           `json:"phase"`
	ID        maybe[string]           `json:"id"`
	CallID    maybe[string]           `json:"call_id"`
	Arguments jsontext.Value          `json:"arguments"`
	Input     maybe[string]           `json:"input"`
	Output    jsontext.Value          `json:"output"`
	Action    jsontext.Value          `json:"action"`
	Content   maybe[[]maybe[content]] `json:"content"`
	Summary   maybe[[]maybe[content]] `json:"summary"`
	Encrypted maybe[string]           `json:"encrypted_content"`
	Tools     maybe[[]jsontext.Value] `json:"tools"`
	Result    maybe[string]           `json:"result"`
	Pass      maybe[passthrough]      `json:"internal_chat_message_metadata_passthrough"`
}

// counts is a usage vector as the log writes it.
type counts struct {
	Input      maybe[int64] `json:"input_tokens"`
	Cached     maybe[int64] `json:"cached_input_tokens"`
	CacheWrite maybe[int64] `json:"cache_write_input_tokens"`
	Output     maybe[int64] `json:"output_tokens"`
	Reasoning  maybe[int64] `json:"reasoning_output_tokens"`
	Total      maybe[int64] `json:"total_tokens"`
}

// empty says that the vector holds no tokens but perhaps a total: the form of
// an estimate after a compaction and of a context overflow.
func (c counts) empty() bool {
	return c.Input.V == 0 && c.Cached.V == 0 && c.CacheWrite.V == 0 && c.Output.V == 0 && c.Reasoning.V == 0
}

type tokenInfo struct {
	Total maybe[counts] `json:"total_token_usage"`
	Last  maybe[counts] `json:"last_token_usage"`
}

type rateLimits struct {
	PlanType maybe[string] `json:"plan_type"`
}

type duration struct {
	Secs  maybe[int64] `json:"secs"`
	Nanos maybe[int64] `json:"nanos"`
}

// event is the payload of an event_msg.
type event struct {
	Type       maybe[string]     `json:"type"`
	TurnID     maybe[string]     `json:"turn_id"`
	Info       maybe[tokenInfo]  `json:"info"`
	RateLimits maybe[rateLimits] `json:"rate_limits"`
	NumTurns   maybe[int64]      `json:"num_turns"`
	CallID     maybe[string]     `json:"call_id"`
	Duration   maybe[duration]   `json:"duration"`
	Settings   maybe[settings]   `json:"thread_settings"`
}

type settings struct {
	Model    maybe[string] `json:"model"`
	Provider maybe[string] `json:"model_provider_id"`
}

type policy struct {
	Mode  maybe[string] `json:"mode"`
	Limit maybe[int64]  `json:"limit"`
}

type turnContext struct {
	TurnID maybe[string] `json:"turn_id"`
	Model  maybe[string] `json:"model"`
	Policy maybe[policy] `json:"truncation_policy"`
}

type usageRecord struct {
	ThreadID   maybe[string] `json:"thread_id"`
	ResponseID maybe[string] `json:"response_id"`
	Usage      maybe[counts] `json:"usage"`
}

type compaction struct {
	Message    maybe[string]           `json:"message"`
	History    maybe[[]jsontext.Value] `json:"replacement_history"`
	ResponseID maybe[string]           `json:"compaction_response_id"`
}

type threadSpawn struct {
	Parent   maybe[string] `json:"parent_thread_id"`
	Path     maybe[string] `json:"agent_path"`
	Nickname maybe[string] `json:"agent_nickname"`
	Role     maybe[string] `json:"agent_role"`
}

type subagent struct {
	Spawn maybe[threadSpawn] `json:"thread_spawn"`
	Other maybe[string]      `json:"other"`
}

type source struct {
	Subagent jsontext.Value `json:"subagent"`
}

type baseText struct {
	Text maybe[string] `json:"text"`
}

type historyBase struct {
	End jsontext.Value `json:"end_ordinal_exclusive"`
}

// meta is the payload of a session_meta.
type meta struct {
	ID           maybe[string]           `json:"id"`
	Timestamp    maybe[string]           `json:"timestamp"`
	CWD          maybe[string]           `json:"cwd"`
	Version      maybe[string]           `json:"cli_version"`
	Source       maybe[source]           `json:"source"`
	Provider     maybe[string]           `json:"model_provider"`
	Base         maybe[baseText]         `json:"base_instructions"`
	Tools        maybe[[]jsontext.Value] `json:"dynamic_tools"`
	ForkedFrom   maybe[string]           `json:"forked_from_id"`
	Parent       maybe[string]           `json:"parent_thread_id"`
	Nickname     maybe[string]           `json:"agent_nickname"`
	Role         maybe[string]           `json:"agent_role"`
	Path         maybe[string]           `json:"agent_path"`
	StartOrdinal jsontext.Value          `json:"subagent_history_start_ordinal"`
	HistoryBase  maybe[historyBase]      `json:"history_base"`
	ForkOrdinal  jsontext.Value          `json:"forked_from_ordinal_exclusive"`
}

// agent returns the parent thread and the kind or name of a sub-agent, "" for
// what the record does not say.
func (m meta) agent() (parent, name string) {
	raw := m.Source.V.Subagent
	var word maybe[string]
	var sub maybe[subagent]
	_ = word.UnmarshalJSON(orNull(raw))
	_ = sub.UnmarshalJSON(orNull(raw))
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
	var n maybe[int64]
	_ = n.UnmarshalJSON(orNull(raw))
	if n.OK {
		return n.V, true
	}
	var s maybe[string]
	_ = s.UnmarshalJSON(orNull(raw))
	return parseInt(s.V)
}

// decode fills v from a payload; what does not fit stays zero.
func decode[T any](raw []byte) T {
	var m maybe[T]
	_ = m.UnmarshalJSON(orNull(raw))
	return m.V
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
