package compress

import "strings"

// wrapper is a command that only starts another one.
type wrapper struct {
	values string // its flags that take a value
	skip   int    // arguments of its own before the other command
	sub    string // subcommands that make it a wrapper, separated by spaces; "" none needed
}

// wrappers by name. Where a tool does other things too, sub says when it wraps.
var wrappers = map[string]wrapper{
	"sudo": {values: "-u -g -h -p -C -U -r -t"}, "doas": {values: "-u -C"},
	"env":     {values: "-u --unset -C --chdir"},
	"timeout": {values: "-s --signal -k --kill-after", skip: 1}, "gtimeout": {values: "-s -k", skip: 1},
	"nice": {values: "-n --adjustment"}, "ionice": {values: "-c -n"}, "chrt": {skip: 1},
	"nohup": {}, "setsid": {}, "stdbuf": {values: "-i -o -e"}, "unbuffer": {}, "chronic": {}, "caffeinate": {},
	"time": {values: "-f -o --format"}, "xvfb-run": {values: "-s -n --server-args"}, "exec": {values: "-a"}, "builtin": {},
	"npx": {values: "-p --package -c"}, "bunx": {}, "uvx": {values: "--from --with"}, "pipx": {sub: "run"},
	"uv":     {sub: "run", values: "--with --python -p --extra --group --directory --project --env-file"},
	"poetry": {sub: "run"}, "pipenv": {sub: "run"}, "pdm": {sub: "run"}, "rye": {sub: "run"}, "hatch": {sub: "run"},
	"pixi": {sub: "run"}, "bundle": {sub: "exec"}, "dotenv": {values: "-f -e", sub: "run"}, "cross-env": {},
	"conda": {sub: "run", values: "-n --name -p --prefix --cwd"}, "mamba": {sub: "run", values: "-n --name -p"}, "micromamba": {sub: "run", values: "-n -p"},
	"mise": {sub: "exec x"}, "direnv": {sub: "exec", skip: 1}, "rtx": {sub: "exec x"}, "devbox": {sub: "run"},
	"npm": {sub: "exec x"}, "pnpm": {sub: "exec dlx"}, "yarn": {sub: "exec dlx"}, "bun": {sub: "x"},
	"docker":  {sub: "exec", skip: 1, values: "-e --env -u --user -w --workdir --env-file"},
	"podman":  {sub: "exec", skip: 1, values: "-e --env -u --user -w --workdir"},
	"kubectl": {sub: "exec", skip: 1, values: "-n --namespace -c --container"},
}

// unwrap returns the command that a command starts.
func (c call) unwrap(name string) (call, bool) {
	w, ok := wrappers[name]
	if !ok {
		return call{}, false
	}
	if name == "docker" && c.arg(0) == "compose" && c.arg(1) == "exec" {
		c, w.values = c.from(0), w.values+" --index"
	}
	n := 0
	if w.sub != "" {
		if !contains(w.sub, c.arg(0)) {
			return call{}, false
		}
		n = 1
	}
	args, skip := c.args(), w.skip
	for ; n < len(args); n++ {
		a := args[n].text
		switch {
		case a == "--":
		case contains(w.values, a):
			n++
		case strings.HasPrefix(a, "-") && len(a) > 1:
		case isAssignment(args[n]):
		case skip > 0:
			skip--
		default:
			return c.from(n), true
		}
	}
	return call{}, false
}

// starts judges commands that run others: shells with their -c argument or
// here-document, the words behind ssh or eval, xargs, find. ok is false where the
// command is none of them.
func (j judge) starts(c call, name string, in flow) (k Kind, ok bool) {
	switch name {
	case "bash", "sh", "zsh", "dash", "ksh", "fish":
		return j.shell(c), true
	case "powershell", "pwsh":
		return j.powershell(c), true
	case "cmd":
		if strings.EqualFold(c.arg(0), "/c") {
			return j.script(joined(c.from(1)), true), true
		}
		return Other, true
	case "eval":
		return j.inner(joined(c.from(0))), true
	case "ssh":
		if far := c.operands("-i -p -o -l -F -J -L -R -D -b -c -e -m -S -W -w"); len(far) > 1 {
			return j.inner(joined(call{words: far[1:]})), true
		}
		return Other, true
	case "xargs", "parallel":
		return j.xargs(c, in), true
	case "find", "gfind", "fd", "fdfind":
		return j.find(c), true
	}
	return "", false
}

// joined writes words as the other side of ssh or eval reads them.
func joined(c call) string {
	texts := make([]string, len(c.words))
	for i, w := range c.words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// shell judges bash -c SCRIPT and the like; options may be bundled with the c.
func (j judge) shell(c call) Kind {
	for n, w := range c.args() {
		a := w.text
		switch {
		case a == "-o" || a == "+o" || a == "-O":
		case strings.HasPrefix(a, "--") && a != "--":
		case strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c"):
			return j.inner(c.arg(n + 1))
		case strings.HasPrefix(a, "-"), n > 0 && contains("-o +o -O", c.arg(n-1)), n > 0 && strings.HasSuffix(c.arg(n-1), "o") && c.arg(n - 1)[0] == '-':
		default:
			return Other // a script file
		}
	}
	if c.here != nil {
		return j.inner(c.here.body)
	}
	return Other
}

// powershell judges powershell -Command SCRIPT; the words behind it are the script.
func (j judge) powershell(c call) Kind {
	for n, w := range c.args() {
		switch flag := strings.ToLower(w.text); {
		case strings.HasPrefix("-command", flag) && len(flag) > 1:
			return j.script(joined(c.from(n+1)), true)
		case strings.HasPrefix("-file", flag) && len(flag) > 1, strings.HasPrefix(flag, "-enc"):
			return Other
		case !strings.HasPrefix(flag, "-") && n == 0:
			return j.script(joined(c.from(0)), true)
		}
	}
	return Other
}

// xargs judges the command it runs on what comes through the pipe.
func (j judge) xargs(c call, in flow) Kind {
	args := c.args()
	for n := 0; n < len(args); n++ {
		a := args[n].text
		if contains("-I -n -P -L -d -E -a -s -j --max-args --max-procs --delimiter --replace", a) {
			n++
			continue
		}
		if !strings.HasPrefix(a, "-") {
			rest := c.from(n)
			// A file name stands for those that the pipe brings.
			rest.words = append(rest.words[:len(rest.words):len(rest.words)], word{text: "FILE"})
			return j.run(rest, flow{})
		}
	}
	return in.kind
}

// find judges a search for files by what it does with them.
func (j judge) find(c call) Kind {
	args := c.args()
	all, acts := silent, false
	for n := 0; n < len(args); n++ {
		switch a := args[n].text; a {
		case "-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch":
			end := n + 1
			for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && end > n+1) {
				end++
			}
			all, acts = together(all, j.run(call{words: args[n+1 : end]}, flow{})), true
			n = end
		case "-delete", "-quit":
			acts = true
		case "-ls", "-l", "--list-details", "-fls":
			return Other
		case "-print", "-print0", "-printf":
			all = together(all, Search)
		case "--help", "--version", "-version":
			return Other
		}
	}
	if !acts {
		return Search
	}
	return all
}
