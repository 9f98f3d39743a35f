package logfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
)

// options accept what agents really write: repeated keys and escapes of lone
// surrogates, which become U+FFFD.
var options = json.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
)

// Unmarshal decodes one JSON value with the options every reader needs. Strings
// come out as valid UTF-8.
func Unmarshal(raw []byte, v any) error { return json.Unmarshal(raw, v, options) }

// Compact returns a JSON value without white space, keys in original order.
func Compact(raw []byte) (string, error) {
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Compact(options); err != nil {
		return "", err
	}
	return string(v), nil
}

// Reader yields the JSON records of one file.
type Reader struct {
	path     string
	in       *bufio.Reader
	closer   io.Closer
	line     int
	buf      []byte // the current line, valid UTF-8
	rest     []byte // what of it is not yet decoded
	record   []byte
	more     bool // the current line ended with a line break
	found    bool // at least one record was read
	problems []rollout.Problem
	err      error
}

// Open starts reading a plain, gzip or zstd file. Errors name the path.
func Open(path string) (*Reader, error) {
	in, closer, err := open(path)
	if err != nil {
		return nil, err
	}
	return &Reader{path: path, in: bufio.NewReaderSize(in, bufferSize), closer: closer, more: true}, nil
}

// Next moves to the next record; false at the end of the file or on an error.
func (r *Reader) Next() bool {
	for r.err == nil {
		if r.decode() {
			r.found = true
			return true
		}
		if !r.more || !r.readLine() {
			return false
		}
	}
	return false
}

// Record is the current JSON value, valid until the next call of Next.
func (r *Reader) Record() []byte { return r.record }

// Line is the 1-based number of the line the current record stands on.
func (r *Reader) Line() int { return r.line }

// Err is the I/O error that ended the read, nil at a normal end.
func (r *Reader) Err() error { return r.err }

// Problems lists the lines that could not be read so far.
func (r *Reader) Problems() []rollout.Problem { return r.problems }

// Close releases the file.
func (r *Reader) Close() error { return r.closer.Close() }

// decode takes the next value off the current line. What does not parse is
// noted and the rest of the line given up: its values cannot be told apart.
func (r *Reader) decode() bool {
	r.rest = bytes.TrimLeft(r.rest, " \t\r\n\x00")
	if len(r.rest) == 0 {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(r.rest), options)
	value, err := dec.ReadValue()
	if err != nil {
		r.badLine(err)
		r.rest = nil
		return false
	}
	r.record = value
	r.rest = r.rest[dec.InputOffset():]
	return true
}

func (r *Reader) badLine(err error) {
	kind, detail := "bad-json", "the line is not valid JSON; it was skipped"
	var syntax *jsontext.SyntacticError
	switch {
	case !r.more:
		kind, detail = "cut-line", "the last line is cut off; it was skipped"
	case errors.As(err, &syntax) && syntax.ByteOffset > 0:
		detail = fmt.Sprintf("the line is not valid JSON at byte %d; the rest of it was skipped", syntax.ByteOffset)
	}
	r.note(kind, detail)
}

// readLine loads the next line, of any length.
func (r *Reader) readLine() bool {
	r.buf = r.buf[:0]
	for {
		chunk, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, chunk...)
		if err == bufio.ErrBufferFull {
			continue
		}
		r.more = err == nil
		if err != nil && err != io.EOF {
			r.err = fmt.Errorf("%s: line %d: %w", r.path, r.line+1, err)
			return false
		}
		break
	}
	if len(r.buf) == 0 {
		return false
	}
	r.line++
	r.rest = r.clean(r.buf)
	return true
}

// clean drops a byte-order mark and runs of NUL bytes (a crashed machine leaves
// them) and makes the rest valid UTF-8.
func (r *Reader) clean(line []byte) []byte {
	if r.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
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
