package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// worthwhile is the share of the input that a technique must be able to touch to be
// worth a sentence: less is lost in the noise of any A/B.
const worthwhile = 0.02

// maxAdvice is how many techniques are named; the table has all.
const maxAdvice = 3

// action is what to do about a technique, and what replays it.
type action struct{ do, variants string }

// actions by technique.
var actions = map[string]action{
	"output-compression":   {"compress the output of shell commands", "compress"},
	"line-number-prefixes": {"drop the line numbers in front of file reads", "no-line-numbers"},
	"recurring-block":      {"shorten what every request begins with: system prompt, tool definitions, project context", "drop-unused-tools"},
	"inline-batching":      {"let results of background work ride in the next call instead of asking for them", "inline-batching"},
	"repeats-and-re-reads": {"do not send again what the conversation holds already", "dedup-reads"},
	"serial-chains":        {"ask for independent reads in one response instead of one after the other", "batch-reads"},
	"cache-breaks":         {"keep what was sent before unchanged, so that the cached prefix holds", "tail-reminders"},
}

// advice says in words what to change first and how sure that is.
func advice(a *analyze.Audit) *section {
	if a.Totals.Requests == 0 {
		return nil
	}
	s := &section{title: "What to change first"}
	list := worthwhileSavings(a)
	if len(list) == 0 {
		s.prose = append(s.prose, fmt.Sprintf("Nothing stands out: no known technique could touch more than %s of what was sent.", term.Percent(worthwhile)))
	}
	for i, x := range list[:min(len(list), maxAdvice)] {
		s.prose = append(s.prose, adviceFor(a, x, i))
	}
	if len(list) > 0 {
		s.prose = append(s.prose, "These are upper bounds, and they overlap: never add them up."+replayHint(a, list[:min(len(list), maxAdvice)]))
	}
	s.prose = append(s.prose, howSure(a))
	return s
}

// worthwhileSavings are the techniques that could touch much, largest first.
func worthwhileSavings(a *analyze.Audit) []analyze.Saving {
	list := slices.DeleteFunc(slices.Clone(a.Savings), func(x analyze.Saving) bool {
		of := touched(a, x)
		return of == nil || *of < worthwhile || actions[x.Technique].do == ""
	})
	slices.SortStableFunc(list, func(x, y analyze.Saving) int {
		return cmp.Compare(*touched(a, y), *touched(a, x))
	})
	return list
}

// touched is the share that a technique could touch: of the input, or of what was
// counted where no request logs its input.
func touched(a *analyze.Audit, x analyze.Saving) *float64 {
	if x.Share != nil {
		return x.Share
	}
	if a.Totals.InputTokens != nil && a.Totals.ReportedSessions < a.Totals.Sessions {
		return nil
	}
	return ratio(x.AddressableCarriedTokens, &a.Totals.CountedTokens)
}

func adviceFor(a *analyze.Audit, x analyze.Saving, place int) string {
	lead := [maxAdvice]string{"First", "Second", "Third"}[place]
	s := fmt.Sprintf("**%s: %s.** ", lead, actions[x.Technique].do)
	of := term.Percent(*touched(a, x)) + " of the input"
	if x.Share == nil {
		of = term.Percent(*touched(a, x)) + " of what was counted"
	}
	carried := term.Opt(x.AddressableCarriedTokens, term.Short)
	switch {
	case x.Technique == "cache-breaks":
		return s + fmt.Sprintf("%s tokens, %s, were sent again because the cached prefix ended%s. That costs money, not tokens: they were paid for at the full or the write price · %s.",
			carried, of, mainCause(a), sureness(x.Basis))
	case x.AddressableRequests != nil:
		return s + fmt.Sprintf("At most %s and %s tokens, %s · %s.",
			term.Count(*x.AddressableRequests, "request", "requests"), carried, of, sureness(x.Basis))
	}
	return s + fmt.Sprintf("At most %s tokens, %s · %s.", carried, of, sureness(x.Basis))
}

// mainCause names what most of the lost cache is due to.
func mainCause(a *analyze.Audit) string {
	if len(a.CacheBreaks) == 0 {
		return ""
	}
	most := slices.MaxFunc(a.CacheBreaks, func(x, y analyze.CacheBreak) int { return cmp.Compare(x.LostTokens, y.LostTokens) })
	means := meaning(most.Cause)
	if len(means) == 0 {
		return ""
	}
	return fmt.Sprintf(", in %s because %s", term.Count(most.Requests, "request", "requests"), because(most.Cause, means[0]))
}

// because turns the meaning of a cause into the end of a sentence.
func because(cause, meaning string) string {
	switch cause {
	case "run-border":
		return "a new run began"
	case "unknown":
		return "of something that no log shows"
	case "lifetime":
		return "the cache had expired"
	case "model-changed":
		return "another model answered"
	}
	return meaning
}

// sureness says what a basis means for someone who has to rely on it.
func sureness(b analyze.Basis) string {
	switch b {
	case analyze.Measured:
		return "sure: measured by the provider"
	case analyze.Counted:
		return "sure: counted"
	case analyze.Calibrated:
		return "fairly sure: counted and scaled to the provider's tokens"
	}
	return "unsure: estimated"
}

// replayHint is the command that says what the techniques would really save; "" where
// the log does not hold what that takes.
func replayHint(a *analyze.Audit, list []analyze.Saving) string {
	var names []string
	for _, x := range list {
		if x.Technique != "recurring-block" || slices.ContainsFunc(a.Composition, func(s analyze.Share) bool { return s.Kind == "tool_definitions" }) {
			names = append(names, "--variant "+actions[x.Technique].variants)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " What a change would really save, and what the model might spend to get back what is cut, `fclog replay PATH " + strings.Join(names, " ") + "` works out."
}

// howSure says of the whole report what is known and what is not.
func howSure(a *analyze.Audit) string {
	s := "**How sure this is.** "
	if a.Totals.InputTokens == nil {
		held := "The log holds no usage: everything here"
		if a.Totals.OutputTokens != nil {
			held = "The log does not say how much was sent: everything but the output"
		}
		return s + held + " is counted by fclog, and prices and caching are unknown. How the model would behave with less in front of it, no log can tell: a live A/B shows that."
	}
	s += "How much was sent is measured by the provider. What it consisted of is counted"
	if explained := explainedGrowth(a.Counting); explained != nil {
		s += fmt.Sprintf("; the logged content explains %s of the recorded growth", term.Percent(*explained))
		if *explained < 0.9 {
			s += ", so shares of single pieces may be off by as much as the rest"
		}
	}
	if part := ratio(a.Totals.UnloggedTokens, a.Totals.InputTokens); part != nil && *part > worthwhile {
		s += fmt.Sprintf("; %s of the input is not in the log at all", term.Percent(*part))
	}
	return s + ". How the model would behave with less in front of it, no log can tell: a live A/B shows that."
}

// explainedGrowth is how much of the growth is explained over all sessions, each by
// the pairs of requests it was scored on.
func explainedGrowth(list []analyze.Counting) *float64 {
	sum, pairs := 0.0, int64(0)
	for _, c := range list {
		if c.Explained != nil {
			sum += *c.Explained * float64(c.Pairs)
			pairs += c.Pairs
		}
	}
	if pairs == 0 {
		return nil
	}
	mean := sum / float64(pairs)
	return &mean
}
