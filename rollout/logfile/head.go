package logfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

const (
	// headBuffer is the read size for heads: most need no more.
	headBuffer = 32 << 10
	// headBytes ends a head early, so that large records are not read for nothing.
	headBytes = 1 << 20
	// headLimit is the most that is read of a file for its head: a foreign file
	// may be one line of gigabytes.
	headLimit = 256 << 20
	// sniffBytes is what decides whether a file can be a log at all.
	sniffBytes = 512
)

// Head returns the first records of a file, at most n and about 1 MiB, for
// recognising its format. A file without any is ErrNotLog.
func Head(path string, n int) ([][]byte, error) {
	r, err := openBuffered(path, headBuffer)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	start, _ := r.src.in.Peek(sniffBytes)
	if bytes.HasPrefix(start, sqliteMagic) {
		start, _ = r.src.in.Peek(headBuffer)
	}
	start = bytes.Clone(start)
	r.src.in = bufio.NewReaderSize(io.LimitReader(r.src.in, headLimit), headBuffer)
	var records [][]byte
	for size := 0; len(records) < n && size < headBytes && r.Next(); size += len(r.Record()) {
		records = append(records, bytes.Clone(r.Record()))
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%s: %w: %s", path, ErrNotLog, noRecords(start, r))
	}
	return records, nil
}

// sqliteMagic is how every SQLite database begins.
var sqliteMagic = []byte("SQLite format 3\x00")

// database says whose a database without an own reader seems to be, by the tables
// declared at its start: before OpenCode was written anew, it and Crush, which came
// from it, had these.
func database(start []byte) string {
	for _, table := range []string{"sessions", "messages", "files"} {
		if !bytes.Contains(start, []byte("CREATE TABLE "+table)) && !bytes.Contains(start, []byte("CREATE TABLE IF NOT EXISTS "+table)) {
			return "an SQLite database, none of an agent that is known"
		}
	}
	return "a database of the older OpenCode or of Crush, which fclog does not read"
}

// noRecords says what a file without any JSON record seems to be.
func noRecords(start []byte, r *Reader) string {
	switch {
	case len(r.Problems()) > 0 && r.Problems()[0].Kind == "truncated-file":
		return "the compressed file is damaged or cut off"
	case len(bytes.Trim(start, " \t\r\n\x00")) == 0:
		return "it holds only blanks"
	case bytes.HasPrefix(start, sqliteMagic):
		return database(start)
	case !plausible(start):
		return "binary data"
	case len(r.Problems()) > 0 && r.Problems()[0].Kind == "cut-line":
		return "its only line is cut off"
	}
	return "no line of it is a JSON object"
}

// Sniff reports whether a regular file could hold JSON records, from its first
// bytes alone: compressed, or text that starts like a JSON object or a list
// of them. It is cheap
// enough for every file of a folder.
func Sniff(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, sniffBytes)
	n, err := io.ReadFull(f, start)
	if n == 0 {
		if err == io.EOF {
			return false, nil
		}
		return false, err
	}
	start = start[:n]
	if bytes.HasPrefix(start, gzipMagic) || bytes.HasPrefix(start, zstdMagic) || bytes.HasPrefix(start, lfsMagic) {
		return true, nil
	}
	start = bytes.TrimLeft(bytes.TrimPrefix(start, bom), " \t\r\n\x00")
	return bytes.HasPrefix(start, []byte("{")) || startsList(start), nil
}

// startsList tells a list of objects, as far as its start shows.
func startsList(start []byte) bool {
	inside, ok := bytes.CutPrefix(start, []byte("["))
	if !ok {
		return false
	}
	inside = bytes.TrimLeft(inside, " \t\r\n")
	return len(inside) == 0 || inside[0] == '{'
}

// plausible reports whether bytes look like text: no control bytes but those
// of text, and nearly all of it valid UTF-8.
func plausible(b []byte) bool {
	bad := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 && utf8.FullRune(b) || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\x1b' && r != '\f' {
			bad++
		}
		b = b[size:]
	}
	return bad*20 <= sniffBytes/10
}
