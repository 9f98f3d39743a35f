package detour

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/rollout"
)

// lookKind says how a call looks at text.
type lookKind int

const (
	readLook   lookKind = iota // shows a file or a part of it
	searchLook                 // shows lines that match
	runLook                    // anything else that prints
)

// look is one thing a call looks at. A shell line may hold several.
type look struct {
	kind    lookKind
	path    string // file, or folder of a search; "" the working directory
	whole   bool   // every file below path is shown
	part    string // which part of the file: range or filter, "" all of it
	pattern string // of a search
	within  string // other limits of a search: glob, file type
	words   []string
	filters string // what the text is piped through
}

// looks lists what a call looks at; nil where nothing is known.
func looks(s *rollout.Session, c rollout.Call) []look {
	switch {
	case c.Class == rollout.ReadTool && c.Path != "" && c.Command == "":
		return []look{{kind: readLook, path: c.Path, part: c.Range}}
	case c.Class == rollout.SearchTool && c.Command == "":
		return []look{searchOf(s.Texts[c.Args].S, c.Path)}
	case commandOf(s, c) != "":
		return shellLooks(commandOf(s, c))
	}
	return nil
}

var scripted = regexp.MustCompile(`["']?cmd["']?\s*:\s*("(?:[^"\\]|\\.)*")`)

