package dataset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// fillHoles writes places anew in which most rows belong to parts that were taken
// out, by this import or by one that was killed. So rows that count nowhere are never
// more than those that do.
func (im *importer) fillHoles(ctx context.Context) error {
	s := im.store
	places, err := s.files("sessions")
	if err != nil {
		return err
	}
	for _, p := range places {
		if namesPart(p.stem) {
			continue
		}
		parts, alive, err := s.partsIn(p)
		if err != nil {
			return err
		}
		all, err := rowsIn(s.path("items", p))
		if err = ignoreMissing(err); err != nil {
			return err
		}
		if len(parts) == 0 || 2*alive >= all {
			continue
		}
		to, err := s.rewrite(ctx, p, parts)
		if err != nil {
			return err
		}
		im.state.moved(s.stored(p), s.stored(to))
	}
	return nil
}

// rewrite gives the parts that stand in a place one of their own.
func (s *store) rewrite(ctx context.Context, p place, parts []committed) (place, error) {
	to := binned{place: p.partition()}
	for _, c := range parts {
		to.parts = append(to.parts, c.part)
	}
	slices.Sort(to.parts)
	if to.place.stem = stemOf(to.parts); to.place == p {
		return p, nil
	}
	if err := s.writeBins(ctx, []binned{to}, runsOf(s, parts, []binned{to})); err != nil {
		return p, err
	}
	if err := s.removeFiles(p); err != nil {
		return p, &WriteError{err}
	}
	return to.place, nil
}

// stored is the sessions file of a place, as the state notes it.
func (s *store) stored(p place) string { return s.relative(s.path("sessions", p)) }

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
