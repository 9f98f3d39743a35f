package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/internal/watch"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

const (
	// restAfter is how long a look at everything is followed by none, in times of how
	// long it took: looking costs at most a fifth of a processor.
	restAfter = 4
	// strangeRest is how soon everything is looked at after a change of a file that
	// is no session log: agents write many, and a log may be read with one of them.
	strangeRest = 30 * time.Second
	// failedRest is how soon an import that failed is tried again.
	failedRest = 10 * time.Second
	// lastWords bounds how long the last import may take when watching ends.
	lastWords = 10 * time.Second
)

// follower keeps a dataset fresh.
type follower struct {
	a      *app
	f      *importFlags
	paths  []string
	tokens *tokens.Tokens

	files  map[string]formats.File // session files by path
	owners map[string][]string     // session files by the path of a file that they are read with
	took   time.Duration           // the last look at everything
	looked time.Time               // when it ended
	told   map[string]bool         // complaints made already

	read, again, gone int // files read for the first time, read again, gone
}

// follow imports what is there and then what changes, until it is stopped.
func (a *app) follow(cmd *cobra.Command, f *importFlags, paths []string) error {
	if err := f.checkWatch(cmd); err != nil {
		return err
	}
	for _, p := range paths {
		if once, err := readOnce(p); once || err != nil {
			return usage(cmd, "--watch follows files and folders; %s is neither", inputName(p))
		}
	}
	w := &follower{a: a, f: f, paths: paths, tokens: tokens.New(), told: map[string]bool{}}
	began := time.Now()
	o := watch.Options{Poll: f.poll, Skip: w.own, Warn: func(err error) {
		a.warn("no notifications of changes: %v; looking at all files again and again instead (on Linux fs.inotify.max_user_watches is the limit)", err)
	}}
	err := watch.Run(cmd.Context(), paths, o, w.handle)
	if err == nil {
		fmt.Fprintf(a.stdout, "%s: watched for %s; %s, %s, %d gone\n", term.Safe(f.dataset), time.Since(began).Round(time.Second),
			term.Count(int64(w.read), "file imported", "files imported"), term.Count(int64(w.again), "change read", "changes read"), w.gone)
	}
	return err
}

func (f *importFlags) checkWatch(cmd *cobra.Command) error {
	switch {
	case f.demo:
		return usage(cmd, "--watch and --demo: the bundled session does not change")
	case f.shard != "":
		return usage(cmd, "--watch and --shard: one process watches, and takes the dataset for itself")
	case f.compact:
		return usage(cmd, "--watch and --compact: merge when the watching has ended")
	case f.poll < 0 || f.poll > 0 && f.poll < time.Second:
		return usage(cmd, "--poll %s must be 1s or more", f.poll)
	}
	return nil
}

