package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Format is one agent's log format, as its package exports it.
type Format = rollout.Format

// List is the formats to choose from. The first that detects its own wins.
type List []Format

// ErrUnknown marks a file of JSON records in none of the formats.
var ErrUnknown = errors.New("unknown log format")

const (
	// headRecords is how many records decide the format of a file.
	headRecords = 20
	// shownKeys and shownBytes bound what an error repeats of a record.
	shownKeys  = 8
	shownBytes = 24
)

// Detect names the format of a file.
func Detect(path string) (Format, error) { return All().Detect(path) }

// Detect names the format of a file. Its errors say what was found instead:
// logfile.ErrNotLog for what holds no records, ErrUnknown for foreign ones.
func (l List) Detect(path string) (Format, error) {
	f, head, err := l.look(path)
	if errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("%s: %w: %s; fclog reads %s", path, ErrUnknown, saw(head[0]), l.titles())
	}
	return f, err
}

// look names the format of a file and returns its first records, none of a file
// that holds none. ErrUnknown comes bare.
func (l List) look(path string) (Format, [][]byte, error) {
	if f, ok := l.carrier(path); ok {
		return f, nil, nil
	}
	head, err := logfile.Head(path, headRecords)
	if err != nil {
		return Format{}, nil, err
	}
	if f, ok := l.match(head); ok {
		return f, head, nil
	}
	return Format{}, head, ErrUnknown
}

// carrier names the format of a file that holds no JSON records.
func (l List) carrier(path string) (Format, bool) {
	i := slices.IndexFunc(l, func(f Format) bool { return f.Carrier != nil && f.Carrier(path) })
	if i < 0 {
		return Format{}, false
	}
	return l[i], true
}

func (l List) carried(path string) bool {
	_, ok := l.carrier(path)
	return ok
}

func (l List) match(head [][]byte) (Format, bool) {
	i := slices.IndexFunc(l, func(f Format) bool { return f.Detect(head) })
	if i < 0 {
		return Format{}, false
	}
	return l[i], true
}

func (l List) titles() string {
	var titles []string
	for _, f := range l {
		titles = append(titles, f.Title)
	}
	if n := len(titles); n > 1 {
		return strings.Join(titles[:n-1], ", ") + " and " + titles[n-1]
	}
	return strings.Join(titles, "")
}

// saw describes a record by its keys alone: its values are the user's own.
func saw(record []byte) string {
	dec := jsontext.NewDecoder(strings.NewReader(string(record)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return "the first record is not a JSON object"
	}
	var keys []string
	for dec.PeekKind() == '"' {
		if len(keys) == shownKeys {
			keys = append(keys, "…")
			break
		}
		tok, err := dec.ReadToken()
		if err != nil {
			break
		}
		keys = append(keys, shown(tok.String()))
		if dec.SkipValue() != nil {
			break
		}
	}
	if len(keys) == 0 {
		return "the first record has no keys"
	}
	return "the first record has keys " + strings.Join(keys, ", ")
}

// shown makes a key safe to print: escaped and cut.
func shown(key string) string {
	if len(key) > shownBytes {
		key = strings.ToValidUTF8(key[:shownBytes], "") + "…"
	}
	quoted := fmt.Sprintf("%q", key)
	if inner := quoted[1 : len(quoted)-1]; inner == key && key != "" && !strings.ContainsAny(key, ", ") {
		return key
	}
	return quoted
}
