package fidelity

import (
	"slices"
	"time"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// Comparison is how to compare. The zero value compares without a look into the
// log files and with a token counter of its own.
type Comparison struct {
	Tokens *tokens.Tokens // counter; nil: a new one
	Held   Held           // texts of the log files; nil: not looked at
}

// Compare compares rebuilt sessions with what was sent.
func Compare(rebuilt []*rollout.Session, sent []Request) Result {
	return Comparison{}.Compare(rebuilt, sent)
}

// Compare compares rebuilt sessions with what was sent.
func (c Comparison) Compare(rebuilt []*rollout.Session, sent []Request) Result {
	if c.Tokens == nil {
		c.Tokens = tokens.New()
	}
	p := newPairing(rebuilt, sent)
	p.pair()
	var out Result
	for i, s := range rebuilt {
		session := Session{ID: s.ID, Source: s.Source, AgentVersion: s.AgentVersion, File: s.File}
		var payloads *payloads
		for _, link := range p.links[i] {
			if payloads == nil {
				payloads = newPayloads(s, c.Tokens)
			}
			session.Pairs = append(session.Pairs, c.requests(payloads, link, sent[link.sent]))
		}
		if len(session.Pairs) > 0 {
			out.Sessions = append(out.Sessions, session)
		}
	}
	p.unsent(&out)
	out.Unlogged = p.unlogged()
	return out
}

// requests compares one request of both sides.
func (c Comparison) requests(p *payloads, l link, sent Request) Pair {
	r := p.s.Requests[l.request]
	out := Pair{Chain: r.Chain, Number: r.Number, Kind: r.Kind, Line: r.Line, Sent: sent.Index, Time: known(sent.Time), By: l.by, Failed: sent.Failed, Usage: sameUsage(r.Usage, sent.Usage)}
	if out.Time == nil {
		out.Time = known(r.Time)
	}
	rebuilt := p.at(l.request)
	d := diff(rebuilt, sent.Parts)
	served := int64(0) // what a capture counted for encrypted reasoning beyond its real size
	for _, m := range d.equal {
		out.Equal++
		n := sent.Parts[m.sent].Tokens
		out.LoggedTokens += n
		out.MatchedTokens += n
		if rebuilt[m.rebuilt].Opaque && sent.Parts[m.sent].Kind == rollout.Reasoning {
			served += n - rebuilt[m.rebuilt].Tokens
		}
	}
	for _, e := range d.edits {
		if e.empty(rebuilt, sent.Parts) {
			continue
		}
		if e.change == MissingPart && excused(p.s, r, sent.Parts[e.sent], e.sent == len(sent.Parts)-1) && !c.Held.Has(sent.Parts[e.sent].SHA256) {
			out.Excused++
			out.UnloggedSent += sent.Parts[e.sent].Tokens
			continue
		}
		out.note(e, rebuilt, sent.Parts)
	}
	if out.UnloggedOf = out.UnloggedSent; !framesUnlogged(p.s) {
		out.UnloggedOf = out.UnloggedSent + out.LoggedTokens
	}
	if unlogged := p.measured.Requests[l.request].Unlogged; unlogged != nil {
		n := *unlogged - served
		out.UnloggedPredicted = &n
	}
	return out
}

// known is a time, nil where it is unknown.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// note counts one part that is not as it was sent.
func (p *Pair) note(e edit, rebuilt, sent []Part) {
	d := Difference{Change: e.change}
	of := Part{}
	if e.rebuilt >= 0 {
		d.Rebuilt, of, d.Position = &rebuilt[e.rebuilt], rebuilt[e.rebuilt], e.rebuilt+1
	}
	if e.sent >= 0 {
		d.Sent, of, d.Position = &sent[e.sent], sent[e.sent], e.sent+1
		p.LoggedTokens += of.Tokens
	}
	d.Kind, d.Role, d.Tool, d.CallID, d.Tokens = of.Kind, of.Role, of.Name, of.CallID, of.Tokens
	if d.Rebuilt != nil && d.Tool == "" {
		d.Kind, d.Tool = d.Rebuilt.Kind, d.Rebuilt.Name // the log knows more of it
	}
	switch e.change {
	case MissingPart:
		p.Missing++
	case ExtraPart:
		p.Extra++
		p.ExtraTokens += of.Tokens
	case DifferentPart:
		p.Different++
		d.At = firstDifference(d.Rebuilt.Text, d.Sent.Text)
	case MovedPart:
		p.Moved++
	}
	p.Differences = append(p.Differences, d)
}

// firstDifference is the first code point in which two texts differ.
func firstDifference(a, b *string) *int {
	if a == nil || b == nil {
		return nil
	}
	x, y := []rune(*a), []rune(*b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return &n
}

// sameUsage compares what both sides report; nil if they share no figure.
func sameUsage(a, b rollout.Usage) *bool {
	same, any := true, false
	for _, v := range [][2]*int64{{a.Input, b.Input}, {a.CacheRead, b.CacheRead}, {a.Output, b.Output}} {
		if v[0] != nil && v[1] != nil {
			any = true
			same = same && *v[0] == *v[1]
		}
	}
	if !any {
		return nil
	}
	return &same
}

// edit is one part that only one side has, or that differs: -1 where a side has none.
type edit struct {
	change        Change
	rebuilt, sent int
}

// empty reports whether a part that only one side has carries nothing: some agents
// send a text of no length beside calls.
func (e edit) empty(rebuilt, sent []Part) bool {
	switch e.change {
	case MissingPart:
		return sent[e.sent].Chars == 0
	case ExtraPart:
		return rebuilt[e.rebuilt].Chars == 0
	}
	return false
}

// difference is how two lists of parts differ.
type difference struct {
	equal []match
	edits []edit // in the order sent; extra ones before what followed them
}

func diff(rebuilt, sent []Part) difference {
	d := difference{equal: align(rebuilt, sent)}
	i, j := 0, 0
	for _, m := range append(slices.Clone(d.equal), match{len(rebuilt), len(sent)}) {
		d.gap(rebuilt, sent, [2]int{i, m.rebuilt}, [2]int{j, m.sent})
		i, j = m.rebuilt+1, m.sent+1
	}
	d.moves(rebuilt, sent)
	return d
}

// gap pairs what stands between two matches: parts of the same call, else of the
// same class and tool, in order, differ; the rest is missing or extra.
func (d *difference) gap(rebuilt, sent []Part, ours, theirs [2]int) {
	used := map[int]bool{}
	partner := map[int]int{}
	for _, same := range []func(x, y Part) bool{sameCall, sameTool} {
		for j := theirs[0]; j < theirs[1]; j++ {
			if _, ok := partner[j]; ok {
				continue
			}
			for i := ours[0]; i < ours[1]; i++ {
				if !used[i] && alike(rebuilt[i], sent[j]) && same(rebuilt[i], sent[j]) {
					used[i], partner[j] = true, i
					break
				}
			}
		}
	}
	for j := theirs[0]; j < theirs[1]; j++ {
		if i, ok := partner[j]; ok {
			d.edits = append(d.edits, edit{DifferentPart, i, j})
			continue
		}
		d.edits = append(d.edits, edit{MissingPart, -1, j})
	}
	for i := ours[0]; i < ours[1]; i++ {
		if !used[i] {
			d.edits = append(d.edits, edit{ExtraPart, i, -1})
		}
	}
}

func sameCall(x, y Part) bool { return x.CallID != "" && x.CallID == y.CallID }

// sameTool takes call IDs for the agent's own affair: some logs have others than
// were sent.
func sameTool(x, y Part) bool { return x.Name == "" || y.Name == "" || x.Name == y.Name }

// moves finds the parts that both sides hold out of order: a part sent that was
// not matched and a rebuilt one of the same text elsewhere.
func (d *difference) moves(rebuilt, sent []Part) {
	loose := map[string][]int{}
	for k, e := range d.edits {
		if e.rebuilt >= 0 {
			loose[rebuilt[e.rebuilt].SHA256] = append(loose[rebuilt[e.rebuilt].SHA256], k)
		}
	}
	for k := 0; k < len(d.edits); k++ {
		e := d.edits[k]
		if e.sent < 0 || len(loose[sent[e.sent].SHA256]) == 0 {
			continue
		}
		hash := sent[e.sent].SHA256
		other := loose[hash][0]
		loose[hash] = loose[hash][1:]
		moved := d.edits[other].rebuilt
		d.edits[other].rebuilt = -1
		if own := d.edits[k].rebuilt; own >= 0 && other != k {
			// Its wrong partner goes back to being extra.
			d.edits = append(d.edits, edit{ExtraPart, own, -1})
			for n, at := range loose[rebuilt[own].SHA256] {
				if at == k {
					loose[rebuilt[own].SHA256][n] = len(d.edits) - 1
				}
			}
		}
		d.edits[k] = edit{MovedPart, moved, e.sent}
		if d.edits[other].change == DifferentPart {
			d.edits[other].change = MissingPart
		}
	}
	d.edits = slices.DeleteFunc(d.edits, func(e edit) bool { return e.rebuilt < 0 && e.sent < 0 })
}
