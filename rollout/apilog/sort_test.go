package apilog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
)

// chat is a pair of Chat Completions at a second, its messages given as ROLE:TEXT.
func chat(second int, extra string, answer string, messages ...string) string {
	list := make([]string, len(messages))
	for i, m := range messages {
		role, text, _ := strings.Cut(m, ":")
		list[i] = fmt.Sprintf(`{"role":%q,"content":%q}`, role, text)
	}
	return fmt.Sprintf(`{"timestamp":%d,"request":{"model":"m"%s,"messages":[%s]},"response":{"id":"r%d","choices":[{"message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}}`,
		1777885200+second, extra, strings.Join(list, ","), second, answer)
}

const (
	someTools  = `,"tools":[{"type":"function","function":{"name":"bash"}},{"type":"function","function":{"name":"agent"}}]`
	otherTools = `,"tools":[{"type":"function","function":{"name":"grep"}}]`
)

// outline shows sessions as "CHAIN.NUMBER kind" lists.
func outline(sessions []*rollout.Session) []string {
	var out []string
	for _, s := range sessions {
		var b strings.Builder
		for _, r := range s.Requests {
			fmt.Fprintf(&b, "%d.%d %s; ", r.Chain, r.Number, r.Kind)
		}
		out = append(out, strings.TrimSuffix(b.String(), "; "))
	}
	return out
}

func TestConversationsAreToldApart(t *testing.T) {
	summary := "The user builds a boat, has planed the planks and now wants the mast to be raised."
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"two that interleave", []string{
			chat(1, someTools, "b", "system:s", "user:first task"), chat(2, someTools, "B", "system:s", "user:second task"),
			chat(3, someTools, "c", "system:s", "user:first task", "assistant:b", "user:on"), chat(4, someTools, "C", "system:s", "user:second task", "assistant:B", "user:on"),
		}, []string{"0.1 turn; 0.2 turn", "0.1 turn; 0.2 turn"}},
		{"out of order in the file", []string{
			chat(3, someTools, "c", "user:task", "assistant:b", "user:on"), chat(1, someTools, "b", "user:task"),
		}, []string{"0.1 turn; 0.2 turn"}},
		{"one ID, history made short", []string{
			chat(1, someTools+`,"prompt_cache_key":"k"`, "b", "system:s", "user:task"), chat(2, someTools+`,"prompt_cache_key":"k"`, "c", "system:s", "user:something else"),
		}, []string{"0.1 turn; 0.2 turn"}},
		{"two IDs, one history", []string{
			chat(1, someTools+`,"prompt_cache_key":"k"`, "b", "system:s", "user:task"), chat(2, someTools+`,"prompt_cache_key":"l"`, "b", "system:s", "user:task"),
		}, []string{"0.1 turn", "0.1 turn"}},
		{"summary of a side call", []string{
			chat(1, someTools, "b", "system:s", "user:build a boat"),
			chat(2, "", summary, "system:You condense.", "user:build a boat, then b"),
			chat(3, someTools, "d", "system:s", "user:So far: "+summary),
		}, []string{"0.1 turn; 1.1 compaction; 0.2 turn"}},
		{"summary in the conversation itself", []string{
			chat(1, someTools, "b", "system:s", "user:build a boat"),
			chat(2, someTools, summary, "system:s", "user:build a boat", "assistant:b", "user:write it all down"),
			chat(3, someTools, "d", "system:s", "user:"+summary),
		}, []string{"0.1 turn; 1.1 compaction; 0.2 turn"}},
		{"title before the conversation", []string{
			chat(1, "", "Boat", "system:Write a title", "user:build a very big boat"), chat(2, someTools, "b", "system:s", "user:build a very big boat"),
		}, []string{"1.1 title; 0.1 turn"}},
		{"no tools anywhere", []string{
			chat(1, "", "b", "user:x"), chat(2, "", "c", "user:x", "assistant:b", "user:y"),
		}, []string{"0.1 turn; 0.2 turn"}},
		{"system prompt with a clock", []string{
			chat(1, someTools, "b", "system:it is 1", "user:x"), chat(2, someTools, "c", "system:it is 2", "user:x", "assistant:b", "user:y"),
		}, []string{"0.1 turn; 0.2 turn"}},
		{"last answer regenerated", []string{
			chat(1, someTools, "b", "user:x", "assistant:a", "user:y"), chat(2, someTools, "c", "user:x", "assistant:a", "user:z"),
		}, []string{"0.1 turn; 0.2 turn"}},
		{"cache kept warm", []string{
			chat(1, someTools, "b", "user:x"), chat(2, someTools+`,"max_tokens":1`, "c", "user:x", "assistant:b"), chat(3, someTools, "d", "user:x", "assistant:b", "user:y"),
		}, []string{"0.1 turn; 1.1 warm-up; 0.2 turn"}},
		{"retry", []string{chat(1, someTools, "b", "user:x"), chat(2, someTools, "b", "user:x")}, []string{"0.1 turn; 0.2 turn"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, outline(read(t, file(t, c.lines...))))
		})
	}
}

