package redact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
)

//go:embed rules.json
var ruleFile []byte

// Version names the rules in what is made with them: texts are read again when
// rules change.
const Version = "2"

// rule finds one kind of secret.
type rule struct {
	ID       string   `json:"id"`
	Words    []string `json:"words"`    // lower case; a text without any of them is not searched
	Pattern  string   `json:"pattern"`  // the secret is its first group that took part, else all of it
	Inside   string   `json:"inside"`   // what of the secret is replaced, where only parts of it are
	Not      string   `json:"not"`      // no secret, whatever stands around it
	MinBits  float64  `json:"min_bits"` // least entropy, bits a character
	Mixed    bool     `json:"mixed"`    // has letters and digits
	Examples []string `json:"examples"`

	pattern, inside, not func() *regexp.Regexp // compiled at the first use; nil where the rule has none
}

type ruleSet struct {
	Placeholder string `json:"placeholder"` // what stands where a secret should, in examples and documentation
	Rules       []rule `json:"rules"`

	placeholder func() *regexp.Regexp
}

var loaded = sync.OnceValues(loadRules)

func loadRules() (*ruleSet, error) {
	set := &ruleSet{}
	if err := json.Unmarshal(ruleFile, set); err != nil {
		return nil, fmt.Errorf("reading rules of secrets: %w", err)
	}
	set.placeholder = compiled(set.Placeholder)
	for i := range set.Rules {
		r := &set.Rules[i]
		r.pattern, r.inside, r.not = compiled(r.Pattern), compiled(r.Inside), compiled(r.Not)
	}
	return set, nil
}

// compiled compiles a pattern once it is needed, since most texts hold the words of
// few rules. The patterns are part of the program, so a fault in one is a fault of the
// build. nil where there is none.
func compiled(pattern string) func() *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
