package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/bug"
	"github.com/fclog/fclog/internal/progress"
	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/fleet"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

const (
	sessionsALoad = 16       // sessions that are loaded together
	bytesALoad    = 32 << 20 // of their logs
	bytesAtWork   = 64 << 20 // logs of all sessions in memory; a larger one is there by itself
	sessionsAFile = 256      // whose estimates stand in one file
)

// todo is a session and the uses that it has no estimate of, as indexes.
type todo struct {
	session analyze.FleetSession
	uses    []int
}

// missing lists what has no estimate yet, of the shard.
func (w *fleetReplay) missing(ctx context.Context, part shard.Shard) (map[string]todo, []analyze.FleetSession, error) {
	done := map[string]map[analyze.EstimateKey]bool{}
	err := w.fleet.Known(ctx, func(source, part, session string, key analyze.EstimateKey) {
		id := idOf(analyze.FleetSession{Source: source, Part: part, ID: session})
		if done[id] == nil {
			done[id] = map[analyze.EstimateKey]bool{}
		}
		done[id][key] = true
	})
	if err != nil {
		return nil, nil, err
	}
	work := map[string]todo{}
	var order []analyze.FleetSession
	for _, s := range w.sessions {
		if !part.Has(s.Source + "/" + s.ID) {
			continue
		}
		t := todo{session: s}
		for u := range w.uses {
			if !lasting(w.uses[u]) || !done[idOf(s)][w.keys[u]] {
				t.uses = append(t.uses, u)
			}
		}
		if len(t.uses) > 0 {
			work[idOf(s)] = t
			order = append(order, s)
		}
	}
	return work, order, nil
}

func idOf(s analyze.FleetSession) string { return s.Source + "\x00" + s.Part + "\x00" + s.ID }

// work replays what has no estimate yet. It returns how many sessions that were.
func (w *fleetReplay) work(ctx context.Context, part shard.Shard) (int, error) {
	work, order, err := w.missing(ctx, part)
	if err != nil || len(order) == 0 {
		return 0, err
	}
	var all int64
	for _, s := range order {
		all += s.Bytes
	}
	bar := progress.New(w.stderr, "replaying", all, term.WidthOf(w.stderr, w.getenv), term.IsTerminal(w.stderr))
	defer bar.Done()
	for _, file := range analyze.Batches(order, sessionsAFile, 1<<62) {
		rows, err := w.file(ctx, file, work, bar)
		if err != nil {
			return 0, err
		}
		var kept, aside []dataset.Estimate
		for _, r := range rows {
			if lasting(w.uses[r.use]) {
				kept = append(kept, r.Estimate)
			} else {
				aside = append(aside, r.Estimate)
			}
		}
		if err := w.write(file[0], kept, aside, part); err != nil {
			return 0, err
		}
	}
	return len(order), nil
}

// file replays the sessions whose estimates stand in one file: a session on each
// processor, while the next ones are loaded as far as there is room. The rows are in
// the order of the sessions.
func (w *fleetReplay) file(ctx context.Context, file []analyze.FleetSession, work map[string]todo, bar *progress.Bar) ([]estimated, error) {
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	room := semaphore.NewWeighted(bytesAtWork)
	var panics bug.Carrier
	rows := make([][]estimated, len(file))
	load := func() error {
		next := 0
		for _, batch := range analyze.Batches(file, sessionsALoad, bytesALoad) {
			if err := room.Acquire(ctx, roomOf(batch...)); err != nil {
				return err
			}
			sessions, err := w.fleet.Recordings(ctx, batch)
			if err != nil {
				return err
			}
			for i, s := range sessions {
				out := &rows[next+i]
				workers.Go(func() error {
					defer room.Release(roomOf(batch[i]))
					defer bar.Add(batch[i].Bytes)
					err := context.Canceled // stays after a panic, so that the others stop
					panics.Do(func() { *out, err = w.session(ctx, s, work[idOf(batch[i])]) })
					return err
				})
			}
			next += len(batch)
		}
		return nil
	}
	loading := load()
	err := workers.Wait()
	panics.Drop()
	// Loading ends with the error of a worker, which says more.
	return slices.Concat(rows...), cmp.Or(err, loading)
}

// roomOf is how much room sessions take, at most all there is.
func roomOf(sessions ...analyze.FleetSession) (bytes int64) {
	for _, s := range sessions {
		bytes += s.Bytes
	}
	return min(bytes, bytesAtWork)
}

// write puts estimates where they are to stand. A dataset that cannot be written is
// told once, and replayed all the same.
func (w *fleetReplay) write(of analyze.FleetSession, kept, aside []dataset.Estimate, part shard.Shard) error {
	if err := dataset.WriteEstimates(w.fleet.Aside(), of.Source, of.Month, aside); err != nil {
		return err
	}
	err := dataset.WriteEstimates(w.into, of.Source, of.Month, kept)
	if err == nil || w.into == w.fleet.Aside() || !part.None() {
		return err
	}
	w.warn("estimates are not kept: %v", err)
	w.into = w.fleet.Aside()
	return dataset.WriteEstimates(w.into, of.Source, of.Month, kept)
}

// estimated is an estimate and the use it is of.
type estimated struct {
	dataset.Estimate
	use int
}

// session replays one session under the uses that it has no estimate of.
func (w *fleetReplay) session(ctx context.Context, s *rollout.Session, t todo) ([]estimated, error) {
	rec := replay.Recording{Session: s, Sizes: measure.Measure(s, w.tokens)}
	var uses []replay.Use
	for _, u := range t.uses {
		uses = append(uses, w.uses[u])
	}
	rows, err := fleet.Rows(ctx, w.engine, rec, uses)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", rec.Session.ID, err)
	}
	out := make([]estimated, len(rows))
	for i, r := range rows {
		out[i] = estimated{w.stored(t.session, w.keys[t.uses[i]], r), t.uses[i]}
	}
	return out, nil
}
