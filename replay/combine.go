package replay

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Plan works out what a use changes in a recording. Each step sees the texts that
// the steps before it have put in place. Where two steps touch the same span:
//
//   - text that an earlier step put there from the first request on is what the
//     later step saw: the later step's text replaces it from where it begins;
//   - text that an earlier step changes later on, or drops, is out of the later
//     step's sight and stays in force from there on, unless the later step drops
//     the span altogether. A text of the later step that would begin there or
//     later is left out, with a warning.
//
// When ctx ends, steps that start other programs stop, and the plan is not to be
// used.
func (e *Engine) Plan(ctx context.Context, rec Recording, use Use) Plan {
	c := combination{rec: rec, edits: map[int][]Edit{}, removed: map[int]int{}}
	var unsupported []string
	for _, step := range use.Steps {
		p := step.Variant.Plan(c.view(ctx, e.Count), step.Values)
		c.plan.Warnings = append(c.plan.Warnings, p.Warnings...)
		if p.Unsupported != "" {
			unsupported = append(unsupported, step.Variant.Name+": "+p.Unsupported)
			continue
		}
		c.apply(p, step.Variant.Name)
	}
	out := c.finish()
	switch {
	case len(unsupported) == 0:
	case len(use.Steps) == 1:
		out.Unsupported = strings.TrimPrefix(unsupported[0], use.Steps[0].Variant.Name+": ")
	case len(unsupported) == len(use.Steps):
		out.Unsupported = strings.Join(unsupported, "; ")
	default:
		out.Warnings = append(out.Warnings, "left out of the combination: "+strings.Join(unsupported, "; "))
	}
	return out
}

// combination collects the plans of several steps for one recording.
type combination struct {
	rec     Recording
	plan    Plan           // all but edits
	edits   map[int][]Edit // by span, in order of From
	removed map[int]int    // by request: index in plan.Removals
}

// view is what the next step sees.
func (c *combination) view(ctx context.Context, count CountText) View {
	v := View{ctx: ctx, Recording: c.rec, Count: count, texts: map[int]string{}, gone: map[int]bool{}, off: map[int]bool{}}
	for span, list := range c.edits {
		if e := list[0]; e.Early(c.rec.Session) {
			v.texts[span] = e.Text
			v.gone[span] = e.Drop
		}
	}
	for request := range c.removed {
		v.off[request] = true
	}
	return v
}

func (c *combination) apply(p Plan, name string) {
	conflicts := 0
	bySpan := map[int][]Edit{}
	for _, e := range p.Edits {
		if c.fits(e) {
			bySpan[e.Span] = append(bySpan[e.Span], e)
		}
	}
	for span, list := range bySpan {
		slices.SortStableFunc(list, func(a, b Edit) int { return cmp.Compare(a.From, b.From) })
		merged, n := mergeEdits(c.edits[span], list, c.rec.Session.Spans[span].First)
		conflicts += n
		c.edits[span] = merged
	}
	if conflicts > 0 {
		c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf("%s: %d of its edits fell on text that a variant before it had changed by then; that change stays", name, conflicts))
	}
	c.remove(p.Removals)
	c.plan.Additions = append(c.plan.Additions, p.Additions...)
	c.plan.Extras = append(c.plan.Extras, p.Extras...)
	c.plan.Fixes = append(c.plan.Fixes, p.Fixes...)
}

func (c *combination) fits(e Edit) bool {
	spans := c.rec.Session.Spans
	return e.Span >= 0 && e.Span < len(spans) && e.From >= spans[e.Span].First && e.From <= spans[e.Span].Last
}

// remove adds removals; of two for one request the certain one counts, and what
// the first of them moved.
func (c *combination) remove(list []Removal) {
	for _, r := range list {
		if i, ok := c.removed[r.Request]; ok {
			c.plan.Removals[i].Certain = c.plan.Removals[i].Certain || r.Certain
			continue
		}
		c.removed[r.Request] = len(c.plan.Removals)
		c.plan.Removals = append(c.plan.Removals, r)
	}
}

// mergeEdits puts later edits of a span on top of earlier ones, both in order of
// From. It returns how many had to be left out.
func mergeEdits(earlier, later []Edit, first int) (merged []Edit, conflicts int) {
	hidden := hiddenFrom(earlier, first)
	var starts []int
	for _, e := range slices.Concat(earlier, later) {
		starts = append(starts, e.From)
	}
	slices.Sort(starts)
	var in *Edit
	for _, n := range slices.Compact(starts) {
		pick := inForce(later, n)
		if pick == nil || n >= hidden && !pick.Drop {
			pick = inForce(earlier, n)
		}
		if pick != in {
			e := *pick
			e.From = n
			merged, in = append(merged, e), pick
		}
	}
	for _, e := range later {
		if e.From >= hidden && !e.Drop {
			conflicts++
		}
	}
	return merged, conflicts
}

// hiddenFrom is the request from which on a later step does not see what earlier
// ones have done.
func hiddenFrom(earlier []Edit, first int) int {
	for _, e := range earlier {
		if e.From > first || e.Drop {
			return e.From
		}
	}
	return math.MaxInt
}

// inForce is the edit that holds at a request; nil: none yet.
func inForce(list []Edit, number int) *Edit {
	var out *Edit
	for i := range list {
		if list[i].From <= number {
			out = &list[i]
		}
	}
	return out
}

// finish puts the edits in order of span and request.
func (c *combination) finish() Plan {
	out := c.plan
	spans := make([]int, 0, len(c.edits))
	for span := range c.edits {
		spans = append(spans, span)
	}
	slices.Sort(spans)
	for _, span := range spans {
		out.Edits = append(out.Edits, c.edits[span]...)
	}
	return out
}
