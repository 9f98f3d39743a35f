package opencode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// session writes an export with the given messages and reads it.
func session(t *testing.T, info string, messages ...string) *rollout.Session {
	t.Helper()
	if info == "" {
		info = `"version":"1.18.0"`
	}
	path := filepath.Join(t.TempDir(), "x.json")
	doc := fmt.Sprintf(`{"info":{"id":"ses_x","projectID":"p","time":{"created":1000},%s},"messages":[%s]}`, info, strings.Join(messages, ","))
	require.NoError(t, os.WriteFile(path, []byte(doc), 0o600))
	return sessionsOf(t, path)[0]
}

func user(id string, parts string) string {
	return fmt.Sprintf(`{"info":{"id":%q,"role":"user","time":{"created":2000}},"parts":[%s]}`, id, parts)
}

// answer is an assistant message of one step; more are further members of it.
func answer(id, more, parts string) string {
	return fmt.Sprintf(`{"info":{"id":%q,"role":"assistant","providerID":"p","modelID":"m","time":{"created":3000,"completed":4000}%s},"parts":[{"type":"step-start"},%s]}`, id, more, parts)
}

const said = `{"type":"text","text":"said"}`

func kinds(s *rollout.Session) []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, fmt.Sprintf("%s×%d", p.Kind, p.Count))
	}
	return out
}

func TestUsageReadings(t *testing.T) {
	for name, c := range map[string]struct {
		tokens        string
		input, output int64
		problems      []string
	}{
		"current: all side by side": {`{"total":165,"input":10,"output":20,"reasoning":5,"cache":{"read":100,"write":30}}`, 140, 25, nil},
		"reasoning within output":   {`{"total":160,"input":10,"output":20,"reasoning":5,"cache":{"read":100,"write":30}}`, 140, 20, nil},
		"cache within input":        {`{"total":160,"input":140,"output":20,"reasoning":0,"cache":{"read":100,"write":30}}`, 140, 20, nil},
		"older: no total":           {`{"input":10,"output":20,"reasoning":5,"cache":{"read":100,"write":30}}`, 140, 20, nil},
		"older, reasoning larger":   {`{"input":10,"output":20,"reasoning":50,"cache":{"read":0,"write":0}}`, 10, 70, nil},
		"does not add up":           {`{"total":1,"input":10,"output":20,"reasoning":5,"cache":{"read":100,"write":30}}`, 140, 25, []string{"usage-inconsistent×1"}},
		"numbers in any notation":   {`{"input":1e1,"output":20.0,"reasoning":0,"cache":{"read":0,"write":0}}`, 10, 20, nil},
	} {
		s := session(t, "", user("u", said), answer("a", `,"tokens":`+c.tokens, said))
		require.Len(t, s.Requests, 1, name)
		require.NotNil(t, s.Requests[0].Usage.Input, name)
		assert.Equal(t, c.input, *s.Requests[0].Usage.Input, name)
		assert.Equal(t, c.output, *s.Requests[0].Usage.Output, name)
		assert.Equal(t, c.problems, kinds(s), name)
	}
}

func TestUsageThatCannotBe(t *testing.T) {
	for tokens, problems := range map[string][]string{
		`{"input":-1,"output":2,"cache":{}}`:            {"impossible-usage×1", "response-without-usage×1"},
		`{"input":1,"output":1099511627777,"cache":{}}`: {"impossible-usage×1", "response-without-usage×1"},
		`{"input":1e300,"output":1}`:                    {"impossible-usage×1", "response-without-usage×1"},
		`{"input":0,"output":0,"cache":{"read":0}}`:     {"response-without-usage×1"},
		`"many"`: {"response-without-usage×1"},
		`null`:   {"response-without-usage×1"},
	} {
		s := session(t, "", user("u", said), answer("a", `,"tokens":`+tokens, said))
		assert.Nil(t, s.Requests[0].Usage.Input, tokens)
		assert.Equal(t, problems, kinds(s), tokens)
	}
	s := session(t, "", user("u", said), answer("a", `,"tokens":{"input":5}`, said))
	assert.EqualValues(t, 5, *s.Requests[0].Usage.Input)
	assert.Nil(t, s.Requests[0].Usage.Output, "what is not said stays unknown")
}

func TestSuspectedInclusiveInput(t *testing.T) {
	var messages []string
	for i := range 3 {
		messages = append(messages, user(fmt.Sprint("u", i), said), answer(fmt.Sprint("a", i), `,"tokens":{"input":1100,"output":5,"reasoning":0,"cache":{"read":1000,"write":0}}`, said))
	}
	assert.Equal(t, []string{"usage-inconsistent×1"}, kinds(session(t, `"version":"0.3.0"`, messages...)))
	assert.Empty(t, kinds(session(t, `"version":"0.3.0"`, messages[:4]...)), "two calls are no pattern")
}

