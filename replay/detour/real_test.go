package detour

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/replay"
)

// recordings reads every log below the folders named. Sizes are not needed here.
func recordings(t testing.TB, folders ...string) []replay.Recording {
	t.Helper()
	var recs []replay.Recording
	for _, folder := range folders {
		root := devdata.Dir(t, folder)
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			isLog := strings.HasSuffix(path, ".jsonl") && (folder != "freecode" || filepath.Base(path) == "events.jsonl")
			if err != nil || d.IsDir() || !isLog || strings.Contains(path, "/subagents/") {
				return err
			}
			for _, s := range readLog(t, path) {
				recs = append(recs, replay.Recording{Session: s})
			}
			return nil
		}))
	}
	return recs
}

func TestRatesOfRealLogs(t *testing.T) {
	recs := recordings(t, "codex", "claude", "freecode")
	r := Calibrate(recs)
	for _, s := range append(r.Strata, r.Overall) {
		t.Logf("%-12s %-7s %-8s %-11s %3d/%3d %.2f [%.2f %.2f] null %4d/%4d %.2f [%.2f %.2f] net %.2f [%.2f %.2f]",
			s.Agent, s.Kind, s.Band, s.Marker, s.Recoveries, s.Cases, s.Rate, s.Low, s.High,
			s.NullRecoveries, s.NullCases, s.NullRate, s.NullLow, s.NullHigh, s.Net, s.NetLow, s.NetHigh)
		assert.True(t, s.sane())
	}
	t.Logf("prior %.1f, null prior %.1f, %+v", r.PriorCases, r.NullPriorCases, *r.Calibration)
	assert.Greater(t, r.Overall.Cases, int64(40))
}
