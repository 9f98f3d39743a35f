package logfile

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxStumps bounds how often elements of a list are read ahead in vain, against
// files made to have every line read thousands of times.
const maxStumps = 100

// feeder hands a decoder the current line and, as it asks, the lines after it:
// a value that was written over many lines. What it handed out is kept, so that
// lines can be read again one by one where they make no value.
type feeder struct {
	r   *Reader
	fed []byte
	pos int
	end bool
}

// Read implements io.Reader. It returns at most one line a call, so that the
// decoder reads no further than it must.
func (f *feeder) Read(p []byte) (int, error) {
	for f.pos == len(f.fed) {
		if f.end || !f.line() {
			f.end = true
			return 0, io.EOF
		}
	}
	n := copy(p, f.fed[f.pos:])
	f.pos += n
	return n, nil
}

func (f *feeder) line() bool {
	if !f.r.more || len(f.fed) > f.r.limit || !f.r.readLine() {
		return false
	}
	f.fed = append(f.fed, f.r.rest...)
	f.r.rest = nil
	return true
}

// opensDocument tells a line that may open a document written over many lines:
// it breaks between tokens, as every program that indents JSON breaks them. Where
// one such line was the stump of a record, no later line is tried; within a list
// some more are.
func (r *Reader) opensDocument(err error) bool {
	if !r.more || !errors.Is(err, io.ErrUnexpectedEOF) || r.stumps > 0 && !(r.array && r.stumps < maxStumps) {
		return false
	}
	line := bytes.TrimRight(r.rest, " \t\r\n")
	last := line[len(line)-1]
	return last == '{' || last == '[' || last == ','
}

// document decodes the value that begins on the current line and goes on over
// the next ones. Where they make no value, they are read again one by one.
func (r *Reader) document() bool {
	first := r.line
	f := &feeder{r: r, fed: bytes.Clone(r.rest)}
	r.dec.Reset(f, options)
	value, err := r.dec.ReadValue()
	if err == nil {
		r.record, r.documents = value, true
		r.recordLine = first
		r.rest = f.fed[r.dec.InputOffset():]
		r.length = len(r.rest)
		return true
	}
	r.again(f, first, err)
	r.stumps++
	return false
}

// again gives up the first of the lines that were read ahead and puts the others
// back. A document that is cut by the end of the file is one problem, not one
// per line.
func (r *Reader) again(f *feeder, first int, err error) {
	last := r.line
	r.line, r.rest = first, nil
	if errors.Is(err, io.ErrUnexpectedEOF) && (r.array || r.fresh || r.documents) {
		r.note("cut-line", "the document is cut off; what began here was skipped")
		r.line = last
		return
	}
	r.note("bad-json", "the line begins something that is not valid JSON; it was skipped")
	_, after, _ := bytes.Cut(f.fed, []byte("\n"))
	r.ahead = append(bytes.Clone(after), r.ahead...)
	r.more = r.more || len(r.ahead) > 0
}

// element moves to the next element of the list that the document is: past the
// comma before it. At the end of the list false.
func (r *Reader) element() bool {
	for {
		r.rest = bytes.TrimLeft(r.rest, " \t\r\n")
		if len(r.rest) == 0 {
			return false
		}
		switch r.rest[0] {
		case ',':
			r.rest = r.rest[1:]
		case ']':
			r.array = false
			r.rest = r.rest[1:]
			return false
		default:
			return true
		}
	}
}

// opensArray tells that the file is one list, and steps into it. A list without
// objects is no log.
func (r *Reader) opensArray() bool {
	if r.array || !r.fresh || r.rest[0] != '[' {
		return false
	}
	inside := bytes.TrimLeft(r.rest[1:], " \t\r\n")
	return len(inside) == 0 && r.more || jsontext.Value(inside).Kind() == '{'
}
