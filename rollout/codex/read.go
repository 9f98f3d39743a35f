package codex

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
)

// Read returns the one session of a rollout file. An error means that the file
// cannot be read at all; everything smaller is a problem of the session.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	f, err := scan(ctx, path)
	if err != nil {
		return nil, err
	}
	b := newBuilder(f, f.ownStart(ctx))
	if err := b.replay(ctx); err != nil {
		return nil, err
	}
	s := b.finish()
	if err := rollout.Check(s); err != nil {
		return nil, err
	}
	return []*rollout.Session{s}, nil
}

// replay goes through what was kept of the records once more, now that the
// requests are known.
func (b *builder) replay(ctx context.Context) error {
	steps := b.f.steps
	b.f.steps = nil
	for n := range b.f.records {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b.startRequests(n)
		if len(steps) > 0 && steps[0].record == n {
			b.step(steps[0])
			steps[0] = step{}
			steps = steps[1:]
		}
	}
	return nil
}

// head fills the session's own facts from its metadata.
func (b *builder) head() {
	s, f := b.b.Session, b.f
	s.File, s.Records, s.ID = f.path, f.records, f.id
	s.Started, s.Ended = f.started, f.ended
	if len(f.metas) == 0 {
		b.b.Problem(rollout.Problem{File: f.path, Kind: "missing-meta", Detail: "the log names no thread; its ID was made from its first record"})
		return
	}
	own := f.metas[0]
	if own.ID.V != "" {
		s.ID = own.ID.V
	}
	if at, err := time.Parse(time.RFC3339Nano, own.Timestamp.V); err == nil {
		s.Started = at
	}
	s.CWD = own.CWD.V
	s.ParentID, s.Agent = own.agent()
	s.ForkedFrom = f.forkedFrom()
	if at, ok := uuidTime(s.ID); ok && s.ParentID != "" {
		s.SpawnedAt = at
	}
	for _, m := range f.metas {
		if m.ID.V == own.ID.V {
			s.AgentVersion = first(m.Version.V, s.AgentVersion)
		}
	}
	if s.Ended.Before(s.Started) {
		s.Ended = s.Started
	}
}

// finish closes the session and says what the log does not hold.
func (b *builder) finish() *rollout.Session {
	for i := range b.b.Session.Calls {
		b.missingResult(i)
	}
	f := b.f
	for _, p := range f.problems {
		b.b.Problem(p)
	}
	for _, p := range f.folded {
		b.b.Problem(*p)
	}
	if p := f.checkTotals(b.own); p != nil {
		b.b.Problem(*p)
	}
	s := b.b.Finish()
	s.Missing = b.missing()
	slices.SortStableFunc(s.Problems, func(x, y rollout.Problem) int {
		if x.Line != y.Line {
			return x.Line - y.Line
		}
		return strings.Compare(x.Kind+x.Detail, y.Kind+y.Detail)
	})
	return s
}

func (b *builder) missing() []string {
	var out []string
	add := func(lacks bool, what string) {
		if lacks {
			out = append(out, what)
		}
	}
	add(!b.saw.system, "system prompt")
	add(!b.saw.tools, "tool definitions")
	add(b.saw.tools && !b.saw.allTools, "built-in tool definitions")
	add(!b.f.envelope, "usage")
	add(b.saw.encrypted, "reasoning text")
	add(b.saw.webSearch, "web search results")
	add(b.saw.compaction, "compaction prompt")
	add(b.saw.opaqueSummary, "compaction summary text")
	add(b.saw.unbilled, "usage of compaction requests")
	return out
}

// missingResult notes a call that the log never answers, once it is clear.
func (b *builder) missingResult(index int) {
	c := &b.b.Session.Calls[index]
	if c.Ran || c.Denied || c.Inherited || !b.answerable[index] {
		return
	}
	b.b.Problem(rollout.Problem{
		File: b.f.path, Line: c.Line, Kind: "missing-result",
		Detail: fmt.Sprintf("the log holds no output for a %s call", plainWord(c.Tool)),
	})
}
