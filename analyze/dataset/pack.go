package dataset

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// limits are sizes that a test makes small.
type limits struct {
	pack   int64 // bytes of rows that wait to be written: what is in memory beside the files that are being read, and what a killed import has to read again
	merged int64 // bytes of logs that the parts of a merged file come from, if it holds more than one
	runs   int   // files that a merge reads at the same time, each of which takes some megabytes
}

var usual = limits{pack: 8 << 20, merged: 64 << 20, runs: 32}

// rowBytes is about what a row takes beside its longest texts.
const rowBytes = 256

// ready is what was read of one file.
type ready struct {
	job    *job
	rows   *Rows
	weight int64
}

// weight is about how many bytes rows take.
func (rows *Rows) weight() int64 {
	var n int64
	for _, t := range rows.counts() {
		n += rowBytes * int64(t.rows)
	}
	for i := range rows.Texts {
		n += int64(len(rows.Texts[i].Text))
	}
	for i := range rows.Calls {
		n += int64(len(deref(rows.Calls[i].Args)))
	}
	return n
}

// pack is what is written into one place.
type pack struct {
	parts  []*ready
	weight int64
}

// packed imports files into packs.
func (im *importer) packed(ctx context.Context, jobs []*job) error {
	inOrder(jobs)
	p := newPacker(jobs, im.store.limits.pack, im.write)
	defer context.AfterFunc(ctx, p.stop)()
	err := each(ctx, jobs, func(j *job) error {
		well := false
		defer func() { // a panic too must leave nobody waiting
			if !well {
				p.stop()
			}
		}()
		r, err := im.ready(ctx, j)
		if adding := p.add(j, r); err == nil {
			err = adding
		}
		well = err == nil
		return err
	})
	var failed *WriteError
	if errors.As(err, &failed) {
		return err
	}
	if writing := p.rest(); err == nil {
		err = writing
	}
	return err
}

// inOrder sorts files by when they were last written: what belongs to one month
// comes together.
func inOrder(jobs []*job) {
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.stamps[0].Mtime, b.stamps[0].Mtime), cmp.Compare(a.file, b.file))
	})
}

// packer gathers the rows of files by source and month, in the order of the files
// however they come, so that what is packed together depends on the files alone. When
// too much waits, the largest pack is written.
type packer struct {
	order map[*job]int
	limit int64
	write func(*pack) error

	mu      sync.Mutex // guards the fields below
	moved   *sync.Cond // next grew, or stopped is true
	next    int        // the first file whose rows have not come
	early   map[int]*ready
	ahead   int64 // weight of early
	open    map[place]*pack
	waiting int64 // weight of open
	stopped bool
}

func newPacker(jobs []*job, limit int64, write func(*pack) error) *packer {
	p := &packer{order: map[*job]int{}, limit: limit, write: write, early: map[int]*ready{}, open: map[place]*pack{}}
	for i, j := range jobs {
		p.order[j] = i
	}
	p.moved = sync.NewCond(&p.mu)
	return p
}

// add takes what was read of a file, nil nothing, and writes the packs that are full.
// Who is too far ahead of the others waits.
func (p *packer) add(j *job, r *ready) error {
	for _, full := range p.take(p.order[j], r) {
		if err := p.write(full); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) take(at int, r *ready) (full []*pack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.early[at] = r
	p.ahead += r.size()
	for {
		r, come := p.early[p.next]
		if !come {
			break
		}
		delete(p.early, p.next)
		p.ahead -= r.size()
		p.next++
		full = append(full, p.put(r)...)
	}
	p.moved.Broadcast()
	for at >= p.next && p.ahead > p.limit && !p.stopped {
		p.moved.Wait()
	}
	return full
}

func (r *ready) size() int64 {
	if r == nil {
		return 0
	}
	return r.weight
}

// put adds rows to their pack and takes out packs until what waits is within bounds.
func (p *packer) put(r *ready) (full []*pack) {
	if r == nil {
		return nil
	}
	at := placed(r.job.part, r.rows).place.partition()
	if p.open[at] == nil {
		p.open[at] = &pack{}
	}
	here := p.open[at]
	here.parts = append(here.parts, r)
	here.weight += r.weight
	p.waiting += r.weight
	for p.waiting > p.limit {
		at := p.largest()
		full = append(full, p.open[at])
		p.waiting -= p.open[at].weight
		delete(p.open, at)
	}
	return full
}

func (p *packer) places() []place {
	var out []place
	for at := range p.open {
		out = append(out, at)
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.month, b.month)) })
	return out
}

func (p *packer) largest() place {
	return slices.MaxFunc(p.places(), func(a, b place) int { return cmp.Compare(p.open[a].weight, p.open[b].weight) })
}

// stop lets nobody wait any more.
func (p *packer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.moved.Broadcast()
}

// rest writes what waits, also what came early when files before it will not come.
func (p *packer) rest() error {
	for _, at := range sortedInts(p.early) {
		for _, full := range p.put(p.early[at]) {
			if err := p.write(full); err != nil {
				return err
			}
		}
	}
	for _, at := range p.places() {
		if err := p.write(p.open[at]); err != nil {
			return err
		}
	}
	return nil
}

func sortedInts[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// write puts a pack in its place and takes away what its parts replace. Its error is
// a WriteError, which ends the import.
func (im *importer) write(p *pack) error {
	slices.SortFunc(p.parts, func(a, b *ready) int { return cmp.Compare(a.job.part, b.job.part) })
	var names []string
	var rows []*Rows
	for _, r := range p.parts {
		// Two files that changed while they were read may have become the same.
		if n := len(names); n == 0 || names[n-1] != r.job.part {
			names, rows = append(names, r.job.part), append(rows, r.rows)
		}
	}
	var list []*settled
	for _, r := range p.parts {
		now := placed(r.job.part, r.rows)
		now.place.stem = stemOf(names)
		list = append(list, &settled{job: r.job, newcomer: newcomer{committed: now, rows: r.rows}})
	}
	read := len(list)
	for i, r := range p.parts {
		for _, twin := range r.job.twins {
			if twin.part == r.job.part { // the file that was read did not change meanwhile
				list = append(list, &settled{job: twin, newcomer: newcomer{committed: list[i].committed, rows: r.rows}})
			}
		}
	}
	if err := im.store.commit(list[0].place, nonEmpty(tablesOf(rows))); err != nil {
		return &WriteError{err}
	}
	if err := im.settle(list); err != nil {
		return &WriteError{err}
	}
	for i, x := range list[:read] {
		im.finish(x.job.Path, func(s *Summary) { s.add(p.parts[i].rows, x.removed+x.left, x.kept); s.Parts = append(s.Parts, x.part) })
	}
	return nil
}
