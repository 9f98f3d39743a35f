package logfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func write(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// read returns every record as "LINE:JSON" and every problem as "LINE:KIND".
func read(t testing.TB, path string) (records, problems []string) {
	t.Helper()
	r, err := Open(path)
	require.NoError(t, err)
	defer r.Close()
	for r.Next() {
		records = append(records, fmt.Sprintf("%d:%s", r.Line(), r.Record()))
	}
	require.NoError(t, r.Err())
	return records, kinds(r.Problems())
}

func kinds(problems []rollout.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%d:%s", p.Line, p.Kind))
	}
	return out
}

func TestIntegers(t *testing.T) {
	for raw, want := range map[string]int64{
		"5": 5, "-5": -5, "5.0": 5, "0.5e1": 5, "500E-2": 5, "0.5": Impossible, "1e300": Impossible, "1e999": Impossible,
		"9223372036854775807": math.MaxInt64, "9223372036854775808": Impossible,
	} {
		var v struct {
			N int64  `json:"n"`
			P *int64 `json:"p"`
		}
		require.NoError(t, Unmarshal([]byte(`{"n":`+raw+`,"p":`+raw+`}`), &v), raw)
		assert.Equal(t, want, v.N, raw)
		assert.Equal(t, want, *v.P, raw)
	}
	var n int64
	assert.Error(t, Unmarshal([]byte(`"5"`), &n), "a string is no number")
	var p *int64
	require.NoError(t, Unmarshal([]byte("null"), &p))
	assert.Nil(t, p)
}

func TestReader(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	for _, c := range []struct {
		name, in string
		records  []string
		problems []string
	}{
		{"plain", "{\"a\":1}\n{\"a\":2}\n", []string{`1:{"a":1}`, `2:{"a":2}`}, nil},
		{"no line break at the end", `{"a":1}`, []string{`1:{"a":1}`}, nil},
		{"Windows line breaks", "{\"a\":1}\r\n{\"a\":2}\r\n", []string{`1:{"a":1}`, `2:{"a":2}`}, nil},
		{"blank lines", "\n{\"a\":1}\n \t\n\n{\"a\":2}\n\n", []string{`2:{"a":1}`, `5:{"a":2}`}, nil},
		{"blanks after colons", "{\"a\" : 1, \"b\": [ 2 ]}\n", []string{`1:{"a" : 1, "b": [ 2 ]}`}, nil},
		{"two objects on one line", "{\"a\":1}{\"a\":2} {\"a\":3}\n", []string{`1:{"a":1}`, `1:{"a":2}`, `1:{"a":3}`}, nil},
		{"byte-order mark", "\xef\xbb\xbf{\"a\":1}\n", []string{`1:{"a":1}`}, nil},
		{"byte-order mark of a joined file", "{\"a\":1}\n\xef\xbb\xbf{\"a\":2}\n", []string{`1:{"a":1}`, `2:{"a":2}`}, nil},
		{"cut last line", "{\"a\":1}\n{\"a\":\"x", []string{`1:{"a":1}`}, []string{"2:cut-line"}},
		{"broken middle line", "{\"a\":1}\n{\"a\":}\n{\"a\":3}\n", []string{`1:{"a":1}`, `3:{"a":3}`}, []string{"2:bad-json"}},
		{"cut middle line", "{\"a\":1}\n{\"a\":\"x\n{\"a\":3}\n", []string{`1:{"a":1}`, `3:{"a":3}`}, []string{"2:bad-json"}},
		{"broken last line", "{\"a\":1}\n{\"a\"]", []string{`1:{"a":1}`}, []string{"2:bad-json"}},
		{"good record, then rubbish", "{\"a\":1}x\n{\"a\":2}\n", []string{`1:{"a":1}`, `2:{"a":2}`}, []string{"1:bad-json"}},
		{"no objects", "1\n\"x\"\n[{\"a\":1}]\nnull\n{\"a\":1}\n", []string{`5:{"a":1}`}, []string{"1:bad-json", "2:bad-json", "3:bad-json", "4:bad-json"}},
		{"NUL bytes after a record", "{\"a\":1}\x00\x00\x00\n{\"a\":2}\n", []string{`1:{"a":1}`, `2:{"a":2}`}, []string{"1:nul-bytes"}},
		{"NUL tail", "{\"a\":1}\n" + strings.Repeat("\x00", 9<<10), []string{`1:{"a":1}`}, []string{"2:nul-bytes"}},
		{"record after NUL bytes", "{\"a\":1}\n\x00\x00{\"a\":2}\n", []string{`1:{"a":1}`, `2:{"a":2}`}, []string{"2:nul-bytes"}},
		{"invalid UTF-8", "{\"a\":\"\xE1\x80\xE2\"}\n", []string{"1:{\"a\":\"\uFFFD\uFFFD\"}"}, []string{"1:invalid-utf8"}},
		{"lone surrogate", `{"a":"\ud83d x"}` + "\n", []string{`1:{"a":"\ud83d x"}`}, nil},
		{"repeated keys", `{"a":1,"a":2}` + "\n", []string{`1:{"a":1,"a":2}`}, nil},
		{"nested too deep", "{\"a\":1}\n" + deep + "\n{\"a\":3}\n", []string{`1:{"a":1}`, `3:{"a":3}`}, []string{"2:bad-json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, problems := read(t, write(t, c.in))
			assert.Equal(t, c.records, records)
			assert.Equal(t, c.problems, problems)
		})
	}
}

