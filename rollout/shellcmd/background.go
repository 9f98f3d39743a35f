package shellcmd

import (
	"regexp"
	"strings"
)

var (
	// waitingLoop is a pause, alone or in a loop.
	waitingLoop = regexp.MustCompile(`(?:^|[;&|(\n]\s*)sleep\s+[\d.]|\b(?:until|while)\b[\s\S]*\bsleep\b`)
	// trailing is an & that leaves a command running: not part of && or of a redirect.
	trailing = regexp.MustCompile(`(?:^|[^&>])&(?:\s*(?:$|[\n;)])|\s+[A-Za-z(])`)
	tmuxNew  = regexp.MustCompile(`\btmux\s+(?:\S+\s+\S+\s+)?new(?:-session)?\b[^;&|\n]*?\s-s\s*['"]?([\w.-]+)`)
	tmuxOf   = regexp.MustCompile(`\btmux\s+(?:\S+\s+\S+\s+)?(?:capture-pane|has-session)\b[^;&|\n]*?\s-t\s*['"]?([\w.-]+)`)
	output   = regexp.MustCompile(`(?:>>?|\btee(?:\s+-a)?)\s*['"]?([^\s;&|<>'"]+)`)
)

// Waits says whether a command line only waits and looks at how something goes
// on. A command that also does something is work.
func Waits(command string) bool {
	readOnly, _ := Effect(command)
	return readOnly && waitingLoop.MatchString(command)
}

// Backgrounds says whether a command line leaves something running.
func Backgrounds(command string) bool {
	return trailing.MatchString(quoted.ReplaceAllString(command, "Q")) || tmuxNew.MatchString(command)
}

// Task is what a command line leaves running, by the name it can be looked at
// again: the tmux session, else the file that its output goes to; "" when
// nothing is left running or nothing names it.
func Task(command string) string {
	if m := tmuxNew.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	if !Backgrounds(command) {
		return ""
	}
	for _, m := range output.FindAllStringSubmatch(command, -1) {
		if m[1] != "/dev/null" && m[1] != "" && m[1] != "1" && m[1] != "2" {
			return m[1]
		}
	}
	return ""
}

// LooksAt says whether a command line only looks at how a task goes on.
func LooksAt(command, task string) bool {
	if m := tmuxOf.FindStringSubmatch(command); m != nil {
		return m[1] == task
	}
	readOnly, _ := Effect(command)
	return readOnly && strings.Contains(command, task)
}
