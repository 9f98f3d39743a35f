package page

import (
	"strings"

	"github.com/fclog/fclog/internal/term"
)

// Own is text in fclog's own words.
func Own(s string) Text { return Text{S: s} }

// FromLog is text of a log.
func FromLog(s string) Text { return Text{S: s, Log: true} }

// safe is the text as it may be shown: characters that hide or turn text around
// are made visible.
func safe(s string) string { return term.Safe(s) }

// plain is all of a text, for where there is no markup.
func (t Text) plain() string { return t.Before + term.Safe(t.S) + t.After }

// Prose is a paragraph of fclog's own words.
type Prose []Run

// Run is a piece of a paragraph in one style.
type Run struct {
	S                string
	Strong, Em, Code bool
}

// Markdown reads the little of Markdown that fclog's own sentences use: **strong**,
// *emphasis*, `code`. A number and its sign of percent stay on one line.
func Markdown(s string) Prose {
	s = strings.ReplaceAll(s, " %", "\u00a0%")
	var out Prose
	var at Run
	add := func(text string) {
		if text != "" {
			at.S = text
			out = append(out, at)
		}
	}
	for {
		i := strings.IndexAny(s, "*`")
		if at.Code {
			i = strings.IndexByte(s, '`')
		}
		if i < 0 {
			add(s)
			return out
		}
		add(s[:i])
		switch {
		case s[i] == '`':
			at.Code = !at.Code
			s = s[i+1:]
		case strings.HasPrefix(s[i:], "**"):
			at.Strong = !at.Strong
			s = s[i+2:]
		default:
			at.Em = !at.Em
			s = s[i+1:]
		}
	}
}
