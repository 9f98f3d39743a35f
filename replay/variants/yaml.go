package variants

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fclog/fclog/internal/smallfile"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Own is a variant that a user put together in a YAML file.
type Own struct {
	Name  string
	Title string
	Doc   string
	Steps []replay.Step
}

// ownFile is the YAML file:
//
//	variants:
//	  - name: quiet
//	    title: shorter builds, no progress lines
//	    steps:
//	      - use: compress
//	        options: {head: 20, tail: 40}
//	      - replace:
//	          class: shell
//	          pattern: '(?m)^Downloading .*\n'
//	          with: ''
//	          lossy: false
//	      - add:
//	          text: Answer in one sentence.
//	          kind: system_prompt
type ownFile struct {
	Variants []ownVariant `yaml:"variants"`
}

type ownVariant struct {
	Name  string    `yaml:"name"`
	Title string    `yaml:"title"`
	Doc   string    `yaml:"doc"`
	Steps []ownStep `yaml:"steps"`
}

// ownStep is one of use, replace and add.
type ownStep struct {
	Use     string         `yaml:"use"`
	Options map[string]any `yaml:"options"`
	Replace *replaceRule   `yaml:"replace"`
	Add     *addRule       `yaml:"add"`
}

// replaceRule replaces what a regular expression finds in results of a tool or of a
// class of tools, of all where neither is named.
type replaceRule struct {
	Tool    string `yaml:"tool"`
	Class   string `yaml:"class"`
	Command string `yaml:"command"` // expression that the shell command must match
	Pattern string `yaml:"pattern"`
	With    string `yaml:"with"`  // $1 stands for the first group
	Lossy   *bool  `yaml:"lossy"` // nil: true
}

// addRule adds a constant text to every request.
type addRule struct {
	Text string `yaml:"text"`
	Kind string `yaml:"kind"` // item kind; "" system_prompt
}

// maxOwn bounds a file of own variants, in bytes.
const maxOwn = 1 << 20

// Load reads own variants from a YAML file. An error names file, line and key.
func Load(path string) ([]Own, error) {
	data, err := smallfile.Read(path, maxOwn)
	if err != nil {
		return nil, fmt.Errorf("reading variants: %w", err)
	}
	return parseOwn(path, data)
}

func parseOwn(path string, data []byte) ([]Own, error) {
	var file ownFile
	tree, err := readYAML(path, data, &file)
	if err != nil {
		return nil, err
	}
	r := &ownReader{path: path, tree: tree, taken: map[string]bool{}}
	if len(file.Variants) == 0 {
		return nil, r.errorf("$", "variants", "there are none; want a list")
	}
	for _, v := range All() {
		r.taken[v.Name] = true
	}
	var out []Own
	for i, v := range file.Variants {
		own, err := r.variant(fmt.Sprintf("$.variants[%d]", i), v)
		if err != nil {
			return nil, err
		}
		out = append(out, own)
	}
	return out, nil
}

type ownReader struct {
	path     string
	tree     *yaml.Node
	taken    map[string]bool // names that are in use
	patterns int             // instructions of all patterns so far
}

// errorf names the line of a key below a place of the file, or of the place itself
// where the key is missing.
func (r *ownReader) errorf(at, key, format string, args ...any) error {
	line := 1
	if n := find(r.tree, at); n != nil {
		line = n.Line
		if value := child(n, key); value != nil {
			line = value.Line
		}
	}
	return fmt.Errorf("%s:%d: %s: %s", r.path, line, key, fmt.Sprintf(format, args...))
}

var ownName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (r *ownReader) variant(at string, v ownVariant) (Own, error) {
	own := Own{Name: v.Name, Title: v.Title, Doc: v.Doc}
	switch {
	case !ownName.MatchString(v.Name):
		return own, r.errorf(at, "name", "want letters, digits, - and _, got %q", v.Name)
	case r.taken[v.Name]:
		return own, r.errorf(at, "name", "there is a variant %q already", v.Name)
	case len(v.Steps) == 0:
		return own, r.errorf(at, "steps", "there are none; want a list of use, replace and add")
	}
	r.taken[v.Name] = true
	for i, s := range v.Steps {
		step, err := r.step(fmt.Sprintf("%s.steps[%d]", at, i), s)
		if err != nil {
			return own, err
		}
		own.Steps = append(own.Steps, step)
	}
	return own, nil
}

func (r *ownReader) step(at string, s ownStep) (replay.Step, error) {
	kinds := 0
	for _, given := range []bool{s.Use != "", s.Replace != nil, s.Add != nil} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return replay.Step{}, r.errorf(at, "use", "a step has exactly one of use, replace and add, this one %d", kinds)
	case s.Options != nil && s.Use == "":
		return replay.Step{}, r.errorf(at, "options", "only a step with use takes options")
	case s.Replace != nil:
		return r.replace(at+".replace", *s.Replace)
	case s.Add != nil:
		return r.add(at+".add", *s.Add)
	}
	return r.use(at, s)
}

func (r *ownReader) use(at string, s ownStep) (replay.Step, error) {
	v, ok := Find(s.Use)
	if !ok {
		return replay.Step{}, r.errorf(at, "use", "%v", unknownVariant(nil, s.Use))
	}
	given := replay.Values{}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		switch value := s.Options[name].(type) {
		case string, bool, int, int64, uint64, float64:
			given[name] = fmt.Sprint(value)
		default:
			return replay.Step{}, r.errorf(at+".options", name, "want text or a number")
		}
		if _, err := settle(v, replay.Values{name: given[name]}); err != nil && namesOption(err, name) {
			return replay.Step{}, r.errorf(at+".options", name, "%v", err)
		}
	}
	values, err := settle(v, given)
	if err != nil {
		return replay.Step{}, r.errorf(at, "options", "%v", err)
	}
	return replay.Step{Variant: v, Values: values}, nil
}

