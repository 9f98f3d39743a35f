package report

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/analyze"
)

// JSON writes an audit with its stable keys, on one line or indented.
func JSON(w io.Writer, a *analyze.Audit, indent bool) error {
	return WriteJSON(w, a, indent)
}

// WriteJSON writes any value as JSON and a line end. Characters that could act
// on a terminal are written as \u escapes: the same value to any JSON reader.
func WriteJSON(w io.Writer, v any, indent bool) error {
	options := []json.Options{jsontext.AllowInvalidUTF8(true), json.Deterministic(true)}
	if indent {
		options = append(options, jsontext.WithIndent("  "))
	}
	out, err := json.Marshal(v, options...)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err = w.Write(append(escapeInvisible(out), '\n'))
	return err
}

// escapeInvisible works on whole JSON text: outside strings there is only ASCII,
// and inside them ASCII control characters are escaped already, except DEL.
func escapeInvisible(text []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf && r != 0x7f, r > 0x7f && unicode.IsPrint(r), unicode.Is(unicode.Zs, r):
			b.Write(text[:size])
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.Bytes()
}
