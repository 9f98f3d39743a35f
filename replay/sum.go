package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/term"
)

// nearlyAll is the share of all counted text from which on a plan leaves a session
// that could not have run: nine tenths, by judgement.
const nearlyAll = 0.9

// emptied says that a plan takes away nearly all text that was sent.
func emptied(saved, recorded int64) bool {
	return recorded > 0 && float64(saved) >= nearlyAll*float64(recorded)
}

// estimate adds up one use over all recordings.
func estimate(recs []Recording, results []outcomes, u int, use Use, report *Report, o RunOptions) Estimate {
	s := sums{}
	plans := make([]Plan, len(recs))
	for i, rec := range recs {
		plans[i] = results[i].plans[u]
		s.add(rec, results[i], u)
	}
	e := Estimate{Variant: use.Name, Options: optionsOf(use)}
	s.fill(&e, report.Baseline)
	if s.unsupported == len(recs) {
		why := s.why[0]
		return Estimate{Variant: e.Variant, Options: e.Options, Unsupported: &why, Basis: "none: no session given supports it", Warnings: s.planWarnings(len(recs))}
	}
	if o.Detours != nil && s.lossy {
		e.Detours = o.Detours(recs, plans)
	}
	if o.Trials != nil && e.StaticSavingShare != nil && *e.StaticSavingShare != 0 {
		e.TrialsNeeded = o.Trials(*e.StaticSavingShare, recs)
	}
	if !e.Idle() {
		e.Verdict = verdict(e, !s.lossy && !asksModel(use), emptied(e.SavedCountedTokens, s.base.CountedTokens))
	}
	e.Basis = basisOf(recs)
	e.Warnings = append(e.Warnings, s.warn(e, len(recs), report)...)
	return e
}

func asksModel(use Use) bool {
	return slices.ContainsFunc(use.Steps, func(s Step) bool { return s.Variant.AsksModel })
}

