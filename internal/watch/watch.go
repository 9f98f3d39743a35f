// Package watch tells of changes below folders: by notifications of the system,
// joined into batches, and by looking again and again where there are none.
package watch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fclog/fclog/internal/bug"
)

// Batch is what changed since the one before.
type Batch struct {
	Changed []string // files made or written, in order, each once
	Gone    []string // files and folders removed or renamed, in order, each once
	All     bool     // anything may have changed: at the start, when notifications were lost, and now and then
}

// Options say when a batch is due. Zero values stand for the ones named.
type Options struct {
	Quiet time.Duration         // nothing must have happened for so long; 1 s
	Late  time.Duration         // the longest that a change waits for that; 10 s
	Sweep time.Duration         // how often everything is looked at in any case; 5 min
	Poll  time.Duration         // above 0: without notifications, everything is looked at that often
	Skip  func(dir string) bool // folders to leave alone; may be nil
	Warn  func(err error)       // told once why there are no notifications; may be nil

	add func(w *fsnotify.Watcher, dir string) error // in tests
}

// pollAfterFailure is how often everything is looked at where notifications fail.
const pollAfterFailure = 10 * time.Second

// Run calls handle with a first batch for everything and then with one for every
// change below the roots, which are files and folders, until ctx ends; that is no
// error. What waits then, or was cut short, comes in one last call, whose context is
// ctx, ended: the callee decides how long it may take. handle is never called twice at the same
// time. It may ask to look at everything again after a while, which the last call
// makes up for; its error ends Run.
func Run(ctx context.Context, roots []string, o Options, handle func(context.Context, Batch) (again time.Duration, err error)) error {
	l := &loop{roots: roots, o: o.filled(), handle: handle, changed: map[string]bool{}, gone: map[string]bool{}, all: true}
	l.listen()
	defer l.stopListening()
	return l.run(ctx)
}

func (o Options) filled() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&o.Quiet, time.Second)
	set(&o.Late, 10*time.Second)
	set(&o.Sweep, 5*time.Minute)
	if o.Skip == nil {
		o.Skip = func(string) bool { return false }
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.add == nil {
		o.add = (*fsnotify.Watcher).Add
	}
	return o
}

// loop is one Run under way.
type loop struct {
	roots    []string
	o        Options
	handle   func(context.Context, Batch) (time.Duration, error)
	notifier *fsnotify.Watcher // nil: polling
	watched  map[string]bool   // real paths of the folders that are watched

	changed, gone map[string]bool
	all           bool
	owed          bool      // the last call is to look at everything: handle asked for that, or nothing else tells of changes
	flight        Batch     // the last one handed over
	first, last   time.Time // of the changes that wait
	sweep         time.Time // when everything is looked at next
}

// result is what handle returned.
type result struct {
	again time.Duration
	err   error
}

