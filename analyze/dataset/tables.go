package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Rows is what one part holds, table by table.
type Rows struct {
	Sessions     []Session
	Requests     []Request
	Items        []Item
	Spans        []Span
	Calls        []Call
	Texts        []Text
	OtherBilled  []OtherBilled
	Reported     []Reported
	Calibrations []Calibration
	Problems     []Problem
}

// Tables lists the names of all tables. Sessions come last: a part counts from
// the moment its sessions file stands in place.
func Tables() []string {
	var names []string
	for _, t := range (&Rows{}).tables() {
		names = append(names, t.name)
	}
	return names
}

// table is one table of a part, ready to be written, and how to merge its files.
type table struct {
	name    string
	rows    int
	columns []string
	schema  *parquet.Schema
	write   func(create creator, path string) error
	merge   func(create creator, path string, from []string, keep keeper) error
}

// creator opens a new file for writing.
type creator func(path string) (io.WriteCloser, error)

// keeper says whether the rows of a part in the named file are still part of the
// dataset.
type keeper func(path, part string) bool

func (r *Rows) tables() []table {
	return []table{
		newTable("requests", r.Requests, func(x *Request) string { return x.Part }),
		newTable("items", r.Items, func(x *Item) string { return x.Part }, hashFilter),
		newTable("spans", r.Spans, func(x *Span) string { return x.Part }, hashFilter),
		newTable("calls", r.Calls, func(x *Call) string { return x.Part }, r.callPages(), parquet.SkipPageBounds("args"), parquet.SkipPageBounds("command")),
		newTable("texts", r.Texts, func(x *Text) string { return x.Part }, r.textPages(), hashFilter, parquet.SkipPageBounds("text")),
		newTable("other_billed", r.OtherBilled, func(x *OtherBilled) string { return x.Part }),
		newTable("reported", r.Reported, func(x *Reported) string { return x.Part }),
		newTable("calibration", r.Calibrations, func(x *Calibration) string { return x.Part }),
		newTable("problems", r.Problems, func(x *Problem) string { return x.Part }),
		sessionsTable(r.Sessions),
	}
}

func sessionsTable(rows []Session) table {
	return newTable("sessions", rows, func(x *Session) string { return x.Part })
}

func newTable[T any](name string, rows []T, part func(*T) string, options ...parquet.WriterOption) table {
	return table{
		name:    name,
		rows:    len(rows),
		columns: columnsOf(parquet.SchemaOf(new(T))),
		schema:  parquet.SchemaOf(new(T)),
		write: func(create creator, path string) error {
			sized := append([]parquet.WriterOption{pagesOf(rowBytes * len(rows))}, options...)
			return writeFile(create, path, sized, func(w *parquet.GenericWriter[T]) error {
				_, err := w.Write(rows)
				return err
			})
		},
		merge: func(create creator, path string, from []string, keep keeper) error {
			whole := append(slices.Clone(options), parquet.PageBufferSize(pageBytes))
			return writeFile(create, path, whole, func(w *parquet.GenericWriter[T]) error {
				return mergeFiles(w, from, part, keep)
			})
		},
	}
}

// columnsOf lists the columns of a schema by name.
func columnsOf(schema *parquet.Schema) []string {
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name())
	}
	return names
}

// hasColumns says whether a file has the columns that this version writes.
func (t table) hasColumns(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return false
	}
	have := columnsOf(f.Schema())
	return !slices.ContainsFunc(t.columns, func(c string) bool { return !slices.Contains(have, c) })
}

// hashFilter lets a reader skip row groups when it looks for one text. Ten bits
// a value give about 1 % false positives.
var hashFilter = parquet.BloomFilters(parquet.SplitBlockFilter(10, "text_hash"))

// rowGroup and pageBytes are a measured compromise: with the default page of
// 256 KiB texts take 26 % more room.
const (
	rowGroup  = 50_000
	pageBytes = 1 << 20
)

// rowBytes is more than a column but args, command and text takes for a row.
const rowBytes = 256

// pagesOf makes room in memory for a page of so many bytes. The room is taken for
// every column from the start: full pages for the few rows of a session would be
// most of what an import allocates.
func pagesOf(bytes int) parquet.WriterOption {
	return parquet.PageBufferSize(min(max(bytes, 1<<14), pageBytes))
}

func (r *Rows) textPages() parquet.WriterOption {
	bytes := rowBytes * len(r.Texts)
	for i := range r.Texts {
		bytes += len(r.Texts[i].Text)
	}
	return pagesOf(bytes)
}

func (r *Rows) callPages() parquet.WriterOption {
	bytes := rowBytes * len(r.Calls)
	for i := range r.Calls {
		if args := r.Calls[i].Args; args != nil {
			bytes += len(*args)
		}
	}
	return pagesOf(bytes)
}

// writeFile writes one Parquet file. Its bytes depend on the rows alone.
func writeFile[T any](create creator, path string, options []parquet.WriterOption, fill func(*parquet.GenericWriter[T]) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	options = append([]parquet.WriterOption{
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.PageBufferSize(pageBytes),
		parquet.CreatedBy("fclog", Importer, ""),
	}, options...)
	w := parquet.NewGenericWriter[T](f, options...)
	err = fill(w)
	if err == nil {
		err = w.Close()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// mergeFiles appends the rows of files that still belong to the dataset.
func mergeFiles[T any](w *parquet.GenericWriter[T], from []string, part func(*T) string, keep keeper) error {
	for _, path := range from {
		err := scanFile(path, func(rows []T) error {
			kept := rows[:0]
			for i := range rows {
				if keep(path, part(&rows[i])) {
					kept = append(kept, rows[i])
				}
			}
			_, err := w.Write(kept)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const batchRows = 1024

// scanFile reads a Parquet file in batches. The rows are valid until the next
// call of f.
func scanFile[T any](path string, f func(rows []T) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := parquet.NewGenericReader[T](file)
	defer r.Close()
	for left := r.NumRows(); left > 0; {
		batch := make([]T, min(left, batchRows))
		n, err := r.Read(batch)
		if n > 0 {
			if err := f(batch[:n]); err != nil {
				return err
			}
		}
		left -= int64(n)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return fmt.Errorf("reading %s: %w", path, cmp.Or(err, io.ErrUnexpectedEOF))
		}
	}
	return nil
}
