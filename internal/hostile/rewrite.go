package hostile

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Change replaces a value of a log: a string or a number that stands under key, the
// key of the list where it is in one; "" at the top. What it returns need not
// be of the same kind.
type Change func(key string, value jsontext.Value) jsontext.Value

// Rewrite applies a change to every string and number in the JSON values of a log.
// Everything else stays where it is: the order of keys, the lines, what is no JSON.
func Rewrite(log []byte, change Change) []byte {
	if value := jsontext.Value(bytes.TrimSpace(log)); value.IsValid() {
		return append(rewrite("", value, change), '\n')
	}
	var out []byte
	for line := range bytes.Lines(log) {
		if value := jsontext.Value(bytes.TrimSpace(line)); value.IsValid() {
			line = append(rewrite("", value, change), '\n')
		}
		out = append(out, line...)
	}
	return out
}

func rewrite(key string, value jsontext.Value, change Change) jsontext.Value {
	switch value.Kind() {
	case '"', '0':
		return change(key, value)
	case '{', '[':
		return inside(key, value, change)
	}
	return value
}

func inside(key string, value jsontext.Value, change Change) jsontext.Value {
	dec := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return value
	}
	object := value.Kind() == '{'
	out := jsontext.Value{value[0]}
	for n := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		if object {
			name, err := dec.ReadValue()
			if err != nil {
				return value
			}
			out = append(append(out, name...), ':')
			if key, err = unquoted(name); err != nil {
				return value
			}
		}
		element, err := dec.ReadValue()
		if err != nil {
			return value
		}
		out = append(out, rewrite(key, bytes.Clone(element), change)...)
	}
	if object {
		return append(out, '}')
	}
	return append(out, ']')
}

func unquoted(value jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}