// TestSubAgentByItsTask: two agents of one kind run side by side; each is tied to
// the call whose arguments hold its task, in a log without any session ID.
func TestSubAgentByItsTask(t *testing.T) {
	call := func(id, task string) string {
		return fmt.Sprintf(`{"id":%q,"function":{"name":"agent","arguments":"{\"prompt\": \"%s\"}"}}`, id, task)
	}
	one, two := "Look for the missing oars in the shed.", "Look for the missing sail in the loft."
	start := fmt.Sprintf(`{"timestamp":1777885201,"request":{"model":"m"%s,"messages":[{"role":"user","content":"find all"}]},"response":{"id":"r1","choices":[{"message":{"role":"assistant","tool_calls":[%s,%s]}}]}}`,
		someTools, call("c1", one), call("c2", two))
	sessions := read(t, file(t, start,
		chat(2, otherTools, "a", "system:t", "user:"+one), chat(3, otherTools, "b", "system:t", "user:"+two),
		chat(4, otherTools, "c", "system:t", "user:"+one, "assistant:a", "user:more"), chat(5, otherTools, "d", "system:t", "user:"+two, "assistant:b", "user:more")))
	require.Equal(t, []string{"0.1 turn", "0.1 turn; 0.2 turn", "0.1 turn; 0.2 turn"}, outline(sessions))
	main := sessions[0]
	for i, id := range []string{"c1", "c2"} {
		child := sessions[i+1]
		assert.Equal(t, []string{main.ID, id}, []string{child.ParentID, child.ParentCall})
		assert.Equal(t, child.ID, byID(main)[id].Child)
	}
}

// TestSubAgentOfItsOwnKind: an agent that starts itself has the same prompt,
// tools and session ID; its task tells it from a history made short.
func TestSubAgentOfItsOwnKind(t *testing.T) {
	extra := someTools + `,"prompt_cache_key":"k"`
	start := fmt.Sprintf(`{"timestamp":1777885201,"request":{"model":"m"%s,"messages":[{"role":"user","content":"find all"}]},"response":{"id":"r1","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"agent","arguments":"{\"prompt\": \"Look for the missing oars in the shed.\"}"}}]}}]}}`, extra)
	sessions := read(t, file(t, start, chat(2, extra, "a", "user:Look for the missing oars in the shed.")))
	require.Equal(t, []string{"0.1 turn", "0.1 turn"}, outline(sessions))
	assert.Equal(t, []string{"k", "c1"}, []string{sessions[1].ParentID, sessions[1].ParentCall})
}

// TestPrunedHistory: an old result that was cleared in place keeps its item and
// everything behind it its span.
func TestPrunedHistory(t *testing.T) {
	body := func(second int, first, tail string) string {
		return fmt.Sprintf(`{"timestamp":%d,"request":{"model":"m","system":"s","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":%q}]},{"role":"assistant","content":"kept"}%s]},"response":null}`,
			1777885200+second, first, tail)
	}
	s := read(t, file(t, body(1, "a long output", ""), body(2, "[cleared]", `,{"role":"user","content":"y"}`)))[0]
	require.Len(t, s.Requests, 2)
	var result, kept []rollout.Span
	for _, sp := range s.Spans {
		switch s.Items[sp.Item].Kind {
		case rollout.ToolResult:
			result = append(result, sp)
		case rollout.AssistantText:
			kept = append(kept, sp)
		}
	}
	require.Len(t, result, 2)
	assert.Equal(t, result[0].Item, result[1].Item)
	assert.Equal(t, []string{"a long output", "[cleared]"}, []string{s.Texts[result[0].Text].S, s.Texts[result[1].Text].S})
	require.Len(t, kept, 1)
	assert.Equal(t, 2, kept[0].Last)
}

// TestAnyChangeOfHistory: whatever a client does to its history, every request
// carries what its body held, in order.
func TestAnyChangeOfHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SampledFrom([]string{"user:a", "user:b", "assistant:c", "assistant:d", "system:e", "user:<system-reminder>f", "user:g", "tool:h"})
		histories := rapid.SliceOfN(rapid.SliceOfN(message, 1, 8), 1, 6).Draw(t, "histories")
		r := newReader("x")
		for i, h := range histories {
			r.record([]byte(chat(i, someTools, "z", h...)), i+1)
		}
		seen := 0
		for _, s := range r.finish(nil) {
			require.NoError(t, rollout.Check(s))
			for _, q := range s.Requests {
				seen++
				var want []string
				for _, m := range histories[q.Line-1] {
					_, text, _ := strings.Cut(m, ":")
					want = append(want, text)
				}
				assert.Equal(t, want, texts(s, q)[2:], "behind two tools")
			}
		}
		assert.Equal(t, len(histories), seen)
	})
}

// texts are what a request carries, in order.
func texts(s *rollout.Session, r rollout.Request) []string {
	byPosition := map[int64]string{}
	var order []int64
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			byPosition[sp.Position] = s.Texts[sp.Text].S
			order = append(order, sp.Position)
		}
	}
	out := make([]string, 0, len(order))
	for _, p := range sorted(order) {
		out = append(out, byPosition[p])
	}
	return out
}