// TestForkedHistory: a fork copies messages under new IDs with their old times;
// what is older than the session was paid for elsewhere.
func TestForkedHistory(t *testing.T) {
	tokens := `,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"read":0,"write":0}}`
	call := `{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"},"output":"a","time":{"start":1,"end":2}}}`
	s := session(t, `"time":{"created":2500}`, user("u", said), strings.ReplaceAll(answer("a", tokens, call), "3000", "2400"), user("v", said), answer("b", tokens, said))
	assert.True(t, s.Requests[0].Inherited)
	assert.True(t, s.Calls[0].Inherited)
	assert.False(t, s.Requests[1].Inherited)
	assert.Len(t, texts(s, 0, 2), 4, "the copied history is sent all the same")
}

func TestPendingRequests(t *testing.T) {
	open := strings.ReplaceAll(answer("a", "", said), `,"completed":4000`, "")
	assert.Equal(t, rollout.InFlight, session(t, "", user("u", said), open).Requests[0].Status)
	s := session(t, "", user("u", said), open, user("v", said), answer("b", "", said))
	assert.Equal(t, rollout.CutOff, s.Requests[0].Status)
}

// TestInterrupted: of interrupted messages only those with content are sent.
func TestInterrupted(t *testing.T) {
	aborted := `,"error":{"name":"MessageAbortedError"}`
	thought := `{"type":"reasoning","text":"thought"}`
	s := session(t, "", user("u", said), answer("a", aborted, thought), user("v", said), answer("b", "", said))
	assert.Equal(t, []string{"said", "said"}, texts(s, 0, 2))
	s = session(t, "", user("u", said), answer("a", aborted, thought+","+said), user("v", said), answer("b", "", said))
	assert.Equal(t, []string{"said", "thought", "said", "said"}, texts(s, 0, 2))
	call := `{"type":"tool","tool":"bash","callID":"c","state":{"status":"error","input":{},"error":"Tool execution aborted","metadata":{"interrupted":true,"output":"so far"}}}`
	s = session(t, "", user("u", said), answer("a", "", call), user("v", said), answer("b", "", said))
	assert.Equal(t, []string{"said", "{}", "so far", "said"}, texts(s, 0, 2), "what a killed command had printed")
}

// TestSealedReasoning: sealed reasoning is sent beside its summary, to the model
// that made it alone; a signature is no text of its own.
func TestSealedReasoning(t *testing.T) {
	sealed := `{"type":"reasoning","text":"summary","metadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"c2VhbGVk"}}}`
	other := strings.Replace(answer("b", "", said), `"modelID":"m"`, `"modelID":"n"`, 1)
	s := session(t, "", user("u", said), answer("a", "", sealed), other, answer("c", "", said))
	assert.Equal(t, []string{"said", "summary", ""}, texts(s, 0, 2), "another model")
	assert.Equal(t, []string{"said", "summary", "#", "said"}, texts(s, 0, 3))
	assert.Nil(t, s.Items[2].Tokens)
	for reasoning, want := range map[string][]string{
		`{"type":"reasoning","text":"t","metadata":{"anthropic":{"signature":"c2ln"}}}`: {"said", "t"},
		`{"type":"reasoning","text":"","metadata":{"anthropic":{"signature":"c2ln"}}}`:  {"said", "#"},
		`{"type":"reasoning","text":"","metadata":{"anthropic":{"redactedData":"x"}}}`:  {"said", "#"},
		`{"type":"reasoning","text":"","metadata":{"openai":{"itemId":"rs_1"}}}`:        {"said"},
		`{"type":"reasoning","text":"","metadata":[]}`:                                  {"said"},
	} {
		s := session(t, "", user("u", said), answer("a", "", reasoning), answer("b", "", said))
		assert.Equal(t, want, texts(s, 0, 2), reasoning)
	}
}

// TestQueuedMessages: for half of 2026 a message sent while the agent worked
// went out inside a reminder, once.
func TestQueuedMessages(t *testing.T) {
	at := func(message string, created int64) string {
		return strings.ReplaceAll(strings.ReplaceAll(message, `"created":2000`, fmt.Sprintf(`"created":%d`, created)), `"created":3000,"completed":4000`, fmt.Sprintf(`"created":%d,"completed":%d`, created, created+1000))
	}
	steer := user("v", `{"type":"text","text":"steer"}`)
	run := func(start int64, finish string, sentAfter int64) *rollout.Session {
		return session(t, "", at(user("u", said), start), at(answer("a", `,"finish":"`+finish+`"`, said), start+1000), at(steer, start+1000+sentAfter),
			at(answer("b", "", said), start+5000), at(answer("c", "", said), start+9000))
	}
	march := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for name, c := range map[string]struct {
		start  int64
		finish string
		after  int64
		want   bool
	}{
		"between tools":          {march, "tool-calls", 2000, true},
		"during the last answer": {march, "stop", 500, true},
		"after it":               {march, "stop", 2000, false},
		"before 2026":            {march - 100*24*3600_000, "tool-calls", 2000, false},
		"later":                  {march + 150*24*3600_000, "tool-calls", 2000, false},
	} {
		s := run(c.start, c.finish, c.after)
		assert.Equal(t, c.want, texts(s, 0, 2)[2] == wrapped("steer"), name)
		assert.Equal(t, "steer", texts(s, 0, 3)[2], name)
		assert.Equal(t, "said", texts(s, 0, 2)[0], name)
	}
}

