package pricing

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// usd shows rates as input, cache read, 5 minute write, 1 hour write, output;
// -1 is nil.
func usd(r Rates) [5]float64 {
	var out [5]float64
	for i, v := range []*float64{r.Input, r.CacheRead, r.CacheWrite5m, r.CacheWrite1h, r.Output} {
		out[i] = -1
		if v != nil {
			out[i] = *v
		}
	}
	return out
}

func TestBuiltIn(t *testing.T) {
	b, err := Load()
	require.NoError(t, err)
	for _, c := range []struct {
		provider, model string
		want            [5]float64
	}{
		{"anthropic", "claude-opus-4-6", [5]float64{5, 0.5, 6.25, 10, 25}},
		{"", "claude-opus-4-6[1m]", [5]float64{5, 0.5, 6.25, 10, 25}},
		{"anthropic", "claude-opus-4-5-20251101", [5]float64{5, 0.5, 6.25, 10, 25}},
		{"a gateway", "claude-haiku-4-5-20251001", [5]float64{1, 0.1, 1.25, 2, 5}},
		{"openai", "gpt-5.3-codex", [5]float64{1.75, 0.175, -1, -1, 14}},
		{"minimax", "MiniMax-M3", [5]float64{0.3, 0.06, -1, -1, 1.2}},
	} {
		p, ok := b.Lookup(c.provider, c.model)
		require.True(t, ok, c.model)
		assert.Equal(t, c.want, usd(p.Rates), c.model)
	}
	for _, unknown := range []string{"", "<synthetic>", "(provider default)", "claude-opus-4-6-fast", "gpt-5.3-codex-mini", "claude-opus"} {
		_, ok := b.Lookup("anthropic", unknown)
		assert.False(t, ok, "%q is never matched by prefix", unknown)
	}
}

// TestBuiltInKnowsLoggedIDs has model IDs as agents write them into their logs.
func TestBuiltInKnowsLoggedIDs(t *testing.T) {
	b, err := Load()
	require.NoError(t, err)
	for _, model := range []string{
		"claude-3-5-haiku-20241022", "claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929", "claude-sonnet-4-6", "claude-opus-4-1-20250805",
		"claude-opus-4-5-20251101", "claude-opus-4-6", "claude-opus-4-7", "claude-fable-5", "gpt-5-codex", "gpt-5.1-codex", "gpt-5.1-codex-mini",
		"gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex", "gpt-5.4", "gpt-5.5", "gpt-5.6-sol", "gemini-2.5-pro", "gemini-3-pro-preview",
	} {
		_, ok := b.Lookup("", model)
		assert.True(t, ok, model)
	}
}

// TestBuiltInIsUnambiguous: no ID stands for two models.
func TestBuiltInIsUnambiguous(t *testing.T) {
	var list struct{ Models []entry }
	require.NoError(t, json.Unmarshal(builtIn, &list, json.MatchCaseInsensitiveNames(true)))
	require.NotEmpty(t, list.Models)
	seen := map[string]string{}
	for _, e := range list.Models {
		for _, id := range append([]string{e.Model}, e.Aliases...) {
			assert.Empty(t, seen[id], "%s of %s", id, e.Model)
			seen[id] = e.Model
		}
	}
}

