package replay

// Engine prices plans.
type Engine struct {
	Count CountText
	Price func(provider, model string) (Rates, bool) // false: no price known; nil: no prices at all
	Cache CacheModel
}

// Rates are prices in USD per million tokens. What a provider does not price
// apart is filled in by the caller.
type Rates struct {
	Input        float64
	CacheRead    float64
	CacheWrite5m float64
	CacheWrite1h float64
	Output       float64
	LongAbove    *int64 // a request with more input tokens pays Long for all of it; nil never
	Long         *Rates
}

// Step is one variant with its settings, defaults filled in.
type Step struct {
	Variant Variant
	Values  Values
}

// Use is what is asked for by one name: one variant, or several applied in order.
type Use struct {
	Name  string
	Steps []Step
}