// TestProblemsNameTheByte: a broken line of three good bytes and records before
// it is found where it breaks.
func TestProblemsNameTheByte(t *testing.T) {
	path := write(t, "{\"a\":1} {\"b\":secret}\n")
	r, err := Open(path)
	require.NoError(t, err)
	defer r.Close()
	for r.Next() {
	}
	require.Len(t, r.Problems(), 1)
	p := r.Problems()[0]
	assert.Equal(t, path, p.File)
	assert.Equal(t, 1, p.Line)
	assert.Contains(t, p.Detail, "at byte 13", "8 bytes, then 5 up to the s")
	assert.NotContains(t, p.Detail, "secret")
}

func TestUnmarshalIsTolerant(t *testing.T) {
	var v struct{ A, B string }
	require.NoError(t, Unmarshal([]byte(`{"A":"\ud83d x","B":"one","B":"two"}`), &v))
	assert.Equal(t, "\uFFFD x", v.A)
	assert.Equal(t, "two", v.B)
	s, err := Compact([]byte(`{ "b" : [1, 2 ], "a":"x y" }`))
	require.NoError(t, err)
	assert.Equal(t, `{"b":[1,2],"a":"x y"}`, s)
}

// TestLongLines crosses the read buffer: lines just below, at and above it, and
// several times as long.
func TestLongLines(t *testing.T) {
	for _, size := range []int{bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize + 7} {
		long := `{"a":"` + strings.Repeat("x", size-len(`{"a":""}`)-1) + `"}`
		records, problems := read(t, write(t, `{"b":1}`+"\n"+long+"\n"+`{"b":2}`+"\n"))
		assert.Equal(t, []string{`1:{"b":1}`, "2:" + long, `3:{"b":2}`}, records, "line of %d bytes", size)
		assert.Empty(t, problems)
	}
}

// TestLineTooLong: a line over the limit is skipped as one, what follows is read.
func TestLineTooLong(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 3*bufferSize) + `"}`
	r, err := Open(write(t, "{\"a\":1}\n"+long+"\n{\"a\":3}\n"))
	require.NoError(t, err)
	defer r.Close()
	r.limit = 2 * bufferSize
	var lines []int
	for r.Next() {
		lines = append(lines, r.Line())
	}
	assert.Equal(t, []int{1, 3}, lines)
	assert.Equal(t, []string{"2:line-too-long"}, kinds(r.Problems()))
}

