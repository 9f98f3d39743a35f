package freecode

import (
	"regexp"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// taskStart matches the texts that say a task now runs in the background.
var taskStart = regexp.MustCompile(`^Started in the background as (bash_\d+|subagent-[^\s.]+)|^Monitoring as (bash_\d+)|moved to the background as (bash_\d+)`)

// taskStatus opens what bashoutput brings back.
var taskStatus = regexp.MustCompile(`^<status>(running|completed|failed|killed)</status>`)

// notice matches a task notification; its first group is the task.
var notice = regexp.MustCompile(`<task-notification>\s*<task-id>([^<]+)</task-id>\s*<kind>[^<]*</kind>\s*<status>([^<]+)</status>`)

// redirect finds the files a background command writes to.
var redirect = regexp.MustCompile(`(?:>>?|\btee(?:\s+-a)?)\s*([^\s;&|<>]+)`)

// task is background work under way.
type task struct {
	id    string
	files []string
}

// startOf matches taskStart; looking for its words first is twenty times as fast.
func startOf(text string) []string {
	if !strings.Contains(text, "background as ") && !strings.HasPrefix(text, "Monitoring as ") {
		return nil
	}
	return taskStart.FindStringSubmatch(text)
}

// background follows the tasks a result starts, asks about or ends.
func (r *reader) background(call *rollout.Call, text string) {
	switch call.Tool {
	case "bash", "agent", "monitor":
		if m := startOf(text); m != nil {
			call.Task, call.Starts = m[1]+m[2]+m[3], true
			if call.Tool == "agent" && call.Child == "" {
				call.Child = call.Task
			}
			r.openTask(call)
			return
		}
	case "bashoutput":
		call.Poll = pollClass(text)
		if call.Poll == rollout.PollFinal || call.Poll == rollout.PollLost {
			r.closeTask(call.Task)
		}
		return
	case "killbash":
		r.closeTask(call.Task)
		return
	}
	r.look(call)
}

func (r *reader) openTask(call *rollout.Call) {
	t := &task{id: call.Task}
	for _, m := range redirect.FindAllStringSubmatch(call.Command, -1) {
		if name := strings.Trim(m[1], `"'`); name != "/dev/null" && name != "" {
			t.files = append(t.files, name)
		}
	}
	r.tasks = append(r.tasks, t)
}

func (r *reader) closeTask(id string) {
	for i, t := range r.tasks {
		if t.id == id {
			r.tasks = append(r.tasks[:i], r.tasks[i+1:]...)
			return
		}
	}
}

// look marks a call that waits for an open task or reads the file it writes to.
func (r *reader) look(call *rollout.Call) {
	if call.Poll == rollout.PollUnknown && len(r.tasks) == 1 {
		call.Task = r.tasks[0].id
		return
	}
	if call.Tool != "read" && !readsFile(call.Command) {
		return
	}
	for _, t := range r.tasks {
		for _, f := range t.files {
			if call.Path == f || strings.HasSuffix(call.Path, "/"+f) || call.Command != "" && strings.Contains(call.Command, f) {
				call.Task, call.Poll = t.id, rollout.PollUnknown
				return
			}
		}
	}
}

// readsFile tells a shell command that shows a file.
func readsFile(command string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word == "tail" || word == "cat"
}

func pollClass(text string) rollout.PollClass {
	if strings.HasPrefix(text, "No background shell ") {
		return rollout.PollLost
	}
	m := taskStatus.FindStringSubmatch(text)
	switch {
	case m == nil && strings.Contains(text, "(no new output"):
		return rollout.PollEmpty
	case m == nil:
		return rollout.PollUnknown
	case m[1] != "running":
		return rollout.PollFinal
	case strings.Contains(text, "(no new output") || strings.TrimSpace(text[len(m[0]):]) == "":
		return rollout.PollEmpty
	}
	return rollout.PollProgress
}

// noticed closes the tasks that a stored user message reports as ended.
func (r *reader) noticed(text string) {
	for _, m := range notice.FindAllStringSubmatch(text, -1) {
		if m[2] != "event" {
			r.closeTask(m[1])
		}
	}
}
