package fleet_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/detour"
	"github.com/fclog/fclog/replay/fleet"
	"github.com/fclog/fclog/replay/variants"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

func recordings(t *testing.T) []replay.Recording {
	t.Helper()
	counts := tokens.New()
	var out []replay.Recording
	for _, folder := range []string{"codex", "claude-code", "freecode", "opencode"} {
		files, _, err := formats.Expand(t.Context(), []string{filepath.Join("..", "..", "testdata", folder)})
		require.NoError(t, err)
		for _, f := range files {
			sessions, err := f.Format.Read(context.Background(), f.Path)
			require.NoError(t, err, f.Path)
			for _, s := range sessions {
				out = append(out, replay.Recording{Session: s, Sizes: measure.Measure(s, counts)})
			}
		}
	}
	require.Greater(t, len(out), 10)
	return out
}

func engine(t *testing.T) *replay.Engine {
	t.Helper()
	book, err := pricing.Load()
	require.NoError(t, err)
	cache, err := replay.DefaultCache()
	require.NoError(t, err)
	return &replay.Engine{Count: tokens.New().Count, Cache: cache, Price: func(provider, model string) (replay.Rates, bool) {
		p, ok := book.Lookup(provider, model)
		if !ok {
			return replay.Rates{}, false
		}
		r := p.Rates.Effective()
		return replay.Rates{Input: *r.Input, CacheRead: *r.CacheRead, CacheWrite5m: *r.CacheWrite5m, CacheWrite1h: *r.CacheWrite1h, Output: *r.Output}, true
	}}
}

func uses(t *testing.T, specs ...string) []replay.Use {
	t.Helper()
	var out []replay.Use
	for _, spec := range specs {
		use, err := variants.ParseWith(nil, spec)
		require.NoError(t, err)
		out = append(out, use)
	}
	return out
}

