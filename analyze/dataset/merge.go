package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/parquet-go/parquet-go"
)

// run is a number of parts that stand in order in the files of one name. Rows of
// other parts in those files are passed over.
type run struct {
	path  func(table string) string
	parts []string // in order
}

// output is a place for the rows of some parts, in order.
type output struct {
	path  func(table string) string
	parts []string
}

// merging says which parts of which files go where. Outputs follow each other in the
// order of their parts, so that each run is read once from its begin to its end.
type merging struct {
	runs    []run
	outputs []output
}

// mergeTable writes the files of one table. An output without rows gets no file.
// Only the rows of a batch and a page of every column of a run that is open are in
// memory.
func mergeTable[T any](ctx context.Context, create creator, m *merging, name string, part func(*T) string, options []parquet.WriterOption) error {
	cursors := map[string]*cursor[T]{}
	for _, r := range m.runs {
		c := newCursor(r.path(name), r.parts, part)
		defer c.close()
		for _, p := range r.parts {
			cursors[p] = c
		}
	}
	for _, out := range m.outputs {
		if err := mergeOutput(ctx, create, out.path(name), out.parts, cursors, options); err != nil {
			return err
		}
	}
	return nil
}

func mergeOutput[T any](ctx context.Context, create creator, path string, parts []string, cursors map[string]*cursor[T], options []parquet.WriterOption) error {
	var f *tableFile[T]
	write := func(rows []T) (err error) {
		if f == nil {
			if f, err = createTable[T](create, path, options); err != nil {
				return err
			}
		}
		return f.add(rows)
	}
	var err error
	for _, p := range parts {
		if err = ctx.Err(); err == nil {
			err = cursors[p].take(p, write)
		}
		if err != nil {
			break
		}
	}
	if f == nil {
		return err
	}
	return f.finish(err)
}

// cursor reads the rows of a run part by part. Its file is open while it is needed.
type cursor[T any] struct {
	path string
	part func(*T) string
	want map[string]bool // parts whose rows have not been taken; false: they have
	left int             // parts that have not been taken

	file   *os.File
	reader *parquet.GenericReader[T]
	rows   int64 // that have not been read
	batch  []T   // that have been read and not been taken
	chunk  []T
}

func newCursor[T any](path string, parts []string, part func(*T) string) *cursor[T] {
	c := &cursor[T]{path: path, part: part, want: map[string]bool{}, left: len(parts)}
	for _, p := range parts {
		c.want[p] = true
	}
	return c
}

// take gives the rows of the next part to write, in chunks that end with the part.
func (c *cursor[T]) take(part string, write func([]T) error) error {
	if err := c.open(); err != nil {
		return err
	}
	for {
		more, err := c.fill()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		at := c.part(&c.batch[0])
		waits, known := c.want[at]
		if at != part && waits {
			break
		}
		if at != part && known {
			return fmt.Errorf("reading %s: the rows of part %s do not stand together", c.path, at)
		}
		if at == part {
			if c.chunk = append(c.chunk, c.batch[0]); len(c.chunk) == batchRows {
				if err := c.flush(write); err != nil {
					return err
				}
			}
		}
		c.batch = c.batch[1:]
	}
	c.want[part] = false
	if c.left--; c.left == 0 {
		defer c.close()
	}
	return c.flush(write)
}

func (c *cursor[T]) flush(write func([]T) error) error {
	if len(c.chunk) == 0 {
		return nil
	}
	err := write(c.chunk)
	clear(c.chunk)
	c.chunk = c.chunk[:0]
	return err
}

// open opens the file if it is not. A table without rows has none.
func (c *cursor[T]) open() error {
	if c.reader != nil {
		return nil
	}
	f, err := openPlain(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c.file, c.reader = f, parquet.NewGenericReader[T](f)
	c.rows = c.reader.NumRows()
	return nil
}

// fill makes sure that there are rows in the batch, if any are left.
func (c *cursor[T]) fill() (bool, error) {
	if len(c.batch) > 0 || c.rows == 0 {
		return len(c.batch) > 0, nil
	}
	c.batch = make([]T, min(c.rows, batchRows))
	n, err := c.reader.Read(c.batch)
	c.batch = c.batch[:n]
	c.rows -= int64(n)
	if n == 0 || err != nil && !errors.Is(err, io.EOF) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return false, fmt.Errorf("reading %s: %w", c.path, err)
	}
	return true, nil
}

func (c *cursor[T]) close() {
	if c.file != nil {
		c.reader.Close()
		c.file.Close()
	}
	c.file, c.reader, c.rows, c.batch, c.chunk = nil, nil, 0, nil, nil
}
