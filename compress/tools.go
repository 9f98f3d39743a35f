package compress

import (
	"path"
	"strings"
)

// git prints diffs and files, matches and paths, or its state.
func git(_ judge, c call, _ flow) Kind {
	c, ok := c.withoutGlobals("-C -c --git-dir --work-tree --namespace --exec-path")
	if !ok {
		return Other
	}
	switch c.name() {
	case "diff", "show", "format-patch", "range-diff":
		return gitDiff(c)
	case "log", "stash", "reflog", "whatchanged":
		if c.has("-p", "--patch", "-u") || c.hasPrefix("-L") || c.name() == "whatchanged" {
			return Source
		}
		return Other
	case "blame", "annotate", "cat-file":
		if c.name() == "cat-file" && !c.has("-p") && c.arg(0) != "blob" {
			return Other
		}
		return Source
	case "grep":
		if c.counting() {
			return Other
		}
		return Search
	case "ls-files":
		if c.has("-s", "--stage", "--eol", "--debug") {
			return Other
		}
		return Search
	case "add", "rm", "rev-parse", "symbolic-ref", "update-index", "init":
		return silent
	}
	return Other
}

// noPatch are the flags that make git list or count instead of showing a diff.
const noPatch = "--stat --shortstat --numstat --dirstat --summary --name-only --name-status --raw --check --no-patch -s --quiet --exit-code --compact-summary --cumulative"

func gitDiff(c call) Kind {
	if c.has("-p", "--patch", "-u", "--patch-with-stat") {
		return Source
	}
	for _, w := range c.args() {
		name, _, _ := strings.Cut(w.text, "=")
		if w.text == "--" {
			break
		}
		if contains(noPatch, name) {
			return Other
		}
	}
	return Source
}

// withoutGlobals steps over the flags between a tool and its subcommand.
func (c call) withoutGlobals(withValue string) (call, bool) {
	args := c.args()
	for n := 0; n < len(args); n++ {
		a := args[n].text
		switch {
		case contains(withValue, a):
			n++
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
		default:
			return c.from(n), true
		}
	}
	return c, false
}

func (c call) hasPrefix(flag string) bool {
	for _, w := range c.args() {
		if strings.HasPrefix(w.text, flag) {
			return true
		}
	}
	return false
}

func gh(_ judge, c call, _ flow) Kind {
	switch {
	case c.arg(0) == "pr" && c.arg(1) == "diff" && !c.has("--name-only"):
		return Source
	case c.arg(0) == "run" && (c.arg(1) == "watch" || c.arg(1) == "view" && c.has("--log", "--log-failed")):
		return Log
	}
	return Other
}

// subcommand is a tool whose output is a log for some subcommands. Those in nested
// have subcommands of their own, of the same names.
func subcommand(logs, nested string) judgment {
	return func(_ judge, c call, _ flow) Kind {
		c, ok := c.withoutGlobals("-C --directory --project -p -n --namespace -f --chdir")
		if ok && contains(nested, c.name()) {
			c, ok = c.withoutGlobals("")
			if ok && contains("install create update uninstall sync", c.name()) {
				return Log
			}
		}
		if ok && contains(logs, c.words[0].text) {
			return c.report()
		}
		return Other
	}
}

// packageInfo are the subcommands of JavaScript package managers that print data.
var packageInfo = set(`ls list ll la view info show why outdated config get set root bin prefix help whoami ping search explain query fund pkg version
store cache login logout init create owner token profile licenses pm doctor env repo docs bugs home audit access dist-tag team star sbom completion dedupe`)

// packageLogs are those that print a log.
const packageLogs = "ci i install add update up upgrade remove uninstall un rm rebuild test t start stop restart run-script publish pack link prune install-test it import fetch"

// packageScripts are names of scripts that may be called without run.
const packageScripts = "dev build test lint start typecheck type-check check format fmt e2e coverage compile clean verify validate preview watch unit integration ci serve bundle prepare typegen storybook"

func npm(j judge, c call, in flow) Kind {
	manager := c.name()
	c, ok := c.withoutGlobals("--filter -F --prefix -C --dir --cwd -w --workspace --reporter --loglevel")
	if !ok {
		if manager == "yarn" {
			return Log // yarn alone installs
		}
		return Other
	}
	verb := c.words[0].text
	base, _, _ := strings.Cut(verb, ":")
	switch {
	case verb == "run" || verb == "run-script":
		return c.runScript()
	case verb == "workspace" && len(c.words) > 2:
		return npm(j, c.from(0), in)
	case contains(packageLogs, verb):
		return c.report()
	case packageInfo[verb], manager == "npm":
		return Other
	case contains(packageScripts, base):
		return Log
	case strings.HasSuffix(verb, ".js") || strings.HasSuffix(verb, ".ts"):
		return Other
	}
	return j.run(c, in) // a tool of the project
}

// runScript is what a script of the project prints: a log, unless it is named or is
// a file of code, or nothing is named and the scripts are listed.
func (c call) runScript() Kind {
	script, ok := c.withoutGlobals("")
	if !ok || path.Ext(script.words[0].text) != "" {
		return Other
	}
	return script.report()
}

func cargo(_ judge, c call, _ flow) Kind {
	c, ok := c.withoutGlobals("--manifest-path --color --config -Z")
	if !ok {
		return Other
	}
	switch {
	case c.name() == "fmt" && c.has("--check"), c.name() == "expand":
		return Source
	case contains("build b check c test t clippy bench install add update doc nextest fetch publish fix fmt clean package llvm-cov tarpaulin audit deny", c.name()):
		for _, w := range c.args() {
			if strings.HasPrefix(w.text, "--message-format=json") || w.text == "--list" {
				return Other
			}
		}
		return Log
	}
	return Other
}

func golang(_ judge, c call, _ flow) Kind {
	switch verb := c.arg(0); {
	case contains("test build vet install get generate clean fmt", verb):
		return c.from(0).report()
	case verb == "mod" && contains("tidy download vendor verify", c.arg(1)), verb == "work" && c.arg(1) == "sync":
		return Log
	}
	return Other
}

// formatter lists files, shows a diff, or prints the file itself.
func formatter(_ judge, c call, in flow) Kind {
	switch {
	case c.has("-l", "--list", "-w"):
		return Other
	case len(c.operands("-r")) > 0:
		return Source
	}
	return in.through()
}

func prettier(_ judge, c call, _ flow) Kind {
	if c.has("--check", "-c", "--write", "-w", "--list-different", "-l") {
		return Log
	}
	return Source
}

// task runs a task of the project, or lists them.
func task(_ judge, c call, _ flow) Kind {
	if len(c.args()) == 0 || c.has("-l", "--list", "--summary", "--list-all", "-a", "--dump", "--show", "--evaluate") {
		return Other
	}
	return Log
}

func docker(j judge, c call, in flow) Kind {
	switch verb := c.arg(0); {
	case contains("build pull push logs buildx", verb):
		return Log
	case verb == "compose":
		return compose(j, c.from(0), in)
	}
	return Other
}

func compose(_ judge, c call, _ flow) Kind {
	c, ok := c.withoutGlobals("-f --file -p --project-name --profile --env-file --project-directory")
	if ok && contains("up build pull push logs down start stop restart create rm", c.name()) {
		return Log
	}
	return Other
}
