package variants

import (
	"math"
	"slices"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// addVariant adds a constant text to every request.
func addVariant(kind rollout.ItemKind, text string) replay.Variant {
	return replay.Variant{
		Name:  "add",
		Title: "a constant text in every request",
		Plan: func(v replay.View, _ replay.Values) replay.Plan {
			return replay.Plan{Additions: constant(v.Session, kind, text)}
		},
	}
}

// constant adds a text once to every request. A request on a base has it there
// already.
func constant(s *rollout.Session, kind rollout.ItemKind, text string) []replay.Addition {
	position := int64(0)
	if kind == rollout.Reminder {
		position = math.MaxInt64
	}
	var out []replay.Addition
	open := map[int]int{} // by chain: index of the addition that ends with the request before
	for _, r := range s.Requests {
		if r.Base >= 0 {
			delete(open, r.Chain)
			continue
		}
		i, ok := open[r.Chain]
		if !ok {
			i = len(out)
			out = append(out, replay.Addition{Chain: r.Chain, First: r.Number, Position: position, Kind: kind, Text: text, Why: "constant"})
			open[r.Chain] = i
		}
		out[i].Last = r.Number
	}
	slices.SortFunc(out, func(a, b replay.Addition) int {
		if a.Chain != b.Chain {
			return a.Chain - b.Chain
		}
		return a.First - b.First
	})
	return out
}
