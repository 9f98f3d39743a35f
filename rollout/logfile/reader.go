package logfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
)

// bom is the byte-order mark in UTF-8.
var bom = []byte("\xef\xbb\xbf")

// maxLine bounds memory against files made to exhaust it, such as compressed
// runs of one byte. JavaScript agents cannot write longer lines: their longest
// string has 2^29 - 24 characters.
const maxLine = 1 << 29

// options accept what agents really write: repeated keys and escapes of lone
// surrogates, which become U+FFFD.
var options = json.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(readInteger)),
)

// Impossible is what a JSON number becomes that is no integer of 64 bits: no
// count can be negative, so readers leave it out and say so.
const Impossible = math.MinInt64

// readInteger takes integers in every notation of JSON: 5, 5.0, 0.5e1.
func readInteger(dec *jsontext.Decoder, n *int64) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*n = integer(string(raw))
	return nil
}

func integer(number string) int64 {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return Impossible
	}
	return int64(f)
}

// Compact returns a JSON value without white space, keys in original order.
func Compact(raw []byte) (string, error) {
	if whole(raw) && utf8.Valid(raw) {
		return compact(raw), nil
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Compact(options); err != nil {
		return "", err
	}
	return string(v), nil
}

// compact is Compact of valid JSON.
func compact(raw []byte) string {
	var out []byte // nil while there was no white space
	from := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = quoteEnd(raw, i+1)
		case c > ' ':
			i++
		default:
			out = append(out, raw[from:i]...)
			i = blanks(raw, i)
			from = i
		}
	}
	if out == nil {
		return string(raw[from:])
	}
	return string(append(out, raw[from:]...))
}

// Reader yields the JSON objects of one file: one or more on a line, or written
// over several lines, or the elements of one list.
type Reader struct {
	path       string
	src        source
	line       int
	buf        []byte // holds a line longer than the read buffer
	rest       []byte // what of the current line is not yet decoded
	length     int    // bytes of the current line, as cleaned
	limit      int    // bytes of the longest line taken
	record     []byte
	more       bool   // the current line ended with a line break
	fresh      bool   // nothing but blanks came yet
	array      bool   // inside a list that the file is
	documents  bool   // a record was written over several lines
	stumps     int    // lines that looked like the start of a document and were none
	recordLine int    // line the current record begins on
	ahead      []byte // lines read ahead, to be read again
	dec        *jsontext.Decoder
	text       bytes.Buffer // what dec reads
	problems   []rollout.Problem
	err        error
}

// Open starts reading a plain, gzip or zstd file. Errors name the path.
func Open(path string) (*Reader, error) { return openBuffered(path, bufferSize) }

func openBuffered(path string, buffer int) (*Reader, error) {
	src, err := open(path, buffer)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path, src: src, more: true, fresh: true, limit: maxLine}
	r.dec = jsontext.NewDecoder(&r.text, options)
	return r, nil
}

// Next moves to the next record; false at the end of the file or on an error.
func (r *Reader) Next() bool {
	for r.err == nil {
		if r.decode() {
			return true
		}
		if !r.more || !r.readLine() {
			return false
		}
	}
	return false
}

// Record is the current JSON object, valid until the next call of Next.
func (r *Reader) Record() []byte { return r.record }

// Line is the 1-based number of the line the current record begins on.
func (r *Reader) Line() int { return r.recordLine }

// Err is the I/O error that ended the read, nil at a normal end.
func (r *Reader) Err() error { return r.err }

// Problems lists the lines that could not be read so far.
func (r *Reader) Problems() []rollout.Problem { return r.problems }

// Close releases the file.
func (r *Reader) Close() error { return r.src.closer.Close() }

