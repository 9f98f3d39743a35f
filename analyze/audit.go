package analyze

import "time"

// SchemaVersion is the version of the machine-readable output. Keys are added,
// never renamed or removed.
const SchemaVersion = 1

// Basis says what a number shown to a user is.
type Basis string

const (
	Measured   Basis = "measured"   // reported by the provider
	Counted    Basis = "counted"    // counted by fclog with the model's own or a stand-in tokenizer
	Calibrated Basis = "calibrated" // counted, then scaled to the provider's tokens
	Estimated  Basis = "estimated"  // rests on an assumption about what is not logged
)

// Audit is what the audit report shows. Nil means unknown. Token figures are
// provider tokens where they are measured, raw counts where they are counted.
type Audit struct {
	SchemaVersion int              `json:"schema_version"`
	Sessions      []SessionSummary `json:"sessions"`
	Totals        Totals           `json:"totals"`
	Kinds         []KindUsage      `json:"kinds"`
	Copies        []Copy           `json:"copies"`
	CostBasis     []CostBasis      `json:"cost_basis"`
	Composition   []Share          `json:"composition"`
	Unlogged      Unlogged         `json:"unlogged"`
	TopItems      []TopItem        `json:"top_items"`
	RepeatedCalls []RepeatedCall   `json:"repeated_calls"`
	Polling       Polling          `json:"polling"`
	CacheBreaks   []CacheBreak     `json:"cache_breaks"`
	Savings       []Saving         `json:"savings"`
	Growth        []GrowthPoint    `json:"growth"`
	OtherBilled   []OtherBilled    `json:"other_billed"`
	Counting      []Counting       `json:"counting"`
	Missing       []Missing        `json:"missing"`
	LeftOut       LeftOut          `json:"left_out"`
	Problems      []Problem        `json:"problems"`
}

// SessionSummary is one session with its totals, alone and with its sub-agents.
type SessionSummary struct {
	SessionID       string     `json:"session_id"`
	Source          string     `json:"source"`
	AgentVersion    *string    `json:"agent_version"`
	Agent           *string    `json:"agent"` // type of a sub-agent
	File            string     `json:"file"`
	ParentSessionID *string    `json:"parent_session_id"`
	Models          []string   `json:"models"`
	StartedAt       *time.Time `json:"started_at"`
	EndedAt         *time.Time `json:"ended_at"`
	Own             Totals     `json:"own"`
	Inclusive       Totals     `json:"inclusive"` // own + all sub-agents below it that are in the selection
}

// Totals are sums over requests, each response once. A sum over partly unknown
// values adds what is known; it is nil when nothing is. In provider tokens
//
//	input_tokens = calibrated_tokens + framing_tokens + unlogged_tokens
//
// counted_tokens is the raw count behind calibrated_tokens, over requests without
// usage too, and adds up with nothing else.
type Totals struct {
	Sessions            int64    `json:"sessions"` // those whose requests all count in a log of another format are none of their own
	Runs                int64    `json:"runs"`
	Requests            int64    `json:"requests"`
	AnsweredRequests    int64    `json:"answered_requests"`
	InputTokens         *int64   `json:"input_tokens"` // uncached + cache read + cache write
	UncachedInputTokens *int64   `json:"uncached_input_tokens"`
	CacheReadTokens     *int64   `json:"cache_read_tokens"`
	CacheWriteTokens    *int64   `json:"cache_write_tokens"`
	OutputTokens        *int64   `json:"output_tokens"`
	ReasoningTokens     *int64   `json:"reasoning_tokens"` // inside output
	CostUSD             *float64 `json:"cost_usd"`
	CostPartial         bool     `json:"cost_partial"` // some requests have no price: cost_usd is a part
	CountedTokens       int64    `json:"counted_tokens"`
	FramingTokens       *int64   `json:"framing_tokens"`
	UnloggedTokens      *int64   `json:"unlogged_tokens"`
	PeakInputTokens     *int64   `json:"peak_input_tokens"`
	Calls               int64    `json:"calls"`
	RepeatedCalls       int64    `json:"repeated_calls"`        // FreeCode's definition
	RepeatedCallsStrict int64    `json:"repeated_calls_strict"` // canonical arguments, reset by what could change the result
	NonFinalOutputs     int64    `json:"non_final_outputs"`     // answered requests whose output_tokens is a snapshot

	CalibratedTokens      *int64 `json:"calibrated_tokens"`       // logged content as the provider counts it
	RequestsWithoutUsage  int64  `json:"requests_without_usage"`  // answered, input not logged: input and cache sums are a part
	RequestsWithoutOutput int64  `json:"requests_without_output"` // answered, output not logged: output_tokens is a part

	// What the responses behind NonFinalOutputs said beyond their snapshots, as fclog
	// counts it: output_tokens lacks about that. Nil where there is no snapshot.
	UnreportedOutputTokens *int64 `json:"unreported_output_tokens"`

	// Sessions whose usage is reported for the session as a whole, with no usage per
	// request: the sums of tokens hold what their log reports.
	ReportedSessions int64    `json:"reported_sessions"`
	LoggedCostUSD    *float64 `json:"logged_cost_usd"` // part of cost_usd taken from the log, for want of a price or usage to compute it from; nil where all of it is computed, though the log may state a cost too
}

