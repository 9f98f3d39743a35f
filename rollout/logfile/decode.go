package logfile

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Most of what a reader decodes are structs of strings, integers and Lenient
// members. They are decoded here in one pass over JSON that is known to be valid,
// which skips what no member asks for by its quotes and brackets alone. Whatever
// this decoder does not know, types as well as values of another type than
// wanted, it leaves to the library, so its answers are always the library's.

// Unmarshal decodes one JSON value with the options every reader needs. Strings
// come out as valid UTF-8.
func Unmarshal(raw []byte, v any) error {
	if whole(raw) && utf8.Valid(raw) && decode(raw, false, v) {
		return nil
	}
	return json.Unmarshal(raw, v, options)
}

// Decode is Unmarshal for a record of a Reader or a value within one, whose
// JSON need not be checked again. A jsontext.Value that it sets is a part of raw:
// whoever keeps one for longer than the record makes a copy.
func Decode(raw []byte, v any) error {
	if decode(raw, true, v) {
		return nil
	}
	return json.Unmarshal(raw, v, options)
}

// cursors are used again with their buffers, but for those larger than keptBuffer.
var cursors = sync.Pool{New: func() any { return new(cursor) }}

const keptBuffer = 1 << 20

func decode(raw []byte, alias bool, v any) bool {
	c := cursors.Get().(*cursor)
	c.b, c.i, c.alias = raw, 0, alias
	ok := c.into(v)
	c.b = nil
	if cap(c.text) <= keptBuffer {
		cursors.Put(c)
	}
	return ok
}

// whole says whether raw is one valid JSON value and nothing else.
func whole(raw []byte) bool {
	n := valueEnd(raw)
	return n > 0 && blanks(raw, n) == len(raw)
}

// cursor stands in valid JSON. Its methods consume one value; false says that the
// value is left to the library, and then where the cursor stands means nothing.
type cursor struct {
	b     []byte
	i     int
	alias bool   // raw values are parts of b, no copies
	text  []byte // of a string with escapes, while it is put together
}

// taker is a Lenient.
type taker interface{ take(c *cursor) bool }

// into decodes into what v points to.
func (c *cursor) into(v any) bool {
	switch v := v.(type) {
	case taker:
		return v.take(c)
	case *jsontext.Value:
		return c.value(v)
	case *string:
		return c.str(v) || none(c, v)
	case *int64:
		return c.int64(v) || none(c, v)
	case *int:
		return c.int(v)
	case *float64:
		return c.float64(v)
	case *bool:
		return c.bool(v) || none(c, v)
	case **int64:
		return c.pointer(v)
	case *[]jsontext.Value:
		return list(c, v, (*cursor).value)
	case *[]string:
		return list(c, v, (*cursor).str)
	}
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return false
	}
	return c.reflected(p.Elem())
}

// none takes null, which leaves nothing of what was there.
func none[T any](c *cursor, v *T) bool {
	if !c.null() {
		return false
	}
	var zero T
	*v = zero
	return true
}

func (c *cursor) null() bool {
	if c.peek() != 'n' {
		return false
	}
	c.skip()
	return true
}

func (c *cursor) pointer(v **int64) bool {
	if none(c, v) {
		return true
	}
	var n int64
	*v = &n
	return c.int64(&n)
}

// peek returns the first byte of the next value; 0 at the end.
func (c *cursor) peek() byte {
	if c.i = blanks(c.b, c.i); c.i >= len(c.b) {
		return 0
	}
	return c.b[c.i]
}

func (c *cursor) reflected(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		m := membersOf(v.Type())
		return m != nil && c.object(m, v)
	case reflect.Slice:
		return c.slice(v)
	}
	return false
}

