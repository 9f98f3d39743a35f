package detour

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Estimate is the expected number of extra requests that the lossy edits of the
// plans cause, over all recordings, with the evidence for it. It is an estimate,
// never a measurement: each edited item counts as one extra request with the
// chance that the base rate, net of its null, or later use gives it. Low and High
// add up the bounds of all items, as if they erred together; High takes every later
// use for a detour. Nil: no plan has a lossy edit. plans[i] belongs to recs[i].
func Estimate(recs []replay.Recording, plans []replay.Plan, rates Rates) *replay.Detours {
	return NewEstimator(recs, rates).Estimate(plans)
}

// Estimator estimates many plans over the same recordings; what it reads off a
// recording is kept. It may be used by several goroutines.
type Estimator struct {
	recs   []replay.Recording
	rates  Rates
	own    []func() *matcher
	others []func() *matcher // nil where no other session has words
}

// NewEstimator prepares the recordings; the work is done when first needed.
func NewEstimator(recs []replay.Recording, rates Rates) *Estimator {
	e := &Estimator{recs: recs, rates: rates}
	said := make([]func() []saying, len(recs))
	for i, rec := range recs {
		said[i] = sync.OnceValue(func() []saying { return sayings(rec.Session) })
	}
	for i, rec := range recs {
		e.own = append(e.own, sync.OnceValue(func() *matcher { return newMatcher(rec.Session, said[i]()) }))
		e.others = append(e.others, sync.OnceValue(func() *matcher {
			words := foreign(said[i](), othersOf(recs, said, i))
			if len(words) == 0 {
				return nil
			}
			return newMatcher(rec.Session, words)
		}))
	}
	return e
}

// othersOf returns the words of the sessions after this one, round to it, without
// its own family: a sub-agent and its parent write about the same things.
func othersOf(recs []replay.Recording, said []func() []saying, self int) []saying {
	var out []saying
	need := length(said[self]())
	for k := 1; k < len(recs) && need > 0; k++ {
		i := (self + k) % len(recs)
		if related(recs[i].Session, recs[self].Session) {
			continue
		}
		out = append(out, said[i]()...)
		need -= length(said[i]())
	}
	return out
}

func length(said []saying) int {
	n := 0
	for _, p := range said {
		n += utf8.RuneCountInString(p.text)
	}
	return n
}

func related(a, b *rollout.Session) bool {
	return familyOf(a) == familyOf(b) || a.ForkedFrom != "" && (a.ForkedFrom == b.ID || a.ForkedFrom == b.ForkedFrom) || b.ForkedFrom != "" && b.ForkedFrom == a.ID
}

// target is one item that lossy edits cut, however many spans carry it.
type target struct {
	rate   Stratum
	wanted stratum // it was asked for with
	weight int64   // items it stands for
	used   bool    // what was cut was used later
	null   bool    // the same match against words that had not seen it
	basis  string
}

const (
	otherSessions   = "other sessions"
	earlierRequests = "earlier requests of the same session"
)

// Estimate is the function of the same name over the estimator's recordings.
func (e *Estimator) Estimate(plans []replay.Plan) *replay.Detours {
	var all []target
	for i, p := range plans {
		if i < len(e.recs) && p.Unsupported == "" {
			all = append(all, e.targets(i, p)...)
		}
	}
	return e.sumUp(all)
}

func (e *Estimator) sumUp(all []target) *replay.Detours {
	if len(all) == 0 {
		return nil
	}
	d := &replay.Detours{Evidence: e.evidence(all)}
	n := float64(len(all))
	needed := genuine(float64(d.Evidence.LaterUsed), math.Round(*d.Evidence.NullRate*n), n, *d.Evidence.BaseRate)
	for _, t := range all {
		chance, high := t.rate.Net, t.rate.NetHigh
		if t.used {
			// The two kinds of evidence see the same need: the larger holds, not the sum.
			chance, high = math.Max(chance, needed), 1
		}
		d.Expected += chance
		d.Low += t.rate.NetLow
		d.High += high
	}
	return d
}

// baseWeight is how many edits that chance leaves alone weigh as much as the base rate:
// ten, by judgement; about so many tell a rate of one half to within a sixth.
const baseWeight = 10

