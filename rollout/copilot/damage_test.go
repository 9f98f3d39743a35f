package copilot

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

const (
	begin   = `{"type":"session.start","data":{"sessionId":"s","producer":"copilot-agent","copilotVersion":"1.0.102","selectedModel":"m","context":{"cwd":"/w"}},"id":"1","timestamp":"2026-01-01T00:00:00.000Z"}`
	user1   = `{"type":"user.message","data":{"content":"one"},"id":"2","timestamp":"2026-01-01T00:00:01.000Z"}`
	start1  = `{"type":"assistant.turn_start","data":{"turnId":"0"},"id":"3","timestamp":"2026-01-01T00:00:02.000Z"}`
	usage1  = `{"type":"session.usage_record","data":{"usage":{"model":"m","inputTokens":10,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":0,"apiCallId":"c1"}},"id":"4","timestamp":"2026-01-01T00:00:03.000Z"}`
	reply1  = `{"type":"assistant.message","data":{"messageId":"m1","model":"m","content":"two","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{"command":"ls"}}],"turnId":"0","apiCallId":"c1"},"id":"5","timestamp":"2026-01-01T00:00:04.000Z"}`
	answer1 = `{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"a.txt"}},"id":"6","timestamp":"2026-01-01T00:00:05.000Z"}`
	start2  = `{"type":"assistant.turn_start","data":{"turnId":"1"},"id":"7","timestamp":"2026-01-01T00:00:06.000Z"}`
	usage2  = `{"type":"session.usage_record","data":{"usage":{"model":"m","inputTokens":20,"outputTokens":3,"cacheReadTokens":8,"cacheWriteTokens":0,"apiCallId":"c2"}},"id":"8","timestamp":"2026-01-01T00:00:07.000Z"}`
	reply2  = `{"type":"assistant.message","data":{"messageId":"m2","model":"m","content":"three","toolRequests":[],"turnId":"1","apiCallId":"c2"},"id":"9","timestamp":"2026-01-01T00:00:08.000Z"}`
)

func readText(t require.TestingT, lines ...string) ([]*rollout.Session, error) {
	dir, err := os.MkdirTemp("", "copilot")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "events.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return Read(context.Background(), path)
}

func TestDamage(t *testing.T) {
	all := []string{begin, user1, start1, usage1, reply1, answer1, start2, usage2, reply2}
	with := func(old, new string) []string {
		out := slices.Clone(all)
		i := slices.Index(out, old)
		if new == "" {
			return slices.Delete(out, i, i+1)
		}
		out[i] = new
		return out
	}
	whole := []string{"user_text: one", "assistant_text: two", `tool_call: {"command":"ls"}`, "tool_result: a.txt"}
	for name, c := range map[string]struct {
		lines    []string
		payload  []string
		problems []string
	}{
		"whole":              {all, whole, nil},
		"cut line":           {append(slices.Clone(all), user1[:30]), whole, []string{"cut-line"}},
		"bad line":           {with(start2, "{"), whole, []string{"bad-json"}},
		"zeros at the end":   {append(slices.Clone(all), strings.Repeat("\x00", 9000)), whole, []string{"nul-bytes"}},
		"unknown types":      {append(slices.Clone(all), `{"type":"session.new_thing","data":{}}`, `{"type":"session.new_thing","data":[1]}`), whole, []string{"unknown-record"}},
		"event twice":        {with(answer1, answer1+"\n"+answer1), whole, []string{"duplicate-record"}},
		"result twice":       {with(answer1, answer1+"\n"+strings.Replace(answer1, `"6"`, `"66"`, 1)), whole, []string{"second-result"}},
		"result lost":        {with(answer1, ""), whole[:3], []string{"missing-result"}},
		"call lost":          {with(answer1, answer1+"\n"+strings.NewReplacer(`"6"`, `"66"`, "t1", "t9").Replace(answer1)), whole, []string{"result-without-call"}},
		"negative count":     {with(usage2, strings.Replace(usage2, ":20", ":-20", 1)), whole, []string{"usage-inconsistent"}},
		"absurd count":       {with(usage2, strings.Replace(usage2, ":20", ":1e40", 1)), whole, []string{"usage-inconsistent"}},
		"cache beyond input": {with(usage2, strings.Replace(usage2, ":8", ":80", 1)), whole, []string{"usage-inconsistent"}},
		"odd types":          {with(user1, strings.Replace(user1, `"data":{`, `"data":{"attachments":7,"toolRequests":"x","usage":[],"turnId":1,`, 1)), whole, nil},
		"blanks":             {with(usage2, strings.ReplaceAll(usage2, ":", ": ")), whole, nil},
	} {
		t.Run(name, func(t *testing.T) {
			sessions, err := readText(t, c.lines...)
			require.NoError(t, err)
			require.Len(t, sessions, 1)
			s := sessions[0]
			require.Len(t, s.Requests, 2)
			assert.Equal(t, c.payload, texts(s, 1))
			assert.Equal(t, c.problems, problems(s))
			assert.EqualValues(t, 3, *s.Requests[1].Usage.Output)
		})
	}
}

