package measure

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// unsaid are argument values that say no more than leaving the argument out.
var unsaid = map[string]bool{"null": true, `""`: true, `"false"`: true, "[]": true, "{}": true}

// canonicalArgs writes arguments so that equal calls have equal text: keys sorted,
// numbers and booleans as strings ("30" = 30: both spellings occur), strings
// trimmed, empty values dropped. The description of a shell command names it for
// the user and is no part of the call. Free text is trimmed.
func canonicalArgs(c rollout.Call, args string) string {
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return strings.TrimSpace(args)
	}
	if _, err := dec.Token(); err != io.EOF {
		return strings.TrimSpace(args)
	}
	if object, ok := v.(map[string]any); ok && c.Class == rollout.ShellTool {
		delete(object, "description")
	}
	var b strings.Builder
	writeCanonical(&b, v)
	return b.String()
}

func writeCanonical(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var value strings.Builder
			writeCanonical(&value, v[k])
			if unsaid[value.String()] {
				continue
			}
			writeString(b, k)
			b.WriteByte(':')
			b.WriteString(value.String())
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			writeCanonical(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case json.Number:
		writeString(b, v.String())
	case bool:
		writeString(b, strconv.FormatBool(v))
	case string:
		writeString(b, strings.TrimSpace(v))
	case nil:
		b.WriteString("null")
	}
}

func writeString(b *strings.Builder, s string) {
	text, _ := json.Marshal(s)
	b.Write(text)
}