// genuine is the chance that a later use found is none by chance, of n edits of which
// used are found and null would be by chance.
//
// Of all edits a share g is really used and the others match at the null rate q, so
// used/n = g + (1 − g)·q (Abbott, J. Econ. Entomol. 18, 1925). Taken alone that makes
// every use certain where all are found, though most would be by chance. So q has a
// Jeffreys prior, (null + ½)/(n + 1), and g a Beta prior of baseWeight edits at the base
// rate (Gelman et al., Bayesian Data Analysis, 3rd edition, §2.4): of the n·(1 − q)
// edits that chance leaves alone, used − n·q are used. A use found is then a real one
// with the chance g / (g + (1 − g)·q). Where no more are found than chance finds, they
// tell nothing.
func genuine(used, null, n, base float64) float64 {
	q := (null + jeffreys) / (n + 2*jeffreys)
	beyond := used - n*q
	if used <= null || beyond <= 0 {
		return 0
	}
	g := (beyond + baseWeight*base) / (n*(1-q) + baseWeight)
	return g / (g + (1-g)*q)
}

// evidence adds up what the estimate rests on.
func (e *Estimator) evidence(all []target) replay.Evidence {
	v := replay.Evidence{Edits: int64(len(all)), Source: e.rates.sourceFor(all)}
	v.Strata, v.Truncations, v.Recoveries = strataOf(all)
	null, base, baseNull := 0.0, 0.0, 0.0
	for _, t := range all {
		if t.used {
			v.LaterUsed++
		}
		if t.null {
			null++
		}
		if !strings.Contains(v.NullBasis, t.basis) || v.NullBasis == "" {
			v.NullBasis = strings.TrimPrefix(v.NullBasis+"; "+t.basis, "; ")
		}
		base += t.rate.Net
		baseNull += t.rate.NullRate
	}
	null /= float64(len(all))
	base /= float64(len(all))
	baseNull /= float64(len(all))
	v.NullRate, v.BaseRate, v.BaseNull = &null, &base, &baseNull
	return v
}

// sourceFor says where the rates of targets come from.
func (r Rates) sourceFor(all []target) string {
	if r.Sessions > 0 && slices.ContainsFunc(all, func(t target) bool { return t.rate.Marker == LineNumbers }) {
		return r.Source + "; for line numbers " + Orientation().Source
	}
	return r.Source
}

// targets lists the items that a plan's lossy edits cut and that a request of this
// session itself carried.
func (e *Estimator) targets(rec int, plan replay.Plan) []target {
	s := e.recs[rec].Session
	byItem := map[int]int{}
	var out []target
	var at []int // by edit: its target
	for _, edit := range plan.Edits {
		if !edit.Lossy {
			at = append(at, -1)
			continue
		}
		item := s.Spans[edit.Span].Item
		n, seen := byItem[item]
		if !seen {
			n = len(out)
			byItem[item] = n
			w := wantedOf(s, edit)
			out = append(out, target{rate: e.rates.For(w.agent, w.kind, w.band, w.marker), wanted: w, weight: 1})
		}
		at = append(at, n)
	}
	if len(out) > 0 {
		e.weigh(out, at, rec, plan)
	}
	return out
}

// wantedOf is the stratum that an edit would have its rate from, if there were cases.
func wantedOf(s *rollout.Session, edit replay.Edit) stratum {
	marker := editMarker(edit)
	if edit.Call < 0 {
		return stratum{marker: marker}
	}
	return stratum{s.Source, kindOf(s, s.Calls[edit.Call]), band(utf8.RuneCountInString(edit.Text)), marker}
}

// editMarker is the marker of a truncation that an edit is most like.
func editMarker(edit replay.Edit) Marker {
	switch {
	case edit.Why == string(LineNumbers):
		return LineNumbers
	case edit.Drop || edit.Text == "":
		return Gone
	case strings.Contains(edit.Text, "<persisted-output>"):
		return Persisted
	case strings.Contains(edit.Text, "output` tool"):
		return Handle
	}
	return Middle
}

// weigh looks for later use and for its null. at names the target of each edit.
func (e *Estimator) weigh(targets []target, at []int, rec int, plan replay.Plan) {
	others, basis := e.others[rec](), otherSessions
	if others == nil {
		basis = earlierRequests
	}
	own := newCuts(e.own[rec](), plan)
	own.judge(others == nil)
	null := own.before
	if others != nil {
		foreign := newCuts(others, plan)
		foreign.judge(false)
		null = foreign.used
	}
	for i, n := range at {
		if n >= 0 {
			targets[n].used = targets[n].used || own.used[i]
			targets[n].null = targets[n].null || null[i]
			targets[n].basis = basis
		}
	}
}
