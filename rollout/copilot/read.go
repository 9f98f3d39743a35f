package copilot

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read reads one session file; sub-agents follow the main session.
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
	if r.known == 0 {
		return nil, fmt.Errorf("%s: %w: it holds no Copilot CLI events", path, logfile.ErrNotLog)
	}
	sessions := r.finish(log.Problems())
	for _, s := range sessions {
		if err := rollout.Check(s); err != nil {
			return nil, fmt.Errorf("copilot reader: %w", err)
		}
	}
	return sessions, nil
}

// reader is the state of one walk over the events.
type reader struct {
	path    string
	records int
	known   int // records of a known form
	main    *agent
	agents  []*agent          // in order of appearance, the main one first
	byID    map[string]*agent // sub-agents by their own ID
	byCall  map[string]*agent // sub-agents by the call that started them
	holder  map[string]*agent // who made a call
	usages  map[string]*usageRecord
	model   string
	version string
	seen    map[string]bool // IDs of events
}

// usageRecord is a usage that waits for its message.
type usageRecord struct {
	usage usage
	agent *agent
	event *event
	taken bool
}

func newReader(path string) *reader {
	r := &reader{
		path: path, byID: map[string]*agent{}, byCall: map[string]*agent{}, holder: map[string]*agent{},
		usages: map[string]*usageRecord{}, seen: map[string]bool{},
	}
	r.main = r.newAgent("")
	return r
}

// silent are the event types without an effect on the payload; the second row
// is written to standard output only.
var silent = map[string]bool{
	"abort": true, "session.error": true, "session.warning": true, "session.info": true, "session.mode_changed": true,
	"session.task_complete": true, "hook.start": true, "hook.end": true, "subagent.selected": true, "subagent.configured": true,
	"subagent.completed": true, "subagent.failed": true, "subagent.deselected": true, "session.binary_asset": true,
	"session.title_changed": true, "session.plan_changed": true, "session.workspace_file_changed": true, "session.handoff": true,
	"session.snapshot_rewind": true, "session.context_changed": true, "session.import_legacy": true, "tool.user_requested": true,

	"assistant.usage": true, "session.usage_info": true, "tool.execution_partial_result": true, "tool.execution_progress": true,
	"session.idle": true, "pending_messages.modified": true, "assistant.intent": true, "assistant.reasoning": true, "result": true,
}

func isSilent(kind string) bool {
	return silent[kind] || strings.HasPrefix(kind, "permission.") || strings.HasSuffix(kind, "_delta")
}

// record reads one line.
func (r *reader) record(raw []byte, line int) {
	r.records++
	if r.records == 1 && isLegacy(raw) {
		r.known++
		r.legacy(raw, line)
		return
	}
	e := &event{line: line}
	if logfile.Unmarshal(raw, e) != nil || e.Type.V == "" {
		r.fold(r.main, "bad-record", line, "the record is not an event; it was skipped")
		return
	}
	if id := e.ID.V; id != "" {
		if r.seen[id] {
			r.fold(r.main, "duplicate-record", line, "an event stands in the file again, under the same ID; it was left out")
			return
		}
		r.seen[id] = true
	}
	a := r.agentOf(e)
	a.records++
	a.clock(e.time())
	switch {
	case r.handle(a, e):
		r.known++
	case isSilent(e.Type.V):
		r.known++
		r.interrupted(a, e)
	default:
		r.fold(r.main, "unknown-record", line, "event type "+plain(e.Type.V)+" is not known; it was counted only", e.Type.V)
	}
}

// handle acts on an event; false for a type without an effect.
func (r *reader) handle(a *agent, e *event) bool {
	switch e.Type.V {
	case "session.start", "session.resume":
		r.started(a, e)
	case "session.model_change":
		if a == r.main {
			r.model = e.Data.V.NewModel.V
		}
	case "subagent.started":
		r.spawned(a, e)
	case "system.message":
		r.system(a, e)
	case "user.message":
		r.user(a, e)
	case "system.notification":
		a.hold(a.text(rollout.Reminder, rollout.RoleUser, "notification", e.Data.V.Content.V, rollout.Logged))
	case "skill.invoked":
		if e.Data.V.Content.V != "" {
			a.hold(a.text(rollout.ProjectContext, rollout.RoleUser, "skill", e.Data.V.Content.V, rollout.Inferred))
		}
	case "assistant.turn_start":
		r.turnStart(a, e)
	case "assistant.turn_end":
		r.unanswered(a, rollout.CutOff)
	case "assistant.message":
		r.assistant(a, e)
	case "tool.execution_start":
		r.toolStart(a, e)
	case "tool.execution_complete":
		r.toolComplete(a, e)
	case "session.usage_record":
		r.usageRecord(a, e)
	case "session.compaction_start":
		a.flush()
		a.mark = len(a.pieces)
	case "session.compaction_complete":
		r.compacted(a, e)
	case "session.truncation":
		a.truncate(e.Data.V.Removed)
	case "session.context_cleared":
		r.cleared(a, e)
	case "session.shutdown":
		r.shutdown(e)
	default:
		return false
	}
	return true
}

