package apilog

import (
	"regexp"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// watcher follows what results say of the calls: background tasks, outputs that
// were cut, refusals. The marks are those of the agents' own texts; a log of
// bodies has no other sign.
type watcher struct {
	handles []string // of cut outputs, newest last
}

// handleMany bounds how many cut outputs a later call is looked up in.
const handleMany = 200

// asks notes that a call goes back to the rest of a cut output.
func (w *watcher) asks(c *rollout.Call) {
	if c.Recovers != "" {
		return
	}
	for i := len(w.handles) - 1; i >= 0; i-- {
		h := w.handles[i]
		if c.Path == h || c.Command != "" && strings.Contains(c.Command, h) {
			c.Recovers = h
			return
		}
	}
}

var (
	taskStart = regexp.MustCompile(`(?:running in (?:the )?background with ID: |[Ss]tarted in the background as |moved to the background as |[Pp]rocess running with session ID |Background PIDs: |moved to background \(PID: )([\w-]+)`)
	running   = regexp.MustCompile(`<status>\s*running\s*</status>|[Pp]rocess running with session ID|<retrieval_status>(?:timeout|not_ready)`)
	ended     = regexp.MustCompile(`<status>\s*(?:completed|failed|killed)\s*</status>|[Pp]rocess exited with code`)
	refused   = regexp.MustCompile(`^(?:The user doesn't want to (?:proceed|take)|\[Request interrupted by user for tool use\]|Permission denied: |Blocked by hook: |User rejected|The user rejected permission|exec_command failed.*rejected|\[Operation Cancelled\])`)
	silent    = regexp.MustCompile(`(?i)\(no new output|no new output`)

	savedTo = regexp.MustCompile(`(?i)(?:full output(?: saved to| available at)?|output saved to|saved to(?: file)?|persisted to)[:\s]+(/[^\s\]<>"')]+)`)
	cutMark = regexp.MustCompile(`(?i)\[?\.{3}[^\n]{0,40}truncated|\[\d+ (?:lines|characters|chars|tokens|bytes) (?:truncated|omitted)|…\d+ (?:tokens|chars) truncated…|output (?:was )?truncated|<persisted-output>|\[Showing lines \d+-\d+ of \d+|File truncated at line|\(Showing lines \d+-\d+ of \d+|<truncated|Use offset=\d+ to (?:continue|read)`)
	paging  = regexp.MustCompile(`(?i)use (?:the )?['"]?offset['"]?|offset=\d+`)
)

// answers fills in what a result tells.
func (w *watcher) answers(c *rollout.Call, text string) {
	if refused.MatchString(text) {
		c.Denied, c.Ran = true, false
	}
	if c.Class == rollout.PollTool {
		c.Poll = pollClass(text)
	} else if m := taskStart.FindStringSubmatch(text); m != nil && (c.Class == rollout.ShellTool || c.Class == rollout.AgentTool) {
		c.Task, c.Starts = m[1], true
	}
	w.truncation(c, text)
}

func (w *watcher) truncation(c *rollout.Call, text string) {
	// Only the ends of a result are the agent's own words.
	ends := head(text, 600) + "\n" + tail(text, 600)
	saved := savedTo.FindStringSubmatch(ends)
	marked := cutMark.MatchString(ends) || c.Class == rollout.ShellTool && cutMark.MatchString(text) && strings.Contains(text, "truncated")
	switch {
	case saved != nil && (marked || strings.Contains(ends, "too large") || strings.Contains(strings.ToLower(ends), "full output")):
		c.Truncated, c.Handle = rollout.Recoverable, strings.TrimRight(saved[1], ".,")
	case marked && c.Class == rollout.ReadTool && c.Path != "" && paging.MatchString(ends):
		c.Truncated, c.Handle = rollout.Recoverable, c.Path
	case marked && c.Class != rollout.ReadTool:
		c.Truncated = rollout.Lost
	}
	if c.Handle != "" && len(w.handles) < handleMany {
		w.handles = append(w.handles, c.Handle)
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func pollClass(text string) rollout.PollClass {
	switch {
	case ended.MatchString(text):
		return rollout.PollFinal
	case lostPoll(text):
		return rollout.PollLost
	case running.MatchString(text) && (silent.MatchString(text) || emptyOutput(text)):
		return rollout.PollEmpty
	case running.MatchString(text):
		return rollout.PollProgress
	case silent.MatchString(text):
		return rollout.PollEmpty
	}
	return rollout.PollUnknown
}

// lostPoll tells an answer that is the agent's own word on a task it does not know:
// its first line, or the line behind the header of a script that failed.
func lostPoll(text string) bool {
	if _, after, ok := strings.Cut(text, "\nOutput:\nScript error:\n"); ok && strings.HasPrefix(text, "Script failed\n") {
		text = after
	}
	line, _, _ := strings.Cut(text, "\n")
	return rollout.LostTask(line)
}

// emptyOutput tells a report that ends with the heading of its output.
func emptyOutput(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "Output:") || strings.HasSuffix(text, "</status>") && !strings.Contains(text, "<stdout>")
}
