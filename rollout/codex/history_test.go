package codex

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// Versions before spring 2026 did not log what a local compaction left: context,
// the user's messages, the summary.
func TestLocalCompactionIsRebuilt(t *testing.T) {
	l := (&log{}).meta(thread, "").message("user", "<environment_context>x</environment_context>")
	l.turn("019ca000-1000-7000-8000-000000000002").message("user", "one").call("c1", "ls").usage(100, 5, 100, 5).output("c1", "x").message("assistant", "Done.").usage(300, 10, 200, 5)
	l.turn("019ca000-2000-7000-8000-000000000002").usage(510, 40, 210, 30).add("compacted", `{"message":"Summary: done."}`)
	l.turn("019ca000-3000-7000-8000-000000000002").message("user", "two").message("assistant", "Yes.").usage(600, 45, 90, 5)
	s := l.read(t)
	assert.Equal(t, []string{"<environment_context>x</environment_context>", "one", "Summary: done.", "two"}, texts(s, 3))
	assert.Equal(t, rollout.KindCompaction, s.Requests[2].Kind)
	assert.Empty(t, s.OtherBilled)
	assert.Empty(t, s.Problems)
}

// Of 30,000 and 60,000 bytes the budget of 80,000 keeps the later whole and
// 20,000 of the earlier: 10,000 at each end, 10,000 gone = 2,500 tokens.
func TestLocalCompactionCutsTheOldestPrompt(t *testing.T) {
	early, late := strings.Repeat("a", 30000), strings.Repeat("b", 60000)
	l := start().message("assistant", "Hm.").usage(10, 5, 10, 5)
	for i, prompt := range []string{early, late} {
		l.event("task_complete").turn("t"+string(rune('0'+i))).message("user", prompt).message("assistant", "Yes.").usage(100*(i+1), 10*(i+1), 90, 5)
	}
	l.add("compacted", `{"message":"S"}`).message("assistant", "Go.").usage(300, 30, 100, 10)
	s := l.read(t)
	got := texts(s, 3)
	require.Len(t, got, 3)
	assert.Equal(t, early[:10000]+"…2500 tokens truncated…"+early[:10000], got[0])
	assert.Equal(t, []string{late, "S"}, got[1:])
}

func TestRollBackTwoTurns(t *testing.T) {
	l := start().message("assistant", "1").usage(10, 5, 10, 5)
	l.turn("t2").message("developer", "<collaboration_mode>plan</collaboration_mode>").message("user", "two").message("assistant", "2").usage(30, 10, 20, 5)
	l.turn("t3").message("user", "three").message("assistant", "3").usage(60, 15, 30, 5)
	l.add("event_msg", `{"type":"thread_rolled_back","num_turns":2}`)
	l.turn("t4").message("user", "four").message("assistant", "4").usage(80, 20, 20, 5)
	s := l.read(t)
	assert.Equal(t, []string{"do it", "1", "four"}, texts(s, 3))
	l.add("event_msg", `{"type":"thread_rolled_back","num_turns":99}`).turn("t5").message("user", "five").message("assistant", "5").usage(90, 25, 10, 5)
	assert.Equal(t, []string{"five"}, texts(l.read(t), 4))
}

func TestClassification(t *testing.T) {
	labelled := `{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /x"},{"type":"input_text","text":"mine"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text","permissions.instructions"]}}`
	it := newItem([]byte(labelled))
	assert.True(t, classifyPart(it, 0).human, "the label wins over the marker")
	assert.Equal(t, "permissions", classifyPart(it, 1).label)
	it.Pass.V.Kinds.V = it.Pass.V.Kinds.V[:1]
	assert.Equal(t, "agents_md", classifyPart(it, 0).label, "labels of another number say nothing")
	assert.True(t, classifyPart(it, 1).human)
	assert.True(t, isUserPrompt(it))
}