// started takes what the session says of itself.
func (r *reader) started(a *agent, e *event) {
	d := &e.Data.V
	s := r.main.b.Session
	if s.ID == "" {
		s.ID = d.SessionID.V
	}
	s.CWD = first(s.CWD, d.Context.V.CWD.V)
	r.version = first(d.Version.V, r.version)
	r.model = first(d.Model.V, r.model)
	if e.Type.V == "session.resume" {
		r.unanswered(r.main, rollout.CutOff)
		r.main.forgetReasoning()
	}
}

// interrupted closes an open call that an error or the user ended.
func (r *reader) interrupted(a *agent, e *event) {
	switch e.Type.V {
	case "session.error":
		r.unanswered(a, rollout.Errored)
	case "abort":
		r.unanswered(a, rollout.CutOff)
	}
}

// shutdown takes the totals. Those of later runs include the earlier ones.
func (r *reader) shutdown(e *event) {
	d := &e.Data.V
	r.unanswered(r.main, rollout.CutOff)
	r.main.b.Session.Reported = r.reported(r.main, d.Metrics.V, e.line)
	own, ok := d.AgentMetrics.V["main"]
	r.main.shared = !ok || !own.Metrics.OK
	if !r.main.shared {
		r.main.b.Session.Reported = r.reported(r.main, own.Metrics.V, e.line)
	}
	for id, own := range d.AgentMetrics.V {
		if a := r.byID[id]; a != nil {
			a.b.Session.Reported = r.reported(a, own.Metrics.V, e.line)
			a.shutdown = len(a.b.Session.Requests)
		}
	}
	r.main.shutdown = len(r.main.b.Session.Requests)
}

// finish closes what is open and ties the sub-agents to their calls.
func (r *reader) finish(problems []rollout.Problem) []*rollout.Session {
	main := r.main.b.Session
	if main.ID == "" {
		main.ID = fileID(r.path)
	}
	var out []*rollout.Session
	for _, a := range r.agents {
		r.close(a)
		s := a.b.Session
		s.AgentVersion, s.Records = r.version, a.records
		if a != r.main {
			s.ID, s.CWD = main.ID+"/"+a.id, main.CWD
			s.ParentID, s.ParentCall = main.ID, a.parentCall
		}
		s.Missing = r.missing(a)
		out = append(out, s)
	}
	r.tie()
	r.otherBilled()
	for _, a := range r.agents {
		r.compare(a)
	}
	main.Problems = append(main.Problems, problems...)
	return out
}

// tie names the child of each call that started one.
func (r *reader) tie() {
	for _, a := range r.agents[1:] {
		holder := r.holder[a.parentCall]
		if holder == nil || holder == a {
			continue
		}
		a.b.Session.ParentID = holder.b.Session.ID
		if i, ok := holder.calls[a.parentCall]; ok {
			holder.b.Session.Calls[i].Child = a.b.Session.ID
		}
	}
}

// otherBilled lists the recorded usage that no message answers to.
func (r *reader) otherBilled() {
	var left []*usageRecord
	for _, u := range r.usages {
		if !u.taken {
			left = append(left, u)
		}
	}
	slices.SortFunc(left, func(x, y *usageRecord) int { return x.event.line - y.event.line })
	for _, u := range left {
		s := u.agent.b.Session
		s.OtherBilled = append(s.OtherBilled, rollout.OtherBilled{
			Kind: first(u.usage.Interaction.V, "unknown"), Time: u.event.time(), Provider: u.usage.Provider.V, Model: u.usage.Model.V,
			Usage: r.tokens(u.agent, u.usage, u.event.line), Line: u.event.line,
		})
	}
}

func (r *reader) missing(a *agent) []string {
	out := []string{"tool definitions"}
	if a.system == nil {
		out = append([]string{"system prompt"}, out...)
	}
	if !slices.ContainsFunc(a.b.Session.Requests, func(q rollout.Request) bool { return q.Usage.Input != nil }) {
		out = append(out, "usage of requests")
	}
	for _, what := range []string{"image bytes", "texts of failed calls", "results as sent", "requests", "compaction request"} {
		if a.lost[what] {
			out = append(out, what)
		}
	}
	return out
}

// fold notes a problem once per kind and key, and counts the rest.
func (r *reader) fold(a *agent, kind string, line int, detail string, key ...string) {
	k := kind + "\x00" + strings.Join(key, "\x00")
	if i, ok := a.folded[k]; ok {
		a.b.Session.Problems[i].Count++
		return
	}
	a.folded[k] = len(a.b.Session.Problems)
	a.b.Problem(rollout.Problem{File: r.path, Line: line, Kind: kind, Detail: detail})
}

var plainType = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,59}$`)

// plain keeps a foreign type name from carrying text into a report.
func plain(name string) string {
	if !plainType.MatchString(name) {
		return "with an unusual name"
	}
	return name
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// fileID is the session ID in the names that Copilot gives: the folder of an
// events.jsonl, else the file.
func fileID(path string) string {
	name := filepath.Base(path)
	if strings.HasPrefix(name, "events.jsonl") {
		name = filepath.Base(filepath.Dir(path))
	}
	name, _, _ = strings.Cut(name, ".")
	return first(name, filepath.Clean(path))
}