// namesOption tells an error about this option from one about an option that still
// has no value.
func namesOption(err error, name string) bool {
	return strings.Contains(err.Error(), "option "+name+":") || strings.Contains(err.Error(), fmt.Sprintf("%q", name))
}

func (r *ownReader) replace(at string, rule replaceRule) (replay.Step, error) {
	if rule.Pattern == "" {
		return replay.Step{}, r.errorf(at, "pattern", "want a regular expression")
	}
	pattern, err := r.compile(rule.Pattern)
	if err != nil {
		return replay.Step{}, r.errorf(at, "pattern", "%v", err)
	}
	command, err := r.compile(rule.Command)
	if err != nil {
		return replay.Step{}, r.errorf(at, "command", "%v", err)
	}
	if err := classOption().Check(rule.Class); err != nil {
		return replay.Step{}, r.errorf(at, "class", "%v", err)
	}
	only := selector{tool: rule.Tool, class: rollout.ToolClass(rule.Class)}
	return replay.Step{Variant: replaceVariant(only, command, pattern, rule.With, rule.Lossy == nil || *rule.Lossy)}, nil
}

// What patterns may cost, in instructions of the matcher. Some thousand characters
// of repetitions within repetitions could take all memory, and each instruction may
// be tried at each byte of a text.
const (
	maxPattern  = 10_000
	maxPatterns = 100_000 // of one file
)

func (r *ownReader) compile(pattern string) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	n := instructions(tree)
	r.patterns += n
	switch {
	case n > maxPattern:
		return nil, fmt.Errorf("the expression is too large: its repetitions written out make %d steps, more than %d", n, maxPattern)
	case r.patterns > maxPatterns:
		return nil, fmt.Errorf("the expressions of this file together are too large: more than %d steps", maxPatterns)
	}
	return regexp.Compile(pattern)
}

// instructions is about how many the matcher needs for an expression, repetitions
// written out.
func instructions(e *syntax.Regexp) int {
	n, times := 1+len(e.Rune), 1
	if e.Op == syntax.OpRepeat {
		times = max(e.Min, e.Max, 1)
	}
	for _, sub := range e.Sub {
		n += times * instructions(sub)
	}
	return n
}

// replaceVariant replaces what a pattern finds in the results selected.
func replaceVariant(only selector, command, pattern *regexp.Regexp, with string, lossy bool) replay.Variant {
	return replay.Variant{
		Name:  "replace",
		Title: "text of results replaced by a rule of one's own",
		Needs: []string{"text of tool results"},
		Plan: func(v replay.View, _ replay.Values) replay.Plan {
			if why := noResults(v.Session); why != "" {
				return replay.Plan{Unsupported: why}
			}
			var g growth
			plan := replay.Plan{Edits: rewriteResults(v, true, func(r result, text string) (rewrite, bool) {
				line := ""
				if r.call >= 0 {
					line = v.Session.Calls[r.call].Command
				}
				if !only.takes(v.Session, r) || !command.MatchString(line) {
					return rewrite{}, false
				}
				out, ok := replaceAll(pattern, text, with)
				return rewrite{text: out, lossy: lossy, why: "rule"}, ok && g.takes(text, out) || !ok && g.refuse()
			})}
			plan.Warnings = g.warnings(v.Session.ID)
			return plan
		},
	}
}

// maxMatches is how often a pattern may be found in one text.
const maxMatches = 1 << 20

// replaceAll is Regexp.ReplaceAllString as far as growth goes: false for a text that
// would grow beyond all bounds, or is matched in too many places.
func replaceAll(pattern *regexp.Regexp, text, with string) (string, bool) {
	found := pattern.FindAllStringSubmatchIndex(text, maxMatches+1)
	if len(found) > maxMatches {
		return "", false
	}
	var out []byte
	end, groups := 0, strings.Count(with, "$")
	for _, at := range found {
		out = append(out, text[end:at[0]]...)
		if most := len(out) + len(with) + groups*(at[1]-at[0]); most > 2*maxLonger+len(text) {
			return "", false // one expansion alone may take all memory
		}
		out = pattern.ExpandString(out, with, text, at)
		if end = at[1]; len(out) > maxLonger+len(text) {
			return "", false
		}
	}
	return string(append(out, text[end:]...)), true
}

// addedKinds are what a constant text can be. Reminders ride at the end of the
// payload, all others at its start.
var addedKinds = []rollout.ItemKind{rollout.SystemPrompt, rollout.ToolDefinitions, rollout.ProjectContext, rollout.Reminder}

func (r *ownReader) add(at string, rule addRule) (replay.Step, error) {
	kind := rollout.ItemKind(rule.Kind)
	if kind == "" {
		kind = rollout.SystemPrompt
	}
	if !slices.Contains(addedKinds, kind) {
		return replay.Step{}, r.errorf(at, "kind", "want one of %v, got %q", addedKinds, rule.Kind)
	}
	if rule.Text == "" {
		return replay.Step{}, r.errorf(at, "text", "want the text to add")
	}
	return replay.Step{Variant: addVariant(kind, rule.Text)}, nil
}
