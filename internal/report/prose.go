package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/charmbracelet/glamour"
	"github.com/charmbracelet/glamour/ansi"
	"github.com/muesli/termenv"
)

// noBreaks stand in for what must stay on one line while a paragraph is wrapped:
// percentages, and hyphens of dates and words, at which glamour also overshoots
// the width.
var noBreaks = strings.NewReplacer(" %", "\u00a0%", "-", "\u2011")

var undoBreaks = strings.NewReplacer("\u00a0%", " %", "\u2011", "-")

// proseRenderer renders fclog's own sentences. It must never be given text of a
// log: glamour turns character references such as &#27; into what they name.
type proseRenderer struct {
	glamour *glamour.TermRenderer
}

func newProseRenderer(width int, color bool) (*proseRenderer, error) {
	on := true
	style := ansi.StyleConfig{}
	profile := termenv.Ascii
	if color {
		profile = termenv.ANSI
		style.Strong = ansi.StylePrimitive{Bold: &on}
		style.Emph = ansi.StylePrimitive{Italic: &on}
	}
	r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithColorProfile(profile), glamour.WithWordWrap(width))
	if err != nil {
		return nil, fmt.Errorf("preparing the Markdown renderer: %w", err)
	}
	return &proseRenderer{glamour: r}, nil
}

// fill is blanks at the end of a line, before the end of a style where one is on.
var fill = regexp.MustCompile(` (?:\x1b\[[0-9;]*m| )*$`)

// render returns the lines of one paragraph, without the blanks glamour fills
// them up with.
func (r *proseRenderer) render(markdown string) ([]string, error) {
	out, err := r.glamour.Render(noBreaks.Replace(markdown))
	if err != nil {
		return nil, fmt.Errorf("rendering Markdown: %w", err)
	}
	lines := strings.Split(strings.Trim(undoBreaks.Replace(out), "\n"), "\n")
	for i := range lines {
		lines[i] = fill.ReplaceAllStringFunc(lines[i], func(end string) string { return strings.ReplaceAll(end, " ", "") })
	}
	return lines, nil
}
