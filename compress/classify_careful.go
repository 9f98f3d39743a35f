package compress

import (
	"path"
	"regexp"
	"strings"
)

// silent is what a command prints that prints nothing, or no more than a fixed
// line: it does not count beside anything else. It never leaves this package.
const silent Kind = ""

// maxScripts limits how often a script may hold a script (bash -c, ssh, eval), and
// maxStarters how many commands may start one another (sudo, xargs, find -exec):
// each of them looks at all the words again.
const (
	maxScripts  = 4
	maxStarters = 16
)

// cmdlet finds a PowerShell command.
var cmdlet = regexp.MustCompile(`(?:^|[|;({]\s*)(?:Get|Set|Select|Where|ForEach|Sort|Out|Write|Test|New|Remove|Copy|Move|Measure|Format|Convert|Import|Export|Start|Stop|Invoke|Resolve)-[A-Z][A-Za-z]+`)

// classifyCareful reads the command line as a shell would and judges every command
// in it. Commands that print nothing to speak of do not count. Where all others
// print the same kind, that is it; where any of them prints text of files, all is
// source, so that nothing of it is touched; other mixtures, and whatever is not
// understood, are other.
func classifyCareful(line string) Kind {
	j := judge{judges: judges()}
	if k := j.inner(line); k != silent {
		return k
	}
	return Other
}

// judge decides what the parts of one script print.
type judge struct {
	ps     bool // it is PowerShell
	depth  int  // scripts around it, itself included
	judges map[string]judgment

	starters int // commands that started the one that is judged, itself included
}

// judgment decides what one command prints.
type judgment func(judge, call, flow) Kind

// inner judges a script inside this one.
func (j judge) inner(script string) Kind {
	return j.script(script, cmdlet.MatchString(strings.TrimSpace(script)))
}

func (j judge) script(script string, ps bool) Kind {
	if j.depth++; j.depth > maxScripts {
		return Other
	}
	j.ps = ps
	j.starters = 0
	list, ok := parseShell(script, ps)
	if !ok {
		return Other
	}
	return j.list(list)
}

func (j judge) list(list []pipeline) Kind {
	all := silent
	for _, pl := range list {
		all = together(all, j.pipeline(pl))
	}
	return all
}

// together is what two commands print one after the other.
func together(a, b Kind) Kind {
	switch {
	case a == silent:
		return b
	case b == silent || a == b:
		return a
	case a == Source || b == Source:
		return Source
	}
	return Other
}

// flow is what reaches a command through the pipe.
type flow struct {
	piped bool
	kind  Kind
}

func (j judge) pipeline(pl pipeline) Kind {
	in := flow{}
	for _, c := range pl {
		in = flow{true, j.command(c, in)}
	}
	return in.kind
}

func (j judge) command(c command, in flow) Kind {
	switch {
	case c.silent:
		return silent
	case c.opaque:
		return Other
	case c.group != nil:
		return j.list(c.group)
	}
	words := c.words
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || j.ps && len(words) > 1 && strings.HasPrefix(words[0].text, "$") && words[1].text == "=" {
		return silent
	}
	return j.run(call{words: words, here: c.here}, in)
}

func isAssignment(w word) bool {
	name, _, ok := strings.Cut(w.text, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if !isWordByte(name[i]) && !(name[i] == '+' && i == len(name)-1) {
			return false
		}
	}
	return true
}

// call is a simple command without its assignments.
type call struct {
	words []word
	here  *pendingHere
}

