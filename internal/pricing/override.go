package pricing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts files with repeated keys, as hand-edited ones have.
var lenient = jsontext.AllowDuplicateNames(true)

// object is a JSON object whose values are decoded when needed.
type object map[string]jsontext.Value

// override puts the prices of a user's file before all others.
func (b *Book) override(file string, data []byte) error {
	var top object
	if err := json.Unmarshal(data, &top, lenient); err != nil {
		return fmt.Errorf("%s: not a JSON object of prices: %w", file, err)
	}
	if models, ok := top["models"]; ok && models.Kind() == '[' {
		return b.readList(file, data)
	}
	read, err := shapeOf(top)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	l := newLayer()
	for _, key := range sortedKeys(top) {
		if err := read(l, file, key, top[key]); err != nil {
			return fmt.Errorf("%s: %q: %w", file, key, err)
		}
	}
	b.layers = slices.Insert(b.layers, 0, l)
	return nil
}

// shapeOf tells the three known files apart by what their entries hold.
func shapeOf(top object) (func(l layer, file, key string, raw jsontext.Value) error, error) {
	for _, key := range sortedKeys(top) {
		var entry object
		if json.Unmarshal(top[key], &entry, lenient) != nil {
			continue
		}
		switch {
		case entry["litellm_provider"] != nil || entry["input_cost_per_token"] != nil:
			return readLiteLLM, nil
		case entry["models"] != nil:
			return readModelsDev, nil
		case entry["input"] != nil || entry["output"] != nil:
			return readFreeCode, nil
		}
	}
	return nil, errors.New("no prices found: expected FreeCode's pricing.json, LiteLLM's or models.dev's JSON, or a list like fclog's own")
}

func sortedKeys(o object) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// readFreeCode reads one "provider/model" of FreeCode's pricing.json: USD per
// million tokens.
func readFreeCode(l layer, file, key string, raw jsontext.Value) error {
	var e struct {
		Input      *float64 `json:"input"`
		Output     *float64 `json:"output"`
		CacheRead  *float64 `json:"cacheRead"`
		CacheWrite *float64 `json:"cacheWrite"`
	}
	if err := json.Unmarshal(raw, &e, lenient); err != nil {
		return err
	}
	provider, model, ok := strings.Cut(key, "/")
	if !ok {
		provider, model = "", key
	}
	return l.checked(Price{Provider: provider, Model: model, Source: file, Rates: Rates{
		Input: e.Input, Output: e.Output, CacheRead: e.CacheRead, CacheWrite5m: e.CacheWrite}}, true)
}

// modelsDevRates is a rate card of models.dev: USD per million tokens.
type modelsDevRates struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

func (r modelsDevRates) rates() Rates {
	return Rates{Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite5m: r.CacheWrite}
}

// modelsDevModel is what fclog needs of a model of models.dev.
type modelsDevModel struct {
	Cost *struct {
		modelsDevRates `json:",inline"`
		Tiers          []struct {
			modelsDevRates `json:",inline"`
			Tier           struct {
				Size int64 `json:"size"`
			} `json:"tier"`
		} `json:"tiers"`
		Over200K *modelsDevRates `json:"context_over_200k"`
	} `json:"cost"`
}

// makers are the providers of models.dev that sell models of their own: their
// price stands for a model ID whose provider is not listed.
var makers = []string{"alibaba", "anthropic", "deepseek", "google", "minimax", "mistral", "moonshotai", "openai", "xai", "zai"}

