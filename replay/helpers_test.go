package replay

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

// recordings reads and measures the logs below some paths.
func recordings(t testing.TB, paths ...string) []Recording {
	t.Helper()
	ctx := context.Background()
	files, _, err := formats.Expand(ctx, paths)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	counts := tokens.New()
	var out []Recording
	for _, f := range files {
		sessions, err := f.Format.Read(ctx, f.Path)
		require.NoError(t, err, f.Path)
		for _, s := range sessions {
			out = append(out, Recording{Session: s, Sizes: measure.Measure(s, counts)})
		}
	}
	return out
}

// everyFormat reads all small sessions there are, by format: new folders come in by
// themselves.
func everyFormat(t testing.TB) map[string][]Recording {
	t.Helper()
	root := filepath.Join("..", "testdata")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	out := map[string][]Recording{}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if _, _, err := formats.Expand(context.Background(), []string{dir}); errors.Is(err, formats.ErrNothing) {
			continue
		}
		for _, rec := range recordings(t, dir) {
			out[rec.Session.Source] = append(out[rec.Session.Source], rec)
		}
	}
	return out
}

// engine counts with the real tokenizers and has the built-in prices.
func engine(t testing.TB) *Engine {
	t.Helper()
	counts := tokens.New()
	book, err := pricing.Load()
	require.NoError(t, err)
	cache, err := DefaultCache()
	require.NoError(t, err)
	return &Engine{Count: counts.Count, Cache: cache, Price: func(provider, model string) (Rates, bool) {
		p, ok := book.Lookup(provider, model)
		if !ok {
			return Rates{}, false
		}
		rates := ratesFrom(p.Rates)
		if p.LongContext != nil {
			long := ratesFrom(p.LongContext.Rates)
			rates.LongAbove, rates.Long = &p.LongContext.AboveInputTokens, &long
		}
		return rates, true
	}}
}

func ratesFrom(r pricing.Rates) Rates {
	r = r.Effective()
	return Rates{Input: *r.Input, CacheRead: *r.CacheRead, CacheWrite5m: *r.CacheWrite5m, CacheWrite1h: *r.CacheWrite1h, Output: *r.Output}
}

func ptr[T any](v T) *T { return &v }
