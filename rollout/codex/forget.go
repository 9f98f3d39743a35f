package codex

// decideForgetting settles at which new turns the reasoning of finished turns
// left the payload.
//
// Inside a turn reasoning always stays. Whether it stays when the user speaks
// again is the server's choice, and no field of the log says which it was. It
// belongs to the model: in logs of 0.57–0.115 (gpt-5-codex, gpt-5.1, gpt-5.3,
// gpt-5.4) the input falls at every new turn by the reasoning of the turn before,
// in a log of 0.145 (gpt-5.6) never. So the recorded input of all turns decides
// once for each model; where it shows nothing, reasoning is kept.
func decideForgetting(requests []*planned) {
	scores := map[string]float64{}
	scale := inputScale(requests)
	for _, t := range turnStarts(requests) {
		scores[requests[t.at].model] += t.score(requests, scale)
	}
	for _, t := range turnStarts(requests) {
		p := requests[t.at]
		p.forget = scores[p.model] > 0
	}
}

// turnStart is a request that begins a turn after another one.
type turnStart struct {
	at        int   // index of the request
	previous  int   // last request before it with a plain input
	reasoning int64 // tokens of the turn before
}

func turnStarts(requests []*planned) []turnStart {
	var out []turnStart
	previous, reasoning := -1, int64(0)
	for i, p := range requests {
		if i > 0 && requests[i-1].after != nil {
			previous, reasoning = -1, 0
		}
		if i > 0 && p.turn != requests[i-1].turn {
			out = append(out, turnStart{i, previous, reasoning})
			reasoning = 0
		}
		if p.plain() {
			previous = i
		}
		if p.usage != nil {
			reasoning += p.usage.Reasoning.V
		}
	}
	return out
}

// Tokens by which the expected input of a turn may be off, as one standard
// deviation: a fixed part and a share of the new input, whose size is estimated.
const (
	fixedError = 30
	shareError = 0.1
)

// strongest bounds what one turn adds to the score: a single large change may
// have another cause, such as other tool definitions.
const strongest = 9

// score is positive when the first plain input of the turn is nearer to what it
// would be without the reasoning of the turn before than to what it would be
// with it.
func (t turnStart) score(requests []*planned, scale float64) float64 {
	if t.previous < 0 || t.reasoning == 0 {
		return 0
	}
	kept, fresh := float64(requests[t.previous].usage.Input.V), float64(0)
	for k := t.previous + 1; k < len(requests); k++ {
		before, p := requests[k-1], requests[k]
		if before.usage == nil || before.after != nil || k > t.at && p.turn != requests[t.at].turn {
			return 0
		}
		fresh += float64(p.input) * scale
		kept += float64(before.usage.Output.V)
		if k < t.at || !p.plain() {
			continue
		}
		d := float64(p.usage.Input.V) - kept - fresh
		s := fixedError + shareError*fresh
		r := float64(t.reasoning)
		return min(max((d*d-(d+r)*(d+r))/(s*s), -strongest), strongest)
	}
	return 0
}

// plain says that the input figure is that of the payload. The results of a web
// search are in the input of the request that searches, and in no other.
func (p *planned) plain() bool { return p.usage != nil && !p.web() }

func (p *planned) web() bool {
	for _, r := range p.runs {
		if r.web {
			return true
		}
	}
	return false
}

// inputScale is what an estimated token of new input really cost in this log.
func inputScale(requests []*planned) float64 {
	var grown, estimated float64
	for i := 1; i < len(requests); i++ {
		a, b := requests[i-1], requests[i]
		if a.turn != b.turn || a.after != nil || !a.plain() || !b.plain() || b.input == 0 {
			continue
		}
		if g := b.usage.Input.V - a.usage.Input.V - a.usage.Output.V; g > 0 {
			grown += float64(g)
			estimated += float64(b.input)
		}
	}
	if estimated == 0 {
		return 1
	}
	return min(max(grown/estimated, 0.25), 4)
}
