package detour

import (
	"encoding/json"
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// turn is one request, what the model said in its response, and its calls.
type turn struct {
	said  string
	calls []act
}

// act is a call and its result.
type act struct {
	tool    string
	args    map[string]any
	result  string
	cut     rollout.Truncation
	handle  string
	recover string
	poll    rollout.PollClass
}

func sh(command string) act { return act{tool: "bash", args: map[string]any{"command": command}} }
func edit(path string) act  { return act{tool: "edit", args: map[string]any{"path": path}} }
func grep(pattern, path string) act {
	return act{tool: "grep", args: map[string]any{"pattern": pattern, "path": path}}
}
func readFile(path, part string) act {
	return act{tool: "read", args: map[string]any{"path": path, "range": part}}
}

func (a act) truncated() act { a.cut = rollout.Lost; return a }

func (a act) gave(result string) act { a.result = result; return a }

var classOf = map[string]rollout.ToolClass{
	"bash": rollout.ShellTool, "edit": rollout.EditTool, "grep": rollout.SearchTool, "read": rollout.ReadTool, "output": rollout.RetrieveTool,
}

// sessionOf builds a session of one chain that begins with a task.
func sessionOf(t rapid.TB, id, task string, turns ...turn) *rollout.Session {
	t.Helper()
	b := rollout.NewBuilder("test")
	b.Session.ID = id
	chain := b.Chain()
	add := func(kind rollout.ItemKind, text, call string, request int) int {
		i := b.Item(rollout.Item{Kind: kind, CallID: call, Origin: rollout.Logged, Request: request, Text: b.Text(text)})
		chain.Add(rollout.SlotConversation, i)
		return i
	}
	add(rollout.UserText, task, "", -1)
	for n, turn := range turns {
		request := chain.Request(rollout.Request{Kind: rollout.KindTurn, Status: rollout.Answered, Run: 1, Attempt: 1, Base: -1})
		if turn.said != "" {
			add(rollout.AssistantText, turn.said, "", request)
		}
		for k, a := range turn.calls {
			callID := fmt.Sprintf("c%d.%d", n, k)
			args, err := json.Marshal(a.args)
			require.NoError(t, err)
			c := rollout.Call{
				Request: request, ID: callID, Tool: a.tool, Class: classOf[a.tool], Args: b.Text(string(args)), Ran: true,
				Truncated: a.cut, Handle: a.handle, Recovers: a.recover, Poll: a.poll,
			}
			c.Command, _ = a.args["command"].(string)
			c.Path, _ = a.args["path"].(string)
			c.Range, _ = a.args["range"].(string)
			c.ArgsItem = add(rollout.ToolCall, string(args), callID, request)
			c.ResultItem = add(rollout.ToolResult, a.result, callID, -1)
			b.Call(c)
		}
	}
	s := b.Finish()
	require.NoError(t, rollout.Check(s))
	return s
}

func recordingOf(s *rollout.Session) replay.Recording { return replay.Recording{Session: s} }

// resultSpan is the span of the result of a call.
func resultSpan(t rapid.TB, s *rollout.Session, call int) int {
	for i, sp := range s.Spans {
		if sp.Item == s.Calls[call].ResultItem {
			return i
		}
	}
	require.Fail(t, "no span")
	return -1
}

// cutTo is the lossy edit of a call's result from its first request on.
func cutTo(t rapid.TB, s *rollout.Session, call int, text string) replay.Edit {
	span := resultSpan(t, s, call)
	return replay.Edit{Span: span, From: s.Spans[span].First, Text: text, Call: call, Lossy: true, Why: "cap"}
}
