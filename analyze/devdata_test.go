package analyze

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

// openLogs imports real logs and opens them.
func openLogs(t *testing.T, paths ...string) *DB {
	t.Helper()
	ctx := context.Background()
	files, _, err := formats.Expand(ctx, paths)
	require.NoError(t, err)
	var inputs []dataset.Input
	for _, f := range files {
		inputs = append(inputs, dataset.Input{Path: f.Path, Read: func(ctx context.Context) ([]*rollout.Session, error) {
			return f.Format.Read(ctx, f.Path)
		}})
	}
	dir := t.TempDir()
	summary, err := dataset.Import(ctx, dir, inputs, dataset.Options{})
	require.NoError(t, err)
	require.Empty(t, summary.Failed)
	db, err := Open(ctx, Options{Dataset: dir})
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestLogsAddUp(t *testing.T) {
	for _, folder := range []string{"codex", "claude", "freecode"} {
		t.Run(folder, func(t *testing.T) {
			db := openLogs(t, devdata.Dir(t, folder))
			spans, requests := sums(t, db)
			assert.Equal(t, requests, spans)

			a, err := RunAudit(context.Background(), db)
			require.NoError(t, err)
			billed := 0.0
			for _, s := range a.Composition {
				billed += *s.BilledTokens
			}
			input := float64(*a.Totals.InputTokens)
			assert.InEpsilon(t, input, billed, 1e-4, "all rows of the composition are the recorded input")
			for _, s := range a.Savings {
				assert.LessOrEqual(t, *s.Share, 1.0, s.Technique)
				assert.GreaterOrEqual(t, *s.AddressableCarriedTokens, int64(0), s.Technique)
			}
		})
	}
}

// The question and the reference in Go must say the same, session by session.
func TestExplainedEqualsItsReference(t *testing.T) {
	ctx := context.Background()
	var values []float64
	for _, folder := range []string{"codex", "claude", "freecode"} {
		path := devdata.Dir(t, folder)
		got := map[[2]string]map[string]any{}
		for _, row := range ask(t, openLogs(t, path), "explained", Params{}) {
			model, _ := row["model"].(string)
			got[[2]string{row["session_id"].(string), model}] = row
		}
		files, _, err := formats.Expand(ctx, []string{path})
		require.NoError(t, err)
		counter := tokens.New()
		for _, f := range files {
			sessions, err := f.Format.Read(ctx, f.Path)
			require.NoError(t, err)
			for _, s := range sessions {
				m := measure.Measure(s, counter)
				for _, c := range m.Calibration {
					row, ok := got[[2]string{s.ID, c.Model}]
					if !ok || c.Kind != "" || c.Fit != measure.FitAll {
						continue
					}
					want := measure.Explained(s, m, c.Model)
					leftOut := 0
					for _, n := range want.LeftOut {
						leftOut += n
					}
					assert.Equal(t, int64(want.Pairs), row["pairs"], s.ID)
					assert.Equal(t, int64(leftOut), row["left_out"], s.ID)
					if want.Explained == nil {
						assert.Nil(t, row["explained"], s.ID)
						continue
					}
					assert.InDelta(t, *want.Explained, row["explained"], 1e-9, s.ID)
					values = append(values, *want.Explained)
					if *want.Explained < 0.8 {
						assert.NotNil(t, row["cause"], s.ID)
					}
				}
			}
		}
	}
	slices.Sort(values)
	assert.GreaterOrEqual(t, values[len(values)/2], 0.9)
}

// The expected figures are added up here from the events alone: what a request
// read from the cache, against the input of the one before it.
func TestCacheBreaksOfALargeSession(t *testing.T) {
	path := devdata.Dir(t, "freecode", "large-seven", "freecode", "rollout", "sessions", "b4d6d881-2641-4c29-9423-d486cbc38aea", "events.jsonl")
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	type tally struct{ requests, lost int64 }
	var inRun, atBorder tally
	total, before, first := int64(0), int64(-1), false
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, len(log)+1)
	for lines.Scan() {
		var e struct {
			Type, TurnID                 string
			InputTokens, CacheReadTokens int64
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		switch e.Type {
		case "model.request":
			first = e.TurnID == "turn-0"
		case "model.response":
			total += e.InputTokens
			if lost := before - e.CacheReadTokens; before >= 0 && lost > 256 {
				sum := &inRun
				if first {
					sum = &atBorder
				}
				sum.requests++
				sum.lost += lost
			}
			before = e.InputTokens
		}
	}
	require.NoError(t, lines.Err())
	assert.InDelta(t, 0.408, float64(inRun.lost)/float64(total), 0.005)
	assert.InDelta(t, 0.007, float64(atBorder.lost)/float64(total), 0.002)

	a, err := RunAudit(context.Background(), openLogs(t, path))
	require.NoError(t, err)
	require.Len(t, a.CacheBreaks, 2)
	assert.Equal(t, "block-before-conversation", a.CacheBreaks[0].Cause)
	assert.Equal(t, inRun, tally{a.CacheBreaks[0].Requests, a.CacheBreaks[0].LostTokens})
	assert.Equal(t, "run-border", a.CacheBreaks[1].Cause)
	assert.Equal(t, atBorder, tally{a.CacheBreaks[1].Requests, a.CacheBreaks[1].LostTokens})
}
