package prompts

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rule is something a prompt must say because the cost of a task hangs on it.
type Rule struct {
	ID             string // short and stable
	Title          string // the rule in one line
	Why            string // what happens without it
	satisfied      []pattern
	contradictions []pattern
	Passes         []string // texts that satisfy it
	Fails          []string // texts that do not, near misses among them
	Turned         []string // texts that fail because they say the opposite
}

// pattern matches a sentence that holds all of the first and none of the second.
// The first of all carries the meaning: negations that reach it turn it round.
// Negative ones hold one negation themselves. In neutral words nothing negates.
type pattern struct {
	all, none, neutral []*regexp.Regexp
	negative           bool
}

//go:embed rules.yaml
var rulesFile []byte

// Rules returns the shipped rules.
func Rules() ([]Rule, error) { return ParseRules(rulesFile) }

// ruleRow is a rule as the file writes it.
type ruleRow struct {
	ID           string       `yaml:"id"`
	Title        string       `yaml:"title"`
	Why          string       `yaml:"why"`
	Satisfied    []patternRow `yaml:"satisfied_by"`
	Contradicted []patternRow `yaml:"contradicted_by"`
	Passes       []string     `yaml:"passes"`
	Fails        []string     `yaml:"fails"`
	Turned       []string     `yaml:"turned"`
}

type patternRow struct {
	All      []string `yaml:"all"`
	None     []string `yaml:"none"`
	Neutral  []string `yaml:"neutral"`
	Negative bool     `yaml:"negative"`
}

// ParseRules reads rules. Patterns are regular expressions, matched without
// regard to case against one sentence at a time.
func ParseRules(data []byte) ([]Rule, error) {
	var rows []ruleRow
	strict := yaml.NewDecoder(bytes.NewReader(data))
	strict.KnownFields(true)
	if err := strict.Decode(&rows); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading rules: %w", err)
	}
	seen := map[string]bool{}
	out := make([]Rule, 0, len(rows))
	for _, row := range rows {
		if row.ID == "" || seen[row.ID] || len(row.Satisfied) == 0 {
			return nil, fmt.Errorf("rule %q: no id, one used twice, or nothing that satisfies it", row.ID)
		}
		seen[row.ID] = true
		rule, err := row.compile()
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", row.ID, err)
		}
		out = append(out, rule)
	}
	return out, nil
}

func (row ruleRow) compile() (Rule, error) {
	r := Rule{ID: row.ID, Title: row.Title, Why: row.Why, Passes: row.Passes, Fails: row.Fails, Turned: row.Turned}
	var err error
	if r.satisfied, err = compilePatterns(row.Satisfied); err != nil {
		return r, err
	}
	r.contradictions, err = compilePatterns(row.Contradicted)
	return r, err
}

func compilePatterns(rows []patternRow) ([]pattern, error) {
	var out []pattern
	for _, row := range rows {
		if len(row.All) == 0 {
			return nil, fmt.Errorf("a pattern without all")
		}
		p := pattern{negative: row.Negative}
		for _, list := range []struct {
			from []string
			into *[]*regexp.Regexp
		}{{row.All, &p.all}, {row.None, &p.none}, {row.Neutral, &p.neutral}} {
			for _, expr := range list.from {
				re, err := regexp.Compile("(?i)" + expr)
				if err != nil {
					return nil, err
				}
				*list.into = append(*list.into, re)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func (p pattern) match(sentence string) bool {
	for _, re := range p.all {
		if !re.MatchString(sentence) {
			return false
		}
	}
	for _, re := range p.none {
		if re.MatchString(sentence) {
			return false
		}
	}
	return true
}

// Satisfied returns the first sentence of a text that says what the rule asks for.
func (r Rule) Satisfied(text string) (sentence string, ok bool) {
	for _, s := range sentences(text) {
		if r.affirms(s) {
			return s, true
		}
	}
	return "", false
}

// Contradicted returns the first sentence of a text that says the opposite.
func (r Rule) Contradicted(text string) (sentence string, ok bool) {
	for _, s := range sentences(text) {
		if r.denies(s) {
			return s, true
		}
	}
	return "", false
}

func (r Rule) affirms(sentence string) bool {
	return anyJudged(r.satisfied, sentence, affirmed)
}

// denies says whether a sentence says the opposite: in words of its own, or in
// those of the rule turned round.
func (r Rule) denies(sentence string) bool {
	if anyJudged(r.contradictions, sentence, affirmed) {
		return true
	}
	return !r.affirms(sentence) && anyJudged(r.satisfied, sentence, inverted)
}

func anyJudged(patterns []pattern, sentence string, want polarity) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool { return p.judge(sentence) == want })
}

// Holds says whether a text satisfies the rule and nowhere says the opposite.
func (r Rule) Holds(text string) bool {
	_, satisfied := r.Satisfied(text)
	_, contradicted := r.Contradicted(text)
	return satisfied && !contradicted
}

var (
	blockStart  = regexp.MustCompile(`^\s*(?:[-*+•]\s|\d+[.)]\s|#|<|\||` + "```" + `)`)
	listPoint   = regexp.MustCompile(`^(?:[-*+•]|\d+[.)])\s+`)
	sentenceEnd = regexp.MustCompile(`[.!?]["')\]*_` + "`" + `]*\s+`)
	shortForm   = regexp.MustCompile(`(?i)\b(?:e\.g|i\.e|etc|vs|cf|approx)\.["')\]*_` + "`" + `]*\s+$`)
)

// sentences splits a text: at sentence ends, at blank lines, and before list
// points, headings, tags and tables. Lines of one paragraph are joined, and the
// marks of list points go.
func sentences(text string) []string {
	var out []string
	var paragraph []string
	flush := func() {
		out = append(out, splitSentences(strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || blockStart.MatchString(line) {
			flush()
		}
		trimmed = listPoint.ReplaceAllString(trimmed, "")
		if trimmed != "" {
			paragraph = append(paragraph, trimmed)
		}
		if strings.HasPrefix(trimmed, "#") {
			flush()
		}
	}
	flush()
	return out
}

func splitSentences(paragraph string) []string {
	var out []string
	start := 0
	for _, end := range sentenceEnd.FindAllStringIndex(paragraph, -1) {
		if shortForm.MatchString(paragraph[start:end[1]]) {
			continue
		}
		out = append(out, strings.TrimSpace(paragraph[start:end[1]]))
		start = end[1]
	}
	if rest := strings.TrimSpace(paragraph[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}
