package compress

import (
	"regexp"
	"strings"
)

var (
	searchCommand = regexp.MustCompile(`^(grep|rg|ag|find|fd)\b`)
	sourceCommand = regexp.MustCompile(`^(cat|head|tail|sed\s+-n|git\s+diff|git\s+show)\b`)
	logCommand    = regexp.MustCompile(`^((npm|pnpm|yarn|bun)\s+(ci|i|install|add|run|test|exec)|cargo|go|make|mvn|gradle|pip|pip3|pytest|vitest|jest|tsc|docker)\b`)
)

// Classify applies FreeCode's rules (its compression of bash output, off by
// default) word for word, with their blind spots: only the last command of a
// plain pipe is looked at for source and search, only the first for logs, and a
// pipe beside any quote is other.
func Classify(command string) Kind {
	command = strings.TrimSpace(command)
	last := command
	if pipe := strings.LastIndexByte(command, '|'); pipe >= 0 {
		if strings.ContainsAny(command, "\"'`") {
			return Other
		}
		last = strings.TrimSpace(command[pipe+1:])
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
