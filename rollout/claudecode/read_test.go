package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const fixtures = "../../testdata/claude-code/projects/-home-dev-demo"

func fixture(n int) string {
	return filepath.Join(fixtures, fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d.jsonl", n))
}

func read(t testing.TB, path string) []*rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	return sessions
}

// texts writes out what a request carried: kind and text of every part in order.
func texts(s *rollout.Session, request int) []string {
	var out []string
	for _, sp := range spansAt(s, request) {
		text := s.Texts[sp.Text]
		if text.Opaque {
			text.S = "opaque"
		}
		out = append(out, string(s.Items[sp.Item].Kind)+": "+text.S)
	}
	return out
}

func problems(s *rollout.Session) map[string]int {
	out := map[string]int{}
	for _, p := range s.Problems {
		out[p.Kind] += p.Count
	}
	return out
}

func TestParallelCallsAndNoise(t *testing.T) {
	s := read(t, fixture(1))[0]
	require.Len(t, s.Requests, 3)

	first := s.Requests[0]
	assert.Equal(t, "msg_1+req_1", first.ID)
	assert.Equal(t, int64(10+1000), *first.Usage.Input)
	assert.Equal(t, int64(60), *first.Usage.Output, "of the copy with the largest output")
	assert.Equal(t, []string{"user_text: Check the tests"}, texts(s, 0))

	conversation := []string{
		"user_text: Check the tests",
		"assistant_text: Looking.",
		`tool_call: {"command":"go test ./..."}`,
		`tool_call: {"file_path":"/home/dev/demo/shot.png"}`,
		"tool_result: ok  \tdemo\t0.1s",
		"image: opaque",
	}
	assert.Equal(t, conversation, texts(s, 1))
	assert.Equal(t, append(conversation, "assistant_text: All green.", "user_text: Thanks, and now?"), texts(s, 2))

	assert.Equal(t, []int{1, 1, 2}, []int{s.Requests[0].Run, s.Requests[1].Run, s.Requests[2].Run})
	assert.Equal(t, map[string]int{"unknown-record": 1}, problems(s))
	for _, it := range s.Items {
		if it.Kind == rollout.Image {
			require.NotNil(t, it.Tokens)
			assert.Equal(t, int64(750*750/750), *it.Tokens)
		}
	}
	for _, text := range s.Texts {
		assert.NotContains(t, text.S, "NEVER")
		assert.NotContains(t, text.S, "never sent")
		assert.NotContains(t, text.S, "noise")
	}
}

func TestRewindLeavesAnAbandonedChain(t *testing.T) {
	s := read(t, fixture(2))[0]
	require.Len(t, s.Requests, 4)
	var chains, numbers []int
	for _, r := range s.Requests {
		chains, numbers = append(chains, r.Chain), append(numbers, r.Number)
	}
	assert.Equal(t, []int{0, 1, 0, 0}, chains)
	assert.Equal(t, []int{1, 1, 2, 3}, numbers)
	stem := []string{"user_text: Write a poem", "assistant_text: Roses are red"}
	assert.Equal(t, append(stem, "user_text: Make it longer"), texts(s, 1))
	assert.Equal(t, append(stem, "user_text: Make it shorter"), texts(s, 2))
	assert.Equal(t, append(stem, "user_text: Make it shorter", "assistant_text: Roses", "user_text: Good"), texts(s, 3))
}

func TestTextKinds(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                                  "user_text:",
		"<system-reminder>x</system-reminder>\n": "reminder:",
		"<system-reminder>x</system-reminder>\nhello": "user_text:with-reminder",
		"hello <system-reminder>x</system-reminder>":  "user_text:with-reminder",
		"<task-notification>x":                        "reminder:task-notification",
		"<command-name>/mcp</command-name>":           "user_text:local-command",
		"[Request interrupted by user]":               "reminder:interrupted",
	} {
		kind, label := plainKind(text)
		assert.Equal(t, want, string(kind)+":"+label, text)
	}
}

