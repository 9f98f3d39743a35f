package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
)

// Compact gives the files of every source and month the form that depends on the
// parts alone, however they came to be there: parts in the order of their names, in
// few files, rows of no committed part left out. What views show stays the same, also
// when it is killed half-way: merged files count from the moment their sessions file
// stands, and a part that stands in two files counts once. While another process
// writes the dataset it fails at once.
func Compact(ctx context.Context, dir string) error { return compact(ctx, dir, usual) }

func compact(ctx context.Context, dir string, l limits) error {
	m, err := readMarker(dir)
	if err != nil {
		return err
	}
	s, err := openStore(dir, Options{NoText: !m.Text, Redact: m.Redacted, limits: l})
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
		if err := s.merge(ctx, groups[g]); err != nil {
			return err
		}
	}
	if err := s.mergeEstimates(ctx); err != nil {
		return err
	}
	return s.dropOrphans()
}

func groupByMonth(parts []committed) (groups map[place][]committed, order []place) {
	groups = map[place][]committed{}
	for _, c := range parts {
		g := c.place.partition()
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], c)
	}
	return groups, order
}

// merge gives the parts of one source and month their places.
func (s *store) merge(ctx context.Context, parts []committed) error {
	held := map[place][]string{} // parts by place, in the order of rows
	for _, c := range parts {
		held[c.place] = append(held[c.place], c.part)
	}
	var fresh []binned
	stay := map[place]bool{}
	for _, b := range bins(parts, s.limits.merged) {
		stay[b.place] = true
		// A merge that was killed while it took the merged files away is done but for that.
		if !sameParts(held[b.place], b.parts) {
			fresh = append(fresh, b)
		}
	}
	if err := s.writeBins(ctx, fresh, runsOf(s, parts, fresh)); err != nil {
		return err
	}
	for p := range held {
		if stay[p] {
			continue
		}
		if err := s.removeFiles(p); err != nil {
			return &WriteError{err}
		}
	}
	return nil
}

// binned are parts that belong into one place.
type binned struct {
	place place
	parts []string // in order
}

// bins cuts the parts of one source and month, in the order of their names, by the
// size of the logs they come from.
func bins(parts []committed, most int64) []binned {
	bytes := map[string]int64{}
	for _, c := range parts {
		bytes[c.part] = max(bytes[c.part], c.bytes)
	}
	var out []binned
	var size int64
	for _, p := range sortedKeys(bytes) {
		if len(out) == 0 || size+bytes[p] > most {
			out, size = append(out, binned{}), 0
		}
		last := &out[len(out)-1]
		last.parts = append(last.parts, p)
		size += bytes[p]
	}
	for i := range out {
		out[i].place = parts[0].place.partition()
		out[i].place.stem = stemOf(out[i].parts)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sameParts(held, want []string) bool {
	held = slices.Clone(held)
	slices.Sort(held)
	return slices.Equal(held, want)
}

// stemOf names the files of parts, which are in order: one by itself, several by all
// of them.
func stemOf(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	sum := sha256.New()
	for _, p := range parts {
		sum.Write([]byte(p + "\n"))
	}
	return "merged-" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// runsOf lists the runs that hold the parts of the bins. A part that stands in two
// places, as a killed merge leaves it, is read from the one with the first name. An
// older version did not keep parts in order, so a file may hold several runs.
func runsOf(s *store, parts []committed, fresh []binned) []run {
	owner := map[string]place{}
	for _, b := range fresh {
		for _, p := range b.parts {
			owner[p] = place{}
		}
	}
	for _, c := range parts {
		if at, wanted := owner[c.part]; wanted && (at.stem == "" || c.place.stem < at.stem) {
			owner[c.part] = c.place
		}
	}
	var out []run
	last := map[place]int{}
	for _, c := range parts {
		if owner[c.part] != c.place {
			continue
		}
		i, ok := last[c.place]
		if !ok || out[i].parts[len(out[i].parts)-1] > c.part {
			i, out = len(out), append(out, run{path: func(table string) string { return s.path(table, c.place) }})
			last[c.place] = i
		}
		out[i].parts = append(out[i].parts, c.part)
	}
	return out
}

// writeBins writes the files of the bins and puts them in place.
func (s *store) writeBins(ctx context.Context, fresh []binned, runs []run) error {
	if len(fresh) == 0 {
		return nil
	}
	tmp, err := s.tmp()
	if err != nil {
		return &WriteError{err}
	}
	defer s.removeAll(tmp)
	if runs, err = s.fewer(ctx, tmp, runs); err != nil {
		return err
	}
	m := &merging{runs: runs}
	aside := func(i int, table string) string { return filepath.Join(tmp, strconv.Itoa(i)+"-"+table+".parquet") }
	for i, b := range fresh {
		m.outputs = append(m.outputs, output{path: func(table string) string { return aside(i, table) }, parts: b.parts})
	}
	if err := s.mergeTables(ctx, m); err != nil {
		return err
	}
	for i, b := range fresh {
		if err := s.publish(b.place, func(table string) string { return aside(i, table) }); err != nil {
			return &WriteError{err}
		}
	}
	return nil
}

// fewer joins runs aside until no more than the limit have to be read at once. One of
// a single part is open for a moment only.
func (s *store) fewer(ctx context.Context, tmp string, runs []run) ([]run, error) {
	var short, long []run
	for _, r := range runs {
		if len(r.parts) > 1 {
			long = append(long, r)
		} else {
			short = append(short, r)
		}
	}
	for n := 0; len(long) > s.limits.runs; n++ {
		path := func(table string) string { return filepath.Join(tmp, "joined-"+strconv.Itoa(n)+"-"+table+".parquet") }
		var parts []string
		for _, r := range long[:s.limits.runs] {
			parts = append(parts, r.parts...)
		}
		slices.Sort(parts)
		if err := s.mergeTables(ctx, &merging{runs: long[:s.limits.runs], outputs: []output{{path, parts}}}); err != nil {
			return nil, err
		}
		long = append(long[s.limits.runs:], run{path, parts})
	}
	return append(short, long...), nil
}

func (s *store) mergeTables(ctx context.Context, m *merging) error {
	for _, t := range (&Rows{}).tables() {
		if err := t.merge(ctx, s.create, m); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &WriteError{err}
		}
	}
	return nil
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
			if err := s.remove(s.path(name, p)); err != nil {
				return &WriteError{err}
			}
		}
	}
	return nil
}
