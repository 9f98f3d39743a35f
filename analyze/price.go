package analyze

// Price is what one model costs, in USD per million tokens. Nil means unknown: a
// request that used such tokens has no known cost.
type Price struct {
	Provider     string // "" any provider
	Model        string // "MODEL" or "PROVIDER/MODEL", as requests name it
	Input        *float64
	CacheRead    *float64
	CacheWrite5m *float64
	CacheWrite1h *float64
	Output       *float64
	LongAbove    *int64 // a request with more input tokens pays the prices below; nil never
	Long         LongPrice
	Date         string // day the price list is known to be right, YYYY-MM-DD; "" unknown
	File         string // file of the user's that the price was read from; "" the built-in list
}

// LongPrice is the tier of long requests. Nil means the plain price.
type LongPrice struct {
	Input        *float64
	CacheRead    *float64
	CacheWrite5m *float64
	CacheWrite1h *float64
	Output       *float64
}
