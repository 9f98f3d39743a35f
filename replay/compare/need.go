package compare

import (
	"math"
	"slices"

	"github.com/fclog/fclog/replay"
)

// z is the sum of the normal quantiles of a two-sided 5 % test and of 80 % power.
const z = 1.96 + 0.84

// Need is how many pairs an A/B takes to show a change with 80 % power at 5 %.
type Need struct {
	Pairs   int64   `json:"pairs"`
	Unit    string  `json:"unit"`         // what a pair is of: trials or whole-suite runs
	Change  float64 `json:"ln_ratio"`     // the change to be shown
	SD      float64 `json:"sd_log_ratio"` // s, of one paired log ratio
	Basis   string  `json:"basis"`        // where s comes from
	Tasks   int     `json:"tasks"`        // tasks behind s; 0 the published spread
	PerTask int64   `json:"per_task"`     // pairs for each of those tasks; for suite runs all of them
}

const (
	unitTrials = "paired trials"
	unitSuites = "paired whole-suite runs"
)

// pairs is (1.96 + 0.84)² s² / δ², rounded up, at least the two that a spread needs.
func pairs(s, change float64) int64 {
	n := math.Ceil(z * z * s * s / (change * change))
	return int64(min(max(n, 2), 1<<53))
}

func needTrials(s, change float64, tasks int) *Need {
	n := pairs(s, change)
	return &Need{Pairs: n, Unit: unitTrials, Change: change, SD: s, Basis: fromTrials, Tasks: tasks, PerTask: (n + int64(tasks) - 1) / int64(tasks)}
}

func needSuites(change float64) *Need {
	n := pairs(publishedSD, change)
	return &Need{Pairs: n, Unit: unitSuites, Change: change, SD: publishedSD, Basis: fromPublished, PerTask: n}
}

// usable says that a change can be planned for at all.
func usable(change float64) bool {
	return change != 0 && !math.IsNaN(change) && !math.IsInf(change, 0)
}

// NeedOf is how many pairs it takes to show that a share of the tokens is saved
// (negative: added), judged by the spread of the given sessions among repeated runs
// of the same task, else by the published one. Nil for a share of 0, or of 1 and
// more, and for one that is no number.
func NeedOf(share float64, recs []replay.Recording) *Need {
	change := math.Log(1 - share)
	if !usable(change) {
		return nil
	}
	trials, _ := Trials(recs, nil)
	s := singleArm(trials)
	variance, freedom := within(s)
	if freedom < minFreedom {
		return needSuites(change)
	}
	return needTrials(math.Sqrt(2*variance), change, repeated(s))
}

// TrialsNeeded is NeedOf as a plain number: replay's RunOptions.Trials.
func TrialsNeeded(share float64, recs []replay.Recording) *int64 {
	n := NeedOf(share, recs)
	if n == nil {
		return nil
	}
	return &n.Pairs
}

// singleArm is the tokens of trials by task, all in the first arm.
func singleArm(trials []Trial) strata {
	tasks := make([]Task, len(trials))
	for i, t := range trials {
		tasks[i] = t.Task
	}
	of, names := group(tasks)
	s := make(strata, len(names))
	for i, t := range trials {
		if v := float(t.Tokens()); v != nil {
			s[of[i]][0] = append(s[of[i]][0], point{n: 1, num: *v, den: 1})
		}
	}
	return s
}

// repeated is the number of tasks with more than one trial in some arm.
func repeated(s strata) int {
	n := 0
	for _, task := range s {
		if len(task[0]) > 1 || len(task[1]) > 1 {
			n++
		}
	}
	return n
}

// needFrom plans for the change that two arms showed, with the spread of their
// paired log ratios, clustered by task.
func needFrom(s strata, change float64) *Need {
	if !usable(change) {
		return nil
	}
	logs, perTask := pairedLogs(s)
	if len(logs) >= 2 {
		if sd := math.Sqrt(mean(perTask) * variance(logs)); sd > 0 {
			n := needTrials(sd, change, len(logs))
			n.Basis = fromTasks
			return n
		}
	}
	if v, freedom := within(s); freedom >= minFreedom && v > 0 {
		return needTrials(math.Sqrt(2*v), change, repeated(s))
	}
	return needSuites(change)
}

// pairedLogs is ln(candidate mean / baseline mean) of each task and its pairs.
func pairedLogs(s strata) (logs, perTask []float64) {
	for _, task := range s {
		var a [arms]sums
		var n [arms]float64
		for arm, points := range task {
			a[arm].addMean(points)
			for _, p := range points {
				n[arm] += p.n
			}
		}
		if v := math.Log(a[1].num / a[0].num); usable(v) || v == 0 {
			logs, perTask = append(logs, v), append(perTask, slices.Min(n[:]))
		}
	}
	return logs, perTask
}
