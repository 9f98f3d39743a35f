package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
)

// The empty plan is the recording, request by request.
func TestEmptyPlanIsTheRecording(t *testing.T) {
	for _, folder := range []string{"freecode", "codex", "claude"} {
		t.Run(folder, func(t *testing.T) {
			path := devdata.Dir(t, folder)
			e := engine(t)
			for _, rec := range recordings(t, path) {
				o := e.Evaluate(rec, Plan{}, true)
				require.Len(t, o.Requests, len(rec.Session.Requests))
				var input, read, write, output int64
				for i, r := range rec.Session.Requests {
					got := o.Requests[i]
					require.Equal(t, rec.Sizes.Requests[i].Counted, got.Counted)
					require.Equal(t, r.Usage.Input, got.Input)
					require.Equal(t, r.Usage.Output, got.Output)
					if r.Usage.Input != nil {
						require.Equal(t, r.Usage.CacheRead, got.CacheRead)
						require.Equal(t, r.Usage.CacheWrite, got.CacheWrite)
					}
					if !r.Inherited {
						input += value(r.Usage.Input)
						read += value(r.Usage.CacheRead)
						write += value(r.Usage.CacheWrite)
						output += value(r.Usage.Output)
					}
				}
				assert.Equal(t, input, value(o.Total.InputTokens))
				assert.Equal(t, read, value(o.Total.CacheReadTokens))
				assert.Equal(t, write, value(o.Total.CacheWriteTokens))
				assert.Equal(t, output, value(o.Total.OutputTokens))
				assert.Zero(t, value(o.CacheReadLost))
				assert.Empty(t, o.Contributions)
			}
		})
	}
}

// Not a check of values, which depend on the logs at hand: the error must be
// reported, and be bearable where the provider follows its own rules.
func TestCacheErrorOnRealLogs(t *testing.T) {
	for _, folder := range []string{"freecode", "codex", "claude"} {
		t.Run(folder, func(t *testing.T) {
			recs := recordings(t, devdata.Dir(t, folder))
			r, err := engine(t).Run(t.Context(), recs, nil, RunOptions{})
			require.NoError(t, err)
			c := r.CacheModel
			require.Positive(t, c.Requests)
			t.Logf("%d requests, median %.0f tokens off, %.1f %% within 2 %% of the input, residual %d of %d read", c.Requests, *c.MedianTokens, 100**c.WithinPercent, *c.Residual, *r.Baseline.CacheReadTokens)
			for _, f := range c.Families {
				t.Logf("%s: lifetime %d s, front share %.2f, fitted on %d", f.Name, f.LifetimeS, f.FrontShare, f.Fitted)
			}
			assert.Greater(t, *c.WithinPercent, 0.75)
		})
	}
}
