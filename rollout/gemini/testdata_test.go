package gemini

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

const (
	chats    = "../../testdata/gemini-cli/project/chats"
	mainFile = chats + "/session-2026-05-04T09-00-5f0c1a2b.jsonl"
	stubFile = chats + "/session-2026-05-04T09-05-5f0c1a2b.jsonl"
	oldFile  = chats + "/session-2025-11-02T08-00-77aa00bb.json"
	mainID   = "5f0c1a2b-1111-4222-8333-944444444444"
	subID    = "c0ffee00-aaaa-4bbb-8ccc-dddddddddddd"
	subFile  = chats + "/" + mainID + "/" + subID + ".jsonl"
)

type totals struct {
	requests, answered, calls           int
	input, cacheRead, output, reasoning int64
}

func total(s *rollout.Session) totals {
	t := totals{requests: len(s.Requests), calls: len(s.Calls)}
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	for _, r := range s.Requests {
		if r.Status == rollout.Answered {
			t.answered++
		}
		t.input += value(r.Usage.Input)
		t.cacheRead += value(r.Usage.CacheRead)
		t.output += value(r.Usage.Output)
		t.reasoning += value(r.Usage.Reasoning)
	}
	return t
}

// TestTotals: the numbers of testdata/gemini-cli/README.md.
func TestTotals(t *testing.T) {
	for path, want := range map[string]totals{
		mainFile: {requests: 20, answered: 19, calls: 15, input: 159150, cacheRead: 138408, output: 519, reasoning: 75},
		stubFile: {},
		subFile:  {requests: 2, answered: 2, calls: 2, input: 6200, cacheRead: 2944, output: 50},
		oldFile:  {requests: 2, answered: 2, calls: 3, input: 10407, cacheRead: 5096, output: 80, reasoning: 10},
	} {
		s := readOne(t, path)
		assert.Equal(t, want, total(s), path)
		assert.Empty(t, s.Problems, path)
		assert.Equal(t, "/home/dev/shop", s.CWD, path)
	}
}

// payload lists the texts that request number n carried, in order.
func payload(s *rollout.Session, n int) []string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.First <= n && n <= sp.Last {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	var out []string
	for _, sp := range spans {
		out = append(out, s.Texts[sp.Text].S)
	}
	return out
}

// starts cuts texts to what tells them apart.
func begin(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		s = strings.TrimSpace(s)
		out[i] = s[:min(len(s), 22)]
	}
	return out
}

func TestPayloads(t *testing.T) {
	s := readOne(t, mainFile)
	assert.Equal(t, []string{"<session_context>\nThis", "Why does the shop test"}, begin(payload(s, 1)))
	assert.Equal(t, []string{
		"<session_context>\nThis", "Why does the shop test", "I look for the test fi",
		`{"pattern":"TestShop"}`, `{"dir_path":"."}`, "Found 1 match for patt", "catalog.go\nshop.go\nsho",
	}, begin(payload(s, 2)), "both calls, then both results, each once; no reasoning")

	before, masked := payload(s, 14), payload(s, 15)
	require.Len(t, masked, len(before)+4, "the last two calls and their results")
	changed := 0
	for i := range before {
		if before[i] != masked[i] {
			changed++
			assert.Contains(t, masked[i], "<tool_output_masked>")
		}
	}
	assert.Equal(t, 2, changed, "what a checkpoint masks changes in place")

	wrong, right := payload(s, 16), payload(s, 17)
	assert.Equal(t, "Now rename the shop.", wrong[len(wrong)-1])
	assert.Equal(t, "Leave the name.", right[len(right)-1])
	assert.Equal(t, wrong[:len(wrong)-1], right[:len(right)-1], "a rewind takes the prompt and its answer out")

	assert.Equal(t, []string{
		"<session_context>\nThis", "<state_snapshot>\nThe t", "Got it. Thanks for the", "Leave the name.", "The name stays.", "Show me shop.go.",
	}, begin(payload(s, 18)), "a compression leaves its summary and the tail")
	require.Len(t, s.OtherBilled, 1, "the call that wrote it is billed and not logged")

	assert.Equal(t, []string{"Show me shop.go.", `{"file_path":"shop.go"`, "package shop\n\nvar cost", "package shop\n\nvar cost", "It has one variable.", "Thanks. Is it exported"},
		begin(payload(s, 20))[5:], "a resume sends results twice")
}

// TestItemsStayThemselves: what stays through checkpoints is one item, whatever
// IDs its messages get.
func TestItemsStayThemselves(t *testing.T) {
	s := readOne(t, mainFile)
	for i, it := range s.Items {
		if it.Kind != rollout.ToolCall {
			continue
		}
		spans := 0
		for _, sp := range s.Spans {
			if sp.Item == i {
				spans++
			}
		}
		assert.LessOrEqual(t, spans, 1, "call %s", it.CallID)
	}
	env := 0
	for _, it := range s.Items {
		if it.Kind == rollout.ProjectContext {
			env++
		}
	}
	assert.Equal(t, 1, env)
}

