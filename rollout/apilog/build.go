package apilog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/fclog/fclog/rollout"
)

// builder turns the threads of one session into the model.
type builder struct {
	r      *reader
	b      *rollout.Builder
	g      *group
	texts  map[int32]rollout.TextID
	items  map[int32][]int   // items by part
	byCall map[callKey][]int // items by call, whatever their text
	calls  map[string]int    // latest call by the ID the log gives it
	tools  map[string]string
	ids    map[string]int
	run    int
	watch  watcher
}

type callKey struct {
	kind rollout.ItemKind
	id   string
}

// step is a call at its place in a session.
type step struct {
	x     *exchange
	chain *chain
	kind  rollout.RequestKind
}

// build makes a session of a group.
func (r *reader) build(g *group) *rollout.Session {
	b := &builder{
		r: r, b: rollout.NewBuilder(Name), g: g, texts: map[int32]rollout.TextID{}, items: map[int32][]int{},
		byCall: map[callKey][]int{}, calls: map[string]int{}, tools: map[string]string{}, ids: map[string]int{},
	}
	for _, st := range b.steps() {
		b.request(st)
	}
	s := b.b.Finish()
	b.describe(s)
	r.spans.durations(s)
	return s
}

// steps are the calls of a session in order of time, each with its chain. The
// main conversation has chain 0. A request for a summary leaves it, for its own
// prompt does not stay, and so does one that only keeps the cache warm.
func (b *builder) steps() []step {
	slices.SortStableFunc(b.g.threads, func(x, y *thread) int { return rank(x) - rank(y) })
	var out []step
	for _, t := range b.g.threads {
		c := b.chain()
		for i, x := range t.calls {
			st := step{x, c, rollout.KindTurn}
			switch {
			case t.side:
				st.kind = t.kind
			case x.maxTokens != nil && *x.maxTokens <= 1 && x.lists.tools != 0:
				st.kind, st.chain = rollout.KindWarmUp, nil
			case x.summary && i+1 < len(t.calls):
				st.kind = rollout.KindCompaction
				st.chain = nil
			}
			out = append(out, st)
		}
	}
	for i := range out {
		if out[i].chain == nil {
			out[i].chain = b.chain()
		}
	}
	slices.SortStableFunc(out, func(x, y step) int { return byTime(x.x, y.x) })
	return out
}

func rank(t *thread) int {
	if t.side {
		return 1
	}
	return 0
}

// request records a call: first its payload, then the request, then what its
// response produced.
func (b *builder) request(st step) {
	x := st.x
	fresh := st.chain.load(x)
	b.runs(st, fresh)
	again := st.chain.last != nil && st.chain.last.lists == x.lists && x.lists.conversation != 0
	attempt := 1
	if again {
		attempt = st.chain.attempt + 1
	}
	index := st.chain.c.Request(b.fill(st, attempt))
	st.chain.last, st.chain.attempt = x, attempt
	for _, id := range x.outputs {
		b.produced(id, index, x)
	}
}

// runs counts a run for every text of the user on the main chain.
func (b *builder) runs(st step, fresh []int32) {
	if b.run == 0 {
		b.run = 1
		return
	}
	if st.chain.c.ID != 0 || st.chain.last == nil {
		return
	}
	for _, id := range fresh {
		if b.r.st.parts[id].kind == rollout.UserText && b.r.st.parts[id].role == rollout.RoleUser {
			b.run++
			return
		}
	}
}

func (b *builder) fill(st step, attempt int) rollout.Request {
	x := st.x
	req := rollout.Request{
		ID: first(x.id, x.record), Kind: st.kind, Run: b.run, Attempt: attempt, Base: -1, Time: x.start, Provider: x.provider, Model: x.model,
		Status: b.status(x), OutputFinal: x.final, LoggedUSD: x.usd, Line: x.line,
	}
	if x.messages > 0 {
		req.Messages = &x.messages
	}
	req.DurationMS, req.TTFTMS = between(x.start, x.end), between(x.start, x.first)
	if x.usage == nil {
		req.OutputFinal = false
		if req.Status == rollout.Answered {
			b.r.fold("response-without-usage", x.line, "the response tells no usage")
		}
		return req
	}
	usage, clean := sound(*x.usage)
	if !clean {
		b.r.fold("usage-inconsistent", x.line, "a token count is negative, impossibly large or larger than the whole it is part of; it was left out or clamped")
	}
	req.Usage = usage
	req.OutputFinal = x.final && usage.Output != nil
	return req
}

