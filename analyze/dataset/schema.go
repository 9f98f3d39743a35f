package dataset

// The tables of a dataset, one struct per row. Nil is NULL: unknown, never 0 or
// an empty string. Times are Unix milliseconds, UTC. Every table starts with part
// and session_id, which tie rows of one session together across tables.
//
// Every optional column is a pointer. In plain optional fields parquet-go v0.32.0
// loses NULLs: where known values begin at row y of a block of 64 and are exactly
// y in number, it writes the zero values after them, up to the end of the block,
// as present. The strings "", "x", "", "" come back as NULL, "x", "", "".

// Session is one row of sessions.
type Session struct {
	Part            string   `parquet:"part,dict"`       // content hash that names the part
	SessionID       string   `parquet:"session_id,dict"` // the agent's own ID
	Source          string   `parquet:"source,dict"`     // log format
	AgentVersion    *string  `parquet:"agent_version,optional"`
	Agent           *string  `parquet:"agent,optional"` // type of a sub-agent
	ParentSessionID *string  `parquet:"parent_session_id,optional"`
	ParentCallID    *string  `parquet:"parent_call_id,optional"`
	ForkedFrom      *string  `parquet:"forked_from,optional"`
	SpawnedAt       *int64   `parquet:"spawned_at,optional,timestamp(millisecond)"`
	Models          []string `parquet:"models,list"` // of answered requests, most used first
	StartedAt       *int64   `parquet:"started_at,optional,timestamp(millisecond)"`
	EndedAt         *int64   `parquet:"ended_at,optional,timestamp(millisecond)"`
	CWD             *string  `parquet:"cwd,optional"`
	File            string   `parquet:"file"`                // path it was imported from
	FileBytes       int64    `parquet:"file_bytes"`          // size of that file on disk
	Records         int64    `parquet:"records"`             // JSON records read
	Missing         []string `parquet:"missing,list"`        // what the log does not hold
	FrontMoves      bool     `parquet:"front_moves"`         // content that the log does not hold and that changes stands before the conversation
	Encoding        string   `parquet:"encoding,dict"`       // tokenizer behind every tokens column
	PublicEncoding  bool     `parquet:"public_encoding"`     // it is the model's own
	HasText         bool     `parquet:"has_text"`            // false: imported with --no-text
	Importer        string   `parquet:"importer,dict"`       // fclog schema version that wrote it
	FileKey         *string  `parquet:"file_key,optional"`   // SHA-256 of the absolute path, first half in hex: tells files apart where only their base name is kept
	Superseded      *bool    `parquet:"superseded,optional"` // true: kept for its texts only, the file now holds this conversation under another ID; it counts nowhere
	Redacted        *int64   `parquet:"redacted,optional"`   // places in texts where --redact put a placeholder; NULL: imported without it
	Contents        []string `parquet:"contents,list"`       // rows of the session in every other table that has any, such as items=12; empty: not noted
}

// Request is one row of requests.
type Request struct {
	Part               string   `parquet:"part,dict"`
	SessionID          string   `parquet:"session_id,dict"`
	RequestIndex       int64    `parquet:"request_index"` // 0-based over the session, order of the log
	Chain              int64    `parquet:"chain"`
	Request            int64    `parquet:"request"` // 1-based along the chain
	Kind               string   `parquet:"kind,dict"`
	Run                int64    `parquet:"run"`
	Attempt            int64    `parquet:"attempt"`
	Inherited          bool     `parquet:"inherited"`
	BaseRequestIndex   *int64   `parquet:"base_request_index,optional"`
	ResponseID         *string  `parquet:"response_id,optional"` // equal in every copy of the response
	Time               *int64   `parquet:"time,optional,timestamp(millisecond)"`
	DurationMS         *int64   `parquet:"duration_ms,optional"`
	TTFTMS             *int64   `parquet:"ttft_ms,optional"`
	Provider           *string  `parquet:"provider,optional,dict"`
	Model              *string  `parquet:"model,optional,dict"`
	Status             string   `parquet:"status,dict"`
	InputTokens        *int64   `parquet:"input_tokens,optional"` // inclusive of cache
	CacheReadTokens    *int64   `parquet:"cache_read_tokens,optional"`
	CacheWriteTokens   *int64   `parquet:"cache_write_tokens,optional"`
	CacheWrite5mTokens *int64   `parquet:"cache_write_5m_tokens,optional"`
	CacheWrite1hTokens *int64   `parquet:"cache_write_1h_tokens,optional"`
	OutputTokens       *int64   `parquet:"output_tokens,optional"` // inclusive of reasoning
	ReasoningTokens    *int64   `parquet:"reasoning_tokens,optional"`
	OutputFinal        bool     `parquet:"output_final"`
	Subscription       bool     `parquet:"subscription"`
	LoggedUSD          *float64 `parquet:"logged_usd,optional"` // what the log itself says it cost
	Messages           *int64   `parquet:"messages,optional"`
	PromptChars        *int64   `parquet:"prompt_chars,optional"`
	CountedTokens      int64    `parquet:"counted_tokens"`             // raw count of the spans it carried
	CalibratedTokens   *int64   `parquet:"calibrated_tokens,optional"` // counted_tokens as the provider counts; NULL without usage
	FramingTokens      *int64   `parquet:"framing_tokens,optional"`    // NULL without usage
	UnloggedTokens     *int64   `parquet:"unlogged_tokens,optional"`   // input - calibrated - framing; NULL without usage
	ConstantTokens     *int64   `parquet:"constant_tokens,optional"`   // part of unlogged that goes out with every turn, estimated; without usage too. NULL where nothing tells
	ConstantLow        *int64   `parquet:"constant_low,optional"`      // bounds of constant_tokens
	ConstantHigh       *int64   `parquet:"constant_high,optional"`
	ConstantMethod     *string  `parquet:"constant_method,optional,dict"` // what it was taken from: log, first-request, cache-reads, calibration, totals
	Line               int64    `parquet:"line"`
}

