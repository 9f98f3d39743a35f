package measure

import "github.com/fclog/fclog/rollout"

// Reasons why a pair of requests tells nothing about sizes.
const (
	NonFinal      = "non-final output" // the response's output is a snapshot
	Removed       = "content removed"  // compaction, clearing, pruning: more than removedTokens left
	Cleared       = "silent clearing"  // the input fell although nothing logged was removed
	removedTokens = 1000               // raw tokens; also the fall of the input that cannot be noise
)

// pair is two answered requests that follow each other: what the second sent more
// than the first, and what is known of it.
type pair struct {
	from, to int // indexes of the requests
	growth   float64
	output   float64                      // what is carried of the first's response, in the provider's tokens
	raw      map[rollout.ItemKind]float64 // raw tokens that began less those that ended, but for
	produced map[rollout.ItemKind]float64 // the raw tokens of what the first's response produced
	inputs   float64                      // input items that began less those that ended
	items    float64                      // all items that began less those that ended
	messages *float64                     // difference of the messages the log counts
	leftOut  string                       // "" usable
}

// pairs returns the growth pairs of a session: consecutive answered requests of one
// chain, run, kind and model, both of this session and with known input.
func pairs(s *rollout.Session, m *Measured) []pair {
	begins, ends := spanEvents(s)
	carried := carriedOutputs(s)
	last := map[int]int{}
	var out []pair
	for i, r := range s.Requests {
		if r.Status != rollout.Answered || r.Usage.Input == nil {
			continue
		}
		before, ok := last[r.Chain]
		last[r.Chain] = i
		if !ok || !followsUp(s.Requests[before], r) {
			continue
		}
		p := pair{from: before, to: i, raw: map[rollout.ItemKind]float64{}, produced: map[rollout.ItemKind]float64{}}
		p.growth = float64(*r.Usage.Input - *s.Requests[before].Usage.Input)
		p.add(s, m, begins, ends)
		p.know(s, carried)
		out = append(out, p)
	}
	return out
}

func followsUp(a, b rollout.Request) bool {
	return !a.Inherited && !b.Inherited && a.Run == b.Run && a.Model == b.Model && a.Kind == b.Kind && a.Base < 0 && b.Base < 0
}

// place is a request number of a chain.
type place struct{ chain, number int }

// spanEvents lists the spans by where they begin and by where they are last alive.
func spanEvents(s *rollout.Session) (begins, ends map[place][]int) {
	begins, ends = map[place][]int{}, map[place][]int{}
	for i, sp := range s.Spans {
		begins[place{sp.Chain, sp.First}] = append(begins[place{sp.Chain, sp.First}], i)
		ends[place{sp.Chain, sp.Last}] = append(ends[place{sp.Chain, sp.Last}], i)
	}
	return begins, ends
}

// add sums what began and what ended between the two requests.
func (p *pair) add(s *rollout.Session, m *Measured, begins, ends map[place][]int) {
	a, b := s.Requests[p.from], s.Requests[p.to]
	removed := int64(0)
	summary := false
	for n := a.Number + 1; n <= b.Number; n++ {
		for _, i := range begins[place{a.Chain, n}] {
			p.count(s, m, i, 1)
			summary = summary || s.Items[s.Spans[i].Item].Kind == rollout.Summary
		}
		for _, i := range ends[place{a.Chain, n - 1}] {
			p.count(s, m, i, -1)
			removed += value(m.Spans[i].Tokens)
		}
	}
	switch {
	case removed > removedTokens || summary:
		p.leftOut = Removed
	case p.growth < -removedTokens:
		p.leftOut = Cleared
	}
}

func (p *pair) count(s *rollout.Session, m *Measured, span int, sign float64) {
	it := s.Items[s.Spans[span].Item]
	n := sign * float64(value(m.Spans[span].Tokens))
	p.items += sign
	if it.Request < 0 {
		p.inputs += sign
	}
	if it.Request == p.from && sign > 0 {
		p.produced[it.Kind] += n
		return
	}
	p.raw[it.Kind] += n
}

// know fills in what the log tells of the response and of the messages.
func (p *pair) know(s *rollout.Session, carried carriedOutputList) {
	a, b := s.Requests[p.from], s.Requests[p.to]
	if a.Messages != nil && b.Messages != nil {
		d := float64(*b.Messages - *a.Messages)
		p.messages = &d
	}
	if a.Usage.Output == nil || !a.OutputFinal {
		if p.leftOut == "" {
			p.leftOut = NonFinal
		}
		return
	}
	if n := carried.tokens(s, p.from); n != nil {
		p.output = *n
	}
}
