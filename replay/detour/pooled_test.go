package detour

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
)

// TestFromLossyIsEstimate: counts of single sessions add up to what an estimate over
// all of them says, where each has its null from itself.
func TestFromLossyIsEstimate(t *testing.T) {
	t.Parallel()
	recs, plans := pooledExample(t)
	rates := Orientation()

	var all []target
	var counted []Lossy
	for i := range recs {
		e := NewEstimator(recs[i:i+1], rates)
		all = append(all, e.targets(0, plans[i])...)
		counted = append(counted, CountLossy(recs[i], plans[i])[0]...)
	}
	require.NotEmpty(t, all)
	want := (&Estimator{rates: rates}).sumUp(all)
	for _, order := range [][]Lossy{counted, backwards(counted)} {
		got := FromLossy(order, rates)
		require.NotNil(t, got)
		assert.InDelta(t, want.Expected, got.Expected, 1e-9)
		assert.InDelta(t, want.Low, got.Low, 1e-9)
		assert.InDelta(t, want.High, got.High, 1e-9)
		assert.Equal(t, want.Evidence.Edits, got.Evidence.Edits)
		assert.Equal(t, want.Evidence.LaterUsed, got.Evidence.LaterUsed)
		assert.InDelta(t, *want.Evidence.NullRate, *got.Evidence.NullRate, 1e-12)
		assert.InDelta(t, *want.Evidence.BaseRate, *got.Evidence.BaseRate, 1e-12)
		assert.Equal(t, want.Evidence.Truncations, got.Evidence.Truncations)
	}
	assert.Nil(t, FromLossy(nil, rates), "nothing cut, nothing to come back for")
}

// TestFromCountsIsFromLogs: so do the outputs that base rates are fitted on.
func TestFromCountsIsFromLogs(t *testing.T) {
	t.Parallel()
	recs, _ := pooledExample(t)
	var seen []Seen
	for _, rec := range recs {
		seen = append(seen, CountSeen(rec)...)
	}
	assert.Equal(t, FromLogs(recs), FromCounts(seen, int64(len(recs))))
	assert.Equal(t, FromCounts(seen, 3), FromCounts(backwards(seen), 3))

	many := []Seen{}
	for _, n := range seen {
		n.Cases, n.Recoveries = 40*n.Cases, 40*n.Recoveries
		many = append(many, n)
	}
	many = append(many, Seen{Agent: "freecode", Kind: "log", Band: "<2K", Marker: "middle", Cases: 60, Recoveries: 20}, Seen{Agent: "freecode", Kind: "log", Band: "<2K", Cases: 60, Recoveries: 6})
	assert.Equal(t, int64(3), FromCounts(many, 3).Sessions, "enough cases: rates of these logs")
}

func backwards[T any](list []T) []T {
	out := make([]T, 0, len(list))
	for i := range list {
		out = append(out, list[len(list)-1-i])
	}
	return out
}

// pooledExample is three sessions: one comes back for what was cut, one has said it
// before, one does neither.
func pooledExample(t *testing.T) (recs []replay.Recording, plans []replay.Plan) {
	for i, turns := range [][]turn{
		{{calls: []act{sh("make").truncated().gave("first lines of a build log, port 48123")}}, {said: "port 48123 is taken", calls: []act{sh("make | tail -5").gave("done")}}, {said: "so"}},
		{{said: "is it port 51007?", calls: []act{readFile("src/a.go", "").gave("listen on 51007 always")}}, {said: "no"}, {said: "so"}},
		{{calls: []act{grep("needle", "src").gave("src/b.go: a needle in some hay")}}, {said: "nothing"}, {said: "so"}},
	} {
		s := sessionOf(t, string(rune('a'+i)), "find the port", turns...)
		recs = append(recs, recordingOf(s))
		plans = append(plans, replay.Plan{Edits: []replay.Edit{cutTo(t, s, 0, "cut")}})
	}
	return recs, plans
}
