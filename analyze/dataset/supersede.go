package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
			continue
		}
		if err := s.remove(old); err != nil {
			return removed, kept, err
		}
		removed++
	}
	return removed, kept, nil
}

// loggedTexts calls f with the hash of every text of a part that stood in its log
// as it was sent.
func (s *store) loggedTexts(c committed, f func(hash string)) error {
	path := s.path("items", c.place)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return scanFile(path, func(rows []Item) error {
		for _, it := range rows {
			if it.Part == c.part && it.Origin == string(rollout.Logged) {
				f(it.TextHash)
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
	path := s.path("sessions", old.place)
	sessions := (&Rows{}).tables()[len(Tables())-1]
	err := s.put(path, func(tmp string) error {
		return sessions.merge(s.create, tmp, []string{path}, func(_, part string) bool { return part != old.part })
	})
	if err != nil {
		return fmt.Errorf("taking part %s out of %s: %w", old.part, filepath.Base(path), err)
	}
	return nil
}
