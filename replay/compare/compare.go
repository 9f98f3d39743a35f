package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fclog/fclog/internal/term"
)

// fromLogs is the Result.Source of arms that were read from logs.
const fromLogs = "logs"

// Options say what to compare beside the figures.
type Options struct {
	Names          [arms]string // what the arms are called; "" baseline, candidate
	ExpectParallel int          // some response of every trial must ask for this many calls; below 2 not checked
	Predicted      []Prediction // what a replay said before
}

// input is what Compare and FromReport have in common.
type input struct {
	source string
	arms   [arms]Arm
	tasks  []Task
	cells  []cell
	plan   []float64 // trials planned per task and arm
	known  []string  // what a report says of each task

	parallel *Parallel
	notes    []string
}

// Compare sets the trials of two arms side by side.
func Compare(base, candidate []Trial, o Options) *Result {
	in := collect([arms][]Trial{base, candidate})
	in.source = fromLogs
	if o.ExpectParallel >= 2 {
		in.parallel = checkParallel(o.ExpectParallel, [arms][]Trial{base, candidate})
	}
	return in.result(o)
}

// collect groups trials by task.
func collect(trials [arms][]Trial) *input {
	in := &input{}
	var names []Task
	for _, arm := range trials {
		for _, t := range arm {
			names = append(names, t.Task)
		}
	}
	if n := countOf(names, Task{}); n > 0 {
		in.notes = append(in.notes, term.Count(int64(n), "trial holds nothing that tells its task", "trials hold nothing that tells their task")+": no prompt, no case, no checksum")
	}
	of, tasks := group(names)
	in.tasks, in.cells = tasks, make([]cell, len(tasks))
	in.plan, in.known = make([]float64, len(tasks)), make([]string, len(tasks))
	i := 0
	for arm := range trials {
		planned := make([]float64, len(tasks))
		for _, t := range trials[arm] {
			g := of[i]
			i++
			planned[g]++
			in.arms[arm].add(t)
			if t.Excluded == "" {
				in.cells[g][arm] = append(in.cells[g][arm], runOf(t))
			}
		}
		for g, n := range planned {
			in.plan[g] = max(in.plan[g], n)
		}
	}
	return in
}

func countOf(tasks []Task, want Task) int {
	n := 0
	for _, t := range tasks {
		if t == want {
			n++
		}
	}
	return n
}

// add counts a trial in its arm.
func (a *Arm) add(t Trial) {
	if t.Excluded != "" {
		a.Excluded++
		add(&a.ExcludedTokens, t.Tokens())
		return
	}
	a.Trials++
	a.Sessions += t.Sessions
	for sum, v := range map[**int64]*int64{
		&a.Requests: t.Requests, &a.Answered: t.Answered, &a.Tokens: t.Tokens(), &a.Input: t.Input, &a.Uncached: t.Uncached,
		&a.CacheRead: t.CacheRead, &a.CacheWrite: t.CacheWrite, &a.Output: t.Output, &a.Calls: t.Calls, &a.RepeatedCalls: t.RepeatedCalls,
	} {
		add(sum, v)
	}
	a.SnapshotOutputs += t.Snapshots
	if t.Whole > 0 {
		a.ReportedTrials++
	}
	if t.Tokens() == nil {
		a.NoUsage++
	}
	if t.Priced() {
		a.addCost(*t.CostUSD)
	} else {
		a.Unpriced++
	}
	if t.Passed != nil {
		passed := new(int64)
		if *t.Passed {
			*passed = 1
		}
		a.judge(1, passed)
	}
}

func (a *Arm) addCost(usd float64) {
	if a.CostUSD == nil {
		a.CostUSD = new(float64)
	}
	*a.CostUSD += usd
}

// judge counts trials whose outcome is recorded.
func (a *Arm) judge(trials int64, passed *int64) {
	a.Judged += trials
	add(&a.Passed, passed)
	if a.Judged > 0 && a.Passed != nil {
		a.PassRate = new(float64(*a.Passed) / float64(a.Judged))
	}
}

