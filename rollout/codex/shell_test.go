package codex

import (
	"github.com/fclog/fclog/rollout/logfile"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

func TestEffect(t *testing.T) {
	for command, want := range map[string][2]bool{ // read-only, mutates
		"ls -la": {true, false},
		"cat a.go | head -5 && git status --short": {true, false},
		"rg 'a > b' src 2>/dev/null || true":       {true, false},
		"sed -n '1,5p' x 2>&1":                     {true, false},
		"/usr/bin/grep x y":                        {true, false},
		"sed -i s/a/b/ x":                          {false, true},
		"echo hi > x":                              {false, true},
		"echo $(rm x)":                             {false, true},
		"find . -delete":                           {false, true},
		"git commit -m x":                          {false, true},
		"go test ./...":                            {false, false},
		"ls && go vet ./...":                       {false, false},
		"make install":                             {false, true},
		"":                                         {false, false},
	} {
		readOnly, mutates := effect(command)
		assert.Equal(t, want, [2]bool{readOnly, mutates}, command)
	}
}

func TestReadTarget(t *testing.T) {
	for command, want := range map[string][2]string{
		"cat main.go":                       {"main.go", ""},
		"sed -n '10,19p' 'my file.go'":      {"my file.go", "10:10"},
		"sed -n 5p a.go":                    {"a.go", "5:1"},
		"nl -ba a.go | sed -n '3,4p'":       {"a.go", "3:2"},
		"head -n 20 a.go":                   {"a.go", "1:20"},
		"head -20 a.go":                     {"a.go", "1:20"},
		"head a.go":                         {"a.go", "1:10"},
		"cat a.go b.go":                     {"", ""},
		"cat *.go":                          {"", ""},
		"cat a.go && cat b.go":              {"", ""},
		"ls src":                            {"", ""},
		"sed s/a/b/ a.go":                   {"", ""},
		"sed -n '1,120p' a.go | grep func":  {"", ""},
		"grep -n x a.go | sed -n '1,2p'":    {"", ""},
		"sed -n '9,3p' backwards/is/not.go": {"", ""},
	} {
		path, lines := readTarget(command)
		assert.Equal(t, want, [2]string{path, lines}, command)
	}
}

func TestCommandLine(t *testing.T) {
	assert.Equal(t, "ls | wc -l", commandLine([]string{"bash", "-lc", "ls | wc -l"}))
	assert.Equal(t, "ls | wc -l", commandLine([]string{"/bin/zsh", "-c", "ls | wc -l"}))
	assert.Equal(t, "grep -n 'a b' x", commandLine([]string{"grep", "-n", "a b", "x"}))
	assert.Equal(t, "", commandLine(nil))
}

func TestParseScript(t *testing.T) {
	one := parseScript(`const r = await tools.exec_command({"cmd":"go test \"./...\""}); text(r.output)`)
	assert.Equal(t, `go test "./..."`, one.command)
	assert.Equal(t, rollout.ShellTool, one.class())
	two := parseScript("await tools.read_file({path:'a'}); await tools.view_image({path:'b'}); await tools.read_file({path:'c'})")
	assert.Equal(t, "read_file+view_image", two.label())
	assert.Equal(t, rollout.ReadTool, two.class())
	poll := parseScript(`text(await tools.write_stdin({session_id: 97385, chars: ""}))`)
	assert.Equal(t, rollout.PollTool, poll.class())
	assert.Equal(t, "97385", poll.session)
	typed := parseScript(`await tools.write_stdin({session_id: 1, chars: "y\n"})`)
	assert.Equal(t, rollout.ShellTool, typed.class())
	assert.Equal(t, rollout.ShellTool, parseScript("text(1+1)").class())
	assert.Equal(t, rollout.ShellTool, parseScript("tools.apply_patch(p); tools.exec_command(c)").class(), "mixed")
	assert.Equal(t, rollout.OtherTool, parseScript("tools.mcp__x__y({})").class())
}

// A script that polls a process and fails is no end of the process.
func TestScriptsThatPoll(t *testing.T) {
	for output, want := range map[string]rollout.PollClass{
		"Script failed\nWall time 0.1 seconds\nOutput:\nScript error:\nwrite_stdin failed: Unknown process id 7": rollout.PollLost,
		"Script failed\nWall time 0.1 seconds\nOutput:\nScript error:\nTypeError: r is undefined":                rollout.PollUnknown,
		"Script completed\nWall time 0.1 seconds\nOutput:\nwrite_stdin failed: Unknown process id 7":             rollout.PollLost,
		"Script completed\nWall time 0.1 seconds\nOutput:\n{\"output\":\"agent 3 not found\",\"exit_code\":0}":   rollout.PollFinal,
	} {
		call := rollout.Call{Tool: "exec", Class: rollout.PollTool, Task: "7"}
		settle(&call, parseOutput([]string{output}))
		assert.Equal(t, want, call.Poll, output)
	}
}

func TestPolls(t *testing.T) {
	running := "Wall time: 5.0 seconds\nProcess running with session ID 7\nOutput:\n"
	for name, c := range map[string]struct {
		tool, args, output string
		class              rollout.ToolClass
		poll               rollout.PollClass
		task               string
	}{
		"empty":      {"write_stdin", `{"session_id":7,"chars":""}`, running, rollout.PollTool, rollout.PollEmpty, "7"},
		"progress":   {"write_stdin", `{"session_id":7}`, running + "half\n", rollout.PollTool, rollout.PollProgress, "7"},
		"final":      {"write_stdin", `{"session_id":7}`, "Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nok\n", rollout.PollTool, rollout.PollFinal, "7"},
		"lost":       {"write_stdin", `{"session_id":7}`, "write_stdin failed: Unknown process id 7", rollout.PollTool, rollout.PollLost, "7"},
		"no session": {"write_stdin", `{"session_id":7}`, "session not found", rollout.PollTool, rollout.PollLost, "7"},
		"its words":  {"write_stdin", `{"session_id":7}`, "Wall time: 1.0 seconds\nProcess exited with code 1\nOutput:\nsession 4 not found\n", rollout.PollTool, rollout.PollFinal, "7"},
		"lost cell":  {"wait", `{"cell_id":"8"}`, "Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nexec cell 8 not found", rollout.PollTool, rollout.PollLost, "cell 8"},
		"cell fails": {"wait", `{"cell_id":"8"}`, "Script failed\nWall time 3.0 seconds\nOutput:\nScript error:\nError: boom", rollout.PollTool, rollout.PollFinal, "cell 8"},
		"cell ends":  {"wait", `{"cell_id":"8"}`, "Script completed\nWall time 3.0 seconds\nOutput:\nsession 4 not found", rollout.PollTool, rollout.PollFinal, "cell 8"},
		"input":      {"write_stdin", `{"session_id":7,"chars":"\u0003"}`, running, rollout.ShellTool, rollout.NoPoll, "7"},
		"agent":      {"wait", `{"ids":["a1"],"timeout_ms":1000}`, `{"status":{},"timed_out":true}`, rollout.PollTool, rollout.PollEmpty, "a1"},
		"agent done": {"wait_agent", `{"targets":["a1"]}`, `{"message":"Wait completed.","timed_out":false}`, rollout.PollTool, rollout.PollFinal, "a1"},
		"cell":       {"wait", `{"cell_id":"8"}`, "Script running with cell ID 8\nWall time 10.0 seconds\nOutput:\n", rollout.PollTool, rollout.PollEmpty, "cell 8"},
		"spawn":      {"spawn_agent", `{"message":"look"}`, `{"agent_id":"a1"}`, rollout.AgentTool, rollout.NoPoll, "a1"},
	} {
		t.Run(name, func(t *testing.T) {
			call := rollout.Call{Tool: c.tool}
			describe(&call, &item{Type: logfile.Lenient[string]{V: "function_call"}}, c.args)
			settle(&call, parseOutput([]string{c.output}))
			assert.Equal(t, c.class, call.Class)
			assert.Equal(t, c.poll, call.Poll)
			assert.Equal(t, c.task, call.Task)
		})
	}
}