func TestUnknownInjectedTags(t *testing.T) {
	for text, want := range map[string]string{
		"<new_notice>\nx\n</new_notice>\n":    "new_notice",
		"<new_notice>x</new_notice> and mine": "",
		"<b>x</b>":                            "",
		"<new_notice>x":                       "",
		"plain":                               "",
	} {
		assert.Equal(t, want, enclosingTag(text), text)
	}
}

func TestImagesAreNotText(t *testing.T) {
	l := start()
	l.add("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"<image>"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_text","text":"</image>"}]}`)
	s := l.message("assistant", "A cat.").usage(10, 5, 10, 5).read(t)
	assert.Equal(t, []string{"do it", "<image>", "(opaque)", "</image>"}, texts(s, 0))
	for _, it := range s.Items {
		if it.Kind == rollout.Image {
			assert.EqualValues(t, 1844, *it.Tokens, "unknown pixels: 7,373 bytes at 4 a token, rounded up")
		}
	}
}

func TestServerSideCalls(t *testing.T) {
	l := start().add("response_item", `{"type":"web_search_call","status":"completed","action":{"type":"search","query":"go"}}`)
	l.add("response_item", `{"type":"tool_search_call","call_id":"s1","arguments":{"query":"db"}}`).usage(10, 5, 10, 5)
	l.add("response_item", `{"type":"tool_search_output","call_id":"s1","tools":[{"type":"function","name":"q"}]}`)
	s := l.message("assistant", "Found.").usage(30, 10, 20, 5).read(t)
	assert.Equal(t, []string{
		"do it", `{"type":"search","query":"go"}`, `{"query":"db"}`,
		`{"type":"tool_search_output","call_id":"s1","tools":[{"type":"function","name":"q"}]}`,
	}, texts(s, 1))
	assert.Equal(t, rollout.ToolDefinitions, kinds(s, 1)[3])
	assert.Equal(t, rollout.WebTool, s.Calls[0].Class)
	assert.True(t, s.Calls[0].Ran)
	assert.Contains(t, s.Missing, "web search results")
	assert.Contains(t, s.Missing, "built-in tool definitions")
	assert.Empty(t, s.Problems)
}

func TestOutputWithoutCallIsDropped(t *testing.T) {
	s := start().output("nobody", "x").message("assistant", "Hi.").usage(10, 5, 10, 5).read(t)
	assert.Equal(t, []string{"do it"}, texts(s, 0))
	assert.Equal(t, []string{"result-without-call"}, problemKinds(s))
}

func TestRepeatedCallIDs(t *testing.T) {
	l := start().call("c", "ls").output("c", "x").call("c#2", "pwd").output("c#2", "y").call("c", "ls").output("c", "z").message("assistant", ".")
	s := l.read(t)
	require.Len(t, s.Calls, 3)
	assert.Equal(t, "c", s.Calls[0].ID)
	assert.Equal(t, "c#2", s.Calls[1].ID)
	assert.Equal(t, "c#3", s.Calls[2].ID)
}

func TestReasoningIsForgottenByModel(t *testing.T) {
	for name, c := range map[string]struct {
		second int // input of the second turn's request
		want   int // items of its payload
	}{
		// 1000 + 200 left, of them 190 reasoning; the new prompt is one token.
		"fell": {1011, 3},
		"kept": {1201, 4},
	} {
		t.Run(name, func(t *testing.T) {
			l := start().add("turn_context", `{"model":"gpt-5.4"}`)
			l.add("response_item", `{"type":"reasoning","summary":[],"encrypted_content":"`+strings.Repeat("A", 1600)+`"}`).message("assistant", "Hm.")
			usage := func(totalIn, totalOut, in, out, reasoning string) {
				l.add("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":`+totalIn+`,"output_tokens":`+totalOut+`},"last_token_usage":{"input_tokens":`+in+`,"output_tokens":`+out+`,"reasoning_output_tokens":`+reasoning+`}}}`)
			}
			usage("1000", "200", "1000", "200", "190")
			l.turn("t2").message("user", "next").message("assistant", "Yes.").usage(1000+c.second, 205, c.second, 5)
			assert.Len(t, texts(l.read(t), 1), c.want)
		})
	}
}