func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a line of 100 MB")
	}
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	w.WriteString(`{"a":1}` + "\n" + `{"big":"`)
	block := strings.Repeat("0123456789", 100_000)
	for range 100 {
		w.WriteString(block)
	}
	w.WriteString(`"}` + "\n" + `{"a":2}` + "\n")
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Open(path)
	require.NoError(t, err)
	defer r.Close()
	var sizes []int
	for r.Next() {
		sizes = append(sizes, len(r.Record()))
	}
	runtime.ReadMemStats(&after)
	require.NoError(t, r.Err())
	assert.Equal(t, []int{7, 100_000_000 + len(`{"big":""}`), 7}, sizes)
	assert.Less(t, after.HeapSys-before.HeapSys, uint64(600<<20), "a few times the line at most")
}

func pack(t testing.TB, name, content string) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&buf)
	if name == "zstd" {
		z, err := zstd.NewWriter(&buf)
		require.NoError(t, err)
		w = z
	}
	_, err := io.WriteString(w, content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func TestCompressed(t *testing.T) {
	for _, kind := range []string{"gzip", "zstd"} {
		one, two := pack(t, kind, "{\"a\":1}\n{\"a\":2}\n"), pack(t, kind, "{\"a\":3}\n")
		records, problems := read(t, write(t, string(one)))
		assert.Equal(t, []string{`1:{"a":1}`, `2:{"a":2}`}, records, kind)
		assert.Empty(t, problems, kind)
		records, problems = read(t, write(t, string(one)+string(two)))
		assert.Equal(t, []string{`1:{"a":1}`, `2:{"a":2}`, `3:{"a":3}`}, records, "%s of two members", kind)
		assert.Empty(t, problems, kind)
	}
}

// TestCompressedDamage: whatever a compressed file is cut to or damaged by,
// records before the damage are kept and the damage is told.
func TestCompressedDamage(t *testing.T) {
	// Lines that do not compress, so that a cut loses only what is behind it.
	var content strings.Builder
	seed := uint64(1)
	for i := range 40_000 {
		seed = seed*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&content, "{\"n\":%d,\"x\":\"%016x\"}\n", i, seed)
	}
	for _, kind := range []string{"gzip", "zstd"} {
		whole := pack(t, kind, content.String())
		for _, c := range []struct {
			name string
			data []byte
		}{
			{"cut in half", whole[:len(whole)/2]},
			{"checksum cut off", whole[:len(whole)-2]},
			{"rubbish in the middle", append(append(bytes.Clone(whole[:len(whole)/2]), bytes.Repeat([]byte{0xff}, 4096)...), whole[len(whole)/2:]...)},
		} {
			r, err := Open(write(t, string(c.data)))
			require.NoError(t, err)
			n := 0
			for r.Next() {
				n++
			}
			assert.NoError(t, r.Err(), "%s, %s", kind, c.name)
			assert.Greater(t, n, 10_000, "%s, %s: keeps about half at least", kind, c.name)
			var told bool
			for _, p := range r.Problems() {
				told = told || p.Kind == "truncated-file"
			}
			assert.True(t, told, "%s, %s: %v", kind, c.name, kinds(r.Problems()))
			r.Close()
		}
	}
	for _, kind := range []string{"gzip", "zstd"} {
		r, err := Open(write(t, string(pack(t, kind, "x")[:5])))
		if err != nil {
			assert.ErrorIs(t, err, ErrNotLog, kind)
			continue
		}
		assert.False(t, r.Next(), kind)
		assert.NoError(t, r.Err(), kind)
		assert.Equal(t, []string{"0:truncated-file"}, kinds(r.Problems()), kind)
		r.Close()
	}
}