// Item is one row of items.
type Item struct {
	Part         string  `parquet:"part,dict"`
	SessionID    string  `parquet:"session_id,dict"`
	Item         int64   `parquet:"item"`
	Kind         string  `parquet:"kind,dict"`
	Role         *string `parquet:"role,optional,dict"`
	Tool         *string `parquet:"tool,optional,dict"`
	CallID       *string `parquet:"call_id,optional"`
	Label        *string `parquet:"label,optional,dict"`
	Origin       string  `parquet:"origin,dict"`
	RequestIndex *int64  `parquet:"request_index,optional"` // request whose response produced it
	TextHash     string  `parquet:"text_hash"`              // SHA-256, hex; with --redact of the text with its placeholders, as chars and bytes are
	Chars        int64   `parquet:"chars"`                  // Unicode code points
	Bytes        int64   `parquet:"bytes"`                  // UTF-8
	Tokens       *int64  `parquet:"tokens,optional"`        // raw count; NULL where it has no words and no known size
	PrefixTokens int64   `parquet:"prefix_tokens"`          // tokens that line-number prefixes add; 0 none found
	PrefixLines  int64   `parquet:"prefix_lines"`           // lines with such a prefix
	Sized        bool    `parquet:"sized"`                  // tokens is a size that the log gives, or that of a text before it was redacted; not a count of the text
}

// Span is one row of spans.
type Span struct {
	Part         string `parquet:"part,dict"`
	SessionID    string `parquet:"session_id,dict"`
	Item         int64  `parquet:"item"`
	Span         int64  `parquet:"span"` // 0-based over the session
	Chain        int64  `parquet:"chain"`
	FirstRequest int64  `parquet:"first_request"`
	LastRequest  int64  `parquet:"last_request"`
	Requests     int64  `parquet:"requests"` // requests that carried it, those on a base included, inherited ones not
	Position     int64  `parquet:"position"`
	TextHash     string `parquet:"text_hash"`
	Chars        int64  `parquet:"chars"`
	Bytes        int64  `parquet:"bytes"`
	Tokens       *int64 `parquet:"tokens,optional"`
	PrefixTokens int64  `parquet:"prefix_tokens"`
	Sized        bool   `parquet:"sized"` // as in items
}

// Call is one row of calls.
type Call struct {
	Part           string  `parquet:"part,dict"`
	SessionID      string  `parquet:"session_id,dict"`
	Call           int64   `parquet:"call"`                   // 0-based over the session, order of the log
	RequestIndex   *int64  `parquet:"request_index,optional"` // request whose response made it
	CallID         string  `parquet:"call_id"`
	Tool           string  `parquet:"tool,dict"`
	Class          string  `parquet:"class,dict"`
	Args           *string `parquet:"args,optional"` // as sent; NULL with --no-text
	ArgsHash       string  `parquet:"args_hash"`     // SHA-256 of tool and args as sent, hex
	ArgsKey        string  `parquet:"args_key"`      // SHA-256 of tool and canonical args, hex
	Command        *string `parquet:"command,optional"`
	Path           *string `parquet:"path,optional"`
	Range          *string `parquet:"range,optional"`
	OutputKind     *string `parquet:"output_kind,optional,dict"` // shell only: source, search, log, other
	ReadOnly       bool    `parquet:"read_only"`
	Mutates        bool    `parquet:"mutates"`
	Ran            bool    `parquet:"ran"`
	Denied         bool    `parquet:"denied"`
	Failed         *bool   `parquet:"failed,optional"`
	Inherited      bool    `parquet:"inherited"`
	Time           *int64  `parquet:"time,optional,timestamp(millisecond)"`
	DurationMS     *int64  `parquet:"duration_ms,optional"`
	ArgsItem       *int64  `parquet:"args_item,optional"`
	ResultItem     *int64  `parquet:"result_item,optional"`
	FullHash       *string `parquet:"full_hash,optional"`        // SHA-256 of the whole output in texts, hex, where the log keeps it beside a result sent shorter
	FullChars      *int64  `parquet:"full_chars,optional"`       // Unicode code points of it
	BatchSize      int64   `parquet:"batch_size"`                // calls of the same response, this one included
	RepeatOf       *int64  `parquet:"repeat_of,optional"`        // first call with the same tool and args as sent (FreeCode's repeatedCalls)
	StrictRepeatOf *int64  `parquet:"strict_repeat_of,optional"` // latest call with the same canonical args and nothing in between that could change its result
	Task           *string `parquet:"task,optional"`
	StartsTask     bool    `parquet:"starts_task"`
	Poll           *string `parquet:"poll,optional,dict"`
	Truncated      *string `parquet:"truncated,optional,dict"`
	Handle         *string `parquet:"handle,optional"`
	Recovers       *string `parquet:"recovers,optional"`
	ChildSession   *string `parquet:"child_session,optional"`
	ParentCallID   *string `parquet:"parent_call_id,optional"` // call whose script made it; NULL: the model itself
	Line           int64   `parquet:"line"`
}

