package compress

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// numbersAnywhere finds, in a command line that cannot be read, what asks for
	// line numbers.
	numbersAnywhere = regexp.MustCompile(`(?:^|[\s;&|('"])(?:nl(?:\s|$)|(?:cat|grep|rg)\s+(?:\S+\s+)*?-\w*n)|\bF?NR\b|\bReadCount\b|\bLineNumber\b`)
	awkNumbers      = regexp.MustCompile(`print[^}]*\bF?NR\b`)
	sedNumbers      = regexp.MustCompile(`(?:^|[;\s\d,$/{])=(?:$|[;\s}])`)
	perlNumbers     = regexp.MustCompile(`\$\.`)
	pythonNumbers   = regexp.MustCompile(`\benumerate\(`)
	loopNumbers     = regexp.MustCompile(`\+\+|\+=\s*1|ReadCount|LineNumber`)
)

// AsksNumbers says whether a command line has its own output numbered line by
// line, as nl, cat -n and grep -n do. No agent numbers what a shell prints, so
// such numbers are there because the model wanted them.
func AsksNumbers(command string) bool {
	ps := cmdlet.MatchString(strings.TrimSpace(command))
	if _, ok := parseShell(command, ps); !ok {
		return numbersAnywhere.MatchString(command) || ps && loopNumbers.MatchString(command)
	}
	asked := ps && loopNumbers.MatchString(command)
	j := judge{judges: map[string]judgment{}}
	for name, asks := range numbering() {
		j.judges[name] = func(_ judge, c call, in flow) Kind {
			asked = asked || asks(c)
			return in.through()
		}
	}
	j.inner(command)
	return asked
}

// numbering holds the commands that can number lines, with what makes them do so.
func numbering() map[string]func(call) bool {
	always := func(call) bool { return true }
	flags := func(list ...string) func(call) bool {
		return func(c call) bool { return c.has(list...) }
	}
	says := func(what *regexp.Regexp) func(call) bool {
		return func(c call) bool {
			here := c.here != nil && what.MatchString(c.here.body)
			return here || slices.ContainsFunc(c.args(), func(w word) bool { return what.MatchString(w.text) })
		}
	}
	grep, print := flags("-n", "--line-number"), flags("-n", "-b", "--number", "--number-nonblank")
	return map[string]func(call) bool{
		"nl": always, "select-string": always, "sls": always,
		"cat": print, "tac": print, "bat": print, "batcat": print, "pr": flags("-n"), "less": flags("-N", "--LINE-NUMBERS"),
		"grep": grep, "egrep": grep, "fgrep": grep, "zgrep": grep, "ggrep": grep, "rg": grep, "ag": grep, "ack": grep, "ugrep": grep,
		"git": func(c call) bool {
			return slices.ContainsFunc(c.args(), func(w word) bool { return w.text == "grep" }) && grep(c)
		},
		"awk": says(awkNumbers), "gawk": says(awkNumbers), "mawk": says(awkNumbers), "sed": says(sedNumbers), "gsed": says(sedNumbers),
		"perl": says(perlNumbers), "python": says(pythonNumbers), "python3": says(pythonNumbers), "py": says(pythonNumbers),
	}
}
