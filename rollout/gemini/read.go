package gemini

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read returns the session of a chat file.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	f, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, kind := newChat(path), ""
	for f.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.b.Session.Records++
		var r record
		if logfile.Unmarshal(f.Record(), &r) != nil {
			c.fold("bad-record", f.Line(), "the record could not be read; it was skipped")
			continue
		}
		if r.Kind.OK {
			kind = r.Kind.V
		}
		c.apply(&r, f.Line())
	}
	if f.Err() != nil {
		return nil, f.Err()
	}
	s := c.finish(kind, f.Problems())
	if err := rollout.Check(s); err != nil {
		return nil, err
	}
	return []*rollout.Session{s}, nil
}

// finish closes the session and fills in its own facts.
func (c *chat) finish(kind string, problems []rollout.Problem) *rollout.Session {
	c.sent.Set(c.payload())
	s := c.b.Session
	s.File = c.path
	if s.ID == "" {
		s.ID = strings.TrimSuffix(filepath.Base(c.path), filepath.Ext(c.path))
	}
	if s.CWD == "" {
		s.CWD = projectRoot(c.path)
	}
	c.openEnds(s)
	if kind == "subagent" {
		parent(s)
	}
	s.Missing = []string{"system prompt", "tool definitions", "reasoning text", "calls for routing, loop checks, compression and retries", "sampling settings"}
	for _, p := range problems {
		c.b.Problem(p)
	}
	return c.b.Finish()
}

// openEnds settles what has no usage, and what has no result though the
// conversation went on.
func (c *chat) openEnds(s *rollout.Session) {
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Status != rollout.Answered || r.Usage.Input != nil || r.Usage.Output != nil {
			continue
		}
		if i == len(s.Requests)-1 {
			r.Status = rollout.InFlight
			continue
		}
		c.fold("response-without-usage", r.Line, "a response has no token counts")
	}
	for _, call := range s.Calls {
		if call.ResultItem < 0 && call.Request >= 0 && call.Request < len(s.Requests)-1 {
			c.fold("missing-result", call.Line, "a call has no result though the conversation went on")
		}
	}
}
