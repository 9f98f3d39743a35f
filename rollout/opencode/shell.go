package opencode

import (
	"regexp"
	"strconv"
	"strings"
)

// waits matches a command that only waits, as agents poll without a tool for it.
var waits = regexp.MustCompile(`^\s*(sleep\s+[\d.]+[smhd]?|wait(\s+\S+)*)\s*((&&|;)\s*(echo\b.*|true))?\s*$`)

// readers are programs that change nothing, whatever their arguments.
var readers = map[string]bool{
	"cat": true, "head": true, "tail": true, "ls": true, "grep": true, "egrep": true, "rg": true, "wc": true, "nl": true,
	"pwd": true, "echo": true, "printf": true, "sleep": true, "wait": true, "true": true, "which": true, "file": true,
	"stat": true, "du": true, "df": true, "date": true, "ps": true, "uniq": true, "cut": true, "tr": true, "diff": true,
	"cmp": true, "tree": true, "cd": true, "test": true, "jq": true, "basename": true, "dirname": true, "realpath": true,
	"id": true, "uname": true, "seq": true, "sha256sum": true, "column": true,
}

// gitReaders are the git commands that only read.
var gitReaders = map[string]bool{
	"status": true, "diff": true, "log": true, "show": true, "blame": true, "ls-files": true, "grep": true, "rev-parse": true, "describe": true,
}

// checkers run code of the project but leave its files alone, as a rule.
var checkers = regexp.MustCompile(`^(?:go (?:test|vet|build)|cargo (?:test|check|clippy)|pytest|python3? -m (?:pytest|unittest)|npm (?:test|run (?:test|lint|build))|bun (?:test|run (?:test|lint))|make (?:test|check|lint)|tsc|eslint|ruff check|mypy)\b`)

var (
	separators = regexp.MustCompile(`&&|\|\||[;|\n]`)
	noOutput   = strings.NewReplacer("2>&1", "", "2>/dev/null", "", "2> /dev/null", "", ">/dev/null", "", "> /dev/null", "")
)

// effect says whether a command line cannot change anything, and whether it may
// change files. Tests and builds are neither. When in doubt it may.
func effect(command string) (readOnly, mutates bool) {
	plain := noOutput.Replace(command)
	if strings.TrimSpace(plain) == "" {
		return false, false
	}
	if strings.ContainsAny(strings.ReplaceAll(plain, "&&", ""), ">`&") || strings.Contains(plain, "$(") {
		return false, true
	}
	readOnly = true
	for _, part := range separators.Split(plain, -1) {
		switch part = strings.TrimSpace(part); {
		case part == "" || looks(strings.Fields(part)):
		case checkers.MatchString(part):
			readOnly = false
		default:
			return false, true
		}
	}
	return readOnly, false
}

// looks tells a program call that only reads.
func looks(words []string) bool {
	switch words[0] {
	case "git":
		return len(words) > 1 && gitReaders[words[1]]
	case "sed":
		return len(words) > 1 && words[1] == "-n"
	case "sort":
		return !strings.Contains(strings.Join(words, " "), " -o")
	case "find":
		line := strings.Join(words, " ")
		return !strings.Contains(line, " -exec") && !strings.Contains(line, " -delete") && !strings.Contains(line, " -ok")
	}
	return readers[words[0]]
}

func digits(n number) string {
	if !n.OK {
		return ""
	}
	return strconv.FormatInt(n.V, 10)
}
