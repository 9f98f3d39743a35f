package detour

import (
	"path"
	"regexp"
	"slices"

	"github.com/fclog/fclog/internal/shell"
)

// stage is one simple command of a command line, its words without quotes.
type stage []string

// pipeline is a chain of stages joined by pipes: the first produces text, the
// others filter it.
type pipeline []stage

// pipelines splits a command line at lists and line breaks, then at pipes,
// outside quotes. Redirections and what only sets the scene (cd, echo, sleep,
// variables) are left out.
func pipelines(command string) []pipeline {
	var out []pipeline
	var current pipeline
	flush := func() {
		if len(current) > 0 {
			out = append(out, current)
		}
		current = nil
	}
	for len(command) > 0 {
		part, joint, rest := shell.Cut(command)
		command = rest
		if words := withoutPrefix(words(part)); len(words) > 0 && !scenery[words[0]] {
			current = append(current, words)
		}
		if joint == shell.List {
			flush()
		}
	}
	flush()
	return out
}

// scenery are programs that neither produce nor filter the text looked at.
var scenery = map[string]bool{
	"cd": true, "echo": true, "printf": true, "sleep": true, "export": true, "set": true, "true": true, "false": true,
	"do": true, "done": true, "fi": true, "esac": true, "pwd": true, "kill": true, "pushd": true, "popd": true,
}

// words splits a simple command at blanks and drops quotes and redirections.
func words(command string) []string {
	var out []string
	for _, w := range shell.Words(command, "()") {
		if w.Quoted || !redirection.MatchString(w.Text) {
			out = append(out, w.Text)
		}
	}
	return out
}

var (
	redirection = regexp.MustCompile(`^[0-9&]?(?:>>?|<)(?:&?[0-9]|/dev/null)?$|^[0-9&]?>>?\S+$`)
	assignment  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	duration    = regexp.MustCompile(`^\d+(?:\.\d+)?[smhd]?$`)
)

// withoutPrefix drops what only runs another program: variables, sudo, env,
// time, timeout, loop words.
func withoutPrefix(w []string) []string {
	for len(w) > 0 {
		switch name := path.Base(w[0]); {
		case assignment.MatchString(w[0]), name == "sudo", name == "env", name == "time", name == "command", name == "nohup", name == "then", name == "while", name == "if", name == "{", name == "!":
			w = w[1:]
		case name == "timeout" && len(w) > 2 && duration.MatchString(w[1]):
			w = w[2:]
		case isShell(name) && len(w) > 2 && (w[1] == "-c" || w[1] == "-lc"):
			if inner := pipelines(w[2]); len(inner) == 1 && len(inner[0]) == 1 {
				return inner[0][0]
			}
			return w
		default:
			return slices.Concat([]string{name}, w[1:])
		}
	}
	return nil
}

func isShell(name string) bool { return name == "bash" || name == "sh" || name == "zsh" }

// sleeps says whether a command line waits before it looks.
func sleeps(command string) bool { return sleeping.MatchString(command) }

var sleeping = regexp.MustCompile(`(?:^|[;&|\n]\s*)sleep\s+\d`)
