package gemini

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// entry is a message as it stands in the list now.
type entry struct {
	message
	line    int
	request int  // request it answers; -1 none
	joined  bool // calls of the answer before it, which the recorder split off
	pieces  []*piece
	results []*piece // of its calls, from the calls' own records
	told    bool     // user messages hold all of its results
}

// index finds the messages of the list, and the calls whose results stand in its
// user messages. It is kept while the list grows and made anew when it changed.
type index struct {
	messages map[string]*entry
	answered map[string]bool
}

func (e *entry) key() string { return e.Type.V + "\x00" + e.ID.V }

func (x *index) add(e *entry) {
	if _, ok := x.messages[e.key()]; !ok {
		x.messages[e.key()] = e
	}
	if e.Type.V != "user" {
		return
	}
	for _, p := range e.pieces {
		if p.Kind == rollout.ToolResult {
			x.answered[p.CallID] = true
		}
	}
}

// known is the index of the list as it is now.
func (c *chat) known() *index {
	if c.index == nil {
		c.index = &index{map[string]*entry{}, map[string]bool{}}
		for _, e := range c.list {
			e.told = false
			c.index.add(e)
		}
	}
	return c.index
}

// append adds a message to the end of the list.
func (c *chat) append(e *entry) {
	c.render(e)
	c.list = append(c.list, e)
	if c.index != nil {
		c.index.add(e)
	}
}

// apply takes one record of the file.
func (c *chat) apply(r *record, line int) {
	switch {
	case r.RewindTo.OK || r.RewindTo.Odd:
		c.rewind(r.RewindTo.V)
	case r.ID.V != "":
		c.put(r.message, line, true)
	case r.Set.OK || r.Set.Odd:
		c.describe(&r.Set.V)
		c.checkpoint(&r.Set.V, line)
	case r.SessionID.V != "" || r.ProjectHash.V != "":
		c.describe(&r.header)
		c.checkpoint(&r.header, line)
	default:
		c.fold("unknown-record", line, "the record is no header, message, update or rewind; it was counted only")
	}
}

// rewind drops a message and all after it; all of them if it is unknown.
func (c *chat) rewind(id string) {
	at := slices.IndexFunc(c.list, func(e *entry) bool { return e.ID.V == id })
	c.list, c.index = c.list[:max(at, 0)], nil
}

// checkpoint sets the list anew. Answers that stood in no record before are
// requests of this file: its beginning was converted from another.
func (c *chat) checkpoint(h *header, line int) {
	if !h.Messages.OK {
		return
	}
	prompted, known := c.prompted, c.known().messages
	c.list, c.index = nil, nil
	for _, raw := range h.Messages.V {
		var m message
		if logfile.Unmarshal(raw, &m) != nil {
			c.fold("bad-record", line, "a message of a checkpoint could not be read; it was skipped")
			continue
		}
		if old := known[(&entry{message: m}).key()]; old != nil && old.request >= 0 {
			c.restore(m, old, line)
			continue
		}
		c.put(m, line, false)
	}
	c.prompted = prompted && c.asks()
}

// asks reports whether the list ends with a prompt.
func (c *chat) asks() bool {
	if len(c.list) == 0 {
		return false
	}
	pieces := c.list[len(c.list)-1].pieces
	return len(pieces) > 0 && (pieces[len(pieces)-1].Kind == rollout.UserText || pieces[len(pieces)-1].Kind == rollout.Reminder)
}

// restore puts back an answer whose request is known, in the form the checkpoint
// gives it.
func (c *chat) restore(m message, old *entry, line int) {
	c.append(&entry{message: m, line: line, request: old.request, joined: old.joined})
}

// put adds a message, or replaces the one with its ID where it stands. Inside a
// checkpoint (replace false) IDs repeat: an answer and its results share one.
func (c *chat) put(m message, line int, replace bool) {
	c.time(m.Timestamp)
	if !slices.Contains(types, m.Type.V) {
		c.fold("unknown-record", line, "the type of a message is not known; it was counted only")
		return
	}
	e := &entry{message: m, line: line, request: -1}
	if old := c.known().messages[e.key()]; replace && old != nil {
		c.update(old, m)
		return
	}
	switch m.Type.V {
	case "gemini":
		c.answer(e)
	case "error":
		c.failure(e)
		return
	case "user":
	default:
		return
	}
	c.append(e)
}

// update replaces a message by a later record of it.
func (c *chat) update(e *entry, m message) {
	before := e.message
	e.message = m
	if e.Type.V == "gemini" {
		if e.request >= 0 && !e.joined {
			c.complete(e, &before)
		}
		if !m.Tokens.OK {
			e.Tokens = before.Tokens
		}
	}
	c.render(e)
	e.told = false
	if e.Type.V == "user" {
		c.index = nil
	}
}

// messages decodes those of a list that are messages.
func messages(list []jsontext.Value) []message {
	var out []message
	for _, raw := range list {
		var m message
		if logfile.Unmarshal(raw, &m) == nil {
			out = append(out, m)
		}
	}
	return out
}
