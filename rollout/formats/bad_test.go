package formats

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

const bad = "../../testdata/bad"

// TestBadFiles: what each file of testdata/bad gives. The good one has two
// requests, 1000 + 1100 tokens in, 20 + 15 out, 0 + 896 from the cache, one call.
func TestBadFiles(t *testing.T) {
	type total struct{ requests, answered, input, output, cacheRead, calls int64 }
	whole := total{2, 2, 2100, 35, 896, 1}
	for _, c := range []struct {
		file     string
		want     total
		problems []string // LINE:KIND×COUNT
	}{
		{"good.jsonl", whole, nil},
		{"cut-last-line.jsonl", total{2, 1, 1000, 20, 0, 1}, []string{"7:cut-line×1"}},
		{"broken-middle-line.jsonl", whole, []string{"5:bad-json×1"}},
		{"nul-tail.jsonl", whole, []string{"9:nul-bytes×1"}},
		{"nul-after-record.jsonl", whole, []string{"3:nul-bytes×1"}},
		{"byte-order-mark.jsonl", whole, nil},
		{"blanks-after-colons.jsonl", whole, nil},
		{"lone-surrogate.jsonl", whole, nil},
		{"invalid-utf8.jsonl", whole, []string{"5:invalid-utf8×1"}},
		{"several-on-one-line.jsonl", whole, nil},
		{"unknown-events.jsonl", whole, []string{"9:unknown-record×2", "11:unknown-record×1"}},
		{"missing-usage.jsonl", total{2, 2, 1000, 20, 0, 1}, []string{"7:response-without-usage×1"}},
		{"cut.jsonl.gz", total{2, 1, 1000, 20, 0, 1}, []string{"0:truncated-file×1", "7:cut-line×1"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join(bad, c.file)
			format, err := Detect(path)
			require.NoError(t, err)
			sessions, err := format.Read(context.Background(), path)
			require.NoError(t, err)
			require.Len(t, sessions, 1)
			s := sessions[0]
			got := total{requests: int64(len(s.Requests)), calls: int64(len(s.Calls))}
			for _, r := range s.Requests {
				if r.Status == rollout.Answered {
					got.answered++
				}
				got.input += value(r.Usage.Input)
				got.output += value(r.Usage.Output)
				got.cacheRead += value(r.Usage.CacheRead)
			}
			assert.Equal(t, c.want, got)
			// Problems of the format itself (a call without its result) may come on top.
			var problems []string
			for _, p := range s.Problems {
				problems = append(problems, fmt.Sprintf("%d:%s×%d", p.Line, p.Kind, p.Count))
			}
			for _, want := range c.problems {
				assert.Contains(t, problems, want)
			}
			if c.problems == nil {
				assert.Empty(t, problems)
			}
		})
	}
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func TestBadFilesThatAreNoLogs(t *testing.T) {
	for _, c := range []struct {
		file string
		is   error
		says string
	}{
		{"empty.jsonl", logfile.ErrNotLog, "the file is empty"},
		{"blank.jsonl", logfile.ErrNotLog, "only blanks"},
		{"binary.jsonl", logfile.ErrNotLog, "binary data"},
		{"prose.jsonl", logfile.ErrNotLog, "no line of it is a JSON object"},
		{"lfs-pointer.jsonl", logfile.ErrNotLog, "git lfs pull"},
		{"unknown.jsonl", ErrUnknown, "the first record has keys event, payload; fclog reads " + All().titles()},
	} {
		path := filepath.Join(bad, c.file)
		_, err := Detect(path)
		require.ErrorIs(t, err, c.is, c.file)
		assert.ErrorContains(t, err, c.says, c.file)
		_, _, err = Expand(context.Background(), []string{path})
		require.ErrorIs(t, err, ErrNothing, c.file)
		assert.ErrorContains(t, err, path)
	}
	_, _, err := Expand(context.Background(), []string{filepath.Join(bad, "no-logs")})
	require.ErrorIs(t, err, ErrNothing)
	assert.ErrorContains(t, err, "none of the 2 files")
}