func optionsOf(use Use) Values {
	out := Values{}
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

// sums are what is added up for one use.
type sums struct {
	low, high, extra Totals
	base             Totals
	silent           int // sessions without input usage
	mute             int // sessions without output usage
	spreadLow        *float64
	spreadHigh       *float64
	lost             *int64
	clamped          int64
	edited           int64
	removedLow       int64
	removedHigh      int64
	added            int64
	later            int
	points, known    int64
	extraTokens      float64
	extraUSD         *float64
	unpriced         bool
	lossy            bool
	unsupported      int
	why              []string
	said             []said
	top              []Contribution
}

func (s *sums) add(rec Recording, r outcomes, u int) {
	plan, low, high := r.plans[u], r.low[u], r.high[u]
	s.base.merge(r.base.Total)
	s.low.merge(low.Total)
	s.high.merge(high.Total)
	s.extra.merge(low.Extra)
	if r.base.Total.Requests > 0 && r.base.Total.InputTokens == nil {
		s.silent++
	}
	if r.base.Total.Requests > 0 && r.base.Total.OutputTokens == nil {
		s.mute++
	}
	accumulate(&s.spreadLow, low.SavedLow)
	accumulate(&s.spreadHigh, low.SavedHigh)
	accumulate(&s.lost, low.CacheReadLost)
	s.clamped += low.Clamped
	s.removedLow += low.Removed
	s.removedHigh += high.Removed
	s.added += int64(len(low.Extras))
	s.later += r.later[u]
	s.edited += editedItems(rec, plan)
	s.points += low.ExtraRequest.Points
	s.known += low.ExtraRequest.Known
	s.extraTokens += low.ExtraRequest.Tokens
	accumulate(&s.extraUSD, low.ExtraRequest.USD)
	s.unpriced = s.unpriced || low.ExtraRequest.Known > 0 && low.ExtraRequest.USD == nil
	s.lossy = s.lossy || slices.ContainsFunc(plan.Edits, func(e Edit) bool { return e.Lossy })
	if plan.Unsupported != "" {
		s.unsupported++
		s.why = append(s.why, plan.Unsupported)
	}
	for _, text := range appendNew(nil, slices.Concat(plan.Warnings, low.Warnings)...) {
		s.say(rec.Session.ID, text)
	}
	s.top = append(s.top, high.Contributions[:min(len(high.Contributions), topContributions)]...)
}

// said is a warning and the sessions it was given for.
type said struct {
	text     string
	session  string // the first of them
	sessions int
}

// say takes down what a plan warns of. Some plans name their session themselves.
func (s *sums) say(session, text string) {
	text = strings.TrimPrefix(text, "session "+session+": ")
	i := slices.IndexFunc(s.said, func(w said) bool { return w.text == text })
	if i < 0 {
		i, s.said = len(s.said), append(s.said, said{text: text, session: session})
	}
	s.said[i].sessions++
}

// planWarnings are the warnings of the plans, each with the session or the number
// of sessions it holds for where there are several.
func (s *sums) planWarnings(sessions int) []string {
	var out []string
	for _, w := range s.said {
		switch {
		case sessions == 1:
			out = append(out, w.text)
		case w.sessions == 1:
			out = append(out, "session "+w.session+": "+w.text)
		default:
			out = append(out, fmt.Sprintf("in %d of %s: %s", w.sessions, term.Count(int64(sessions), "session", "sessions"), w.text))
		}
	}
	return out
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func editedItems(rec Recording, plan Plan) int64 {
	items := map[int]bool{}
	for _, e := range plan.Edits {
		if e.Span >= 0 && e.Span < len(rec.Session.Spans) {
			items[rec.Session.Spans[e.Span].Item] = true
		}
	}
	return int64(len(items))
}

// fill turns the sums into the figures of an estimate.
func (s *sums) fill(e *Estimate, baseline Totals) {
	total := s.low
	total.merge(s.extra)
	e.Requests, e.InputTokens, e.OutputTokens, e.CostUSD = total.Requests, total.InputTokens, total.OutputTokens, total.CostUSD
	e.CacheReadTokens, e.CacheWriteTokens = total.CacheReadTokens, total.CacheWriteTokens
	e.SavedCountedTokens = s.base.CountedTokens - total.CountedTokens
	e.CacheReadLost, e.ClampedRequests = s.lost, s.clamped
	e.EditedItems, e.RemovedRequestsLow, e.RemovedRequestsHigh, e.AddedRequests = s.edited, s.removedLow, s.removedHigh, s.added
	slices.SortStableFunc(s.top, func(a, b Contribution) int { return cmp.Compare(math.Abs(b.SavedTokens), math.Abs(a.SavedTokens)) })
	e.Top = s.top[:min(len(s.top), topContributions)]
	if s.mute > 0 {
		e.OutputTokens = nil
	} else {
		e.StaticSavingOutputTokens = minus(baseline.OutputTokens, total.OutputTokens)
	}
	if s.silent > 0 { // a cost takes input and output
		e.InputTokens, e.CostUSD, e.CacheReadLost = nil, nil, nil
		e.CacheReadTokens, e.CacheWriteTokens = nil, nil
		return
	}
	high := s.high
	high.merge(s.extra)
	e.StaticSavingTokens = minus(baseline.InputTokens, total.InputTokens)
	e.StaticSavingTokensHigh = minus(baseline.InputTokens, high.InputTokens)
	e.StaticSavingUSD = minus(baseline.CostUSD, total.CostUSD)
	e.StaticSavingUSDHigh = minus(baseline.CostUSD, high.CostUSD)
	e.StaticSavingUSDShare = ShareOfCost(e.StaticSavingUSD, baseline.CostUSD)
	s.spread(e)
	if e.StaticSavingTokens != nil && *baseline.InputTokens > 0 {
		share := float64(*e.StaticSavingTokens) / float64(*baseline.InputTokens)
		e.StaticSavingShare = &share
	}
	s.breakEven(e)
}

// ShareOfCost is a saving as a share of the recorded cost, negative where it is dearer;
// nil where either is unknown, and where nothing was paid.
func ShareOfCost(saved, cost *float64) *float64 {
	if saved == nil || cost == nil || *cost <= 0 {
		return nil
	}
	return new(*saved / *cost)
}

func minus[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// spread is what the saving would be with the calibration factors at the
// quartiles of their spread. Extras have no spread of their own.
func (s *sums) spread(e *Estimate) {
	if e.StaticSavingTokens == nil || s.spreadLow == nil {
		return
	}
	extra := float64(value(s.extra.InputTokens))
	a, b := int64(math.Round(*s.spreadLow-extra)), int64(math.Round(*s.spreadHigh-extra))
	a, b = min(a, b), max(a, b)
	e.StaticSavingSpreadLow, e.StaticSavingSpreadHigh = &a, &b
}

// breakEven divides the saving by what one extra request costs on average. What
// costs more as it is cannot afford any, whatever they cost.
func (s *sums) breakEven(e *Estimate) {
	if saved := e.StaticSavingTokens; saved != nil {
		e.BreakEvenRequestsTokens = affords(float64(*saved), s.extraTokens, s.known)
	}
	if saved := e.StaticSavingUSD; saved != nil {
		extra := 0.0
		if s.extraUSD != nil && !s.unpriced {
			extra = *s.extraUSD
		}
		e.BreakEvenRequestsUSD = affords(*saved, extra, s.known)
	}
}

// affords is how many requests a saving pays for, of which n cost so much in all;
// nil where that is unknown.
func affords(saving, cost float64, n int64) *float64 {
	switch {
	case saving < 0:
		return new(float64)
	case n == 0 || cost <= 0:
		return nil
	}
	requests := saving / (cost / float64(n))
	return &requests
}

// warn says what the reader must know about this estimate.
func (s *sums) warn(e Estimate, sessions int, report *Report) []string {
	out := s.planWarnings(sessions)
	if s.unsupported > 0 {
		out = append(out, fmt.Sprintf("%d of %s cannot support it: %s", s.unsupported, term.Count(int64(sessions), "session", "sessions"), strings.Join(appendNew(nil, s.why...), "; ")))
	}
	if s.silent > 0 && !e.Idle() {
		out = append(out, sessionsOf(s.silent, sessions, usageMissing(s.silent > s.mute)+": the saving is known as counted tokens alone"))
	}
	if s.later > 0 {
		out = append(out, fmt.Sprintf("%d of the recorded compactions would have come later or not at all: this estimate leaves them where they were", s.later))
	}
	if all := s.base.CountedTokens; emptied(e.SavedCountedTokens, all) {
		out = append(out, fmt.Sprintf("takes away %.0f %% of all text that was sent: no session could have run like this", 100*float64(e.SavedCountedTokens)/float64(all)))
	}
	if s.clamped > 0 {
		out = append(out, fmt.Sprintf("the cache model misses what was read in %s by more than this leaves there: reads are held between nothing and the whole input, so USD is less sure", term.Count(s.clamped, "request", "requests")))
	}
	if e.SavedCountedTokens < 0 {
		out = append(out, "sends more text than was recorded")
	}
	if e.StaticSavingUSD != nil && e.StaticSavingTokens != nil && *e.StaticSavingUSD < 0 && *e.StaticSavingTokens > 0 {
		out = append(out, "fewer tokens, but dearer: changes to text that had been sent already break the cached prefix")
	}
	return out
}
