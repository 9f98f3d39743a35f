package dataset

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/fclog/fclog/internal/bug"
	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// Input is one session file to import. How to read it is the caller's business:
// a dataset knows nothing of formats.
type Input struct {
	Path    string
	Depends []string // other files whose content Read uses
	Read    func(ctx context.Context) ([]*rollout.Session, error)
}

// Options say how to import.
type Options struct {
	NoText   bool                  // keep hashes and counts only
	Redact   bool                  // put placeholders in place of keys and passwords; token counts stay those of the logs
	Scratch  bool                  // the dataset is thrown away soon: do not force it to disk
	Tokens   *tokens.Tokens        // counter to share; nil: a new one
	Progress func(done, total int) // called after every file, never at the same time twice; may be nil
	Shard    shard.Shard           // which of several imports at the same time this is; its inputs are the caller's choice, all distinct. Zero: the only one
	Finished func(path string)     // the same, with the file that is done with

	create creator // nil: real files
	limits limits  // zero: the usual
}

// Summary says what an import did, in files.
type Summary struct {
	Imported  int       // new in the dataset
	Replaced  int       // changed since they were imported
	Unchanged int       // already there, by this name or another
	Kept      int       // older parts kept beside new ones, because the file lost text, results or usage since
	Failed    []Failure // could not be read
	Sessions  int       // in the imported and replaced files
	Problems  int64     // noted while reading those
	Parts     []string  // parts of all inputs but the failed ones, in order, each once
}

// Failure is a file that could not be imported.
type Failure struct {
	Path string
	Err  error
}

// WriteError is a failure to write the dataset. It ends an import: the next file
// would fare no better.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "writing the dataset: " + e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// Import brings session files into the dataset in dir, which is made if it does
// not exist. A file that is there already is not written again; one that changed
// replaces its older part after the new one stands. What cannot be read is listed
// in the summary and does not stop the others. A cancelled or killed import
// leaves whole files only, and the next one goes on from there. While another
// process writes the dataset it fails at once.
func Import(ctx context.Context, dir string, inputs []Input, o Options) (Summary, error) {
	s, err := openStore(dir, o)
	if err != nil {
		return Summary{}, err
	}
	defer s.close()
	im := &importer{store: s, options: o, known: knownFiles(dir), total: len(inputs)}
	if im.state, err = s.stateOf(im.known, inputs); err != nil {
		return Summary{}, err
	}
	err = im.run(ctx, inputs)
	if stateErr := s.writeState(im.state); err == nil && stateErr != nil {
		err = &WriteError{stateErr}
	}
	slices.Sort(im.summary.Parts)
	im.summary.Parts = slices.Compact(im.summary.Parts)
	slices.SortFunc(im.summary.Failed, func(a, b Failure) int { return cmp.Compare(a.Path, b.Path) })
	return im.summary, err
}

type importer struct {
	store   *store
	options Options
	known   map[string]imported // what all imports and shards noted
	state   *state              // what this one notes
	index   *index
	total   int
	tokens  *tokens.Tokens

	mu      sync.Mutex // guards the fields below
	summary Summary
	done    int
}

// job is an input that has to be looked into.
type job struct {
	Input
	file   string // absolute path
	stamps []stamp
	part   string
	err    error
	twins  []*job // of the same content, which are not read
}

func (im *importer) run(ctx context.Context, inputs []Input) error {
	jobs, err := im.changed(inputs)
	if err != nil || len(jobs) == 0 {
		return err
	}
	if im.index, err = im.readIndex(jobs); err != nil {
		return err
	}
	if err := each(ctx, jobs, func(j *job) error {
		j.part, j.err = partName(j.Path, j.Depends, im.store.mode())
		return nil
	}); err != nil {
		return err
	}
	fresh, err := im.fresh(jobs)
	if err != nil {
		return err
	}
	if err := im.bring(ctx, fresh); err != nil || !im.store.shard.None() {
		return err
	}
	return im.fillHoles(ctx)
}

func (im *importer) bring(ctx context.Context, fresh []*job) error {
	if len(fresh) == 0 {
		return nil
	}
	if im.tokens = im.options.Tokens; im.tokens == nil {
		im.tokens = tokens.New()
	}
	if !im.store.shard.None() {
		return each(ctx, fresh, func(j *job) error { return im.alone(ctx, j) })
	}
	return im.packed(ctx, fresh)
}

