package analyze

import (
	"fmt"
	"time"

	"github.com/fclog/fclog/analyze/dataset"
)

// start is when hand-built sessions begin, 2026-01-02 03:04:05 UTC.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Positions of hand-built content, by region of the payload.
const (
	inSystem       = int64(1) << slotBits
	inConversation = int64(3) << slotBits
)

// builder adds rows of sessions to hand-built tables.
type builder struct {
	tables
	position int64
}

func partOf(session string) string { return "part-" + session }

func (b *builder) session(s dataset.Session) {
	s.Part, s.Source = partOf(s.SessionID), "test"
	if s.Encoding == "" {
		s.Encoding, s.PublicEncoding = "o200k_base", true
	}
	if s.StartedAt == nil {
		s.StartedAt = ptr(start.UnixMilli())
	}
	s.HasText, s.File = true, "/logs/"+s.SessionID+".jsonl"
	b.sessions = append(b.sessions, s)
}

// request adds an answered request of the main chain, unless r says otherwise,
// ten seconds after the one before it. Its number is its index + 1 unless given.
func (b *builder) request(session string, r dataset.Request) {
	r.Part, r.SessionID = partOf(session), session
	for _, other := range b.requests {
		if other.SessionID == session {
			r.RequestIndex++
		}
	}
	if r.Request == 0 {
		r.Request = r.RequestIndex + 1
	}
	if r.Kind == "" {
		r.Kind = "turn"
	}
	if r.Status == "" {
		r.Status = "answered"
	}
	if r.Run == 0 {
		r.Run = 1
	}
	if r.Model == nil {
		r.Model = ptr("m1")
	}
	if r.Time == nil {
		r.Time = ptr(start.UnixMilli() + 10_000*r.RequestIndex)
	}
	r.Attempt, r.OutputFinal = 1, true
	b.requests = append(b.requests, r)
}

// usage is a request with the given usage whose logged content is counted as it
// is billed.
func usage(input, cacheRead, output, counted, framing int64) dataset.Request {
	return dataset.Request{
		InputTokens: &input, CacheReadTokens: &cacheRead, OutputTokens: &output,
		CountedTokens: counted, CalibratedTokens: ptr(counted), FramingTokens: &framing, UnloggedTokens: ptr(input - counted - framing),
	}
}

// item adds an item of the given kind and size and returns its number.
func (b *builder) item(session string, it dataset.Item, tokens int64) int64 {
	it.Part, it.SessionID, it.Tokens = partOf(session), session, &tokens
	for _, other := range b.items {
		if other.SessionID == session {
			it.Item++
		}
	}
	if it.TextHash == "" {
		it.TextHash = fmt.Sprintf("%s-%d", session, it.Item)
	}
	it.Origin = "logged"
	b.items = append(b.items, it)
	return it.Item
}

// span lets requests first to last of a chain carry an item, in the conversation
// unless a position is given.
func (b *builder) span(session string, item, chain, first, last int64, position ...int64) {
	sp := dataset.Span{Part: partOf(session), SessionID: session, Item: item, Chain: chain, FirstRequest: first, LastRequest: last}
	for _, it := range b.items {
		if it.SessionID == session && it.Item == item {
			sp.Tokens, sp.PrefixTokens, sp.TextHash = it.Tokens, it.PrefixTokens, it.TextHash
		}
	}
	sp.Span = int64(len(b.spans))
	b.position++
	sp.Position = inConversation + b.position
	if len(position) > 0 {
		sp.Position = position[0] + b.position
	}
	b.spans = append(b.spans, sp)
}

// carry adds an item of the main chain's conversation, carried by requests first
// to last.
func (b *builder) carry(session, kind, tool string, tokens, first, last int64) int64 {
	item := b.item(session, dataset.Item{Kind: kind, Tool: known(tool)}, tokens)
	b.span(session, item, 0, first, last)
	return item
}

// call adds a call that ran, made by the response to request number n.
func (b *builder) call(session string, n int64, c dataset.Call) int64 {
	c.Part, c.SessionID, c.RequestIndex, c.Ran = partOf(session), session, ptr(n-1), true
	for _, other := range b.calls {
		if other.SessionID == session {
			c.Call++
		}
	}
	if c.CallID == "" {
		c.CallID = fmt.Sprintf("call-%d", c.Call)
	}
	if c.ArgsKey == "" {
		c.ArgsKey = c.CallID
	}
	if c.Tool == "" {
		c.Tool = c.Class
	}
	b.calls = append(b.calls, c)
	return c.Call
}

// handBuilt is one session of four requests: a prompt of 100 tokens, a read (10 +
// 200 tokens, 20 of them line numbers), a shell command (5 + 50) and the same read
// again. Every request has 1,000 unlogged tokens and 4, 12, 20, 28 of framing.
//
//	request  counted                    input  cache read  output
//	1        100                        1,104           0      20
//	2        100 + 10 + 200 = 310       1,322       1,024      30
//	3        310 + 5 + 50   = 365       1,385       1,280      40
//	4        365 + 10 + 200 = 575       1,603       1,000      50
//	sum      1,350                      5,414       3,304     140
func handBuilt() tables {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a", Models: []string{"m1"}, Missing: []string{"system prompt", "reminders"}})
	b.request("a", usage(1104, 0, 20, 100, 4))
	b.request("a", usage(1322, 1024, 30, 310, 12))
	b.request("a", usage(1385, 1280, 40, 365, 20))
	b.request("a", usage(1603, 1000, 50, 575, 28))
	b.carry("a", "user_text", "", 100, 1, 4)
	b.read("a", 1, 2, 4)
	args := b.carry("a", "tool_call", "bash", 5, 3, 4)
	result := b.carry("a", "tool_result", "bash", 50, 3, 4)
	b.call("a", 2, dataset.Call{Tool: "bash", Class: "shell", Command: ptr("go test ./..."), OutputKind: ptr("log"), ArgsItem: &args, ResultItem: &result, BatchSize: 1})
	b.read("a", 3, 4, 4)
	last := &b.calls[len(b.calls)-1]
	last.RepeatOf, last.StrictRepeatOf = ptr(int64(0)), ptr(int64(0))
	return b.tables
}

// read adds the read of the hand-built session, made by request n.
func (b *builder) read(session string, n, first, last int64) {
	args := b.carry(session, "tool_call", "read", 10, first, last)
	result := b.item(session, dataset.Item{Kind: "tool_result", Tool: ptr("read"), PrefixTokens: 20}, 200)
	b.span(session, result, 0, first, last)
	b.call(session, n, dataset.Call{
		Class: "read", Path: ptr("/p/a.go"), Args: ptr(`{"path":"/p/a.go"}`), ArgsKey: "read-a", ReadOnly: true,
		ArgsItem: &args, ResultItem: &result, BatchSize: 1,
	})
}
