package replay

// Estimate is the answer for one variant over all recordings. Nil means unknown.
// Static figures assume that the model behaves exactly as recorded.
type Estimate struct {
	Variant                  string         `json:"variant"`
	Options                  Values         `json:"options"`
	Requests                 int64          `json:"requests"`
	InputTokens              *int64         `json:"input_tokens"`
	CacheReadTokens          *int64         `json:"cache_read_tokens"`  // of input_tokens
	CacheWriteTokens         *int64         `json:"cache_write_tokens"` // of input_tokens
	OutputTokens             *int64         `json:"output_tokens"`
	CostUSD                  *float64       `json:"cost_usd"`
	StaticSavingTokens       *int64         `json:"static_saving_tokens"` // baseline input - variant input, low end of the range
	StaticSavingTokensHigh   *int64         `json:"static_saving_tokens_high"`
	StaticSavingOutputTokens *int64         `json:"static_saving_output_tokens"`
	StaticSavingShare        *float64       `json:"static_saving_share"`       // of recorded input, 0 to 1
	StaticSavingSpreadLow    *int64         `json:"static_saving_spread_low"`  // static_saving_tokens with calibration factors at their lower quartile
	StaticSavingSpreadHigh   *int64         `json:"static_saving_spread_high"` // at their upper quartile
	StaticSavingUSD          *float64       `json:"static_saving_usd"`         // negative: dearer
	StaticSavingUSDHigh      *float64       `json:"static_saving_usd_high"`    // with the removals that are not certain
	StaticSavingUSDShare     *float64       `json:"static_saving_usd_share"`   // static_saving_usd of the recorded cost, as far as that is known; nil too where it was 0
	SavedCountedTokens       int64          `json:"saved_counted_tokens"`      // raw tokens, also without usage
	CacheReadLost            *int64         `json:"cache_read_lost"`           // tokens no longer read from the cache because sent text changed or requests went
	ClampedRequests          int64          `json:"clamped_requests"`          // whose cache read, with the recorded residual carried, was below 0 or above the input
	EditedItems              int64          `json:"edited_items"`
	RemovedRequestsLow       int64          `json:"removed_requests_low"`
	RemovedRequestsHigh      int64          `json:"removed_requests_high"`
	AddedRequests            int64          `json:"added_requests"`
	BreakEvenRequestsTokens  *float64       `json:"break_even_requests_tokens"` // 0: it costs more as it is
	BreakEvenRequestsUSD     *float64       `json:"break_even_requests_usd"`
	Detours                  *Detours       `json:"detours"` // nil: no lossy edit
	TrialsNeeded             *int64         `json:"trials_needed"`
	Basis                    string         `json:"basis"`
	Verdict                  string         `json:"verdict"`     // "" nothing changed, or the saving is unknown
	Unsupported              *string        `json:"unsupported"` // why no log given supports it
	Warnings                 []string       `json:"warnings"`
	Top                      []Contribution `json:"top"`
}

// Idle says that the variant found nothing to do.
func (e Estimate) Idle() bool {
	return e.EditedItems == 0 && e.RemovedRequestsHigh == 0 && e.AddedRequests == 0 && e.SavedCountedTokens == 0 &&
		(e.StaticSavingUSD == nil || *e.StaticSavingUSD == 0)
}

// Contribution is one item of a plan and what it saves by itself.
type Contribution struct {
	SessionID   string  `json:"session_id"`
	Item        int     `json:"item"`
	What        string  `json:"what"` // path or command of the call; log text: escape before showing
	Tool        string  `json:"tool"`
	Why         string  `json:"why"`
	Before      int64   `json:"before_tokens"` // of a text: raw, once; of a removed request (item -1): its input, provider tokens
	After       int64   `json:"after_tokens"`
	Requests    int64   `json:"requests"`     // that carried it
	SavedTokens float64 `json:"saved_tokens"` // provider tokens over all of them
	Uncertain   bool    `json:"uncertain"`    // a removal at the high end of the range only
}

// Detours is the estimate of what the model would do to get back what was cut.
type Detours struct {
	Expected float64  `json:"expected"` // extra requests over all recordings
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Evidence Evidence `json:"evidence"`
}

// Evidence is what a Detours estimate rests on.
type Evidence struct {
	Edits       int64             `json:"edits"`       // lossy edits
	LaterUsed   int64             `json:"later_used"`  // edits whose cut text turns up later in this log and stood nowhere else
	NullRate    *float64          `json:"null_rate"`   // how often the same match hits text that had not seen the edited output
	NullBasis   string            `json:"null_basis"`  // whose text that is; "" there was none
	BaseRate    *float64          `json:"base_rate"`   // recoveries per truncation, net of the null; the mean over the edits
	BaseNull    *float64          `json:"base_null"`   // how often the same followed whole outputs; the mean over the edits
	Truncations int64             `json:"truncations"` // cases in the strata that were used, each case once
	Recoveries  int64             `json:"recoveries"`  // of them
	Source      string            `json:"source"`      // these logs, or the orientation figures
	Strata      []EvidenceStratum `json:"strata"`      // that were used, the one of most edits first
}

// EvidenceStratum is one sort of outputs that a Detours estimate takes a rate from.
// Empty Agent, Kinds, Band or Marker mean all of them.
type EvidenceStratum struct {
	Agent      string   `json:"agent"`
	Kinds      []string `json:"kinds"` // of outputs; several where one count covers them together
	Band       string   `json:"band"`
	Marker     string   `json:"marker"`
	Edits      int64    `json:"edits"` // lossy edits that have their rate from it
	Cases      int64    `json:"cases"`
	Recoveries int64    `json:"recoveries"`
	Rate       float64  `json:"rate"` // pooled with the overall rate, hence not recoveries / cases
	NullRate   float64  `json:"null_rate"`
	Net        float64  `json:"net"`
}
