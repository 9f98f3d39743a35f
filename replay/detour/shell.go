package detour

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// stage is one simple command of a command line, its words without quotes.
type stage []string

// pipeline is a chain of stages joined by pipes: the first produces text, the
// others filter it.
type pipeline []stage

// operator is what joins two commands of a line.
type operator int

const (
	pipe operator = iota
	list
)

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
		part, op, rest := nextCommand(command)
		command = rest
		if words := withoutPrefix(words(part)); len(words) > 0 && !scenery[words[0]] {
			current = append(current, words)
		}
		if op == list {
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

// nextCommand cuts the first simple command off a line.
func nextCommand(line string) (command string, op operator, rest string) {
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '|':
			if i+1 < len(line) && line[i+1] == '|' {
				return line[:i], list, line[i+2:]
			}
			return line[:i], pipe, strings.TrimPrefix(line[i+1:], "&")
		case c == ';' || c == '\n' || c == '&' && !redirects(line, i):
			return line[:i], list, strings.TrimLeft(line[i+1:], "&;")
		}
	}
	return line, list, ""
}

// redirects says whether the & at i belongs to >& or &>.
func redirects(line string, i int) bool {
	return i > 0 && line[i-1] == '>' || i+1 < len(line) && line[i+1] == '>'
}

// words splits a simple command at blanks and drops quotes and redirections.
func words(command string) []string {
	var out []string
	var b strings.Builder
	var quote byte
	in, quoted := false, false
	end := func() {
		if in && (quoted || !redirection.MatchString(b.String())) {
			out = append(out, b.String())
		}
		b.Reset()
		in, quoted = false, false
	}
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in, quoted = c, true, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '(' || c == ')'):
			end()
		default:
			if c == '\\' && quote == 0 && i+1 < len(command) {
				i++
				c = command[i]
			}
			b.WriteByte(c)
			in = true
		}
	}
	end()
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