func TestFailedCompaction(t *testing.T) {
	asked := user("c", `{"type":"compaction","auto":true}`)
	failed := answer("s", `,"summary":true,"parentID":"c","error":{"name":"APIError"}`, said)
	s := session(t, "", user("u", said), asked, failed, user("v", said), answer("b", "", said))
	assert.Equal(t, rollout.Errored, s.Requests[0].Status)
	assert.Equal(t, []string{"said", compactionLine, "said"}, texts(s, 0, 1), "nothing was forgotten")
	s = session(t, "", user("u", said), asked, answer("s", `,"summary":true,"parentID":"c","finish":"stop"`, said), user("v", said), answer("b", "", said))
	assert.Equal(t, []string{compactionLine, "said", "said"}, texts(s, 0, 1), "without a tail all before it is forgotten")
}

func TestSubtask(t *testing.T) {
	task := `{"info":{"id":"a","role":"assistant","time":{"created":3000,"completed":4000},"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}},"parts":[
		{"type":"tool","tool":"task","callID":"c","state":{"status":"completed","input":{"prompt":"p"},"output":"task_id: ses_kid (for resuming)\n\ndone","time":{"start":1,"end":2}}}]}`
	s := session(t, "", user("u", `{"type":"subtask","prompt":"p","description":"d","agent":"explore"}`), task, user("v", said), answer("b", "", said))
	require.Len(t, s.Requests, 1, "the user started the sub-agent, no model was asked")
	assert.Equal(t, []string{subtaskLine, `{"prompt":"p"}`, "task_id: ses_kid (for resuming"}, texts(s, 0, 1)[:3])
	assert.Equal(t, "ses_kid", s.Calls[0].Child)
}

func TestMedia(t *testing.T) {
	call := `{"type":"tool","tool":"read","callID":"c","state":{"status":"completed","input":{},"output":"Image read successfully","time":{"start":1,"end":2,"compacted":5000},"attachments":[{"mime":"image/png","url":"data:image/png;base64,AAAA"},{"mime":"text/plain","url":"data:text/plain,x"}]}}`
	file := `{"type":"file","mime":"application/pdf","url":"file:///x.pdf"},{"type":"file","mime":"application/x-directory","url":"file:///x"}`
	s := session(t, "", user("u", file), answer("a", "", call), answer("b", "", said), strings.ReplaceAll(answer("c2", "", said), "3000", "6000"))
	assert.Equal(t, []string{"{}", "Image read successfully", "#"}, texts(s, 0, 2))
	assert.Equal(t, []string{"{}", clearedResult, "said"}, texts(s, 0, 3), "pruning takes the picture too")
	assert.Contains(t, s.Missing, "attached files", "a file that is only named")
}

func TestTruncations(t *testing.T) {
	for _, c := range []struct {
		tool, input, output string
		want                rollout.Truncation
		handle              string
	}{
		{"bash", `{}`, "...output truncated...\n\nFull output saved to: /t/tool-output/tool_1\n\nend", rollout.Recoverable, "/t/tool-output/tool_1"},
		{"grep", `{}`, "head\n\n...120 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /t/tool-output/tool_2\nUse Grep to search it.", rollout.Recoverable, "/t/tool-output/tool_2"},
		{"webfetch", `{}`, "head\n\n…9000 bytes truncated…\n", rollout.Lost, ""},
		{"bash", `{}`, "x\n\n(Output was truncated due to length limit)", rollout.Lost, ""},
		{"glob", `{}`, "/a\n\n(Results are truncated. Consider using a more specific path or pattern.)", rollout.Lost, ""},
		{"bash", `{}`, "a log that says ...output truncated... in it", rollout.NotTruncated, ""},
		{"read", `{"filePath":"/a"}`, "<content>\n1: x\n\n(Showing lines 1-2000 of 9000. Use offset=2001 to continue.)\n</content>", rollout.Recoverable, "/a"},
		{"read", `{"filePath":"/a","limit":5}`, "<content>\n1: x\n\n(Showing lines 1-5 of 9000. Use offset=6 to continue.)\n</content>", rollout.NotTruncated, ""},
		{"read", `{"filePath":"/a","limit":5000}`, "<content>\n1: x\n\n(Output capped at 50 KB. Showing lines 1-700. Use offset=701 to continue.)\n</content>", rollout.Recoverable, "/a"},
		{"read", `{"filePath":"/a"}`, "<content>\n1: x\n\n(End of file - total 1 lines)\n</content>", rollout.NotTruncated, ""},
	} {
		call := fmt.Sprintf(`{"type":"tool","tool":%q,"callID":"c","state":{"status":"completed","input":%s,"output":%q,"time":{"start":1,"end":2}}}`, c.tool, c.input, c.output)
		s := session(t, "", user("u", said), answer("a", "", call))
		assert.Equal(t, c.want, s.Calls[0].Truncated, c.output)
		assert.Equal(t, c.handle, s.Calls[0].Handle, c.output)
	}
}