// name is the command's name without its folder.
func (c call) name() string {
	w := c.words[0]
	if w.runs || w.vars && !strings.Contains(w.text, "/") {
		return "$"
	}
	name := path.Base(strings.ReplaceAll(w.text, `\`, "/"))
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ext)
	}
	if strings.Contains(name, "-") && cmdlet.MatchString(name) {
		return strings.ToLower(name)
	}
	return name
}

// arg returns the nth argument, "" if there is none.
func (c call) arg(n int) string {
	if n+1 < len(c.words) {
		return c.words[n+1].text
	}
	return ""
}

func (c call) args() []word { return c.words[1:] }

// from is the command that begins with the nth argument.
func (c call) from(n int) call {
	return call{words: c.words[min(n+1, len(c.words)):], here: c.here}
}

// has says whether one of the flags is among the arguments: long ones whole or with
// a value, short ones also in a bundle.
func (c call) has(flags ...string) bool {
	for _, w := range c.args() {
		if w.text == "--" {
			return false
		}
		for _, f := range flags {
			if hasFlag(w.text, f) {
				return true
			}
		}
	}
	return false
}

func hasFlag(arg, flag string) bool {
	if arg == flag || len(flag) > 2 && strings.HasPrefix(arg, flag+"=") {
		return true
	}
	bundle := len(flag) == 2 && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && len(arg) <= 6
	return bundle && strings.IndexByte(arg[1:], flag[1]) >= 0
}

// operands are the arguments that are no flags, nor the values of the given flags.
func (c call) operands(withValue string) []word {
	var out []word
	args := c.args()
	for i := 0; i < len(args); i++ {
		a := args[i].text
		switch {
		case a == "--":
			return append(out, args[i+1:]...)
		case a == "-" || a == "" || a[0] != '-':
			out = append(out, args[i])
		case contains(withValue, a):
			i++
		}
	}
	return out
}

// contains says whether a word is in a list of words separated by spaces.
func contains(list, w string) bool {
	return strings.Contains(" "+list+" ", " "+w+" ")
}

// run judges a command: first what only starts another one, then by its name.
func (j judge) run(c call, in flow) Kind {
	if j.starters++; j.starters > maxStarters || len(c.words) == 0 {
		return Other
	}
	name := c.name()
	if rest, ok := c.unwrap(name); ok {
		return j.run(rest, in)
	}
	if k, ok := j.starts(c, name, in); ok {
		return k
	}
	if c.asksForHelp() {
		return Other
	}
	if f, ok := j.judges[name]; ok {
		return f(j, c, in)
	}
	switch {
	case quiet[name]:
		return silent
	case builders[name]:
		return c.report()
	}
	return Other
}

// asksForHelp says whether a command only tells about itself.
func (c call) asksForHelp() bool {
	for _, w := range c.args() {
		switch w.text {
		case "--help", "--version", "-version":
			return true
		case "--":
			return false
		}
	}
	return false
}

// report is what a tool of the log kind prints: a log, unless it was asked for data.
func (c call) report() Kind {
	for _, w := range c.args() {
		a := w.text
		switch {
		case contains(dataFlags, a), strings.Contains(a, "reporter=json"), strings.Contains(a, "format=json"), strings.HasPrefix(a, "--json="):
			return Other
		case a == "--diff":
			return Source
		}
	}
	for i := range len(c.args()) {
		if a := c.arg(i); (a == "--format" || a == "-f" || a == "--reporter" || a == "--output-format" || a == "-o") && c.arg(i+1) == "json" {
			return Other
		}
	}
	return Log
}

// dataFlags make a tool print a list or a document instead of its log.
const dataFlags = "--json -json --list --list-tests --listTests --collect-only --co --showConfig --listFiles --print-config --listFilesOnly -list --dump --stdout"

// echo prints a fixed line, unless what it prints is computed.
func echo(_ judge, c call, _ flow) Kind {
	for _, w := range c.args() {
		if w.runs {
			return Other
		}
	}
	fixed, vars := 0, false
	for _, w := range c.args() {
		vars = vars || w.vars
		if !w.vars {
			fixed += len(strings.TrimSpace(w.text))
			continue
		}
		fixed += len(variable.ReplaceAllString(w.text, ""))
	}
	if vars && fixed < 2 {
		return Other
	}
	return silent
}

// variable finds a variable in a word.
var variable = regexp.MustCompile(`\$(\{[^}]*\}|\w+|.)|\s+`)
