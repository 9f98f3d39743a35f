package pricing

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fclog/fclog/internal/smallfile"
)

// Rates are prices in USD per million tokens; nil is not priced apart.
type Rates struct {
	Input        *float64 `json:"input"`
	CacheRead    *float64 `json:"cache_read"`
	CacheWrite5m *float64 `json:"cache_write_5m"`
	CacheWrite1h *float64 `json:"cache_write_1h"`
	Output       *float64 `json:"output"` // reasoning included
}

// Effective fills in what is not priced apart: 1 hour writes cost what 5 minute
// writes do, and all cache traffic costs what input does, as providers without a
// price for it bill it.
func (r Rates) Effective() Rates {
	r.CacheRead = cmp.Or(r.CacheRead, r.Input)
	r.CacheWrite5m = cmp.Or(r.CacheWrite5m, r.Input)
	r.CacheWrite1h = cmp.Or(r.CacheWrite1h, r.CacheWrite5m)
	return r
}

// LongContext replaces the rates of a whole request whose input, cached or not,
// is larger than a threshold.
type LongContext struct {
	AboveInputTokens int64 `json:"above_input_tokens"`
	Rates            `json:",inline"`
}

// Price is what one model costs at one provider.
type Price struct {
	Provider    string `json:"provider"` // "" in Rows: any provider
	Model       string `json:"model"`
	Rates       `json:",inline"`
	LongContext *LongContext `json:"long_context"` // nil: one price for every size
	Source      string       `json:"source"`       // page, or path of the override file
	Date        string       `json:"date"`         // YYYY-MM-DD, newest day known to have this price; "" unknown, in override files only
	File        string       `json:"-"`            // override file it was read from; "" the built-in list
}

// Book finds the price of a model.
type Book struct {
	layers  []layer           // the first that knows a model decides
	aliases map[string]string // other model IDs in logs, to the ID in the list
}

// layer is the prices of one file.
type layer struct {
	exact map[string]Price // by provider/model
	bare  map[string]Price // by model, where one provider's price stands for all
}

func newLayer() layer { return layer{exact: map[string]Price{}, bare: map[string]Price{}} }

// add files a price. asBare makes it the price of its model at any provider,
// unless an earlier one already is.
func (l layer) add(p Price, asBare bool) {
	l.exact[p.Provider+"/"+p.Model] = p
	if _, taken := l.bare[p.Model]; asBare && !taken {
		l.bare[p.Model] = p
	}
}

// MaxFile bounds a price file in bytes; FreeCode's own has some kilobytes.
const MaxFile = 16 << 20

//go:embed prices.json
var builtIn []byte

// Load returns the built-in prices, overridden by the given files; of several
// files the last one that knows a model decides. Errors name file and key.
func Load(overrides ...string) (*Book, error) {
	b := &Book{aliases: map[string]string{}}
	if err := b.readList("built-in prices", builtIn); err != nil {
		return nil, err
	}
	for _, path := range overrides {
		data, err := smallfile.Read(path, MaxFile)
		if err != nil {
			return nil, fmt.Errorf("reading prices: %w", err)
		}
		if err := b.override(path, data); err != nil {
			return nil, err
		}
		b.layers[0].from(path)
	}
	return b, nil
}

// from marks all prices of a layer as read from an override file.
func (l layer) from(file string) {
	for _, prices := range []map[string]Price{l.exact, l.bare} {
		for key, p := range prices {
			p.File = file
			prices[key] = p
		}
	}
}

// entry is a model in a file like prices.json.
type entry struct {
	Price   `json:",inline"`
	Aliases []string `json:"aliases"`
	Note    string   `json:"note"` // for people
}

func (b *Book) readList(file string, data []byte) error {
	var list struct {
		Models []entry `json:"models"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	l := newLayer()
	for i, e := range list.Models {
		if e.Model == "" || e.Provider == "" {
			return fmt.Errorf("%s: models[%d]: no provider or model", file, i)
		}
		if err := l.checked(e.Price, true); err != nil {
			return fmt.Errorf("%s: models[%d] %q: %w", file, i, e.Model, err)
		}
		for _, alias := range e.Aliases {
			b.aliases[alias] = e.Model
		}
	}
	b.layers = slices.Insert(b.layers, 0, l)
	return nil
}

// checked adds a price that is sound.
func (l layer) checked(p Price, asBare bool) error {
	if p.Provider == "anthropic" {
		fillHourWrites(&p)
	}
	if err := check(p); err != nil {
		return err
	}
	l.add(p, asBare)
	return nil
}

// check refuses prices that would give wrong costs silently.
func check(p Price) error {
	all := []Rates{p.Rates}
	if p.LongContext != nil {
		if p.LongContext.AboveInputTokens <= 0 {
			return fmt.Errorf("long context price without a threshold")
		}
		all = append(all, p.LongContext.Rates)
	}
	for _, r := range all {
		if r.Input == nil || r.Output == nil {
			return fmt.Errorf("input or output price missing")
		}
		for _, v := range []*float64{r.Input, r.CacheRead, r.CacheWrite5m, r.CacheWrite1h, r.Output} {
			if v != nil && (*v < 0 || *v > 10_000) {
				return fmt.Errorf("price %g is not in USD per million tokens", *v)
			}
		}
	}
	return nil
}

// Lookup finds the price of a model by provider and ID, then by ID alone.
func (b *Book) Lookup(provider, model string) (Price, bool) {
	names := []string{model}
	if canonical, ok := b.aliases[model]; ok {
		names = append(names, canonical)
	}
	for _, l := range b.layers {
		for _, name := range names {
			if p, ok := l.exact[provider+"/"+name]; ok {
				return p, true
			}
		}
	}
	for _, l := range b.layers {
		for _, name := range names {
			if p, ok := l.bare[name]; ok {
				return p, true
			}
		}
	}
	return Price{}, false
}

// Rows lists every provider and model ID the book knows, aliases included, with
// its effective rates, in order. A row with Provider "" is the price of an ID at
// a provider that has no row of its own.
func (b *Book) Rows() []Price {
	type key struct{ provider, model string }
	keys := map[key]bool{}
	for _, l := range b.layers {
		for _, p := range l.exact {
			keys[key{p.Provider, p.Model}] = true
		}
		for model := range l.bare {
			keys[key{"", model}] = true
		}
	}
	for alias, canonical := range b.aliases {
		for k := range keys {
			if k.model == canonical {
				keys[key{k.provider, alias}] = true
			}
		}
	}
	var rows []Price
	for k := range keys {
		if p, ok := b.Lookup(k.provider, k.model); ok {
			rows = append(rows, row(p, k.provider, k.model))
		}
	}
	slices.SortFunc(rows, func(x, y Price) int {
		return cmp.Or(cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Model, y.Model))
	})
	return rows
}

func row(p Price, provider, model string) Price {
	p.Provider, p.Model, p.Rates = provider, model, p.Rates.Effective()
	if p.LongContext != nil {
		p.LongContext = &LongContext{p.LongContext.AboveInputTokens, p.LongContext.Rates.Effective()}
	}
	return p
}
