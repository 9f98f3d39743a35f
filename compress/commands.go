package compress

import (
	"regexp"
	"strconv"
	"strings"
)

// set makes a set of words separated by white space.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// quiet commands print nothing, or a fixed line.
var quiet = set(`cd pushd popd mkdir rm rmdir mv cp ln touch chmod chown chgrp install kill pkill killall sleep wait true false : export unset set
source . alias unalias shopt test [ [[ read exit return trap ulimit umask local declare typeset readonly let shift break continue pwd date whoami
hostname basename dirname readlink realpath which type hash tput clear mktemp open xdg-open deactivate nvm fnm pyenv apply_patch rsync unzip gunzip
set-location start-sleep new-item remove-item copy-item move-item set-content add-content out-file out-null set-executionpolicy sync fg bg disown jobs`)

// builders are tools whose output is a log whatever they are asked to do.
var builders = set(`make gmake ninja cmake meson scons ant mvn mvnw gradle gradlew sbt lein cabal stack buck2 waf xcodebuild msbuild ctest
gcc g++ clang clang++ cc c++ rustc javac kotlinc scalac nvcc ghc tsc vue-tsc swiftc ld
pytest py.test tox nox unittest vitest jest mocha ava jasmine karma tap tape phpunit pest rspec cucumber behave robot playwright cypress wdio
eslint oxlint biome tslint stylelint standard xo ruff mypy pyright basedpyright pylint flake8 bandit isort black golangci-lint staticcheck revive
shellcheck hadolint rubocop standardrb ktlint detekt checkstyle phpstan psalm pre-commit lint-staged commitlint knip depcheck
webpack rollup esbuild parcel gulp grunt turbo nx lerna tsup swc electron-builder next nuxt vite astro remix ng tauri expo
apt apt-get apk yum dnf zypper choco winget scoop pip pip3 pipenv ansible-playbook packer journalctl dmesg configure compileall py_compile`)

// judges are the commands that need a closer look, by name.
func judges() map[string]judgment {
	return map[string]judgment{
		"cat": reads(""), "bat": reads("-r --line-range -l --language"), "batcat": reads("-r -l"), "tac": reads(""), "zcat": reads(""),
		"gzcat": reads(""), "bzcat": reads(""), "xzcat": reads(""), "zstdcat": reads(""), "less": reads(""), "more": reads(""),
		"head": reads("-n -c --lines --bytes"), "tail": reads("-n -c --lines --bytes -s --pid"), "nl": reads("-b -w -s -v -n -i -f -h -d -l"),
		"expand": reads("-t"), "tee": passes, "uniq": counts("-c --count"), "sort": sorts, "sed": sed, "gsed": sed, "awk": awk, "gawk": awk, "mawk": awk, "perl": perl,
		"diff": diffs, "colordiff": diffs, "delta": passes, "patch": fixed(Other), "diff-so-fancy": passes,
		"grep": grep, "egrep": grep, "fgrep": grep, "zgrep": grep, "ggrep": grep, "rg": grep, "ag": grep, "ack": grep, "ugrep": grep,
		"locate": fixed(Search), "mdfind": fixed(Search), "plocate": fixed(Search),
		"git": git, "gh": gh, "echo": echo, "printf": echo, "command": commandWord, "write-host": echo, "write-output": echo,
		"npm": npm, "pnpm": npm, "yarn": npm, "bun": npm, "deno": subcommand("test check lint fmt cache compile install task bench", ""),
		"cargo": cargo, "go": golang, "gofmt": formatter, "goimports": formatter, "rustfmt": formatter, "prettier": prettier,
		"dotnet": subcommand("build test restore publish pack clean format", ""), "swift": subcommand("build test", ""), "zig": subcommand("build test", ""),
		"flutter": subcommand("build test pub analyze run", ""), "dart": subcommand("test analyze pub compile", ""), "mix": subcommand("test compile deps.get deps.compile credo format dialyzer", ""),
		"rebar3": subcommand("compile ct eunit dialyzer", ""), "dune": subcommand("build test runtest", ""), "bazel": subcommand("build test run coverage", ""), "bazelisk": subcommand("build test run coverage", ""),
		"composer": subcommand("install update require test", ""), "bundle": subcommand("install update", ""), "gem": subcommand("install update", ""), "rake": fixed(Log), "rails": subcommand("test", ""),
		"brew": subcommand("install upgrade update reinstall", ""), "conda": subcommand("install create update", "env"), "mamba": subcommand("install create update", ""), "micromamba": subcommand("install create update", ""),
		"uv": subcommand("sync add lock remove build", "pip"), "poetry": subcommand("install add update lock build remove", ""), "pdm": subcommand("install add update lock build sync", ""),
		"mise": subcommand("run install", ""), "just": task, "task": task,
		"docker": docker, "podman": docker, "docker-compose": compose, "kubectl": subcommand("logs apply", ""), "helm": subcommand("install upgrade", ""), "terraform": subcommand("init apply validate", ""),
		"python": python, "python3": python, "py": python, "node": node, "tsx": node, "log": subcommand("show stream", ""),
		"get-content": psReads, "gc": psReads, "type": psReads, "select-string": fixed(Search), "sls": fixed(Search), "findstr": fixed(Search),
		"select-object": psPasses, "select": psPasses, "out-string": passes, "out-host": passes, "where-object": passes, "where": passes, "?": passes, "sort-object": passes,
	}
}

