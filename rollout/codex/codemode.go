package codex

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
)

var (
	nestedCall    = regexp.MustCompile(`\btools\.([A-Za-z_][A-Za-z0-9_]*)\s*\(`)
	nestedCommand = regexp.MustCompile(`["']?cmd["']?\s*:\s*("(?:[^"\\]|\\.)*")`)
	nestedSession = regexp.MustCompile(`["']?session_id["']?\s*:\s*"?(\d+)`)
	nestedChars   = regexp.MustCompile(`["']?chars["']?\s*:\s*["'` + "`" + `][^"'` + "`" + `]`)
)

// script is what can be read off the JavaScript of a code-mode call. Nested
// calls are not logged as items.
type script struct {
	tools   []string // every tools.<name>( in the source, in order
	command string   // of its only shell call, when it is written out
	session string   // process a single write_stdin asks about
	input   bool     // write_stdin sends characters
}

func parseScript(source string) script {
	var s script
	for _, m := range nestedCall.FindAllStringSubmatch(source, -1) {
		s.tools = append(s.tools, m[1])
	}
	if m := nestedCommand.FindAllStringSubmatch(source, -1); len(m) == 1 && len(s.tools) == 1 {
		s.command = decode[string]([]byte(m[0][1]))
	}
	if m := nestedSession.FindStringSubmatch(source); m != nil && len(s.tools) == 1 {
		s.session = m[1]
	}
	s.input = nestedChars.MatchString(source)
	return s
}

// label names the nested tools, each once, in order of their first use.
func (s script) label() string {
	var names []string
	for _, t := range s.tools {
		if !slices.Contains(names, t) {
			names = append(names, t)
		}
	}
	return strings.Join(names, "+")
}

// class is that of the nested tools when they agree, else shell: a script runs
// code like a shell line does.
func (s script) class() rollout.ToolClass {
	var class rollout.ToolClass
	for _, t := range s.tools {
		c := toolClasses[t]
		if t == "write_stdin" && s.input {
			c = rollout.ShellTool
		}
		if c == "" {
			c = rollout.OtherTool
		}
		if class != "" && class != c {
			return rollout.ShellTool
		}
		class = c
	}
	if class == "" {
		return rollout.ShellTool
	}
	return class
}
