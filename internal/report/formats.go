package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/fclog/fclog/docs"
	"github.com/fclog/fclog/internal/term"
)

// FormatInfo is what is known of one log format.
type FormatInfo struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Carriers    []string       `json:"carriers"` // kinds of files that are read
	Homes       []FormatHome   `json:"homes"`
	Places      string         `json:"places"` // where logs lie, if the agent has no place of its own for them; "" otherwise
	Versions    []string       `json:"versions"`
	Unversioned bool           `json:"unversioned"` // its logs do not name the agent's version
	Lacks       []FormatLack   `json:"lacks"`
	Fidelity    string         `json:"fidelity"` // in words, where nothing was captured; "" otherwise
	Captures    []docs.Capture `json:"captures"`
	Limits      []string       `json:"limits"`
}

// FormatHome is a place where an agent keeps its logs on this machine.
type FormatHome struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// FormatLack is content that logs of a format do not hold.
type FormatLack struct {
	What string `json:"what"`
	When string `json:"when"` // which logs lack it; "" all
}

// Formats is what `fclog formats` shows.
type Formats struct {
	SchemaVersion int          `json:"schema_version"`
	Formats       []FormatInfo `json:"formats"`
	whole         bool
}

// NewFormats is a list of formats; whole shows everything known of each.
func NewFormats(list []FormatInfo, whole bool) Formats {
	return Formats{SchemaVersion: 1, Formats: list, whole: whole}
}

// FormatsTerminal writes formats for a terminal of Options.Width columns.
func FormatsTerminal(w io.Writer, f Formats, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(formatsDocument(f)); err != nil {
		return fmt.Errorf("laying out the list of formats: %w", err)
	}
	return t.flush(w, o)
}

// FormatsMarkdown writes formats as plain Markdown with GitHub tables.
func FormatsMarkdown(w io.Writer, f Formats) error {
	_, err := io.WriteString(w, markdownDocument(formatsDocument(f)))
	return err
}

// FormatsJSON writes formats as one object.
func FormatsJSON(w io.Writer, f Formats) error { return WriteJSON(w, f, true) }

func formatsDocument(f Formats) document {
	d := document{title: "fclog formats"}
	if !f.whole {
		d.sections = []section{formatsTable(f)}
		return d
	}
	for _, x := range f.Formats {
		d.subtitle = append(d.subtitle, text{s: x.Title})
		d.sections = append(d.sections, formatSections(x)...)
	}
	return d
}

// formatsTable is one row per format, what its logs lack below it.
func formatsTable(f Formats) section {
	t := &table{noteHead: "what its logs lack", columns: []column{
		{title: "name"}, {title: "agent", optional: 2}, {title: "versions read"}, {title: "rebuilt as sent", number: true}, {title: "captures", number: true, optional: 3}, {title: "logs here", optional: 1},
	}}
	for _, x := range f.Formats {
		r := row{cells: []cell{plain(x.Name), plain(x.Title), plain(versionsOf(x)), plain(rebuiltOf(x)), plain(capturesOf(x)), plain(hereOf(x))}}
		r.notes = []string{lacksOf(x)}
		t.rows = append(t.rows, r)
	}
	return section{
		prose: []string{"Logs that fclog reads. A file's format is told by its content, never by its name; it may be plain, gzip or zstd."},
		table: t,
		after: []string{
			"**Rebuilt as sent** is the share of the logged tokens that the rebuilt requests hold with the very same text and in the same order as what the agent really sent, in the worst session captured. `fclog payload SESSION --against BODIES` measures it for your own agent.",
			"`fclog formats NAME` tells more: files, places, versions, limits.",
		},
	}
}

func versionsOf(x FormatInfo) string {
	switch len(x.Versions) {
	case 0:
		return term.Unknown
	case 1:
		return x.Versions[0]
	}
	return x.Versions[0] + "–" + x.Versions[len(x.Versions)-1]
}

// rebuiltOf is the share of the session that fares worst.
func rebuiltOf(x FormatInfo) string {
	if len(x.Captures) == 0 {
		return term.Unknown
	}
	worst := x.Captures[0].Worst
	for _, c := range x.Captures {
		worst = min(worst, c.Worst)
	}
	return percent2(worst)
}

