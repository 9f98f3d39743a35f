package variants

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

var counter = sync.OnceValue(tokens.New)

// countWords is a tokenizer that can be checked by eye: a token is a word.
func countWords(_, text string) int64 { return int64(len(strings.Fields(text))) }

// maker builds a session request by request.
type maker struct {
	b       *rollout.Builder
	chain   *rollout.Chain
	last    int // index of the request made last
	results map[string][]*rollout.Entry
}

func newMaker() *maker {
	b := rollout.NewBuilder("invented")
	b.Session.ID = "s"
	m := &maker{b: b, chain: b.Chain(), last: -1, results: map[string][]*rollout.Entry{}}
	m.add(rollout.Item{Kind: rollout.UserText, Text: b.Text("please help")})
	return m
}

func (m *maker) add(it rollout.Item) *rollout.Entry {
	it.Origin = rollout.Logged
	if it.Kind != rollout.AssistantText && it.Kind != rollout.ToolCall {
		it.Request = -1
	}
	return m.chain.Add(rollout.SlotConversation, m.b.Item(it))
}

// request records a request; input 0 means that the log has no usage.
func (m *maker) request(input int64) *maker {
	r := rollout.Request{Kind: rollout.KindTurn, Status: rollout.Answered, Run: 1, Attempt: 1, Base: -1}
	if input > 0 {
		r.Usage.Input = &input
	}
	m.last = m.chain.Request(r)
	return m
}

// says adds text that the request made last produced.
func (m *maker) says(text string) *maker {
	m.add(rollout.Item{Kind: rollout.AssistantText, Request: m.last, Text: m.b.Text(text)})
	return m
}

// call adds a call of the request made last, with the parts of its result.
func (m *maker) call(c rollout.Call, parts ...string) *maker {
	args := m.b.Text(fmt.Sprintf(`{"command":%q,"path":%q,"range":%q}`, c.Command, c.Path, c.Range))
	m.add(rollout.Item{Kind: rollout.ToolCall, Request: m.last, Tool: c.Tool, CallID: c.ID, Text: args})
	c.Args, c.Request, c.ArgsItem, c.ResultItem, c.Ran = args, m.last, -1, -1, true
	for i, part := range parts {
		e := m.add(rollout.Item{Kind: rollout.ToolResult, Tool: c.Tool, CallID: c.ID, Text: m.b.Text(part)})
		m.results[c.ID] = append(m.results[c.ID], e)
		if i == 0 {
			c.ResultItem = e.Item
		}
	}
	m.b.Call(c)
	return m
}

// keepsWhole says what the call made last really brought, of which a part was sent.
func (m *maker) keepsWhole(text string) *maker {
	full := m.b.Text(text)
	m.b.Session.Calls[len(m.b.Session.Calls)-1].Full = &full
	return m
}

// leaves takes the result of a call out of the coming requests.
func (m *maker) leaves(call string) *maker {
	for _, e := range m.results[call] {
		m.chain.Remove(e)
	}
	return m
}

func shellCall(id, command string) rollout.Call {
	return rollout.Call{ID: id, Tool: "bash", Class: rollout.ShellTool, Command: command, Mutates: true}
}

func readCall(id, path, lines string) rollout.Call {
	return rollout.Call{ID: id, Tool: "read", Class: rollout.ReadTool, Path: path, Range: lines, ReadOnly: true}
}

// view sizes the session in words.
func (m *maker) view(t testing.TB) replay.View {
	s := m.b.Finish()
	require.NoError(t, rollout.Check(s))
	return wordView(s)
}

func wordView(s *rollout.Session) replay.View {
	sizes := measure.Measure(s, counter())
	for i, sp := range s.Spans {
		if sp.Tokens == nil {
			n := countWords("", s.Texts[sp.Text].S)
			sizes.Spans[i].Tokens = &n
		}
	}
	for i := range sizes.Calibration {
		sizes.Calibration[i].Factor = 1
	}
	v := replay.View{Recording: replay.Recording{Session: s, Sizes: sizes}, Count: countWords}
	for i := range s.Requests {
		sizes.Requests[i].Counted = 0
		for j := range s.Spans {
			if n := sizes.Spans[j].Tokens; n != nil && carries(s, i, j) {
				sizes.Requests[i].Counted += *n
			}
		}
	}
	return v
}

func carries(s *rollout.Session, request, span int) bool {
	r, sp := s.Requests[request], s.Spans[span]
	return sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last
}

// saved is what every request saves under a plan, in words, by walking all spans at
// every request.
func saved(v replay.View, p replay.Plan) []int64 {
	out := make([]int64, len(v.Session.Requests))
	for i, r := range v.Session.Requests {
		for j := range v.Session.Spans {
			if !carries(v.Session, i, j) {
				continue
			}
			before := v.Text(j)
			after := before
			for _, e := range p.Edits {
				if e.Span == j && e.From <= r.Number {
					after = e.Text
				}
			}
			out[i] += countWords("", before) - countWords("", after)
		}
	}
	return out
}

// sent is what the first or only part of a call's result reads under a plan in each
// request that carries it, request by request; "" where it is not carried.
func sent(v replay.View, p replay.Plan, call string) []string {
	s := v.Session
	out := make([]string, len(s.Requests))
	for i, r := range s.Requests {
		for j, sp := range s.Spans {
			if !carries(s, i, j) || s.Items[sp.Item].Kind != rollout.ToolResult || s.Items[sp.Item].CallID != call {
				continue
			}
			text := v.Text(j)
			for _, e := range p.Edits {
				if e.Span == j && e.From <= r.Number {
					text = e.Text
				}
			}
			if out[i] == "" {
				out[i] = text
			}
		}
	}
	return out
}

func plan(t testing.TB, v replay.View, spec string) replay.Plan {
	use, err := Parse(spec)
	require.NoError(t, err)
	require.Len(t, use.Steps, 1)
	return use.Steps[0].Variant.Plan(v, use.Steps[0].Values)
}

// lines writes a text of numbered words, one a line, with a pattern such as "step %d".
func lines(pattern string, from, to int) string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf(pattern, i))
	}
	return strings.Join(out, "\n")
}
