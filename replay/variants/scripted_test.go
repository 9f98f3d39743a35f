package variants

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

// scripted writes a session turn by turn: what is added rides from the next request
// on. A token is a word, and the provider counts as we do.
type scripted struct {
	b     *rollout.Builder
	chain *rollout.Chain
	run   int
	calls int
}

func newScript() *scripted {
	b := rollout.NewBuilder("invented")
	b.Session.ID = "script"
	return &scripted{b: b, chain: b.Chain(), run: 1}
}

// reply is what a response says and asks for.
type reply struct {
	text  string
	asks  []ask
	kind  rollout.RequestKind
	read  int64 // from the cache
	at    time.Duration
	took  int64 // milliseconds; 0 unknown
	model string
}

// ask is one call with its result.
type ask struct {
	rollout.Call
	args, result string
}

// item adds content to the coming requests and returns its index.
func (s *scripted) item(slot rollout.Slot, it rollout.Item, text string) int {
	it.Origin, it.Text = rollout.Logged, s.b.Text(text)
	if it.Kind != rollout.AssistantText && it.Kind != rollout.ToolCall {
		it.Request = -1
	}
	index := s.b.Item(it)
	s.chain.Add(slot, index)
	return index
}

func (s *scripted) user(text string) *scripted {
	s.item(rollout.SlotConversation, rollout.Item{Kind: rollout.UserText}, text)
	return s
}

// notify adds the notification that tasks have ended.
func (s *scripted) notify(tasks ...string) *scripted {
	text := ""
	for _, task := range tasks {
		text += "<task-notification> <task-id>" + task + "</task-id> <status>completed</status> </task-notification> "
	}
	s.item(rollout.SlotConversation, rollout.Item{Kind: rollout.Reminder}, text)
	return s
}

// request records a request with its usage, then what its response brought.
func (s *scripted) request(input, output int64, r reply) *scripted {
	if r.kind == "" {
		r.kind = rollout.KindTurn
	}
	index := s.chain.Request(rollout.Request{
		Kind: r.kind, Status: rollout.Answered, Run: s.run, Attempt: 1, Base: -1, Model: r.model, OutputFinal: true,
		Usage: rollout.Usage{Input: &input, Output: &output, CacheRead: &r.read},
	})
	if r.at > 0 {
		s.b.Session.Requests[index].Time = time.Unix(1_000_000, 0).Add(r.at)
	}
	if r.took > 0 {
		s.b.Session.Requests[index].DurationMS = &r.took
	}
	if r.text != "" {
		s.item(rollout.SlotConversation, rollout.Item{Kind: rollout.AssistantText, Request: index}, r.text)
	}
	for _, a := range r.asks {
		s.call(index, a)
	}
	return s
}

func (s *scripted) call(request int, a ask) {
	s.calls++
	c := a.Call
	c.ID, c.Request, c.Ran, c.ResultItem = fmt.Sprintf("call-%d", s.calls), request, true, -1
	c.ArgsItem = s.item(rollout.SlotConversation, rollout.Item{Kind: rollout.ToolCall, Request: request, Tool: c.Tool, CallID: c.ID}, a.args)
	c.Args = s.b.Session.Items[c.ArgsItem].Text
	if a.result != "" {
		c.ResultItem = s.item(rollout.SlotConversation, rollout.Item{Kind: rollout.ToolResult, Tool: c.Tool, CallID: c.ID}, a.result)
	}
	s.b.Call(c)
}

// starts is a call that starts a background task.
func starts(task string) ask {
	return ask{Call: rollout.Call{Tool: "bash", Class: rollout.ShellTool, Mutates: true, Task: task, Starts: true}, args: "start " + task, result: "started " + task}
}

// polls is a call that asks for the state of one.
func polls(task string, class rollout.PollClass, result string) ask {
	return ask{Call: rollout.Call{Tool: "bashoutput", Class: rollout.PollTool, ReadOnly: true, Task: task, Poll: class}, args: "poll " + task, result: result}
}

// touches gives a running task input, or stops it.
func touches(task string) ask {
	return ask{Call: rollout.Call{Tool: "write_stdin", Class: rollout.ShellTool, Mutates: true, Task: task}, args: "type into " + task, result: "interrupted"}
}

func reads(path, result string) ask {
	return ask{Call: rollout.Call{Tool: "read", Class: rollout.ReadTool, ReadOnly: true, Path: path}, args: "read " + path, result: result}
}

