package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
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

// table is one table of a part or of several, ready to be written, and how to merge
// its files.
type table struct {
	name    string
	rows    int
	columns []string
	schema  *parquet.Schema
	write   func(create creator, path string) error
	merge   func(ctx context.Context, create creator, m *merging) error
}

// creator opens a new file for writing.
type creator func(path string) (io.WriteCloser, error)

func (r *Rows) tables() []table { return tablesOf([]*Rows{r}) }

// tablesOf are the tables of several parts, which stand in them one after the other.
func tablesOf(parts []*Rows) []table {
	return []table{
		joined("requests", parts, func(r *Rows) []Request { return r.Requests }, func(x *Request) string { return x.Part }),
		joined("items", parts, func(r *Rows) []Item { return r.Items }, func(x *Item) string { return x.Part }, parquet.SkipPageBounds("text_hash")),
		joined("spans", parts, func(r *Rows) []Span { return r.Spans }, func(x *Span) string { return x.Part }, parquet.SkipPageBounds("text_hash")),
		joined("calls", parts, func(r *Rows) []Call { return r.Calls }, func(x *Call) string { return x.Part }, callOptions()...),
		joined("texts", parts, func(r *Rows) []Text { return r.Texts }, func(x *Text) string { return x.Part }, parquet.PageBufferSize(textPage), hashFilter, parquet.SkipPageBounds("text")),
		joined("other_billed", parts, func(r *Rows) []OtherBilled { return r.OtherBilled }, func(x *OtherBilled) string { return x.Part }),
		joined("reported", parts, func(r *Rows) []Reported { return r.Reported }, func(x *Reported) string { return x.Part }),
		joined("calibration", parts, func(r *Rows) []Calibration { return r.Calibrations }, func(x *Calibration) string { return x.Part }),
		joined("problems", parts, func(r *Rows) []Problem { return r.Problems }, func(x *Problem) string { return x.Part }),
		joined("sessions", parts, func(r *Rows) []Session { return r.Sessions }, func(x *Session) string { return x.Part }),
	}
}

// callOptions leave out bounds that no question can skip a page by.
func callOptions() []parquet.WriterOption {
	options := []parquet.WriterOption{parquet.PageBufferSize(callPage)}
	for _, column := range []string{"args", "command", "args_hash", "args_key"} {
		options = append(options, parquet.SkipPageBounds(column))
	}
	return options
}

// sessionsTable is a sessions table of parts that stand in order.
func sessionsTable(rows []Session) table {
	var parts []*Rows
	for i := range rows {
		if i == 0 || rows[i].Part != rows[i-1].Part {
			parts = append(parts, &Rows{})
		}
		last := parts[len(parts)-1]
		last.Sessions = append(last.Sessions, rows[i])
	}
	tables := tablesOf(parts)
	return tables[len(tables)-1]
}

func newTable[T any](name string, rows []T, part func(*T) string, options ...parquet.WriterOption) table {
	return tableOf(name, [][]T{rows}, part, options)
}

func joined[T any](name string, parts []*Rows, rows func(*Rows) []T, part func(*T) string, options ...parquet.WriterOption) table {
	lists := make([][]T, len(parts))
	for i, r := range parts {
		lists[i] = rows(r)
	}
	return tableOf(name, lists, part, options)
}

func tableOf[T any](name string, parts [][]T, part func(*T) string, options []parquet.WriterOption) table {
	schema := parquet.SchemaOf(new(T))
	t := table{name: name, columns: columnsOf(schema), schema: schema}
	for _, rows := range parts {
		t.rows += len(rows)
	}
	t.write = func(create creator, path string) error { return writeParts(create, path, parts, options) }
	t.merge = func(ctx context.Context, create creator, m *merging) error {
		return mergeTable(ctx, create, m, name, part, options)
	}
	return t
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
	file, err := openPlain(path)
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

// rowGroup and the pages are a measured compromise. Room for a page is taken for
// every column from the start, so pages are small where columns are many; texts take
// 26 % more room in pages of 256 KiB.
const (
	rowGroup = 50_000
	page     = 64 << 10
	callPage = 256 << 10
	textPage = 1 << 20
)

// codec keeps its encoders, so there is one. With the fastest level writing takes
// less than half the time of the default one; docs/performance.md has the sizes.
var codec = &zstd.Codec{Level: zstd.SpeedFastest}

// tableFile is a Parquet file that is being written. Its bytes depend on the rows
// and where parts end among them alone.
type tableFile[T any] struct {
	file io.WriteCloser
	path string
	*parquet.GenericWriter[T]
}

func createTable[T any](create creator, path string, options []parquet.WriterOption) (*tableFile[T], error) {
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	options = append([]parquet.WriterOption{
		parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.PageBufferSize(page),
		parquet.CreatedBy("fclog", Importer, ""),
	}, options...)
	return &tableFile[T]{f, path, parquet.NewGenericWriter[T](f, options...)}, nil
}

// add writes the rows of one part.
func (f *tableFile[T]) add(rows []T) error {
	for chunk := range slices.Chunk(rows, batchRows) {
		if _, err := f.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// finish closes the file; before is what went wrong so far.
func (f *tableFile[T]) finish(before error) error {
	err := before
	if err == nil {
		err = f.Close()
	}
	if closing := f.file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.path, err)
	}
	return nil
}

// writeParts writes the rows of several parts into one file.
func writeParts[T any](create creator, path string, parts [][]T, options []parquet.WriterOption) error {
	f, err := createTable[T](create, path, options)
	if err != nil {
		return err
	}
	for _, rows := range parts {
		if err := f.add(rows); err != nil {
			return f.finish(err)
		}
	}
	return f.finish(nil)
}

// batchRows is how many rows are read and written at once, never of two parts: so
// pages are cut at the same rows whoever writes a part.
const batchRows = 1024

// scanFile reads a Parquet file in batches. The rows are valid until the next
// call of f.
func scanFile[T any](path string, f func(rows []T) error) error {
	file, err := openPlain(path)
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
