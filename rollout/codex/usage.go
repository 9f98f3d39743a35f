package codex

import (
	"fmt"
	"github.com/fclog/fclog/rollout/logfile"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// tokenCount notes a token_count event. It stands for a request only if the
// running total changed and the last usage is real: the same event is written
// again with every rate limit, after estimates, and on resume.
func (f *facts) tokenCount(e event, m mark) {
	if plan := e.RateLimits.V.PlanType.V; plan != "" {
		f.plan = plan
	}
	info := e.Info.V
	if !info.Total.OK {
		return
	}
	total, last := info.Total.V, info.Last.V
	changed := f.last == nil || *f.last != total
	restored := f.last == nil && info.Last.OK && total != last && f.restores() && !f.sawOutput()
	if !info.Last.OK {
		last = total.minus(f.last)
	}
	f.last = &total
	if !changed || restored {
		return
	}
	f.totals = append(f.totals, total)
	f.totalAt = append(f.totalAt, m.record)
	// A context overflow replaces the total by the window's size; its last
	// usage is no request.
	if last.empty() || total.empty() {
		return
	}
	f.counters = append(f.counters, counter{record: m.record, line: m.line, at: m.at, usage: last, total: total})
}

// minus is the growth of a running total, for a log without last usage.
func (c counts) minus(before *counts) counts {
	if before == nil {
		return c
	}
	c.Input.V -= before.Input.V
	c.Cached.V -= before.Cached.V
	c.CacheWrite.V -= before.CacheWrite.V
	c.Output.V -= before.Output.V
	c.Reasoning.V -= before.Reasoning.V
	c.Total.V -= before.Total.V
	return c
}

// restores says whether the version that wrote the file goes on with the old
// total when a thread is resumed: 0.78 and later do.
func (f *facts) restores() bool {
	minor, ok := f.minorVersion()
	return !ok || minor >= 78
}

// minorVersion is the second part of the version that began the file: 104 for
// 0.104.0.
func (f *facts) minorVersion() (int64, bool) {
	if len(f.metas) == 0 {
		return 0, false
	}
	_, rest, _ := strings.Cut(f.metas[0].Version.V, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return parseInt(minor)
}

// sawOutput says whether the model has answered yet. A resumed or forked file
// may begin by repeating the total of its past.
func (f *facts) sawOutput() bool {
	for _, m := range f.marks {
		if m.kind == markOutput {
			return true
		}
	}
	return false
}

// settleUsage turns the figures into marks. A token_usage_record is the word on
// its response; token_count events count only before the first one, in the part
// of a resumed file that an older version wrote.
func (f *facts) settleUsage() {
	counted := f.counters
	f.splitForeign()
	if len(f.usageRecords) > 0 {
		opening := f.usageRecords[0]
		counted = nil
		for _, c := range f.counters {
			if c.record < opening.record && c.usage != opening.usage {
				counted = append(counted, c)
			}
		}
		counted = append(counted, uniqueResponses(f.usageRecords)...)
	}
	f.counters = counted
	marks := make([]mark, 0, len(f.marks)+len(counted))
	for _, m := range f.marks {
		for len(counted) > 0 && counted[0].record < m.record {
			marks = append(marks, counted[0].mark())
			counted = counted[1:]
		}
		marks = append(marks, m)
	}
	for _, c := range counted {
		marks = append(marks, c.mark())
	}
	f.marks = marks
}

// splitForeign sets records of other threads apart, such as a reviewer's, when
// the file's own thread has records too.
func (f *facts) splitForeign() {
	if len(f.metas) == 0 {
		return
	}
	own := f.metas[0].ID.V
	var mine, others []counter
	for _, r := range f.usageRecords {
		if r.thread == own || r.thread == "" {
			mine = append(mine, r)
		} else {
			others = append(others, r)
		}
	}
	if len(mine) > 0 {
		f.usageRecords, f.foreign = mine, others
	}
}

func (c counter) mark() mark {
	return mark{kind: markUsage, record: c.record, line: c.line, at: c.at, usage: c.usage, response: c.response}
}

func uniqueResponses(all []counter) []counter {
	type key struct{ thread, response string }
	seen := map[key]bool{}
	var out []counter
	for _, c := range all {
		k := key{c.thread, c.response}
		if c.response != "" && seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, c)
	}
	return out
}

// modelUsage converts a vector; what contradicts itself or is impossible is
// dropped and said.
func modelUsage(c counts) (u rollout.Usage, consistent bool) {
	u = rollout.Usage{
		Input: value(c.Input), CacheRead: value(c.Cached), CacheWrite: value(c.CacheWrite),
		Output: value(c.Output), Reasoning: value(c.Reasoning),
	}
	consistent = true
	for _, p := range []**int64{&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning} {
		if *p != nil && (**p < 0 || **p > rollout.MaxTokens) {
			*p, consistent = nil, false
		}
	}
	if u.Input != nil && (over(u.CacheRead, *u.Input) || over(u.CacheWrite, *u.Input) || amount(u.CacheRead)+amount(u.CacheWrite) > *u.Input) {
		u.CacheRead, u.CacheWrite, consistent = nil, nil, false
	}
	if u.Output != nil && over(u.Reasoning, *u.Output) {
		u.Reasoning, consistent = nil, false
	}
	return u, consistent
}

func value(m logfile.Lenient[int64]) *int64 {
	if !m.OK {
		return nil
	}
	return &m.V
}

func amount(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func over(part *int64, whole int64) bool { return part != nil && *part > whole }

// inheritedTotal is what the running total held before the file's own first
// request: a copied history goes on from its parent's total.
func (f *facts) inheritedTotal(ownStart int) counts {
	var base counts
	for i, total := range f.totals {
		if f.totalAt[i] < ownStart {
			base = total
		}
	}
	if ownStart == 0 || base != (counts{}) {
		return base
	}
	for _, c := range f.counters {
		if c.record >= ownStart {
			base.Input.V, base.Output.V = c.total.Input.V-c.usage.Input.V, c.total.Output.V-c.usage.Output.V
			break
		}
	}
	return base
}

// checkTotals compares the two routes the log offers to a session's sum: the
// last usage of every counted event, and the running total at its end. They
// differ where a resume before 0.78 or an overflow restarted the total, where
// events were lost, and not otherwise.
func (f *facts) checkTotals(ownStart int) *rollout.Problem {
	if len(f.usageRecords) > 0 || f.last == nil {
		return nil
	}
	var sum counts
	base := f.inheritedTotal(ownStart)
	var restarts int
	var before counts
	for i, total := range f.totals {
		if total.Total.V < before.Total.V && f.totalAt[i] >= ownStart {
			restarts++
		}
		before = total
	}
	for _, c := range f.counters {
		if c.record >= ownStart {
			sum.Input.V += c.usage.Input.V
			sum.Output.V += c.usage.Output.V
		}
	}
	input, output := f.last.Input.V-base.Input.V, f.last.Output.V-base.Output.V
	if input == sum.Input.V && output == sum.Output.V {
		return nil
	}
	return &rollout.Problem{
		File: f.path, Kind: "totals-disagree", Count: 1,
		Detail: fmt.Sprintf("the requests add up to %d input and %d output tokens, the log's own running total ends at %d and %d (restarts of it: %d); the requests are used",
			sum.Input.V, sum.Output.V, input, output, restarts),
	}
}
