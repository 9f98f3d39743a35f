package opencode

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

// sqliteMagic is how every SQLite database begins.
var sqliteMagic = []byte("SQLite format 3\x00")

// tables are those that hold the sessions.
var tables = []string{"session", "message", "part"}

const (
	// dbHeader is the length of the header of a database, before its first page's own.
	dbHeader = 100
	// schemaPages bounds how many pages are looked at for the schema.
	schemaPages = 256
	// schemaLog is how much of a write-ahead log is looked through for it: in a
	// new database it was written first.
	schemaLog = 1 << 20
	// interiorPage marks a page of a table that only points to others.
	interiorPage = 0x05
)

// Carrier recognises an OpenCode database by its tables, in the bytes of its
// schema: nothing is opened as a database.
func Carrier(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	schema := schemaOf(f)
	if schema == nil {
		return false
	}
	log, _ := head(path+walSuffix, schemaLog)
	for _, table := range tables {
		if !declares(schema, table) && !declares(log, table) {
			return false
		}
	}
	return true
}

// schemaOf is the bytes of the pages that hold the schema of a database: the
// first page and those that it points to. Nil if the file is no database.
func schemaOf(f io.ReaderAt) []byte {
	start := make([]byte, dbHeader)
	if _, err := f.ReadAt(start, 0); err != nil || !bytes.HasPrefix(start, sqliteMagic) {
		return nil
	}
	size := int64(binary.BigEndian.Uint16(start[16:]))
	if size == 1 {
		size = 64 << 10
	}
	if size < 512 {
		return nil
	}
	out := []byte{}
	seen := map[uint32]bool{}
	for queue := []uint32{1}; len(queue) > 0 && len(seen) < schemaPages; queue = queue[1:] {
		if queue[0] == 0 || seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		page := make([]byte, size)
		if _, err := f.ReadAt(page, int64(queue[0]-1)*size); err != nil {
			continue
		}
		queue = append(queue, below(page, queue[0] == 1)...)
		out = append(out, page...)
	}
	return out
}

// below lists the pages an interior page of a table points to.
func below(page []byte, isFirst bool) []uint32 {
	base := 0
	if isFirst {
		base = dbHeader
	}
	if page[base] != interiorPage {
		return nil
	}
	cells := int(binary.BigEndian.Uint16(page[base+3:]))
	out := []uint32{binary.BigEndian.Uint32(page[base+8:])}
	for i := range cells {
		pointer := base + 12 + 2*i
		if pointer+2 > len(page) {
			break
		}
		if at := int(binary.BigEndian.Uint16(page[pointer:])); at+4 <= len(page) {
			out = append(out, binary.BigEndian.Uint32(page[at:]))
		}
	}
	return out
}

// declares finds the declaration of a table, in any quotes.
func declares(schema []byte, table string) bool {
	for _, name := range []string{"`" + table + "`", `"` + table + `"`, table} {
		for _, after := range []string{" (", "("} {
			if bytes.Contains(schema, []byte("CREATE TABLE "+name+after)) {
				return true
			}
		}
	}
	return false
}
