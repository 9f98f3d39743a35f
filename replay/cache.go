package replay

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fclog/fclog/rollout"
)

// CacheModel says what a provider's prompt cache serves of a payload whose
// beginning it has seen before.
//
// The predicted read of a request is the part of its payload that it shares, from
// the front, with the previous request of its chain by the same model: that one's
// input less what it carried from the first difference on, the unlogged front
// included. It is 0 after the lifetime, 0 below the minimum, and rounded down to
// whole blocks. Where nothing is shared, a part of the unlogged front may still
// be served: other sessions keep it alive. Agents that keep changing blocks in the
// unlogged front, such as a to-do list in the system prompt, show it by a change of
// the unlogged part; then the prefix ends there.
type CacheModel struct {
	Families []CacheFamily `json:"families"` // the first that matches decides; the last stands for all others
	Moving   MovingFront   `json:"moving_front"`
}

// MovingFront holds for sessions of agents that are known to keep changing blocks
// before the conversation (rollout.Session.FrontMoves), as far as nothing was fitted
// for the family.
type MovingFront struct {
	Moves  int64   `json:"front_moves_tokens"` // as CacheFamily.FrontMoves
	Kept   float64 `json:"front_kept"`         // as CacheFamily.FrontKept
	Source string  `json:"source"`
}

// familyOf finds the parameters for a model in a session.
func (m CacheModel) familyOf(s *rollout.Session, provider, model string) *CacheFamily {
	n := m.family(provider, model)
	if n < 0 {
		return nil
	}
	f := m.Families[n]
	if s.FrontMoves && f.FrontMoves == 0 {
		f.FrontMoves, f.FrontKept = m.Moving.Moves, m.Moving.Kept
	}
	return &f
}

// CacheFamily is how one kind of provider caches. Tokens are the provider's.
type CacheFamily struct {
	Name       string         `json:"name"`      // anthropic, openai, minimax, gemini, other
	Models     []string       `json:"models"`    // parts of model names, lower case
	Providers  []string       `json:"providers"` // parts of provider names, for models that match no family
	Minimum    int64          `json:"minimum_tokens"`
	Minimums   []ModelMinimum `json:"minimums,omitempty"` // of single models
	Block      int64          `json:"block_tokens"`       // prefixes are served in multiples of it
	LifetimeS  int64          `json:"lifetime_s"`         // seconds after the last use
	LongS      int64          `json:"long_lifetime_s"`    // where the session writes entries for an hour; 0 none such
	FrontShare float64        `json:"front_share"`        // part of the unlogged front that is served when nothing else is; fitted
	FrontMoves int64          `json:"front_moves_tokens"` // change of the unlogged part from which on a block in the front has changed; 0 never; fitted
	FrontKept  float64        `json:"front_kept"`         // part of the unlogged front that is served then; fitted
	Fitted     int64          `json:"fitted_on"`          // requests that the fitted parameters rest on; 0 none is fitted
	Source     string         `json:"source"`
}

// ModelMinimum is the smallest prefix that one model caches.
type ModelMinimum struct {
	Model  string `json:"model"` // part of the model's name, lower case
	Tokens int64  `json:"tokens"`
}

//go:embed cache.json
var shippedCache []byte

// DefaultCache returns the model with the parameters that providers publish.
func DefaultCache() (CacheModel, error) {
	var m CacheModel
	if err := json.Unmarshal(shippedCache, &m); err != nil {
		return m, fmt.Errorf("cache parameters: %w", err)
	}
	return m, nil
}

