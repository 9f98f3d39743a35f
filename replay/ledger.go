package replay

import (
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// ledger is what every plan for one recording needs: worked out once.
type ledger struct {
	engine   *Engine
	rec      Recording
	factors  []*factors     // by request: of its model
	families []*CacheFamily // by request: nil where its model does not report the cache
	chains   map[int][]int  // request indexes by chain, in order of their numbers
	front    []*float64     // by request: the smallest unlogged part on its chain so far, which must stand in front; nil unknown
	listed   map[int]bool   // requests whose response changed the to-do list, where that stands in the front
	hour     bool           // the session writes cache entries that live for an hour
	write    writeSplit     // of all requests together
	rates    []*Rates       // by request; nil: no known price
	plain    []piece        // the recorded spans
	before   []shared       // of the recording itself
	residual []int64        // recorded cache read less the predicted one; 0 where either is unknown
	carried  map[rollout.ItemKind]carriedSums
	requests carriedSums // requests that pay for a payload, by request number
}

// factors turn raw counts of one model into provider tokens.
type factors struct {
	base, low, high float64
	kinds           map[rollout.ItemKind][3]float64 // factor, low, high
}

func (f *factors) of(kind rollout.ItemKind) float64 {
	if v, ok := f.kinds[kind]; ok {
		return v[0]
	}
	return f.base
}

func (f *factors) spread(kind rollout.ItemKind) (low, high float64) {
	if v, ok := f.kinds[kind]; ok {
		return v[1], v[2]
	}
	return f.low, f.high
}

func (e *Engine) ledger(rec Recording) *ledger {
	l := &ledger{engine: e, rec: rec, chains: map[int][]int{}, carried: map[rollout.ItemKind]carriedSums{}}
	s := rec.Session
	byModel := factorsOf(rec.Sizes.Calibration)
	reports := reportsCache(s)
	for i, r := range s.Requests {
		l.chains[r.Chain] = append(l.chains[r.Chain], i)
		l.hour = l.hour || value(r.Usage.CacheWrite1h) > 0
		byModel[r.Model] = factorsFor(byModel, r.Model)
		l.factors = append(l.factors, byModel[r.Model])
		l.families = append(l.families, nil)
		if reports[r.Model] {
			l.families[i] = e.Cache.familyOf(s, r.Provider, r.Model)
		}
		l.rates = append(l.rates, e.ratesOf(r))
		l.write.add(splitOf(r.Usage))
	}
	l.listed = listChanges(s)
	l.plain = plainPieces(rec)
	l.front = frontsOf(rec)
	inputs := recordedInputs(s)
	l.before = l.sharedPrefixes(l.plain, inputs, nil, nil)
	l.residual = make([]int64, len(s.Requests))
	for i, r := range s.Requests {
		if l.families[i] != nil && r.Usage.CacheRead != nil && r.Usage.Input != nil {
			l.residual[i] = *r.Usage.CacheRead - l.predict(i, l.before[i].tokens, l.before[i].from, false)
		}
	}
	l.requests = l.sums(func(int) float64 { return 1 })
	return l
}

// listChanges finds the requests whose response wrote another to-do list than the one
// before, in sessions that carry it in the front.
func listChanges(s *rollout.Session) map[int]bool {
	out := map[int]bool{}
	last := rollout.TextID(-1)
	for _, c := range s.Calls {
		if s.FrontMoves && c.Class == rollout.TodoTool && c.Ran && c.Request >= 0 && c.Args != last {
			out[c.Request], last = true, c.Args
		}
	}
	return out
}

// frontsOf takes the unlogged part of a request for its front as far as it was that
// small ever since the chain began: what it grew by stands further behind.
func frontsOf(rec Recording) []*float64 {
	out := make([]*float64, len(rec.Session.Requests))
	smallest := map[int]*float64{}
	for i, r := range rec.Session.Requests {
		if u := rec.Sizes.Requests[i].Unlogged; u != nil {
			n := float64(max(*u, 0))
			if before := smallest[r.Chain]; before == nil || n < *before {
				smallest[r.Chain] = &n
			}
		}
		out[i] = smallest[r.Chain]
	}
	return out
}

func recordedInputs(s *rollout.Session) []*int64 {
	out := make([]*int64, len(s.Requests))
	for i, r := range s.Requests {
		out[i] = r.Usage.Input
	}
	return out
}

func factorsOf(list []measure.Calibration) map[string]*factors {
	out := map[string]*factors{}
	for _, c := range list {
		if c.Fit != measure.FitAll {
			continue
		}
		f := factorsFor(out, c.Model)
		out[c.Model] = f
		if c.Kind == "" {
			f.base, f.low, f.high = c.Factor, c.FactorLow, c.FactorHigh
		} else {
			f.kinds[c.Kind] = [3]float64{c.Factor, c.FactorLow, c.FactorHigh}
		}
	}
	return out
}

func factorsFor(known map[string]*factors, model string) *factors {
	if f, ok := known[model]; ok {
		return f
	}
	return &factors{base: 1, low: 1, high: 1, kinds: map[rollout.ItemKind][3]float64{}}
}

func (e *Engine) ratesOf(r rollout.Request) *Rates {
	if e.Price == nil || r.Subscription {
		return nil
	}
	rates, ok := e.Price(r.Provider, r.Model)
	if !ok {
		return nil
	}
	return &rates
}

// carriedSums holds running sums along the requests of each chain.
type carriedSums map[int][]float64

// sums adds an amount for every request of this session that pays for a payload:
// the one it stands at and those that send it again.
func (l *ledger) sums(amount func(request int) float64) carriedSums {
	s := l.rec.Session
	weight := make([]float64, len(s.Requests))
	for i := len(s.Requests) - 1; i >= 0; i-- {
		if !s.Requests[i].Inherited {
			weight[i] += amount(i)
		}
		if b := s.Requests[i].Base; b >= 0 {
			weight[b] += weight[i]
		}
	}
	out := carriedSums{}
	for chain, list := range l.chains {
		sum := make([]float64, len(list)+1)
		for n, i := range list {
			sum[n+1] = sum[n] + weight[i]
		}
		out[chain] = sum
	}
	return out
}

// between sums over the request numbers first to last.
func (c carriedSums) between(chain, first, last int) float64 {
	if last < first {
		return 0
	}
	return c[chain][last] - c[chain][first-1]
}

// carriedFactors are the running sums of the factor of a kind: what one raw token
// costs over a stretch of requests.
func (l *ledger) carriedFactors(kind rollout.ItemKind) carriedSums {
	sums, ok := l.carried[kind]
	if !ok {
		sums = l.sums(func(i int) float64 { return l.factors[i].of(kind) })
		l.carried[kind] = sums
	}
	return sums
}
