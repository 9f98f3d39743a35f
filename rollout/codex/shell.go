package codex

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/shell"
)

// shellNames are the programs whose -c argument is the real command line.
var shellNames = []string{"bash", "sh", "zsh", "dash", "powershell", "pwsh", "powershell.exe", "pwsh.exe"}

// commandLine is the command of an argument list: the script of `bash -lc`, else
// the words with quotes where they need them.
func commandLine(words []string) string {
	if len(words) >= 3 && slices.Contains(shellNames, baseName(words[0])) && isCommandFlag(words[len(words)-2]) {
		return words[len(words)-1]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n\"'$|&;<>()*?") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func isCommandFlag(w string) bool {
	return w == "-c" || w == "-lc" || w == "-lic" || strings.EqualFold(w, "-command")
}

func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// readers are programs that change nothing, whatever their arguments.
var readers = []string{
	"ls", "cat", "head", "tail", "wc", "rg", "grep", "egrep", "fgrep", "nl", "pwd", "echo", "printf", "stat", "file",
	"tree", "cut", "tr", "uniq", "which", "whoami", "date", "du", "df", "ps", "env", "diff", "cmp", "jq", "basename",
	"dirname", "realpath", "readlink", "test", "true", "false", "cd", "type", "id", "uname", "hexdump", "xxd", "od", "ss",
	"fold", "column", "comm", "paste", "tac", "rev", "seq", "sha256sum", "md5sum", "strings", "lsof", "free", "uptime",
}

var gitReaders = []string{"status", "diff", "log", "show", "ls-files", "ls-tree", "blame", "rev-parse", "grep", "describe", "shortlog", "cat-file"}

// checkers run code of the project but leave its files alone, as a rule.
var checkers = regexp.MustCompile(`^(?:go (?:test|vet|build)|cargo (?:test|check|clippy)|pytest|python3? -m (?:pytest|unittest)|npm (?:test|run (?:test|lint|build))|make (?:test|check|lint)|tsc|eslint|ruff check|mypy|sleep)\b`)

// redirect finds output that goes to a file.
var redirect = regexp.MustCompile(`[0-9&]?>>?\s*(&?[^\s&|;]+)`)

// effect says whether a command line cannot change anything, and whether it may
// change files. Tests and builds are neither: they run code, but what was read
// before stays true.
func effect(command string) (readOnly, mutates bool) {
	if strings.TrimSpace(command) == "" {
		return false, false
	}
	readOnly = true
	for _, part := range splitCommands(command) {
		switch {
		case writesFile(part) || strings.ContainsAny(unquoted(part), "`") || strings.Contains(part, "$("):
			return false, true
		case isReader(part):
		case checkers.MatchString(part):
			readOnly = false
		default:
			return false, true
		}
	}
	return readOnly, false
}

func writesFile(part string) bool {
	for _, m := range redirect.FindAllStringSubmatch(unquoted(part), -1) {
		if target := m[1]; target != "/dev/null" && !strings.HasPrefix(target, "&") {
			return true
		}
	}
	return false
}

func isReader(part string) bool {
	words := shellWords(part)
	if len(words) == 0 {
		return true
	}
	name := baseName(words[0])
	switch name {
	case "sed":
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" })
	case "find":
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") || w == "-delete" || w == "-ok" })
	case "command":
		return len(words) > 1 && words[1] == "-v"
	case "sort":
		return !slices.Contains(words, "-o")
	case "git":
		return len(words) > 1 && slices.Contains(gitReaders, words[1])
	}
	return slices.Contains(readers, name)
}

// splitCommands cuts a line at pipes, lists and line breaks outside quotes.
func splitCommands(command string) []string {
	var parts []string
	for len(command) > 0 {
		part, _, rest := shell.Cut(command)
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
		command = rest
	}
	return parts
}

// unquoted blanks out what stands in single or double quotes.
func unquoted(s string) string {
	b := []byte(s)
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			b[i] = '_'
		case c == '\'' || c == '"':
			quote = c
			b[i] = '_'
		}
	}
	return string(b)
}

// shellWords splits one simple command into words and drops the quotes.
func shellWords(s string) []string {
	var words []string
	for _, w := range shell.Words(s, "") {
		words = append(words, w.Text)
	}
	return words
}

var sedRange = regexp.MustCompile(`^(\d+)(?:,(\d+))?p$`)

// readTarget tells which file, and which lines of it, a command line shows, for
// the forms models use: cat, head, sed -n 'A,Bp', nl piped into sed.
func readTarget(command string) (path, lines string) {
	parts := splitCommands(command)
	if len(parts) == 0 || len(parts) > 2 || strings.Contains(command, "&&") || strings.Contains(command, ";") {
		return "", ""
	}
	words := shellWords(parts[0])
	if len(words) < 2 {
		return "", ""
	}
	var files []string
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !sedRange.MatchString(w) && !isDigits(w) {
			files = append(files, w)
		}
	}
	if len(files) != 1 || strings.ContainsAny(files[0], "*<>") {
		return "", ""
	}
	switch {
	case len(parts) == 1 && words[0] == "cat":
		return files[0], ""
	case len(parts) == 1 && words[0] == "sed":
		return rangeOf(files[0], words)
	case len(parts) == 1 && words[0] == "head":
		return files[0], headRange(words)
	case len(parts) == 2 && (words[0] == "nl" || words[0] == "cat") && strings.HasPrefix(parts[1], "sed "):
		return rangeOf(files[0], shellWords(parts[1]))
	}
	return "", ""
}

func rangeOf(file string, words []string) (path, lines string) {
	if !slices.Contains(words, "-n") {
		return "", ""
	}
	for _, w := range words {
		m := sedRange.FindStringSubmatch(w)
		if m == nil {
			continue
		}
		from, _ := parseInt(m[1])
		to := from
		if m[2] != "" {
			to, _ = parseInt(m[2])
		}
		if to < from {
			return "", ""
		}
		return file, fmt.Sprintf("%d:%d", from, to-from+1)
	}
	return "", ""
}

func headRange(words []string) string {
	for i, w := range words {
		n := strings.TrimPrefix(strings.TrimPrefix(w, "-"), "n")
		if w == "-n" && i+1 < len(words) {
			n = words[i+1]
		}
		if strings.HasPrefix(w, "-") && isDigits(n) {
			return "1:" + n
		}
	}
	return "1:10"
}

func isDigits(s string) bool {
	_, ok := parseInt(s)
	return ok
}
