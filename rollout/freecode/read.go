package freecode

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// hungAfter is how long a request must have been open at the end of the log to
// count as hung, in milliseconds: FreeCode gives up on a silent stream then.
const hungAfter = 300_000

// Read reads one events.jsonl and the message store beside it, if there is one.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	st, err := loadStore(path)
	if err != nil {
		return nil, err
	}
	log, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r := newReader(path, st)
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
		return nil, fmt.Errorf("%s: %w: it holds no FreeCode events", path, logfile.ErrNotLog)
	}
	s := r.finish(log.Problems())
	if err := rollout.Check(s); err != nil {
		return nil, fmt.Errorf("freecode reader: %w", err)
	}
	return []*rollout.Session{s}, nil
}

// reader is the state of one walk over the events.
type reader struct {
	path  string
	b     *rollout.Builder
	store *store
	join  *joiner
	conv  *conversation

	records   int
	known     int // events of a known type
	last      int64
	now       int64  // time of the current event
	started   string // turn announced ahead of its request
	september bool   // the build is of September 2026 or later

	run      int
	turn     *turn         // the latest response's
	open     []*openTurn   // requests without an answer
	requests []requestInfo // parallel to Session.Requests
	outputs  []*pending    // calls without an output, oldest first
	tasks    []*task
	compact  bool // a compaction came since the last request
	steered  map[string]bool

	summaries int // summaries already placed
	before    measured

	callIDs   map[string]bool
	callCount int
	unnamed   []*unnamed
	lostTexts int
	lostIDs   int
	lostTurns int
	gapUsers  int
	miscounts int
	folded    map[string]int             // index of a folded problem
	seen      map[[sha256.Size]byte]bool // records with an ID, by hash
}

// openTurn is a request that waits for its answer.
type openTurn struct {
	index  int
	turnID string
	ts     int64
}

// pending is a call that waits for its output.
type pending struct {
	turn *turn
	slot *slot
}

// requestInfo is what retries and runs are told apart by.
type requestInfo struct {
	turnID string
	count  int64
	chars  int64
}

func newReader(path string, st *store) *reader {
	b := rollout.NewBuilder(Name)
	b.Session.File = path
	r := &reader{
		path: path, b: b, store: st, join: &joiner{lines: st.messages}, conv: newConversation(b),
		steered: map[string]bool{}, callIDs: map[string]bool{}, folded: map[string]int{}, seen: map[[sha256.Size]byte]bool{},
	}
	if !st.found {
		r.join.texts = st.memory.Messages
	}
	return r
}

// record reads one line of the log.
func (r *reader) record(raw []byte, line int) {
	r.records++
	e := &event{line: line}
	if logfile.Unmarshal(raw, e) != nil || e.Type == "" {
		r.fold("bad-record", line, "the record is not an event, or a field has an unexpected type; it was skipped")
		return
	}
	if r.again(e, raw) {
		r.fold("duplicate-record", line, "the event stands in the file again, with the same ID and content; it was left out")
		return
	}
	if r.b.Session.ID == "" {
		r.b.Session.ID = e.AggregateID
	}
	if at(e.Timestamp).IsZero() {
		e.Timestamp = 0
		r.fold("bad-time", line, "the event has no valid time stamp; what depends on time does not count it")
	}
	if !e.dropImpossible() {
		r.fold("bad-number", line, "a size or duration is negative or impossibly large; it was left out")
	}
	r.now = e.Timestamp
	r.clock(e.Timestamp)
	if e.sinceSeptember() {
		r.september = true
	}
	r.conv.countArgs = r.september
	if !r.handle(e) {
		r.fold("unknown-record", line, "event type "+quoteType(e.Type)+" is not known; it was counted only", e.Type)
		return
	}
	r.known++
}

// again tells a record that the file holds a second time from other events: IDs
// are unique.
func (r *reader) again(e *event, raw []byte) bool {
	if e.ID == "" {
		return false
	}
	hash := sha256.Sum256(raw)
	if r.seen[hash] {
		return true
	}
	r.seen[hash] = true
	return false
}

