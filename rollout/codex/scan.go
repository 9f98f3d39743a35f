package codex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// markKind says what a record means for the order of requests.
type markKind uint8

const (
	markOutput  markKind = iota // produced by the model
	markInput                   // sent to the model
	markContext                 // turn_context
	markCompact                 // the history was replaced
	markUsage                   // usage that counts
	markTurn                    // a turn starts
	markEnd                     // a turn ended
	markAbort                   // a turn was interrupted
	markUser                    // a user prompt
	markReview                  // a review in another thread began or ended
)

// mark is what the first pass keeps of a record.
type mark struct {
	kind      markKind
	record    int // index among the records of the file
	line      int
	at        time.Time
	size      int64    // estimated tokens of the visible text
	encrypted int64    // estimated size of encrypted reasoning; 0 none
	web       bool     // a web search on the server
	assistant bool     // an assistant message
	hash      [32]byte // of an assistant message's text
	message   string   // summary text of a compaction
	response  string   // response ID of usage or of a compaction
	usage     counts
}

// facts is what the first pass finds out about a file.
type facts struct {
	path         string
	records      int
	metas        []metaAt
	marks        []mark
	models       []modelAt // in the order of the log
	firstModel   string
	turnIDs      []turnAt
	ordinals     []ordinalAt
	totals       []counts       // token_count totals in order, one per change
	totalAt      []int          // their records
	counters     []counter      // counted token_count events
	usageRecords []counter      // token_usage_record events
	runs         []int          // first records of the runs
	foreign      []counter      // token_usage_record events of other threads
	outputs      map[string]int // tool outputs by call ID
	plan         string         // plan of the account; "" none named
	patchTool    bool           // apply_patch was a free-form tool
	planTool     bool           // the plan tool was called, or a script speaks of it
	ended        time.Time
	started      time.Time
	times        []time.Time // of every record; zero unknown
	envelope     bool
	id           string // from the content, for a file that names no thread
	problems     []rollout.Problem
	folded       map[string]*rollout.Problem // by detail
	copies       copies
	steps        []step  // in the order of the log
	last         *counts // total of the last token_count with one
}

// step is a record that makes the session: one of the pointers is set.
type step struct {
	record     int
	line       int
	at         time.Time
	meta       *meta
	item       *item
	policy     *policy
	compaction *compaction
	event      *event
}

type metaAt struct {
	meta
	record int
}

type modelAt struct {
	record          int
	model, provider string
}

type turnAt struct {
	record int
	id     string
}

type ordinalAt struct {
	record  int
	ordinal int64
}

// counter is one usage figure of the log that stands for a request.
type counter struct {
	record   int
	line     int
	at       time.Time
	usage    counts
	total    counts // running total beside it; zero in a token_usage_record
	thread   string
	response string
}

