package gemini

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/shellcmd"
)

// task is background work under way.
type task struct {
	id   string
	name string // by which shell commands look at it: the file it writes to; "" none
}

var (
	moved   = regexp.MustCompile(`Command moved to background \(PID: (\d+)\)`)
	pids    = regexp.MustCompile(`(?m)^Background PIDs: (\d+)`)
	running = regexp.MustCompile(`(?m)^- \[PID \d+\] RUNNING`)
	ended   = regexp.MustCompile(`(?m)^- \[PID \d+\] (EXITED|COMPLETED|FAILED|KILLED)`)
	pgid    = regexp.MustCompile(`(?m)^Process Group PGID: .*\n?`)
)

// watch marks a shell command that waits, and one or a read that looks at what an
// open task writes.
func (c *chat) watch(call *rollout.Call) {
	if call.Class == rollout.ShellTool && shellcmd.Waits(call.Command) {
		call.Poll = rollout.PollUnknown
		if n := len(c.tasks); n > 0 {
			call.Task = c.tasks[n-1].id
		}
	}
	for _, t := range c.tasks {
		if t.name == "" {
			continue
		}
		if call.Class == rollout.ReadTool && call.Path == t.name || call.Command != "" && shellcmd.LooksAt(call.Command, t.name) {
			call.Task, call.Poll = t.id, rollout.PollUnknown
			return
		}
	}
}

// background follows the tasks a result starts or tells of.
func (c *chat) background(call *rollout.Call, s string) {
	if call.Class == rollout.ShellTool && call.Poll == rollout.NoPoll {
		m := moved.FindStringSubmatch(s)
		if m == nil {
			m = pids.FindStringSubmatch(s)
		}
		if m != nil {
			c.open(call, m[1])
		}
		return
	}
	if call.Poll == rollout.PollUnknown {
		call.Poll = c.polled(call, s)
		if call.Poll == rollout.PollFinal || call.Poll == rollout.PollLost {
			c.close(call.Task)
		}
	}
}

func (c *chat) open(call *rollout.Call, id string) {
	call.Task, call.Starts = id, true
	c.tasks = append(c.tasks, &task{id: id, name: shellcmd.Task(call.Command)})
}

func (c *chat) close(id string) {
	for i, t := range c.tasks {
		if t.id == id {
			c.tasks = append(c.tasks[:i], c.tasks[i+1:]...)
			return
		}
	}
}

// polled says what a look at a task brought. Without a word on its state only the
// text tells: the same as at the last look is nothing new.
func (c *chat) polled(call *rollout.Call, s string) rollout.PollClass {
	if call.Class == rollout.PollTool {
		switch {
		case strings.HasPrefix(s, "No background processes"), !strings.Contains(strings.TrimSpace(s), "\n") && rollout.LostTask(s):
			return rollout.PollLost
		case running.MatchString(s):
			return rollout.PollEmpty
		case ended.MatchString(s):
			return rollout.PollFinal
		}
	}
	if call.Task == "" || c.silent(call) {
		return rollout.PollUnknown
	}
	seen := pgid.ReplaceAllString(s, "")
	before, looked := c.polls[call.Task]
	c.polls[call.Task] = seen
	if looked && before == seen || strings.TrimSpace(seen) == "" {
		return rollout.PollEmpty
	}
	return rollout.PollProgress
}

// silent tells a command that waits without a look at what its task writes.
func (c *chat) silent(call *rollout.Call) bool {
	if call.Class != rollout.ShellTool {
		return false
	}
	for _, t := range c.tasks {
		if t.id == call.Task && t.name != "" {
			return !shellcmd.LooksAt(call.Command, t.name)
		}
	}
	return true
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