// percent2 has two decimals, as the figures it shows have.
func percent2(v float64) string { return fmt.Sprintf("%.2f %%", v*100) }

func capturesOf(x FormatInfo) string {
	if len(x.Captures) == 0 {
		return term.Unknown
	}
	return term.Exact(int64(len(x.Captures)))
}

func hereOf(x FormatInfo) string {
	for _, h := range x.Homes {
		if h.Exists {
			return "yes"
		}
	}
	return "no"
}

func lacksOf(x FormatInfo) string {
	var always, some []string
	for _, l := range x.Lacks {
		if l.When == "" {
			always = append(always, l.What)
		} else {
			some = append(some, l.What)
		}
	}
	switch {
	case len(always) == 0:
		return "some lack: " + strings.Join(some, ", ")
	case len(some) == 0:
		return "lack: " + strings.Join(always, ", ")
	}
	return "lack: " + strings.Join(always, ", ") + "; some: " + strings.Join(some, ", ")
}

// formatSections is everything known of one format.
func formatSections(x FormatInfo) []section {
	return []section{
		{lines: []text{{s: "Name for --agent and in queries: " + x.Name}}},
		{title: "What is read", lines: bullets(x.Carriers)},
		placesOf(x),
		{title: "Versions read", lines: []text{{s: versionList(x)}}},
		lacksTable(x),
		fidelityOf(x),
		{title: "Limits", lines: bullets(x.Limits)},
	}
}

func bullets(list []string) []text {
	var out []text
	for _, s := range list {
		out = append(out, text{s: "- " + s})
	}
	return out
}

func placesOf(x FormatInfo) section {
	s := section{title: "Where logs lie on this machine"}
	if x.Places != "" {
		s.lines = []text{{s: x.Places}}
		return s
	}
	if len(x.Homes) == 0 {
		s.lines = []text{{s: "unknown: HOME is not set"}}
		return s
	}
	s.table = &table{columns: []column{{title: "place", flex: true, min: 30}, {title: "there"}}}
	for _, h := range x.Homes {
		there := "no"
		if h.Exists {
			there = "yes"
		}
		s.table.rows = append(s.table.rows, row{cells: []cell{logged(h.Path), plain(there)}})
	}
	return s
}

func versionList(x FormatInfo) string {
	switch {
	case len(x.Versions) == 0:
		return "logs do not name the version of what wrote them"
	case x.Unversioned:
		return strings.Join(x.Versions, ", ") + "; logs do not name their version"
	}
	return strings.Join(x.Versions, ", ")
}

func lacksTable(x FormatInfo) section {
	t := &table{columns: []column{{title: "content", flex: true, min: 20}, {title: "which logs lack it", wrap: true, min: 24}}}
	for _, l := range x.Lacks {
		when := l.When
		if when == "" {
			when = "all"
		}
		t.rows = append(t.rows, row{cells: []cell{plain(l.What), plain(when)}})
	}
	return section{title: "What logs lack", table: t}
}

func fidelityOf(x FormatInfo) section {
	s := section{title: "How close rebuilt requests are"}
	if len(x.Captures) == 0 {
		s.lines = []text{{s: x.Fidelity}}
		return s
	}
	s.prose = []string{"Against what agents really sent: the share of the logged tokens rebuilt with the same text in the same order."}
	s.table = &table{noteHead: "what is left", columns: []column{
		{title: "capture"}, {title: "version", optional: 2}, {title: "requests", number: true, optional: 1}, {title: "logged tokens", number: true, optional: 3},
		{title: "rebuilt", number: true}, {title: "worst session", number: true},
	}}
	for _, c := range x.Captures {
		r := row{cells: []cell{plain(c.Name), plain(c.Version), plain(fmt.Sprintf("%d of %d", c.Requests, c.Sent)), plain(term.Short(c.Tokens)), plain(percent2(c.Rebuilt)), plain(percent2(c.Worst))}}
		if c.Left != "" {
			r.notes = []string{c.Left}
		}
		s.table.rows = append(s.table.rows, r)
	}
	return s
}