// readModelsDev reads one provider of models.dev's api.json.
func readModelsDev(l layer, file, provider string, raw jsontext.Value) error {
	var e struct {
		Models map[string]modelsDevModel `json:"models"`
	}
	if err := json.Unmarshal(raw, &e, lenient); err != nil {
		return err
	}
	for model, m := range e.Models {
		if m.Cost == nil || m.Cost.Input == nil || m.Cost.Output == nil {
			continue
		}
		p := Price{Provider: provider, Model: model, Rates: m.Cost.rates(), Source: file}
		switch {
		case len(m.Cost.Tiers) > 0:
			t := m.Cost.Tiers[0]
			p.LongContext = &LongContext{AboveInputTokens: t.Tier.Size, Rates: t.rates()}
		case m.Cost.Over200K != nil:
			p.LongContext = &LongContext{AboveInputTokens: 200_000, Rates: m.Cost.Over200K.rates()}
		}
		if err := l.checked(p, slices.Contains(makers, provider)); err != nil {
			return fmt.Errorf("%q: %w", model, err)
		}
	}
	return nil
}

// readLiteLLM reads one model of LiteLLM's list: USD per token.
func readLiteLLM(l layer, file, key string, raw jsontext.Value) error {
	var e object
	if err := json.Unmarshal(raw, &e, lenient); err != nil {
		return err
	}
	if key == "sample_spec" || e["input_cost_per_token"] == nil || e["output_cost_per_token"] == nil {
		return nil // the explanation of the format, or a model that is not billed by tokens
	}
	var provider string
	if raw, ok := e["litellm_provider"]; ok {
		if err := json.Unmarshal(raw, &provider); err != nil {
			return fmt.Errorf("litellm_provider: %w", err)
		}
	}
	_, model, prefixed := strings.Cut(key, "/")
	if !prefixed {
		model = key
	}
	rates, err := e.rates("")
	if err != nil {
		return err
	}
	p := Price{Provider: provider, Model: model, Rates: rates, Source: file}
	if p.LongContext, err = e.longContext(); err != nil {
		return err
	}
	return l.checked(p, !prefixed)
}

// rates reads the five prices of a LiteLLM entry whose keys end in suffix.
func (o object) rates(suffix string) (r Rates, err error) {
	for name, to := range map[string]**float64{
		"input_cost_per_token":                      &r.Input,
		"cache_read_input_token_cost":               &r.CacheRead,
		"cache_creation_input_token_cost":           &r.CacheWrite5m,
		"cache_creation_input_token_cost_above_1hr": &r.CacheWrite1h,
		"output_cost_per_token":                     &r.Output,
	} {
		raw, ok := o[name+suffix]
		if !ok || raw.Kind() == 'n' {
			continue
		}
		var perToken float64
		if err := json.Unmarshal(raw, &perToken); err != nil {
			return r, fmt.Errorf("%s: %w", name+suffix, err)
		}
		perMillion := math.Round(perToken*1e15) / 1e9 // without the noise of 0.1 + 0.2
		*to = &perMillion
	}
	return r, nil
}

// longContext reads the prices above the lowest threshold, from keys such as
// input_cost_per_token_above_200k_tokens.
func (o object) longContext() (*LongContext, error) {
	const before, after = "input_cost_per_token_above_", "k_tokens"
	lowest := int64(0)
	for key := range o {
		number, ok := strings.CutSuffix(strings.TrimPrefix(key, before), after)
		if n, err := strconv.ParseInt(number, 10, 64); ok && err == nil && strings.HasPrefix(key, before) && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	if lowest == 0 {
		return nil, nil
	}
	rates, err := o.rates(fmt.Sprintf("_above_%dk_tokens", lowest))
	if err != nil || rates.Input == nil || rates.Output == nil {
		return nil, err
	}
	return &LongContext{AboveInputTokens: lowest * 1000, Rates: rates}, nil
}

// fillHourWrites adds what neither FreeCode's file nor models.dev holds:
// Anthropic bills 1 hour cache writes at twice the input price
// (https://platform.claude.com/docs/en/about-claude/pricing).
func fillHourWrites(p *Price) {
	all := []*Rates{&p.Rates}
	if p.LongContext != nil {
		all = append(all, &p.LongContext.Rates)
	}
	for _, r := range all {
		if r.CacheWrite1h == nil && r.CacheWrite5m != nil && r.Input != nil {
			twice := 2 * *r.Input
			r.CacheWrite1h = &twice
		}
	}
}
