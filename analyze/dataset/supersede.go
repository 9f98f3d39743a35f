package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// newcomer is a part that stands for its file as it is now.
type newcomer struct {
	committed           // with the key and the path of the file, also where a copy of it made the part
	before    string    // the part that the file was noted with until now; "" none
	rows      *Rows     // of it, where they were just made; nil: they are in its place
	holds     *holdings // once they were needed

	removed, kept int // older parts, once superseded
	left          int // older parts that stand for other files
}

// elder is an older part of a newcomer's file.
type elder struct {
	committed
	now   *newcomer
	lost  bool             // it holds something that the newcomer lacks
	said  map[string]share // what was said in its sessions that the newcomer does not have by ID
	bills []bill           // what was counted in it
}

// measures says whether more than the logged texts of an elder can be compared. Another
// version of the importer may have read other numbers from the same log, unless that
// is shorter now.
func (old *elder) measures() bool { return old.importer == Importer || old.now.bytes < old.bytes }

// share is how much of something is there.
type share struct{ there, all int }

func (s share) with(there bool) share {
	s.all++
	if there {
		s.there++
	}
	return s
}

// supersede removes the older parts of the newcomers' files and counts those removed
// and kept. The newcomers are committed.
//
// An agent may delete from its own files (a compaction rewrites them), and what was
// synced half is shorter. An older part that holds a logged text, a result or the usage
// of a request that the new one lacks is therefore kept: views count each
// session once, from the part with most requests, but every text stays reachable by its
// hash, and the problems view names the session.
//
// A part that another file was found to hold, as a copy does, is not taken away: it
// stands for that file, if that was not moved away. Which those are the notes tell.
func (s *store) supersede(ix *index, notes *state, newcomers []*newcomer) error {
	s.rewriting.Lock()
	defer s.rewriting.Unlock()
	changes := map[place]*changes{}
	elders := map[place][]*elder{}
	taken := map[string]bool{}
	standing := map[string]bool{} // files may have changed places
	for _, now := range newcomers {
		standing[now.part] = true
	}
	for _, now := range newcomers {
		if len(now.hidden) > 0 { // the file is again as it was
			changesOf(changes, now.place).show(now.part, nil)
		}
		for _, c := range ix.eldersOf(now, s.text) {
			notes.forgetMaker(c)
			if standing[c.part] || notes.held(c.part) {
				now.left++
				continue
			}
			if id := c.place.stem + "/" + c.part; !taken[id] {
				taken[id] = true
				elders[c.place] = append(elders[c.place], &elder{committed: c, now: now, said: map[string]share{}})
			}
		}
	}
	if err := s.loadHoldings(elders); err != nil {
		return err
	}
	for p, here := range elders {
		if err := s.compare(p, here); err != nil {
			return err
		}
		for _, old := range here {
			old.decide(changesOf(changes, p))
		}
	}
	for p, c := range changes {
		if err := s.change(p, c); err != nil {
			return err
		}
	}
	return nil
}

