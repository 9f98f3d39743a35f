package codex

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// decideForgetting settles at which new turns the reasoning of finished turns
// left the payload.
//
// Inside a turn reasoning always stays. At a new user turn, logs of 0.57–0.106
// (models gpt-5 to gpt-5.3) show the input falling in about 40 % of cases, as the
// server drops the reasoning of finished turns; logs from 0.115 on (gpt-5.4 and
// later) show no fall. No version says which happened, so for the older models
// the recorded input decides: reasoning counts as dropped when the first input of
// the turn is nearer to what it would be without than to what it would be with
// the reasoning carried so far. Everything else keeps it.
func decideForgetting(requests []*planned) {
	var carried int64
	var prev *planned
	for _, p := range requests {
		if prev != nil && prev.after != nil {
			carried = 0
		}
		if prev != nil && p.turn != prev.turn && prev.after == nil && carried > 0 && dropsReasoning(p.model) && fell(prev, p, carried) {
			p.forget = true
			carried = 0
		}
		if p.usage != nil {
			carried += p.usage.Reasoning.V
		}
		prev = p
	}
}

// fell compares the first input of a turn with the two expectations. Visible
// text counts as four bytes a token, as Codex itself does.
func fell(prev, next *planned, carried int64) bool {
	if prev.usage == nil || next.usage == nil || next.kind != rollout.KindTurn {
		return false
	}
	kept := prev.usage.Input.V + prev.usage.Output.V + next.input
	return distance(next.usage.Input.V, kept-carried) < distance(next.usage.Input.V, kept)
}

// dropsReasoning holds for gpt-5 up to gpt-5.3, in any variant.
func dropsReasoning(model string) bool {
	rest, ok := strings.CutPrefix(model, "gpt-5")
	if !ok {
		return false
	}
	minor, ok := strings.CutPrefix(rest, ".")
	if !ok {
		return rest == "" || rest[0] == '-'
	}
	n, _, _ := strings.Cut(minor, "-")
	v, ok := parseInt(n)
	return ok && v <= 3
}
