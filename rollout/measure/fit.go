package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// Calibration says how raw counts of one model in one session become the
// provider's tokens.
type Calibration struct {
	Model             string           // "" unknown
	Kind              rollout.ItemKind // kind the factor is for; "" all others
	Fit               Fit
	Factor            float64 // provider tokens per raw token
	FactorLow         float64 // lower weighted quartile of the factors of single pairs, 0 to Factor
	FactorHigh        float64 // upper weighted quartile, at least Factor
	FramingPerMessage float64 // provider tokens per message that belong to no text
	Pairs             int64   // pairs behind the fit
	Method            string  // public, least-absolute, default or constant; "+text" where responses count by their text
}

// Fit names the pairs a calibration rests on.
type Fit string

const (
	FitAll  Fit = "all"  // every usable pair
	FitEven Fit = "even" // pairs whose second request has an even number, to score on the others
)

// Methods of a fit.
const (
	MethodPublic   = "public"         // own tokenizer: factor 1, framing fitted
	MethodFitted   = "least-absolute" // factor and framing fitted
	MethodDefault  = "default"        // too few pairs
	MethodConstant = "constant"       // the size is the provider's already: image prices
	// TextSuffix marks that a response is carried as the count of its text, not as
	// its reported output: agents that do not send reasoning again.
	TextSuffix = "+text"
)

const (
	minPairs     = 4   // pairs that a fit of one number needs
	minPairsBoth = 8   // pairs that a fit of factor and framing needs
	minPairsKind = 20  // pairs with content of a kind before it may have its own factor
	kindGain     = 0.1 // share of the unexplained growth that its own factor must explain
	maxFraming   = 200 // more belongs to something unlogged
	minFactor    = 0.3 // outside of these the pairs do not measure the tokenizer
	maxFactor    = 4.0
)

// defaults hold where too few pairs can be fitted, by a part of the model's name,
// the last for all others. Claude: medians of fits over recorded sessions of
// Claude Code 1.0 to 2.1; its newer models take about 1.5 tokens for one of
// o200k_base. Others: as o200k_base counts, and 4 tokens a message as in OpenAI's
// cookbook (3 a message, 1 for its name).
var defaults = []struct {
	part            string
	factor, framing float64
}{
	{"fable", 1.5, 15},
	{"claude", 1.15, 15},
	{"", 1, 4},
}

func defaultsOf(model string) (factor, framing float64) {
	name := strings.ToLower(model)
	for _, d := range defaults {
		if strings.Contains(name, d.part) {
			return d.factor, d.framing
		}
	}
	return 1, 0
}

// fit is a calibration ready for use.
type fit struct {
	base     float64
	kinds    map[rollout.ItemKind]float64
	framing  float64
	reported bool // a final response is carried at its reported output
}

func (f fit) factor(kind rollout.ItemKind) float64 {
	if v, ok := f.kinds[kind]; ok {
		return v
	}
	return f.base
}

// fits holds the fit of each model.
type fits map[string]fit

// fitsOf picks the calibrations of one fit.
func fitsOf(list []Calibration, which Fit) fits {
	out := fits{}
	for _, c := range list {
		if c.Fit != which {
			continue
		}
		f, ok := out[c.Model]
		if !ok {
			f.kinds = map[rollout.ItemKind]float64{}
		}
		if c.Kind == "" {
			f.base, f.framing, f.reported = c.Factor, c.FramingPerMessage, !strings.HasSuffix(c.Method, TextSuffix)
		} else {
			f.kinds[c.Kind] = c.Factor
		}
		out[c.Model] = f
	}
	return out
}

// predict is what a pair's growth should be.
func (f fit) predict(p pair) float64 {
	x, messages := f.known(p)
	for kind, n := range p.raw {
		x += f.factor(kind) * n
	}
	if !f.reported {
		for kind, n := range p.produced {
			x += f.factor(kind) * n
		}
	}
	return x + f.framing*messages
}

// known returns the part of a pair's growth that no factor touches, and its
// messages.
func (f fit) known(p pair) (output, messages float64) {
	messages = p.items
	if f.reported {
		output, messages = p.output, p.inputs
	}
	if p.messages != nil {
		messages = *p.messages
	}
	return output, messages
}

// calibrate fits every model that answered in this session.
func calibrate(s *rollout.Session, m *Measured) []Calibration {
	byModel := map[string][]pair{}
	for _, p := range pairs(s, m) {
		model := s.Requests[p.from].Model
		byModel[model] = append(byModel[model], p)
	}
	var out []Calibration
	for _, model := range modelsOf(s) {
		reported := carriesReported(s, m, model, usable(byModel[model], nil))
		for _, which := range []Fit{FitAll, FitEven} {
			list := usable(byModel[model], func(p pair) bool { return which == FitAll || s.Requests[p.to].Number%2 == 0 })
			out = append(out, calibrateModel(model, m.Encoding, which, reported, list)...)
		}
	}
	boundDefaults(s, m, out)
	return out
}