// Text is one row of texts.
type Text struct {
	Part      string `parquet:"part,dict"`
	SessionID string `parquet:"session_id,dict"`
	TextHash  string `parquet:"text_hash"`
	Text      string `parquet:"text"`
}

// OtherBilled is one row of other_billed.
type OtherBilled struct {
	Part             string  `parquet:"part,dict"`
	SessionID        string  `parquet:"session_id,dict"`
	Kind             string  `parquet:"kind,dict"`
	Time             *int64  `parquet:"time,optional,timestamp(millisecond)"`
	Provider         *string `parquet:"provider,optional"`
	Model            *string `parquet:"model,optional"`
	InputTokens      *int64  `parquet:"input_tokens,optional"`
	CacheReadTokens  *int64  `parquet:"cache_read_tokens,optional"`
	CacheWriteTokens *int64  `parquet:"cache_write_tokens,optional"`
	OutputTokens     *int64  `parquet:"output_tokens,optional"`
	Estimate         bool    `parquet:"estimate"`
	Line             int64   `parquet:"line"`
}

// Reported is one row of reported: what the log says of the session as a whole.
type Reported struct {
	Part               string   `parquet:"part,dict"`
	SessionID          string   `parquet:"session_id,dict"`
	Model              *string  `parquet:"model,optional"`        // NULL all models together
	Requests           *int64   `parquet:"requests,optional"`     // model calls
	InputTokens        *int64   `parquet:"input_tokens,optional"` // inclusive of cache
	CacheReadTokens    *int64   `parquet:"cache_read_tokens,optional"`
	CacheWriteTokens   *int64   `parquet:"cache_write_tokens,optional"`
	CacheWrite5mTokens *int64   `parquet:"cache_write_5m_tokens,optional"`
	CacheWrite1hTokens *int64   `parquet:"cache_write_1h_tokens,optional"`
	OutputTokens       *int64   `parquet:"output_tokens,optional"` // inclusive of reasoning
	ReasoningTokens    *int64   `parquet:"reasoning_tokens,optional"`
	CostUSD            *float64 `parquet:"cost_usd,optional"`
	Line               int64    `parquet:"line"`
}

// Calibration is one row of calibration: how raw counts became the provider's.
type Calibration struct {
	Part              string  `parquet:"part,dict"`
	SessionID         string  `parquet:"session_id,dict"`
	Model             *string `parquet:"model,optional"`
	Kind              *string `parquet:"kind,optional"` // item kind the factor is for; NULL all kinds
	Fit               string  `parquet:"fit,dict"`      // all: every usable request; even: even ones only, to score on the odd
	Factor            float64 `parquet:"factor"`        // provider tokens per raw token
	FactorLow         float64 `parquet:"factor_low"`    // quartiles of the factors of single pairs, weighted by raw tokens: 0 <= low <= factor <= high
	FactorHigh        float64 `parquet:"factor_high"`
	FramingPerMessage float64 `parquet:"framing_per_message"` // provider tokens per message that belong to no text
	Pairs             int64   `parquet:"pairs"`               // request pairs behind the fit
	Method            string  `parquet:"method,dict"`         // public-encoding, least-absolute, default …
}

// Problem is one row of problems.
type Problem struct {
	Part      string `parquet:"part,dict"`
	SessionID string `parquet:"session_id,dict"`
	File      string `parquet:"file"`
	Line      int64  `parquet:"line"` // 0: the whole file
	Kind      string `parquet:"kind,dict"`
	Detail    string `parquet:"detail"`
	Count     int64  `parquet:"count"`
}
