package dataset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// fillHoles writes places anew in which most rows belong to parts that were taken
// out. So rows that count nowhere are never more than those that do.
func (s *store) fillHoles(ctx context.Context) error {
	for _, p := range s.holed {
		parts, alive, err := s.partsIn(p)
		if err != nil {
			return err
		}
		all, err := s.rowsIn("items", p)
		if err != nil {
			return err
		}
		if len(parts) == 0 || 2*alive >= all {
			continue
		}
		if err := s.rewrite(ctx, p, parts); err != nil {
			return err
		}
	}
	s.holed = nil
	return nil
}

// rewrite gives the parts that stand in a place one of their own.
func (s *store) rewrite(ctx context.Context, p place, parts []committed) error {
	to := binned{place: p.partition()}
	for _, c := range parts {
		to.parts = append(to.parts, c.part)
	}
	slices.Sort(to.parts)
	if to.place.stem = stemOf(to.parts); to.place == p {
		return nil
	}
	if err := s.writeBins(ctx, []binned{to}, runsOf(s, parts, []binned{to})); err != nil {
		return err
	}
	if err := s.removeFiles(p); err != nil {
		return &WriteError{err}
	}
	return nil
}

// partsIn lists the parts of a place, and how many rows of items they noted.
func (s *store) partsIn(p place) (parts []committed, items int64, err error) {
	path := s.path("sessions", p)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	ix := &index{at: map[string]int{}}
	if err := ix.add(path, p); err != nil {
		return nil, 0, err
	}
	for _, c := range ix.parts {
		items += c.items
	}
	return ix.parts, items, nil
}

// rowsIn is how many rows a table has in a place.
func (s *store) rowsIn(table string, p place) (int64, error) {
	file, err := os.Open(s.path(table, p))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	f, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return 0, err
	}
	return f.NumRows(), nil
}
