package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/fleet"
)

// TestIntervalsThatTellNothing: where no two clusters differ, or one is most of all,
// bounds are unknown, and never a certainty of 0 width.
func TestIntervalsThatTellNothing(t *testing.T) {
	for name, c := range map[string]struct {
		of         fleet.Interval
		cell, note string
	}{
		"bounded":  {fleet.Interval{Low: 0.1, High: 0.2, Error: 0.02, Clusters: 40, Effective: 30}, "10.0 % to 20.0 %", ""},
		"alike":    {fleet.Interval{Clusters: 44, Effective: 40}, term.Unknown, "no interval: all 44 clusters show the same share, which tells nothing of others"},
		"one most": {fleet.Interval{Low: -3, High: 3, Error: 1, Clusters: 5, Effective: 1.1}, term.Unknown, "no interval: 5 clusters weigh as much as 1.1 of equal size"},
	} {
		assert.Equal(t, plain(c.cell), rangeIn(&c.of), name)
		notes := fleetNotes(fleet.Variant{Share: &c.of})
		if c.note == "" {
			assert.Empty(t, notes, name)
			continue
		}
		assert.Equal(t, []string{c.note}, notes, name)
	}
}
