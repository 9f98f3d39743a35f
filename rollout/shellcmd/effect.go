package shellcmd

import (
	"regexp"
	"slices"
	"strings"
)

// looking are programs that change nothing, whatever their arguments.
var looking = map[string]bool{
	"ls": true, "cat": true, "head": true, "tail": true, "wc": true, "rg": true, "grep": true, "egrep": true, "fgrep": true,
	"nl": true, "pwd": true, "echo": true, "printf": true, "stat": true, "file": true, "tree": true, "cut": true, "tr": true,
	"uniq": true, "which": true, "whoami": true, "date": true, "du": true, "df": true, "ps": true, "diff": true, "cmp": true,
	"jq": true, "basename": true, "dirname": true, "realpath": true, "readlink": true, "test": true, "[": true, "true": true,
	"false": true, "cd": true, "type": true, "id": true, "uname": true, "sleep": true, "wait": true, "pgrep": true, "lsof": true,
	"column": true, "comm": true, "sha256sum": true, "md5sum": true, "strings": true, "seq": true, "exit": true, "break": true,
}

var lookingGit = []string{"status", "diff", "log", "show", "ls-files", "ls-tree", "blame", "rev-parse", "grep", "describe", "shortlog"}

// checkers run code of the project but leave its files alone, as a rule.
var checkers = regexp.MustCompile(`^(?:go (?:test|vet|build)|cargo (?:test|check|clippy)|pytest|python3? -m (?:pytest|unittest)|npm (?:test|run (?:test|lint|build|check))|make (?:test|check|lint)|tsc|eslint|ruff check|mypy)\b`)

// loopWords are shell keywords that stand before a command.
var loopWords = []string{"until", "while", "do", "done", "if", "then", "else", "fi", "!", "(", ")", "{", "}", "time", "command"}

var (
	harmlessRedirect = regexp.MustCompile(`\d*>&\d|&?\d*>>?\s*/dev/null`)
	quoted           = regexp.MustCompile("'[^']*'|\"[^\"$`]*\"")
	joints           = regexp.MustCompile(`&&|\|\||[;|&\n]`)
)

// Effect says whether a command line cannot change anything, and whether it may
// change files. Tests and builds are neither: they run code, but what was read
// before stays true.
func Effect(command string) (readOnly, mutates bool) {
	plain := quoted.ReplaceAllString(harmlessRedirect.ReplaceAllString(command, ""), "Q")
	if strings.TrimSpace(plain) == "" {
		return false, false
	}
	if strings.ContainsAny(plain, "><`") || strings.Contains(plain, "$(") {
		return false, true
	}
	readOnly = true
	for _, part := range joints.Split(plain, -1) {
		words := commandWords(part)
		switch {
		case len(words) == 0 || looks(words):
		case checkers.MatchString(strings.Join(words, " ")):
			readOnly = false
		default:
			return false, true
		}
	}
	return readOnly && !Backgrounds(command), false
}

// commandWords are the words of a simple command, without the keywords and
// assignments before it.
func commandWords(part string) []string {
	words := strings.Fields(part)
	for len(words) > 0 && (slices.Contains(loopWords, words[0]) || assignment.MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "for" {
		return nil
	}
	return words
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// looks says whether a simple command changes nothing.
func looks(words []string) bool {
	has := func(f func(string) bool) bool { return slices.ContainsFunc(words, f) }
	switch name := words[0][strings.LastIndexByte(words[0], '/')+1:]; name {
	case "git":
		return len(words) > 1 && slices.Contains(lookingGit, words[1])
	case "sed":
		return !has(func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" })
	case "find":
		return !has(func(w string) bool { return strings.HasPrefix(w, "-exec") || w == "-delete" || w == "-ok" })
	case "sort":
		return !slices.Contains(words, "-o")
	case "tmux":
		return len(words) > 1 && (words[1] == "capture-pane" || words[1] == "ls" || words[1] == "list-sessions" || words[1] == "has-session")
	case "kill":
		return len(words) > 1 && words[1] == "-0"
	default:
		return looking[name]
	}
}
