package logfile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, in string
		records  []string
		problems []string
	}{
		{"indented", "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}\n", []string{"1:{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}"}, nil},
		{"blank lines first", "\n\n{\n\"a\":1\n}", []string{"3:{\n\"a\":1\n}"}, nil},
		{"two indented ones", "{\n\"a\":1\n}\n{\n\"a\":2\n}\n", []string{"1:{\n\"a\":1\n}", "4:{\n\"a\":2\n}"}, nil},
		{"then one on a line", "{\n\"a\":1\n} {\"a\":2}\n{\"a\":3}\n", []string{"1:{\n\"a\":1\n}", `3:{"a":2}`, `4:{"a":3}`}, nil},
		{"list on a line", `[{"a":1},{"a":2}]`, []string{`1:{"a":1}`, `1:{"a":2}`}, nil},
		{"list, one a line", "[\n{\"a\":1},\n{\"a\":2}\n]\n", []string{`2:{"a":1}`, `3:{"a":2}`}, nil},
		{"indented list", "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": 2\n  }\n]\n", []string{"2:{\n    \"a\": 1\n  }", "5:{\n    \"a\": 2\n  }"}, nil},
		{"comma first", "[{\"a\":1}\n,{\"a\":2}\n]", []string{`1:{"a":1}`, `2:{"a":2}`}, nil},
		{"empty list", "[]\n{\"a\":1}\n", []string{`2:{"a":1}`}, []string{"1:bad-json"}},
		{"list of numbers", "[1,2]\n[3]\n", nil, []string{"1:bad-json", "2:bad-json"}},
		{"list within", "[\n[{\"a\":1}],\n{\"a\":2}\n]\n", []string{`3:{"a":2}`}, []string{"2:bad-json"}},
		{"cut document", "{\n\"a\":1,\n\"b\":[\n", nil, []string{"1:cut-line"}},
		{"cut list", "[\n{\"a\":1},\n{\n\"a\":\n", []string{`2:{"a":1}`}, []string{"3:cut-line"}},
		{"list without its end", "[\n{\"a\":1},\n", []string{`2:{"a":1}`}, nil},
		{"broken element", "[\n{\"a\":},\n{\"a\":2}\n]", []string{`3:{"a":2}`}, []string{"2:bad-json"}},
		{"first line cut between tokens", "{\"a\":1,\n{\"a\":2}\n{\"a\":3}", []string{`2:{"a":2}`, `3:{"a":3}`}, []string{"1:bad-json"}},
		{"later line cut between tokens", "{\"a\":1}\n{\"a\":\n\"b\":2}\n", []string{`1:{"a":1}`}, []string{"2:bad-json", "3:bad-json"}},
		{"first on a line, then indented", "{\"a\":1}\n{\n\"a\":2\n}\n", []string{`1:{"a":1}`, "2:{\n\"a\":2\n}"}, nil},
		{"cut line before the last", "{\"a\":1}\n{\"a\":[\n{\"a\":3}", []string{`1:{"a":1}`, `3:{"a":3}`}, []string{"2:bad-json"}},
		{"NUL bytes read ahead", "{\"a\":1,\n\x00{\"a\":2}\n", []string{`2:{"a":2}`}, []string{"2:nul-bytes", "1:bad-json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, problems := read(t, write(t, c.in))
			assert.Equal(t, c.records, records)
			assert.Equal(t, c.problems, problems)
		})
	}
}

// TestManyOpenedDocuments: lines that each look like the start of a document
// must not be read again and again.
func TestManyOpenedDocuments(t *testing.T) {
	for _, start := range []string{"", "[\n"} {
		records, problems := read(t, write(t, start+strings.Repeat("{\"a\":[\n", 50_000)))
		assert.Empty(t, records)
		assert.LessOrEqual(t, len(problems), 50_000)
	}
}

func TestSniffLists(t *testing.T) {
	for in, want := range map[string]bool{"[{\"a\":1}]": true, "[\n  {": true, "[": true, "[1,2]": false, "[section]\n": false} {
		like, err := Sniff(write(t, in))
		require.NoError(t, err)
		assert.Equal(t, want, like, in)
	}
}

// TestFormsOfOneLog: the same objects on lines of their own, indented, in a list
// on one line and in an indented list are the same records.
func TestFormsOfOneLog(t *testing.T) {
	dir := t.TempDir()
	records := func(t require.TestingT, content string) []string {
		path := filepath.Join(dir, "log")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		r, err := Open(path)
		require.NoError(t, err)
		defer r.Close()
		var out []string
		for r.Next() {
			s, err := Compact(r.Record())
			require.NoError(t, err)
			out = append(out, s)
		}
		require.NoError(t, r.Err())
		assert.Empty(t, r.Problems())
		return out
	}
	text := rapid.SampledFrom([]string{"", "x", "{", "[,", "}\n{", "a\u2028b", "]"})
	object := rapid.MapOfN(text, rapid.SliceOfN(text, 0, 3), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		objects := rapid.SliceOfN(object, 1, 5).Draw(t, "objects")
		var lines, indented bytes.Buffer
		var want []string
		for _, o := range objects {
			one, err := json.Marshal(o)
			require.NoError(t, err)
			want = append(want, string(one))
			lines.Write(append(one, '\n'))
			require.NoError(t, json.Indent(&indented, one, "", "  "))
			indented.WriteByte('\n')
		}
		list, err := json.Marshal(objects)
		require.NoError(t, err)
		var indentedList bytes.Buffer
		require.NoError(t, json.Indent(&indentedList, list, "", "\t"))
		for _, form := range []string{lines.String(), indented.String(), string(list), indentedList.String()} {
			assert.Equal(t, want, records(t, form), form)
		}
	})
}

// FuzzDocuments: no content makes the reader panic, loop or yield what is no
// object.
func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{"{\n\"a\":1\n}\n{\"b\":2}", "[\n{\"a\":1},\n{}\n]", "[{\"a\":1}", "{\"a\":[\n\x00{\"b\"", "[[{}]]\n{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		r, err := Open(write(t, string(data)))
		if err != nil {
			return
		}
		defer r.Close()
		for r.Next() {
			require.EqualValues(t, '{', r.Record()[0])
			require.Positive(t, r.Line())
		}
	})
}