// result works out everything that rests on the cells.
func (in *input) result(o Options) *Result {
	r := &Result{
		SchemaVersion: SchemaVersion, Source: in.source, Tasks: []TaskResult{}, CaseVerdicts: map[string]int{},
		Predicted: []PredictedDelta{}, Parallel: in.parallel, Warnings: slices.Clone(in.notes),
		Method: Method{Bootstrap: "percentile, over tasks", Draws: draws, Seed: seed, Level: level},
	}
	if in.single() {
		r.Method.Bootstrap += " and over trials within tasks"
	}
	in.scores()
	in.unpaired()
	if lost := align(in.cells); lost > 0 {
		r.warn("%s left out of tokens and requests: only one of the two is there", term.Count(int64(lost), "trial is", "trials are"))
	}
	r.Baseline, r.Candidate = in.arms[0], in.arms[1]
	r.Baseline.Name, r.Candidate.Name = cmp.Or(o.Names[0], "baseline"), cmp.Or(o.Names[1], "candidate")
	in.deltas(r)
	r.priced = in.priced()
	in.taskResults(r)
	r.TurnMatched = turnMatched(r.Tasks)
	r.Need = in.need(r)
	for _, p := range o.Predicted {
		r.Predicted = append(r.Predicted, p.against(r.Deltas))
		if len(p.Problems) > 0 {
			r.warn("%s of the prediction could not be read", term.Count(int64(len(p.Problems)), "value", "values"))
		}
	}
	r.Verdict = decide(r)
	r.warnAll()
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// scores fills in the mean score of each arm.
func (in *input) scores() {
	for arm := range in.arms {
		var sum, n float64
		for _, c := range in.cells {
			for _, x := range c[arm] {
				if x.score != nil {
					sum, n = sum+*x.score, n+x.n
				}
			}
		}
		if n > 0 {
			in.arms[arm].Score = new(sum / n)
		}
	}
}

// unpaired names the tasks that only one arm ran.
func (in *input) unpaired() {
	for arm := range in.arms {
		in.arms[arm].UnpairedTasks = []string{}
		for i, c := range in.cells {
			if len(c[arm]) > 0 && len(c[1-arm]) == 0 {
				in.arms[arm].UnpairedTasks = append(in.arms[arm].UnpairedTasks, in.tasks[i].Label())
				in.arms[arm].UnpairedTrials += int64(c.size(arm))
			}
		}
	}
}

func (in *input) deltas(r *Result) {
	d := &r.Deltas
	slots := []**Delta{
		&d.Tokens, &d.Requests, &d.TokensPerRequest, &d.Input, &d.Uncached, &d.CacheRead, &d.CacheWrite, &d.Output, &d.CostUSD,
		&d.RepeatedCalls, &d.PassRate, &d.Score,
	}
	for i, m := range metrics() {
		s := m.strata(in.cells)
		*slots[i] = m.delta(s)
		if m.name == "tokens" {
			r.Method.Arrangements = min(arrangements(s), 1<<53)
		}
	}
}

// delta is the change of a figure; nil without paired tasks.
func (m metric) delta(s strata) *Delta {
	if len(s) == 0 {
		return nil
	}
	a := totals(s)
	d := &Delta{Log: !m.difference, Tasks: len(s), Baseline: finite(a[0].num / a[0].den), Candidate: finite(a[1].num / a[1].den)}
	d.Noise = m.noiseOf(s)
	if v, ok := m.change(a); ok {
		d.Change = &v
	}
	if low, high, ok := m.interval(s); ok && d.Change != nil {
		d.Low, d.High = &low, &high
	}
	if d.Log {
		d.Percent, d.PercentLow, d.PercentHigh = percent(d.Change), percent(d.Low), percent(d.High)
	}
	d.Why = d.insignificant(arrangements(s))
	d.Significant = d.Why == ""
	if !d.Significant {
		d.Mark = "~"
	}
	return d
}

// insignificant says why a change may be chance; "" it is significant.
func (d *Delta) insignificant(ways float64) string {
	switch {
	case d.Change == nil:
		return "one arm has none of it"
	case *d.Change == 0:
		return "no difference"
	case d.Low == nil:
		return "no interval: a draw can leave an arm with none of it"
	case *d.Low <= 0 && *d.High >= 0:
		return "the interval holds 0"
	case ways < minArrangements:
		return fmt.Sprintf("too few trials: only %.0f ways to deal them to the arms, 40 needed", ways)
	case d.Noise.own() && math.Abs(*d.Change) <= d.Noise.Floor:
		return "below the noise floor of these trials"
	}
	return ""
}

func percent(ln *float64) *float64 {
	if ln == nil {
		return nil
	}
	return new(100 * math.Expm1(*ln))
}

// finite turns what no number can say into 0.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func (in *input) need(r *Result) *Need {
	d, m := r.Deltas.Tokens, metrics()[0]
	if r.priced {
		d, m = r.Deltas.CostUSD, metrics()[8]
	}
	if d == nil || d.Change == nil {
		return nil
	}
	return needFrom(m.strata(in.cells), *d.Change)
}