// decode takes the next object off the current line. What does not parse is
// noted and the rest of the line given up: its values cannot be told apart.
func (r *Reader) decode() bool {
	r.rest = bytes.TrimLeft(r.rest, " \t\r\n")
	if len(r.rest) == 0 {
		return false
	}
	if r.opensArray() {
		r.array, r.rest = true, r.rest[1:]
	}
	if r.array && !r.element() {
		r.fresh = r.fresh && r.array
		return false
	}
	defer func() { r.fresh = false }()
	if r.rest[0] != '{' {
		r.note("bad-json", "the line holds something else than JSON objects; it was skipped from there")
		r.rest = nil
		return false
	}
	if end := valueEnd(r.rest); end > 0 {
		r.record, r.recordLine, r.rest = r.rest[:end:end], r.line, r.rest[end:]
		return true
	}
	r.text = *bytes.NewBuffer(r.rest)
	r.dec.Reset(&r.text, options)
	value, err := r.dec.ReadValue()
	if err != nil && r.opensDocument(err) {
		return r.document()
	}
	if err != nil {
		r.badLine(err)
		r.rest = nil
		return false
	}
	r.record, r.recordLine = value, r.line
	r.rest = r.rest[r.dec.InputOffset():]
	return true
}

func (r *Reader) badLine(err error) {
	var syntax *jsontext.SyntacticError
	switch {
	case !r.more && errors.Is(err, io.ErrUnexpectedEOF):
		r.note("cut-line", "the last line is cut off; it was skipped")
	case errors.As(err, &syntax):
		r.note("bad-json", fmt.Sprintf("the line is not valid JSON at byte %d; it was skipped from there", r.length-len(r.rest)+int(syntax.ByteOffset)))
	default:
		r.note("bad-json", "the line is not valid JSON; it was skipped from there")
	}
}

// readLine loads the next line.
func (r *Reader) readLine() bool {
	line, long, err := r.nextLine()
	r.more = err == nil || len(r.ahead) > 0
	if err != nil && err != io.EOF && !r.damaged(err) {
		r.err = fmt.Errorf("%s: line %d: %w", r.path, r.line+1, err)
		return false
	}
	if len(line) == 0 {
		return false
	}
	r.line++
	if long {
		r.note("line-too-long", fmt.Sprintf("the line is longer than %d bytes; it was skipped", r.limit))
		line = nil
	}
	r.rest = r.clean(line)
	r.length = len(r.rest)
	return true
}

// nextLine returns the next line with its line break. A line that fits the read
// buffer is not copied. long says that the rest of an overlong line was dropped.
func (r *Reader) nextLine() (line []byte, long bool, err error) {
	if n := bytes.IndexByte(r.ahead, '\n') + 1; n > 0 {
		line, r.ahead = r.ahead[:n], r.ahead[n:]
		return line, false, nil
	}
	if len(r.ahead) > 0 {
		line, r.ahead = r.ahead, nil
		return line, false, io.EOF
	}
	line, err = r.src.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, false, err
	}
	r.buf = append(r.buf[:0], line...)
	for err == bufio.ErrBufferFull {
		line, err = r.src.in.ReadSlice('\n')
		if len(r.buf)+len(line) > r.limit {
			long = true
			continue
		}
		r.buf = append(r.buf, line...)
	}
	return r.buf, long, err
}

// damaged notes that compressed content ends early or is corrupt: what was read
// before is kept. An error of the file system is not its business.
func (r *Reader) damaged(err error) bool {
	var disk *fs.PathError
	if !r.src.compressed || errors.As(err, &disk) {
		return false
	}
	detail := "the compressed file is damaged; what stands before the damage was read"
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		detail = "the compressed file is cut off; what stands before the cut was read"
	case errors.Is(err, errBomb):
		detail = errBomb.Error() + ", as no log does; what stands before was read"
	}
	r.problems = append(r.problems, rollout.Problem{File: r.path, Kind: "truncated-file", Detail: detail, Count: 1})
	return true
}

// clean drops a byte-order mark (also in the middle, where logs were joined) and
// NUL bytes (a crashed machine leaves runs of them) and makes the rest valid
// UTF-8.
func (r *Reader) clean(line []byte) []byte {
	line = bytes.TrimPrefix(line, bom)
	if bytes.IndexByte(line, 0) >= 0 {
		r.note("nul-bytes", "the line holds NUL bytes, as a crash leaves them; they were skipped")
		line = bytes.ReplaceAll(line, []byte{0}, nil)
	}
	valid, replaced := ValidUTF8(line)
	if replaced > 0 {
		r.note("invalid-utf8", fmt.Sprintf("%d invalid byte sequences were replaced by U+FFFD", replaced))
	}
	return valid
}

func (r *Reader) note(kind, detail string) {
	r.problems = append(r.problems, rollout.Problem{File: r.path, Line: r.line, Kind: kind, Detail: detail, Count: 1})
}
