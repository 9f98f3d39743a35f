package replay

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// part is one text of a materialised payload.
type part struct {
	position int64
	kind     rollout.ItemKind
	raw      int64
	text     string
}

// materialise writes out what a request carries, its base in front.
func materialise(rec Recording, p Plan, count CountText, request int) []part {
	s := rec.Session
	r := s.Requests[request]
	var out []part
	for i, sp := range s.Spans {
		if sp.Chain != r.Chain || r.Number < sp.First || r.Number > sp.Last {
			continue
		}
		it := part{position: sp.Position, kind: s.Items[sp.Item].Kind, raw: value(rec.Sizes.Spans[i].Tokens), text: s.Texts[sp.Text].S}
		if t := s.Texts[sp.Text]; t.Opaque {
			it.text = "opaque " + string(t.Hash[:])
		} else if sp.Tokens == nil && it.kind != rollout.Reasoning {
			it.raw = count(rec.Sizes.Encoding, t.S)
		}
		latest := Edit{From: -1}
		for _, e := range p.Edits {
			if e.Span == i && e.From <= r.Number && e.From > latest.From {
				latest = e
			}
		}
		if latest.Drop {
			continue
		}
		if latest.From > 0 {
			it.raw, it.text = count(rec.Sizes.Encoding, latest.Text), latest.Text
		}
		out = append(out, it)
	}
	for _, a := range p.Additions {
		if a.Chain == r.Chain && a.First <= r.Number && r.Number <= a.Last {
			out = append(out, part{a.Position, a.Kind, count(rec.Sizes.Encoding, a.Text), a.Text})
		}
	}
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(a.position, b.position) })
	if r.Base >= 0 {
		out = append(materialise(rec, p, count, r.Base), out...)
	}
	return out
}

func rawOf(parts []part) int64 {
	sum := int64(0)
	for _, p := range parts {
		sum += p.raw
	}
	return sum
}

// factor looks a kind up in the calibration itself.
func factor(rec Recording, model string, kind rollout.ItemKind) float64 {
	general := 1.0
	for _, c := range rec.Sizes.Calibration {
		if c.Model == model && c.Fit == measure.FitAll && c.Kind == kind {
			return c.Factor
		}
		if c.Model == model && c.Fit == measure.FitAll && c.Kind == "" {
			general = c.Factor
		}
	}
	return general
}

// checkPayloads compares the engine with payloads that were written out and
// counted again, text by text.
func checkPayloads(t require.TestingT, rec Recording, e *Engine, p Plan, count CountText) {
	removed := map[int]bool{}
	for _, r := range p.Removals {
		removed[r.Request] = true
	}
	low, high := e.Evaluate(rec, p, false), e.Evaluate(rec, p, true)
	sum, given, clamped := 0.0, int64(0), false
	for i, r := range rec.Session.Requests {
		before, after := materialise(rec, Plan{}, count, i), materialise(rec, p, count, i)
		require.Equal(t, rec.Sizes.Requests[i].Counted, rawOf(before), "request %d as recorded", i)
		require.Equal(t, removed[i], high.Requests[i].Removed)
		if removed[i] {
			require.Zero(t, high.Requests[i].Counted)
			require.Zero(t, value(high.Requests[i].Input))
			if low.Requests[i].Removed {
				continue
			}
		}
		require.Equal(t, rawOf(after), low.Requests[i].Counted, "request %d", i)
		if r.Usage.Input == nil {
			require.Nil(t, low.Requests[i].Input)
			continue
		}
		byKind := map[rollout.ItemKind]int64{}
		for _, x := range before {
			byKind[x.kind] += x.raw
		}
		for _, x := range after {
			byKind[x.kind] -= x.raw
		}
		saved := 0.0
		for kind, n := range byKind {
			saved += factor(rec, r.Model, kind) * float64(n)
		}
		left := float64(*r.Usage.Input) - saved
		require.InDelta(t, max(0, left), float64(*low.Requests[i].Input), 1.000001, "request %d", i)
		if !r.Inherited {
			sum, given, clamped = sum+saved, given+*r.Usage.Input-*low.Requests[i].Input, clamped || left < 1
		}
	}
	if !clamped {
		require.Equal(t, int64(math.Floor(sum+1e-6)), given, "whole tokens of the sum")
	}
}

func TestPayloadsByBruteForce(t *testing.T) {
	e := engine(t)
	counts := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		rec := Recording{s, measure.Measure(s, counts)}
		checkPayloads(t, rec, e, plans(s).Draw(t, "plan"), counts.Count)
	})
}