func TestOnlyLooks(t *testing.T) {
	for command, want := range map[string]bool{
		"ls -la":                               true,
		"git log --oneline | head -20":         true,
		"cd x && grep -rn foo . 2>/dev/null":   true,
		"tail -5 a.log 2>&1 | sort | uniq -c":  true,
		"cat a > b":                            false,
		"git commit -m x":                      false,
		"ls && rm -rf x":                       false,
		"echo $(rm x)":                         false,
		"sleep 100 &":                          false,
		"go test ./...":                        false,
		"":                                     false,
		"git diff --stat; git status --short;": true,
	} {
		assert.Equal(t, want, onlyLooks(command), command)
	}
}

func TestOnlyWaits(t *testing.T) {
	for command, want := range map[string]bool{
		"sleep 30 && tail -50 /tmp/tasks/b1.output":                                           true,
		"tail -5 /tmp/tasks/a.output 2>/dev/null; echo \"---\"; wc -l b":                      true,
		"sleep 8 && grep -i \"ready\\|error\" x.log | tail -5":                                true,
		"until curl -sf http://localhost:3000/health; do sleep 2; done":                       true,
		"for i in $(seq 1 30); do docker info &>/dev/null && echo up && break; sleep 2; done": true,
		"while ! nc -z localhost 5432; do sleep 1; done":                                      true,
		"sleep 20; gh run view 17":                                                            true,
		"kill 3066 3078 2>/dev/null; sleep 1; ps aux | grep nest":                             false,
		"pkill server; sleep 2; tail -5 /tmp/tasks/b1.output":                                 false,
		"sleep 2 && npm test":                                                                 false,
		"sleep 2; curl -X POST http://localhost:3000/reset":                                   false,
		"./start.sh & sleep 3; tail log":                                                      false,
		"sleep 1; rm -rf build":                                                               false,
	} {
		assert.Equal(t, want, onlyWaits(command), command)
	}
}

func TestPollStatus(t *testing.T) {
	for text, want := range map[string]rollout.PollClass{
		"<status>running</status>\n\n<timestamp>2026-01-02T03:04:05.678Z</timestamp>":         rollout.PollEmpty,
		"<status>running</status>\n<stdout>\nmore\n</stdout>":                                 rollout.PollProgress,
		"<status>completed</status>\n<exit_code>0</exit_code>":                                rollout.PollFinal,
		"<retrieval_status>not_ready</retrieval_status>\n<status>running</status>":            rollout.PollEmpty,
		"<retrieval_status>success</retrieval_status>\n<status>completed</status>\n<output>x": rollout.PollFinal,
		"something else": rollout.PollUnknown,
	} {
		assert.Equal(t, want, pollStatus(text), text)
	}
}

func TestCompactionAndClearing(t *testing.T) {
	s := read(t, fixture(3))[0]
	require.Len(t, s.Requests, 11)

	carried := func(request int) (whole, cleared, inferred int) {
		for _, sp := range spansAt(s, request) {
			it := s.Items[sp.Item]
			switch text := s.Texts[sp.Text].S; {
			case it.Kind != rollout.ToolResult:
			case text == clearedText && it.Origin == rollout.Inferred:
				inferred++
			case text == clearedText:
				cleared++
			default:
				whole++
			}
		}
		return
	}
	for _, c := range []struct{ request, whole, cleared, inferred int }{
		{7, 7, 0, 0},
		{8, 6, 2, 0}, // the boundary lists the results of calls 1 and 2
		// The total falls by 2,150 although about 22 tokens came in. Results 3 and 4
		// are worth (3,300 - 33) / 3 = 1,089 tokens each; the last five stay.
		{9, 5, 2, 2},
	} {
		whole, cleared, inferred := carried(c.request)
		assert.Equal(t, []int{c.whole, c.cleared, c.inferred}, []int{whole, cleared, inferred}, "request %d", c.request)
	}
	assert.Equal(t, map[string]int{"silent-clearing": 1}, problems(s))

	assert.Equal(t, []string{
		"summary: This session is being continued from a previous conversation. All files were read.",
		"assistant_text: Reading done.",
		"user_text: Go on",
	}, texts(s, 10))
	require.Len(t, s.OtherBilled, 1)
	assert.Equal(t, int64(5160), *s.OtherBilled[0].Usage.Input)
	assert.Equal(t, int64(82/3), *s.OtherBilled[0].Usage.Output, "82 characters of summary")
	assert.True(t, s.OtherBilled[0].Estimate)
	assert.Contains(t, s.Missing, "compaction request")
}

