package replay

import (
	"math"
	"slices"
)

// Bounds of the fit: fewer cases leave a published parameter alone.
const (
	minGaps   = 10 // requests after a pause that may or may not have outlived the cache
	minFronts = 3  // requests that share nothing with one before them
	minMoves  = 10 // requests after a change of the unlogged part

	minGain = 0.2 // part of the error that a moving front must explain
)

// moves are the candidates for CacheFamily.FrontMoves.
var moves = []int64{1, 4, 16, 64, 256}

// lifetimes are the candidates for a family's lifetime in seconds: what providers
// offer, and an hour and a day for caches kept longer than stated.
var lifetimes = []int64{300, 600, 1800, 3600, 24 * 3600}

// FitCache fits the parameters that providers do not publish exactly to recordings
// other than those to be judged, for each family:
//
//   - the lifetime, of a few candidates the one with the smallest sum of absolute
//     errors; families that sell an hour keep theirs, which are contracts;
//   - the part of the unlogged front that is served when nothing else is, as the
//     median over requests that share nothing with one before them;
//   - the change of the unlogged part that tells of a changed block in the front,
//     and what is served then, by the sum of absolute errors and a median.
func (e *Engine) FitCache(recs []Recording) CacheModel {
	cases := make([][]cacheCase, len(e.Cache.Families))
	for _, rec := range recs {
		l := e.ledger(rec)
		for n, list := range l.cacheCases() {
			cases[n] = append(cases[n], list...)
		}
	}
	out := CacheModel{Families: slices.Clone(e.Cache.Families), Moving: e.Cache.Moving}
	for n := range out.Families {
		out.Families[n] = fitFamily(out.Families[n], cases[n])
	}
	return out
}

// cacheCases lists the requests with known cache reads by family.
func (l *ledger) cacheCases() map[int][]cacheCase {
	out := map[int][]cacheCase{}
	for i, r := range l.rec.Session.Requests {
		if r.Inherited || l.families[i] == nil || r.Usage.CacheRead == nil || r.Usage.Input == nil {
			continue
		}
		c := cacheCase{model: r.Model, prefix: l.before[i].tokens, hour: l.hour, read: *r.Usage.CacheRead, input: *r.Usage.Input}
		l.circumstances(&c, i, l.before[i].from)
		n := l.engine.Cache.family(r.Provider, r.Model)
		out[n] = append(out[n], c)
	}
	return out
}

func fitFamily(f CacheFamily, cases []cacheCase) CacheFamily {
	pauses := 0
	var shares []float64
	for _, c := range cases {
		if c.follows && c.gap > float64(lifetimes[0]) {
			pauses++
		}
		if !c.follows && c.front >= float64(f.minimum(c.model)) {
			shares = append(shares, min(1, float64(c.read)/c.front))
		}
	}
	if len(shares) >= minFronts {
		f.FrontShare = median(shares)
		f.Fitted = int64(len(cases))
	}
	if pauses >= minGaps && f.LongS == 0 {
		f = fitLifetime(f, cases)
		f.Fitted = int64(len(cases))
	}
	if moving, ok := fitMoves(f, cases); ok {
		f = moving
		f.Fitted = int64(len(cases))
	}
	return f
}

// fitLifetime takes the shortest of equally good ones.
func fitLifetime(f CacheFamily, cases []cacheCase) CacheFamily {
	best, least := f, math.Inf(1)
	for _, seconds := range lifetimes {
		f.LifetimeS = seconds
		if missed := f.missed(cases); missed < least {
			best, least = f, missed
		}
	}
	return best
}

// fitMoves looks for the change of the unlogged part that tells a moved front. It
// must explain a fair part of what is off without it, as counts are never exact.
func fitMoves(f CacheFamily, cases []cacheCase) (CacheFamily, bool) {
	best, least, found := f, (1-minGain)*f.missed(cases), false
	for _, tokens := range moves {
		var kept []float64
		f.FrontMoves = tokens
		for _, c := range cases {
			if c.follows && f.moves(c) && c.front > 0 {
				kept = append(kept, min(1, float64(c.read)/c.front))
			}
		}
		if len(kept) < minMoves {
			continue
		}
		f.FrontKept = median(kept)
		if missed := f.missed(cases); missed < least {
			best, least, found = f, missed, true
		}
	}
	return best, found
}

