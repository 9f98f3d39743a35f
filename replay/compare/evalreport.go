package compare

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// EvalReport is one A/B as FreeCode itself wrote it down: a report of
// ~/.freecode/eval-ab, or a line of evals/experiments.jsonl.
type EvalReport struct {
	File       string
	Line       int    // 1-based; 0 a report that is a file of its own
	ID         string // of the experiment; "" a report
	Hypothesis string
	Suite      string
	RanAt      string
	Commit     string
	Verdict    string // kept, rejected; "" undecided
	Note       string
	Trials     *int64               // planned per case and side
	Sides      [2]map[string]string // what each side changed: model, env:NAME; baseline first
	Cases      []EvalCase
	Totals     *[2]SideTally // over all cases; nil where the report has none
	Problems   []rollout.Problem
}

// EvalCase is one case of an A/B.
type EvalCase struct {
	ID         string
	Delta      string // FreeCode's own verdict; "" none
	Sides      [2]SideTally
	Comparable *[2]SideTally // only the trial pairs where both sides ran; nil not recorded
	Pairs      *int64        // how many those are
}

// SideTally is what one side of a case, or of the whole run, used. Nil means that
// the report does not say.
type SideTally struct {
	Passed         *int64
	Ran            *int64 // trials that did not die on infrastructure
	Infrastructure *int64 // trials that did; their requests and tokens are in the sums
	Requests       *int64 // turns
	RepeatedCalls  *int64
	Tokens         *int64   // input + output
	CostUSD        *float64 // over priced trials only
	Unpriced       *int64   // trials without a full price
}

// ReadEval reads FreeCode's A/B reports: one JSON object, or one a line. A line
// that cannot be read is a problem of the report before it or, with none before
// it, of the next one; a file without any report is an error.
func ReadEval(path string) ([]*EvalReport, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	var whole jsontext.Value
	single := logfile.Unmarshal(data, &whole)
	if single == nil {
		rep := newEvalReport(path, 0, whole)
		if rep == nil {
			return nil, fmt.Errorf("%s: no A/B report: no sides, cases or totals in it", path)
		}
		return []*EvalReport{rep}, nil
	}
	reports, err := readEvalLines(path)
	if err == nil && len(reports) == 0 {
		err = fmt.Errorf("%s:%d: no A/B report: %w", path, lineOf(data, single), single)
	}
	return reports, err
}

func readEvalLines(path string) ([]*EvalReport, error) {
	r, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var reports []*EvalReport
	var problems []rollout.Problem
	for r.Next() {
		if rep := newEvalReport(path, r.Line(), r.Record()); rep != nil {
			reports = append(reports, rep)
			continue
		}
		problems = append(problems, rollout.Problem{File: path, Line: r.Line(), Kind: "unknown-record", Detail: "no sides, cases or totals", Count: 1})
	}
	problems = append(problems, r.Problems()...)
	for _, p := range problems {
		if owner := before(reports, p.Line); owner != nil {
			owner.Problems = append(owner.Problems, p)
		}
	}
	return reports, r.Err()
}

// before is the last report that starts before a line, else the first.
func before(reports []*EvalReport, line int) *EvalReport {
	var owner *EvalReport
	for _, r := range reports {
		if owner == nil || r.Line < line {
			owner = r
		}
	}
	return owner
}

// newEvalReport takes a report apart; nil if it is none.
func newEvalReport(file string, line int, raw jsontext.Value) *EvalReport {
	var bad []string
	o := object(raw, "report", &bad)
	if o["sides"] == nil && o["cases"] == nil && o["totals"] == nil {
		return nil
	}
	r := &EvalReport{
		File: file, Line: line,
		ID: text(o["id"], "id", &bad), Hypothesis: text(o["hypothesis"], "hypothesis", &bad),
		Suite: text(o["suite"], "suite", &bad), RanAt: text(o["ranAt"], "ranAt", &bad),
		Commit: text(o["commit"], "commit", &bad), Verdict: text(o["verdict"], "verdict", &bad),
		Note: text(o["note"], "note", &bad), Trials: number[int64](o["trials"], "trials", &bad),
	}
	sides := object(o["sides"], "sides", &bad)
	for i, side := range sideNames() {
		r.Sides[i] = settings(sides[side], "sides."+side, &bad)
	}
	for i, c := range list(o["cases"], "cases", &bad) {
		if c.Kind() == '"' {
			continue // some lines only name the cases that were run
		}
		r.Cases = append(r.Cases, newEvalCase(c, fmt.Sprintf("cases[%d]", i), &bad))
	}
	r.Totals = tallies(o["totals"], "totals", &bad)
	for _, detail := range bad {
		r.Problems = append(r.Problems, rollout.Problem{File: file, Line: line, Kind: "bad-value", Detail: detail, Count: 1})
	}
	return r
}

func sideNames() [2]string { return [2]string{"baseline", "candidate"} }

// settings are what a side changed; values that are no text keep their JSON.
func settings(raw jsontext.Value, key string, bad *[]string) map[string]string {
	out := map[string]string{}
	for name, v := range object(raw, key, bad) {
		var s string
		if v.Kind() != '"' || logfile.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		out[name] = s
	}
	return out
}

func newEvalCase(raw jsontext.Value, key string, bad *[]string) EvalCase {
	o := object(raw, key, bad)
	c := EvalCase{ID: text(o["id"], key+".id", bad), Delta: text(o["delta"], key+".delta", bad)}
	for i, side := range sideNames() {
		c.Sides[i] = newTally(o[side], key+"."+side, bad)
	}
	if comparable := object(o["comparable"], key+".comparable", bad); comparable != nil {
		c.Comparable = tallies(o["comparable"], key+".comparable", bad)
		c.Pairs = number[int64](comparable["pairs"], key+".comparable.pairs", bad)
	}
	return c
}

func tallies(raw jsontext.Value, key string, bad *[]string) *[2]SideTally {
	o := object(raw, key, bad)
	if o == nil {
		return nil
	}
	var t [2]SideTally
	for i, side := range sideNames() {
		t[i] = newTally(o[side], key+"."+side, bad)
	}
	return &t
}

func newTally(raw jsontext.Value, key string, bad *[]string) SideTally {
	o := object(raw, key, bad)
	count := func(name string) *int64 { return number[int64](o[name], key+"."+name, bad) }
	return SideTally{
		Passed: count("passed"), Ran: count("ran"), Infrastructure: count("infrastructureFailures"),
		Requests: count("turns"), RepeatedCalls: count("repeatedCalls"), Tokens: count("tokens"),
		CostUSD: number[float64](o["costUsd"], key+".costUsd", bad), Unpriced: count("unpricedTrials"),
	}
}

// Name is how a report of many experiments names this one.
func (r *EvalReport) Name() string {
	if r.ID != "" {
		return r.ID
	}
	if r.Line > 0 {
		return fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	return strings.TrimSpace(r.Suite + " " + r.RanAt)
}
