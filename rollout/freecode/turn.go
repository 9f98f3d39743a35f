package freecode

import (
	"regexp"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// turn collects what one response brought until the next request is sent.
type turn struct {
	request   int // index of the request; -1 in logs without requests
	turnID    string
	time      int64 // of the response
	textChars int64
	text      string // assistant text, where a file holds it
	hasText   bool
	textID    string // its stored message
	slots     []*slot
	message   int  // number in the conversation once settled
	settled   bool // it is part of the conversation
}

// slot is one call of a turn, in the order the model emitted it.
type slot struct {
	tool   string
	stored *storedPart // its stored line; nil if lost
	id     string      // that line's message ID
	part   int

	logged   bool // function.call was seen
	denied   bool
	args     string // as logged; "" unknown
	callID   string
	parent   string
	time     time.Time
	line     int
	answered bool // function.output was seen
	display  string
	failed   *bool
	duration *int64
	child    string

	call   int    // index in Session.Calls once settled
	result *piece // in the conversation; nil if none
	realID string // call ID of the run, where anything tells it
}

// compactArgs is the text of a call's arguments as sent.
func compactArgs(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	s, err := logfile.Compact(raw)
	if err != nil {
		return ""
	}
	return s
}

// find returns the slot that a logged call of this tool belongs to: the first
// free one whose stored arguments are equal, else the first free one.
func (t *turn) find(tool, args string) *slot {
	var first *slot
	for _, s := range t.slots {
		if s.tool != tool || s.logged || s.denied {
			continue
		}
		if s.stored != nil && compactArgs(s.stored.Tool.Args) == args {
			return s
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// settle makes a turn part of the conversation: its text, its calls, then their
// results, in the order the model emitted them. ended tells that no request of
// the same run follows.
func (r *reader) settle(ended bool) {
	t := r.turn
	if t == nil || t.settled {
		return
	}
	t.settled = true
	t.message = r.conv.nextMessage(true)
	r.addText(t)
	for _, s := range t.slots {
		r.addCall(t, s, ended)
	}
	for _, s := range t.slots {
		r.addResult(t, s)
	}
}

func (r *reader) addText(t *turn) {
	if t.textChars == 0 && t.text == "" {
		return
	}
	p := &piece{kind: textPiece, message: t.message, turn: t, id: t.textID, chars: t.textChars}
	if !t.hasText {
		t.text, t.hasText = r.join.remembered("assistant", t.time, r.now, t.textChars)
	}
	if !t.hasText {
		r.lostTexts++
		r.conv.add(p, -1)
		return
	}
	p.chars = units(t.text)
	r.conv.add(p, r.b.Item(rollout.Item{
		Kind: rollout.AssistantText, Role: rollout.RoleAssistant, Origin: rollout.Logged,
		Request: t.request, Text: r.b.Text(t.text),
	}))
}

// addCall records a call and puts its arguments into the conversation.
func (r *reader) addCall(t *turn, s *slot, ended bool) {
	sent := s.args
	if s.stored != nil {
		sent = compactArgs(s.stored.Tool.Args)
	}
	logged := s.args
	if logged == "" {
		logged = sent
	}
	// Older builds logged no refusal: it is a call with a stored answer, or with
	// the run going on, that no event tells of.
	if !r.september && !s.logged && (s.stored != nil || !ended) {
		s.denied = true
	}
	c := rollout.Call{
		Request: t.request, ID: r.callID(s), Tool: s.tool, Args: r.b.Text(logged),
		ArgsItem: -1, ResultItem: -1, Ran: s.logged && !s.denied, Denied: s.denied,
		Time: s.time, DurationMS: s.duration, Failed: s.failed, Parent: s.parent, Child: s.child, Line: s.line,
	}
	describe(&c, logged)
	s.call = r.b.Call(c)
	if s.parent != "" {
		return
	}
	p := &piece{kind: callPiece, message: t.message, turn: t, slot: s, id: s.id, part: s.part, chars: r.conv.argChars(sent)}
	if sent == "" {
		if r.conv.countArgs {
			p.chars = unknownChars
		}
		r.conv.add(p, -1)
		return
	}
	item := r.b.Item(rollout.Item{
		Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: s.tool, CallID: c.ID,
		Origin: rollout.Logged, Request: t.request, Text: r.b.Text(sent),
	})
	r.b.Session.Calls[s.call].ArgsItem = item
	r.conv.add(p, item)
}

// callID gives every call an ID of its own; older builds logged none.
func (r *reader) callID(s *slot) string {
	r.callCount++
	id := s.callID
	if id == "" {
		id = "call-" + itoa(r.callCount)
	}
	for base, n := id, 2; r.callIDs[id]; n++ {
		id = base + "#" + itoa(n)
	}
	r.callIDs[id] = true
	return id
}

// addResult puts the model's copy of a result into the conversation.
func (r *reader) addResult(t *turn, s *slot) {
	call := &r.b.Session.Calls[s.call]
	text, origin, known := r.resultText(s)
	r.outcome(call, s, text, known)
	if s.parent != "" || (!known && !s.denied) {
		s.display = ""
		return
	}
	p := &piece{kind: resultPiece, message: t.message, turn: t, slot: s, id: s.id, part: s.part, chars: unknownChars}
	s.result = p
	if !known {
		r.conv.add(p, -1)
		return
	}
	p.chars = units(text)
	call.ResultItem = r.b.Item(rollout.Item{
		Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: s.tool, CallID: call.ID,
		Origin: origin, Request: -1, Text: r.b.Text(text),
	})
	r.conv.add(p, call.ResultItem)
	if full, ok := s.whole(text); ok {
		id := r.b.Text(full)
		call.Full = &id
	}
	if origin == rollout.Inferred && s.realID == "" {
		r.unnamed = append(r.unnamed, &unnamed{item: call.ResultItem, call: s.call, lines: strings.Count(s.display, "\n") + 1})
	}
	r.paged(call, s.display)
	s.display = ""
}

// resultText is the model's copy of a result: the stored one, else the one
// recomputed from the logged display copy by FreeCode's own rule.
func (r *reader) resultText(s *slot) (text string, origin rollout.Origin, known bool) {
	if s.stored != nil && s.stored.Result != nil {
		text = *s.stored.Result
		if s.answered {
			r.compareResult(s, text)
		}
		return text, rollout.Logged, true
	}
	if !s.answered {
		return "", "", false
	}
	if s.denied {
		return s.display, rollout.Logged, true
	}
	s.realID = s.callID
	id, origin := s.realID, rollout.Recomputed
	if _, _, total := split(s.display); total > maxModelOutput && (id == "" || strings.HasPrefix(s.display, displayCut)) {
		if id == "" {
			id = unknownCallID
		}
		origin = rollout.Inferred
		r.lostIDs++
	}
	return cut(s.display, id), origin, true
}

// whole is the full output, where the log holds it and the model was sent less of
// it. A stored copy that is not what the cut makes of it may be the work of a hook:
// only one with FreeCode's own marker between the ends of the output counts.
func (s *slot) whole(sent string) (string, bool) {
	if !s.answered || s.denied || strings.HasPrefix(s.display, displayCut) || units(s.display) <= units(sent) {
		return "", false
	}
	if s.stored == nil || s.stored.Result == nil || cut(s.display, s.realID) == sent {
		return s.display, true
	}
	own := shortened.MatchString(sent) && firstLine(sent) == firstLine(s.display) && lastLine(sent) == lastLine(s.display)
	return s.display, own
}

// shortened finds a marker that FreeCode's cut or compression leaves in a result.
var shortened = regexp.MustCompile(`\.\.\. \[truncated \d+ chars total — |\[\.\.\. \d+ lines omitted — |\[previous line repeated \d+ more times\]`)

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// compareResult checks the rule against the stored copy and learns the call ID
// from a truncation marker. The stored copy wins.
func (r *reader) compareResult(s *slot, stored string) {
	s.realID = s.callID
	if s.realID == "" {
		s.realID = cutCallID(stored, s.display)
	}
	if strings.HasPrefix(s.display, displayCut) || cut(s.display, s.realID) == stored {
		return
	}
	r.fold("recompute-mismatch", s.line, "the stored result is not what the cut of the logged output gives (a hook, output compression or other limits); the stored one is used")
}

// lateOutput completes a call whose turn is already in the conversation: its
// command outlived the run.
func (r *reader) lateOutput(t *turn, s *slot) {
	call := &r.b.Session.Calls[s.call]
	call.DurationMS, call.Failed = s.duration, s.failed
	if s.result == nil {
		r.addResult(t, s)
	}
}