func TestPayloadsOfEveryFormatByBruteForce(t *testing.T) {
	e := engine(t)
	counts := tokens.New()
	byFormat := everyFormat(t)
	for _, format := range slices.Sorted(maps.Keys(byFormat)) {
		recs := byFormat[format]
		t.Logf("%s: %d sessions", format, len(recs))
		for _, rec := range recs {
			checkPayloads(t, rec, e, Plan{}, counts.Count)
		}
		rapid.Check(t, func(t *rapid.T) {
			rec := rapid.SampledFrom(recs).Draw(t, "recording")
			checkPayloads(t, rec, e, plans(rec.Session).Draw(t, "plan"), counts.Count)
		})
	}
}

// prefixOf compares two written-out payloads part by part: position of the first
// difference, and the provider tokens of the first payload in front of and behind it.
func prefixOf(rec Recording, model string, a, b []part) (at int64, before, behind float64) {
	n := 0
	for n < len(a) && n < len(b) && a[n].position == b[n].position && a[n].text == b[n].text {
		n++
	}
	at = noBreak
	if n < len(a) {
		at = a[n].position
	}
	if n < len(b) {
		at = min(at, b[n].position)
	}
	for i, x := range a {
		if i < n {
			before += factor(rec, model, x.kind) * float64(x.raw)
		} else {
			behind += factor(rec, model, x.kind) * float64(x.raw)
		}
	}
	return at, before, behind
}

func TestSharedPrefixesByBruteForce(t *testing.T) {
	e := engine(t)
	counts := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		rec := Recording{s, measure.Measure(s, counts)}
		p := plans(s).Draw(t, "plan")
		l := e.ledger(rec)
		v := &evaluation{ledger: l, plan: p, lay: l.lay(p)}
		v.markRequests(false)
		v.sizePayloads()
		got := l.sharedPrefixes(v.lay.pieces, v.input, v.removed, nil)
		last := map[int]map[string]int{}
		for i, r := range s.Requests {
			if r.Usage.Input == nil || v.removed[i] || r.Base >= 0 {
				continue
			}
			from, ok := last[r.Chain][r.Model]
			if last[r.Chain] == nil {
				last[r.Chain] = map[string]int{}
			}
			last[r.Chain][r.Model] = i
			if !ok {
				require.Equal(t, -1, got[i].from)
				continue
			}
			require.Equal(t, from, got[i].from)
			at, before, behind := prefixOf(rec, r.Model, materialise(rec, p, counts.Count, from), materialise(rec, p, counts.Count, i))
			require.Equal(t, at, got[i].breakAt, "request %d", i)
			want := float64(*v.input[from]) - behind
			if front := l.front[from]; before < behind && front != nil && at != noBreak {
				want = min(want, *front+before)
			}
			want = min(max(want, 0), float64(*v.input[i]), float64(*v.input[from]))
			require.InDelta(t, want, got[i].tokens, 1e-6)
		}
	})
}

// Whatever a plan does, no request reads more than it sends or costs less than
// nothing, and what is saved was recorded.
func TestOutcomesStayInBounds(t *testing.T) {
	e := engine(t)
	counts := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		rec := Recording{s, measure.Measure(s, counts)}
		p := plans(s).Draw(t, "plan")
		base, o := e.Evaluate(rec, Plan{}, false), e.Evaluate(rec, p, true)
		for i, r := range o.Requests {
			require.GreaterOrEqual(t, r.Counted, int64(0))
			if r.Input == nil {
				continue
			}
			require.GreaterOrEqual(t, *r.Input, int64(0))
			require.LessOrEqual(t, value(r.CacheRead)+value(r.CacheWrite), *r.Input, "request %d", i)
			require.GreaterOrEqual(t, value(r.CacheRead), int64(0))
			if r.CostUSD != nil {
				require.False(t, math.IsNaN(*r.CostUSD) || *r.CostUSD < 0)
			}
		}
		assert.GreaterOrEqual(t, value(o.Total.InputTokens), int64(0))
		saved := 0.0
		for _, c := range o.Contributions {
			saved += c.SavedTokens
		}
		require.False(t, math.IsNaN(saved))
		require.LessOrEqual(t, o.Total.Requests, base.Total.Requests)
	})
}

func TestEmptyPlanOfGeneratedSessions(t *testing.T) {
	e := engine(t)
	counts := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		o := e.Evaluate(Recording{s, measure.Measure(s, counts)}, Plan{}, true)
		for i, r := range s.Requests {
			require.Equal(t, r.Usage.Input, o.Requests[i].Input)
			require.Equal(t, r.Usage.Output, o.Requests[i].Output)
			if r.Usage.Input != nil {
				require.Equal(t, r.Usage.CacheRead, o.Requests[i].CacheRead)
				require.Equal(t, r.Usage.CacheWrite, o.Requests[i].CacheWrite)
			}
		}
	})
}
