package detour

import (
	"cmp"
	"math"
	"slices"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
)

// A fleet is estimated from counts: each session by itself counts what its edits
// cut and what it shows of recoveries, and sums of those counts say for any set of
// sessions what Estimate and FromLogs say of their recordings. The null of later use
// is then always that of the session itself, as no session sees another.

// Lossy counts the items of one stratum that lossy edits cut.
type Lossy struct {
	Agent  string
	Kind   string
	Band   string
	Marker string
	Items  int64
	Used   int64 // what was cut turned up later
	Null   int64 // the same match against what had been said before
}

// Seen counts outputs of one stratum that stood in a log, whole (Marker "") or cut,
// and those of them that were gone back to.
type Seen struct {
	Agent      string
	Kind       string
	Band       string
	Marker     string
	Cases      int64
	Recoveries int64
}

// CountLossy counts the items that the lossy edits of each plan cut, by stratum, in a
// fixed order. An edit that is no call's has no agent, kind or band.
func CountLossy(rec replay.Recording, plans ...replay.Plan) [][]Lossy {
	e := NewEstimator([]replay.Recording{rec}, Rates{})
	out := make([][]Lossy, len(plans))
	for i, p := range plans {
		if p.Unsupported == "" {
			out[i] = countTargets(e.targets(0, p))
		}
	}
	return out
}

func countTargets(all []target) []Lossy {
	found := map[stratum]*Lossy{}
	for _, t := range all {
		n := found[t.wanted]
		if n == nil {
			n = &Lossy{Agent: t.wanted.agent, Kind: string(t.wanted.kind), Band: t.wanted.band, Marker: string(t.wanted.marker)}
			found[t.wanted] = n
		}
		n.Items++
		n.Used += count(t.used)
		n.Null += count(t.null)
	}
	out := make([]Lossy, 0, len(found))
	for _, n := range found {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Lossy) int { return compareStrata(a.key(), b.key()) })
	return out
}

func count(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func (n Lossy) key() stratum {
	return stratum{n.Agent, compress.Kind(n.Kind), n.Band, Marker(n.Marker)}
}

func (n Seen) key() stratum { return stratum{n.Agent, compress.Kind(n.Kind), n.Band, Marker(n.Marker)} }

func compareStrata(a, b stratum) int {
	return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.kind, b.kind), cmp.Compare(a.band, b.band), cmp.Compare(a.marker, b.marker))
}

// CountSeen counts the outputs of a recording, by stratum, in a fixed order.
func CountSeen(rec replay.Recording) []Seen {
	tallies := map[stratum]tally{}
	for _, o := range observe(rec) {
		tallies[o.stratum] = tallies[o.stratum].plus(o.recovered)
	}
	out := make([]Seen, 0, len(tallies))
	for k, t := range tallies {
		out = append(out, Seen{k.agent, string(k.kind), k.band, string(k.marker), t.cases, t.recoveries})
	}
	slices.SortFunc(out, func(a, b Seen) int { return compareStrata(a.key(), b.key()) })
	return out
}

// FromCounts is FromLogs for the sums of what so many sessions showed.
func FromCounts(seen []Seen, sessions int64) Rates {
	cut, whole := map[stratum]tally{}, map[stratum]tally{}
	for _, n := range seen {
		into := cut
		if Marker(n.Marker) == Whole {
			into = whole
		}
		into[n.key()] = into[n.key()].and(tally{n.Cases, n.Recoveries})
	}
	return orOrientation(fitTallies(cut, whole), sessions)
}

// merged adds up counts of the same stratum: sums of floats over strata are then the
// same whatever the counts were divided into.
func merged(lossy []Lossy) []Lossy {
	sorted := slices.Clone(lossy)
	slices.SortFunc(sorted, func(a, b Lossy) int { return compareStrata(a.key(), b.key()) })
	var out []Lossy
	for _, n := range sorted {
		if last := len(out) - 1; last >= 0 && out[last].key() == n.key() {
			out[last].Items += n.Items
			out[last].Used += n.Used
			out[last].Null += n.Null
			continue
		}
		out = append(out, n)
	}
	return out
}

// FromLossy is Estimate for the sums of what the plans of many sessions cut.
func FromLossy(lossy []Lossy, rates Rates) *replay.Detours {
	lossy = merged(lossy)
	var items, used, null int64
	base, baseNull := 0.0, 0.0
	var drawnFrom []target
	for _, n := range lossy {
		rate := rates.For(n.Agent, compress.Kind(n.Kind), n.Band, Marker(n.Marker))
		drawnFrom = append(drawnFrom, target{rate: rate, weight: n.Items})
		items, used, null = items+n.Items, used+n.Used, null+n.Null
		base += float64(n.Items) * rate.Net
		baseNull += float64(n.Items) * rate.NullRate
	}
	if items == 0 {
		return nil
	}
	all := float64(items)
	nullRate := float64(null) / all
	base, baseNull = base/all, baseNull/all
	v := replay.Evidence{
		Edits: items, LaterUsed: used, NullRate: &nullRate, NullBasis: earlierRequests, BaseRate: &base, BaseNull: &baseNull,
		Source: rates.sourceFor(drawnFrom),
	}
	v.Strata, v.Truncations, v.Recoveries = strataOf(drawnFrom)
	d := &replay.Detours{Evidence: v}
	needed := genuine(float64(used), float64(null), all, base)
	for i, n := range lossy {
		rate := drawnFrom[i].rate
		free, found := float64(n.Items-n.Used), float64(n.Used)
		d.Expected += free*rate.Net + found*math.Max(rate.Net, needed)
		d.Low += float64(n.Items) * rate.NetLow
		d.High += free*rate.NetHigh + found
	}
	return d
}
