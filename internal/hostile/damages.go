package hostile

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// absurd are numbers that no agent means.
var absurd = []string{
	"-1", "0", "-0", "0.5", "1e308", "-1e308", "1e-308", "1e999", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"18446744073709551615", "4611686018427387904", "3000000000000000", "253402300800", "253402300800000", `"NaN"`, `"12"`, "null", "true", "[]", "{}",
}

// absurdDates are times that no agent ran at, and what is no time.
var absurdDates = []string{
	"1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "2026-02-30T25:61:61Z", "-2026-01-01T00:00:00Z",
	"99999-01-01T00:00:00Z", "2026-01-01T00:00:00+99:99", "2026-01-01", "NaN", "", "1e308", "yesterday",
}

var (
	dated = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:`)
	// named are keys that tie the parts of a log together.
	named  = regexp.MustCompile(`(?i)^_?(id|uuid|.*_?(id|ids|uuid|parent|session|root|span))$`)
	parent = regexp.MustCompile(`(?i)parent|forked|base|previous|root|tree`)
	// structural are keys whose values say what a record is.
	structural = regexp.MustCompile(`(?i)^(type|role|kind|method|format|schema_version|version|object|status|event|provider|api|url)$`)
)

// Damage is one class of bad values: a change that is made to every log that tests
// have, whatever its format.
type Damage struct {
	Name   string
	Seeds  int // how often to make it, each time with other values at the same places
	Change func(seed int) Change
}

// Damages are all classes of bad values.
func Damages() []Damage { return damages }

var damages = []Damage{
	{"numbers", 3, func(seed int) Change {
		return each('0', func(n int, _ string, _ jsontext.Value) jsontext.Value {
			return jsontext.Value(absurd[(n+seed)%len(absurd)])
		})
	}},
	{"equal numbers", 5, func(seed int) Change {
		large := []string{"-1", "1e308", "9223372036854775807", "4611686018427387904", "3000000000000000"}
		return each('0', func(int, string, jsontext.Value) jsontext.Value { return jsontext.Value(large[seed]) })
	}},
	{"dates", 2, func(seed int) Change {
		return each('"', func(n int, _ string, v jsontext.Value) jsontext.Value {
			if !dated.Match(v[1:]) {
				return v
			}
			return quoted(absurdDates[(n+seed)%len(absurdDates)])
		})
	}},
	{"texts", 2, func(seed int) Change {
		texts := Short()
		return each('"', func(n int, key string, v jsontext.Value) jsontext.Value {
			if structural.MatchString(key) || named.MatchString(key) || dated.Match(v[1:]) {
				return v
			}
			return quoted(texts[(n+seed)%len(texts)])
		})
	}},
	{"all texts, also IDs", 1, func(seed int) Change {
		texts := Short()
		return each('"', func(n int, key string, v jsontext.Value) jsontext.Value {
			if structural.MatchString(key) {
				return v
			}
			return quoted(texts[(n+seed)%len(texts)])
		})
	}},
	{"one ID for all", 1, func(int) Change {
		return each('"', func(_ int, key string, v jsontext.Value) jsontext.Value {
			if named.MatchString(key) {
				return quoted("the-same")
			}
			return v
		})
	}},
	{"parents in a circle", 1, func(int) Change {
		last := jsontext.Value("null")
		return each('"', func(_ int, key string, v jsontext.Value) jsontext.Value {
			switch {
			case !named.MatchString(key):
				return v
			case parent.MatchString(key): // of the record before, of which this is the parent
				return last
			}
			last = v
			return v
		})
	}},
	{"everything its own parent", 1, func(int) Change {
		ids := []string{"a", "b"}
		return each('"', func(n int, key string, v jsontext.Value) jsontext.Value {
			if named.MatchString(key) {
				return quoted(ids[n%len(ids)])
			}
			return v
		})
	}},
	{"nothing where texts are", 2, func(seed int) Change {
		others := []string{"null", "[]", "{}", "[[]]", "0", "false", `{"type":"text"}`, `[{"type":"text","text":null}]`}
		return each('"', func(n int, key string, v jsontext.Value) jsontext.Value {
			if structural.MatchString(key) || named.MatchString(key) {
				return v
			}
			return jsontext.Value(others[(n+seed)%len(others)])
		})
	}},
	{"deep", 1, func(seed int) Change {
		deep := jsontext.Value(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))
		return each('"', func(n int, key string, v jsontext.Value) jsontext.Value {
			if structural.MatchString(key) || named.MatchString(key) || (n+seed)%23 != 1 {
				return v
			}
			return deep
		})
	}},
	{"deep in strings", 1, func(seed int) Change {
		deep := quoted(`{"cmd":` + strings.Repeat(`{"a":`, 100_000) + strings.Repeat("}", 100_000) + "}")
		return each('"', func(n int, key string, v jsontext.Value) jsontext.Value {
			if structural.MatchString(key) || named.MatchString(key) || (n+seed)%23 != 1 {
				return v
			}
			return deep
		})
	}},
}

// each numbers the values of one kind, so that neighbours get different ones.
func each(kind jsontext.Kind, change func(n int, key string, v jsontext.Value) jsontext.Value) Change {
	n := -1
	return func(key string, v jsontext.Value) jsontext.Value {
		if v.Kind() != kind {
			return v
		}
		n++
		return change(n, key, v)
	}
}

func quoted(text string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	if err != nil {
		panic(err)
	}
	return v
}