// TestZstdWindow: a frame that asks for a window of 1 GiB is refused before the
// memory is taken.
func TestZstdWindow(t *testing.T) {
	// Frame header descriptor 0: no content size, no checksum; window descriptor
	// exponent 20, mantissa 0: 2^(10+20) bytes. Then one raw last block of 1 byte.
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 0x09, 0x00, 0x00, '{'}
	r, err := Open(write(t, string(frame)))
	require.NoError(t, err)
	defer r.Close()
	assert.False(t, r.Next())
	assert.NoError(t, r.Err())
	assert.Equal(t, []string{"0:truncated-file"}, kinds(r.Problems()))
}

func TestNotLogs(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, path, says string }{
		{"folder", dir, "a folder"},
		{"device", os.DevNull, "not a regular file"},
		{"empty", write(t, ""), "the file is empty"},
		{"LFS pointer", write(t, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "git lfs pull"},
	} {
		_, err := Open(c.path)
		require.ErrorIs(t, err, ErrNotLog, c.name)
		assert.ErrorContains(t, err, c.says, c.name)
		assert.ErrorContains(t, err, c.path, c.name)
	}
	_, err := Open(filepath.Join(dir, "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestGrowingFile: only what stood there at opening is read, so a line that is
// just being written is no problem of the next one.
func TestGrowingFile(t *testing.T) {
	path := write(t, "{\"a\":1}\n")
	r, err := Open(path)
	require.NoError(t, err)
	defer r.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("{\"a\":2}\n{\"a\":")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	n := 0
	for r.Next() {
		n++
	}
	assert.Equal(t, 1, n)
	assert.Empty(t, r.Problems())
}

func TestHead(t *testing.T) {
	path := write(t, strings.Repeat("{\"a\":1}\n", 50))
	head, err := Head(path, 20)
	require.NoError(t, err)
	assert.Len(t, head, 20)
	for _, record := range head {
		assert.Equal(t, `{"a":1}`, string(record), "each its own copy")
	}
	big := `{"a":"` + strings.Repeat("x", headBytes) + `"}` + "\n"
	head, err = Head(write(t, strings.Repeat(big, 3)), 20)
	require.NoError(t, err)
	assert.Len(t, head, 1, "large records end the head early")
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bool
	}{
		{`{"a":1}`, true},
		{"\xef\xbb\xbf\n\x00 {", true},
		{string(pack(t, "gzip", "x")), true},
		{string(pack(t, "zstd", "x")), true},
		{"version https://git-lfs.github.com/spec/v1", true},
		{"", false},
		{"[1]", false},
		{"# {", false},
		{"\x7fELF", false},
	} {
		got, err := Sniff(write(t, c.in))
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%q", c.in)
	}
}

// FuzzReader: no input makes the reader fail, and every record is a JSON object
// of valid UTF-8.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":\"\\ud800\"}{\"c\":[1,2]}\n"))
	f.Add([]byte("\xef\xbb\xbf{\"a\":\x00\xff}\n{"))
	f.Add(pack(f, "gzip", "{\"a\":1}\n"))
	f.Add(pack(f, "zstd", "{\"a\":1}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Open(write(t, string(in)))
		if err != nil {
			require.ErrorIs(t, err, ErrNotLog)
			return
		}
		defer r.Close()
		line := 0
		for r.Next() {
			require.GreaterOrEqual(t, r.Line(), line)
			line = r.Line()
			var v map[string]any
			require.NoError(t, Unmarshal(r.Record(), &v), "%q", r.Record())
			valid, replaced := ValidUTF8(r.Record())
			require.Zero(t, replaced, "%q", valid)
		}
		require.NoError(t, r.Err())
	})
}

func BenchmarkReader(b *testing.B) {
	line := `{"type":"x","text":"` + strings.Repeat("word ", 100) + `"}` + "\n"
	path := write(b, strings.Repeat(line, 10_000))
	b.SetBytes(int64(10_000 * len(line)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(path)
		require.NoError(b, err)
		for r.Next() {
		}
		r.Close()
	}
}
