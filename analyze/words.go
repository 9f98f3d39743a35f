package analyze

import (
	"errors"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// StatementError is the fault of a statement that the user wrote. What the database
// says of it is meant for them, the values it repeats too.
type StatementError struct{ Err error }

func (e *StatementError) Error() string { return e.Err.Error() }
func (e *StatementError) Unwrap() error { return e.Err }

// Brief is what a user needs of a failure of the database under fclog's own SQL: one
// line without the statement and without values of the data. damaged says that a
// file of the dataset may be the reason. It is false for every other error.
func Brief(err error) (text string, damaged, ok bool) {
	var fault *duckdb.Error
	if !errors.As(err, &fault) {
		return "", false, false
	}
	text, _, _ = strings.Cut(fault.Msg, "\n")
	if kind, rest, found := strings.Cut(text, " Error: "); found && !strings.ContainsAny(kind, ":'\"") {
		text = strings.ToLower(rest[:min(1, len(rest))]) + rest[min(1, len(rest)):]
	}
	text = WithoutValues(text)
	switch fault.Type {
	case duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange:
		text = "a value is not of its column's type, or too large for it"
		return text, true, true
	case duckdb.ErrorTypeInvalidInput, duckdb.ErrorTypeIO, duckdb.ErrorTypeSerialization, duckdb.ErrorTypeInvalid, duckdb.ErrorTypeNotImplemented:
		return text, true, true
	}
	return text, false, true
}

// WithoutValues leaves out the values of the data that messages of the database repeat.
func WithoutValues(text string) string {
	for _, before := range []string{`: value "`, "Could not convert string '"} {
		if start, _, found := strings.Cut(text, before); found {
			text = start + strings.TrimRight(before, `"'`) + "…"
		}
	}
	return text
}