func (l *loop) run(ctx context.Context) error {
	done := make(chan result, 1)
	var panics bug.Carrier
	defer panics.Drop()
	busy := false
	for {
		if !busy && l.due(time.Now()) {
			busy = true
			batch := l.take()
			l.flight = batch
			go func() {
				var r result
				panics.Do(func() { r.again, r.err = l.handle(ctx, batch) })
				done <- r
			}()
		}
		timer := time.NewTimer(l.wait(time.Now(), busy))
		select {
		case <-ctx.Done():
			timer.Stop()
			return l.end(ctx, busy, done)
		case r := <-done:
			if ctx.Err() != nil { // both were ready: it may have been cut short
				timer.Stop()
				done <- r
				return l.end(ctx, busy, done)
			}
			panics.Drop()
			busy = false
			if r.err != nil {
				timer.Stop()
				return r.err
			}
			l.owed = r.again > 0 || l.owed && !l.flight.All || l.notifier == nil
			l.plan(r.again)
		case e, ok := <-l.events():
			if ok {
				l.event(e)
			}
		case err, ok := <-l.errors():
			if ok {
				l.failed(err)
			}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// end waits for what is under way, which ctx has cut short, and hands it over once
// more with what still waits.
func (l *loop) end(ctx context.Context, busy bool, done chan result) error {
	if busy {
		<-done
		l.keep(l.flight)
	}
	l.drain()
	l.all = l.owed
	if len(l.changed)+len(l.gone) == 0 && !l.all {
		return nil
	}
	_, err := l.handle(ctx, l.take())
	return err
}

// keep puts a batch back.
func (l *loop) keep(b Batch) {
	for _, path := range b.Changed {
		l.note(l.changed, path)
	}
	for _, path := range b.Gone {
		l.note(l.gone, path)
	}
}

// grace is how long the last notifications may take to arrive.
const grace = 50 * time.Millisecond

// drain takes what the system has told and nobody has asked for yet.
func (l *loop) drain() {
	if l.notifier == nil {
		return
	}
	for {
		select {
		case e, ok := <-l.events():
			if !ok {
				return
			}
			l.event(e)
		case <-time.After(grace):
			return
		}
	}
}

// due says whether a batch is to be handed over now.
func (l *loop) due(now time.Time) bool {
	if !now.Before(l.sweep) {
		l.sweepNow()
	}
	if l.all {
		return true
	}
	return len(l.changed)+len(l.gone) > 0 && (now.Sub(l.last) >= l.o.Quiet || now.Sub(l.first) >= l.o.Late)
}

// sweepNow asks for everything, and watches again what was lost.
func (l *loop) sweepNow() {
	l.all = true
	if l.notifier != nil {
		l.watchRoots()
	}
}

// wait is how long nothing is to be done unless something happens.
func (l *loop) wait(now time.Time, busy bool) time.Duration {
	if busy {
		return time.Hour // its end is an event
	}
	next := l.sweep
	if len(l.changed)+len(l.gone) > 0 {
		quiet, late := l.last.Add(l.o.Quiet), l.first.Add(l.o.Late)
		for _, at := range []time.Time{quiet, late} {
			if at.Before(next) {
				next = at
			}
		}
	}
	return max(next.Sub(now), time.Millisecond)
}

// plan sets when everything is looked at next.
func (l *loop) plan(again time.Duration) {
	every := l.o.Sweep
	switch {
	case l.notifier == nil:
		every = l.o.Poll
	case l.missingRoot():
		every = min(every, pollAfterFailure)
	}
	if again > 0 {
		every = min(every, again)
	}
	if next := time.Now().Add(every); again > 0 || l.sweep.Before(time.Now()) || next.Before(l.sweep) {
		l.sweep = next
	}
}

// missingRoot says whether something that was named is not there, so that nothing can
// tell of it.
func (l *loop) missingRoot() bool {
	return slices.ContainsFunc(l.roots, func(root string) bool { _, err := os.Stat(root); return err != nil })
}

func (l *loop) take() Batch {
	b := Batch{Changed: slices.Sorted(maps.Keys(l.changed)), Gone: slices.Sorted(maps.Keys(l.gone)), All: l.all}
	clear(l.changed)
	clear(l.gone)
	if l.all {
		l.all = false
		l.sweep = time.Now().Add(time.Hour) // until plan knows better
	}
	return b
}

// listen asks for notifications.
func (l *loop) listen() {
	l.sweep = time.Now().Add(time.Hour)
	if l.o.Poll > 0 {
		return
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		l.poll(err)
		return
	}
	l.notifier, l.watched = n, map[string]bool{}
	l.watchRoots()
}

func (l *loop) stopListening() {
	if l.notifier != nil {
		l.notifier.Close()
		l.notifier = nil
	}
}

// poll goes on without notifications.
func (l *loop) poll(why error) {
	l.stopListening()
	l.o.Poll, l.all = pollAfterFailure, true
	l.o.Warn(why)
}

func (l *loop) events() <-chan fsnotify.Event {
	if l.notifier == nil {
		return nil
	}
	return l.notifier.Events
}

func (l *loop) errors() <-chan error {
	if l.notifier == nil {
		return nil
	}
	return l.notifier.Errors
}

// failed takes an error of the system: notifications were lost.
func (l *loop) failed(err error) {
	if exhausted(err) {
		l.poll(err)
		return
	}
	l.sweepNow()
}

// exhausted says that the system gives no more notifications: there are limits for
// each user.
func exhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

func (l *loop) watchRoots() {
	clear(l.watched)
	for _, root := range l.roots {
		info, err := os.Stat(root)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			l.watch(filepath.Dir(root))
			continue
		}
		l.tree(root, nil)
	}
}

// watch watches one folder and says whether it is new.
func (l *loop) watch(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || l.notifier == nil || l.watched[real] || l.o.Skip(dir) {
		return false
	}
	l.watched[real] = true
	if err := l.o.add(l.notifier, dir); err != nil && exhausted(err) {
		l.poll(err)
		return false
	}
	return true
}

// tree watches a folder and all below it, links included, and calls found with the
// files that are there already. Every folder is watched before it is read, so that no
// file falls between.
func (l *loop) tree(dir string, found func(path string)) {
	if !l.watch(dir) {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			l.tree(path, found)
		case found != nil:
			found(path)
		}
	}
}

func (l *loop) event(e fsnotify.Event) {
	e.Name = filepath.Clean(e.Name)
	switch {
	case !l.wanted(e.Name):
	case e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename):
		delete(l.changed, e.Name)
		l.note(l.gone, e.Name)
		l.forget(e.Name)
	case e.Has(fsnotify.Create) || e.Has(fsnotify.Write):
		if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
			l.tree(e.Name, func(path string) { l.note(l.changed, path) })
			return
		}
		delete(l.gone, e.Name)
		l.note(l.changed, e.Name)
	}
}

// forget makes a folder of that name, should there be one again, a new one.
func (l *loop) forget(dir string) {
	for real := range l.watched {
		if real == dir || below(dir, real) {
			delete(l.watched, real)
		}
	}
}

// wanted says whether a file is a root or below one: of a root that is a file the
// whole folder is watched.
func (l *loop) wanted(path string) bool {
	if l.o.Skip(path) {
		return false
	}
	return slices.ContainsFunc(l.roots, func(root string) bool { return filepath.Clean(root) == path || below(root, path) })
}

func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

func (l *loop) note(in map[string]bool, path string) {
	now := time.Now()
	if len(l.changed)+len(l.gone) == 0 {
		l.first = now
	}
	l.last = now
	in[path] = true
}
