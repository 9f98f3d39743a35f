package variants

import (
	"fmt"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// NoLineNumbers drops the line-number prefixes of file reads.
func NoLineNumbers() replay.Variant {
	return checked(replay.Variant{
		Name:  "no-line-numbers",
		Title: "file reads without line-number prefixes",
		Doc: "Drops the numbers that tools put before the lines of a file, in every form the agents use. " +
			"Only blocks of consecutive numbers are taken, so numbered data stays. The content stays whole, but the model can no longer cite lines by number: " +
			"the estimate says how many later texts did, for numbers that stood nowhere else, and counts them as what the model may go back for. " +
			"Numbers in the output of a shell command are there because the model's own command asked for them (nl, cat -n, grep -n): " +
			"they stay, and a warning counts them, unless asked=drop takes them out as well.",
		Options: []replay.Option{choice(askedOption,
			"numbers that a shell command of the model's own asked for. keep: they stay; drop: they go too, as if the model no longer asked or the harness dropped them", askedKeep, askedDrop)},
		Needs: []string{"text of tool results"},
		Plan:  planNoLineNumbers,
	})
}

// The option of no-line-numbers.
const (
	askedOption = "asked"
	askedKeep   = "keep"
	askedDrop   = "drop"
)

func planNoLineNumbers(v replay.View, values replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	plan := replay.Plan{Edits: withoutNumbers(v, func(r result) bool { return classOf(v.Session, r) == rollout.ReadTool })}
	asked := withoutNumbers(v, func(r result) bool { return askedNumbers(v.Session, r) })
	if values[askedOption] == askedDrop {
		plan.Edits = append(plan.Edits, asked...)
		sortEdits(plan.Edits)
	}
	if len(asked) > 0 {
		plan.Warnings = append(plan.Warnings, sayAsked(v, asked, values[askedOption] == askedDrop))
	}
	if n := countCitations(v, plan.Edits); n > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("session %s: later on, %s a line by a number that stood only in a dropped prefix", v.Session.ID, times(n, "text of the model cites", "texts of the model cite")))
	}
	return plan
}

// withoutNumbers takes the line numbers out of the results chosen.
func withoutNumbers(v replay.View, chosen func(result) bool) []replay.Edit {
	return rewriteResults(v, false, func(r result, text string) (rewrite, bool) {
		if v.Session.Items[r.item].Kind != rollout.ToolResult || !chosen(r) {
			return rewrite{}, false
		}
		stripped, _, ok := compress.LineNumbers(text)
		return rewrite{text: stripped, lossy: true, why: "line-numbers"}, ok
	})
}

// classOf is the class of the tool a result comes from, "" where the call is not known.
func classOf(s *rollout.Session, r result) rollout.ToolClass {
	if r.call < 0 {
		return ""
	}
	return s.Calls[r.call].Class
}

// askedNumbers says whether numbers in a result can only be there because a command
// of the model's asked for them. A known command that asks for none prints what the
// file itself holds.
func askedNumbers(s *rollout.Session, r result) bool {
	if classOf(s, r) != rollout.ShellTool {
		return false
	}
	command := s.Calls[r.call].Command
	return command == "" || compress.AsksNumbers(command)
}

func sayAsked(v replay.View, edits []replay.Edit, dropped bool) string {
	results, sum := map[int]bool{}, int64(0)
	for _, e := range edits {
		sp := v.Session.Spans[e.Span]
		results[sp.Item] = true
		sum += (carried(v, e.Span) - v.Count(v.Sizes.Encoding, e.Text)) * ownRequests(v.Session, sp)
	}
	what := "stay: asked=drop would take them out"
	if dropped {
		what = "are part of this saving: no harness can drop them without working against the command"
	}
	return fmt.Sprintf("session %s: %s of line numbers in %s, over all requests that carry them, were asked for by the model's own commands; they %s",
		v.Session.ID, times(int(sum), "token", "tokens"), times(len(results), "shell output", "shell outputs"), what)
}

// ownRequests is how many requests of this session itself carry a span.
func ownRequests(s *rollout.Session, sp rollout.Span) int64 {
	n := int64(0)
	for _, r := range s.Requests {
		if r.Chain == sp.Chain && sp.First <= r.Number && r.Number <= sp.Last && !r.Inherited {
			n++
		}
	}
	return n
}

// times writes a count with the form that agrees with it.
func times(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
