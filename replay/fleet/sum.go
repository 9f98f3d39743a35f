package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/bootstrap"
	"github.com/fclog/fclog/replay/detour"
)

// Sum adds up the rows of one variant. Rows may come in any order.
type Sum struct {
	use      replay.Use
	rows     []slim
	words    map[string]string // one copy of each string
	base     Figures
	variant  Figures
	unpriced bool

	high, highUSD, spreadLow, spreadHigh, saved, savedUSD, output, lost total

	clamped, later, edited, removedLow, removedHigh, added int64
	extraKnown, extraTokens                                int64
	extraUSD                                               total
	extraUnpriced                                          bool
	lossy, asksModel                                       bool
	silent, single, unsupported                            int64
	why                                                    map[string]int64
	basis                                                  map[string]int64
}

// total is a sum of what is known.
type total struct {
	n     int64
	known bool
}

func (t *total) add(v *int64) {
	if v != nil {
		t.n, t.known = t.n+*v, true
	}
}

func (t total) value() *int64 {
	if !t.known {
		return nil
	}
	return &t.n
}

// slim is what is kept of a row.
type slim struct {
	source, id, version, model, task, root, file string
	requests                                     int64
	input, saved                                 *int64
	usd, savedUSD                                *USD
	unsupported                                  bool
}

// NewSum starts a sum for a use.
func NewSum(use replay.Use) *Sum {
	return &Sum{use: use, words: map[string]string{}, why: map[string]int64{}, basis: map[string]int64{}}
}

// Add takes in a row.
func (s *Sum) Add(r Row) {
	s.rows = append(s.rows, slim{
		source: s.one(r.Source), id: r.ID, version: s.one(r.Version), model: s.one(r.Model), task: s.one(r.Task), root: s.one(r.Root), file: r.File,
		requests: r.Recorded.Requests, input: r.Recorded.Input, saved: r.Tokens, usd: r.Recorded.USD, savedUSD: r.USD, unsupported: r.Unsupported != "",
	})
	s.base.add(r.Recorded)
	s.variant.add(r.Variant)
	s.unpriced = s.unpriced || r.Unpriced
	for t, v := range map[*total]*int64{
		&s.high: r.TokensHigh, &s.highUSD: r.USDHigh, &s.spreadLow: r.SpreadLow, &s.spreadHigh: r.SpreadHigh, &s.saved: r.Tokens,
		&s.savedUSD: r.USD, &s.output: r.Output, &s.lost: r.CacheReadLost, &s.extraUSD: r.ExtraUSD,
	} {
		t.add(v)
	}
	s.clamped, s.later, s.edited = s.clamped+r.Clamped, s.later+r.Later, s.edited+r.Edited
	s.removedLow, s.removedHigh, s.added = s.removedLow+r.RemovedLow, s.removedHigh+r.RemovedHigh, s.added+r.Added
	s.extraKnown, s.extraTokens = s.extraKnown+r.ExtraKnown, s.extraTokens+r.ExtraTokens
	s.extraUnpriced = s.extraUnpriced || r.ExtraKnown > 0 && r.ExtraUSD == nil
	s.lossy, s.asksModel = s.lossy || r.Lossy != nil, s.asksModel || r.AsksModel
	if r.Recorded.Requests > 0 && r.Recorded.Input == nil {
		s.silent++
	}
	if r.Recorded.Requests == 1 {
		s.single++
	}
	if r.Unsupported != "" {
		s.unsupported++
		s.why[r.Unsupported]++
	}
	s.basis[r.Basis]++
}

// one keeps one copy of a string that many rows hold.
func (s *Sum) one(word string) string {
	if known, ok := s.words[word]; ok {
		return known
	}
	s.words[word] = word
	return word
}

func (f *Figures) add(g Figures) {
	f.Requests += g.Requests
	f.Counted += g.Counted
	for _, pair := range [][2]**int64{{&f.Input, &g.Input}, {&f.CacheRead, &g.CacheRead}, {&f.CacheWrite, &g.CacheWrite}, {&f.Output, &g.Output}, {&f.USD, &g.USD}} {
		if *pair[1] == nil {
			continue
		}
		if *pair[0] == nil {
			*pair[0] = new(int64)
		}
		**pair[0] += **pair[1]
	}
}

