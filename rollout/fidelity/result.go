package fidelity

import (
	"time"

	"github.com/fclog/fclog/rollout"
)

// Result is what a comparison found.
type Result struct {
	Sessions   []Session    `json:"sessions"`   // those with requests of their own, in the order given
	Unlogged   []Lone       `json:"unlogged"`   // sent, but no request of the log
	Unsent     []Lone       `json:"unsent"`     // in the log, but never sent
	Uncaptured []Uncaptured `json:"uncaptured"` // sessions of the log that were not captured
	Copies     int          `json:"copies"`     // requests of the log that repeat a paired one of another file
}

// Uncaptured is a session of the log of which nothing was sent.
type Uncaptured struct {
	Session  string `json:"session_id"`
	File     string `json:"file"`
	Requests int    `json:"requests"`
}

// Session is the comparison of one rebuilt session.
type Session struct {
	ID           string `json:"session_id"`
	Source       string `json:"source"`
	AgentVersion string `json:"agent_version"`
	File         string `json:"file"`
	Pairs        []Pair `json:"requests"`
}

// How says by what two requests were paired.
type How string

const (
	ByID    How = "id"    // the response ID
	ByLine  How = "line"  // the capture names the line of the log
	ByUsage How = "usage" // the reported usage, nearest in time
	ByOrder How = "order" // the only ones left between paired neighbours
)

// Pair is one request on both sides.
type Pair struct {
	Chain     int                 `json:"chain"`
	Number    int                 `json:"request"`
	Kind      rollout.RequestKind `json:"kind"`
	Line      int                 `json:"line"`
	Sent      int                 `json:"sent_index"`
	Time      *time.Time          `json:"time"`
	By        How                 `json:"paired_by"`
	Failed    bool                `json:"failed"`
	Usage     *bool               `json:"usage_equal"` // nil: one side has none
	Equal     int                 `json:"equal"`       // parts with the same text in the same order
	Missing   int                 `json:"missing"`     // logged parts that were sent but not rebuilt
	Extra     int                 `json:"extra"`       // rebuilt, but not sent
	Different int                 `json:"different"`   // in the same place with another text
	Moved     int                 `json:"moved"`       // the same text in another place
	Excused   int                 `json:"unlogged_parts"`
	// Tokens are the capture's own count of the parts sent.
	LoggedTokens  int64 `json:"logged_tokens"`  // parts that the log holds
	MatchedTokens int64 `json:"matched_tokens"` // of these, rebuilt as sent and in order
	ExtraTokens   int64 `json:"extra_tokens"`   // rebuilt, but not sent; own count
	// Unlogged are the tokens of the parts that the log does not hold, and what
	// fclog says it is; nil where the log has no usage.
	UnloggedSent      int64  `json:"unlogged_sent_tokens"`
	UnloggedPredicted *int64 `json:"unlogged_predicted_tokens"`
	// UnloggedOf is what the error of the prediction is a share of: UnloggedSent, or
	// the whole request where the log holds system prompt and tool definitions.
	UnloggedOf  int64        `json:"unlogged_error_of_tokens"`
	Differences []Difference `json:"differences"` // all, in the order they were sent
}

// Change says what is wrong with a part.
type Change string

const (
	MissingPart   Change = "missing"
	ExtraPart     Change = "extra"
	DifferentPart Change = "different"
	MovedPart     Change = "moved"
)

// Difference is a part that is not as it was sent.
type Difference struct {
	Change   Change           `json:"change"`
	Kind     rollout.ItemKind `json:"kind"`
	Role     rollout.Role     `json:"role"`
	Tool     string           `json:"tool"`
	CallID   string           `json:"call_id"`
	Position int              `json:"position"` // 1-based, among the parts sent; of the rebuilt ones if extra
	Tokens   int64            `json:"tokens"`   // sent; of the rebuilt part if extra
	At       *int             `json:"at"`       // first code point that differs, 0-based; nil unless both texts are known
	Rebuilt  *Part            `json:"-"`
	Sent     *Part            `json:"-"`
}

// Lone is a request that only one side has.
type Lone struct {
	Session string     `json:"session_id"` // or thread
	Index   int        `json:"index"`      // of the sent request; number in its chain if only the log has it
	Line    int        `json:"line"`       // of the log; 0 none
	Time    *time.Time `json:"time"`
	Why     Why        `json:"why"`
	Tokens  int64      `json:"tokens"` // of all its parts
}

// Why says what a request without a partner is.
type Why string

const (
	FailedAttempt Why = "failed"   // no answer came
	NoUsage       Why = "no usage" // no model call: a token count or the like
	Repeated      Why = "repeated" // sent again unchanged right after: its stream broke
	Helper        Why = "helper"   // a side call: no tools although the conversation has them
	Unpaired      Why = "unpaired" // an answered request: the log should have it
)

// Sums adds up pairs.
type Sums struct {
	Requests      int      `json:"requests"`
	LoggedTokens  int64    `json:"logged_tokens"`
	MatchedTokens int64    `json:"matched_tokens"`
	Share         *float64 `json:"matched_share"` // nil: nothing logged
	OrderKept     int      `json:"order_kept"`    // requests
	Extra         int      `json:"extra"`
	Usage         int      `json:"usage_equal"`
	UsageOff      int      `json:"usage_different"`
	// UnloggedError are of Pair.UnloggedError; nil where no request has one.
	UnloggedWorst  *float64 `json:"unlogged_error_worst"`
	UnloggedMedian *float64 `json:"unlogged_error_median"`
}
