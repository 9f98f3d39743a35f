package freecode

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		want       rollout.Call
	}{
		{"read", `{"filePath":"/a","offset":"5","limit":10}`, rollout.Call{Class: rollout.ReadTool, Path: "/a", Range: "5:10", ReadOnly: true}},
		{"read", `{"filePath":"/a","limit":null}`, rollout.Call{Class: rollout.ReadTool, Path: "/a", ReadOnly: true}},
		{"read", `{"filePath":"/a","offset":3}`, rollout.Call{Class: rollout.ReadTool, Path: "/a", Range: "3:", ReadOnly: true}},
		{"ls", `{"path":"/d"}`, rollout.Call{Class: rollout.ReadTool, Path: "/d", ReadOnly: true}},
		{"grep", `{"pattern":"x","path":"/d"}`, rollout.Call{Class: rollout.SearchTool, Path: "/d", ReadOnly: true}},
		{"edit", `{"filePath":"/a"}`, rollout.Call{Class: rollout.EditTool, Path: "/a", Mutates: true}},
		{"bash", `{"command":"make","timeout":"30"}`, rollout.Call{Class: rollout.ShellTool, Command: "make", Mutates: true}},
		{"bash", `{"command":"sleep 5 && echo ok"}`, rollout.Call{Class: rollout.ShellTool, Command: "sleep 5 && echo ok", Poll: rollout.PollUnknown}},
		{"bash", `{"command":"ls","path":7}`, rollout.Call{Class: rollout.ShellTool, Command: "ls"}},
		{"bashoutput", `{"bash_id":"bash_2"}`, rollout.Call{Class: rollout.PollTool, Task: "bash_2", Poll: rollout.PollUnknown, ReadOnly: true}},
		{"killbash", `{"bash_id":"bash_2"}`, rollout.Call{Class: rollout.OtherTool, Task: "bash_2", Mutates: true}},
		{"output", `{"id":"call_1","offset":2,"limit":3}`, rollout.Call{Class: rollout.RetrieveTool, Recovers: "call_1", Range: "2:3", ReadOnly: true}},
		{"todowrite", `{"todos":[]}`, rollout.Call{Class: rollout.TodoTool}},
		{"mcp__x__y", `not json`, rollout.Call{Class: rollout.OtherTool, Mutates: true}},
	} {
		got := rollout.Call{Tool: c.tool}
		describe(&got, c.args)
		c.want.Tool = c.tool
		assert.Equal(t, c.want, got, "%s %s", c.tool, c.args)
	}
}

func TestOnlyLooks(t *testing.T) {
	for command, want := range map[string]bool{
		"git status --short":              true,
		"cd x && grep -n foo bar | head":  true,
		"cat a 2>/dev/null; wc -l b 2>&1": true,
		"git commit -m x":                 false,
		"cat a > b":                       false,
		"echo $(rm x)":                    false,
		"ls & rm x":                       false,
		"go test ./...":                   false,
		"":                                false,
	} {
		assert.Equal(t, want, onlyLooks(command), command)
	}
}

func TestPollClass(t *testing.T) {
	for text, want := range map[string]rollout.PollClass{
		"<status>running</status>\n(no new output since the last read)":  rollout.PollEmpty,
		"<status>running</status>\n":                                     rollout.PollEmpty,
		"<status>running</status>\nok 1\n":                               rollout.PollProgress,
		"<status>completed</status>\n<exit_code>0</exit_code>\nok":       rollout.PollFinal,
		"<status>killed</status>\n(no new output)":                       rollout.PollFinal,
		"(no new output since the last read)":                            rollout.PollEmpty,
		"No background shell bash_9 in this session.":                    rollout.PollLost,
		"Permission denied: bashoutput is not allowed in this directory": rollout.PollUnknown,
	} {
		assert.Equal(t, want, pollClass(text), text)
	}
}

func TestLooksFailed(t *testing.T) {
	for _, c := range []struct {
		tool, text string
		want       bool
	}{
		{"nosuchtool", "Tool 'nosuchtool' not found", true},
		{"bash", "Command timed out after 1000ms", true},
		{"bash", "Permission denied: /root", false}, // the command's own words
		{"read", "File not found: /x", true},
		{"agent", "Subagent: look\nStatus: FAILED\nTurns: 0", true},
		{"agent", "Subagent: look\nStatus: SUCCESS\nTurns: 2", false},
		{"grep", "a.ts:1:Tool 'x' not found", false},
	} {
		assert.Equal(t, c.want, looksFailed(c.tool, c.text), "%s %s", c.tool, c.text)
	}
}

func TestTruncation(t *testing.T) {
	const footer = "\n(Output capped at 50 KB. Showing lines 1-9. Use offset=10 to continue.)\n</content>"
	const shown = "\n(Showing lines 1-2000 of 2500. Use offset=2001 to continue.)\n</content>"
	for _, c := range []struct {
		call rollout.Call
		text string
		want rollout.Truncation
	}{
		{rollout.Call{Tool: "read", Path: "/a"}, footer, rollout.Recoverable},
		{rollout.Call{Tool: "read", Path: "/a", Range: "1:9"}, footer, rollout.Recoverable},
		{rollout.Call{Tool: "read", Path: "/a"}, shown, rollout.Recoverable},
		{rollout.Call{Tool: "read", Path: "/a", Range: "1:2000"}, shown, rollout.NotTruncated},
		{rollout.Call{Tool: "glob"}, "/a\n... truncated at 200 of 900 matches. Narrow the pattern to see more.", rollout.Lost},
		{rollout.Call{Tool: "ls"}, "a\n... truncated at 100 entries", rollout.Lost},
		{rollout.Call{Tool: "bash"}, "tail\n[output truncated]", rollout.Lost},
		{rollout.Call{Tool: "bash"}, "plain", rollout.NotTruncated},
	} {
		(&reader{}).truncation(&c.call, &slot{}, c.text)
		assert.Equal(t, c.want, c.call.Truncated, "%s %q", c.call.Tool, c.text)
	}
}
