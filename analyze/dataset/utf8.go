package dataset

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// replacement stands for bytes that are no UTF-8. Parquet's strings must be UTF-8,
// and one that is not makes engines refuse the whole file.
const replacement = "\ufffd"

// validStrings makes all strings of rows UTF-8.
func validStrings[T any](rows []T) {
	fields := reflect.TypeFor[T]()
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for j := range fields.NumField() {
			switch f := row.Field(j).Addr().Interface().(type) {
			case *string:
				*f = validString(*f)
			case **string:
				if *f != nil && !utf8.ValidString(**f) {
					s := validString(**f)
					*f = &s
				}
			case *[]string:
				*f = validList(*f)
			}
		}
	}
}

func validString(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, replacement)
}

// validList leaves a list that is right as it is: others may hold it too.
func validList(list []string) []string {
	for i, s := range list {
		if !utf8.ValidString(s) {
			out := append([]string{}, list...)
			for j := i; j < len(out); j++ {
				out[j] = validString(out[j])
			}
			return out
		}
	}
	return list
}

// validStrings makes every string that may come from a log UTF-8.
func (rows *Rows) validStrings() {
	validStrings(rows.Sessions)
	validStrings(rows.Requests)
	validStrings(rows.Items)
	validStrings(rows.Spans)
	validStrings(rows.Calls)
	validStrings(rows.Texts)
	validStrings(rows.OtherBilled)
	validStrings(rows.Reported)
	validStrings(rows.Calibrations)
	validStrings(rows.Problems)
}
