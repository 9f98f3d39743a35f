package prompts

import (
	"regexp"
	"strings"
)

// Words that turn round what follows them in a clause, and phrases that turn round
// what stands before them.
var (
	turnsNext = regexp.MustCompile(`(?i)\b(?:not|never|cannot|avoid(?:s|ing)?|refrain(?:s|ing)?|neither|no longer|no need|no more|without|instead of|rather than|` +
		`ignor(?:e|es|ing)|disregard(?:ing)?|forget|seldom|rarely|hardly|obsolete|outdated|deprecated|forbidden|prohibited|disallowed|unnecessary|wrong to|mistake to|bad idea to|` +
		`(?:you|we|agents|it) used to|(?:old|former|previous|earlier) (?:rule|advice|instruction|prompt|guidance|habit|version)s?)\b|n't\b`)
	stopsNext = regexp.MustCompile(`(?i)\b(?:stop|quit|cease) \w+ing\b`)
	turnsLast = regexp.MustCompile(`(?i)\b(?:obsolete|outdated|deprecated|superseded|void|wrong|forbidden|prohibited|disallowed|discouraged|banned|pointless|unnecessary|undesirable|` +
		`a mistake|a bad idea|be avoided|no longer|(?:is|are|was|were|be|do|does|should|must|may|can|will|need) ?(?:not|never|n't) ` +
		`(?:be|happen|apply|used|made|done|allowed|permitted|wanted|needed|required|recommended|desired|necessary|true|valid|in force|hold|a good)|` +
		`cannot be|not to be)\b`)
	// neutral negations say which things are meant, or turn nothing round.
	neutral = regexp.MustCompile(`(?i)\b(?:(?:that|which|who) (?:\w+ )?(?:do|does|did|are|is|were|was|have|has|can) ?(?:not|n't)|(?:do|does) ?(?:not|n't) (?:depend|rely)|not depend\w*|` +
		`that cannot|that never|not (?:only|just)|(?:whether or|if) not|no more than|` +
		`(?:do not|don't|never) (?:hesitate|forget|fail)|(?:if|when|whenever|where|since|because) (?:\w+ ){0,3}?(?:do|does|is|are|can|could|did|was)? ?(?:not|n't|cannot))\b`)
)

// Where one clause of a sentence ends; the group, if any, begins the next one.
var (
	clauseEnd = regexp.MustCompile(`(?i)[;()]\s*|:\s+|\s+[—–-]+\s+|,?\s+(?:but|because|since|whereas|although|however|so that)\s+|,\s+(?:and|so|then|instead)\s+|` +
		`,\s+((?:make|use|do|don't|never|always|avoid|report|say|go|choose|read|keep|send|run|ask|check|page|retrieve|continue|decide|prefer|please|you|there|it|retry|poll|write|rewrite)\b)|` +
		`\s+and\s+((?:never|do not|don't|avoid|always|instead)\b)`)
	leading    = regexp.MustCompile(`(?i)^(?:and |but )?(?:if|when|whenever|unless|while|where|instead of|rather than|without|before|after|once|as|for|since|although|because)\b[^,]*(,\s+)`)
	carriesOn  = regexp.MustCompile(`(?i)\b(?:this|following|these|those|that|rules?|advice|never|avoid|do not|don't|ignore|obsolete)$`)
	refusal    = regexp.MustCompile(`(?i)^(?:no|never|don't|do not|avoid (?:it|this|that))(?: (?:ever )?do (?:so|that|this|it))?[.!]*$`)
	decoration = strings.NewReplacer("’", "'", "*", "", "`", "", `"`, "", "“", "", "”", "")
)

// clauses splits a sentence where a negation ends its reach.
func clauses(sentence string) []string {
	var out []string
	start := 0
	if m := leading.FindStringSubmatchIndex(sentence); m != nil {
		out = append(out, sentence[:m[2]])
		start = m[3]
	}
	offset := start
	for _, m := range clauseEnd.FindAllStringSubmatchIndex(sentence[offset:], -1) {
		end, next := offset+m[0], offset+m[1]
		for _, group := range []int{m[2], m[4]} {
			if group >= 0 {
				next = offset + group
			}
		}
		if sentence[end] == ':' && carriesOn.MatchString(sentence[start:end]) {
			continue
		}
		out = append(out, sentence[start:end])
		start = next
	}
	return append(out, sentence[start:])
}

// polarity is how a sentence stands to a pattern.
type polarity int

const (
	absent   polarity = iota // it does not speak of it
	affirmed                 // it says it
	inverted                 // it says the opposite
)

// judge compares a sentence with a pattern: all expressions match somewhere in it,
// and the first one in a clause that does not turn it round. One clause that does
// outweighs the others.
func (p pattern) judge(sentence string) polarity {
	sentence = decoration.Replace(sentence)
	if !p.match(sentence) {
		return absent
	}
	result := absent
	parts := clauses(sentence)
	for i, clause := range parts {
		for _, re := range p.neutral {
			clause = blank(re, clause)
		}
		refused := i+1 < len(parts) && refusal.MatchString(strings.TrimSpace(parts[i+1]))
		for _, span := range p.all[0].FindAllStringIndex(clause, -1) {
			if turned(clause, span) != (p.negative != refused) {
				return inverted
			}
			result = affirmed
		}
	}
	return result
}

// turned says whether an odd number of negations reaches a part of a clause, those
// inside the part among them.
func turned(clause string, span []int) bool {
	before := blank(neutral, clause[:span[1]])
	n := len(turnsNext.FindAllString(before, -1)) + len(stopsNext.FindAllString(clause[:span[0]], -1))
	if turnsLast.MatchString(blank(neutral, clause[span[1]:])) {
		n++
	}
	return n%2 == 1
}

// blank puts underscores over what an expression matches.
func blank(re *regexp.Regexp, s string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat("_", len(m)) })
}
