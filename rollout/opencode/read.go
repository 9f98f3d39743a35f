package opencode

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read returns the sessions of an export, of a session file of a storage tree or
// of a database: main sessions by their start, each before its sub-agents.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	var f family
	var err error
	if Carrier(path) {
		err = readDatabase(ctx, path, f.add)
	} else {
		err = readFiles(ctx, path, f.add)
	}
	if err != nil {
		return nil, err
	}
	return f.sessions(path)
}

// readFiles reads the JSON carriers: exports, and session files with the tree
// they stand in.
func readFiles(ctx context.Context, path string, add func(*builder)) error {
	r, err := logfile.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	var found []*builder
	unknown := 0
	for r.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, ok := parseExport(r.Record(), r.Line())
		if !ok {
			d, ok = readTree(path, r.Record(), r.Line())
		}
		if !ok {
			unknown++
			continue
		}
		found = append(found, build(d, path))
	}
	if r.Err() != nil {
		return r.Err()
	}
	if len(found) == 0 {
		return fmt.Errorf("%s: %w: no session of OpenCode in it", path, logfile.ErrNotLog)
	}
	main := found[0]
	for _, p := range r.Problems() {
		main.b.Problem(p)
	}
	if unknown > 0 {
		main.b.Problem(rollout.Problem{File: path, Kind: "unknown-record", Detail: "records that are no session of OpenCode", Count: unknown})
	}
	for _, b := range found {
		add(b)
	}
	return nil
}

// family is the sessions of one file.
type family struct {
	all     []*rollout.Session
	at      map[string]int    // session ID → index in all
	started map[string]string // sub-agent session → ID of its parent's call
}

// add takes a session in. Of one that comes twice the longer copy counts.
func (f *family) add(b *builder) {
	if f.at == nil {
		f.at, f.started = map[string]int{}, map[string]string{}
	}
	for child, call := range b.children {
		f.started[b.s.ID+"\n"+child] = call
	}
	if i, ok := f.at[b.s.ID]; ok {
		if len(b.s.Requests) > len(f.all[i].Requests) {
			f.all[i] = b.s
		}
		return
	}
	f.at[b.s.ID] = len(f.all)
	f.all = append(f.all, b.s)
}

// sessions ties sub-agents to their parents' calls and puts parents first.
func (f *family) sessions(path string) ([]*rollout.Session, error) {
	children := map[string][]*rollout.Session{}
	var roots []*rollout.Session
	for _, s := range f.all {
		s.ParentCall = f.started[s.ParentID+"\n"+s.ID]
		if _, ok := f.at[s.ParentID]; ok {
			children[s.ParentID] = append(children[s.ParentID], s)
		} else {
			roots = append(roots, s)
		}
	}
	var out []*rollout.Session
	placed := map[string]bool{}
	var place func([]*rollout.Session)
	place = func(list []*rollout.Session) {
		slices.SortStableFunc(list, func(x, y *rollout.Session) int {
			return cmp.Or(x.Started.Compare(y.Started), cmp.Compare(x.ID, y.ID))
		})
		for _, s := range list {
			if !placed[s.ID] {
				placed[s.ID] = true
				out = append(out, s)
				place(children[s.ID])
			}
		}
	}
	place(roots)
	f.breakCircles(path, placed, place)
	for _, s := range out {
		if err := rollout.Check(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// breakCircles places sessions that are each other's parents: the first of them
// counts as a main session.
func (f *family) breakCircles(path string, placed map[string]bool, place func([]*rollout.Session)) {
	for _, s := range f.all {
		if placed[s.ID] {
			continue
		}
		s.ParentID, s.ParentCall = "", ""
		s.Problems = append(s.Problems, rollout.Problem{File: path, Kind: "missing-parent", Detail: "the session is an ancestor of its own parent", Count: 1})
		place([]*rollout.Session{s})
	}
}
