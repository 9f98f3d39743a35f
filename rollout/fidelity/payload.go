package fidelity

import (
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// slotBits are the bits of a span's position below its region.
const slotBits = 40

// FromSessions takes request bodies that were read as sessions for what was sent.
// Inherited requests are left out.
func FromSessions(sessions []*rollout.Session, t *tokens.Tokens) []Request {
	var out []Request
	for _, s := range sessions {
		p := newPayloads(s, t)
		for i, r := range s.Requests {
			if r.Inherited {
				continue
			}
			out = append(out, Request{Time: r.Time, Thread: s.ID, ID: r.ID, Failed: r.Status == rollout.Errored, Model: r.Model, Usage: r.Usage, Parts: p.at(i)})
		}
	}
	slices.SortStableFunc(out, func(x, y Request) int { return x.Time.Compare(y.Time) })
	for i := range out {
		out[i].Index = i
	}
	return out
}

// payloads gives the parts of a session's requests.
type payloads struct {
	s        *rollout.Session
	measured *measure.Measured
	chains   map[int][]int // spans by chain, in order of their first request
	parts    []Part        // by span
}

func newPayloads(s *rollout.Session, t *tokens.Tokens) *payloads {
	p := &payloads{s: s, measured: measure.Measure(s, t), chains: map[int][]int{}, parts: make([]Part, len(s.Spans))}
	for i, sp := range s.Spans {
		p.chains[sp.Chain] = append(p.chains[sp.Chain], i)
		p.parts[i] = p.part(i)
	}
	for _, spans := range p.chains {
		slices.SortFunc(spans, func(x, y int) int { return cmp.Compare(s.Spans[x].First, s.Spans[y].First) })
	}
	return p
}

func (p *payloads) part(span int) Part {
	sp := p.s.Spans[span]
	it, text := p.s.Items[sp.Item], &p.s.Texts[sp.Text]
	out := Part{Kind: it.Kind, Role: it.Role, Name: it.Tool, CallID: it.CallID, Chars: int64(text.Chars), SHA256: hex.EncodeToString(text.Hash[:]), Opaque: text.Opaque}
	if n := p.measured.Spans[span].Tokens; n != nil {
		out.Tokens = *n
	}
	if !text.Opaque {
		out.Text = &text.S
	}
	switch rollout.Slot(sp.Position >> slotBits) {
	case rollout.SlotTools:
		out.Slot = Tools
	case rollout.SlotSystem:
		out.Slot = System
	default:
		out.Slot = Messages
	}
	return out
}

// at lists what a request carried, in order: region by region, in each what the
// requests it builds on sent, then its own.
func (p *payloads) at(request int) []Part {
	type placed struct{ span, depth int }
	var alive []placed
	for depth := 0; request >= 0; depth++ {
		r := p.s.Requests[request]
		for _, span := range p.chains[r.Chain] {
			sp := p.s.Spans[span]
			if sp.First > r.Number {
				break
			}
			if sp.Last >= r.Number {
				alive = append(alive, placed{span, depth})
			}
		}
		request = r.Base
	}
	slices.SortStableFunc(alive, func(x, y placed) int {
		px, py := p.s.Spans[x.span].Position, p.s.Spans[y.span].Position
		return cmp.Or(cmp.Compare(px>>slotBits, py>>slotBits), cmp.Compare(y.depth, x.depth), cmp.Compare(px, py))
	})
	parts := make([]Part, len(alive))
	for i, a := range alive {
		parts[i] = p.parts[a.span]
	}
	return parts
}