func (f Figures) totals(partial bool) replay.Totals {
	return replay.Totals{
		Requests: f.Requests, CountedTokens: f.Counted, InputTokens: f.Input, CacheReadTokens: f.CacheRead, CacheWriteTokens: f.CacheWrite,
		OutputTokens: f.Output, CostUSD: dollars(f.USD), CostPartial: partial,
	}
}

// Setting is what a sum is set against.
type Setting struct {
	Population int64          // sessions the rows were drawn from
	Lossy      []detour.Lossy // sums of what the variant cuts
	Rates      detour.Rates
	Top        int // sessions to name
}

// Result works out the whole.
func (s *Sum) Result(o Setting) Result {
	slices.SortFunc(s.rows, func(a, b slim) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.id, b.id), cmp.Compare(a.file, b.file))
	})
	r := Result{Baseline: s.base.totals(s.unpriced), Single: s.single, Silent: s.silent}
	r.Estimate = s.estimate(o)
	r.Fleet = s.fleet(o)
	return r
}

func (s *Sum) estimate(o Setting) replay.Estimate {
	e := replay.Estimate{Variant: s.use.Name, Options: optionsOf(s.use), Warnings: []string{}, Top: []replay.Contribution{}}
	if s.unsupported == int64(len(s.rows)) {
		why := s.reasons()
		e.Unsupported, e.Basis = &why, "none: no session given supports it"
		return e
	}
	e.Requests, e.InputTokens, e.OutputTokens, e.CostUSD = s.variant.Requests, s.variant.Input, s.variant.Output, dollars(s.variant.USD)
	e.CacheReadTokens, e.CacheWriteTokens = s.variant.CacheRead, s.variant.CacheWrite
	e.StaticSavingTokens, e.StaticSavingTokensHigh, e.StaticSavingOutputTokens = s.saved.value(), s.high.value(), s.output.value()
	e.StaticSavingSpreadLow, e.StaticSavingSpreadHigh = s.spreadLow.value(), s.spreadHigh.value()
	e.StaticSavingUSD, e.StaticSavingUSDHigh = dollars(s.savedUSD.value()), dollars(s.highUSD.value())
	e.StaticSavingUSDShare = replay.ShareOfCost(e.StaticSavingUSD, dollars(s.base.USD))
	e.SavedCountedTokens, e.CacheReadLost, e.ClampedRequests = s.base.Counted-s.variant.Counted, s.lost.value(), s.clamped
	e.EditedItems, e.RemovedRequestsLow, e.RemovedRequestsHigh, e.AddedRequests = s.edited, s.removedLow, s.removedHigh, s.added
	if e.StaticSavingTokens != nil && s.base.Input != nil && *s.base.Input > 0 {
		e.StaticSavingShare = new(float64(*e.StaticSavingTokens) / float64(*s.base.Input))
		e.BreakEvenRequestsTokens = replay.BreakEven(float64(s.saved.n), float64(s.extraTokens), s.extraKnown)
	}
	if e.StaticSavingUSD != nil {
		extra := 0.0
		if !s.extraUnpriced {
			extra = float64(s.extraUSD.n)
		}
		e.BreakEvenRequestsUSD = replay.BreakEven(float64(s.savedUSD.n), extra, s.extraKnown)
	}
	e.Detours = detour.FromLossy(o.Lossy, o.Rates)
	e.Verdict = replay.Judge(e, e.Detours != nil, s.asksModel, s.base.Counted)
	e.Basis = s.basisWords()
	e.Warnings = append(e.Warnings, s.warnings(e)...)
	return e
}

func optionsOf(use replay.Use) replay.Values {
	out := replay.Values{}
	for _, step := range use.Steps {
		for k, v := range step.Values {
			if len(use.Steps) > 1 {
				k = step.Variant.Name + "." + k
			}
			out[k] = v
		}
	}
	return out
}

// reasons are why sessions do not support the variant, the most frequent first.
func (s *Sum) reasons() string {
	list := sortedCounts(s.why)
	return strings.Join(list[:min(len(list), 3)], "; ")
}

