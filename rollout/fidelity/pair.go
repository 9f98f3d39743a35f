package fidelity

import (
	"cmp"
	"slices"
	"time"

	"github.com/fclog/fclog/rollout"
)

// link ties a request of a session to one that was sent.
type link struct {
	request, sent int
	by            How
}

// pairing finds the partner of each request.
type pairing struct {
	rebuilt []*rollout.Session
	sent    []Request
	links   [][]link        // by session, in order of its requests
	partner [][]int         // by session and request: the sent one, or -1
	taken   []bool          // by sent request
	owner   map[string]int  // session of a thread of that name
	tools   map[string]bool // threads whose requests offer tools
	ids     map[string]bool // response IDs of the paired requests of the log
}

func newPairing(rebuilt []*rollout.Session, sent []Request) *pairing {
	p := &pairing{rebuilt: rebuilt, sent: sent, links: make([][]link, len(rebuilt)), partner: make([][]int, len(rebuilt)), taken: make([]bool, len(sent)), owner: map[string]int{}, ids: map[string]bool{}, tools: map[string]bool{}}
	for _, w := range sent {
		p.tools[w.Thread] = p.tools[w.Thread] || hasTools(w)
	}
	for i, s := range rebuilt {
		p.partner[i] = slices.Repeat([]int{-1}, len(s.Requests))
		if _, ok := p.owner[s.ID]; !ok {
			p.owner[s.ID] = i
		}
	}
	return p
}

// pair links requests by the surest means first.
func (p *pairing) pair() {
	p.each(ByID, func(_ int, r rollout.Request, w Request) bool { return r.ID != "" && r.ID == w.ID })
	p.each(ByLine, func(s int, r rollout.Request, w Request) bool {
		owner, ok := p.owner[w.Thread]
		return ok && owner == s && r.Line != 0 && r.Line == w.LogLine
	})
	p.each(ByUsage, func(s int, r rollout.Request, w Request) bool {
		return p.fits(s, r, w) && !w.Failed && equalUsage(r.Usage, w.Usage)
	})
	p.inOrder()
	for i := range p.links {
		slices.SortFunc(p.links[i], func(x, y link) int { return x.request - y.request })
	}
}

// each links free requests to sent ones that are their own by the given rule, the
// nearest in time first, then the earliest.
func (p *pairing) each(by How, own func(session int, r rollout.Request, w Request) bool) {
	type candidate struct {
		session, request, sent int
		apart                  time.Duration
	}
	var list []candidate
	for s, session := range p.rebuilt {
		for i, r := range session.Requests {
			if p.settled(s, i) {
				continue
			}
			for j, w := range p.sent {
				if !p.taken[j] && own(s, r, w) {
					list = append(list, candidate{s, i, j, distance(r, w)})
				}
			}
		}
	}
	slices.SortStableFunc(list, func(x, y candidate) int { return cmp.Compare(x.apart, y.apart) })
	for _, c := range list {
		if !p.taken[c.sent] && !p.settled(c.session, c.request) {
			p.link(c.session, c.request, c.sent, by)
		}
	}
}

// settled reports whether a request needs no partner: it has one, it belongs to
// another session's log, or it repeats a response that has one.
func (p *pairing) settled(session, request int) bool {
	r := p.rebuilt[session].Requests[request]
	return r.Inherited || p.partner[session][request] >= 0 || p.ids[r.ID]
}

func (p *pairing) link(session, request, sent int, by How) {
	p.links[session] = append(p.links[session], link{request, sent, by})
	p.partner[session][request] = sent
	p.taken[sent] = true
	if id := p.rebuilt[session].Requests[request].ID; id != "" {
		p.ids[id] = true
	}
}

// distance in time; 0 where a side has none, so that order decides.
func distance(r rollout.Request, w Request) time.Duration {
	if r.Time.IsZero() || w.Time.IsZero() {
		return 0
	}
	return r.Time.Sub(w.Time).Abs()
}

// fits reports whether a sent request can be one of a session: its thread names
// no other session, and the models agree where both are known.
func (p *pairing) fits(session int, r rollout.Request, w Request) bool {
	if owner, ok := p.owner[w.Thread]; ok && owner != session {
		return false
	}
	return r.Model == "" || w.Model == "" || r.Model == w.Model
}

// equalUsage asks for input and one more figure.
func equalUsage(a, b rollout.Usage) bool {
	return a.Input != nil && b.Input != nil && *a.Input == *b.Input && *sameUsage(a, b)
}