func fixed(k Kind) judgment {
	return func(judge, call, flow) Kind { return k }
}

// passes prints what comes through the pipe.
func passes(_ judge, _ call, in flow) Kind { return in.through() }

// through is the kind of what a filter passes on; without a pipe there is nothing
// to say.
func (f flow) through() Kind {
	if !f.piped {
		return Other
	}
	return f.kind
}

// reads prints the files it names, else what comes through the pipe.
func reads(withValue string) judgment {
	return func(_ judge, c call, in flow) Kind {
		for _, w := range c.operands(withValue) {
			switch {
			case w.text == "-":
			case strings.HasPrefix(w.text, "/dev/"):
				return Other
			default:
				return Source
			}
		}
		if c.hasProcess() {
			return Source
		}
		return in.through()
	}
}

// hasProcess says whether an argument is the output of a command, as if a file.
func (c call) hasProcess() bool {
	for _, w := range c.args() {
		if w.runs && w.text == "" {
			return true
		}
	}
	return false
}

// counts passes the pipe on unless a flag makes it count.
func counts(flags ...string) judgment {
	list := strings.Fields(strings.Join(flags, " "))
	return func(_ judge, c call, in flow) Kind {
		if c.has(list...) {
			return Other
		}
		return in.through()
	}
}

// sorts keeps lists what they are; a sorted log is no log any more.
func sorts(_ judge, c call, in flow) Kind {
	if k := in.through(); k != Log && len(c.operands("-k -t -o -S -T")) == 0 {
		return k
	}
	return Other
}

// ranges is a sed script that only picks lines by number or pattern.
var ranges = regexp.MustCompile(`^[\s;]*(([0-9$]+|/[^/]*/)(,\s*([0-9$+~]+|/[^/]*/))?\s*!?[pqd]?[\s;]*|[pqd])+$`)

func sed(_ judge, c call, in flow) Kind {
	if c.has("-i", "--in-place") || strings.HasPrefix(c.arg(0), "-i") {
		return silent
	}
	files := c.operands("-e -f --expression --file -l")
	script := ""
	if !c.has("-e", "--expression", "-f", "--file") && len(files) > 0 {
		script, files = files[0].text, files[1:]
	} else {
		script = c.arg(1)
	}
	switch {
	case len(files) > 0:
		return Source
	case ranges.MatchString(script):
		return in.through()
	}
	return Other
}

// picks is an awk program that only picks lines, maybe with their number.
var picks = regexp.MustCompile(`^\s*(F?NR\s*[<>=!]=?\s*[0-9]+|&&|\|\||,|\s)+(\{\s*print( \$0| ?F?NR ?"[^"$]*" ?\$0)?\s*;?\s*\})?\s*$`)

func awk(_ judge, c call, in flow) Kind {
	files := c.operands("-F -v -f")
	if len(files) == 0 || !picks.MatchString(files[0].text) {
		return Other
	}
	if len(files) > 1 {
		return Source
	}
	return in.through()
}

func perl(_ judge, c call, _ flow) Kind {
	for _, w := range c.args() {
		if a := w.text; strings.HasPrefix(a, "-") && strings.Contains(a, "i") && strings.Contains(a, "e") && len(a) < 8 || a == "-i" || strings.HasPrefix(a, "-i.") {
			return silent
		}
	}
	return Other
}

func diffs(_ judge, c call, _ flow) Kind {
	if c.has("-q", "--brief", "-s") {
		return Other
	}
	return Source
}

// wideContext is how many lines around a match make a search print text of files.
const wideContext = 10

// grepValues and rgValues are the flags that take a value.
const (
	grepValues = "-e -f -m -A -B -C -d -D --regexp --file --max-count --context --after-context --before-context --include --exclude"
	rgValues   = grepValues + " -g -t -T -j -E -M -r --glob --iglob --type --type-not --max-depth --sort --sortr --color --replace --encoding --threads"
)