// changed leaves out files that are as they were when they were imported.
func (im *importer) changed(inputs []Input) ([]*job, error) {
	var jobs []*job
	for _, in := range inputs {
		file, err := filepath.Abs(in.Path)
		if err != nil {
			return nil, err
		}
		j := &job{Input: in, file: file, stamps: stamps(in.Path, in.Depends)}
		if im.state.unchanged(im.store, file, j.stamps) {
			part := im.state.part(file)
			im.finish(in.Path, func(s *Summary) { s.Unchanged++; s.Parts = append(s.Parts, part) })
			continue
		}
		jobs = append(jobs, j)
	}
	// With equal content under several names the first path wins, always.
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(a.file, b.file) })
	return jobs, nil
}

// fresh leaves out files whose content is in the dataset or comes twice.
func (im *importer) fresh(jobs []*job) ([]*job, error) {
	var out []*job
	var there []*settled
	first := map[string]*job{}
	for _, j := range jobs {
		at, found := im.index.find(j.part)
		switch {
		case j.err != nil:
			im.fail(j.Path, j.err)
		case found:
			// An import that was killed may have left the older part in place.
			there = append(there, &settled{job: j, newcomer: newcomer{committed: at}})
		case first[j.part] != nil:
			first[j.part].twins = append(first[j.part].twins, j)
			im.finish(j.Path, func(s *Summary) { s.Unchanged++ })
		default:
			first[j.part] = j
			out = append(out, j)
		}
	}
	if err := im.settle(there); err != nil {
		return nil, &WriteError{err}
	}
	for _, t := range there {
		im.finish(t.job.Path, func(s *Summary) { s.Unchanged++; s.Parts = append(s.Parts, t.part) })
	}
	return out, nil
}

// alone imports one file into a place of its own.
func (im *importer) alone(ctx context.Context, j *job) error {
	r, err := im.ready(ctx, j)
	if err != nil || r == nil {
		return err
	}
	return im.write(&pack{parts: []*ready{r}})
}

// ready reads a file. A failure of the file is noted, and nil returned; the error is
// one that ends the import.
func (im *importer) ready(ctx context.Context, j *job) (*ready, error) {
	rows, err := im.read(ctx, j)
	if err == nil {
		return &ready{job: j, rows: rows, weight: rows.weight()}, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	im.noteFailure(j, err)
	im.fail(j.Path, err)
	return nil, nil
}

func (s *Summary) add(rows *Rows, removed, kept int) {
	if removed+kept > 0 {
		s.Replaced++
	} else {
		s.Imported++
	}
	s.Kept += kept
	s.Sessions += len(rows.Sessions)
	for _, p := range rows.Problems {
		s.Problems += p.Count
	}
}

// rereads bounds how often a file is read again because it grew meanwhile.
const rereads = 3

// read turns a file into rows. A file that grew between naming its part and
// reading it is named again, so that a part's name stays true to what it holds.
// One that never rests keeps its old stamp: the next import reads it once more.
func (im *importer) read(ctx context.Context, j *job) (rows *Rows, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = bug.Of(p)
		}
	}()
	for try := 0; ; try++ {
		sessions, err := j.Read(ctx)
		if err != nil {
			return nil, err
		}
		now := stamps(j.Path, j.Depends)
		if try < rereads && !slices.Equal(now, j.stamps) {
			j.stamps = now
			if j.part, err = partName(j.Path, j.Depends, im.store.mode()); err != nil {
				return nil, err
			}
			continue
		}
		if len(sessions) == 0 {
			return nil, errors.New("no session in it")
		}
		return newRows(sessions, rowOptions{part: j.part, path: j.Path, file: j.file, size: j.stamps[0].Size, text: im.store.text, redact: im.store.redact, tokens: im.tokens})
	}
}

func (im *importer) remember(j *job, p place) {
	im.state.set(j.file, imported{Stamps: j.stamps, Part: j.part, Stored: im.store.stored(p)})
}

func (im *importer) fail(path string, err error) {
	im.finish(path, func(s *Summary) { s.Failed = append(s.Failed, Failure{path, err}) })
}

func (im *importer) finish(path string, count func(*Summary)) {
	im.mu.Lock()
	defer im.mu.Unlock()
	count(&im.summary)
	im.done++
	if im.options.Progress != nil {
		im.options.Progress(im.done, im.total)
	}
	if im.options.Finished != nil {
		im.options.Finished(path)
	}
}

// each runs f over jobs, one per processor. The first error or a cancelled
// context stops what has not begun.
func each(ctx context.Context, jobs []*job, f func(*job) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *job)
	var workers sync.WaitGroup
	var panics bug.Carrier
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		workers.Go(func() {
			for j := range queue {
				panics.Do(func() {
					if err := f(j); err != nil {
						cancel(err)
					}
				})
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		select {
		case queue <- j:
		case <-ctx.Done():
		}
	}
	close(queue)
	workers.Wait()
	panics.Drop()
	return context.Cause(ctx)
}
