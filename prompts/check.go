package prompts

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Loss is a rule that a variant no longer holds.
type Loss struct {
	Rule          string `json:"rule"` // its ID
	Title         string `json:"title"`
	Why           string `json:"why"`
	Sentence      string `json:"sentence"`      // of the base, which satisfied it; "" the base did not hold it
	Contradiction string `json:"contradiction"` // of the variant, which says the opposite; "" none
}

// shownChars bounds what a line repeats of a sentence.
const shownChars = 160

// String is the loss in one line; texts in it are quoted.
func (l Loss) String() string {
	text := fmt.Sprintf("The new text loses the rule %s", l.Rule)
	if l.Sentence != "" {
		text += ": " + quoted(l.Sentence)
	}
	if l.Contradiction != "" {
		text += "; it says " + quoted(l.Contradiction)
	}
	return text + "."
}

func quoted(s string) string {
	if utf8.RuneCountInString(s) > shownChars {
		s = string([]rune(s)[:shownChars-1]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Check names every shipped rule that the base holds and the variant does not, or
// that the variant alone contradicts, in the order of the rules.
func Check(base, variant string) ([]Loss, error) {
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	return CheckRules(rules, base, variant), nil
}

// CheckRules is Check with other rules.
func CheckRules(rules []Rule, base, variant string) []Loss {
	var out []Loss
	for _, r := range rules {
		sentence, _ := r.Satisfied(base)
		_, already := r.Contradicted(base)
		contradiction := r.newContradiction(base, variant)
		_, kept := r.Satisfied(variant)
		lost := sentence != "" && (!kept || contradiction != "")
		turned := contradiction != "" && !already
		if lost || turned {
			out = append(out, Loss{Rule: r.ID, Title: r.Title, Why: r.Why, Sentence: sentence, Contradiction: contradiction})
		}
	}
	return out
}

// newContradiction returns the first sentence of a variant that says the opposite
// and does not stand in the base; "" there is none.
func (r Rule) newContradiction(base, variant string) string {
	old := sentences(base)
	for _, s := range sentences(variant) {
		if r.denies(s) && !slices.Contains(old, s) {
			return s
		}
	}
	return ""
}