func TestRuns(t *testing.T) {
	var runs []int
	for _, r := range readOne(t, mainFile).Requests {
		runs = append(runs, r.Run)
	}
	assert.Equal(t, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 6, 6, 7}, runs, "a run for each prompt, none for a checkpoint")
}

func TestCalls(t *testing.T) {
	yes, no := true, false
	s := readOne(t, mainFile)
	calls := map[string]rollout.Call{}
	for _, c := range s.Calls {
		calls[c.ID] = c
	}
	for id, want := range map[string]rollout.Call{
		"grep_1":  {Class: rollout.SearchTool, ReadOnly: true, Failed: &no},
		"list_1":  {Class: rollout.ReadTool, ReadOnly: true, Path: ".", Failed: &no},
		"read_1":  {Class: rollout.ReadTool, ReadOnly: true, Path: "catalog.go", Truncated: rollout.Recoverable, Handle: "catalog.go", Failed: &no},
		"read_2":  {Class: rollout.ReadTool, ReadOnly: true, Path: "catalog.go", Range: "2000:400", Recovers: "catalog.go", Failed: &no},
		"edit_1":  {Class: rollout.EditTool, Mutates: true, Path: "shop.go", Failed: &no},
		"sh_1":    {Class: rollout.ShellTool, Command: "go test ./...", Failed: &yes},
		"bg_1":    {Class: rollout.ShellTool, Mutates: true, Command: "./soak.sh", Task: "4711", Starts: true, Failed: &no},
		"poll_1":  {Class: rollout.PollTool, ReadOnly: true, Task: "4711", Poll: rollout.PollEmpty, Failed: &no},
		"poll_2":  {Class: rollout.PollTool, ReadOnly: true, Task: "4711", Poll: rollout.PollProgress, Failed: &no},
		"poll_3":  {Class: rollout.PollTool, ReadOnly: true, Task: "4711", Poll: rollout.PollFinal, Failed: &no},
		"agent_1": {Class: rollout.AgentTool, Mutates: true, Child: subID, Failed: &no},
		"sh_4":    {Class: rollout.ShellTool, Mutates: true, Command: "rm -rf cache", Denied: true},
	} {
		got, ok := calls[id]
		require.True(t, ok, id)
		assert.GreaterOrEqual(t, got.ArgsItem, 0, id)
		assert.GreaterOrEqual(t, got.ResultItem, 0, id)
		assert.Equal(t, !want.Denied, got.Ran, id)
		want.Request, want.ID, want.Tool, want.Args, want.ArgsItem, want.ResultItem = got.Request, id, got.Tool, got.Args, got.ArgsItem, got.ResultItem
		want.Ran, want.Time, want.Line = got.Ran, got.Time, got.Line
		assert.Equal(t, want, got, id)
	}
	cut := calls["sh_3"]
	assert.Equal(t, rollout.Recoverable, cut.Truncated)
	require.NotNil(t, cut.Full)
	assert.Equal(t, "line one\nand twenty more bytes\nline end", s.Texts[*cut.Full].S)
}

func TestOldForm(t *testing.T) {
	s := readOne(t, oldFile)
	sent := payload(s, 2)
	require.Len(t, sent, 8)
	assert.Equal(t, []string{"What does the logo sho", `{"absolute_path":"/hom`, `{"absolute_path":"/hom`, `{"command":"open logo.`, "# Shop", "Binary content provide", "", "[Operation Cancelled] "},
		begin(sent), "the split-off calls belong to the answer before them; all results follow all calls")
	assert.True(t, s.Calls[2].Denied)
	assert.False(t, s.Calls[2].Ran)
	image := slices.IndexFunc(s.Items, func(it rollout.Item) bool { return it.Kind == rollout.Image })
	require.GreaterOrEqual(t, image, 0)
	require.NotNil(t, s.Items[image].Tokens)
	assert.EqualValues(t, 258, *s.Items[image].Tokens, "an image of one pixel costs Gemini one tile")
}

func TestSubAgent(t *testing.T) {
	assert.Equal(t, []string{subFile}, Companions(mainFile))
	s := readOne(t, subFile)
	assert.Equal(t, [4]string{subID, mainID, "agent_1", "codebase_investigator"}, [4]string{s.ID, s.ParentID, s.ParentCall, s.Agent})
	depends := Depends(subFile)
	assert.Contains(t, depends, filepath.Clean(mainFile))
	assert.Contains(t, Depends(mainFile), filepath.Clean(chats+"/../.project_root"))
	assert.Contains(t, Depends(mainFile), filepath.Clean(chats+"/../tool-outputs/session-"+mainID+"/run_shell_command__sh_3.txt"))
}
