package detour

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
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

// capAll cuts every long result to its ends from the start.
func capAll(s *rollout.Session) replay.Plan {
	calls := map[int]int{}
	for i, c := range s.Calls {
		calls[c.ResultItem] = i
	}
	var p replay.Plan
	for i, sp := range s.Spans {
		text := s.Texts[sp.Text].S
		call, ok := calls[sp.Item]
		if !ok || sp.Item < 0 || len(text) < 4000 {
			continue
		}
		cut := strings.ToValidUTF8(text[:1500]+"\n[…]\n"+text[len(text)-500:], "")
		p.Edits = append(p.Edits, replay.Edit{Span: i, From: sp.First, Text: cut, Call: call, Lossy: true, Why: "cap"})
	}
	return p
}

func TestEstimateOfRealLogs(t *testing.T) {
	recs := recordings(t, "codex", "claude")
	plans := make([]replay.Plan, len(recs))
	edits := 0
	for i, rec := range recs {
		plans[i] = capAll(rec.Session)
		edits += len(plans[i].Edits)
	}
	start := time.Now()
	e := NewEstimator(recs, FromLogs(recs))
	d := e.Estimate(plans)
	first := time.Since(start)
	start = time.Now()
	again := e.Estimate(plans)
	t.Logf("%d sessions, %d edits, %v then %v: %+v, null %.2f, base %.2f", len(recs), edits, first, time.Since(start), *d, *d.Evidence.NullRate, *d.Evidence.BaseRate)
	assert.Equal(t, d, again)
	assert.LessOrEqual(t, d.Low, d.Expected)
	assert.LessOrEqual(t, d.Expected, d.High)
	assert.LessOrEqual(t, d.High, float64(d.Evidence.Edits))
	assert.Less(t, *d.Evidence.NullRate, float64(d.Evidence.LaterUsed)/float64(d.Evidence.Edits))
}
