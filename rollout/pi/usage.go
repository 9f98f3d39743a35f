package pi

import (
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// usage is what pi records of a call. Input excludes both cache figures, for
// every provider.
type usage struct {
	Input      num                   `json:"input"`
	Output     num                   `json:"output"`
	CacheRead  num                   `json:"cacheRead"`
	CacheWrite num                   `json:"cacheWrite"`
	Cost       logfile.Lenient[cost] `json:"cost"`
}

type cost struct {
	Total logfile.Lenient[float64] `json:"total"`
}

// tokens converts a usage. All zeros are what pi writes where a call brought no
// usage (it broke off, or the provider sent none). Impossible counts are left
// out, and not ok says so.
func (u usage) tokens() (out rollout.Usage, ok bool) {
	parts := []num{u.Input, u.Output, u.CacheRead, u.CacheWrite}
	none, ok := true, true
	for i, p := range parts {
		if p.Odd || p.OK && (p.V < 0 || p.V > rollout.MaxTokens/4) {
			parts[i], ok = num{}, false
		}
		none = none && parts[i].V == 0
	}
	if none {
		return rollout.Usage{}, ok
	}
	out = rollout.Usage{Output: pointer(parts[1]), CacheRead: pointer(parts[2]), CacheWrite: pointer(parts[3])}
	if parts[0].OK && parts[2].OK && parts[3].OK {
		sum := parts[0].V + parts[2].V + parts[3].V
		out.Input = &sum
	}
	return out, ok
}

// usd is the logged cost of a call; nil where pi knew no price.
func (u usage) usd() *float64 {
	c := u.Cost.V.Total
	if !c.OK || !(c.V > 0 && c.V <= rollout.MaxUSD) {
		return nil
	}
	return &c.V
}

func pointer(n num) *int64 {
	if !n.OK {
		return nil
	}
	return &n.V
}