func TestSubAgents(t *testing.T) {
	path := fixture(4)
	sessions := read(t, path)
	require.Len(t, sessions, 3)
	main, a, d := sessions[0], sessions[1], sessions[2]
	assert.Equal(t, []string{main.ID + "/a1b2c3", main.ID + "/d4e5f6"}, []string{a.ID, d.ID})
	assert.Equal(t, []string{"call_T", "call_U"}, []string{a.ParentCall, d.ParentCall})
	assert.Equal(t, []string{a.ID, d.ID}, []string{main.Calls[0].Child, main.Calls[1].Child})
	assert.Equal(t, int64(1500), *main.Calls[0].DurationMS)
	assert.Len(t, main.Requests, 2)
	assert.Equal(t, []string{
		"user_text: Find Y", `tool_call: {"pattern":"Y"}`, "tool_result: y.go",
	}, texts(d, 1))
	assert.Equal(t, []string{
		"user_text: Use two agents",
		`tool_call: {"subagent_type":"Explore","prompt":"Find X"}`,
		`tool_call: {"subagent_type":"Explore","prompt":"Find Y"}`,
		"tool_result: X is here\nagentId: a1b2c3",
		"tool_result: Y is in y.go",
	}, texts(main, 1))

	companions := Companions(path)
	own := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-a1b2c3.jsonl")
	assert.Equal(t, []string{own}, companions, "the journal is no session")
	file := read(t, own)[0]
	assert.Equal(t, a.ID, file.ID)
	assert.Equal(t, "Explore", file.Agent)
	assert.Equal(t, "call_T", file.ParentCall)
	assert.Equal(t, a.Requests[0].ID, file.Requests[0].ID)
	assert.Equal(t, []string{strings.TrimSuffix(own, ".jsonl") + ".meta.json"}, Depends(own))
	assert.Nil(t, Depends(path))
	assert.Nil(t, Companions(own))
}

func TestInlineSideChains(t *testing.T) {
	sessions := read(t, fixture(5))
	require.Len(t, sessions, 3)
	main := sessions[0]
	assert.Len(t, main.Requests, 2)
	for i, want := range []struct {
		prompt, call string
		output       int64
	}{{"Count apples", "call_1", 6}, {"Count pears", "call_2", 7}} {
		s := sessions[i+1]
		require.Len(t, s.Requests, 1)
		assert.Equal(t, []string{"user_text: " + want.prompt}, texts(s, 0))
		assert.Equal(t, want.call, s.ParentCall)
		assert.Equal(t, main.ID, s.ParentID)
		assert.Equal(t, want.output, *s.Requests[0].Usage.Output)
		assert.Equal(t, s.ID, main.Calls[i].Child)
	}
	beside := Companions(fixture(5))
	require.Equal(t, []string{filepath.Join(fixtures, "agent-beef01.jsonl")}, beside, "beef02 carries another session's ID")
	assert.Equal(t, rollout.KindWarmUp, read(t, beside[0])[0].Requests[0].Kind)
}