func (c *cursor) slice(v reflect.Value) bool {
	if c.peek() != '[' || v.Type().Elem().Kind() == reflect.Uint8 {
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for c.next(']') {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if !c.into(v.Index(v.Len() - 1).Addr().Interface()) {
			return false
		}
	}
	return true
}

func list[T any](c *cursor, v *[]T, element func(*cursor, *T) bool) bool {
	if c.peek() != '[' {
		return false
	}
	*v = make([]T, 0)
	for c.next(']') {
		var one T
		if !element(c, &one) {
			return false
		}
		*v = append(*v, one)
	}
	return true
}

// next moves to the next element or member, past the opening bracket or the comma
// that stands before it. Behind the last one it moves past the closing bracket.
func (c *cursor) next(closing byte) bool {
	switch c.peek() {
	case 0:
		return false
	case closing:
		c.i++
		return false
	}
	c.i++
	if c.peek() == closing {
		c.i++
		return false
	}
	return c.i < len(c.b)
}

func (c *cursor) object(m members, v reflect.Value) bool {
	if c.peek() != '{' {
		return false
	}
	for c.next('}') {
		name, ok := c.name()
		if !ok {
			return false
		}
		index, wanted := m[string(name)]
		if !wanted {
			c.skip()
			continue
		}
		if !c.into(v.Field(index).Addr().Interface()) {
			return false
		}
	}
	return true
}

// name returns the name of a member and moves past its colon.
func (c *cursor) name() ([]byte, bool) {
	start := c.i
	c.skip()
	if c.i-start < 2 || c.b[start] != '"' {
		return nil, false
	}
	name := c.b[start+1 : c.i-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		c.text = appendUnescaped(c.text[:0], name)
		name = c.text
	}
	if c.peek() != ':' {
		return nil, false
	}
	c.i++
	return name, true
}

// skip moves past the next value.
func (c *cursor) skip() {
	c.peek()
	for depth := 0; c.i < len(c.b); {
		switch c.b[c.i] {
		case '"':
			c.i = quoteEnd(c.b, c.i+1)
		case '{', '[':
			depth++
			c.i++
		case '}', ']':
			depth--
			c.i++
		case ',', ':', ' ', '\t', '\r', '\n':
			c.i++
			continue
		default:
			c.i = plainScalarEnd(c.b, c.i)
		}
		if depth <= 0 {
			return
		}
	}
}

// quoteEnd returns where the valid string ends whose opening quote stands before i.
func quoteEnd(b []byte, i int) int {
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		end := i + n
		slashes := 0
		for end-slashes > i && b[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}

// plainScalarEnd passes a number or a word.
func plainScalarEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']'; i++ {
	}
	return i
}

// raw moves past the next value and returns it.
func (c *cursor) raw() []byte {
	c.peek()
	start := c.i
	c.skip()
	return c.b[start:c.i]
}

func (c *cursor) value(v *jsontext.Value) bool {
	raw := c.raw()
	if !c.alias {
		raw = bytes.Clone(raw)
	}
	*v = raw[:len(raw):len(raw)]
	return true
}

func (c *cursor) str(v *string) bool {
	if c.peek() != '"' {
		return false
	}
	start := c.i + 1
	c.i = plainEnd(c.b, start)
	if c.i < len(c.b) && c.b[c.i] == '"' {
		*v = string(c.b[start:c.i])
		c.i++
		return true
	}
	end := quoteEnd(c.b, c.i)
	if end <= c.i {
		return false
	}
	c.i = end
	c.text = appendUnescaped(c.text[:0], c.b[start:end-1])
	*v = string(c.text)
	return true
}

// appendUnescaped appends the text of a valid string that stands between its
// quotes. An escape of half a surrogate pair becomes U+FFFD.
func appendUnescaped(out, in []byte) []byte {
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 || i+1 >= len(in) {
			return append(out, in...)
		}
		out = append(out, in[:i]...)
		e := in[i+1]
		in = in[i+2:]
		switch e {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			var r rune
			r, in = codePoint(in)
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, e)
		}
	}
}

// codePoint reads what follows "\u", the second half of a surrogate pair included.
func codePoint(in []byte) (rune, []byte) {
	r, ok := hex4(in)
	if !ok {
		return utf8.RuneError, nil
	}
	in = in[4:]
	if !utf16.IsSurrogate(r) {
		return r, in
	}
	if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
		low, _ := hex4(in[2:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, in[6:]
		}
	}
	return utf8.RuneError, in
}

func (c *cursor) int64(v *int64) bool {
	first := c.peek()
	if first != '-' && first-'0' > 9 {
		return false
	}
	raw := c.raw()
	if len(raw) < 18 {
		if n, ok := digits(raw); ok {
			*v = n
			return true
		}
	}
	*v = integer(string(raw))
	return true
}

// int takes short integers only: the library knows the limits of the machine.
func (c *cursor) int(v *int) bool {
	c.peek()
	raw := c.raw()
	n, ok := digits(raw)
	if !ok || len(raw) == 0 || len(raw) > 9 {
		return false
	}
	*v = int(n)
	return true
}

// digits reads a short integer.
func digits(raw []byte) (int64, bool) {
	var n int64
	for _, c := range raw {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func (c *cursor) bool(v *bool) bool {
	switch c.peek() {
	case 't':
		*v = true
	case 'f':
		*v = false
	default:
		return false
	}
	c.skip()
	return true
}

func (c *cursor) float64(v *float64) bool {
	first := c.peek()
	if first != '-' && first-'0' > 9 {
		return false
	}
	f, err := strconv.ParseFloat(string(c.raw()), 64)
	*v = f
	return err == nil
}

// members are the fields of a struct by the names of their members.
type members map[string]int

// known caches members by type; nil ones are left to the library.
var known sync.Map

// membersOf returns the members of a struct, nil where a field has more to say
// than its name.
func membersOf(t reflect.Type) members {
	if m, ok := known.Load(t); ok {
		return m.(members)
	}
	m := fields(t)
	known.Store(t, m)
	return m
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
var unmarshalerFrom = reflect.TypeFor[json.UnmarshalerFrom]()

func fields(t reflect.Type) members {
	if p := reflect.PointerTo(t); p.Implements(unmarshaler) || p.Implements(unmarshalerFrom) {
		return nil
	}
	m := members{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, more := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || more || strings.ContainsAny(name, "'\\\"") {
			return nil
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		m[name] = i
	}
	return m
}
