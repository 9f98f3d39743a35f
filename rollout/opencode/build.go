package opencode

import (
	"fmt"
	"slices"
	"time"

	"github.com/fclog/fclog/rollout"
)

// builder turns one stored session into the model.
type builder struct {
	b     *rollout.Builder
	s     *rollout.Session
	chain *rollout.Chain // the conversation
	file  string
	doc   *document

	placed   [][]*placed // content of each message, by its index
	cleared  []*placed   // results that pruning clears later
	signed   []*placed   // what only the model that made it gets back
	system   *rollout.Entry
	systemAt string
	model    string // of the newest request

	callIDs  map[string]int
	handles  []string // of truncated outputs so far
	folded   map[string]int
	children map[string]string // sub-agent session → ID of the call that started it

	compacted, unloggedFiles bool
}

// placed is one item as it stands in the payload.
type placed struct {
	item  int
	slot  rollout.Slot
	entry *rollout.Entry // nil: no request carries it
	clear time.Time      // when pruning replaces its text by a marker
	gone  bool           // pruning leaves nothing of it
	model string         // the only model that gets it; "" any
}

// build makes the session of a document.
func build(d *document, file string) *builder {
	b := rollout.NewBuilder(Name)
	r := &builder{b: b, s: b.Session, chain: b.Chain(), file: file, doc: d,
		callIDs: map[string]int{}, folded: map[string]int{}, children: map[string]string{}}
	r.head()
	for _, f := range d.problems {
		r.problem(f.kind, f.line, f.detail)
	}
	d.messages = r.distinct(d.messages)
	r.placed = make([][]*placed, len(d.messages))
	for i := range d.messages {
		r.message(i)
	}
	r.finish()
	return r
}

func (r *builder) head() {
	i := r.doc.info
	r.s.ID, r.s.ParentID, r.s.AgentVersion = i.ID.V, i.ParentID.V, i.Version.V
	r.s.CWD, r.s.File, r.s.Records = i.Directory.V, r.file, r.doc.records
	r.s.Started = at(i.Time.V.Created)
	r.s.Ended = r.s.Started
	if r.s.ParentID == r.s.ID {
		r.s.ParentID = ""
		r.problem("missing-parent", r.doc.line, "the session names itself as its parent")
	}
	if r.s.ParentID != "" {
		r.s.Agent = i.Agent.V
	}
	r.reported(i)
}

// distinct leaves out messages and parts whose ID came before.
func (r *builder) distinct(all []message) []message {
	seen := map[string]bool{}
	repeats := func(id string, line int) bool {
		if id != "" && seen[id] {
			r.problem("duplicate-record", line, "a message or part came twice; the first was taken")
			return true
		}
		seen[id] = true
		return false
	}
	var out []message
	for _, m := range all {
		if repeats(m.ID.V, m.line) {
			continue
		}
		m.parts = slices.DeleteFunc(m.parts, func(p part) bool { return repeats(p.ID.V, m.line) })
		out = append(out, m)
	}
	return out
}

func (r *builder) message(i int) {
	m := &r.doc.messages[i]
	for _, t := range []number{m.Time.V.Created, m.Time.V.Completed} {
		r.seen(at(t))
	}
	switch m.Role.V {
	case "user":
		r.user(i)
	case "assistant":
		if m.Summary.V {
			r.summary(i)
			return
		}
		r.assistant(i)
	default:
		r.problem("unknown-record", m.line, "a message of a role that this reader does not know")
	}
}

func (r *builder) seen(t time.Time) {
	if t.IsZero() {
		return
	}
	if r.s.Started.IsZero() || t.Before(r.s.Started) && r.doc.info.Time.V.Created.V <= 0 {
		r.s.Started = t
	}
	if t.After(r.s.Ended) {
		r.s.Ended = t
	}
}

// inherited tells a message that a fork copied: it is older than its session.
func (r *builder) inherited(m *message) bool {
	session, created := at(r.doc.info.Time.V.Created), m.created()
	return !session.IsZero() && !created.IsZero() && created.Before(session)
}

func (r *builder) finish() {
	r.s.Missing = []string{"system prompt", "tool definitions", "title request"}
	if slices.ContainsFunc(r.doc.messages, func(m message) bool { return first(m.Agent.V, m.Mode.V) == "plan" }) {
		r.s.Missing = append(r.s.Missing, "reminders")
	}
	if r.compacted {
		r.s.Missing = append(r.s.Missing, "compaction request")
	}
	if r.unloggedFiles {
		r.s.Missing = append(r.s.Missing, "attached files")
	}
	r.inclusiveInput()
	r.b.Finish()
}

// add puts an item into a message's place in the payload.
func (r *builder) add(i int, slot rollout.Slot, item int) *placed {
	p := &placed{item: item, slot: slot}
	p.entry = r.chain.Add(slot, item)
	r.placed[i] = append(r.placed[i], p)
	return p
}

// problem notes a problem, equal ones folded into one.
func (r *builder) problem(kind string, line int, detail string) {
	if at, ok := r.folded[kind+detail]; ok {
		r.s.Problems[at].Count++
		return
	}
	r.folded[kind+detail] = len(r.s.Problems)
	r.b.Problem(rollout.Problem{File: r.file, Line: line, Kind: kind, Detail: detail})
}

func (r *builder) unknownPart(p *part, line int) {
	if silentParts[p.Type.V] {
		return
	}
	r.problem("unknown-record", line, fmt.Sprintf("a part of the unknown type %.40q", p.Type.V))
}