func TestBackgroundWork(t *testing.T) {
	s := read(t, fixture(6))[0]
	require.Len(t, s.Calls, 8)
	require.Len(t, s.Requests, 9)
	assert.Equal(t, "msg_1@"+s.ID, s.Requests[0].ID, "no request ID: only copies in this session are the same")

	type facts struct {
		class                          rollout.ToolClass
		task                           string
		starts                         bool
		poll                           rollout.PollClass
		truncated                      rollout.Truncation
		handle, recovers               string
		denied, ran, readOnly, mutates bool
	}
	const stored = "/home/dev/.claude/projects/-home-dev-demo/s/tool-results/call_6.txt"
	want := []facts{
		{class: rollout.ShellTool, task: "b463a86", starts: true, ran: true, mutates: true},
		{class: rollout.ShellTool, task: "b463a86", poll: rollout.PollProgress, ran: true, readOnly: true},
		{class: rollout.ShellTool, task: "b463a86", poll: rollout.PollEmpty, ran: true, readOnly: true},
		{class: rollout.PollTool, task: "b463a86", poll: rollout.PollProgress, ran: true, readOnly: true},
		{class: rollout.ShellTool, denied: true, mutates: true},
		{class: rollout.ShellTool, ran: true, readOnly: true, truncated: rollout.Recoverable, handle: stored},
		{class: rollout.ReadTool, ran: true, readOnly: true, recovers: stored},
		{class: rollout.ReadTool, task: "b463a86", poll: rollout.PollFinal, ran: true, readOnly: true},
	}
	for i, c := range s.Calls {
		got := facts{c.Class, c.Task, c.Starts, c.Poll, c.Truncated, c.Handle, c.Recovers, c.Denied, c.Ran, c.ReadOnly, c.Mutates}
		assert.Equal(t, want[i], got, "call %d", i+1)
	}
	assert.Equal(t, "100:50", s.Calls[6].Range)
	assert.True(t, *s.Calls[4].Failed)
	assert.Equal(t, 2, s.Requests[7].Run, "a notification starts a run")
}

func TestAttachmentsAndSnapshot(t *testing.T) {
	s := read(t, fixture(7))[0]
	start := []string{
		`tool_definitions: {"name":"Read","description":"Reads.","input_schema":{}}`,
		"system_prompt: You are a helper.",
		"system_prompt: # Environment",
		"user_text: Hello",
		"project_context: <system-reminder>\nUse tabs.\n</system-reminder>",
		"reminder: Cron\nMonitor",
	}
	assert.Equal(t, start, texts(s, 0))
	assert.Equal(t, append(start, "reasoning: opaque", "assistant_text: Hi", "user_text: And the weather?"), texts(s, 1))
	for _, it := range s.Items {
		if it.Kind == rollout.Reasoning {
			require.NotNil(t, it.Tokens)
			assert.Equal(t, int64(45), *it.Tokens)
		}
	}
	assert.Equal(t, []string{"reasoning text", "helper requests"}, s.Missing)
}

func TestRequestsLoggedByHash(t *testing.T) {
	s := read(t, fixture(8))[0]
	require.Len(t, s.Requests, 5)
	var status []rollout.Status
	var attempts []int
	for _, r := range s.Requests {
		status, attempts = append(status, r.Status), append(attempts, r.Attempt)
	}
	assert.Equal(t, []rollout.Status{rollout.Answered, rollout.Errored, rollout.Answered, rollout.Answered, rollout.Answered}, status)
	assert.Equal(t, []int{1, 1, 2, 1, 1}, attempts)
	bash := `tool_definitions: {"name":"Bash","description":"Runs.","input_schema":{}}`
	body := []string{
		"system_prompt: You are Claude.",
		"reminder: <system-reminder>\nUse tabs.\n</system-reminder>",
		"user_text: List the files",
		"project_context: # Environment\nLinux",
	}
	turn := append(append([]string{}, body...), `tool_call: {"command":"ls"}`, `tool_call: {"command":"pwd"}`, "tool_result: a.go\nb.go", "tool_result: /home/dev/demo")
	assert.Equal(t, append([]string{bash}, body...), texts(s, 0))
	assert.Equal(t, append([]string{bash}, turn...), texts(s, 1), "a failed attempt carried its payload")
	assert.Equal(t, append([]string{bash}, turn...), texts(s, 2))
	cron := `tool_definitions: {"name":"Cron","description":"Waits.","input_schema":{}}`
	assert.Equal(t, append(append([]string{bash, cron}, turn...), "assistant_text: Two files.", "user_text: Wait for changes"), texts(s, 3))
	assert.Equal(t, []int{1, 1, 1, 2}, []int{s.Requests[0].Run, s.Requests[1].Run, s.Requests[2].Run, s.Requests[3].Run})
	assert.Empty(t, s.Problems)
	assert.Nil(t, s.Requests[1].Usage.Input)
	assert.Equal(t, int64(6), *s.Requests[3].Messages)

	assert.Equal(t, []string{
		bash, cron, "system_prompt: You are Claude.", "project_context: # Environment\nLinux",
		"summary: This session is being continued from a previous conversation. There are two files.", "user_text: Go on",
	}, texts(s, 4), "after a compaction the whole list is logged anew")
	require.Len(t, s.OtherBilled, 1)
	assert.Equal(t, int64(195), *s.OtherBilled[0].Usage.Input)
}

