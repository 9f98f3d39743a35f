package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
