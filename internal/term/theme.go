package term

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Theme is the set of text styles of a report. Only the 16 colours of the
// user's own palette are used: they are legible on dark and light backgrounds
// alike, and no question about the background has to be sent to the terminal.
type Theme struct {
	Color   bool
	Title   lipgloss.Style // first line of a report
	Heading lipgloss.Style
	Strong  lipgloss.Style
	Faint   lipgloss.Style // units, labels, asides
	Bar     lipgloss.Style
	Warn    lipgloss.Style
	Bad     lipgloss.Style
}

// NewTheme returns the styles, all without effect if color is false.
func NewTheme(color bool) Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(true)
	r.SetColorProfile(termenv.Ascii)
	if color {
		r.SetColorProfile(termenv.ANSI)
	}
	style := r.NewStyle().TabWidth(lipgloss.NoTabConversion)
	return Theme{
		Color:   color,
		Title:   style.Bold(true),
		Heading: style.Bold(true).Foreground(lipgloss.Color("6")),
		Strong:  style.Bold(true),
		Faint:   style.Faint(true),
		Bar:     style.Foreground(lipgloss.Color("6")),
		Warn:    style.Foreground(lipgloss.Color("3")),
		Bad:     style.Foreground(lipgloss.Color("1")),
	}
}
