package measure

import (
	"math"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// Constant is an estimate of what goes out unchanged with every request of a
// chain and stands in no log: system prompt and tool definitions, in most logs.
// All in the provider's tokens, Low <= Tokens <= High.
type Constant struct {
	Tokens, Low, High int64
	Method            ConstantMethod
}

// ConstantMethod says what a Constant was taken from.
type ConstantMethod string

const (
	FromLog         ConstantMethod = "log"           // the log holds system prompt and tool definitions: nothing constant is left over
	FromFirst       ConstantMethod = "first-request" // what the first request with usage leaves over
	FromCache       ConstantMethod = "cache-reads"   // the cached prefix that survived changes of the conversation
	FromCalibration ConstantMethod = "calibration"   // the least that any request leaves over, with the error of its calibration
	FromTotals      ConstantMethod = "totals"        // what usage reported for the whole session leaves over, per request
)

const (
	// assumedSpread is the error, as a share, of a factor that no pairs were there to
	// fit: the defaults for Claude models differ by as much from each other.
	assumedSpread = 0.25
	// framingSpread is the error of framing, as a share: no two requests tell what a
	// single one is framed with.
	framingSpread = 0.25
	// requestFraming is what a request itself may be framed with, and no text or
	// message: 3 tokens in OpenAI's cookbook and on FreeCode's provider.
	requestFraming = 4
	// maxBlock is the largest step in which a provider is known to cache.
	maxBlock = 1024
	// minPlaces is how many different conversations a cached prefix must have survived
	// before it is taken for all of what is constant.
	minPlaces = 2
)

// fronts are the phrases of Session.Missing for content that goes out unchanged
// with every request.
var fronts = []string{"system prompt", "tool definitions", "built-in tool definitions"}

// group is turns that share what goes out unchanged. Other requests, of which there
// is one at a time, cannot show what of them is constant.
type group struct {
	chain int
	model string
}

// witness is one request with usage.
type witness struct {
	unlogged, radius float64 // radius is the error of unlogged
	cacheRead        float64
	front            float64 // logged content in front of the conversation
	logged           float64
}

// constants gives every turn the estimate of its group; nil where nothing tells.
// Turns of a group without usage get that of the main chain.
func constants(s *rollout.Session, m *Measured, sizes []RequestSize) []*Constant {
	of := estimator(s, m, sizes)
	out := make([]*Constant, len(s.Requests))
	for i, r := range s.Requests {
		if r.Kind == rollout.KindTurn {
			out[i] = of(group{r.Chain, r.Model})
		}
	}
	return out
}

func estimator(s *rollout.Session, m *Measured, sizes []RequestSize) func(group) *Constant {
	if !slices.ContainsFunc(fronts, func(what string) bool { return slices.Contains(s.Missing, what) }) {
		return func(group) *Constant { return &Constant{Method: FromLog} }
	}
	known := map[group]*Constant{}
	for g, list := range witnesses(s, m, sizes) {
		known[g] = constantOf(list)
	}
	if len(known) == 0 {
		whole := fromTotals(s, m, sizes)
		return func(group) *Constant { return whole }
	}
	return func(g group) *Constant {
		if c := known[g]; c != nil {
			return c
		}
		return known[group{0, g.model}]
	}
}

func witnesses(s *rollout.Session, m *Measured, sizes []RequestSize) map[group][]witness {
	spreads := spreadsOf(m.Calibration)
	front := perRequest(s, func(i int) int64 {
		if kind := s.Items[s.Spans[i].Item].Kind; kind == rollout.SystemPrompt || kind == rollout.ToolDefinitions {
			return value(m.Spans[i].Tokens)
		}
		return 0
	})
	out := map[group][]witness{}
	for i, r := range s.Requests {
		if r.Inherited || r.Kind != rollout.KindTurn || r.Status != rollout.Answered || sizes[i].Unlogged == nil {
			continue
		}
		g := group{r.Chain, r.Model}
		calibrated := float64(*sizes[i].Calibrated)
		out[g] = append(out[g], witness{
			unlogged:  float64(*sizes[i].Unlogged),
			radius:    math.Abs(calibrated)*spreads[r.Model] + framingSpread*math.Abs(float64(*sizes[i].Framing)) + requestFraming,
			cacheRead: float64(value(r.Usage.CacheRead)),
			front:     float64(front[i]),
			logged:    calibrated,
		})
	}
	return out
}

// spreadsOf returns the error of each model's factor as a share of it.
func spreadsOf(list []Calibration) map[string]float64 {
	out := map[string]float64{}
	for _, c := range list {
		if c.Fit != FitAll || c.Kind != "" {
			continue
		}
		switch {
		case strings.HasPrefix(c.Method, MethodPublic):
			out[c.Model] = 0
		case strings.HasPrefix(c.Method, MethodFitted) && c.Factor > 0:
			out[c.Model] = max(c.FactorHigh-c.Factor, c.Factor-c.FactorLow) / c.Factor
		default:
			out[c.Model] = assumedSpread
		}
	}
	return out
}

// interval is where a figure lies.
type interval struct{ low, at, high float64 }

// constantOf takes the estimate from the first request, which carries least and
// so is least in error; unless a later one leaves over clearly less, which shows
// that some of it was not constant. Cache reads narrow the interval.
func constantOf(list []witness) *Constant {
	first := list[0]
	est := interval{first.unlogged - first.radius, first.unlogged, first.unlogged + first.radius}
	method := FromFirst
	least := first
	for _, w := range list {
		if w.unlogged+w.radius < least.unlogged+least.radius {
			least = w
		}
	}
	est.low = min(est.low, least.unlogged-least.radius, lowest(list)-requestFraming)
	if bound := least.unlogged + least.radius; bound < est.at {
		est.at, est.high, method = bound, bound, FromCalibration
	}
	if cached, ok := survivor(list); ok && cached.low <= est.high && cached.high >= est.low && cached.high-cached.low < est.high-est.low {
		at := min(max(est.at, cached.low), cached.high)
		est = interval{max(est.low, cached.low), at, min(est.high, cached.high)}
		method = FromCache
	}
	return &Constant{Tokens: rounded(est.at), Low: rounded(est.low), High: rounded(est.high), Method: method}
}

// lowest is what a tenth of the requests leave over at most: less than the first
// by so little that it may be an error of counting, or a change of what is sent.
func lowest(list []witness) float64 {
	var all []float64
	for _, w := range list {
		all = append(all, w.unlogged)
	}
	slices.Sort(all)
	return all[(len(all)-1)/10]
}

func rounded(v float64) int64 { return int64(math.Round(max(v, 0))) }

// survivor is where the constant lies by the cached prefix that different
// conversations were served alike: all of what is constant, rounded down to a
// block. Reads that reach into the conversation say nothing.
func survivor(list []witness) (interval, bool) {
	block := blockOf(list)
	places := map[float64]map[float64]bool{} // by prefix without logged front, the sizes of the conversations behind it
	best := 0.0
	for _, w := range list {
		if w.cacheRead <= 0 || w.cacheRead > w.unlogged+w.front+w.radius {
			continue
		}
		prefix := w.cacheRead - w.front
		if places[prefix] == nil {
			places[prefix] = map[float64]bool{}
		}
		places[prefix][w.logged] = true
		if len(places[prefix]) >= minPlaces {
			best = max(best, prefix)
		}
	}
	return interval{low: best, high: best + block - 1}, best > 0
}

// blockOf is the step in which the reads of a chain grow: a power of two, 1 where
// the agent sets breakpoints.
func blockOf(list []witness) float64 {
	block := maxBlock
	for _, w := range list {
		for block > 1 && math.Mod(w.cacheRead, float64(block)) != 0 {
			block /= 2
		}
	}
	return float64(block)
}

// fromTotals spreads what the usage of the whole session leaves over evenly: the
// constant part and the growth of the rest cannot be told apart then.
func fromTotals(s *rollout.Session, m *Measured, sizes []RequestSize) *Constant {
	total, ok := reportedInput(s)
	fits := fitsOf(m.Calibration, FitAll)
	messages := messageCounts(s, fits)
	requests, logged, framing, radius := 0.0, 0.0, 0.0, 0.0
	spreads := spreadsOf(m.Calibration)
	for i, r := range s.Requests {
		if r.Inherited || r.Status != rollout.Answered {
			continue
		}
		f := fits[r.Model]
		requests++
		logged += f.base * float64(sizes[i].Counted)
		framing += f.framing * messages[i]
		radius += spreads[r.Model]*f.base*float64(sizes[i].Counted) + framingSpread*f.framing*messages[i] + requestFraming
	}
	if !ok || requests == 0 {
		return nil
	}
	at := (total - logged - framing) / requests
	return &Constant{Tokens: rounded(at), Low: rounded(at - radius/requests), High: rounded(at + radius/requests), Method: FromTotals}
}

func reportedInput(s *rollout.Session) (float64, bool) {
	sum, any := 0.0, false
	for _, r := range s.Reported {
		if r.Usage.Input != nil {
			sum, any = sum+float64(*r.Usage.Input), true
		}
	}
	return sum, any
}
