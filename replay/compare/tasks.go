package compare

import (
	"fmt"
	"math"

	"github.com/fclog/fclog/internal/term"
)

// Case verdicts, as FreeCode gives them.
const (
	Improved      = "improved"
	Regressed     = "regressed"
	UnchangedPass = "unchanged-pass"
	UnchangedFail = "unchanged-fail"
	Inconclusive  = "inconclusive"
)

// Classify is FreeCode's verdict of a case by majorities: inconclusive with fewer
// than 2 trials, with any trial missing in either arm, or when the majorities differ
// by one trial only.
func Classify(baselinePassed, baselineRan, candidatePassed, candidateRan, trials float64) string {
	if trials < 2 || baselineRan < trials || candidateRan < trials {
		return Inconclusive
	}
	before, after := 2*baselinePassed > trials, 2*candidatePassed > trials
	switch {
	case before && after:
		return UnchangedPass
	case !before && !after:
		return UnchangedFail
	case math.Abs(candidatePassed-baselinePassed) < 2:
		return Inconclusive
	case after:
		return Improved
	}
	return Regressed
}

// taskResults lists the paired tasks.
func (in *input) taskResults(r *Result) {
	for i, c := range in.cells {
		if len(c[0]) == 0 || len(c[1]) == 0 {
			continue
		}
		t := TaskResult{Label: in.tasks[i].Label(), Task: in.tasks[i], Baseline: taskArm(c, 0), Candidate: taskArm(c, 1), Recorded: in.known[i]}
		t.LnTokens, t.LnRequests = lnRatio(t.Baseline.Tokens, t.Candidate.Tokens), lnRatio(t.Baseline.Requests, t.Candidate.Requests)
		if t.LnTokens != nil && t.LnRequests != nil {
			t.LnPerRequest = new(*t.LnTokens - *t.LnRequests)
			if *t.Baseline.Requests == *t.Candidate.Requests {
				t.PerRequest = new((*t.Candidate.Tokens - *t.Baseline.Tokens) / *t.Baseline.Requests)
			}
		}
		if t.Baseline.Passed != nil && t.Candidate.Passed != nil {
			t.Verdict = Classify(*t.Baseline.Passed, judged(c[0]), *t.Candidate.Passed, judged(c[1]), in.plan[i])
			t.RecordedDiffers = t.Recorded != "" && t.Recorded != t.Verdict
			r.CaseVerdicts[t.Verdict]++
		}
		r.Tasks = append(r.Tasks, t)
	}
	r.PairedTasks = len(r.Tasks)
}

func taskArm(c cell, arm int) TaskArm {
	a := TaskArm{Trials: c.size(arm)}
	mean := func(m metric) *float64 {
		points := m.points(c[arm])
		if len(points) == 0 {
			return nil
		}
		var s sums
		s.addMean(points)
		return &s.num
	}
	all := metrics()
	a.Tokens, a.Requests, a.CostUSD, a.RepeatedCalls = mean(all[0]), mean(all[1]), mean(all[8]), mean(all[9])
	if rate := mean(all[10]); rate != nil {
		a.Passed = new(math.Round(*rate * judged(c[arm])))
	}
	return a
}

// judged is the number of trials whose outcome is recorded.
func judged(runs []run) float64 {
	var n float64
	for _, r := range runs {
		if r.passed != nil {
			n += r.n
		}
	}
	return n
}

func lnRatio(base, candidate *float64) *float64 {
	if base == nil || candidate == nil || *base <= 0 || *candidate <= 0 {
		return nil
	}
	return new(math.Log(*candidate / *base))
}

// turnMatched sums up the tasks with equal requests in both arms.
func turnMatched(tasks []TaskResult) *TurnMatched {
	var t TurnMatched
	var tokens [arms]float64
	for _, task := range tasks {
		if task.PerRequest == nil {
			continue
		}
		v := *task.PerRequest
		if t.Tasks == 0 {
			t.Low, t.High = v, v
		}
		t.Low, t.High = min(t.Low, v), max(t.High, v)
		t.Tasks++
		t.Requests += *task.Baseline.Requests
		tokens[0] += *task.Baseline.Tokens
		tokens[1] += *task.Candidate.Tokens
	}
	if t.Tasks == 0 {
		return nil
	}
	t.Mean = (tokens[1] - tokens[0]) / t.Requests
	t.LnTokens = math.Log(tokens[1] / tokens[0])
	t.PerRequest = fmt.Sprintf("%s tokens per request on %s with equal requests", Range(signed(t.Low), signed(t.High)), term.Count(int64(t.Tasks), "task", "tasks"))
	return &t
}

// signed is a whole number that always tells which way it goes.
func signed(v float64) string {
	n := int64(math.Round(v))
	if n < 0 {
		return term.Exact(n)
	}
	return "+" + term.Exact(n)
}