// loadHoldings finds out what newcomers hold, of those that have an older part.
func (s *store) loadHoldings(elders map[place][]*elder) error {
	wanted := map[place]map[string]*newcomer{}
	for _, here := range elders {
		for _, old := range here {
			now := old.now
			if now.holds != nil {
				continue
			}
			now.holds = newHoldings()
			if now.rows != nil {
				now.rows.measured(inventory{now.holds.addItem, now.holds.addCall, now.holds.addBill})
				continue
			}
			if wanted[now.place] == nil {
				wanted[now.place] = map[string]*newcomer{}
			}
			wanted[now.place][now.part] = now
		}
	}
	for p, parts := range wanted {
		err := s.measuredIn(p, inventory{
			item: func(it saidItem) {
				if now := parts[it.Part]; now != nil {
					now.holds.addItem(it)
				}
			},
			call: func(c madeCall) {
				if now := parts[c.Part]; now != nil {
					now.holds.addCall(c)
				}
			},
			used: func(c bill) {
				if now := parts[c.part]; now != nil {
					now.holds.addBill(c)
				}
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// compare looks for what elders of one place hold that their newcomers do not.
func (s *store) compare(p place, elders []*elder) error {
	by := map[string]*elder{}
	for _, old := range elders {
		by[old.part] = old
	}
	return s.measuredIn(p, inventory{
		item: func(it saidItem) {
			if old := by[it.Part]; old != nil {
				old.compareItem(it)
			}
		},
		call: func(c madeCall) {
			if old := by[c.Part]; old != nil && old.measures() {
				old.lost = old.lost || !old.now.holds.hasCall(c)
			}
		},
		used: func(c bill) {
			if old := by[c.part]; old != nil && old.measures() {
				old.addBill(c)
			}
		},
	})
}

func (old *elder) compareItem(it saidItem) {
	if it.Origin != string(rollout.Logged) && !(worked(it) && old.measures()) {
		return
	}
	there := old.now.holds.hasItem(it)
	old.lost = old.lost || !there
	if spoken[it.Kind] && !slices.Contains(old.now.sessions, it.SessionID) {
		old.said[it.SessionID] = old.said[it.SessionID].with(there)
	}
}

func (old *elder) addBill(b bill) {
	if b.amounts.known() {
		old.bills = append(old.bills, b)
	}
}

// compareBills looks for bills that the newcomer lacks, and says of the sessions that
// it does not have by ID how many of their bills it has.
func (old *elder) compareBills() map[string]share {
	asked := map[string]share{}
	for _, b := range old.bills {
		asked[b.session] = asked[b.session].with(true)
	}
	for _, b := range old.now.holds.lacking(old.bills) {
		old.lost = true
		sh := asked[b.session]
		sh.there--
		asked[b.session] = sh
	}
	return asked
}

// decide says what becomes of an elder. Of one that is kept, the sessions are hidden
// that the file now holds under another ID, so that they do not count beside it: the
// newcomer has most of what was said in them, or, where nothing was, most of what was
// counted. A session that is merely gone from its file goes on counting.
func (old *elder) decide(c *changes) {
	asked := old.compareBills()
	if !old.lost {
		old.now.removed++
		c.drop[old.part] = true
		return
	}
	old.now.kept++
	var renamed []string
	for _, id := range old.sessions {
		sh := old.said[id]
		if sh.all == 0 {
			sh = asked[id]
		}
		if 2*sh.there > sh.all {
			renamed = append(renamed, id)
		}
	}
	if !slices.Equal(renamed, old.hidden) {
		c.show(old.part, renamed)
	}
}

// spoken are the kinds of items that tell a conversation from another: prompts and
// tool definitions are the same in many.
var spoken = map[string]bool{
	string(rollout.UserText): true, string(rollout.AssistantText): true, string(rollout.ToolCall): true, string(rollout.ToolResult): true,
}

// changes are what is to be done to the sessions file of a place.
type changes struct {
	drop   map[string]bool     // parts to take out
	hidden map[string][]string // sessions to hide, by part; all others of it are shown
}

func changesOf(all map[place]*changes, p place) *changes {
	if all[p] == nil {
		all[p] = &changes{drop: map[string]bool{}, hidden: map[string][]string{}}
	}
	return all[p]
}

// show hides sessions of a part and shows all others of it.
func (c *changes) show(part string, hidden []string) { c.hidden[part] = hidden }

// change writes the sessions file of a place anew, where several parts stand in it.
// Rows of a part without a sessions row count nowhere, and the next merge drops them.
// With its last part a place goes.
func (s *store) change(p place, c *changes) error {
	if len(c.drop)+len(c.hidden) == 0 {
		return nil
	}
	path := s.path("sessions", p)
	var rows []Session
	err := scanFile(path, func(batch []Session) error {
		for _, r := range batch {
			if !c.drop[r.Part] {
				rows = append(rows, r)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another part of the same file took it away
	}
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return s.removeFiles(p)
	}
	for i := range rows {
		hidden, ok := c.hidden[rows[i].Part]
		if !ok {
			continue
		}
		rows[i].Superseded = nil
		if slices.Contains(hidden, rows[i].SessionID) {
			yes := true
			rows[i].Superseded = &yes
		}
	}
	sessions := sessionsTable(rows)
	if err := s.put(path, func(tmp string) error { return sessions.write(s.create, tmp) }); err != nil {
		return fmt.Errorf("changing %s: %w", filepath.Base(path), err)
	}
	return nil
}