// priced says that every trial of the paired tasks has its price.
func (in *input) priced() bool {
	any := false
	for _, c := range in.cells {
		if len(c[0]) == 0 || len(c[1]) == 0 {
			continue
		}
		for _, r := range slices.Concat(c[0], c[1]) {
			if r.cost == nil {
				return false
			}
			any = true
		}
	}
	return any
}

func (r *Result) warnAll() {
	for _, a := range []Arm{r.Baseline, r.Candidate} {
		if a.Excluded > 0 {
			r.warn("%s: %s on infrastructure, outside of all counts and sums", a.Name, term.Count(a.Excluded, "trial died", "trials died"))
		}
		if a.UnpairedTrials > 0 {
			r.warn("%s: %s of %s without a counterpart in the other arm", a.Name, term.Count(a.UnpairedTrials, "trial", "trials"), term.Count(int64(len(a.UnpairedTasks)), "task", "tasks"))
		}
		if a.NoUsage > 0 {
			r.warn("%s: %s no usage, or not for every answered request; such tokens do not count", a.Name, term.Count(a.NoUsage, "trial holds", "trials hold"))
		}
		if a.ReportedTrials > 0 {
			r.warn("%s: the tokens of %s are reported for the session as a whole, no usage per request; how many requests they took is an estimate", a.Name, term.Count(a.ReportedTrials, "trial", "trials"))
		}
		if a.Unpriced > 0 && a.CostUSD != nil {
			r.warn("%s: %s no full price; USD is over the others", a.Name, term.Count(a.Unpriced, "trial has", "trials have"))
		}
		if a.SnapshotOutputs > 0 {
			r.warn("%s: %s no final output count; output and USD are too low there", a.Name, term.Count(a.SnapshotOutputs, "response holds", "responses hold"))
		}
	}
	if r.PairedTasks == 0 {
		r.warn("no task was run by both arms: nothing can be compared")
	}
	if d := r.Deltas.Tokens; d != nil && d.Change != nil && d.Noise != nil && !d.Noise.own() && math.Abs(*d.Change) < d.Noise.Floor {
		r.warn("%s; whole-suite runs of one arm have differed by as much (SD of the log ratio %.3f, FreeCode's published A/A runs)", r.noNoise(), publishedSD)
	}
}

// noNoise says why the trials do not tell their own noise.
func (r *Result) noNoise() string {
	switch again := slices.ContainsFunc(r.Tasks, func(t TaskResult) bool { return t.Baseline.Trials > 1 || t.Candidate.Trials > 1 }); {
	case again && r.Source != fromLogs:
		return "the report sums the trials of a case up, so their noise cannot be told"
	case again:
		return "too few repeated trials to tell the noise of"
	}
	return "no repeated trials to tell the noise of"
}

// Comparable says that some figure is known in both arms for some task.
func (r *Result) Comparable() bool {
	if r.PairedTasks == 0 {
		return false
	}
	d := r.Deltas
	return slices.ContainsFunc([]*Delta{d.Tokens, d.Requests, d.Output, d.CostUSD, d.RepeatedCalls, d.PassRate, d.Score}, func(d *Delta) bool { return d != nil })
}

// single says that some task has several trials of an arm that are known one by one.
func (in *input) single() bool {
	return slices.ContainsFunc(in.cells, func(c cell) bool { return len(c[0]) > 1 || len(c[1]) > 1 })
}
