package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html figure.html
var templateFiles embed.FS

//go:embed page.css
var style string

//go:embed page.js
var script string

// Page is a report before it is laid out.
type Page struct {
	Title    string // in fclog's own words
	Subtitle []Text
	Sections []Section
}

// Section is one question and its answer.
type Section struct {
	ID      string
	Title   string // "" for the head
	Lead    bool   // what is to be read first
	Prose   []Prose
	Lines   []Text
	Figures []Figure
	Table   *Table
	After   []Prose
	Texts   []Excerpt
}

// Text is a piece of text; Log says that it is from a log.
type Text struct {
	S      string
	Log    bool
	Before string // fclog's own signs before it
	After  string // and words after it
}

// Excerpt is log text shown as it is.
type Excerpt struct {
	ID, Name Text
	Parts    []ExcerptPart
}

// ExcerptPart is one text of an excerpt, such as before and after.
type ExcerptPart struct {
	Label string
	Lines []Text
	More  string // what is cut, in fclog's own words
}

// Table is rows under columns.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
	More    string // what it leaves out
}

// Column is the head of a column.
type Column struct {
	Title  string
	Number bool
	Bar    bool // cells draw their share
}

// Class is the column's style: numbers to the right, and bars.
func (c Column) Class() string {
	switch {
	case c.Bar:
		return "b"
	case c.Number:
		return "n"
	}
	return ""
}

// Row is one row; notes stand below it over the whole width.
type Row struct {
	Excerpt string // ID of a text that belongs to it; "" none
	ID      string
	Cells   []Cell
	Notes   []string
	Faint   bool
}

// Cell is one cell.
type Cell struct {
	Text
	Share *float64 // of a bar, 0 to 1
}

// Percent is the length of the cell's bar in percent.
func (c Cell) Percent() string {
	if c.Share == nil {
		return "0"
	}
	return coordinate(100 * min(max(*c.Share, 0), 1))
}

// Write writes the page.
func Write(w io.Writer, p Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"safe": safe, "policy": policy, "fields": strings.Fields, "class": func(c []Column, i int) string { return c[i].Class() },
		"head": func(c []Column, i int) string { return c[i].Title },
		// Both are files of this package, and the policy holds their hashes.
		"style": func() template.CSS { return template.CSS(style) }, "script": func() template.JS { return template.JS(script) },
	}).ParseFS(templateFiles, "*.html")
	if err != nil {
		return fmt.Errorf("preparing the page: %w", err)
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "page.html", p); err != nil {
		return fmt.Errorf("laying out the page: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// policy forbids everything but the page's own style and script, which it knows by
// their hashes: text that slipped through as markup could load and run nothing.
func policy() string {
	return strings.Join([]string{
		"default-src 'none'", "script-src " + hash(script), "style-src " + hash(style), "base-uri 'none'", "form-action 'none'",
	}, "; ")
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