// Totals of the fixtures, counted by hand: requests and input of each file with
// what belongs to it.
func TestFixtureTotals(t *testing.T) {
	for _, c := range []struct{ file, requests, input, output int }{
		{1, 3, 1010 + 1315 + 1339, 60 + 12 + 8},
		{2, 4, 100 + 120 + 121 + 130, 5 + 9 + 2 + 2},
		{3, 11, (500+8340)*8/2 + 7300 + 5150 + 600, 9*20 + 5 + 4},
		{4, 5, 200 + 300 + 60 + 65 + 93, 60 + 6 + 40 + 1 + 7},
		{5, 5, 100 + 150 + 30 + 31 + 40, 20 + 5 + 6 + 7 + 3},
		{6, 9, 100 + 150 + 190 + 230 + 270 + 300 + 400 + 450 + 480, 20 + 7*25 + 9},
		{7, 2, 300 + 360, 50 + 3},
		{8, 5, 100 + 150 + 190 + 90, 40 + 5 + 3 + 2},
	} {
		seen := map[string]bool{}
		var requests int
		var input, output int64
		for _, s := range readAll(t, fixture(c.file)) {
			for _, r := range s.Requests {
				if r.ID == "" || !seen[r.ID] {
					seen[r.ID] = true
					requests, input, output = requests+1, input+value(r.Usage.Input), output+value(r.Usage.Output)
				}
			}
		}
		assert.Equal(t, []int{c.requests, c.input, c.output}, []int{requests, int(input), int(output)}, "file %d", c.file)
	}
}

func TestReadingTwiceGivesTheSame(t *testing.T) {
	for n := 1; n <= 8; n++ {
		assert.Equal(t, read(t, fixture(n)), read(t, fixture(n)), "file %d", n)
	}
}

func TestDetect(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.jsonl"))
	require.NoError(t, err)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.True(t, Detect(split(string(raw))), f)
	}
	for _, other := range []string{
		`{"type":"started"}`,
		`{"type":"session_meta","payload":{"id":"x"}}`,
		`{"type":"user","session_id":"s","uuid":"u","message":{}}`,
		`{"type":"message","sessionId":"s"}`,
		`[1]`,
		``,
	} {
		assert.False(t, Detect(split(other)), other)
	}
}

func split(s string) [][]byte {
	var out [][]byte
	for _, l := range strings.Split(s, "\n") {
		out = append(out, []byte(l))
	}
	return out[:min(len(out), 20)]
}

func TestHomes(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	assert.Equal(t, []string{"/c/projects"}, Homes(env(map[string]string{"CLAUDE_CONFIG_DIR": "/c", "HOME": "/h"})))
	assert.Equal(t, []string{"/h/.claude/projects", "/h/.config/claude/projects"}, Homes(env(map[string]string{"HOME": "/h"})))
	assert.Empty(t, Homes(env(nil)))
}