// missed sums the absolute errors over some requests.
func (f CacheFamily) missed(cases []cacheCase) float64 {
	sum := 0.0
	for _, c := range cases {
		sum += math.Abs(float64(f.expect(c) - c.read))
	}
	return sum
}

func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return (list[n/2-1] + list[n/2]) / 2
}

// CacheError is how far the cache model is off on the recorded requests.
type CacheError struct {
	Requests      int64         `json:"requests"`                     // compared: own ones with input and cache figures
	MedianTokens  *float64      `json:"median_tokens"`                // of |predicted - recorded cache read|
	WithinPercent *float64      `json:"within_2_percent"`             // share of requests off by at most 2 % of their input, 0 to 1
	Residual      *int64        `json:"residual_tokens"`              // Σ recorded - predicted, carried into every plan
	Missed        int64         `json:"missed_requests"`              // off by more than 2 %
	MissedMoved   int64         `json:"missed_after_unlogged_change"` // of them: the part that the log does not hold had changed by 16 tokens or more
	MissedTokens  *int64        `json:"missed_moved_tokens"`          // Σ |recorded - predicted| of those
	Moving        *MovingFront  `json:"moving_front"`                 // in use for some of the sessions; nil none
	Families      []CacheFamily `json:"families"`                     // parameters of the families in use
}

// cacheMiss is the error on one request.
type cacheMiss struct {
	family string
	off    int64 // recorded - predicted
	input  int64
	moved  bool // the unlogged part had changed
	front  bool // the session is one whose front moves
}

// unloggedChange is from when on, in tokens, a change of the unlogged part is told
// apart from the error of the counts.
const unloggedChange = 16

func (m cacheMiss) far() bool { return math.Abs(float64(m.off)) > 0.02*float64(m.input) }

func (l *ledger) cacheMisses() []cacheMiss {
	var out []cacheMiss
	for i, r := range l.rec.Session.Requests {
		if r.Inherited || l.families[i] == nil || r.Usage.CacheRead == nil || r.Usage.Input == nil {
			continue
		}
		var c cacheCase
		l.circumstances(&c, i, l.before[i].from)
		out = append(out, cacheMiss{l.families[i].Name, l.residual[i], *r.Usage.Input, c.moved >= unloggedChange, l.rec.Session.FrontMoves})
	}
	return out
}

func (e *Engine) cacheError(results []outcomes) CacheError {
	var all []cacheMiss
	for _, r := range results {
		all = append(all, r.errors...)
	}
	out := errorOf(all)
	if moving := e.Cache.Moving; moving.Moves > 0 && slices.ContainsFunc(all, func(m cacheMiss) bool { return m.front }) {
		out.Moving = &moving
	}
	for _, f := range e.Cache.Families {
		if slices.ContainsFunc(all, func(m cacheMiss) bool { return m.family == f.Name }) {
			out.Families = append(out.Families, f)
		}
	}
	return out
}

func errorOf(list []cacheMiss) CacheError {
	out := CacheError{Requests: int64(len(list))}
	if len(list) == 0 {
		return out
	}
	var off []float64
	within, sum, moved := int64(0), int64(0), int64(0)
	for _, m := range list {
		off = append(off, math.Abs(float64(m.off)))
		switch {
		case !m.far():
			within++
		case m.moved:
			out.MissedMoved++
			moved += max(m.off, -m.off)
		}
		sum += m.off
	}
	mid, share := median(off), float64(within)/float64(len(list))
	out.MedianTokens, out.WithinPercent, out.Residual = &mid, &share, &sum
	out.Missed, out.MissedTokens = out.Requests-within, &moved
	return out
}