// inOrder links what is left between paired neighbours: free requests of a session
// with free ones of its thread, in order, failed with failed.
func (p *pairing) inOrder() {
	for s, session := range p.rebuilt {
		for i, r := range session.Requests {
			if p.settled(s, i) {
				continue
			}
			from, to, thread := p.between(s, i)
			for j := from; j < to; j++ {
				w := p.sent[j]
				own := w.Thread == session.ID || thread != nil && w.Thread == *thread || thread == nil && len(p.rebuilt) == 1 && plausible(r, w)
				if p.taken[j] || !own || !p.fits(s, r, w) || w.Failed != failed(r) || !p.sameSort(r, w) {
					continue
				}
				p.link(s, i, j, ByOrder)
				break
			}
		}
	}
}

// maxApart is how far a request of the log can be from the sent one it is: the log
// may tell of it only when it was answered.
const maxApart = 10 * time.Minute

// plausible keeps the bodies of another session from being taken for this one's
// where nothing else ties them: figures that both report agree, and so do times.
func plausible(r rollout.Request, w Request) bool {
	same := sameUsage(r.Usage, w.Usage)
	return (same == nil || *same) && distance(r, w) <= maxApart
}

// sameSort keeps token counts and helper calls from being taken for turns.
func (p *pairing) sameSort(r rollout.Request, w Request) bool {
	if w.Failed || r.Kind != rollout.KindTurn {
		return true
	}
	return (w.Usage.Input != nil || r.Usage.Input == nil) && !p.helper(w)
}

// failed reports whether a request got no answer.
func failed(r rollout.Request) bool { return r.Status != rollout.Answered }

// between is where the partner of a request must lie: after that of the last paired
// request before it and before that of the next; and their thread.
func (p *pairing) between(session, request int) (from, to int, thread *string) {
	to = len(p.sent)
	for i := request - 1; i >= 0; i-- {
		if j := p.partner[session][i]; j >= 0 {
			from, thread = j+1, &p.sent[j].Thread
			break
		}
	}
	for i := request + 1; i < len(p.partner[session]); i++ {
		if j := p.partner[session][i]; j >= 0 {
			to = j
			if thread == nil {
				thread = &p.sent[j].Thread
			}
			break
		}
	}
	return from, to, thread
}

// unsent lists the requests of the log that nothing was sent for, in sessions of
// which something was. Those that repeat a paired one, as resumed and forked files
// do, are counted as copies. Sessions of which nothing was sent are another matter:
// they were not captured.
func (p *pairing) unsent(out *Result) {
	for s, session := range p.rebuilt {
		var alone []Lone
		for i, r := range session.Requests {
			switch {
			case r.Inherited || p.partner[s][i] >= 0:
			case p.ids[r.ID]:
				out.Copies++
			default:
				why := Unpaired
				if failed(r) {
					why = FailedAttempt
				}
				alone = append(alone, Lone{Session: session.ID, Index: r.Number, Line: r.Line, Time: known(r.Time), Why: why})
			}
		}
		switch {
		case len(p.links[s]) > 0:
			out.Unsent = append(out.Unsent, alone...)
		case len(alone) > 0:
			out.Uncaptured = append(out.Uncaptured, Uncaptured{Session: session.ID, File: session.File, Requests: len(alone)})
		}
	}
}

// unlogged lists the sent requests that the log does not tell of.
func (p *pairing) unlogged() []Lone {
	var out []Lone
	for j, w := range p.sent {
		if p.taken[j] {
			continue
		}
		lone := Lone{Session: w.Thread, Index: w.Index, Time: known(w.Time), Why: Unpaired}
		for _, part := range w.Parts {
			lone.Tokens += part.Tokens
		}
		switch {
		case w.Failed:
			lone.Why = FailedAttempt
		case w.Usage.Input == nil:
			lone.Why = NoUsage
		case p.sentAgain(j):
			lone.Why = Repeated
		case p.helper(w):
			lone.Why = Helper
		}
		out = append(out, lone)
	}
	return out
}

// helper reports whether a request is a side call: without tools, although its
// conversation has them, or of no conversation.
func (p *pairing) helper(w Request) bool {
	return !hasTools(w) && (p.tools[w.Thread] || w.Thread == "")
}

func hasTools(w Request) bool {
	return slices.ContainsFunc(w.Parts, func(p Part) bool { return p.Kind == rollout.ToolDefinitions })
}

// sentAgain reports whether the next request of the thread carries the same parts.
func (p *pairing) sentAgain(j int) bool {
	for k := j + 1; k < len(p.sent); k++ {
		if p.sent[k].Thread == p.sent[j].Thread {
			return slices.EqualFunc(p.sent[j].Parts, p.sent[k].Parts, func(x, y Part) bool { return x.SHA256 == y.SHA256 })
		}
	}
	return false
}
