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
const Version = "1"

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

	pattern, inside, not *regexp.Regexp
}

type ruleSet struct {
	Placeholder string `json:"placeholder"` // what stands where a secret should, in examples and documentation
	Rules       []rule `json:"rules"`

	placeholder *regexp.Regexp
}

var loaded = sync.OnceValues(loadRules)

func loadRules() (*ruleSet, error) {
	set := &ruleSet{}
	if err := json.Unmarshal(ruleFile, set); err != nil {
		return nil, fmt.Errorf("reading rules of secrets: %w", err)
	}
	var err error
	compile := func(pattern string) *regexp.Regexp {
		if pattern == "" || err != nil {
			return nil
		}
		var re *regexp.Regexp
		re, err = regexp.Compile(pattern)
		return re
	}
	set.placeholder = compile(set.Placeholder)
	for i := range set.Rules {
		r := &set.Rules[i]
		r.pattern, r.inside, r.not = compile(r.Pattern), compile(r.Inside), compile(r.Not)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
	}
	return set, nil
}
