package compress

import (
	"regexp"
	"strconv"
	"strings"
)

// after is how many lines behind a failure line the careful profile keeps: what
// was expected, where it happened.
const after = 2

// shorten leaves out the lines of a log between its head and its tail that report
// no failure. It says whether it left any out.
func (p Profile) shorten(lines []string, handle string) (out []string, lossy bool) {
	if len(lines) <= p.Head+p.Tail {
		return lines, false
	}
	keep := p.kept(lines)
	out = make([]string, 0, p.Head+p.Tail+16)
	for i := 0; i < len(lines); {
		if keep[i] {
			out = append(out, lines[i])
			i++
			continue
		}
		from := i
		for i < len(lines) && !keep[i] {
			i++
		}
		marker := p.omitted(i-from, handle)
		if p.careful && !longer(strings.Join(lines[from:i], "\n"), units(marker)) {
			out = append(out, lines[from:i]...)
			continue
		}
		out = append(out, marker)
		lossy = true
	}
	return out, lossy
}

// kept marks the lines that stay.
func (p Profile) kept(lines []string) []bool {
	keep := make([]bool, len(lines))
	until := p.Head // lines before this one stay
	for i, line := range lines {
		failed := p.isFailure(line)
		if failed && p.careful {
			until = max(until, i+1+after)
		}
		keep[i] = failed || i < until || i >= len(lines)-p.Tail || p.careful && isOmissionMarker(line)
	}
	return keep
}

const omittedLead = "[... "

// omitted is the line that stands for lines left out.
func (p Profile) omitted(lines int, handle string) string {
	if p.careful && handle == "" {
		return omittedLead + strconv.Itoa(lines) + " lines omitted ...]"
	}
	return omittedLead + strconv.Itoa(lines) + " lines omitted — full output via the `output` tool, id=\"" + handle + "\" ...]"
}

func isOmissionMarker(line string) bool {
	return strings.HasPrefix(line, omittedLead) && strings.HasSuffix(line, " ...]") && strings.Contains(line, " lines omitted") ||
		strings.HasPrefix(line, "... [truncated ")
}

// failureWords are FreeCode's: whole words, any case. "not ok" and the two signs
// are looked for apart.
var failureWords = map[string]bool{
	"error": true, "fail": true, "failed": true, "failure": true, "fatal": true,
	"exception": true, "traceback": true, "panic": true,
}

// moreFailureWords are those the careful profile knows beside them: plurals, shells,
// linkers, kernels, assertion libraries, package managers.
var moreFailureWords = map[string]bool{
	"errors": true, "failures": true, "failing": true, "fails": true, "exceptions": true, "err": true,
	"panicked": true, "panics": true, "segfault": true, "segmentation": true, "dumped": true,
	"aborted": true, "abort": true, "aborting": true, "killed": true, "oom": true, "terminated": true,
	"undefined": true, "unresolved": true, "unreachable": true, "undeclared": true,
	"cannot": true, "unable": true, "denied": true, "refused": true, "rejected": true, "unsupported": true,
	"timeout": true, "conflict": true, "conflicts": true, "vulnerability": true, "vulnerabilities": true,
	"assert": true, "assertion": true, "assertionerror": true, "mismatch": true, "mismatched": true,
	"expected": true, "unexpected": true, "invalid": true, "missing": true, "critical": true, "severe": true,
	"leak": true, "race": true, "deadlock": true, "violation": true, "eresolve": true, "enoent": true,
}

// place finds the place a compiler, linter, test or stack trace points at:
// file.ext:12, a.ts(12,3). Python's is File "x", line 12.
var place = regexp.MustCompile(`[\w)\]]\.[A-Za-z]\w{0,5}(:[0-9]+|\([0-9]+,[0-9]+\))`)

// errorEnds end the names of errors: TypeError, java.io.IOException.
var errorEnds = []string{"Error", "Exception", "Failure", "Warning"}

// hasErrorName looks for the name of an error.
func hasErrorName(line string) bool {
	for _, end := range errorEnds {
		for from := 0; ; {
			i := strings.Index(line[from:], end)
			if i < 0 {
				break
			}
			from += i + len(end)
			if begin := from - len(end); begin > 0 && isWordByte(line[begin-1]) && (from == len(line) || !isWordByte(line[from])) {
				return true
			}
		}
	}
	return false
}

// isFailure says whether a line reports a failure.
func (p Profile) isFailure(line string) bool {
	if strings.ContainsRune(line, '✗') || strings.ContainsRune(line, '✖') || hasWord(line, p.careful) {
		return true
	}
	return p.careful && isCarefulFailure(line)
}

func isCarefulFailure(line string) bool {
	for _, sign := range []string{"❌", "✘", "× ", "could not ", "Could not ", "not found", "No such ", "no such ", "timed out"} {
		if strings.Contains(line, sign) {
			return true
		}
	}
	if strings.HasPrefix(line, "E   ") || strings.Contains(line, ", line ") {
		return true
	}
	// The patterns are slow; most lines hold nothing they could match.
	return strings.ContainsAny(line, ":(") && place.MatchString(line) || hasErrorName(line)
}

// hasWord looks for the failure words as a case-blind regular expression of
// JavaScript would: words are runs of ASCII letters, digits and underscores, and
// case folds within ASCII only.
func hasWord(line string, careful bool) bool {
	before := "" // the word that ended one space before this one
	for i := 0; i < len(line); {
		if !isWordByte(line[i]) {
			i++
			continue
		}
		from := i
		for i < len(line) && isWordByte(line[i]) {
			i++
		}
		w := lower(line[from:i])
		if failureWords[w] || w == "ok" && before == "not" || w == "err" && i < len(line) && line[i] == '!' {
			return true
		}
		if careful && moreFailureWords[w] {
			return true
		}
		before = ""
		if i+1 < len(line) && line[i] == ' ' && isWordByte(line[i+1]) {
			before = w
		}
	}
	return false
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// lower makes a short word lower case; longer ones are no failure words.
func lower(word string) string {
	if len(word) > 16 {
		return ""
	}
	return strings.ToLower(word)
}

// escapes are the terminal sequences that only colour, move or clear.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]`)

// withoutNoise takes out of a log what no reader of it sees: terminal sequences,
// and what a progress bar overwrote on its own line unless it reports a failure.
func withoutNoise(text string) string {
	if strings.IndexByte(text, '\x1b') >= 0 {
		// An escape character left over shows nothing by itself.
		text = strings.ReplaceAll(escapes.ReplaceAllString(text, ""), "\x1b", "")
	}
	if strings.IndexByte(text, '\r') < 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = lastWritten(line)
	}
	return strings.Join(lines, "\n")
}

// lastWritten returns what a line showed last: the text behind its last carriage
// return that has any, together with overwritten parts that report a failure or
// are no progress.
func lastWritten(line string) string {
	end := ""
	if strings.HasSuffix(line, "\r") {
		line, end = line[:len(line)-1], "\r"
	}
	parts := strings.Split(line, "\r")
	kept := parts[:0]
	for i, part := range parts {
		if i == len(parts)-1 || !isProgress(part) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\r") + end
}

// progress finds what only a bar or counter shows: a share, a bar, a count of all.
var progress = regexp.MustCompile(`[0-9]%|\[[=#>. -]{3,}\]|[0-9]+/[0-9]+|[█▏▎▍▌▋▊▉━╸░▒▓⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`)

func isProgress(part string) bool {
	return strings.TrimSpace(part) == "" || progress.MatchString(part) && !Careful().isFailure(part)
}
