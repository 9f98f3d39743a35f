package compress

import (
	"regexp"
	"strings"
)

// jsSpace is what JavaScript takes for white space, in patterns and when trimming.
const jsSpace = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

var (
	searchCommand = regexp.MustCompile(`^(grep|rg|ag|find|fd)\b`)
	sourceCommand = regexp.MustCompile(`^(cat|head|tail|sed[` + jsSpace + `]+-n|git[` + jsSpace + `]+diff|git[` + jsSpace + `]+show)\b`)
	logCommand    = regexp.MustCompile(`^((npm|pnpm|yarn|bun)[` + jsSpace + `]+(ci|i|install|add|run|test|exec)|cargo|go|make|mvn|gradle|pip|pip3|pytest|vitest|jest|tsc|docker)\b`)
)

// Classify applies FreeCode's rules (its compression of bash output, off by
// default) word for word, with their blind spots: only the last command of a
// plain pipe is looked at for source and search, only the first for logs, and a
// pipe beside any quote is other.
func Classify(command string) Kind {
	command = trimJS(command)
	last := command
	if pipe := strings.LastIndexByte(command, '|'); pipe >= 0 {
		if strings.ContainsAny(command, "\"'`") {
			return Other
		}
		last = trimJS(command[pipe+1:])
	}
	switch {
	case searchCommand.MatchString(last):
		return Search
	case sourceCommand.MatchString(last):
		return Source
	case logCommand.MatchString(command):
		return Log
	}
	return Other
}

func trimJS(s string) string { return strings.TrimFunc(s, isSpaceJS) }

func isSpaceJS(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a:
		return true
	}
	return r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f || r == 0x3000 || r == 0xfeff
}