// commandOf is the shell line of a call; of a script, its shell lines one after
// the other.
func commandOf(s *rollout.Session, c rollout.Call) string {
	if c.Command != "" || c.Class != rollout.ShellTool {
		return c.Command
	}
	var lines []string
	for _, m := range scripted.FindAllStringSubmatch(s.Texts[c.Args].S, -1) {
		var line string
		if json.Unmarshal([]byte(m[1]), &line) == nil {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// searchOf reads the arguments that the agents' search tools share.
func searchOf(args, where string) look {
	var fields map[string]any
	_ = json.Unmarshal([]byte(args), &fields)
	text := func(name string) string { s, _ := fields[name].(string); return s }
	l := look{kind: searchLook, path: where, pattern: text("pattern"), within: text("glob") + text("include") + text("type")}
	if l.path == "" {
		l.path = text("path")
	}
	l.part = text("output_mode")
	for _, name := range []string{"head_limit", "offset"} {
		if n, ok := fields[name]; ok {
			b, _ := json.Marshal(n)
			l.part += " " + name + string(b)
		}
	}
	return l
}

func shellLooks(command string) []look {
	var out []look
	for _, p := range pipelines(command) {
		out = append(out, pipelineLooks(p)...)
	}
	return out
}

// viewers show files as they are; nl numbers the lines.
var viewers = map[string]bool{"cat": true, "head": true, "tail": true, "nl": true, "sed": true, "less": true, "more": true, "bat": true, "strings": true, "awk": true}

var searchers = map[string]bool{"grep": true, "egrep": true, "fgrep": true, "rg": true, "ag": true, "ack": true}

func pipelineLooks(p pipeline) []look {
	first := p[0]
	filters := describe(p[1:])
	switch {
	case viewers[first[0]] && !inPlace(first):
		return viewerLooks(first, filters)
	case searchers[first[0]]:
		return searcherLooks(first, filters)
	case first[0] == "find" && slices.ContainsFunc(first, func(w string) bool { return viewers[w] }) && len(first) > 1:
		return []look{{kind: readLook, path: first[1], whole: true, part: "find " + filters}}
	}
	return []look{{kind: runLook, words: plainWords(first), filters: filters}}
}

func inPlace(w stage) bool {
	return w[0] == "sed" && slices.ContainsFunc(w, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" })
}

func describe(stages []stage) string {
	var parts []string
	for _, s := range stages {
		parts = append(parts, strings.Join(s, " "))
	}
	return strings.Join(parts, " | ")
}

// viewerLooks splits the words of a viewer into files and what part of them.
func viewerLooks(w stage, filters string) []look {
	var files, part []string
	script := w[0] == "sed" || w[0] == "awk"
	for i := 1; i < len(w); i++ {
		switch {
		case strings.HasPrefix(w[i], "-") && w[i] != "-":
			part = append(part, w[i])
			if (w[i] == "-n" || w[i] == "-c") && w[0] != "sed" && w[0] != "cat" && i+1 < len(w) {
				i++
				part = append(part, w[i])
			}
			if w[i] == "-e" && script && i+1 < len(w) {
				i++
				part = append(part, w[i])
				script = false
			}
		case script, duration.MatchString(strings.TrimPrefix(w[i], "+")):
			part = append(part, w[i])
			script = false
		default:
			files = append(files, w[i])
		}
	}
	what := partOf(w[0], part, filters)
	out := make([]look, len(files))
	for i, f := range files {
		out[i] = look{kind: readLook, path: f, part: what}
	}
	return out
}

var whole = map[string]bool{"cat": true, "nl": true, "less": true, "more": true, "bat": true, "strings": true}

// partOf is "" where a whole file is shown.
func partOf(program string, part []string, filters string) string {
	if whole[program] {
		return filters
	}
	return strings.TrimSpace(program + " " + strings.Join(part, " ") + " " + filters)
}

// takesValue are options of search programs whose next word is their value.
var takesValue = map[string]bool{
	"-A": true, "-B": true, "-C": true, "-m": true, "-g": true, "--glob": true, "-t": true, "--type": true, "-T": true, "--max-count": true,
}

func searcherLooks(w stage, filters string) []look {
	l := look{kind: searchLook, filters: filters}
	var places []string
	found := false
	for i := 1; i < len(w); i++ {
		switch {
		case w[i] == "-e" && i+1 < len(w):
			i++
			l.pattern, found = strings.TrimPrefix(l.pattern+"|"+w[i], "|"), true
		case w[i] == "--files":
			found = true
		case takesValue[w[i]] && i+1 < len(w):
			i++
			if strings.HasPrefix(w[i-1], "-g") || strings.HasPrefix(w[i-1], "--g") || strings.HasPrefix(w[i-1], "-t") || strings.HasPrefix(w[i-1], "--t") {
				l.within += w[i]
			}
		case strings.HasPrefix(w[i], "-g") && len(w[i]) > 2, strings.HasPrefix(w[i], "--include="), strings.HasPrefix(w[i], "--glob="):
			l.within += strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(w[i], "--include="), "--glob="), "-g")
		case strings.HasPrefix(w[i], "-"):
		case !found:
			l.pattern, found = w[i], true
		default:
			places = append(places, w[i])
		}
	}
	if strings.Trim(l.within, "*") == "" {
		l.within = ""
	}
	if len(places) == 0 {
		return []look{l}
	}
	out := make([]look, len(places))
	for i, p := range places {
		out[i] = l
		out[i].path = p
	}
	return out
}

// plainWords are the words that say what a command is about: no options.
func plainWords(w stage) []string {
	out := []string{w[0]}
	for _, word := range w[1:] {
		if !strings.HasPrefix(word, "-") {
			out = append(out, word)
		}
	}
	return out
}

// samePath compares paths where one may be relative to a folder unknown here.
func samePath(a, b string) bool {
	a, b = clean(a), clean(b)
	if a == b {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && b != "." && strings.Contains(b, ".") && strings.HasSuffix(a, "/"+b)
}

// inside says whether a path lies in a folder, or is it.
func inside(p, folder string) bool {
	p, folder = clean(p), clean(folder)
	return folder == "" || folder == "." || p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

func clean(p string) string {
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), "./")
}

// kindOf is the output kind of a call: what a read or search tool shows is source
// or matches, and a shell line is what the careful profile takes it for.
func kindOf(s *rollout.Session, c rollout.Call) compress.Kind {
	switch {
	case c.Class == rollout.ReadTool:
		return compress.Source
	case c.Class == rollout.SearchTool:
		return compress.Search
	}
	return compress.Careful().Classify(commandOf(s, c))
}
