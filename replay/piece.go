package replay

import (
	"cmp"
	"slices"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/rollout"
)

// piece is a stretch of requests that carries one text at one position.
type piece struct {
	chain, first, last int
	position           int64
	kind               rollout.ItemKind
	raw                int64 // tokens
	text               rollout.TextID
	new                *string // text that a plan puts there; nil: the recorded one
}

func plainPieces(rec Recording) []piece {
	out := make([]piece, len(rec.Session.Spans))
	for i := range out {
		out[i] = plainPiece(rec, i)
	}
	return out
}

func plainPiece(rec Recording, span int) piece {
	sp := rec.Session.Spans[span]
	return piece{
		chain: sp.Chain, first: sp.First, last: sp.Last, position: sp.Position,
		kind: rec.Session.Items[sp.Item].Kind, raw: value(rec.Sizes.Spans[span].Tokens), text: sp.Text,
	}
}

// same says that two pieces put the same bytes into a payload.
func (l *ledger) same(a, b piece) bool {
	if a.new == nil && b.new == nil {
		return a.text == b.text
	}
	x, okX := l.words(a)
	y, okY := l.words(b)
	return okX && okY && x == y
}

func (l *ledger) words(p piece) (string, bool) {
	if p.new != nil {
		return *p.new, true
	}
	t := l.rec.Session.Texts[p.text]
	return t.S, !t.Opaque
}

// sizedEdit is an edit with the size of its text.
type sizedEdit struct {
	Edit
	raw  int64
	last int // last request that carries it
}

// layout is a plan laid out over a recording.
type layout struct {
	pieces   []piece
	edits    []sizedEdit
	added    []piece // of the additions
	warnings []string
}

// lay cuts the recorded spans where the plan edits them and adds its additions.
// Edits that make no sense are left out and said so.
func (l *ledger) lay(plan Plan) layout {
	out := layout{}
	bySpan := l.soundEdits(plan.Edits, &out)
	if len(bySpan) == 0 {
		out.pieces = l.plain
	} else {
		out.pieces = make([]piece, 0, len(l.plain)+len(plan.Edits))
		for i, p := range l.plain {
			out.cut(p, bySpan[i])
		}
	}
	l.add(plan.Additions, &out)
	return out
}

// soundEdits sizes the edits and sorts them by span and first request.
func (l *ledger) soundEdits(edits []Edit, out *layout) map[int][]sizedEdit {
	s := l.rec.Session
	bySpan := map[int][]sizedEdit{}
	bad := 0
	for _, e := range edits {
		if e.Span < 0 || e.Span >= len(s.Spans) || e.From > s.Spans[e.Span].Last || e.From < s.Spans[e.Span].First {
			bad++
			continue
		}
		sized := sizedEdit{Edit: e, last: s.Spans[e.Span].Last}
		if !e.Drop {
			sized.raw = l.engine.count(l.rec.Sizes.Encoding, e.Text)
		}
		bySpan[e.Span] = append(bySpan[e.Span], sized)
	}
	for span, list := range bySpan {
		slices.SortStableFunc(list, func(a, b sizedEdit) int { return cmp.Compare(a.From, b.From) })
		kept := list[:0]
		for i, e := range list {
			if i+1 < len(list) && list[i+1].From == e.From {
				bad++ // the later of two that begin together holds
				continue
			}
			kept = append(kept, e)
		}
		for i := range kept[:len(kept)-1] {
			kept[i].last = kept[i+1].From - 1
		}
		bySpan[span] = kept
	}
	if bad > 0 {
		out.warnings = append(out.warnings, term.Count(int64(bad), "edit did not fit the session and was", "edits did not fit the session and were")+" left out")
	}
	return bySpan
}

// cut puts a span's pieces in place: the recorded text up to the first edit, then
// what the edits say.
func (out *layout) cut(p piece, edits []sizedEdit) {
	if len(edits) == 0 {
		out.pieces = append(out.pieces, p)
		return
	}
	if head := p; edits[0].From > p.first {
		head.last = edits[0].From - 1
		out.pieces = append(out.pieces, head)
	}
	for i := range edits {
		e := edits[i]
		out.edits = append(out.edits, e)
		if e.Drop {
			continue
		}
		changed := p
		changed.first, changed.last, changed.raw, changed.new = e.From, e.last, e.raw, &edits[i].Text
		out.pieces = append(out.pieces, changed)
	}
}

// add puts the additions in place, as far as they lie on requests of the session.
func (l *ledger) add(list []Addition, out *layout) {
	for _, a := range list {
		p := piece{chain: a.Chain, first: max(a.First, 1), last: min(a.Last, len(l.chains[a.Chain])), position: a.Position, kind: a.Kind, new: &a.Text}
		if p.last < p.first {
			out.warnings = append(out.warnings, "an addition did not fit the session and was left out")
			continue
		}
		p.raw = value(a.Tokens)
		if a.Tokens == nil {
			p.raw = l.engine.count(l.rec.Sizes.Encoding, a.Text)
		}
		out.added = append(out.added, p)
	}
	if len(out.added) > 0 {
		out.pieces = slices.Concat(out.pieces, out.added)
	}
}

// count is the raw count of a text; no text has none.
func (e *Engine) count(encoding, text string) int64 {
	if text == "" {
		return 0
	}
	return e.Count(encoding, text)
}
