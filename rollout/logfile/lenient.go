package logfile

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lenient is a member of a record that may be missing, null, or of another type
// than expected: types differ between versions of an agent, and one odd member
// must not cost the record.
type Lenient[T any] struct {
	V   T    // zero unless OK
	OK  bool // there, and of this type
	Odd bool // there, but not of this type
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It fails only where the JSON
// itself is broken.
func (l *Lenient[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		if text, ok := any(&l.V).(*string); ok { // most of a log: taken without a second look
			token, err := dec.ReadToken()
			if err != nil {
				return err
			}
			*text, l.OK, l.Odd = token.String(), true, false
			return nil
		}
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	l.set(raw)
	return nil
}

// set takes any JSON value.
func (l *Lenient[T]) set(raw jsontext.Value) {
	*l = Lenient[T]{}
	if raw.Kind() == 'n' {
		return
	}
	var v T
	if json.Unmarshal(raw, &v, options) != nil {
		l.Odd = true
		return
	}
	l.V, l.OK = v, true
}

// take takes the next value; what is not of this type is left to the library.
func (l *Lenient[T]) take(c *cursor) bool {
	*l = Lenient[T]{}
	if c.null() {
		return true
	}
	start := c.i
	if c.into(&l.V) {
		l.OK = true
		return true
	}
	c.i = start
	l.set(c.raw())
	return true
}