// own says whether a path is the dataset or in it: what is written there is no change
// of a log.
func (w *follower) own(path string) bool {
	abs, err := filepath.Abs(path)
	dir, err2 := filepath.Abs(w.f.dataset)
	if err != nil || err2 != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

// handle imports what changed and says how soon to look at everything, 0 at no
// particular time. When watching has ended it gets some seconds for what is left.
func (w *follower) handle(ctx context.Context, b watch.Batch) (time.Duration, error) {
	ended := ctx.Err() != nil
	if ended {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		ctx = last
	}
	first := w.files == nil
	w.lost(b.Gone)
	if b.All {
		return w.everything(ctx, first)
	}
	known, strange, logs := w.sort(ctx, b.Changed)
	if len(known) > 0 {
		if err := w.bring(ctx, known); err != nil {
			return w.failed(ctx, err)
		}
	}
	switch rest := restAfter*w.took - time.Since(w.looked); {
	case logs && rest <= 0, ended && (logs || strange):
		return w.everything(ctx, false)
	case logs:
		return rest, nil
	case strange:
		return max(rest, strangeRest), nil
	}
	return 0, nil
}

// lost tells of session files that went away. What was read of them stays.
func (w *follower) lost(paths []string) {
	for _, gone := range paths {
		for _, path := range slices.Sorted(maps.Keys(w.files)) {
			if path == gone || strings.HasPrefix(path, gone+string(filepath.Separator)) {
				delete(w.files, path)
				w.gone++
				w.line("gone", path+"; what was read of it stays")
			}
		}
	}
}

// sort divides changed files into session files that are known, those that other
// session files are read with, and others; logs says whether one of those is a session
// log.
func (w *follower) sort(ctx context.Context, changed []string) (known []formats.File, strange, logs bool) {
	due := map[string]bool{}
	for _, path := range changed {
		for _, owner := range w.owners[path] {
			due[owner] = true
		}
		if _, ok := w.files[path]; ok {
			due[path] = true
			continue
		}
		if len(w.owners[path]) > 0 {
			continue
		}
		if _, _, err := formats.Expand(ctx, []string{path}); err == nil {
			logs = true
		}
		strange = true
	}
	for _, path := range slices.Sorted(maps.Keys(due)) {
		if f, ok := w.files[path]; ok {
			known = append(known, f)
		}
	}
	return known, strange, logs
}

// everything looks at all that was named.
func (w *follower) everything(ctx context.Context, first bool) (time.Duration, error) {
	began := time.Now()
	files, skipped, err := formats.Expand(ctx, w.paths)
	switch {
	case errors.Is(err, formats.ErrNothing), !first && errors.Is(err, fs.ErrNotExist):
		files = nil // there will be some
	case err != nil && first:
		return 0, err
	case err != nil:
		return w.failed(ctx, err)
	}
	if err := w.a.target.spareAll(files, skipped); err != nil {
		return 0, err
	}
	w.remember(files)
	if first {
		err = w.begin(ctx, files)
	} else if len(files) > 0 {
		err = w.bring(ctx, files)
	}
	w.took, w.looked = time.Since(began), time.Now()
	switch {
	case err != nil && first:
		return 0, err
	case err != nil:
		return w.failed(ctx, err)
	}
	return 0, nil
}

func (w *follower) remember(files []formats.File) {
	w.files, w.owners = map[string]formats.File{}, map[string][]string{}
	for _, f := range files {
		w.files[f.Path] = f
		if f.Format.Depends == nil {
			continue
		}
		for _, other := range f.Format.Depends(f.Path) {
			w.owners[other] = append(w.owners[other], f.Path)
		}
	}
}

// begin is the first import. Its errors end the command: what is wrong with the
// dataset now stays wrong.
func (w *follower) begin(ctx context.Context, files []formats.File) error {
	summary, err := w.a.bring(ctx, w.f.dataset, files, w.options())
	if err != nil {
		return err
	}
	w.complain(summary)
	w.read += summary.Imported
	w.again += summary.Replaced
	fmt.Fprintf(w.a.stdout, "%s: %s; watching %s, Ctrl-C ends it\n", term.Safe(w.f.dataset), summaryLine(summary), term.Safe(strings.Join(w.paths, ", ")))
	return nil
}

func (w *follower) options() dataset.Options {
	return dataset.Options{NoText: w.f.noText, Redact: w.f.redact, Tokens: w.tokens}
}

// bring imports files and says a line of each that was read.
func (w *follower) bring(ctx context.Context, files []formats.File) error {
	var mu sync.Mutex
	var read []string
	ins := inputs(files)
	for i := range ins {
		path, inner := ins[i].Path, ins[i].Read
		ins[i].Read = func(ctx context.Context) ([]*rollout.Session, error) {
			sessions, err := inner(ctx)
			if err == nil {
				mu.Lock()
				read = append(read, path)
				mu.Unlock()
			}
			return sessions, err
		}
	}
	summary, err := dataset.Import(ctx, w.f.dataset, ins, w.options())
	if err != nil {
		return fmt.Errorf("importing into %s: %w", w.f.dataset, err)
	}
	w.complain(summary)
	w.read += summary.Imported
	w.again += summary.Replaced
	slices.Sort(read)
	for _, path := range slices.Compact(read) {
		w.line("read", path)
	}
	return nil
}

// failed tells of an import that failed and has it tried again: a full disk may be
// emptied, another import ends.
func (w *follower) failed(ctx context.Context, err error) (time.Duration, error) {
	if ctx.Err() != nil {
		return 0, nil
	}
	w.once("%v; trying again", err)
	return failedRest, nil
}

// complain names files that could not be read, each once for the same reason.
func (w *follower) complain(summary dataset.Summary) {
	for _, f := range summary.Failed {
		if !errors.Is(f.Err, fs.ErrNotExist) {
			w.once("could not import %v", fmt.Errorf("%s: %w", f.Path, f.Err))
		}
	}
}

func (w *follower) once(format string, err error) {
	if text := err.Error(); !w.told[text] {
		w.told[text] = true
		w.a.warn(format, err)
	}
}

// line says one thing that happened.
func (w *follower) line(what, text string) {
	fmt.Fprintf(w.a.stdout, "%s %-4s %s\n", time.Now().Format(time.TimeOnly), what, term.Safe(w.a.hidden(text)))
}