func modelsOf(s *rollout.Session) []string {
	var models []string
	for _, r := range s.Requests {
		if !slices.Contains(models, r.Model) {
			models = append(models, r.Model)
		}
	}
	slices.Sort(models)
	return models
}

func usable(list []pair, want func(pair) bool) []pair {
	var out []pair
	for _, p := range list {
		if p.leftOut == "" && (want == nil || want(p)) {
			out = append(out, p)
		}
	}
	return out
}

// carriesReported decides whether responses are carried at their reported output
// or by the count of their text: whichever explains the growth better; without
// any pair, reported where the agent sends reasoning again.
func carriesReported(s *rollout.Session, m *Measured, model string, list []pair) bool {
	if len(list) == 0 {
		return slices.ContainsFunc(s.Items, func(it rollout.Item) bool { return it.Kind == rollout.Reasoning })
	}
	missed := func(reported bool) float64 {
		c := calibrateModel(model, m.Encoding, FitAll, reported, list)
		return missedBy(fitsOf(c, FitAll)[model], list)
	}
	return missed(true) <= missed(false)
}

// missedBy sums what a fit does not explain.
func missedBy(f fit, list []pair) float64 {
	sum := 0.0
	for _, p := range list {
		sum += math.Abs(p.growth - f.predict(p))
	}
	return sum
}

// calibrateModel fits one model on the given pairs. Images always have a row of
// their own: their price is the provider's already.
func calibrateModel(model, encoding string, which Fit, reported bool, list []pair) []Calibration {
	c := Calibration{Model: model, Fit: which, Pairs: int64(len(list)), Method: MethodDefault}
	c.Factor, c.FramingPerMessage = defaultsOf(model)
	points := pointsOf(list, reported)
	if own, public := tokens.EncodingFor(model); public && own == encoding {
		c.Method, c.Factor = MethodPublic, 1
		if len(list) >= minPairs {
			c.FramingPerMessage = framingOf(points, 1, c.FramingPerMessage)
		}
	} else if len(list) >= minPairsBoth {
		c.Method = MethodFitted
		c.Factor, c.FramingPerMessage = leastAbsolute(points, c)
	} else if len(list) >= minPairs {
		c.Method = MethodFitted
		c.Factor = min(max(factorOf(points, c.FramingPerMessage, c.Factor), minFactor), maxFactor)
	}
	c.FactorLow, c.FactorHigh = spread(points, c)
	if !reported {
		c.Method += TextSuffix
	}
	out := []Calibration{c, calibrateImages(c, list)}
	if c.Method == MethodFitted && reported {
		out = append(out, calibrateKinds(out, list)...)
	}
	return out
}

// calibrateKinds gives a kind of content its own factor where enough pairs hold
// some of it and the fit gains clearly.
func calibrateKinds(base []Calibration, list []pair) []Calibration {
	f := fitsOf(base, base[0].Fit)[base[0].Model]
	for _, kind := range inputKinds {
		var points []point
		without := f
		without.kinds = maps.Clone(f.kinds)
		without.kinds[kind] = 0
		for _, p := range list {
			if x := p.raw[kind]; x != 0 {
				points = append(points, point{y: p.growth - without.predict(p), x: x})
			}
		}
		if len(points) < minPairsKind {
			continue
		}
		with := without
		with.kinds[kind] = factorOf(points, 0, f.base)
		if with.kinds[kind] < minFactor || with.kinds[kind] > maxFactor || missedBy(with, list) > (1-kindGain)*missedBy(f, list) {
			continue
		}
		c := base[0]
		c.Kind, c.Factor, c.Pairs = kind, with.kinds[kind], int64(len(points))
		c.FactorLow, c.FactorHigh = spread(points, Calibration{Factor: c.Factor})
		return []Calibration{c}
	}
	return nil
}

// inputKinds are the kinds that may have a factor of their own.
var inputKinds = []rollout.ItemKind{rollout.UserText, rollout.Reminder, rollout.ProjectContext}

// calibrateImages gives images a factor of their own: 1, as their price is the
// provider's already; where the price is a guess, what the growth shows.
func calibrateImages(c Calibration, list []pair) Calibration {
	image := Calibration{Model: c.Model, Kind: rollout.Image, Fit: c.Fit, Factor: 1, FramingPerMessage: c.FramingPerMessage, Method: MethodConstant}
	if !images.Known(c.Model) {
		f := fitsOf([]Calibration{c}, c.Fit)[c.Model]
		f.kinds[rollout.Image] = 0
		var points []point
		for _, p := range list {
			if x := p.raw[rollout.Image]; x > 0 {
				points = append(points, point{y: p.growth - f.predict(p), x: x})
			}
		}
		image.Pairs = int64(len(points))
		if factor := factorOf(points, 0, 0); factor > 0 {
			image.Factor, image.Method = factor, MethodFitted
		}
	}
	image.FactorLow, image.FactorHigh = image.Factor, image.Factor
	return image
}

