package dataset

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fclog/fclog/rollout"
)

// supersede removes the older parts of a file whose new part was committed, and
// counts those removed and kept.
//
// An agent may delete text from its own files (a compaction rewrites them). An
// older part that holds logged text the new one lacks is therefore kept: views
// count each session once, from the part with most requests, but every text stays
// reachable by its hash, and the problems view names the session.
func (s *store) supersede(ix *index, part string, rows *Rows) (removed, kept int, err error) {
	var ids []string
	for _, r := range rows.Sessions {
		ids = append(ids, r.SessionID)
	}
	logged := loggedTexts(rows.Items)
	for _, old := range ix.olderOf(part, rows.Sessions[0].File, ids, s.text) {
		lost, err := s.losesText(old, logged)
		if err != nil {
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

func loggedTexts(items []Item) map[string]bool {
	out := map[string]bool{}
	for _, it := range items {
		if it.Origin == string(rollout.Logged) {
			out[it.TextHash] = true
		}
	}
	return out
}

// losesText reports whether an older part holds a logged text that is not among
// the new ones.
func (s *store) losesText(old committed, logged map[string]bool) (bool, error) {
	path := s.path("items", old.place)
	if _, err := os.Stat(path); err != nil {
		return false, nil
	}
	lost := false
	err := scanFile(path, func(rows []Item) error {
		for _, it := range rows {
			if it.Part == old.part && it.Origin == string(rollout.Logged) && !logged[it.TextHash] {
				lost = true
			}
		}
		return nil
	})
	return lost, err
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