// TestFleetIsTheSumOfItsSessions: every figure of a fleet is that of its sessions
// replayed alone, added up, whatever the order.
func TestFleetIsTheSumOfItsSessions(t *testing.T) {
	t.Parallel()
	recs, e := recordings(t), engine(t)
	list := uses(t, "cap:max=200", "mask:keep=1,batch=1", "inline-batching", "drop-unused-tools", "no-line-numbers+cap:max=200")
	rows := make([][]fleet.Row, len(list))
	want := make([]replay.Estimate, len(list))
	var recorded int64
	for _, rec := range recs {
		alone, err := e.Run(t.Context(), []replay.Recording{rec}, list, replay.RunOptions{})
		require.NoError(t, err)
		if in := alone.Baseline.InputTokens; in != nil {
			recorded += *in
		}
		one, err := fleet.Rows(t.Context(), e, rec, list)
		require.NoError(t, err)
		for u := range list {
			one[u].Root = one[u].ID
			rows[u] = append(rows[u], one[u])
			w, x := &want[u], alone.Variants[u]
			add(&w.StaticSavingTokens, x.StaticSavingTokens)
			add(&w.StaticSavingTokensHigh, x.StaticSavingTokensHigh)
			add(&w.StaticSavingOutputTokens, x.StaticSavingOutputTokens)
			add(&w.StaticSavingUSD, x.StaticSavingUSD)
			w.SavedCountedTokens += x.SavedCountedTokens
			w.EditedItems += x.EditedItems
			w.RemovedRequestsLow += x.RemovedRequestsLow
			w.RemovedRequestsHigh += x.RemovedRequestsHigh
			w.ClampedRequests += x.ClampedRequests
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for u, use := range list {
		var first fleet.Result
		for try := range 3 {
			random.Shuffle(len(rows[u]), func(i, j int) { rows[u][i], rows[u][j] = rows[u][j], rows[u][i] })
			got := resultOf(use, rows[u])
			if try == 0 {
				first = got
			}
			assert.Equal(t, first, got, "in another order")
		}
		assert.Equal(t, recorded, *first.Baseline.InputTokens, use.Name)
		g, w := first.Estimate, want[u]
		if g.Unsupported != nil {
			continue
		}
		assert.Equal(t, orZero(w.StaticSavingTokens), orZero(g.StaticSavingTokens), use.Name)
		assert.Equal(t, orZero(w.StaticSavingTokensHigh), orZero(g.StaticSavingTokensHigh), use.Name)
		assert.Equal(t, orZero(w.StaticSavingOutputTokens), orZero(g.StaticSavingOutputTokens), use.Name)
		assert.InDelta(t, orZero(w.StaticSavingUSD), orZero(g.StaticSavingUSD), 1e-9*float64(len(recs)), use.Name)
		assert.Equal(t, w.SavedCountedTokens, g.SavedCountedTokens, use.Name)
		assert.Equal(t, w.EditedItems, g.EditedItems, use.Name)
		assert.Equal(t, w.RemovedRequestsLow, g.RemovedRequestsLow, use.Name)
		assert.Equal(t, w.RemovedRequestsHigh, g.RemovedRequestsHigh, use.Name)
		assert.Equal(t, w.ClampedRequests, g.ClampedRequests, use.Name)
		checkParts(t, first)
	}
}

// checkParts: winners, losers and the unchanged are all, and the strata of every kind
// that all sessions are in add up to the whole.
func checkParts(t *testing.T, r fleet.Result) {
	t.Helper()
	v := r.Fleet
	assert.Equal(t, v.Known, v.Winners+v.Losers+v.Unchanged)
	sums := map[string]int64{}
	for _, s := range v.Strata {
		sums[s.By] += s.Saving
	}
	assert.Equal(t, orZero(r.Estimate.StaticSavingTokens), sums["agent"])
	assert.Equal(t, orZero(r.Estimate.StaticSavingTokens), sums["length"])
	if v.Share != nil {
		assert.InDelta(t, *r.Estimate.StaticSavingShare, v.Share.Ratio, 0.02, "but for sessions without usage")
	}
}

func resultOf(use replay.Use, rows []fleet.Row) fleet.Result {
	s := fleet.NewSum(use)
	lossy := []detour.Lossy{}
	for _, r := range rows {
		s.Add(r)
		lossy = append(lossy, r.Lossy...)
	}
	return s.Result(fleet.Setting{Population: int64(len(rows)), Lossy: lossy, Rates: detour.Orientation(), Top: 3})
}

func add[T int64 | float64](sum **T, v *T) {
	if v == nil {
		return
	}
	if *sum == nil {
		*sum = new(T)
	}
	**sum += *v
}

func orZero[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}

// TestByHand: three sessions of 100, 200 and 700 input tokens that save 10, -20 and
// 350: 340 of 1000; one loses, two win; the median share is that of 10 in 100.
func TestByHand(t *testing.T) {
	t.Parallel()
	row := func(id, root, task string, input, saved, usd int64) fleet.Row {
		return fleet.Row{
			Session:  fleet.Session{Source: "codex", ID: id, Root: root, Task: task, Model: "m"},
			Recorded: fleet.Figures{Requests: input / 10, Input: &input, USD: new(int64(input * 1000))},
			Variant:  fleet.Figures{Requests: input / 10, Input: new(input - saved), USD: new(int64(input*1000 - usd))},
			Tokens:   &saved, TokensHigh: &saved, USD: &usd, USDHigh: &usd, Edited: 1, Basis: "counted",
			ExtraKnown: 1, ExtraTokens: 50,
		}
	}
	r := resultOf(uses(t, "cap:max=10")[0], []fleet.Row{
		row("a", "a", "t1", 100, 10, 5), row("b", "b", "t2", 200, -20, 7), row("c", "c", "t1", 700, 350, 9),
	})
	assert.Equal(t, int64(340), *r.Estimate.StaticSavingTokens)
	assert.InDelta(t, 0.34, *r.Estimate.StaticSavingShare, 1e-12)
	assert.InDelta(t, 21e-9, *r.Estimate.StaticSavingUSD, 1e-18)
	assert.InDelta(t, 21.0/(1000*1000), *r.Estimate.StaticSavingUSDShare, 1e-12)
	assert.InDelta(t, 340.0/(150.0/3), *r.Estimate.BreakEvenRequestsTokens, 1e-12)
	v := r.Fleet
	assert.Equal(t, []int64{3, 2, 1, 0}, []int64{v.Known, v.Winners, v.Losers, v.Unchanged})
	assert.InDelta(t, 0.1, v.Shares.Median, 1e-12, "shares are 0.1, -0.1 and 0.5")
	assert.InDelta(t, 0.1+0.8*0.4, v.Shares.P90, 1e-12, "rank 0.9 × 2 lies 0.8 of the way from 0.1 to 0.5")
	assert.Equal(t, 2, v.Share.Clusters, "a and c are of one task")
	assert.InDelta(t, 1.0, v.Share.High, 1e-12, "no more than all is saved, however wide the interval")
	assert.Equal(t, "c", v.Most[0].SessionID)
	assert.Equal(t, "b", v.Worst[0].SessionID)
	assert.Len(t, v.Worst, 1)
	assert.InDelta(t, 350.0/360, *v.TopShare, 1e-12, "a tenth of three is one")
	assert.Nil(t, v.SampleError)
}

// TestSubAgentsBelongToTheirTask: what a sub-agent saves is drawn with its root.
func TestSubAgentsBelongToTheirTask(t *testing.T) {
	t.Parallel()
	row := func(id, root, task string) fleet.Row {
		return fleet.Row{Session: fleet.Session{Source: "s", ID: id, Root: root, Task: task}, Recorded: fleet.Figures{Requests: 1, Input: new(int64(10))}, Tokens: new(int64(1)), Basis: "counted"}
	}
	r := resultOf(uses(t, "cap")[0], []fleet.Row{row("a", "a", "t"), row("a1", "a", ""), row("b", "b", "t"), row("c", "c", ""), row("c1", "c", "")})
	assert.Equal(t, 2, r.Fleet.Share.Clusters, "task t with a's sub-agent, and c with its own")
}

// TestOptionsAreCanonical: the same settings have the same name, whoever gave them.
func TestOptionsAreCanonical(t *testing.T) {
	t.Parallel()
	a, b := uses(t, "mask:keep=5,batch=10")[0], uses(t, "mask:batch=10,keep=5")[0]
	assert.Equal(t, fleet.Options(a), fleet.Options(b))
	assert.JSONEq(t, `[{"variant":"mask","values":{"keep":"5","batch":"10"}}]`, fleet.Options(a))
	assert.NotEqual(t, fleet.Options(a), fleet.Options(uses(t, "mask:keep=6,batch=10")[0]))
}