// status tells how a call ended.
func (b *builder) status(x *exchange) rollout.Status {
	switch {
	case x.failed:
		return rollout.Errored
	case x.answered:
		return rollout.Answered
	case x.noted || x != b.r.exchanges[len(b.r.exchanges)-1]:
		return rollout.CutOff
	}
	return rollout.InFlight
}

// between is a stretch of time in milliseconds; nil where an end is not known or
// lies before the start.
func between(start, end time.Time) *int64 {
	if start.IsZero() || end.IsZero() || end.Before(start) {
		return nil
	}
	ms := end.Sub(start).Milliseconds()
	return &ms
}

// text is a text of the store in this session.
func (b *builder) text(id int32) rollout.TextID {
	if t, ok := b.texts[id]; ok {
		return t
	}
	t := b.r.st.texts[id]
	out := rollout.TextID(0)
	if t.opaque {
		out = b.b.OpaqueSum(t.hash, t.chars, t.bytes)
	} else {
		out = b.b.Text(t.s)
	}
	b.texts[id] = out
	return out
}

func (b *builder) tokens(pt part) *int64 {
	if pt.kind != rollout.Image {
		return nil
	}
	n := b.r.st.texts[pt.text].image
	return &n
}

// item adds an item for a part.
func (b *builder) item(id int32, request int) int {
	pt := b.r.st.parts[id]
	tool := pt.tool
	switch {
	case pt.kind == rollout.ToolCall && pt.callID != "":
		b.tools[pt.callID] = tool
	case pt.callID != "" && tool == "":
		tool = b.tools[pt.callID]
	}
	i := b.b.Item(rollout.Item{
		Kind: pt.kind, Role: pt.role, Tool: tool, CallID: pt.callID, Label: pt.label, Origin: rollout.Logged,
		Request: request, Text: b.text(pt.text), Tokens: b.tokens(pt),
	})
	b.items[id] = append(b.items[id], i)
	if pt.callID != "" {
		key := callKey{pt.kind, pt.callID}
		b.byCall[key] = append(b.byCall[key], i)
	}
	return i
}

// produced adds an item that a response brought; the requests that carry it come
// later, or never.
func (b *builder) produced(id int32, request int, x *exchange) {
	i := b.item(id, request)
	if b.r.st.parts[id].kind == rollout.ToolCall {
		b.call(i, id, request, x)
	}
}

// describe fills in the session's own facts.
func (b *builder) describe(s *rollout.Session) {
	s.File = b.r.path
	s.ID = b.r.sessionID(b.g)
	s.Agent = b.g.agent
	if p := b.g.parent; p != nil {
		s.ParentID, s.ParentCall = b.r.sessionID(p), b.g.callID
		if s.Agent == "" {
			s.Agent = "sub-agent"
		}
	}
	for _, t := range b.g.threads {
		for _, x := range t.calls {
			s.Records++
			clock(s, x.start)
			clock(s, x.end)
		}
	}
	b.missing(s)
}

func clock(s *rollout.Session, t time.Time) {
	if t.IsZero() {
		return
	}
	if s.Started.IsZero() || t.Before(s.Started) {
		s.Started = t
	}
	if t.After(s.Ended) {
		s.Ended = t
	}
}

// missing lists what these calls do not tell.
func (b *builder) missing(s *rollout.Session) {
	bodies, partial := false, false
	for _, t := range b.g.threads {
		for _, x := range t.calls {
			bodies = bodies || x.lists.conversation != 0
			partial = partial || x.partial || x.redacted
		}
	}
	if !bodies {
		s.Missing = append(s.Missing, "request bodies")
	}
	if partial {
		s.Missing = append(s.Missing, "parts of some bodies")
	}
}

// sessionID is the ID the log gives the session; else one made of its first call,
// so that copies of the log agree on it. Sub-agents stand below their parents.
func (r *reader) sessionID(g *group) string {
	own := g.id
	if own == "" || g.parent != nil {
		own = r.digest(g)
	}
	if g.parent == nil {
		return own
	}
	return r.sessionID(g.parent) + "/" + own
}

// digest names a session by time, response and payload of its first call.
func (r *reader) digest(g *group) string {
	x := g.threads[0].calls[0]
	h := sha256.New()
	h.Write([]byte(x.start.Format(time.RFC3339Nano) + "\x00" + x.id + "\x00" + x.span + "\x00"))
	if x.start.IsZero() && x.id == "" {
		h.Write([]byte(strconv.Itoa(x.line)))
	}
	for _, list := range []int32{x.lists.system, x.lists.conversation} {
		for _, id := range r.st.partsOf(list) {
			sum := r.st.texts[r.st.parts[id].text].hash
			h.Write(sum[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
