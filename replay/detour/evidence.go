package detour

import (
	"cmp"
	"slices"

	"github.com/fclog/fclog/replay"
)

// drawn is a stratum that edits have their rate from.
type drawn struct {
	Stratum
	shown replay.EvidenceStratum
}

// strataOf lists the strata that targets have their rates from, the one of most
// edits first, with their cases and recoveries together, each case once.
func strataOf(all []target) (shown []replay.EvidenceStratum, cases, recoveries int64) {
	var list []drawn
	for _, t := range all {
		list = addUse(list, t.rate, t.weight)
	}
	for i, u := range list {
		if !slices.ContainsFunc(list, func(o drawn) bool { return o.holds(u.Stratum) }) {
			cases += u.Cases
			recoveries += u.Recoveries
		}
		slices.Sort(list[i].shown.Kinds)
		shown = append(shown, list[i].shown)
	}
	slices.SortStableFunc(shown, func(a, b replay.EvidenceStratum) int { return cmp.Compare(b.Edits, a.Edits) })
	return shown, cases, recoveries
}

func addUse(list []drawn, s Stratum, items int64) []drawn {
	at := slices.IndexFunc(list, func(u drawn) bool { return u.key() == s.key() || s.Pool != "" && u.Pool == s.Pool })
	if at < 0 {
		at = len(list)
		list = append(list, drawn{s, replay.EvidenceStratum{
			Agent: s.Agent, Kinds: []string{}, Band: s.Band, Marker: string(s.Marker),
			Cases: s.Cases, Recoveries: s.Recoveries, Rate: s.Rate, NullRate: s.NullRate, Net: s.Net,
		}})
	}
	shown := &list[at].shown
	shown.Edits += items
	if kind := string(s.Kind); kind != "" && !slices.Contains(shown.Kinds, kind) {
		shown.Kinds = append(shown.Kinds, kind)
	}
	return list
}

// holds says that all cases of another stratum are among those of this one. Line
// numbers were counted apart: no harness cuts them.
func (s Stratum) holds(o Stratum) bool {
	if s.key() == o.key() || o.Marker == LineNumbers && s.Marker == Whole {
		return false
	}
	return (s.Agent == "" || s.Agent == o.Agent) && (s.Kind == "" || s.Kind == o.Kind) &&
		(s.Band == "" || s.Band == o.Band) && (s.Marker == Whole || s.Marker == o.Marker)
}
