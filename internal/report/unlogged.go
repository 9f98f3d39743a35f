package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// unloggedRows split the unlogged part: what of it is constant and what changes.
func unloggedRows(a *analyze.Audit) []row {
	u := a.Unlogged
	if orZero(u.ConstantTokens) == 0 {
		return nil
	}
	rows := []row{unloggedRow(a, "of it constant", u.ConstantTokens), unloggedRow(a, "of it changing", u.ChangingTokens)}
	if orZero(u.UndividedTokens) != 0 {
		rows = append(rows, unloggedRow(a, "of it not told apart", u.UndividedTokens))
	}
	return rows
}

func unloggedRow(a *analyze.Audit, name string, tokens *int64) row {
	return row{faint: true, cells: []cell{
		plain("  " + name), {}, {}, optional(tokens), share(ratio(tokens, a.Totals.InputTokens)), {}, basis(analyze.Estimated),
	}}
}

// unloggedProse says how the split was made, and what it tells of requests
// without usage.
func unloggedProse(a *analyze.Audit) []string {
	u := a.Unlogged
	var out []string
	if orZero(u.ConstantTokens) != 0 {
		out = append(out, fmt.Sprintf("*Constant* goes out unchanged with every turn: %s, from %s. *Changing* is reminders and the like, and errors of counting.",
			constantSize(u), methods(u.Constants))+exceeding(u))
	}
	if orZero(u.BlindTokens) != 0 {
		out = append(out, fmt.Sprintf("%s without usage carried about %s tokens%s that are constant and not logged; they are in no total.",
			term.Count(u.BlindRequests, "turn", "turns"), term.Short(*u.BlindTokens), bounds(u.BlindLow, u.BlindHigh, term.Short)))
	}
	return out
}

// exceeding says where the estimate of a turn, times the turns, is more than all that
// is unlogged, which is where the constant part ends.
func exceeding(u analyze.Unlogged) string {
	estimate := int64(0)
	for _, c := range u.Constants {
		estimate += c.Requests * orZero(c.Tokens)
	}
	if estimate <= orZero(u.ConstantTokens) {
		return ""
	}
	return fmt.Sprintf(" Estimated by the turn it would be %s%s, more than is unlogged: some logged content was counted too large, and the constant part ends at what is unlogged.",
		term.Short(estimate), bounds(u.ConstantLow, u.ConstantHigh, term.Short))
}

// constantSize is the size of a turn where all conversations have the same, with
// its bounds; else the range of sizes, and the bounds of the sum.
func constantSize(u analyze.Unlogged) string {
	var sizes []analyze.Constant
	for _, c := range u.Constants {
		if c.Requests > 0 && orZero(c.Tokens) > 0 {
			sizes = append(sizes, c)
		}
	}
	all := term.Short(orZero(u.ConstantTokens)) + " in all"
	if len(sizes) == 0 {
		return all
	}
	if len(sizes) == 1 {
		return term.Exact(*sizes[0].Tokens) + " tokens a turn" + bounds(sizes[0].Low, sizes[0].High, term.Exact) + ", " + all
	}
	bySize := func(x, y analyze.Constant) int { return cmp.Compare(*x.Tokens, *y.Tokens) }
	low, high := *slices.MinFunc(sizes, bySize).Tokens, *slices.MaxFunc(sizes, bySize).Tokens
	each := term.Exact(low)
	if low < high {
		each += " to " + term.Exact(high)
	}
	return each + " tokens a turn, " + all + bounds(u.ConstantLow, u.ConstantHigh, term.Short)
}

func bounds(low, high *int64, format func(int64) string) string {
	if low == nil || high == nil {
		return ""
	}
	if format(*low) == format(*high) {
		return ""
	}
	return " (" + format(*low) + " to " + format(*high) + ")"
}

var methodNames = map[string]string{
	"first-request": "first requests",
	"cache-reads":   "cache reads",
	"calibration":   "calibration",
	"totals":        "totals of sessions",
}

func methods(list []analyze.Constant) string {
	var names []string
	for _, key := range []string{"first-request", "cache-reads", "calibration", "totals"} {
		if slices.ContainsFunc(list, func(c analyze.Constant) bool { return c.Requests > 0 && deref(c.Method) == key }) {
			names = append(names, methodNames[key])
		}
	}
	return strings.Join(names, ", ")
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
