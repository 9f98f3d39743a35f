package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// supersede removes the older parts of a part's file and counts those removed and
// kept. The part itself is committed.
//
// An agent may delete text from its own files (a compaction rewrites them). An
// older part that holds logged text the new one lacks is therefore kept: views
// count each session once, from the part with most requests, but every text stays
// reachable by its hash, and the problems view names the session.
func (s *store) supersede(ix *index, now committed) (removed, kept int, err error) {
	if len(now.hidden) > 0 { // the file is again as it was
		if err := s.hide(now, nil); err != nil {
			return 0, 0, err
		}
	}
	older := ix.olderOf(now, s.text)
	if len(older) == 0 {
		return 0, 0, nil
	}
	logged := map[string]bool{}
	if err := s.loggedTexts(now, func(hash string) { logged[hash] = true }); err != nil {
		return 0, 0, err
	}
	for _, old := range older {
		lost := false
		if err := s.loggedTexts(old, func(hash string) { lost = lost || !logged[hash] }); err != nil {
			return removed, kept, err
		}
		if lost {
			kept++
			if err := s.hideRenamed(old, now, logged); err != nil {
				return removed, kept, err
			}
			continue
		}
		if err := s.remove(old); err != nil {
			return removed, kept, err
		}
		removed++
	}
	return removed, kept, nil
}

// hideRenamed marks the sessions of a kept part that the file now holds under
// another ID, so that they do not count beside it: the new part has most of what was
// said in them. A session that is merely gone from its file goes on counting.
func (s *store) hideRenamed(old, now committed, logged map[string]bool) error {
	type share struct{ there, all int }
	said := map[string]share{}
	err := s.items(old, func(it Item) {
		if slices.Contains(now.sessions, it.SessionID) || !spoken[it.Kind] || it.Origin != string(rollout.Logged) {
			return
		}
		sh := said[it.SessionID]
		sh.all++
		if logged[it.TextHash] {
			sh.there++
		}
		said[it.SessionID] = sh
	})
	if err != nil {
		return err
	}
	var renamed []string
	for _, id := range old.sessions {
		if sh := said[id]; 2*sh.there > sh.all {
			renamed = append(renamed, id)
		}
	}
	if slices.Equal(renamed, old.hidden) {
		return nil
	}
	return s.hide(old, renamed)
}

// spoken are the kinds of items that tell a conversation from another: prompts and
// tool definitions are the same in many.
var spoken = map[string]bool{
	string(rollout.UserText): true, string(rollout.AssistantText): true, string(rollout.ToolCall): true, string(rollout.ToolResult): true,
}

// hide marks sessions of a part as superseded, and all others of it as not.
func (s *store) hide(c committed, ids []string) error {
	s.rewriting.Lock()
	defer s.rewriting.Unlock()
	path := s.path("sessions", c.place)
	var rows []Session
	err := scanFile(path, func(batch []Session) error {
		rows = append(rows, batch...)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Part != c.part {
			continue
		}
		rows[i].Superseded = nil
		if slices.Contains(ids, rows[i].SessionID) {
			yes := true
			rows[i].Superseded = &yes
		}
	}
	sessions := sessionsTable(rows)
	return s.put(path, func(tmp string) error { return sessions.write(s.create, tmp) })
}

// loggedTexts calls f with the hash of every text of a part that stood in its log
// as it was sent.
func (s *store) loggedTexts(c committed, f func(hash string)) error {
	return s.items(c, func(it Item) {
		if it.Origin == string(rollout.Logged) {
			f(it.TextHash)
		}
	})
}

// items calls f with every item of a part.
func (s *store) items(c committed, f func(Item)) error {
	path := s.path("items", c.place)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return scanFile(path, func(rows []Item) error {
		for _, it := range rows {
			if it.Part == c.part {
				f(it)
			}
		}
		return nil
	})
}

// remove takes a part out of the dataset. Of merged files only the sessions file
// is written anew: rows of a part without a sessions row count nowhere, and the
// next merge drops them.
func (s *store) remove(old committed) error {
	if old.place.stem == old.part {
		return s.removeFiles(old.place)
	}
	s.rewriting.Lock()
	defer s.rewriting.Unlock()
	path := s.path("sessions", old.place)
	sessions := sessionsTable(nil)
	err := s.put(path, func(tmp string) error {
		return sessions.merge(s.create, tmp, []string{path}, func(_, part string) bool { return part != old.part })
	})
	if err != nil {
		return fmt.Errorf("taking part %s out of %s: %w", old.part, filepath.Base(path), err)
	}
	return nil
}
