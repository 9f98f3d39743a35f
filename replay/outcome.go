package replay

// Outcome is a session under a plan. Inherited requests are in Requests, as the
// others refer to them, and in no sum.
type Outcome struct {
	Requests      []RequestOutcome // parallel to the session's
	Extras        []RequestOutcome // parallel to the plan's
	Total         Totals           // requests that are left, and what removed ones still produce
	Extra         Totals           // the requests the plan adds; not in Total
	CacheReadLost *int64           // tokens no longer read because sent text changed; nil without cache figures
	Contributions []Contribution   // largest first
}

// RequestOutcome is one request under a plan. Tokens are the provider's unless
// noted; nil is unknown, as in the recording.
type RequestOutcome struct {
	Removed    bool  // not made: its sizes are 0, its output is what moved elsewhere
	Counted    int64 // raw tokens of the spans it carries
	Input      *int64
	CacheRead  *int64
	CacheWrite *int64
	Output     *int64
	CostUSD    *float64
}

// Totals are sums over requests. A sum is nil where no request has the figure;
// the counts say over how many requests that should have it the others are.
type Totals struct {
	Requests         int64    `json:"requests"`
	CountedTokens    int64    `json:"counted_tokens"` // raw
	InputTokens      *int64   `json:"input_tokens"`
	CacheReadTokens  *int64   `json:"cache_read_tokens"`
	CacheWriteTokens *int64   `json:"cache_write_tokens"`
	OutputTokens     *int64   `json:"output_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	NoUsage          int64    `json:"requests_without_usage"` // answered ones without input or output figure
	NoCost           int64    `json:"requests_without_cost"`  // with usage but no price
}
