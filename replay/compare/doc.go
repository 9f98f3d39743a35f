// Package compare sets two arms of a real A/B side by side, from their logs or
// from the reports that an evaluation harness wrote.
//
// # Pairs
//
// Trials are paired by task (see Task). Only tasks with trials in both arms count;
// the others are named. A task weighs the same in both arms however many trials
// each has: its figures are means per trial.
//
// # Factors
//
//	tokens = requests × tokens per request
//
// with tokens = input + output. Changes are natural logs of ratios, so that they
// add: ln tokens = ln requests + ln tokens per request. A ratio is that of the sums
// of the task means, which is what the whole suite costs, not the mean of the
// ratios of single tasks.
//
// # Interval
//
// 95 %, percentile bootstrap, 10,000 draws of a fixed seed. A draw takes as many
// tasks as there are, with replacement, and within each task as many trials of
// each arm as that arm has, with replacement; so unequal counts need no trial to
// be thrown away. Drawing trials on top of tasks makes the interval a little too
// wide, never too narrow. The bounds are the draws of rank ceil(0.025 × 10,000)
// and ceil(0.975 × 10,000).
//
// # Significance
//
// A change is significant when the interval leaves out "no change", when it exceeds
// the noise floor of these trials, and when there are at least 40 ways to deal the
// trials of each task to the two arms: with fewer, no rearrangement test could
// reach 5 % (2 of 39 is more), however alike the differences look. Six tasks of one
// trial in each arm give 2^6 = 64; one task needs four trials in each arm (70).
//
// # Noise floor
//
// What two runs of the same arm would differ by in 95 of 100 cases: 1.96 × SD of the
// log ratio. The SD comes from the spread of ln(value) within the tasks of each arm,
// pooled, at least 3 degrees of freedom:
//
//	SD² = s² × Σ over arms and tasks (share of the task in its arm's sum)² / trials
//
// Without repeated trials the SD of log ratio of FreeCode's published A/A runs, 0.185,
// is shown instead. It is one of whole-suite runs: it judges nothing here, it only
// warns.
//
// # Verdict
//
// The shipping criterion: cost falls while pass rate and repeated calls hold; a tie
// of those two is fine. Cost is USD where every trial is priced, else tokens.
//
//	rejected      cost rose, or pass rate or score fell, or repeated calls rose: significantly;
//	              or more tasks regressed by their majorities than improved
//	kept          cost fell significantly; pass rate and score not lower, no task regressed,
//	              repeated calls not more, and, where that is asked for, calls still batched
//	inconclusive  everything else, unknown pass rates included
//
// # Trials needed
//
// n = (1.96 + 0.84)² s² / δ² paired trials for 80 % power at 5 %, δ the change as a log
// ratio. s² is the variance of paired log ratios, clustered by task: the variance of
// the task means times the pairs per task. One arm alone gives s² = 2 × the pooled
// variance within its tasks, as if every task changed alike. Without either s is the
// published 0.185, and n counts pairs of whole-suite runs, not trials.
package compare
