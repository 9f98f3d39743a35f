// Package shell cuts command lines into simple commands and words, as far as quotes
// and escapes go. It knows no groups, substitutions or here-documents: what has to
// understand a whole line, such as the classification of output, parses it.
package shell

import "strings"

// Joint is what stands between two commands of a line.
type Joint int

const (
	Pipe Joint = iota // | and |&
	List              // ; & && || and line breaks, and the end of the line
)

// Cut takes the first simple command off a line.
func Cut(line string) (command string, joint Joint, rest string) {
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
		case c == '|' && strings.HasPrefix(line[i+1:], "|"):
			return line[:i], List, line[i+2:]
		case c == '|':
			return line[:i], Pipe, strings.TrimPrefix(line[i+1:], "&")
		case c == ';' || c == '\n' || c == '&' && !redirects(line, i):
			return line[:i], List, strings.TrimLeft(line[i+1:], "&;")
		}
	}
	return line, List, ""
}

// redirects says whether the & at i belongs to >& or &>.
func redirects(line string, i int) bool {
	return i > 0 && line[i-1] == '>' || i+1 < len(line) && line[i+1] == '>'
}

// Word is one word of a command, quotes and escapes removed.
type Word struct {
	Text   string
	Quoted bool // some of it stood in quotes
}

// Words splits a simple command at blanks and at the other characters given. In
// double quotes a backslash only escapes what is special there.
func Words(command, others string) []Word {
	var out []Word
	var b strings.Builder
	var quote byte
	in, quoted := false, false
	end := func() {
		if in {
			out = append(out, Word{b.String(), quoted})
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
		case quote == 0 && (c == ' ' || c == '\t' || strings.IndexByte(others, c) >= 0):
			end()
		default:
			if c == '\\' && i+1 < len(command) && escapes(quote, command[i+1]) {
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

// escapes says whether a backslash takes its meaning from the next character.
func escapes(quote, next byte) bool {
	return quote == 0 || quote == '"' && strings.IndexByte("\"\\$`\n", next) >= 0
}