// FuzzLoad: no file makes the reader fail other than with an error, and what is
// loaded is priced.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"p/m": {"input": 3, "output": 4, "cacheRead": 1}}`))
	f.Add([]byte(`{"m": {"litellm_provider": "p", "input_cost_per_token": 3e-06, "output_cost_per_token": 1e-05, "input_cost_per_token_above_200k_tokens": 6e-06}}`))
	f.Add([]byte(`{"p": {"models": {"m": {"cost": {"input": 1, "output": 2, "tiers": [{"input": 2, "output": 3, "tier": {"size": 1}}]}}}}}`))
	f.Add([]byte(`{"models": [{"provider": "p", "model": "m", "input": 1, "output": 2}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &Book{aliases: map[string]string{}}
		if b.override("file", data) != nil {
			return
		}
		for _, p := range b.Rows() {
			require.NotNil(t, p.Input)
			require.NotNil(t, p.CacheWrite1h)
		}
	})
}

// TestBuiltInIsSound checks the rules that hold for every entry by the
// providers' own pages.
func TestBuiltInIsSound(t *testing.T) {
	b, err := Load()
	require.NoError(t, err)
	date := regexp.MustCompile(`^202\d-\d\d-\d\d$`)
	for _, p := range b.Rows() {
		assert.Regexp(t, `^https://`, p.Source, p.Model)
		assert.Regexp(t, date, p.Date, p.Model)
		assert.Less(t, *p.CacheRead, *p.Input, "%s: a cache read is cheaper", p.Model)
		require.NotNil(t, p.CacheWrite1h, "%s: rows have effective rates", p.Model)
		assert.Greater(t, *p.Output, *p.Input, p.Model)
		if p.Provider == "anthropic" {
			assert.InDelta(t, 1.25**p.Input, *p.CacheWrite5m, 1e-9, p.Model)
			assert.InDelta(t, 2**p.Input, *p.CacheWrite1h, 1e-9, p.Model)
		}
		if p.LongContext != nil {
			assert.Greater(t, *p.LongContext.Input, *p.Input, p.Model)
		}
	}
}

func TestRows(t *testing.T) {
	b, err := Load(write(t, `{"me/claude-opus-4-6": {"input": 1, "output": 2}}`))
	require.NoError(t, err)
	found := map[string][5]float64{}
	for _, p := range b.Rows() {
		key := p.Provider + "/" + p.Model
		assert.NotContains(t, found, key, "each key once")
		found[key] = usd(p.Rates)
	}
	own, listed := [5]float64{1, 1, 1, 1, 2}, [5]float64{5, 0.5, 6.25, 10, 25}
	assert.Equal(t, own, found["me/claude-opus-4-6"])
	assert.Equal(t, own, found["me/claude-opus-4-6[1m]"], "an alias follows the override")
	assert.Equal(t, own, found["/claude-opus-4-6"], "the user's own price stands for unknown providers")
	assert.Equal(t, listed, found["anthropic/claude-opus-4-6"], "another provider keeps its own")
	assert.Equal(t, listed, found["anthropic/claude-opus-4-6[1m]"])
	assert.Equal(t, [5]float64{1.75, 0.175, 1.75, 1.75, 14}, found["openai/gpt-5.3-codex"], "writes cost what input does")
}

func TestOverrideFreeCode(t *testing.T) {
	b, err := Load(write(t, `{
		"anthropic/claude-sonnet-4-6": {"input": 2.4, "output": 12, "cacheRead": 0.24, "cacheWrite": 3},
		"local/llama": {"input": 0, "output": 0}}`))
	require.NoError(t, err)
	p, ok := b.Lookup("anthropic", "claude-sonnet-4-6")
	require.True(t, ok)
	assert.Equal(t, [5]float64{2.4, 0.24, 3, 4.8, 12}, usd(p.Rates), "1 hour writes are twice the input price")
	p, ok = b.Lookup("", "llama")
	require.True(t, ok)
	assert.Equal(t, [5]float64{0, -1, -1, -1, 0}, usd(p.Rates), "free is a price")
	p, ok = b.Lookup("minimax", "MiniMax-M3")
	require.True(t, ok, "what a file does not name keeps its price")
	assert.Equal(t, 0.3, *p.Input)
}

func TestOverrideLiteLLM(t *testing.T) {
	b, err := Load(write(t, `{
		"sample_spec": {"litellm_provider": "one of", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0, "max_tokens": "text"},
		"some-image": {"litellm_provider": "openai", "output_cost_per_image": 0.06},
		"claude-x": {"litellm_provider": "anthropic", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
			"cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06,
			"cache_creation_input_token_cost_above_1hr": 6e-06,
			"input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05,
			"cache_read_input_token_cost_above_200k_tokens": null},
		"azure/claude-x": {"litellm_provider": "azure", "input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05}}`))
	require.NoError(t, err)
	p, ok := b.Lookup("", "claude-x")
	require.True(t, ok)
	assert.Equal(t, [5]float64{3, 0.3, 3.75, 6, 15}, usd(p.Rates))
	require.NotNil(t, p.LongContext)
	assert.EqualValues(t, 200_000, p.LongContext.AboveInputTokens)
	assert.Equal(t, [5]float64{6, -1, -1, -1, 22.5}, usd(p.LongContext.Rates))
	p, ok = b.Lookup("azure", "claude-x")
	require.True(t, ok)
	assert.Equal(t, [5]float64{4, -1, -1, -1, 20}, usd(p.Rates))
	_, ok = b.Lookup("openai", "some-image")
	assert.False(t, ok)
}