// scan reads a file. What requests were made is clear at its end only, so it keeps
// what of the records makes the session.
func scan(ctx context.Context, path string) (*facts, error) {
	r, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &facts{path: path, outputs: map[string]int{}, folded: map[string]*rollout.Problem{}, copies: newCopies()}
	for r.Next() {
		if f.records%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f.record(r.Record(), r.Line())
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	f.problems = append(f.problems, r.Problems()...)
	if len(f.metas) == 0 && len(f.marks) == 0 {
		return nil, fmt.Errorf("%s: %w: no record of a Codex rollout", path, logfile.ErrNotLog)
	}
	f.settleUsage()
	return f, nil
}

func (f *facts) record(raw []byte, line int) {
	n := f.records
	f.records++
	if f.copies.repeats(raw) {
		f.times = append(f.times, time.Time{})
		f.fold("duplicate-record", "records stand in the file again, byte for byte; they were left out", line)
		return
	}
	if n == 0 {
		sum := sha256.Sum256(raw)
		f.id = "codex-" + hex.EncodeToString(sum[:8])
	}
	rec, ok := parseRecord(raw)
	f.times = append(f.times, rec.at)
	if !ok {
		f.countUnknown("no type", line)
		return
	}
	f.envelope = f.envelope || !rec.bare
	if rec.badTime {
		f.fold("bad-time", "records have no valid time stamp; what depends on time does not count them", line)
	}
	f.clock(rec)
	if rec.ordinal >= 0 {
		f.ordinals = append(f.ordinals, ordinalAt{n, rec.ordinal})
	}
	m := mark{record: n, line: line, at: rec.at}
	s := step{record: n, line: line, at: rec.at}
	switch rec.typ {
	case typeMeta:
		s.meta = new(decode[meta](rec.payload))
		f.metas = append(f.metas, metaAt{*s.meta, n})
	case typeItem, typeAgentMsg:
		s.item = itemOf(rec)
		f.item(s.item, m)
	case typeEvent:
		e := within[event](rec.payload)
		f.event(e, m)
		if replayed[e.Type.V] {
			s.event = &e
		}
	case typeContext:
		c := within[turnContext](rec.payload)
		s.policy = &c.Policy.V
		f.turn(n, c.TurnID.V)
		f.model(n, c.Model.V, "")
		m.kind = markContext
		f.marks = append(f.marks, m)
	case typeCompact:
		c := compactionOf(rec.payload)
		s.compaction = &c
		m.kind, m.message, m.response = markCompact, c.Message.V, c.ResponseID.V
		f.marks = append(f.marks, m)
	case typeUsage:
		u := within[usageRecord](rec.payload)
		if u.Usage.OK {
			f.usageRecords = append(f.usageRecords, counter{record: n, line: line, at: rec.at, usage: u.Usage.V, thread: u.ThreadID.V, response: u.ResponseID.V})
		}
	case typeState, "world_state", "inter_agent_communication_metadata", "retained_context", "realtime_item":
	default:
		f.countUnknown(rec.typ, line)
	}
	if s.meta != nil || s.item != nil || s.policy != nil || s.compaction != nil || s.event != nil {
		f.steps = append(f.steps, s)
	}
}

// replayed are the events that change the history or tell of a call.
var replayed = map[string]bool{"thread_rolled_back": true, "mcp_tool_call_end": true, "exec_command_end": true, "dynamic_tool_call_response": true}

// compactionOf decodes a compacted record with the items of the history it left.
func compactionOf(payload []byte) compaction {
	c := within[compaction](payload)
	for _, raw := range c.History.V {
		it := newItem(raw)
		it.settle(raw)
		c.items = append(c.items, it)
	}
	c.History.V = nil
	return c
}

func (f *facts) clock(rec record) {
	if rec.at.IsZero() {
		return
	}
	if f.started.IsZero() {
		f.started = rec.at
	}
	if rec.at.After(f.ended) {
		f.ended = rec.at
	}
}

func (f *facts) turn(record int, id string) {
	if id != "" {
		f.turnIDs = append(f.turnIDs, turnAt{record, id})
	}
}

// model notes the model and provider in force from a record on.
func (f *facts) model(record int, model, provider string) {
	if model == "" && provider == "" {
		return
	}
	if n := len(f.models); n > 0 {
		model, provider = first(model, f.models[n-1].model), first(provider, f.models[n-1].provider)
	}
	f.firstModel = first(f.firstModel, model)
	f.models = append(f.models, modelAt{record, model, provider})
}

// item marks a response item by its side of the conversation.
func (f *facts) item(it *item, m mark) {
	f.turn(m.record, it.Pass.V.TurnID.V)
	m.size = visibleSize(it)
	switch side, known := sideOf(it); {
	case !known:
		f.countUnknown("response_item "+it.Type.V, m.line)
		return
	case side == sideNone:
		return
	case side == sideOutput:
		m.kind = markOutput
		m.encrypted = encryptedSize(it)
		m.web = it.Type.V == "web_search_call"
		m.assistant = it.Type.V == "message"
		if m.assistant {
			m.hash = sha256.Sum256([]byte(joinText(it.Content.V)))
		}
	default:
		m.kind = markInput
	}
	if it.Type.V == "custom_tool_call" && it.Name.V == "apply_patch" {
		f.patchTool = true
	}
	if it.Name.V == planTool || it.Type.V == "custom_tool_call" && strings.Contains(it.Input.V, planTool) {
		f.planTool = true
	}
	if isOutput(it) {
		f.outputs[it.CallID.V]++
	}
	f.marks = append(f.marks, m)
	if m.kind == markInput && isUserPrompt(it) {
		m.kind = markUser
		f.marks = append(f.marks, m)
	}
}

func (f *facts) event(e event, m mark) {
	f.turn(m.record, e.TurnID.V)
	switch e.Type.V {
	case "token_count":
		f.tokenCount(e, m)
		return
	case "thread_settings_applied":
		f.model(m.record, e.Settings.V.Model.V, e.Settings.V.Provider.V)
		return
	case "task_started", "turn_started":
		m.kind = markTurn
	case "task_complete", "turn_complete":
		m.kind = markEnd
	case "turn_aborted":
		m.kind = markAbort
	case "entered_review_mode", "exited_review_mode":
		m.kind = markReview
	default:
		if !knownEvents[e.Type.V] {
			f.countUnknown("event_msg "+e.Type.V, m.line)
		}
		return
	}
	f.marks = append(f.marks, m)
}

// countUnknown folds records of one unknown type into one problem.
func (f *facts) countUnknown(typ string, line int) {
	f.fold("unknown-record", fmt.Sprintf("records of type %q are not known; they were left out", plainWord(typ)), line)
}

func (f *facts) fold(kind, detail string, line int) {
	if p := f.folded[detail]; p != nil {
		p.Count++
		return
	}
	f.folded[detail] = &rollout.Problem{File: f.path, Line: line, Kind: kind, Count: 1, Detail: detail}
}

// knownEvents are events that only tell the interface what response items,
// usage and turn marks say as well.
var knownEvents = map[string]bool{
	"agent_message": true, "agent_message_delta": true, "agent_reasoning": true, "agent_reasoning_delta": true,
	"agent_reasoning_raw_content": true, "agent_reasoning_section_break": true, "background_event": true,
	"collab_agent_interaction_end": true, "collab_agent_spawn_end": true, "collab_close_end": true,
	"collab_waiting_end": true, "context_compacted": true, "deprecation_notice": true,
	"dynamic_tool_call_request": true, "dynamic_tool_call_response": true, "error": true,
	"exec_command_begin": true, "exec_command_end": true, "guardian_assessment": true,
	"image_generation_end": true, "item_completed": true, "item_started": true, "mcp_tool_call_begin": true,
	"mcp_tool_call_end": true, "patch_apply_begin": true, "patch_apply_end": true, "plan_update": true,
	"session_configured": true, "stream_error": true, "sub_agent_activity": true, "thread_goal_updated": true,
	"thread_name_updated": true, "thread_rolled_back": true, "turn_diff": true, "undo_completed": true,
	"undo_started": true, "user_message": true, "view_image_tool_call": true, "warning": true,
	"web_search_begin": true, "web_search_end": true,
}
