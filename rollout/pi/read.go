package pi

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read reads one session file; sub-agents whose messages it holds follow.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	log, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r := newReader(path)
	for log.Next() {
		if r.records%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.record(log.Record(), log.Line())
	}
	if err := log.Err(); err != nil {
		return nil, err
	}
	if r.header == nil && len(r.entries) == 0 {
		return nil, fmt.Errorf("%s: %w: it holds no pi entries", path, logfile.ErrNotLog)
	}
	s := r.build()
	s.Problems = append(s.Problems, log.Problems()...)
	sessions := append([]*rollout.Session{s}, r.sessions...)
	for _, s := range sessions {
		if err := rollout.Check(s); err != nil {
			return nil, fmt.Errorf("pi reader: %w", err)
		}
	}
	return sessions, nil
}

// reader is the state of one read: first all entries, then the walk over them.
type reader struct {
	path    string
	b       *rollout.Builder
	records int
	header  *entry
	entries []*entry
	byID    map[string]int // newest entry of an ID
	folded  map[string]int // index of a folded problem

	branches   []*branch
	owner      []*branch // branch that holds an entry, by index
	run        int
	model      string // of the newest request
	stopped    bool   // the agent had stopped: the next input starts a run
	calls      map[string]int
	used       map[string]bool
	requestIDs map[string]bool
	tasks      []*task
	sessions   []*rollout.Session // of sub-agents
	handles    []string           // what names the rest of truncated outputs, newest last
}

func newReader(path string) *reader {
	b := rollout.NewBuilder(Name)
	b.Session.File = path
	return &reader{
		path: path, b: b, byID: map[string]int{}, folded: map[string]int{}, stopped: true,
		calls: map[string]int{}, used: map[string]bool{}, requestIDs: map[string]bool{},
	}
}

// silent are the entry types without an effect on the payload.
var silent = map[string]bool{
	"model_change": true, "thinking_level_change": true, "custom": true, "label": true, "session_info": true,
}

var known = map[string]bool{"message": true, "compaction": true, "branch_summary": true, "custom_message": true}

// record takes one line in and ties it to the entry before it.
func (r *reader) record(raw []byte, line int) {
	r.records++
	e := &entry{line: line}
	if logfile.Unmarshal(raw, e) != nil || e.Type.V == "" {
		r.fold("bad-record", line, "the record is not a session entry; it was skipped")
		return
	}
	r.clock(e)
	if e.Type.V == "session" {
		if r.header != nil {
			r.fold("extra-header", line, "the file holds a second header; it was left out")
			return
		}
		r.header = e
		return
	}
	if !known[e.Type.V] && !silent[e.Type.V] {
		r.fold("unknown-record", line, "entry type "+plain(e.Type.V)+" is not known; it was counted only", e.Type.V)
	}
	r.tie(e)
}

// tie finds the parent of an entry. It stands before it in the file, always:
// entries are only ever appended.
func (r *reader) tie(e *entry) {
	e.parent = len(r.entries) - 1
	id := e.ID.V
	if at, ok := r.byID[id]; ok && id != "" && same(r.entries[at], e) {
		r.fold("duplicate-record", e.line, "the entry stands in the file again; it was left out")
		return
	}
	var parent str
	switch {
	case e.Parent == nil:
	case e.Parent.Kind() == 'n':
		e.parent = -1
	case logfile.Unmarshal(e.Parent, &parent) == nil && parent.OK:
		if at, ok := r.byID[parent.V]; ok {
			e.parent = at
			break
		}
		r.fold("missing-parent", e.line, "the entry names a parent that does not stand before it; it was tied to the entry before it")
	}
	if id != "" {
		r.byID[id] = len(r.entries)
	}
	r.entries = append(r.entries, e)
}

// same tells a second copy of an entry from another one under the same ID.
func same(a, b *entry) bool {
	return a.Type.V == b.Type.V && a.Timestamp.V == b.Timestamp.V && string(a.Parent) == string(b.Parent) &&
		string(a.Message.V.Content) == string(b.Message.V.Content)
}

var plainType = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,59}$`)

// plain keeps a foreign type name from carrying text into a report.
func plain(name string) string {
	if !plainType.MatchString(name) {
		return "with an unusual name"
	}
	return name
}

func (r *reader) clock(e *entry) {
	t := e.time()
	if t.IsZero() {
		return
	}
	s := r.b.Session
	if s.Started.IsZero() || t.Before(s.Started) {
		s.Started = t
	}
	if t.After(s.Ended) {
		s.Ended = t
	}
}

// fold notes a problem once per kind and key, and counts the rest.
func (r *reader) fold(kind string, line int, detail string, key ...string) {
	k := kind + "\x00" + strings.Join(key, "\x00")
	if i, ok := r.folded[k]; ok {
		r.b.Session.Problems[i].Count++
		return
	}
	r.folded[k] = len(r.b.Session.Problems)
	r.b.Problem(rollout.Problem{File: r.path, Line: line, Kind: kind, Detail: detail})
}

// build walks the entries and finishes the session.
func (r *reader) build() *rollout.Session {
	s := r.b.Session
	s.Records = r.records
	r.facts(s)
	r.walk()
	r.b.Finish()
	s.Missing = []string{"system prompt", "tool definitions", "project context"}
	for _, o := range s.OtherBilled {
		if o.Kind == "compaction" || o.Kind == "branch_summary" {
			s.Missing = append(s.Missing, "compaction request")
			break
		}
	}
	return s
}

// facts takes what the header says.
func (r *reader) facts(s *rollout.Session) {
	if r.header == nil {
		r.b.Problem(rollout.Problem{File: r.path, Kind: "no-header", Detail: "the file has no header; its name stands in for the session ID"})
		s.ID = fileID(r.path)
		return
	}
	s.ID, s.CWD = r.header.ID.V, r.header.CWD.V
	if s.ID == "" {
		s.ID = fileID(r.path)
	}
	if from := r.header.forkedFrom(); from != "" {
		s.ForkedFrom = fileID(from)
	}
}

// forkedFrom names the file whose entries this one copied.
func (e *entry) forkedFrom() string {
	if e.ParentFile.V != "" {
		return e.ParentFile.V
	}
	return e.BranchedFrom.V
}

// fileID is the session ID in a file's name: what stands behind the time. Paths
// may be of another system.
func fileID(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"), ".jsonl")
	if _, id, ok := strings.Cut(name, "_"); ok && id != "" {
		return id
	}
	if name == "" {
		return filepath.Clean(path)
	}
	return name
}