func TestOverrideModelsDev(t *testing.T) {
	b, err := Load(write(t, `{
		"a-reseller": {"id": "a-reseller", "models": {"gpt-x": {"cost": {"input": 9, "output": 99}}}},
		"openai": {"id": "openai", "models": {
			"gpt-x": {"cost": {"input": 2, "output": 10, "cache_read": 0.2, "cache_write": 2.5,
				"tiers": [{"input": 4, "output": 15, "tier": {"type": "context", "size": 272000}}]}},
			"gpt-old": {"cost": {"input": 1, "output": 2, "context_over_200k": {"input": 2, "output": 3}}},
			"gpt-free": {}}}}`))
	require.NoError(t, err)
	p, ok := b.Lookup("somewhere", "gpt-x")
	require.True(t, ok)
	assert.Equal(t, [5]float64{2, 0.2, 2.5, -1, 10}, usd(p.Rates), "the maker's price, not a reseller's")
	assert.EqualValues(t, 272_000, p.LongContext.AboveInputTokens)
	p, _ = b.Lookup("a-reseller", "gpt-x")
	assert.Equal(t, 9.0, *p.Input)
	p, _ = b.Lookup("openai", "gpt-old")
	assert.EqualValues(t, 200_000, p.LongContext.AboveInputTokens)
	_, ok = b.Lookup("openai", "gpt-free")
	assert.False(t, ok, "no price is not a price of 0")
}

func TestOverrideOwnShapeAndOrder(t *testing.T) {
	first := write(t, `{"models": [{"provider": "p", "model": "m", "aliases": ["m-1"], "input": 1, "output": 2, "date": "2026-01-01"}]}`)
	second := write(t, `{"p/m": {"input": 3, "output": 4}}`)
	b, err := Load(first, second)
	require.NoError(t, err)
	p, ok := b.Lookup("p", "m-1")
	require.True(t, ok)
	assert.Equal(t, 3.0, *p.Input, "the last file decides")
	assert.Equal(t, second, p.Source)
}

func TestOverrideErrors(t *testing.T) {
	for _, c := range []struct{ name, content, says string }{
		{"not JSON", `input: 3`, "not a JSON object of prices"},
		{"a list", `[1]`, "not a JSON object of prices"},
		{"no prices", `{"name": "x", "version": {"major": 1}}`, "no prices found"},
		{"empty", `{}`, "no prices found"},
		{"text for a number", `{"p/m": {"input": "3", "output": 4}}`, `"p/m"`},
		{"no output", `{"p/m": {"input": 3}}`, `"p/m": input or output price missing`},
		{"negative", `{"p/m": {"input": -3, "output": 1}}`, "not in USD per million"},
		{"per token, not per million", `{"p/m": {"input_cost_per_token": 3, "output_cost_per_token": 15, "litellm_provider": "p"}}`, `"p/m": price 3e+06`},
		{"bad tier", `{"p": {"models": {"m": {"cost": {"input": 1, "output": 1, "tiers": [{"input": 1, "output": 1}]}}}}}`, `"p": "m": long context price without a threshold`},
		{"own list without model", `{"models": [{"input": 1, "output": 1}]}`, "models[0]: no provider or model"},
	} {
		path := write(t, c.content)
		_, err := Load(path)
		require.Error(t, err, c.name)
		assert.ErrorContains(t, err, c.says, c.name)
		assert.ErrorContains(t, err, path, c.name)
	}
	_, err := Load(filepath.Join(t.TempDir(), "absent.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
