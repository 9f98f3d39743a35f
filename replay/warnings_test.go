package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// warned replays sessions a, b, c … whose plans warn of what is given for each.
func warned(t *testing.T, texts ...[]string) []string {
	var recs []Recording
	byID := map[string][]string{}
	for i, list := range texts {
		rec := three(time.Minute).recording(t)
		rec.Session.ID = string(rune('a' + i))
		byID[rec.Session.ID] = list
		recs = append(recs, rec)
	}
	v := Variant{Name: "v", Plan: func(v View, _ Values) Plan { return Plan{Warnings: byID[v.Session.ID]} }}
	r, err := handEngine(t).Run(t.Context(), recs, []Use{{Name: "v", Steps: []Step{{Variant: v}}}}, RunOptions{})
	require.NoError(t, err)
	return r.Variants[0].Warnings
}

// What plans warn of names its session where there are several; equal words are one
// line that says for how many sessions it holds.
func TestWarningsNameTheirSessions(t *testing.T) {
	assert.Equal(t, []string{"3 polls", "late"}, warned(t, []string{"3 polls", "late", "3 polls"}), "one session needs no name")
	assert.Equal(t, []string{"3 polls"}, warned(t, []string{"session a: 3 polls"}), "nor does it where the plan gives one")
	assert.Equal(t, []string{
		"in 2 of 4 sessions: 3 polls",
		"session a: late",
		"session b: 1 poll",
		"in 3 of 4 sessions: odd",
	}, warned(t, []string{"3 polls", "late"}, []string{"1 poll", "odd"}, []string{"3 polls", "session c: odd"}, []string{"odd"}))
}

// One session without usage hides the sums of all, so it is counted.
func TestSilentSessionsAreCounted(t *testing.T) {
	var recs []Recording
	for i := range 3 {
		rec := three(time.Minute).recording(t)
		if i == 1 {
			for k := range rec.Session.Requests {
				rec.Session.Requests[k].Usage = rollout.Usage{}
			}
		}
		recs = append(recs, rec)
	}
	r, err := handEngine(t).Run(t.Context(), recs, []Use{fixed("v", Plan{Edits: []Edit{edit(0, 1, 999)}}), fixed("idle", Plan{})}, RunOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"1 of 3 sessions holds no usage: the saving is known as counted tokens alone"}, r.Variants[0].Warnings)
	assert.Nil(t, r.Variants[0].StaticSavingTokens)
	assert.Empty(t, r.Variants[1].Warnings, "nothing changed: nothing to say")
}
