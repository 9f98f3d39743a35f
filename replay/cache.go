package replay

// CacheModel says what a provider's prompt cache serves of a payload whose
// beginning it has seen before.
type CacheModel struct {
	Families []CacheFamily
}

// CacheFamily is how one kind of provider caches.
type CacheFamily struct {
	Name       string  `json:"name"`            // anthropic, openai, minimax, gemini, other
	Minimum    int64   `json:"minimum_tokens"`  // shorter prefixes are not cached
	Block      int64   `json:"block_tokens"`    // prefixes are served in multiples of it
	LifetimeS  int64   `json:"lifetime_s"`      // seconds after the last use
	LongS      int64   `json:"long_lifetime_s"` // of entries written for an hour; 0 none such
	FrontShare float64 `json:"front_share"`     // part of the unlogged front served when nothing else is
	Source     string  `json:"source"`
}

// CacheError is how far the cache model is off on the recorded requests.
type CacheError struct {
	Requests      int64         `json:"requests"`         // compared: with input and cache figures
	MedianTokens  *float64      `json:"median_tokens"`    // of |predicted - recorded cache read|
	WithinPercent *float64      `json:"within_2_percent"` // share of requests off by at most 2 % of their input, 0 to 1
	Families      []CacheFamily `json:"families"`         // parameters in use
}

// DefaultCache is the model of the shipped parameters.
func DefaultCache() CacheModel { return CacheModel{} }

// FitCache fits the parameters that providers do not publish to recordings.
func (m CacheModel) Fit(recs []Recording) CacheModel { return m }
