package compare

import (
	"bytes"
	"errors"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// number reads a number that may be absent or null. Anything else, a negative
// count or a fraction of one is noted under its key and left unknown.
func number[T int64 | float64](raw jsontext.Value, key string, problems *[]string) *T {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	var f float64
	if raw.Kind() != '0' || logfile.Unmarshal(raw, &f) != nil {
		*problems = append(*problems, key+" is no number")
		return nil
	}
	v := T(f)
	_, count := any(v).(int64)
	if count && (f < 0 || f > 1<<53 || f != math.Trunc(f)) {
		*problems = append(*problems, key+" is no count")
		return nil
	}
	return &v
}

// text reads a string that may be absent or null.
func text(raw jsontext.Value, key string, problems *[]string) string {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return ""
	}
	var s string
	if raw.Kind() != '"' || logfile.Unmarshal(raw, &s) != nil {
		*problems = append(*problems, key+" is no text")
		return ""
	}
	return s
}

// object reads an object that may be absent or null.
func object(raw jsontext.Value, key string, problems *[]string) map[string]jsontext.Value {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	var o map[string]jsontext.Value
	if raw.Kind() != '{' || logfile.Unmarshal(raw, &o) != nil {
		*problems = append(*problems, key+" is no object")
		return nil
	}
	return o
}

// list reads an array that may be absent or null.
func list(raw jsontext.Value, key string, problems *[]string) []jsontext.Value {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	var l []jsontext.Value
	if raw.Kind() != '[' || logfile.Unmarshal(raw, &l) != nil {
		*problems = append(*problems, key+" is no list")
		return nil
	}
	return l
}

// lineOf is the line, 1-based, of the place a JSON error names; the first if it
// names none.
func lineOf(data []byte, err error) int {
	var offset int64
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		offset = syntactic.ByteOffset
	case errors.As(err, &semantic):
		offset = semantic.ByteOffset
	}
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
