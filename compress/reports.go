package compress

import (
	"regexp"
	"strings"
)

// When the lines of a text that are not empty make it a log. Chosen on the source of
// the Go library, on texts in other languages and on real outputs of builds and
// tests: what is printed from files hardly ever has a line that only a log has.
const (
	logShare = 0.2 // at least so many are lines that only a log has
	codeRun  = 40  // lines of code in a row that a log does not print, unless
	ownShare = 0.5 // so many lines are its own
	neutral  = 5   // lines that are neither, in a row, that end a run
)

// reports says whether a text is what a tool tells about its work, rather than what
// stands in a file. A command need not tell: a script can print a file as well as
// run a build. The features need no language: only where times, levels, results of
// tests, progress or names of steps begin enough lines, and no long stretch of code
// or data stands between them, lines may be left out. In doubt a text is no log.
func reports(text string) bool {
	lines, logs, run, longest, since := 0, 0, 0, 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		lines++
		switch {
		case isLogLine(line):
			logs++
			run, since = 0, 0
		case isCodeLine(line):
			run++
			longest, since = max(longest, run), 0
		default:
			if since++; since > neutral {
				run = 0
			}
		}
	}
	share := float64(logs) / float64(max(lines, 1))
	return share >= logShare && (longest < codeRun || share >= ownShare)
}

// Lines that only a log has. All are looked for at one end of a line: inside, source
// holds the same words.
var (
	logStart = regexp.MustCompile(`^\s{0,8}(?:` + strings.Join([]string{
		`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d`, `\[?\d{4}/\d\d/\d\d \d\d:\d\d`, `\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? `, `[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d `, // times
		`\[\s*(?i:trace|debug|info|warn|warning|error|notice|fatal|critical)\s*\]`, `(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)(?::| {1,3}[^=\s(])`, // levels
		`(?i:npm|yarn|pnpm) (?i:err!|warn|notice|info)\b`, `(?:warning|error|note)(?:\[\w+\])?: `,
		`(?:PASS|FAIL|ok|not ok|SKIP)(?:$|\s+\S)`, `=== (?:RUN|PAUSE|CONT|NAME)\b`, `--- (?:PASS|FAIL|SKIP|BENCH): `, `(?:PASSED|FAILED|SKIPPED|XFAIL)(?:$| )`, `[✓✔✗✖×√] `, `[.FsxEX]{8,}(?:\s*\[\s*\d+%\])?$`, // tests
		`[=*_-]{4,} .{1,100} [=*_-]{4,}$`, `Tests?(?: Files| Suites)?:?\s+\d+ `, `test .{1,200} \.\.\. \w+$`, // summaries
		`\[\s*\d+/\d+\] `, `\[\s*\d{1,3}%\] `, `\d{1,3}%[ |]`, `#\d+ (?:\d+\.\d+ |\[|DONE|CACHED|ERROR|sha256:)`, `(?:Step|Get|Hit|Ign|Fetched)[ :]\d+`, `[0-9a-f]{12}: \w`, // progress
		`(?:Compiling|Checking|Finished|Downloading|Downloaded|Installing|Installed|Building|Built|Collecting|Fetching|Resolving|Unpacking|Preparing|Removing|Updating|Using cached|Requirement already|Successfully|Linking|Generating|Copying|Extracting|Selecting|Pulling|Pushed|Pulled|Running|Executing|Started|Starting|Stopping|Bundling|Transforming|Setting up|Processing triggers|go: downloading) ?[^\s=:({;]`, // steps
		`make(?:\[\d+\])?: `, `(?:CC|CXX|LD|AR|AS|GEN|HOSTCC|INSTALL) {1,8}[\w./-]+$`, `(?:gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|ld|ar) -\S+ `, `> Task :`, `\[(?:INFO|WARNING|ERROR)\] `, // builds
	}, "|") + `)`)
	resultEnd  = regexp.MustCompile(`(?: (?:PASSED|FAILED|SKIPPED|XFAIL|XPASS|UP-TO-DATE)(?:\s*\[\s*\d+%\])?|\.\.\. (?:ok|done|FAILED|ignored)|\s\[\s*\d{1,3}%\])$`)
	measureEnd = regexp.MustCompile(`(?: (?:ok|OK|FAIL|ERROR)| \(?\d+(?:\.\d+)? ?m?s\)?|\s\d+(?:\.\d+)? ?[kMG]?i?B(?:/s)?)$`)
)

// isLogLine says whether only a log would hold a line.
func isLogLine(line string) bool {
	const longest = 2000 // of one line; what is behind tells nothing new
	line = line[:min(len(line), longest)]
	return logStart.MatchString(line) || resultEnd.MatchString(line) || measureEnd.MatchString(line) && !isCodeLine(line)
}

// isCodeLine says whether a line looks like code, markup or data: by how it ends, by
// what it begins with, or by how much of it is punctuation.
func isCodeLine(line string) bool {
	text := strings.TrimSpace(line)
	if text == "" {
		return false
	}
	switch text[len(text)-1] {
	case '{', '}', ';', ',', '(', '[', ']', '\\', '>', '|':
		return true
	}
	if strings.ContainsRune("{}<@#+|", rune(text[0])) || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "- ") {
		return true
	}
	marks := 0
	for i := range len(text) {
		if strings.IndexByte("{}()[]<>=;,:\"'&|$*+\\", text[i]) >= 0 {
			marks++
		}
	}
	return 10*marks >= len(text)
}
