package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// PayloadWriter shows payloads one request at a time.
type PayloadWriter interface {
	Request(analyze.PayloadRequest) error
	Close() error // writes what was held back
}

// PayloadJSON writes one object per request and line.
func PayloadJSON(w io.Writer) PayloadWriter { return payloadJSON{w} }

type payloadJSON struct{ w io.Writer }

func (p payloadJSON) Request(r analyze.PayloadRequest) error { return WriteJSON(p.w, r, false) }
func (p payloadJSON) Close() error                           { return nil }

// PayloadList writes one line per request, a table per session.
func PayloadList(w io.Writer, o Options) PayloadWriter {
	return &payloadList{screen: newScreen(w, o), o: o}
}

type payloadList struct {
	screen
	o       Options
	session string
	table   term.Table
}

func (p *payloadList) Request(r analyze.PayloadRequest) error {
	if r.SessionID != p.session || len(p.table.Columns) == 0 {
		if err := p.Close(); err != nil {
			return err
		}
		p.session = r.SessionID
		p.table = term.Table{Indent: indent, Columns: []term.Column{
			{Title: "request", Right: true}, {Title: "chain", Right: true, Optional: 3}, {Title: "kind", Optional: 2},
			{Title: "time", Optional: 4}, {Title: "parts", Right: true}, {Title: "input", Right: true},
			{Title: "counted", Right: true}, {Title: "framing", Right: true}, {Title: "unlogged", Right: true},
			{Title: "constant", Right: true, Optional: 5},
			{Title: "model", Flex: true, Min: 8, Optional: 1},
		}}
	}
	when := term.Unknown
	if r.Time != nil {
		when = r.Time.In(p.o.location()).Format("15:04:05")
	}
	p.table.Rows = append(p.table.Rows, cells(
		term.Exact(r.Request), term.Exact(r.Chain), r.Kind, when, term.Exact(int64(len(r.Parts))), term.Opt(r.InputTokens, term.Exact),
		term.Exact(r.CountedTokens), term.Opt(r.FramingTokens, term.Exact), unloggedCell(r), constantCell(r), term.Fit(deref(r.Model), maxCell)))
	return nil
}

func (p *payloadList) Close() error {
	if len(p.table.Rows) == 0 {
		return nil
	}
	err := p.write("Session "+term.Fit(p.session, maxCell), p.table)
	p.table = term.Table{}
	return err
}

// PayloadParts writes every part of each request.
func PayloadParts(w io.Writer, o Options) PayloadWriter {
	return &payloadParts{newScreen(w, o)}
}

type payloadParts struct{ screen }

func (p *payloadParts) Request(r analyze.PayloadRequest) error {
	t := term.Table{Indent: indent, Columns: []term.Column{
		{Title: "#", Right: true}, {Title: "kind", Flex: true, Min: 18}, {Title: "role", Optional: 3}, {Title: "tokens", Right: true},
		{Title: "chars", Right: true, Optional: 2}, {Title: "origin", Optional: 4}, {Title: "call", Flex: true, Min: 8, Optional: 1},
		{Title: "sha256", Optional: 5},
	}}
	for i, part := range r.Parts {
		t.Rows = append(t.Rows, cells(
			term.Exact(int64(i+1)), show(kind(part.Kind, part.Tool).text, maxCell), term.Safe(deref(part.Role)), term.Opt(part.Tokens, term.Exact),
			term.Exact(part.Chars), part.Origin, term.Fit(deref(part.CallID), maxCell), part.SHA256[:min(12, len(part.SHA256))]))
	}
	title := fmt.Sprintf("Request %s of session %s", term.Exact(r.Request), term.Fit(r.SessionID, maxCell))
	if r.Chain > 0 {
		title += fmt.Sprintf(", chain %d", r.Chain)
	}
	if err := p.write(title, t); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.w, "\n  %s\n", strings.Join(term.Wrap(payloadSum(r), p.width-indent), "\n  "))
	return err
}

func (p *payloadParts) Close() error { return nil }

// unloggedCell is what nothing logged explains; without usage, about what is
// constant of it.
func unloggedCell(r analyze.PayloadRequest) string {
	if r.UnloggedTokens == nil && orZero(r.ConstantTokens) > 0 {
		return "~" + term.Exact(*r.ConstantTokens)
	}
	return term.Opt(r.UnloggedTokens, term.Exact)
}

func constantCell(r analyze.PayloadRequest) string { return term.Opt(r.ConstantTokens, term.Exact) }

// constantPart says what of the unlogged tokens goes out with every turn.
func constantPart(r analyze.PayloadRequest) string {
	if orZero(r.ConstantTokens) == 0 || r.ConstantLow == nil || r.ConstantHigh == nil {
		return ""
	}
	return fmt.Sprintf("about %s constant (%s to %s, from %s)", term.Exact(*r.ConstantTokens), term.Exact(*r.ConstantLow), term.Exact(*r.ConstantHigh), methodOf(deref(r.ConstantMethod)))
}

func methodOf(key string) string {
	switch key {
	case "first-request":
		return "the first request"
	case "totals":
		return "the session's totals"
	}
	return words(key)
}

// payloadSum is what the input of a request is made of. Calibration is the
// difference between counted tokens and the provider's.
func payloadSum(r analyze.PayloadRequest) string {
	if r.InputTokens == nil || r.FramingTokens == nil || r.UnloggedTokens == nil {
		s := fmt.Sprintf("input unknown: the log holds no usage; counted %s", term.Exact(r.CountedTokens))
		if constant := constantPart(r); constant != "" {
			s += "; not logged: " + constant
		}
		return s
	}
	s := fmt.Sprintf("input %s = counted %s", term.Exact(*r.InputTokens), term.Exact(r.CountedTokens))
	if calibration := *r.InputTokens - r.CountedTokens - *r.FramingTokens - *r.UnloggedTokens; calibration != 0 {
		s += " + calibration " + term.Exact(calibration)
	}
	s += fmt.Sprintf(" + framing %s + unlogged %s", term.Exact(*r.FramingTokens), term.Exact(*r.UnloggedTokens))
	if constant := constantPart(r); constant != "" {
		s += ", of which " + constant
	}
	return s
}

// screen writes tables under headings, a blank line between them.
type screen struct {
	w     io.Writer
	width int
	theme term.Theme
	utf8  bool
	any   bool
}

func newScreen(w io.Writer, o Options) screen {
	return screen{w: w, width: min(max(o.Width, minWidth), maxWidth), theme: term.NewTheme(o.Color), utf8: o.UTF8}
}

func (s *screen) write(title string, t term.Table) error {
	out := s.theme.Heading.Render(term.CutMiddle(title, s.width)) + "\n" + strings.Join(t.Render(s.width, s.theme), "\n") + "\n"
	if s.any {
		out = "\n" + out
	}
	s.any = true
	if !s.utf8 {
		out = term.ASCII(out)
	}
	_, err := io.WriteString(s.w, out)
	return err
}

func cells(texts ...string) term.Row {
	row := term.Row{}
	for _, s := range texts {
		row.Cells = append(row.Cells, term.Cell{Text: s})
	}
	return row
}