// quoteType keeps a foreign type name from carrying text into a report.
func quoteType(name string) string {
	if !plainType.MatchString(name) {
		return "with an unusual name"
	}
	return name
}

var plainType = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,59}$`)

func (r *reader) clock(ms int64) {
	if ms <= 0 {
		return
	}
	r.last = max(r.last, ms)
	t := at(ms)
	if s := r.b.Session; s.Started.IsZero() || t.Before(s.Started) {
		s.Started = t
	}
	if t.After(r.b.Session.Ended) {
		r.b.Session.Ended = t
	}
}

// handle acts on an event; false for an unknown type.
func (r *reader) handle(e *event) bool {
	switch e.Type {
	case evTurnStarted:
		r.turnStarted(e)
	case evRequest:
		r.request(e)
	case evFirstToken:
		r.firstToken(e)
	case evResponse:
		r.response(e)
	case evError:
		r.failed(e)
	case evCall:
		r.call(e)
	case evOutput:
		r.output(e)
	case evDenied:
		r.denied(e)
	case evCompact:
		r.compacted(e)
	case evSteered:
		r.steer(e)
	case evSubagentStart:
		r.subagent(e)
	case evSubagentStop:
		r.closeTask(e.SubagentID)
	case evCacheWarm, evAuxiliary, evRedirect:
		r.otherBilled(e)
	case evNavigate:
		r.navigate(e)
	default:
		return silentEvents[e.Type]
	}
	return true
}

// turnStarted tells the builds apart: older ones write it right behind the
// response of its own turn, newer ones ahead of the request.
func (r *reader) turnStarted(e *event) {
	behind := r.turn != nil && r.turn.turnID == e.TurnID && !r.turn.settled
	if !behind {
		r.started = e.TurnID
	}
}

// otherBilled notes a billed call whose payload is not logged.
func (r *reader) otherBilled(e *event) {
	kind := e.Type
	if e.Purpose != "" {
		kind += "/" + e.Purpose
	}
	r.b.Session.OtherBilled = append(r.b.Session.OtherBilled, rollout.OtherBilled{
		Kind: kind, Time: at(e.Timestamp), Provider: e.Provider, Model: modelName(e), Usage: r.usage(e), Line: e.line,
	})
}

// modelName is the model as named; "" for the placeholder of an unnamed default.
func modelName(e *event) string {
	if e.EchoedModel != "" {
		return e.EchoedModel
	}
	if e.Model == "(provider default)" {
		return ""
	}
	return e.Model
}

// usage copies the token counts and holds the identities: parts never exceed
// their whole. Parts that do are clamped, impossible counts left out; both are
// noted.
func (r *reader) usage(e *event) rollout.Usage {
	bad := false
	clamp := func(v *int64, limit int64) *int64 {
		if v == nil || *v >= 0 && *v <= limit {
			return v
		}
		bad = true
		if *v < 0 || *v > rollout.MaxTokens {
			return nil
		}
		return &limit
	}
	u := rollout.Usage{Input: clamp(e.Input, rollout.MaxTokens), Output: clamp(e.Output, rollout.MaxTokens)}
	whole := int64(rollout.MaxTokens)
	if u.Input != nil {
		whole = *u.Input
	}
	u.CacheRead = clamp(e.CacheRead, whole)
	if u.CacheRead != nil && u.Input != nil {
		whole -= *u.CacheRead
	}
	u.CacheWrite = clamp(e.CacheWrite, whole)
	whole = rollout.MaxTokens
	if u.Output != nil {
		whole = *u.Output
	}
	u.Reasoning = clamp(e.Reasoning, whole)
	if bad {
		r.fold("usage-inconsistent", e.line, "a token count is negative, impossibly large or larger than the whole it is part of; it was left out or clamped")
	}
	return u
}

// subagent ties a child to the agent call that runs now.
func (r *reader) subagent(e *event) {
	for _, p := range r.outputs {
		if p.slot.tool == "agent" && p.slot.child == "" {
			p.slot.child = e.SubagentID
			return
		}
	}
}

// navigate moves the conversation to another branch.
func (r *reader) navigate(e *event) {
	r.settle(true)
	r.before = measured{}
	if r.conv.rewind(e.To) {
		return
	}
	r.fold("unknown-branch", e.line, "the conversation moved to a message that is not known; the payload keeps the old branch")
}

// fold notes a problem once per kind and type, and counts the rest.
func (r *reader) fold(kind string, line int, detail string, key ...string) {
	k := kind
	for _, part := range key {
		k += "\x00" + part
	}
	if i, ok := r.folded[k]; ok {
		r.b.Session.Problems[i].Count++
		return
	}
	r.folded[k] = len(r.b.Session.Problems)
	r.b.Problem(rollout.Problem{File: r.path, Line: line, Kind: kind, Detail: detail})
}

// finish closes what is open and fills in the session's own facts.
func (r *reader) finish(problems []rollout.Problem) *rollout.Session {
	r.now = math.MaxInt64
	r.settle(true)
	r.closeRequests()
	s := r.b.Session
	s.Records = r.records
	if s.ID == "" {
		s.ID = filepath.Base(filepath.Dir(r.path))
	}
	// To-do list and reminders were blocks of the system prompt until August 2026.
	s.FrontMoves = !r.september && len(s.Requests) > 0
	r.b.Finish()
	r.nameResults(s)
	r.origin(s)
	r.missing(s)
	r.gaps()
	s.Problems = append(s.Problems, problems...)
	s.Problems = append(s.Problems, r.store.problems...)
	return s
}

// closeRequests gives the requests that never got an answer their status.
func (r *reader) closeRequests() {
	for _, o := range r.open {
		req := &r.b.Session.Requests[o.index]
		switch {
		case r.last-o.ts >= hungAfter:
			req.Status = rollout.Hung
		case o.index == len(r.b.Session.Requests)-1:
			req.Status = rollout.InFlight
		default:
			req.Status = rollout.CutOff
		}
	}
}

// spawned is the form of a plain sub-agent's ID: the time of its start.
var spawned = regexp.MustCompile(`^subagent-(\d{10,16})-`)

func (r *reader) origin(s *rollout.Session) {
	m := r.store.meta
	s.CWD, s.ForkedFrom = m.ProjectPath, m.ParentID
	if m.ParentID != "" && m.CreatedAt > 0 {
		s.SpawnedAt = at(m.CreatedAt)
	}
	if id := spawned.FindStringSubmatch(s.ID); id != nil {
		s.Agent = "subagent"
		if ms, err := strconv.ParseInt(id[1], 10, 64); err == nil {
			s.SpawnedAt = at(ms)
		}
	}
}

// missing lists what the log does not hold.
func (r *reader) missing(s *rollout.Session) {
	s.Missing = []string{"system prompt", "tool definitions", "project context", "reminders", "reasoning text"}
	add := func(when bool, what string) {
		if when {
			s.Missing = append(s.Missing, what)
		}
	}
	add(len(s.Requests) == 0, "requests")
	add(r.gapUsers > 0, "user text")
	add(r.lostTexts > 0, "assistant text")
	compactions := 0
	for _, o := range s.OtherBilled {
		if o.Kind == "compaction" {
			compactions++
		}
	}
	add(compactions > 0, "compaction request")
	add(compactions > r.summaries, "compaction summary")
}

// gaps notes what could not be rebuilt.
func (r *reader) gaps() {
	note := func(n int, kind, detail string) {
		if n > 0 {
			r.b.Problem(rollout.Problem{File: r.path, Kind: kind, Detail: detail, Count: n})
		}
	}
	if r.store.found {
		note(r.lostTurns, "lost-bodies", "responses are not in the message store (a compaction rewrites it); their calls and results come from the event log")
	}
	note(r.lostIDs+r.conv.lostIDs, "unknown-call-id", "the notice in a cut or left-out result names a call ID that is not logged; an ID of equal length stands in")
	note(r.miscounts, "message-count", "the rebuilt conversation has another number of messages than the log says was sent")
}

// maxMillis is the end of the year 9999, beyond which times are not written.
const maxMillis = 253402300799999

func at(ms int64) time.Time {
	if ms <= 0 || ms > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
