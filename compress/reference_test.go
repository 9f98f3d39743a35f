package compress

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// This is FreeCode's compression once more, written from the description of its
// rules without a look at the package: UTF-16 arrays, plain string searches.

func refLength(s string) int { return len(utf16.Encode([]rune(s))) }

func refClassify(command string) Kind {
	const white = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
	command = strings.Trim(command, white)
	text := command
	if strings.Contains(command, "|") {
		if strings.ContainsAny(command, "\"'`") {
			return Other
		}
		parts := strings.Split(command, "|")
		text = strings.Trim(parts[len(parts)-1], white)
	}
	starts := func(text string, words ...string) bool {
		for _, w := range words {
			rest := text
			for i, piece := range strings.Fields(w) {
				if i > 0 {
					trimmed := strings.TrimLeft(rest, white)
					if trimmed == rest {
						rest = "\x00"
						break
					}
					rest = trimmed
				}
				if !strings.HasPrefix(rest, piece) {
					rest = "\x00"
					break
				}
				rest = rest[len(piece):]
			}
			if rest == "" || rest != "\x00" && !strings.Contains("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rest[:1]) {
				return true
			}
		}
		return false
	}
	var installs []string
	for _, tool := range []string{"npm", "pnpm", "yarn", "bun"} {
		for _, verb := range []string{"ci", "i", "install", "add", "run", "test", "exec"} {
			installs = append(installs, tool+" "+verb)
		}
	}
	switch {
	case starts(text, "grep", "rg", "ag", "find", "fd"):
		return Search
	case starts(text, "cat", "head", "tail", "sed -n", "git diff", "git show"):
		return Source
	case starts(command, installs...), starts(command, "cargo", "go", "make", "mvn", "gradle", "pip", "pip3", "pytest", "vitest", "jest", "tsc", "docker"):
		return Log
	}
	return Other
}

// refASCII lowers ASCII letters only, as JavaScript's case-blind match does for
// patterns of ASCII letters.
func refASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 32
		}
		return r
	}, s)
}

func refFailure(line string) bool {
	if strings.Contains(line, "✗") || strings.Contains(line, "✖") {
		return true
	}
	line = " " + refASCII(line) + " "
	part := func(b byte) bool { return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' }
	for _, w := range []string{"error", "err!", "fail", "failed", "failure", "fatal", "exception", "traceback", "panic", "not ok"} {
		for at := 1; at < len(line); at++ {
			if strings.HasPrefix(line[at:], w) && !part(line[at-1]) && (w == "err!" || !part(line[at+len(w)])) {
				return true
			}
		}
	}
	return false
}

func refCompress(kind Kind, text, id string, head, tail, minimum int) string {
	if kind == Source || kind == Other || refLength(text) <= minimum {
		return text
	}
	var lines []string
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); {
		run := 1
		for i+run < len(all) && all[i+run] == all[i] {
			run++
		}
		lines = append(lines, all[i])
		if run >= 3 {
			lines = append(lines, fmt.Sprintf("  [previous line repeated %d more times]", run-1))
		} else if run == 2 {
			lines = append(lines, all[i])
		}
		i += run
	}
	if kind == Log && len(lines) > head+tail {
		var out []string
		dropped := 0
		for i, line := range lines {
			if i >= head && i < len(lines)-tail && !refFailure(line) {
				dropped++
				continue
			}
			if dropped > 0 {
				out = append(out, fmt.Sprintf("[... %d lines omitted — full output via the `output` tool, id=\"%s\" ...]", dropped, id))
			}
			dropped = 0
			out = append(out, line)
		}
		if dropped > 0 {
			out = append(out, fmt.Sprintf("[... %d lines omitted — full output via the `output` tool, id=\"%s\" ...]", dropped, id))
		}
		lines = out
	}
	if out := strings.Join(lines, "\n"); refLength(out) < refLength(text) {
		return out
	}
	return text
}

func refCut(text, id string, limit, tail int) string {
	u := utf16.Encode([]rune(text))
	if len(u) <= limit {
		return text
	}
	end, start := limit-tail, len(u)-tail
	for i := end; i >= 0; i-- {
		if u[i] == '\n' {
			end = i
			break
		}
	}
	for i := start; i < len(u); i++ {
		if u[i] == '\n' {
			start = i + 1
			break
		}
	}
	return string(utf16.Decode(u[:end])) + fmt.Sprintf("\n\n... [truncated %d chars total — use the `output` tool with id=\"%s\" (offset, limit, or pattern) to read the omitted middle] ...\n\n", len(u), id) + string(utf16.Decode(u[start:]))
}
