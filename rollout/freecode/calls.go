package freecode

import (
	"slices"
	"strings"
)

// current is the turn that logged calls belong to. Logs without requests, and
// calls behind a gap, get one of their own.
func (r *reader) current(e *event) *turn {
	if r.turn == nil || r.turn.request < 0 && e.TurnID != r.turn.turnID && !r.turn.settled {
		r.settle(true)
		r.turn = &turn{request: -1, turnID: e.TurnID}
	}
	return r.turn
}

// call is a call that runs now.
func (r *reader) call(e *event) {
	r.started = ""
	t := r.current(e)
	args := compactArgs(e.Args)
	var s *slot
	if e.ParentCallID == "" {
		s = t.find(e.Tool, args)
	}
	if s == nil {
		s = r.extra(t, e)
	}
	s.logged, s.args, s.callID, s.parent = true, args, e.CallID, e.ParentCallID
	s.time, s.line = at(e.Timestamp), e.line
	if t.settled {
		r.settleExtra(t, s)
	}
	r.outputs = append(r.outputs, &pending{turn: t, slot: s})
}

// extra adds a call that the response did not name.
func (r *reader) extra(t *turn, e *event) *slot {
	s := &slot{tool: e.Tool, call: -1}
	t.slots = append(t.slots, s)
	if t.request >= 0 && e.ParentCallID == "" {
		r.fold("call-without-response", e.line, "a call was logged that its response does not name")
	}
	return s
}

// settleExtra places a call whose turn is already part of the conversation.
func (r *reader) settleExtra(t *turn, s *slot) {
	if s.call < 0 {
		r.addCall(t, s, true)
	}
}

// output ends a call.
func (r *reader) output(e *event) {
	i := r.answered(e)
	if i < 0 {
		r.fold("result-without-call", e.line, "an output was logged without a call")
		return
	}
	p := r.outputs[i]
	r.outputs = slices.Delete(r.outputs, i, i+1)
	p.slot.answered, p.slot.failed, p.slot.duration = true, e.Failed, e.DurationMS
	if e.Display != nil {
		p.slot.display = *e.Display
	}
	if p.turn.settled {
		r.lateOutput(p.turn, p.slot)
	}
}

// answered finds the open call an output belongs to: by its ID where both carry
// one; else, among those of the same tool, the one whose stored result or path
// it fits, because parallel calls end in any order; else the oldest.
func (r *reader) answered(e *event) int {
	oldest := -1
	for i, p := range r.outputs {
		if e.CallID != "" && p.slot.callID != "" {
			if p.slot.callID == e.CallID {
				return i
			}
			continue
		}
		if p.slot.tool != e.Tool {
			continue
		}
		if e.Display != nil && p.slot.fits(*e.Display) {
			return i
		}
		if oldest < 0 {
			oldest = i
		}
	}
	return oldest
}

// fits tells whether a display copy can only be this call's.
func (s *slot) fits(display string) bool {
	if s.stored != nil && s.stored.Result != nil {
		return *s.stored.Result == display || cutCallID(*s.stored.Result, display) != ""
	}
	var a arguments
	parseArguments(s.args, &a)
	return s.tool == "read" && a.FilePath != "" && strings.HasPrefix(display, "<path>"+a.FilePath+"</path>")
}

// denied is a call that a rule, a hook or the user refused; the model saw the
// reason as its result.
func (r *reader) denied(e *event) {
	t := r.current(e)
	args := compactArgs(e.Args)
	s := t.find(e.Tool, args)
	if s == nil {
		s = r.extra(t, e)
	}
	s.denied, s.args = true, args
	s.answered, s.display = true, e.Reason
	s.time, s.line = at(e.Timestamp), e.line
	if t.settled {
		r.settleExtra(t, s)
	}
}
