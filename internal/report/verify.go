package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// VerifyTerminal writes what a check of a dataset found for a terminal of
// Options.Width columns.
func VerifyTerminal(w io.Writer, v *analyze.Verification, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(verifyDocument(v)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// VerifyMarkdown writes it as plain Markdown with GitHub tables.
func VerifyMarkdown(w io.Writer, v *analyze.Verification) error {
	_, err := io.WriteString(w, markdownDocument(verifyDocument(v)))
	return err
}

func verifyDocument(v *analyze.Verification) document {
	d := document{title: "fclog verify", file: fromLog(v.Dataset)}
	d.sections = append(d.sections, section{prose: []string{verdict(v)}}, verifyChecks(v))
	for _, c := range v.Checks {
		if c.Findings > 0 {
			d.sections = append(d.sections, verifyFindings(v, c))
		}
	}
	return d
}

func verdict(v *analyze.Verification) string {
	what := fmt.Sprintf("%s in %s, %s, %s", term.Count(v.Sessions, "session", "sessions"), term.Count(v.Parts, "part", "parts"),
		term.Count(v.Files, "file", "files"), humanize.IBytes(uint64(max(v.Bytes, 0))))
	var errors, notes int64
	for _, c := range v.Checks {
		errors += c.Findings
	}
	for _, f := range v.Findings {
		if f.Level == analyze.FindingNote {
			notes++
		}
	}
	switch {
	case v.Sound && notes == 0:
		return "**Sound**: " + what + "; nothing is wrong."
	case v.Sound:
		return "**Sound**: " + what + "; what is listed below is harmless."
	}
	return "**Not sound**: " + term.Count(errors, "finding", "findings") + "; whole are " + what + "."
}

func verifyChecks(v *analyze.Verification) section {
	t := &table{columns: []column{{title: "check"}, {title: "that", flex: true, min: 20}, {title: "found", number: true}}}
	for _, c := range v.Checks {
		found := plain("ok")
		if c.Findings > 0 {
			found = number(c.Findings)
		}
		t.rows = append(t.rows, row{cells: []cell{plain(c.Name), plain(c.Title), found}})
	}
	return section{title: "Checks", table: t}
}

// verifyFindings lists each finding over two lines, for paths are long.
func verifyFindings(v *analyze.Verification, c analyze.Verified) section {
	s := section{title: c.Title}
	listed := int64(0)
	remedies := []string{}
	for _, f := range v.Findings {
		if f.Check != c.Name {
			continue
		}
		listed++
		line := f.File + ": " + f.Detail
		if f.SessionID != nil {
			line += ", session " + *f.SessionID
		}
		if f.Count > 1 {
			line += fmt.Sprintf(" (%s)", term.Count(f.Count, "row", "rows"))
		}
		s.lines = append(s.lines, fromLog(line))
		remedies = addNew(remedies, f.Do)
	}
	if left := c.Findings - listed; left > 0 {
		s.after = append(s.after, more(int(left), "finding", "findings"))
	}
	s.after = append(s.after, "What to do: "+strings.Join(remedies, "; ")+".")
	return s
}
