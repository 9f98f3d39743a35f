package compare

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/internal/term"
)

// Verdicts of an A/B.
const (
	Kept     = "kept"
	Rejected = "rejected"
	// Inconclusive is the third.
)

// Movement says how a figure of the shipping criterion moved.
type Movement string

const (
	Fell    Movement = "fell"
	Rose    Movement = "rose"
	Same    Movement = "same"    // equal in both arms
	Unclear Movement = "unclear" // differs by no more than chance may
	Unknown Movement = "unknown" // not recorded in both arms
)

// Verdict is the decision by the shipping criterion: cost falls while pass rate and
// repeated calls hold; a tie of those two is fine.
type Verdict struct {
	Verdict       string   `json:"verdict"` // kept, rejected, inconclusive
	Basis         string   `json:"basis"`   // what cost is: cost_usd or tokens
	Cost          Movement `json:"cost"`
	PassRate      Movement `json:"pass_rate"`
	RepeatedCalls Movement `json:"repeated_calls"`
	Tie           bool     `json:"tie"` // nothing of the three differs
	Reason        string   `json:"reason"`
}

func decide(r *Result) Verdict {
	cost, v := r.Deltas.Tokens, Verdict{Basis: "tokens"}
	if r.priced {
		cost, v.Basis = r.Deltas.CostUSD, "cost_usd"
	}
	v.Cost, v.RepeatedCalls, v.PassRate = movement(cost), movement(r.Deltas.RepeatedCalls), passMovement(r)
	v.Tie = v.Cost == Same && (v.PassRate == Same || v.PassRate == Unknown) && (v.RepeatedCalls == Same || v.RepeatedCalls == Unknown)
	against := v.against(r, cost)
	open := v.open(r, cost)
	switch {
	case len(against) > 0:
		v.Verdict, v.Reason = Rejected, strings.Join(against, "; ")
	case len(open) > 0:
		v.Verdict, v.Reason = Inconclusive, strings.Join(open, "; ")
	default:
		v.Verdict, v.Reason = Kept, v.what()+" fell ("+words(cost)+"), pass rate and repeated calls hold"
	}
	return v
}

func movement(d *Delta) Movement {
	switch {
	case d == nil || d.Change == nil:
		// None in one arm and some in the other is a difference without a ratio.
		if d != nil && d.Baseline != d.Candidate {
			return Unclear
		}
		if d != nil {
			return Same
		}
		return Unknown
	case *d.Change == 0:
		return Same
	case !d.Significant:
		return Unclear
	case *d.Change < 0:
		return Fell
	}
	return Rose
}

// passMovement is the worse of pass rate and score; more cases regressed by their
// majorities than improved are a fall.
func passMovement(r *Result) Movement {
	rate, score := movement(r.Deltas.PassRate), movement(r.Deltas.Score)
	switch {
	case r.CaseVerdicts[Regressed] > r.CaseVerdicts[Improved] || rate == Fell || score == Fell:
		return Fell
	case rate == Unknown:
		return Unknown
	case r.CaseVerdicts[Regressed] > 0 || lower(r.Deltas.PassRate) || lower(r.Deltas.Score):
		return Unclear
	case rate == Rose || score == Rose:
		return Rose
	case rate == Unclear:
		return Unclear
	}
	return Same
}

func lower(d *Delta) bool  { return d != nil && d.Change != nil && *d.Change < 0 }
func higher(d *Delta) bool { return d != nil && d.Change != nil && *d.Change > 0 }

// against is what speaks for rejection.
func (v Verdict) against(r *Result, cost *Delta) []string {
	var out []string
	if v.Cost == Rose {
		out = append(out, v.what()+" rose: "+words(cost))
	}
	switch n := r.CaseVerdicts[Regressed]; {
	case v.PassRate == Fell && n > 0:
		out = append(out, fmt.Sprintf("%d of %s regressed by the majority of trials", n, term.Count(int64(r.PairedTasks), "task", "tasks")))
	case v.PassRate == Fell:
		out = append(out, "the pass rate or score fell")
	}
	if v.RepeatedCalls == Rose {
		out = append(out, fmt.Sprintf("repeated calls rose from %.2f to %.2f a trial", r.Deltas.RepeatedCalls.Baseline, r.Deltas.RepeatedCalls.Candidate))
	}
	return out
}

// open is what keeps a candidate from being kept.
func (v Verdict) open(r *Result, cost *Delta) []string {
	var out []string
	switch v.Cost {
	case Unknown:
		out = append(out, "no task has tokens in both arms")
	case Same:
		out = append(out, v.what()+" is the same in both arms: nothing is gained")
	case Unclear:
		out = append(out, v.what()+" does not differ beyond chance: "+words(cost)+" ("+cost.Why+")")
	}
	if v.PassRate == Unknown {
		out = append(out, "the pass rate is not recorded in both arms")
	}
	if lower(r.Deltas.PassRate) || lower(r.Deltas.Score) {
		out = append(out, "the pass rate or score is lower, though not beyond chance")
	}
	if n := r.CaseVerdicts[Regressed]; n > 0 {
		out = append(out, fmt.Sprintf("%s regressed by the majority of trials and %d improved", term.Count(int64(n), "task", "tasks"), r.CaseVerdicts[Improved]))
	}
	if r.Parallel.lost() {
		out = append(out, fmt.Sprintf("fewer trials batch their calls: %d of %d, before %d of %d",
			r.Parallel.Candidate.Met, r.Parallel.Candidate.Trials, r.Parallel.Baseline.Met, r.Parallel.Baseline.Trials))
	}
	if v.RepeatedCalls == Unknown {
		out = append(out, "repeated calls are not recorded in both arms")
	}
	if higher(r.Deltas.RepeatedCalls) {
		out = append(out, "there are more repeated calls, though not beyond chance")
	}
	return out
}

func (v Verdict) what() string {
	if v.Basis == "cost_usd" {
		return "cost"
	}
	return "the number of tokens"
}

// words is a change with its interval, "~" in front where it is not significant.
func words(d *Delta) string {
	switch {
	case d == nil || d.Percent == nil:
		return "no ratio"
	case d.PercentLow == nil:
		return d.Mark + SignedPercent(*d.Percent)
	}
	return fmt.Sprintf("%s%s, 95 %% interval %s", d.Mark, SignedPercent(*d.Percent), Range(SignedPercent(*d.PercentLow), SignedPercent(*d.PercentHigh)))
}

// Factors says how the change of tokens comes about: "+11.9 % tokens = +10.3 %
// requests × +1.4 % tokens per request"; "" where a factor is unknown.
func (d Deltas) Factors() string {
	if d.Tokens == nil || d.Requests == nil || d.TokensPerRequest == nil ||
		d.Tokens.Percent == nil || d.Requests.Percent == nil || d.TokensPerRequest.Percent == nil {
		return ""
	}
	return fmt.Sprintf("%s tokens = %s requests × %s tokens per request",
		SignedPercent(*d.Tokens.Percent), SignedPercent(*d.Requests.Percent), SignedPercent(*d.TokensPerRequest.Percent))
}
