package detour

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
)

func targetsOf(strata ...Stratum) []target {
	var out []target
	for _, s := range strata {
		out = append(out, target{rate: s, weight: 1, basis: otherSessions})
	}
	return out
}

// Published figures: source 9 of 11, searches and logs 29 of the same 89 (33 %), and
// line numbers 69 (6.5 %) of 1,063. Every case counts once: 11 + 89 + 1,063 = 1,163
// and 9 + 29 + 69 = 107. The net of the mean edit: (0.68 + 2 × 0.09 + 0.065) / 4.
func TestEvidenceNamesTheStrataUsed(t *testing.T) {
	o := Orientation()
	e := Estimator{rates: o}
	v := e.evidence(targetsOf(
		o.For("codex", compress.Source, "", Middle), o.For("codex", compress.Log, "", Middle),
		o.For("codex", compress.Search, "", Middle), o.For("codex", compress.Source, "", LineNumbers),
	))
	assert.Equal(t, []int64{1163, 107}, []int64{v.Truncations, v.Recoveries})
	assert.InDelta(t, 0.925/4, *v.BaseRate, 1e-12)
	assert.InDelta(t, (0.14+0.24+0.24)/4, *v.BaseNull, 1e-12)
	assert.Len(t, v.Strata, 3)
	assert.InDelta(t, 0.09, v.Strata[0].Net, 1e-12)
	v.Strata[0].Net = 0.09
	assert.Equal(t, replay.EvidenceStratum{Kinds: []string{"log", "search"}, Edits: 2, Cases: 89, Recoveries: 29, Rate: 0.33, NullRate: 0.24, Net: 0.09}, v.Strata[0])
	assert.Equal(t, []any{[]string{"source"}, int64(11)}, []any{v.Strata[1].Kinds, v.Strata[1].Cases})
	assert.Equal(t, []any{"line-numbers", int64(1063), int64(1)}, []any{v.Strata[2].Marker, v.Strata[2].Cases, v.Strata[2].Edits})
}

func TestEvidenceOfLineNumbersAlone(t *testing.T) {
	e := Estimator{rates: Orientation()}
	v := e.evidence(targetsOf(Orientation().For("codex", compress.Source, "", LineNumbers)))
	assert.Equal(t, []int64{1063, 69}, []int64{v.Truncations, v.Recoveries})
	assert.Zero(t, *v.BaseNull)
}

// The overall rate holds the cases of every stratum but those of line numbers.
func TestCasesCountOnce(t *testing.T) {
	all := Stratum{Cases: 40, Recoveries: 10}
	kind := Stratum{Kind: compress.Log, Cases: 20, Recoveries: 8}
	cell := Stratum{Agent: "codex", Kind: compress.Log, Band: "<2K", Marker: Middle, Cases: 5, Recoveries: 3}
	lines := Stratum{Marker: LineNumbers, Cases: 100, Recoveries: 6}
	for _, c := range []struct {
		strata []Stratum
		want   []int64
	}{
		{[]Stratum{all}, []int64{40, 10}},
		{[]Stratum{cell, all, kind}, []int64{40, 10}},
		{[]Stratum{cell, kind, cell}, []int64{20, 8}},
		{[]Stratum{cell, lines}, []int64{105, 9}},
		{[]Stratum{all, lines}, []int64{140, 16}},
	} {
		_, cases, recoveries := strataOf(targetsOf(c.strata...))
		assert.Equal(t, c.want, []int64{cases, recoveries})
	}
}