func TestRepeatedAndUnknown(t *testing.T) {
	call := `{"id":"prt_1","type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a"}}`
	other := strings.Replace(call, "prt_1", "prt_2", 1)
	s := session(t, "", user("u", said), answer("a", "", call+","+call+","+other+`,{"type":"hologram"},{"type":"hologram"},{"type":"patch"}`), answer("a", "", said), `{"info":{"id":"x","role":"oracle"},"parts":[]}`, `7`)
	require.Len(t, s.Requests, 1)
	require.Len(t, s.Calls, 2)
	assert.Equal(t, "c#2", s.Calls[1].ID)
	assert.ElementsMatch(t, []string{"bad-record×1", "duplicate-record×2", "unknown-record×2", "unknown-record×1", "response-without-usage×1"}, kinds(s))
}

func TestFamilies(t *testing.T) {
	export := func(id, parent string) string {
		return fmt.Sprintf(`{"info":{"id":%q,"parentID":%q,"time":{"created":1000}},"messages":[]}`, id, parent)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	lines := []string{export("ses_c", "ses_b"), export("ses_b", "ses_a"), export("ses_a", ""), export("ses_a", ""), export("ses_x", "ses_y"), export("ses_y", "ses_x"), export("ses_z", "ses_z"), export("ses_q", "ses_gone"), `{"other":1}`}
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	var ids []string
	for _, s := range sessionsOf(t, path) {
		ids = append(ids, s.ID)
	}
	assert.Equal(t, []string{"ses_a", "ses_b", "ses_c", "ses_q", "ses_z", "ses_x", "ses_y"}, ids, "parents first, each once, circles cut")
}

func TestDetect(t *testing.T) {
	for name, want := range map[string]bool{
		`{"info":{"id":"ses_1"},"messages":[]}`:                                          true,
		`{"messages":[],"info":{"id":"ses_1"}}`:                                          true,
		`{"info":{"id":"ses_1"},"messages":{}}`:                                          false,
		`{"info":{"id":"abc"},"messages":[]}`:                                            false,
		`{"id":"ses_1","projectID":"p","time":{"created":1}}`:                            true,
		`{"id":"ses_1","projectID":"p"}`:                                                 false,
		`{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}`:          false,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":""}`: false,
		`{"type":"message","id":"ses_1"}`:                                                false,
		`{}`:                                                                             false,
		`[]`:                                                                             false,
		``:                                                                               false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(name)}), name)
	}
	assert.False(t, Detect(nil))
}

func TestNoSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"a":1}`), 0o600))
	_, err := Read(context.Background(), path)
	assert.ErrorIs(t, err, logfile.ErrNotLog)
}

func TestHomes(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "opencode")
	require.NoError(t, os.Mkdir(data, 0o700))
	for _, name := range []string{"opencode-beta.db", "opencode-beta.db-wal", "opencode.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(data, name), nil, 0o600))
	}
	env := func(vars map[string]string) func(string) string { return func(k string) string { return vars[k] } }
	assert.Equal(t, []string{filepath.Join(data, "opencode.db"), filepath.Join(data, "opencode-beta.db"), filepath.Join(data, "storage", "session")}, Homes(env(map[string]string{"XDG_DATA_HOME": dir, "HOME": "/h"})))
	assert.Equal(t, filepath.FromSlash("/h/.local/share/opencode/opencode.db"), Homes(env(map[string]string{"HOME": "/h"}))[0])
	assert.Empty(t, Homes(env(nil)))
}

func TestTreeDepends(t *testing.T) {
	path := filepath.Join(testdata, "storage/session/p1/ses_old01.json")
	s := sessionsOf(t, path)[0]
	assert.Len(t, Depends(path), s.Records-1, "every message and part is a file")
	assert.Nil(t, Depends(filepath.Join(testdata, "port.export.json")))
}
