package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
)

// VariantList writes the variants, one line each, for a terminal.
func VariantList(w io.Writer, list []replay.Variant, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	m := table{columns: []column{{title: "variant"}, {title: "what changes", wrap: true, min: 30}}}
	for _, v := range list {
		m.rows = append(m.rows, row{cells: []cell{plain(v.Name), plain(term.Safe(v.Title))}})
	}
	for _, line := range t.table(m).Render(t.width, t.theme) {
		t.line(line)
	}
	t.line("")
	t.line(strings.Repeat(" ", indent) + t.theme.Faint.Render("'fclog variants NAME' tells what it needs and how it is set."))
	return t.flush(w, o)
}

// VariantHelp writes all there is to know of one variant.
func VariantHelp(w io.Writer, v replay.Variant, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	d := document{title: v.Name, subtitle: []text{fromLog(v.Title)}, sections: []section{{lines: []text{fromLog(v.Doc)}}}}
	if len(v.Needs) > 0 {
		d.sections[0].lines = append(d.sections[0].lines, fromLog("Needs: "+strings.Join(v.Needs, ", ")+"."))
	}
	if len(v.Options) > 0 {
		m := &table{columns: []column{{title: "option"}, {title: "default", flex: true, min: 7}, {title: "what it sets", wrap: true, min: 30}}}
		for _, o := range v.Options {
			value := plain(term.Safe(o.Default))
			if o.Default == "" {
				value = plain(term.Unknown)
			}
			m.rows = append(m.rows, row{cells: []cell{plain(o.Name), value, plain(term.Safe(o.Doc))}})
		}
		d.sections = append(d.sections, section{table: m})
	}
	if err := t.document(d); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// variantInfo is a variant as `fclog variants --format json` shows it.
type variantInfo struct {
	Name    string       `json:"name"`
	Title   string       `json:"title"`
	Doc     string       `json:"doc"`
	Needs   []string     `json:"needs"`
	Options []optionInfo `json:"options"`
}

type optionInfo struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// VariantsJSON writes variants as a JSON list.
func VariantsJSON(w io.Writer, list []replay.Variant) error {
	out := []variantInfo{}
	for _, v := range list {
		info := variantInfo{Name: v.Name, Title: v.Title, Doc: v.Doc, Needs: slices.Clone(v.Needs), Options: []optionInfo{}}
		for _, o := range v.Options {
			info.Options = append(info.Options, optionInfo{o.Name, o.Default, o.Doc})
		}
		out = append(out, info)
	}
	return WriteJSON(w, out, true)
}
