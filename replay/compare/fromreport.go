package compare

import (
	"fmt"

	"github.com/fclog/fclog/internal/term"
)

// FromReport works out an A/B that FreeCode ran and wrote down: the same figures,
// factors and verdict as from logs, by case where the report lists cases, else from
// its totals. Tallies hold no single trials, so noise comes from the published runs.
func FromReport(rep *EvalReport, o Options) *Result {
	in := &input{source: rep.File}
	if rep.Line > 0 {
		in.source = fmt.Sprintf("%s:%d", rep.File, rep.Line)
	}
	for arm := range in.arms {
		in.arms[arm].Settings = rep.Sides[arm]
	}
	for _, c := range rep.Cases {
		in.addCase(c, rep.Trials)
	}
	if !in.paired() && rep.Totals != nil {
		in.addTotals(*rep.Totals)
	}
	if n := len(rep.Problems); n > 0 {
		in.notes = append(in.notes, term.Count(int64(n), "value", "values")+" of the report could not be read")
	}
	r := in.result(o)
	if o.ExpectParallel >= 2 {
		r.warn("a report does not hold what single responses asked for: parallel calls are not checked")
	}
	return r
}

func (in *input) paired() bool {
	for _, c := range in.cells {
		if len(c[0]) > 0 && len(c[1]) > 0 {
			return true
		}
	}
	return false
}

// addCase adds a case with the trial pairs where both sides ran. A case that lost
// trials to infrastructure and does not tell those pairs apart is left out: its sums
// hold what the dead trials used.
func (in *input) addCase(c EvalCase, planned *int64) {
	sides := c.Sides
	if c.Comparable != nil && c.Pairs != nil {
		sides = *c.Comparable
	} else if value(sides[0].Infrastructure)+value(sides[1].Infrastructure) > 0 {
		in.notes = append(in.notes, "a case is left out: it lost trials to infrastructure, and its sums hold what they used")
		return
	}
	var both cell
	for arm, tally := range sides {
		in.arms[arm].addTally(tally, c.Sides[arm])
		if n := value(tally.Ran); n > 0 {
			both[arm] = []run{tally.run(float64(n))}
		}
	}
	in.tasks, in.cells, in.known = append(in.tasks, Task{Case: c.ID}), append(in.cells, both), append(in.known, c.Delta)
	trials := max(value(c.Sides[0].Ran), value(c.Sides[1].Ran))
	if planned != nil {
		trials = *planned
	}
	in.plan = append(in.plan, float64(trials))
}

// addTotals takes a run of which only the totals are left as one task. Its trials
// are not counted in totals; both sides ran the same ones.
func (in *input) addTotals(t [arms]SideTally) {
	in.notes = append(in.notes, "only the totals of this run are recorded: no interval, and every figure is one of the whole run")
	in.arms[0], in.arms[1] = Arm{Settings: in.arms[0].Settings}, Arm{Settings: in.arms[1].Settings}
	var both cell
	for arm, tally := range t {
		in.arms[arm].addTally(tally, tally)
		both[arm] = []run{tally.run(float64(max(value(tally.Ran), 1)))}
		if tally.Ran == nil {
			both[arm][0].passed = nil
		}
	}
	in.tasks, in.cells, in.known, in.plan = []Task{{Case: "whole run"}}, []cell{both}, []string{""}, []float64{0}
}

func (t SideTally) run(n float64) run {
	r := run{n: n, requests: float(t.Requests), tokens: float(t.Tokens), repeatedCalls: float(t.RepeatedCalls), passed: float(t.Passed)}
	if value(t.Unpriced) == 0 {
		r.cost = t.CostUSD
	}
	return r
}

func (a *Arm) addTally(t, all SideTally) {
	a.Trials += value(t.Ran)
	a.Excluded += value(all.Infrastructure)
	add(&a.Requests, t.Requests)
	add(&a.Tokens, t.Tokens)
	add(&a.RepeatedCalls, t.RepeatedCalls)
	if t.CostUSD != nil {
		a.addCost(*t.CostUSD)
	}
	switch {
	case t.Unpriced != nil:
		a.Unpriced += *t.Unpriced
	case t.CostUSD == nil:
		a.Unpriced += max(value(t.Ran), 1)
	}
	if t.Ran != nil && t.Passed != nil {
		a.judge(*t.Ran, t.Passed)
	} else {
		add(&a.Passed, t.Passed)
	}
}