// grep judges the searches in texts. Without files, in a pipe, it picks lines.
func grep(_ judge, c call, in flow) Kind {
	tool := c.name()
	values := grepValues
	if tool == "rg" {
		values = rgValues
	}
	operands := c.operands(values)
	if tool == "rg" && c.has("--files") {
		return Search
	}
	pattern, explicit := "", c.has("-e", "--regexp", "-f", "--file")
	if !explicit && len(operands) > 0 {
		pattern, operands = operands[0].text, operands[1:]
	}
	recursive := contains("rg ag ack ugrep", tool) || c.has("-r", "-R", "--recursive")
	fromPipe := in.piped && len(operands) == 0 && !c.has("-r", "-R", "--recursive")
	switch {
	case c.quiet():
		return silent
	case c.counting():
		return Other
	case c.has("-l", "-L", "--files-with-matches", "--files-without-match"):
		return Search
	case c.inverts() || !explicit && matchesAll(pattern) || c.context() >= wideContext || c.has("--passthru"):
		if fromPipe {
			return in.through()
		}
		return Source
	case !fromPipe && len(operands) == 0 && !recursive && !explicit && c.here == nil:
		return Other
	}
	return Search
}

func matchesAll(pattern string) bool { return contains(`^ $ . .* ^.* .+`, pattern) || pattern == "" }

// quiet, counting and inverts read grep's flags. The bundled ones are looked at
// letter by letter, up to one that takes the rest as its value.
func (c call) quiet() bool { return c.has("--quiet", "--silent") || c.letter('q') }

func (c call) counting() bool {
	return c.has("--count", "--count-matches", "--json", "--stats", "--type-list") || c.letter('c')
}

func (c call) inverts() bool { return c.has("--invert-match") || c.letter('v') }

func (c call) letter(flag byte) bool {
	for _, w := range c.args() {
		a := w.text
		if a == "--" {
			return false
		}
		if w.quoted || len(a) < 2 || a[0] != '-' || a[1] == '-' {
			continue
		}
		for i := 1; i < len(a); i++ {
			if a[i] == flag {
				return true
			}
			if strings.IndexByte("efmABCdDgtTjEMr", a[i]) >= 0 && !(a[i] == 'E' || a[i] == 'r') {
				break
			}
		}
	}
	return false
}

// context is the largest number of lines around a match that was asked for.
func (c call) context() int {
	most := 0
	args := c.args()
	for i, w := range args {
		m := contextFlag.FindStringSubmatch(w.text)
		if m == nil {
			continue
		}
		value := m[1] + m[2]
		if value == "" && i+1 < len(args) {
			value = args[i+1].text
		}
		if n, err := strconv.Atoi(value); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// contextFlag finds the flags of grep and rg for lines around a match.
var contextFlag = regexp.MustCompile(`^(?:-[a-zA-Z]*[ABC]([0-9]*)|--(?:after-|before-)?context(?:=([0-9]*))?)$`)

func commandWord(j judge, c call, in flow) Kind {
	if strings.HasPrefix(c.arg(0), "-") {
		return silent
	}
	return j.run(c.from(0), in)
}

func node(_ judge, c call, _ flow) Kind {
	if c.has("--test") {
		return Log
	}
	return Other
}

// python judges the modules that are tools; everything else is a program.
func python(j judge, c call, in flow) Kind {
	for n, w := range c.args() {
		switch {
		case w.text == "-m":
			if rest := c.from(n + 1); len(rest.words) > 0 && contains("pytest unittest pip py_compile compileall mypy ruff black flake8 pylint tox nox isort build", rest.words[0].text) {
				if rest.words[0].text == "build" {
					return Log
				}
				return j.run(rest, in)
			}
			return Other
		case w.text == "setup.py" && contains("build install test develop sdist bdist_wheel build_ext", c.arg(n+1)):
			return Log
		case strings.HasSuffix(w.text, "manage.py") && contains("test migrate check", c.arg(n+1)):
			return Log
		case !strings.HasPrefix(w.text, "-"):
			return Other
		}
	}
	return Other
}

// psReads prints a file in PowerShell; type is a builtin elsewhere.
func psReads(j judge, c call, in flow) Kind {
	if c.name() == "type" && !j.ps {
		return silent
	}
	if len(c.args()) == 0 {
		return in.through()
	}
	return Source
}

// psPasses keeps lines unless it makes objects of some of their properties.
func psPasses(_ judge, c call, in flow) Kind {
	for _, w := range c.args() {
		switch a := strings.ToLower(w.text); {
		case strings.HasPrefix(a, "-f"), strings.HasPrefix(a, "-l"), strings.HasPrefix(a, "-sk"):
		case strings.Trim(a, "0123456789") == "":
		default:
			return Other
		}
	}
	return in.through()
}