// family finds the parameters for a model: by its own name, then by who serves it.
// Without any family there is no cache.
func (m CacheModel) family(provider, model string) int {
	model, provider = strings.ToLower(model), strings.ToLower(provider)
	for i, f := range m.Families {
		if containsAny(model, f.Models) {
			return i
		}
	}
	for i, f := range m.Families {
		if containsAny(provider, f.Providers) {
			return i
		}
	}
	return len(m.Families) - 1
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func (f CacheFamily) minimum(model string) int64 {
	model = strings.ToLower(model)
	for _, m := range f.Minimums {
		if strings.Contains(model, m.Model) {
			return m.Tokens
		}
	}
	return f.Minimum
}

// lifetime is how long an entry of a session lives, in seconds.
func (f CacheFamily) lifetime(hour bool) float64 {
	if hour && f.LongS > 0 {
		return float64(f.LongS)
	}
	return float64(f.LifetimeS)
}

// served rounds a shared prefix down to what the cache gives back of it.
func (f CacheFamily) served(model string, prefix float64) int64 {
	n := whole(prefix)
	if n < f.minimum(model) || n <= 0 {
		return 0
	}
	if f.Block > 1 {
		n -= n % f.Block
	}
	return n
}

// shared is what a request has in common with the one before it.
type shared struct {
	from     int     // index of that request; -1 none whose cache could serve
	tokens   float64 // prefix that both carry, in provider tokens
	breakAt  int64   // position of the first difference; noBreak: none
	unedited float64 // the prefix if the first difference were where the recording has it
}

const noBreak = math.MaxInt64

// predict is the cache read of a request that shares a prefix with another; still
// says that nothing has moved in front.
func (l *ledger) predict(i int, prefix float64, from int, still bool) int64 {
	f := l.families[i]
	if f == nil {
		return 0
	}
	c := cacheCase{model: l.rec.Session.Requests[i].Model, prefix: prefix, hour: l.hour}
	l.circumstances(&c, i, from)
	if still {
		c.moved, c.listed = 0, false
	}
	return f.expect(c)
}

// cacheCase is what the prediction for a request rests on.
type cacheCase struct {
	model       string
	prefix      float64 // shared with the one before
	follows     bool    // there is one before
	gap         float64 // seconds since then
	hour        bool    // the session pays for entries that live for an hour
	front       float64 // unlogged tokens in front; 0 unknown
	moved       int64   // change of the unlogged part since the one before
	listed      bool    // the to-do list in front is another, whatever its size
	read, input int64   // as recorded, for a fit
}

// circumstances fills in what is known of a request and the one before it.
func (l *ledger) circumstances(c *cacheCase, i, from int) {
	if l.front[i] != nil {
		c.front = *l.front[i]
	}
	if from < 0 {
		return
	}
	c.follows, c.gap = true, l.gap(from, i)
	before, now := l.rec.Sizes.Requests[from].Unlogged, l.rec.Sizes.Requests[i].Unlogged
	if before != nil && now != nil && l.rec.Session.Requests[i].Base < 0 {
		c.moved = max(*now-*before, *before-*now)
	}
	c.listed = l.listed[from]
}

// expect is the cache read that the parameters predict.
func (f CacheFamily) expect(c cacheCase) int64 {
	prefix := c.prefix
	if !c.follows || c.gap > f.lifetime(c.hour) {
		prefix = 0
	}
	if f.moves(c) {
		prefix = min(prefix, f.FrontKept*c.front)
	}
	return f.served(c.model, max(prefix, f.FrontShare*c.front))
}

// moves says whether a block in front of the conversation has changed.
func (f CacheFamily) moves(c cacheCase) bool {
	return f.FrontMoves > 0 && (c.listed || c.moved >= f.FrontMoves)
}

// gap is the time between two requests in seconds; 0 where it is unknown.
func (l *ledger) gap(from, to int) float64 {
	a, b := l.rec.Session.Requests[from].Time, l.rec.Session.Requests[to].Time
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return b.Sub(a).Seconds()
}

// reportsCache tells the models that read or write the cache at least once in a
// session from those that do not report it, whatever zeros the log holds.
func reportsCache(s *rollout.Session) map[string]bool {
	out := map[string]bool{}
	for _, r := range s.Requests {
		if value(r.Usage.CacheRead) > 0 || value(r.Usage.CacheWrite) > 0 {
			out[r.Model] = true
		}
	}
	return out
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}