// point is one pair as the fit sees it: y = factor × x + framing × messages.
type point struct{ y, x, messages float64 }

func pointsOf(list []pair, reported bool) []point {
	f := fit{reported: reported}
	out := make([]point, len(list))
	for i, p := range list {
		output, messages := f.known(p)
		pt := point{y: p.growth - output, messages: messages}
		for _, raw := range []map[rollout.ItemKind]float64{p.raw, p.produced} {
			pt.y -= raw[rollout.Image]
			for kind, n := range raw {
				if kind != rollout.Image {
					pt.x += n
				}
			}
			if reported {
				break
			}
		}
		out[i] = pt
	}
	return out
}

// leastAbsolute fits factor and framing so that the sum of absolute residuals is
// smallest: least squares, each point weighted by the inverse of its residual, with
// an ever smaller floor under it; then kept in bounds.
// It starts from c.
func leastAbsolute(points []point, c Calibration) (factor, framing float64) {
	factor, framing = c.Factor, c.FramingPerMessage
	for small := 16.0; small > 1e-6; small *= 0.8 {
		var xx, xm, mm, xy, my float64
		for _, p := range points {
			w := 1 / math.Max(math.Abs(p.y-factor*p.x-framing*p.messages), small)
			xx += w * p.x * p.x
			xm += w * p.x * p.messages
			mm += w * p.messages * p.messages
			xy += w * p.x * p.y
			my += w * p.messages * p.y
		}
		det := xx*mm - xm*xm
		if det <= 1e-9*xx*mm {
			break
		}
		factor, framing = (xy*mm-my*xm)/det, (my*xx-xy*xm)/det
	}
	if framing < 0 || framing > maxFraming {
		framing = min(max(framing, 0), maxFraming)
		factor = factorOf(points, framing, factor)
	}
	if !(factor >= minFactor && factor <= maxFactor) {
		return c.Factor, framingOf(points, c.Factor, c.FramingPerMessage)
	}
	return factor, framing
}

// factorOf fits the factor for a known framing.
func factorOf(points []point, framing, otherwise float64) float64 {
	return weightedQuantile(points, 0.5, otherwise, ratios(framing))
}

// ratios gives the factor of a single pair for a known framing, weighted by the
// raw tokens that it was taken from.
func ratios(framing float64) func(point) (value, weight float64) {
	return func(p point) (float64, float64) { return (p.y - framing*p.messages) / p.x, math.Abs(p.x) }
}

// framingOf fits the framing for a known factor.
func framingOf(points []point, factor, otherwise float64) float64 {
	c := weightedQuantile(points, 0.5, otherwise, func(p point) (float64, float64) { return (p.y - factor*p.x) / p.messages, math.Abs(p.messages) })
	return min(max(c, 0), maxFraming)
}

// weightedQuantile returns the smallest value that holds, with all below it, the
// given share of the weight. For a half it minimises Σ weight × |value − result|,
// which makes it the least absolute fit of one coefficient. Points of no weight do
// not count; without any other it is otherwise.
func weightedQuantile(points []point, share, otherwise float64, of func(point) (value, weight float64)) float64 {
	type entry struct{ value, weight float64 }
	var list []entry
	total := 0.0
	for _, p := range points {
		if v, w := of(p); w > 0 {
			list = append(list, entry{v, w})
			total += w
		}
	}
	if len(list) == 0 {
		return otherwise
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
	sum := 0.0
	for _, e := range list {
		if sum += e.weight; sum >= share*total {
			return e.value
		}
	}
	return list[len(list)-1].value
}

// spread returns the quartiles of the factors that single pairs would give, each
// weighted by its raw tokens. The least absolute factor is the median of the same
// weighted list, so they lie around it, and say how far the content that most
// tokens come from differs from it; unweighted, the many small pairs, whose
// framing is as large as their text, would drown it. A factor that was kept in
// bounds may lie outside: then the spread reaches to it. Without enough pairs, and
// for a public encoding, there is no spread.
func spread(points []point, c Calibration) (low, high float64) {
	if c.Method == MethodPublic || len(points) < minPairs {
		return c.Factor, c.Factor
	}
	of := ratios(c.FramingPerMessage)
	low = weightedQuantile(points, 0.25, c.Factor, of)
	high = weightedQuantile(points, 0.75, c.Factor, of)
	return min(max(low, 0), c.Factor), max(high, c.Factor)
}