func sortedCounts(counts map[string]int64) []string {
	var out []string
	for word := range counts {
		out = append(out, word)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return out
}

// basisWords says how many sessions rest on what.
func (s *Sum) basisWords() string {
	list := sortedCounts(s.basis)
	if len(list) == 1 {
		return list[0] + ", session by session"
	}
	var parts []string
	for _, word := range list {
		parts = append(parts, fmt.Sprintf("%s in %s of %s sessions", word, term.Exact(s.basis[word]), term.Exact(int64(len(s.rows)))))
	}
	return strings.Join(parts, "; ")
}

func (s *Sum) warnings(e replay.Estimate) []string {
	var out []string
	all := term.Count(int64(len(s.rows)), "session", "sessions")
	if s.unsupported > 0 {
		out = append(out, fmt.Sprintf("%d of %s cannot support it and count as unchanged: %s", s.unsupported, all, s.reasons()))
	}
	if s.later > 0 {
		out = append(out, fmt.Sprintf("%d of the recorded compactions would have come later or not at all: this estimate leaves them where they were", s.later))
	}
	if s.clamped > 0 {
		out = append(out, fmt.Sprintf("the cache model misses what was read in %s by more than this leaves there: USD is less sure", term.Count(s.clamped, "request", "requests")))
	}
	if e.StaticSavingUSD != nil && e.StaticSavingTokens != nil && *e.StaticSavingUSD < 0 && *e.StaticSavingTokens > 0 {
		out = append(out, "fewer tokens, but dearer: changes to text that had been sent already break the cached prefix")
	}
	return out
}

func (s *Sum) fleet(o Setting) Variant {
	v := Variant{Variant: s.use.Name, Unsupported: s.unsupported, Strata: []Stratum{}, Most: []SessionShare{}, Worst: []SessionShare{}}
	var tokens, shares []float64
	for _, r := range s.rows {
		if r.saved == nil {
			continue
		}
		v.Known++
		v.Winners, v.Losers, v.Unchanged = v.Winners+r.wins(), v.Losers+r.loses(), v.Unchanged+1-r.wins()-r.loses()
		tokens = append(tokens, float64(*r.saved))
		if *r.input > 0 {
			shares = append(shares, float64(*r.saved)/float64(*r.input))
		}
	}
	v.Tokens, v.Shares = distributionOf(tokens), distributionOf(shares)
	v.Share, v.ShareUSD = savedOf(s.rows, tokensOf), savedOf(s.rows, usdOf)
	if int64(len(s.rows)) < o.Population {
		if se, ok := bootstrap.Sampled(pointsOf(s.rows, tokensOf), o.Population); ok {
			v.SampleError = &se
			v.Sample = sampled(v.Share, len(s.rows), o.Population)
		}
	}
	v.TopShare = topShare(tokens)
	v.Strata = strataOf(s.rows)
	v.Most, v.Worst = s.extremes(o.Top)
	return v
}

func (r slim) loses() int64 {
	if r.saved != nil && *r.saved < 0 || r.savedUSD != nil && *r.savedUSD < 0 {
		return 1
	}
	return 0
}

func (r slim) wins() int64 {
	if r.loses() == 0 && (r.saved != nil && *r.saved > 0 || r.savedUSD != nil && *r.savedUSD > 0) {
		return 1
	}
	return 0
}

// cluster is what a session is drawn with: the sessions of its task, where that is
// known, else those of its root.
func (r slim) cluster() string {
	if r.task != "" {
		return "task/" + r.task
	}
	return "root/" + r.source + "/" + r.root
}

func tokensOf(r slim) (size, saved *int64) { return r.input, r.saved }

func usdOf(r slim) (size, saved *int64) { return r.usd, r.savedUSD }

// pointsOf are single sessions.
func pointsOf(rows []slim, of func(slim) (size, saved *int64)) []bootstrap.Point {
	var out []bootstrap.Point
	for _, r := range rows {
		if x, y := of(r); x != nil && y != nil {
			out = append(out, bootstrap.Point{X: float64(*x), Y: float64(*y)})
		}
	}
	return out
}

// savedOf bounds what is saved: not more than all there was, however much dearer.
func savedOf(rows []slim, of func(slim) (size, saved *int64)) *Interval {
	return within(intervalOf(rows, of), math.Inf(-1))
}

// within holds a share between the least it can be and all.
func within(i *Interval, least float64) *Interval {
	if i == nil {
		return nil
	}
	return new(i.Within(least, 1))
}

// sampled is the interval of the share of all sessions that n were drawn from.
func sampled(i *Interval, n int, population int64) *Interval {
	if i == nil {
		return nil
	}
	return new(i.OfSample(int64(n), population))
}

// intervalOf bounds a share by drawing clusters. Sub-agents are drawn with the task
// of the session that started them.
func intervalOf(rows []slim, of func(slim) (size, saved *int64)) *Interval {
	type sum struct{ x, y int64 }
	clusters := map[string]*sum{}
	tasks := tasksByRoot(rows)
	for _, r := range rows {
		x, y := of(r)
		if x == nil || y == nil {
			continue
		}
		if r.task == "" {
			r.task = tasks[r.source+"/"+r.root]
		}
		key := r.cluster()
		if clusters[key] == nil {
			clusters[key] = &sum{}
		}
		clusters[key].x += *x
		clusters[key].y += *y
	}
	points := make([]bootstrap.Point, 0, len(clusters))
	for _, c := range clusters {
		points = append(points, bootstrap.Point{X: float64(c.x), Y: float64(c.y)})
	}
	i, ok := bootstrap.Ratio(points, bootstrap.Draws, bootstrap.Seed)
	if !ok {
		return nil
	}
	return &i
}

func tasksByRoot(rows []slim) map[string]string {
	out := map[string]string{}
	for _, r := range rows {
		if r.task != "" && r.id == r.root {
			out[r.source+"/"+r.id] = r.task
		}
	}
	return out
}

// distributionOf sorts the values it is given.
func distributionOf(values []float64) *Distribution {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	mean := 0.0
	for _, v := range sorted {
		mean += v
	}
	return &Distribution{
		Mean: mean / float64(len(sorted)), P10: quantile(sorted, 0.1), Median: quantile(sorted, 0.5), P90: quantile(sorted, 0.9),
		Min: sorted[0], Max: sorted[len(sorted)-1],
	}
}

// quantile lies between the two values it falls between (type 7, as DuckDB's
// quantile_cont).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// topShare is the part of all savings above 0 that the tenth of sessions brings that
// saves most; nil where nothing is saved.
func topShare(saved []float64) *float64 {
	sorted := slices.Clone(saved)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	all, top := 0.0, 0.0
	tenth := int(math.Ceil(float64(len(sorted)) / 10))
	for i, v := range sorted {
		if v <= 0 {
			break
		}
		all += v
		if i < tenth {
			top += v
		}
	}
	if all == 0 {
		return nil
	}
	return new(top / all)
}

// extremes are the sessions that save most, and those that would lose.
func (s *Sum) extremes(top int) (most, worst []SessionShare) {
	rows := slices.DeleteFunc(slices.Clone(s.rows), func(r slim) bool { return r.saved == nil })
	slices.SortStableFunc(rows, func(a, b slim) int { return cmp.Compare(*b.saved, *a.saved) })
	most, worst = []SessionShare{}, []SessionShare{}
	for _, r := range rows {
		if len(most) < top && *r.saved > 0 {
			most = append(most, s.shareOf(r))
		}
	}
	losers := slices.DeleteFunc(rows, func(r slim) bool { return r.loses() == 0 })
	slices.SortStableFunc(losers, func(a, b slim) int {
		return cmp.Or(cmp.Compare(*a.saved, *b.saved), cmp.Compare(known(a.savedUSD), known(b.savedUSD)))
	})
	for _, r := range losers[:min(top, len(losers))] {
		worst = append(worst, s.shareOf(r))
	}
	return most, worst
}

func known(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func (s *Sum) shareOf(r slim) SessionShare {
	out := SessionShare{Source: r.source, SessionID: r.id, File: r.file, Requests: r.requests, Input: known(r.input), Saving: *r.saved, SavingUSD: dollars(r.savedUSD)}
	if s.base.Input != nil && *s.base.Input > 0 {
		out.OfAll = float64(*r.saved) / float64(*s.base.Input)
	}
	return out
}