// A usage record whose message never came was billed all the same.
func TestUsageWithoutMessage(t *testing.T) {
	sessions, err := readText(t, begin, user1, start1, usage1, reply1, answer1, start2, usage2)
	require.NoError(t, err)
	s := sessions[0]
	require.Len(t, s.Requests, 2)
	assert.Equal(t, rollout.InFlight, s.Requests[1].Status)
	require.Len(t, s.OtherBilled, 1)
	assert.EqualValues(t, 20, *s.OtherBilled[0].Usage.Input)
}

func TestTotalsThatDisagree(t *testing.T) {
	shutdown := `{"type":"session.shutdown","data":{"modelMetrics":{"m":{"requests":{"count":2},"usage":{"inputTokens":31,"outputTokens":5}}}}}`
	sessions, err := readText(t, begin, user1, start1, usage1, reply1, answer1, start2, usage2, reply2, shutdown)
	require.NoError(t, err)
	assert.Equal(t, []string{"totals-disagree"}, problems(sessions[0]))
}

// An interrupted agent is asked again before its call has a result; the result
// goes in front of what was typed.
func TestResultsStandBeforeWhatWasTyped(t *testing.T) {
	steer := strings.NewReplacer(`"2"`, `"22"`, "one", "stop").Replace(user1)
	sessions, err := readText(t, begin, user1, start1, usage1, reply1, steer, answer1, start2, usage2, reply2)
	require.NoError(t, err)
	assert.Equal(t, []string{"user_text: one", "assistant_text: two", `tool_call: {"command":"ls"}`, "tool_result: a.txt", "user_text: stop"}, texts(sessions[0], 1))
}

func TestSystemPromptChanges(t *testing.T) {
	system := func(id, text string) string {
		return `{"type":"system.message","data":{"role":"system","content":"` + text + `"},"id":"` + id + `"}`
	}
	sessions, err := readText(t, begin, system("a", "old"), user1, start1, usage1, reply1, answer1, system("b", "old"), system("c", "new"), start2, usage2, reply2)
	require.NoError(t, err)
	s := sessions[0]
	assert.Equal(t, "system_prompt: old", texts(s, 0)[0])
	assert.Equal(t, "system_prompt: new", texts(s, 1)[0])
	assert.NotContains(t, texts(s, 1), "system_prompt: old")
}

func TestContextCleared(t *testing.T) {
	cleared := `{"type":"session.context_cleared","data":{"initialMessage":"anew"},"id":"x"}`
	sessions, err := readText(t, begin, user1, start1, usage1, reply1, answer1, cleared, start2, usage2, reply2)
	require.NoError(t, err)
	assert.Equal(t, []string{"user_text: anew"}, texts(sessions[0], 1))
}

// What was said while a compaction ran stays behind its summary.
func TestCompactionInTheBackground(t *testing.T) {
	from := `{"type":"session.compaction_start","data":{},"id":"x"}`
	to := `{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"sum"},"id":"y"}`
	steer := strings.NewReplacer(`"2"`, `"22"`, "one", "more").Replace(user1)
	third := strings.NewReplacer(`"9"`, `"99"`, "c2", "c3", "m2", "m3").Replace(reply2)
	sessions, err := readText(t, begin, user1, start1, usage1, reply1, answer1, from, start2, usage2, reply2, steer, to, third)
	require.NoError(t, err)
	assert.Equal(t, []string{"summary: sum", "assistant_text: three", "user_text: more"}, texts(sessions[0], 2))

	failed := strings.Replace(to, `"success":true`, `"success":false`, 1)
	sessions, err = readText(t, begin, user1, start1, usage1, reply1, answer1, from, failed, start2, usage2, reply2)
	require.NoError(t, err)
	assert.Len(t, texts(sessions[0], 1), 4, "a failed compaction changes nothing")
}

// Older builds tell a sub-agent's events only by the call that started it.
func TestSubAgentWithoutID(t *testing.T) {
	child := strings.NewReplacer(`"turnId":"1"`, `"turnId":"0","parentToolCallId":"t1"`, `"9"`, `"99"`, "c2", "c9").Replace(reply2)
	sessions, err := readText(t, begin, user1, start1, usage1, reply1, child, answer1, start2, usage2, reply2)
	require.NoError(t, err)
	require.Len(t, sessions, 2)
	assert.Equal(t, "s/t1", sessions[1].ID)
	assert.Equal(t, "t1", sessions[1].ParentCall)
	assert.Equal(t, "s/t1", sessions[0].Calls[0].Child)
	assert.Len(t, sessions[0].Requests, 2)
}

func TestDetect(t *testing.T) {
	document := `{"timeline":[],"chatMessages":[],"startTime":"2025-10-11T09:00:00Z","sessionId":"x"}`
	for text, want := range map[string]bool{
		begin: true,
		`{"id":"1","data":{"copilotVersion":"0.0.36"},"type":"session.start"}`: true,
		`{"type":"session.start","data":{"version":1}}`:                        false,
		user1: false, document: true,
		strings.Replace(document, `"chatMessages":[]`, `"chatMessages":{}`, 1): false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(text)}), text)
	}
	assert.False(t, Detect(nil))
}