// KindUsage is what requests of one kind cost: a part of the totals. Usage that
// logs report for sessions as a whole is in no kind.
type KindUsage struct {
	Kind             string   `json:"kind"` // turn: a main agent's; sub-agent, compaction, title, helper, warm-up
	Sessions         int64    `json:"sessions"`
	Requests         int64    `json:"requests"`
	AnsweredRequests int64    `json:"answered_requests"`
	InputTokens      *int64   `json:"input_tokens"` // uncached + cache read + cache write
	CacheReadTokens  *int64   `json:"cache_read_tokens"`
	CacheWriteTokens *int64   `json:"cache_write_tokens"`
	OutputTokens     *int64   `json:"output_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	CostPartial      bool     `json:"cost_partial"` // some requests have no price: cost_usd is a part
}

// Copy sums requests that were read and do not count where they stand, because
// another session owns their responses.
type Copy struct {
	Source      string `json:"source"`       // log format that holds them
	OwnerSource string `json:"owner_source"` // log format they are counted from
	Basis       string `json:"basis"`        // inherited, history, response, usage or session: see the question copies
	Sessions    int64  `json:"sessions"`     // that hold them
	Requests    int64  `json:"requests"`
}

// CostBasis says of some requests of a model where their cost comes from, or why
// it is unknown.
type CostBasis struct {
	Provider  *string `json:"provider"`
	Model     *string `json:"model"`
	Basis     string  `json:"basis"` // priced; logged: stated by the log itself; or without a cost: subscription, no-usage, no-price
	Requests  int64   `json:"requests"`
	PriceDate *string `json:"price_date"` // day the price is known to be right, YYYY-MM-DD; nil unknown or not priced
	PriceFile *string `json:"price_file"` // the user's file the price is from; nil the built-in list, or not priced
}

// Share is one kind of content and what it cost. billed_tokens of all shares add
// up to the recorded input; carried_tokens, raw counts, do not.
type Share struct {
	Kind          string   `json:"kind"` // an item kind, or framing, or unlogged
	Tool          *string  `json:"tool"`
	Items         int64    `json:"items"`
	Tokens        int64    `json:"tokens"`         // once, raw count
	CarriedTokens int64    `json:"carried_tokens"` // raw count, over all requests that carried it; provider tokens for framing and unlogged
	BilledTokens  *float64 `json:"billed_tokens"`  // carried_tokens as the provider counts: what the report calls carried; nil without usage
	Share         *float64 `json:"share"`          // billed_tokens of all input tokens; above 1, with a negative unlogged, where the log holds more than was sent
	Basis         Basis    `json:"basis"`
}

// Unlogged is the part of the input that no logged content explains, in provider
// tokens over all requests: unlogged_tokens = constant_tokens + changing_tokens +
// undivided_tokens.
type Unlogged struct {
	Tokens          *int64 `json:"unlogged_tokens"`
	ConstantTokens  *int64 `json:"constant_tokens"` // what goes out unchanged with every turn: system prompt and tool definitions, mostly; estimated, no more in a conversation than is unlogged
	ConstantLow     *int64 `json:"constant_low"`    // bounds of the estimate before that limit
	ConstantHigh    *int64 `json:"constant_high"`
	ChangingTokens  *int64 `json:"changing_tokens"`  // the rest of those turns: reminders and the like, and errors of counting
	UndividedTokens *int64 `json:"undivided_tokens"` // of requests of which nothing tells what is constant, and of conversations with less than none
	// Turns without usage: what of them is constant, an estimate that is in no total.
	BlindRequests int64      `json:"requests_without_usage"`
	BlindTokens   *int64     `json:"constant_tokens_without_usage"`
	BlindLow      *int64     `json:"constant_low_without_usage"`
	BlindHigh     *int64     `json:"constant_high_without_usage"`
	Constants     []Constant `json:"constants"`
}

// Constant is the constant part of one turn of a conversation, in provider tokens.
type Constant struct {
	SessionID     string  `json:"session_id"`
	Source        string  `json:"source"`
	Chain         int64   `json:"chain"`
	Model         *string `json:"model"`
	Method        *string `json:"method"` // log, first-request, cache-reads, calibration, totals; nil nothing tells
	Tokens        *int64  `json:"constant_tokens"`
	Low           *int64  `json:"constant_low"`
	High          *int64  `json:"constant_high"`
	Requests      int64   `json:"requests"` // with usage
	BlindRequests int64   `json:"requests_without_usage"`
}

// TopItem is one of the items that cost most by being carried.
type TopItem struct {
	SessionID     string   `json:"session_id"`
	Item          int64    `json:"item"`
	Kind          string   `json:"kind"`
	Tool          *string  `json:"tool"`
	What          *string  `json:"what"` // path or command of its call
	Tokens        int64    `json:"tokens"`
	Requests      int64    `json:"requests"` // how many carried it
	FirstRequest  int64    `json:"first_request"`
	LastRequest   int64    `json:"last_request"`
	CarriedTokens int64    `json:"carried_tokens"` // raw count, over all requests that carried it
	BilledTokens  *float64 `json:"billed_tokens"`  // carried_tokens as the provider counts; nil without usage
	Share         *float64 `json:"share"`          // of all input tokens, 0 to 1
}

// RepeatedCall is a call that was made more than once.
type RepeatedCall struct {
	SessionID     string  `json:"session_id"`
	Tool          string  `json:"tool"`
	Args          *string `json:"args"` // nil where the dataset holds no text
	Times         int64   `json:"times"`
	Repeats       int64   `json:"repeats"` // FreeCode's definition
	StrictRepeats int64   `json:"strict_repeats"`
	Tokens        int64   `json:"tokens"` // of all results but the first
	CarriedTokens int64   `json:"carried_tokens"`
	Class         string  `json:"class"` // tool class: polls and to-do lists are shown apart
}

// Polling is what waiting for background work cost. The range is n-1 to n
// requests of every episode of n polls.
type Polling struct {
	Episodes     int64  `json:"episodes"`
	Polls        int64  `json:"polls"`
	EmptyPolls   int64  `json:"empty_polls"`
	RequestsLow  int64  `json:"requests_low"`
	RequestsHigh int64  `json:"requests_high"`
	InputTokens  *int64 `json:"input_tokens"`  // of the requests_high requests
	OutputTokens *int64 `json:"output_tokens"` // of the same
	PiggyBacked  int64  `json:"piggy_backed"`  // polls in responses that also did other work: free
	Basis        Basis  `json:"basis"`
}

// CacheBreak sums the requests whose cached prefix ended early, by cause.
type CacheBreak struct {
	Cause        string   `json:"cause"` // block-before-conversation, run-border, compaction, lifetime, unknown …
	Requests     int64    `json:"requests"`
	LostTokens   int64    `json:"lost_tokens"`    // previous input - cache read, where positive
	ShareOfInput *float64 `json:"share_of_input"` // of all input tokens, 0 to 1
	Basis        Basis    `json:"basis"`
}

// Saving is the size of one technique: what it could touch at most. What it
// would save is the replayer's answer. Savings overlap and are never added up.
type Saving struct {
	Technique                string   `json:"technique"`
	AddressableTokens        *int64   `json:"addressable_tokens"`         // once
	AddressableCarriedTokens *int64   `json:"addressable_carried_tokens"` // over all requests
	AddressableRequests      *int64   `json:"addressable_requests"`       // requests it could remove; nil where it removes none
	Share                    *float64 `json:"share"`                      // of all input tokens, 0 to 1
	Published                *string  `json:"published"`                  // figure others published, with its source
	Basis                    Basis    `json:"basis"`
	Note                     string   `json:"note"` // what is counted, in a few words
}

// GrowthPoint is one request of the largest session's main chain.
type GrowthPoint struct {
	Request     int64    `json:"request"`
	InputTokens *int64   `json:"input_tokens"`
	Event       string   `json:"event"`  // the first of events, or ""
	Events      []string `json:"events"` // all that happened: compaction, cache-break, run
}

// OtherBilled sums calls billed outside the totals.
type OtherBilled struct {
	Kind         string `json:"kind"`
	Calls        int64  `json:"calls"`
	InputTokens  *int64 `json:"input_tokens"`
	OutputTokens *int64 `json:"output_tokens"`
	Estimate     bool   `json:"estimate"`
}

// Counting says how the tokens of one session and model were counted and how
// much of the recorded growth the logged items explain.
type Counting struct {
	SessionID         string   `json:"session_id"`
	Model             *string  `json:"model"`
	Encoding          string   `json:"encoding"`
	PublicEncoding    bool     `json:"public_encoding"`
	Factor            *float64 `json:"factor"`     // provider tokens per raw token
	FactorLow         *float64 `json:"factor_low"` // weighted quartiles of the factors of single pairs; they hold the factor
	FactorHigh        *float64 `json:"factor_high"`
	FramingPerMessage *float64 `json:"framing_per_message"`
	Pairs             int64    `json:"pairs"`     // request pairs scored
	Explained         *float64 `json:"explained"` // 1 - sum|residual| / sum|growth|, on requests that were not fitted
	LeftOut           int64    `json:"left_out"`  // pairs left out: compaction, clearing, non-final output
	Cause             *string  `json:"cause"`     // why, where explained is low
}

// Missing is something a log does not hold.
type Missing struct {
	What     string `json:"what"`
	Sessions int64  `json:"sessions"`
}

// LeftOut counts known sessions that are not in this audit.
type LeftOut struct {
	SubAgentSessions int64 `json:"sub_agent_sessions"`            // their log was not read
	Deselected       int64 `json:"deselected_sub_agent_sessions"` // their log was read, but they do not meet the conditions
}

// Problem is something that could not be read or reconciled.
type Problem struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Count  int64  `json:"count"`
}
