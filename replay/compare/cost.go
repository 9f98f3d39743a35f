package compare

import (
	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/rollout"
)

// Prices prices requests by a price book, as the audit does: unknown under a
// subscription, without usage and without a price; cache parts that are not
// reported were paid as plain input; writes of unknown lifetime cost what 5 minutes
// cost. Without a computed cost it is what the log itself says. The sum over a session
// has no price where one of its requests could have been long enough for another.
func Prices(book *pricing.Book) Cost {
	return func(r rollout.Request) (float64, bool) {
		if r.Subscription {
			return 0, false
		}
		if v, ok := computed(book, r); ok {
			return v, true
		}
		if r.LoggedUSD != nil {
			return *r.LoggedUSD, true
		}
		return 0, false
	}
}

// wholeSession is the kind of a request that stands for the sum over a session.
const wholeSession rollout.RequestKind = "session"

func computed(book *pricing.Book, r rollout.Request) (float64, bool) {
	if r.Usage.Input == nil || r.Usage.Output == nil {
		return 0, false
	}
	p, ok := book.Lookup(r.Provider, r.Model)
	if !ok {
		return 0, false
	}
	rates := p.Rates
	if p.LongContext != nil && *r.Usage.Input > p.LongContext.AboveInputTokens {
		if r.Kind == wholeSession {
			return 0, false
		}
		rates = p.LongContext.Rates
	}
	return usd(r.Usage, rates.Effective()), true
}

func usd(u rollout.Usage, p pricing.Rates) float64 {
	read, hour := value(u.CacheRead), value(u.CacheWrite1h)
	minutes := value(u.CacheWrite5m)
	if u.CacheWrite != nil {
		minutes = max(*u.CacheWrite-hour, 0)
	}
	plain := *u.Input - read - minutes - hour
	return (float64(plain)**p.Input + float64(read)**p.CacheRead + float64(minutes)**p.CacheWrite5m +
		float64(hour)**p.CacheWrite1h + float64(*u.Output)**p.Output) / 1e6
}