func TestHomes(t *testing.T) {
	env := map[string]string{"HOME": "/h"}
	get := func(k string) string { return env[k] }
	assert.Equal(t, []string{filepath.Join("/h", ".copilot", "session-state"), filepath.Join("/h", ".copilot", "history-session-state")}, Homes(get))
	env["COPILOT_HOME"] = "/c"
	assert.Equal(t, filepath.Join("/c", "session-state"), Homes(get)[0])
}

func TestNoLog(t *testing.T) {
	for _, text := range []string{"", "\x00\x00", "[1]", `{"a":1}`} {
		_, err := readText(t, text)
		assert.ErrorIs(t, err, logfile.ErrNotLog, "%q", text)
	}
}

// TestRealTotals counts usage records, or else messages, of the real files by
// plain decoding, and holds the sum against the totals they state.
func TestRealTotals(t *testing.T) {
	for _, name := range []string{"rec-openai.events.jsonl", "vct-1.0.34.events.jsonl"} {
		path := devdata.Dir(t, "copilot-cli", name)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var records, input, output, messageOutput, messages int64
		var last map[string]any
		for dec := json.NewDecoder(strings.NewReader(string(raw))); dec.More(); {
			var e struct {
				Type string
				Data map[string]any
			}
			require.NoError(t, dec.Decode(&e))
			switch e.Type {
			case "session.usage_record":
				u := e.Data["usage"].(map[string]any)
				records++
				input, output = input+int64(u["inputTokens"].(float64)), output+int64(u["outputTokens"].(float64))
			case "assistant.message":
				if n, ok := e.Data["outputTokens"].(float64); ok {
					messageOutput += int64(n)
					messages++
				}
			case "session.shutdown":
				last = e.Data["modelMetrics"].(map[string]any)
			}
		}
		if records == 0 {
			records, output = messages, messageOutput
		}
		sessions, err := Read(context.Background(), path)
		require.NoError(t, err)
		total, requests := make([]int64, 5), int64(0)
		for _, s := range sessions {
			requests += int64(len(s.Requests))
			for i, n := range sum(s) {
				total[i] += n
			}
		}
		assert.Equal(t, records, requests, name)
		assert.Equal(t, []int64{input, output}, []int64{total[0], total[3]}, name)
		var stated int64
		for _, m := range last {
			stated += int64(m.(map[string]any)["usage"].(map[string]any)["outputTokens"].(float64))
		}
		assert.Equal(t, stated, total[3], name)
	}
}

func TestRealLegacy(t *testing.T) {
	path := devdata.Dir(t, "copilot-cli", "vct-legacy-b.session.json")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var d struct{ Timeline []struct{ Type string } }
	require.NoError(t, json.Unmarshal(raw, &d))
	calls := 0
	for _, e := range d.Timeline {
		if e.Type == "tool_call_completed" {
			calls++
		}
	}
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	assert.Len(t, sessions[0].Calls, calls)
	for _, c := range sessions[0].Calls {
		assert.GreaterOrEqual(t, c.ResultItem, 0)
	}
}

func onlyNoLog(t require.TestingT, err error) {
	if err != nil {
		require.ErrorIs(t, err, logfile.ErrNotLog)
	}
}

func seeds(t require.TestingT) [][]byte {
	var out [][]byte
	for _, pattern := range []string{"*.json*", "*/*/*.jsonl"} {
		files, err := filepath.Glob(filepath.Join(fixtures, pattern))
		require.NoError(t, err)
		for _, name := range files {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			out = append(out, raw)
		}
	}
	return out
}

// Lines swapped, repeated and lost, IDs mixed up.
func TestShuffledLines(t *testing.T) {
	files := seeds(t)
	rapid.Check(t, func(r *rapid.T) {
		lines := strings.Split(string(rapid.SampledFrom(files).Draw(r, "file")), "\n")
		for range rapid.IntRange(1, 8).Draw(r, "edits") {
			i := rapid.IntRange(0, len(lines)-1).Draw(r, "line")
			j := rapid.IntRange(0, len(lines)-1).Draw(r, "other")
			switch rapid.IntRange(0, 3).Draw(r, "edit") {
			case 0:
				lines[i], lines[j] = lines[j], lines[i]
			case 1:
				lines = slices.Insert(lines, i, strings.Replace(lines[j], `"id":`, `"was":`, 1))
			case 2:
				lines[i] = ""
			case 3:
				lines[i] = strings.NewReplacer(`"t1"`, `"t2"`, `"c1"`, `"c2"`, `"c9"`, `"c10"`, `"agentId"`, `"agent"`).Replace(lines[i])
			}
		}
		_, err := readText(r, lines...)
		onlyNoLog(r, err)
	})
}

func FuzzRead(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw)
	}
	f.Add([]byte(strings.Join([]string{begin, user1, start1, usage1, reply1, answer1, start2, usage2, reply2}, "\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_, err := Read(context.Background(), path)
		onlyNoLog(t, err)
	})
}
