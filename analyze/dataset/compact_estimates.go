package dataset

import (
	"context"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// estimatesAFile is how many estimates a merged file holds.
const estimatesAFile = 4096

// mergeEstimates gives the estimates of every source and month the files that depend
// on the estimates alone, however the work was divided: in the order of what they are
// about, each once, so many to a file. Those of one month are in memory at a time.
// Killed half-way it leaves some of them twice, which count once.
func (s *store) mergeEstimates(ctx context.Context) error {
	places, err := s.files(EstimatesTable)
	if err != nil {
		return err
	}
	groups := map[place][]place{}
	for _, p := range places {
		groups[p.partition()] = append(groups[p.partition()], p)
	}
	for month, files := range groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.mergeMonth(month, files); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) mergeMonth(month place, files []place) error {
	rows, read, err := s.estimatesIn(files)
	if err != nil || len(rows) == 0 {
		return err
	}
	stay := map[string]bool{}
	for chunk := range slices.Chunk(rows, estimatesAFile) {
		stem := estimatesStem(chunk)
		stay[stem] = true
		if slices.ContainsFunc(read, func(p place) bool { return p.stem == stem }) {
			continue
		}
		if err := WriteEstimates(s.dir, month.source, month.month, chunk); err != nil {
			return err
		}
	}
	for _, p := range read {
		if stay[p.stem] {
			continue
		}
		if err := s.remove(s.path(EstimatesTable, p)); err != nil {
			return &WriteError{err}
		}
	}
	return nil
}

// estimatesIn reads the rows of files in order of what they are about, each once.
// Files with other columns than this version's stay as they are.
func (s *store) estimatesIn(files []place) (rows []Estimate, read []place, err error) {
	this := newTable(EstimatesTable, []Estimate{}, func(x *Estimate) string { return x.Part })
	for _, p := range files {
		path := s.path(EstimatesTable, p)
		if !this.hasColumns(path) {
			continue
		}
		list, err := parquet.ReadFile[Estimate](path)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		rows, read = append(rows, list...), append(read, p)
	}
	slices.SortStableFunc(rows, byKey)
	return slices.CompactFunc(rows, func(a, b Estimate) bool { return byKey(a, b) == 0 }), read, nil
}

func byKey(a, b Estimate) int { return slices.Compare(a.key(), b.key()) }
