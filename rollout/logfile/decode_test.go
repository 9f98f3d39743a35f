package logfile

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everything has a member of every kind that readers use, under the short names
// that a fuzzer finds.
type everything struct {
	S  string                        `json:"s"`
	L  Lenient[string]               `json:"l"`
	N  Lenient[int64]                `json:"n"`
	I  Lenient[int]                  `json:"i"`
	F  Lenient[float64]              `json:"f"`
	B  Lenient[bool]                 `json:"b"`
	V  jsontext.Value                `json:"v"`
	O  Lenient[inner]                `json:"o"`
	P  inner                         `json:"p"`
	A  Lenient[[]Lenient[inner]]     `json:"a"`
	W  Lenient[[]jsontext.Value]     `json:"w"`
	T  Lenient[[]string]             `json:"t"`
	R  []inner                       `json:"r"`
	M  Lenient[map[string]inner]     `json:"m"`
	X  Lenient[*int64]               `json:"x"`
	D  int64                         `json:"d"`
	E  *int64                        `json:"e"`
	G  bool                          `json:"g"`
	É  Lenient[string]               `json:"é"`
	Q  Lenient[jsontext.Value]       `json:"q"`
	Un Lenient[Lenient[[][]float64]] // named by its field
}

type inner struct {
	S Lenient[string]         `json:"s"`
	N int64                   `json:"n"`
	A Lenient[[]Lenient[int]] `json:"a"`
}

var decodeSeeds = []string{
	`{"s":"a\n\"b\"\\","l":"\ud83d\ude00 \ud83d x \ude00","n":5,"i":-3,"f":1.5e3,"b":true,"v":[1, {"a":"]"}],"o":{"s":"x","n":7,"a":[1,"2",null,3]},"p":{"n":1}}`,
	`{"s":null,"l":null,"n":null,"v":null,"o":null,"p":null,"a":null,"w":null,"t":null,"r":null,"m":null,"x":null}`,
	`{"n":5.0,"i":5.0,"d":1e3,"f":5}`, `{"n":1e400,"f":1e400,"i":99999999999999999999}`, `{"n":-0,"i":-0,"f":-0,"d":-9223372036854775808}`,
	`{"a":[{"s":"1"},2,{"n":"x"},null,[]],"w":[1,"a",{"b":[]}],"t":["a","b\u00e9"],"r":[{"n":1},{"s":2}],"m":{"k":{"n":3}},"x":4}`,
	`{"s":1}`, `{"d":"x"}`, `{"r":[1]}`, `{"p":[]}`, `{"a":[],"w":[],"t":[],"r":[],"p":{},"o":{}}`, `{"t":["a",1]}`,
	`{"s":"one","s":"two","p":{"n":1},"p":{"s":"x"},"r":[{"n":1}],"r":[{}],"l":"x","l":2,"v":1,"v":2,"o":{"n":1},"o":{"s":"a"}}`,
	` { "\u0073" : "named by an escape" , "é":"x","q":[1],"Un":[[1,2],[3]] } `, `{"S":"case matters"}`,
	`{"e":5,"g":true}`, `{"e":null,"g":null,"d":null,"s":null}`, `{"e":1,"e":null,"e":2.0,"e":"x"}`, `{"g":1}`,
	`[]`, `"x"`, `5`, `null`, `{`, `{"s":"a}`, `{"s":"\x"}`, `{"s":"\u12g4"}`, "{\"s\":\"a\tb\"}", `{"s" "a"}`, `{"s":"a",}`, `{,}`, `{"n":01}`, `{"n":+1}`, `{"n":1.}`, `{"n":1e}`, `{"n":-}`,
	`{"v":tru}`, `{"v":nulll}`, `{"v":[1,]}`, `{"v":[1 2]}`, `{"v":{]}`, `{"v":1}}`, "{\"l\":\"\xff\"}", "{\"l\":\"a\x7f\x80\"}", "\x00", `{"s":"\ud83d\u0041\udc00\ud800"}`,
	`{"v":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	`{"l":"` + strings.Repeat("0123456\\\\", 9) + `"}`, `{"l":"1234567\"","s":"12345678\u0000"}`,
}

// checkDecode compares with the library: the same values are accepted, and read as
// the same.
func checkDecode(t *testing.T, in []byte) {
	var want, got, within everything
	wantErr := json.Unmarshal(in, &want, options)
	require.Equal(t, wantErr == nil, Unmarshal(bytes.Clone(in), &got) == nil, "%q: the library says %v", in, wantErr)
	text, textErr := Compact(in)
	library := jsontext.Value(bytes.Clone(in))
	libraryErr := library.Compact(options)
	require.Equal(t, libraryErr == nil, textErr == nil, "%q", in)
	if textErr == nil {
		require.Equal(t, string(library), text, "%q", in)
	}
	end := valueEnd(in)
	raw, err := jsontext.NewDecoder(bytes.NewReader(in), options).ReadValue()
	if end > 0 && utf8.Valid(in) {
		require.NoError(t, err, "%q", in)
		require.Equal(t, string(raw), string(bytes.TrimLeft(in[:end], " \t\r\n")), "%q", in)
	}
	if wantErr != nil {
		_ = Decode(in, &within) // does not panic
		return
	}
	require.True(t, reflect.DeepEqual(want, got), "%q\nwant %+v\ngot  %+v", in, want, got)
	if utf8.Valid(in) {
		require.NoError(t, Decode(in, &within), "%q", in)
		require.True(t, reflect.DeepEqual(want, within), "%q\nwant %+v\ngot  %+v", in, want, within)
	}
}

func TestDecodeEqualsLibrary(t *testing.T) {
	for _, in := range decodeSeeds {
		checkDecode(t, []byte(in))
		for cut := range min(len(in), 400) {
			checkDecode(t, []byte(in[:cut]))
			checkDecode(t, []byte(in[:cut]+in[cut+1:]))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, in := range decodeSeeds {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) { checkDecode(t, in) })
}

// TestPlainEnd looks at every byte at every place of a word.
func TestPlainEnd(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			b := bytes.Repeat([]byte{0xC3}, 20)
			b[at] = byte(c)
			want := 20
			if c == '"' || c == '\\' || c < ' ' {
				want = at
			}
			require.Equal(t, want, plainEnd(b, 0), "byte %d at %d", c, at)
		}
	}
}

// TestDecodeAlone says what was read without asking the library.
func TestDecodeAlone(t *testing.T) {
	var v everything
	require.NoError(t, Decode([]byte(`{"l":"a\u00e9\ud83d\ude00\ud83d","n":2e1,"d":3,"i":true,"o":{"s":[],"n":4},"v":{"k":[1]}}`), &v))
	assert.Equal(t, Lenient[string]{V: "aé😀\uFFFD", OK: true}, v.L)
	assert.Equal(t, Lenient[int64]{V: 20, OK: true}, v.N)
	assert.Equal(t, int64(3), v.D)
	assert.Equal(t, Lenient[int]{Odd: true}, v.I)
	assert.True(t, v.O.OK)
	assert.Equal(t, int64(4), v.O.V.N)
	assert.True(t, v.O.V.S.Odd)
	assert.Equal(t, `{"k":[1]}`, string(v.V))
	require.NoError(t, Unmarshal([]byte(`{"d":1.5}`), &v))
	assert.Equal(t, int64(math.MinInt64), v.D)
	require.Error(t, Unmarshal([]byte(`{"d":"x"}`), &v))
}
