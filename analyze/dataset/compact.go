package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
)

// Compact merges the files of every source and month into one file per table and
// drops rows that belong to no committed part. What views show stays the same,
// also when it is killed half-way: merged files count from the moment their
// sessions file stands, and a part that stands in two files counts once. While
// another process writes the dataset it fails at once.
func Compact(ctx context.Context, dir string) error { return compact(ctx, dir, false) }

// CompactScratch is Compact for a dataset that is thrown away soon: nothing is
// forced to disk.
func CompactScratch(ctx context.Context, dir string) error { return compact(ctx, dir, true) }

func compact(ctx context.Context, dir string, scratch bool) error {
	m, err := readMarker(dir)
	if err != nil {
		return err
	}
	s, err := openStore(dir, Options{NoText: !m.Text, Scratch: scratch})
	if err != nil {
		return err
	}
	defer s.close()
	ix, err := s.readIndex()
	if err != nil {
		return err
	}
	groups, order := groupByMonth(ix.parts)
	for _, g := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.merge(groups[g]); err != nil {
			return err
		}
	}
	return s.dropOrphans()
}

func groupByMonth(parts []committed) (groups map[place][]committed, order []place) {
	groups = map[place][]committed{}
	for _, c := range parts {
		g := place{source: c.place.source, month: c.place.month}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], c)
	}
	return groups, order
}

// merge writes the parts of one source and month into one place.
func (s *store) merge(parts []committed) error {
	from, owner := sources(parts)
	to := parts[0].place
	to.stem = mergedStem(owner)
	if len(from) == 1 && (len(parts) == 1 || from[0].stem == to.stem) {
		return nil
	}
	var tables []table
	for _, t := range (&Rows{}).tables() {
		paths, stems := s.existing(t.name, from)
		if len(paths) == 0 {
			continue
		}
		keep := func(path, part string) bool { return owner[part] == stems[path] }
		merge := t.merge
		t.write = func(create creator, path string) error { return merge(create, path, paths, keep) }
		tables = append(tables, t)
	}
	// A merge that was killed while it took the merged files away is done but for that.
	if !standsWhole(to, parts, owner) {
		if err := s.commit(to, tables); err != nil {
			return &WriteError{err}
		}
	}
	for _, p := range from {
		if p.stem == to.stem {
			continue
		}
		if err := s.removeFiles(p); err != nil {
			return &WriteError{err}
		}
	}
	return nil
}

// sources lists the places the parts stand in, and which place owns each part: a
// merge that was killed may have left a part in two.
func sources(parts []committed) (from []place, owner map[string]string) {
	owner = map[string]string{}
	for _, c := range parts {
		if !slices.Contains(from, c.place) {
			from = append(from, c.place)
		}
		if stem, ok := owner[c.part]; !ok || c.place.stem < stem {
			owner[c.part] = c.place.stem
		}
	}
	slices.SortFunc(from, func(a, b place) int {
		if a.stem < b.stem {
			return -1
		}
		return 1
	})
	return from, owner
}

// standsWhole says whether a place holds all the parts that are to be merged there.
func standsWhole(to place, parts []committed, owner map[string]string) bool {
	there := 0
	for _, c := range parts {
		if c.place == to {
			there++
		}
	}
	return there == len(owner)
}

func mergedStem(owner map[string]string) string {
	var names []string
	for part := range owner {
		names = append(names, part)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, n := range names {
		sum.Write([]byte(n + "\n"))
	}
	return "merged-" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// existing lists the files a table has in the given places.
func (s *store) existing(table string, from []place) (paths []string, stems map[string]string) {
	stems = map[string]string{}
	for _, p := range from {
		path := s.path(table, p)
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
			stems[path] = p.stem
		}
	}
	return paths, stems
}

// dropOrphans removes files that a killed import left without a sessions file.
func (s *store) dropOrphans() error {
	places, err := s.files("sessions")
	if err != nil {
		return err
	}
	committed := map[place]bool{}
	for _, p := range places {
		committed[p] = true
	}
	for _, name := range Tables() {
		files, err := s.files(name)
		if err != nil {
			return err
		}
		for _, p := range files {
			if committed[p] {
				continue
			}
			if err := os.Remove(s.path(name, p)); err != nil {
				return &WriteError{err}
			}
		}
	}
	return nil
}