func edits(path string) ask {
	return ask{Call: rollout.Call{Tool: "edit", Class: rollout.EditTool, Mutates: true, Path: path}, args: "edit " + path, result: "ok"}
}

// recorded finishes and sizes the session: a token is a word everywhere, and the
// factor of every model is 1.
func (s *scripted) recorded(t testing.TB) replay.View {
	t.Helper()
	session := s.b.Finish()
	require.NoError(t, rollout.Check(session))
	return inWords(session)
}

func inWords(s *rollout.Session) replay.View {
	m := measure.Measure(s, counter())
	words := func(id rollout.TextID) *int64 {
		n := countWords("", s.Texts[id].S)
		return &n
	}
	for i, it := range s.Items {
		m.Items[i].Tokens = words(it.Text)
	}
	for i, sp := range s.Spans {
		m.Spans[i].Tokens = words(sp.Text)
	}
	for i := range m.Calibration {
		m.Calibration[i].Factor, m.Calibration[i].FactorLow, m.Calibration[i].FactorHigh = 1, 1, 1
	}
	for i, r := range s.Requests {
		m.Requests[i].Counted = 0
		for k, sp := range s.Spans {
			if carries(s, i, k) {
				m.Requests[i].Counted += countWords("", s.Texts[sp.Text].S)
			}
		}
		if r.Usage.Input != nil {
			rest := *r.Usage.Input - m.Requests[i].Counted
			m.Requests[i].Calibrated, m.Requests[i].Unlogged = &m.Requests[i].Counted, &rest
		}
	}
	return replay.View{Recording: replay.Recording{Session: s, Sizes: m}, Count: countWords}
}

// pricedInput sums the input of a plan's requests, by walking every span at every
// request: recorded input less what the plan takes out, plus what it adds.
func pricedInput(v replay.View, p replay.Plan, high bool) (input, output, requests int64) {
	removed := map[int]replay.Removal{}
	for _, r := range p.Removals {
		if r.Certain || high {
			removed[r.Request] = r
		}
	}
	less := saved(v, p)
	sizes := map[int]int64{}
	for i, r := range v.Session.Requests {
		if r.Inherited || r.Usage.Input == nil {
			continue
		}
		added := int64(0)
		for _, a := range p.Additions {
			if a.Chain == r.Chain && a.First <= r.Number && r.Number <= a.Last {
				added += additionSize(v, a)
			}
		}
		sizes[i] = *r.Usage.Input - less[i] + added
		if gone, ok := removed[i]; ok {
			output += gone.Moved
			continue
		}
		input += sizes[i]
		output += *r.Usage.Output
		requests++
	}
	for _, x := range p.Extras {
		input += sizes[x.After] + x.More
		output += x.Output
		requests++
	}
	return input, output, requests
}

func additionSize(v replay.View, a replay.Addition) int64 {
	if a.Tokens != nil {
		return *a.Tokens
	}
	return v.Count("", a.Text)
}

// logged reads the sessions below a folder of the invented logs.
func logged(t testing.TB, paths ...string) []replay.View {
	t.Helper()
	ctx := context.Background()
	files, _, err := formats.Expand(ctx, paths)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	counts := counter()
	var out []replay.View
	for _, f := range files {
		sessions, err := f.Format.Read(ctx, f.Path)
		require.NoError(t, err)
		for _, s := range sessions {
			out = append(out, replay.View{Recording: replay.Recording{Session: s, Sizes: measure.Measure(s, counts)}, Count: counts.Count})
		}
	}
	return out
}

// requestVariants are the variants that touch requests, with settings that make
// them do something in small sessions.
func requestVariants() map[string]replay.Step {
	return map[string]replay.Step{
		"inline-batching":   {Variant: InlineBatching()},
		"notifications":     {Variant: InlineBatching(), Values: replay.Values{"push": "remove"}},
		"batch-reads":       {Variant: BatchReads()},
		"serialize":         {Variant: Serialize()},
		"compact-at":        {Variant: CompactAt(), Values: replay.Values{"tokens": "200", "keep": "0", "summary": "3"}},
		"tail-reminders":    {Variant: TailReminders()},
		"drop-unused-tools": {Variant: DropUnusedTools()},
		"prompt":            {Variant: Prompt(), Values: replay.Values{"add": "parallel", "file": "lean", "base": "agent"}},
	}
}
