package codex

import (
	"crypto/sha256"
	"sort"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
)

// planned is one request as the whole file tells it, before it is built.
type planned struct {
	record    int // its payload is the history before this record
	line      int
	kind      rollout.RequestKind
	turn      int
	status    rollout.Status
	usage     *counts
	response  string
	model     string
	provider  string
	asked     time.Time
	done      time.Time
	inherited bool
	unrun     bool    // usage without a response in the log
	runs      []*run  // what the response brought
	input     int64   // estimated tokens of input since the request before
	forget    bool    // reasoning of finished turns is no longer sent
	after     *mark   // the compaction right after it
	reasoning []int64 // tokens of its reasoning items, in order; nil unknown
}

// order says where a version writes the usage of a request: up to 0.65 before
// its items, later after them.
type order bool

const (
	usageAfter  order = false
	usageBefore order = true
)

// pair gives every run its usage. Runs and figures of a segment go together one
// by one; where their numbers differ, by where they stand.
func pair(segs []*segment) {
	ord := observedOrder(segs)
	for _, s := range segs {
		switch {
		case len(s.runs) == len(s.usages):
			for i, r := range s.runs {
				r.usage = s.usages[i]
			}
		case ord == usageBefore:
			s.pairBefore()
		default:
			s.pairAfter()
			s.mergeCutRuns()
		}
	}
}

// observedOrder looks at the segments that leave no doubt.
func observedOrder(segs []*segment) order {
	var before, after int
	for _, s := range segs {
		if len(s.runs) != len(s.usages) {
			continue
		}
		for i, r := range s.runs {
			if s.usages[i].record < r.first {
				before++
			} else {
				after++
			}
		}
	}
	return order(before > after)
}

// pairAfter gives a figure to the last run that began before it. A second one
// for the same run belongs to a request without logged response.
func (s *segment) pairAfter() {
	for _, u := range s.usages {
		i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].first > u.record }) - 1
		if i >= 0 && s.runs[i].usage == nil {
			s.runs[i].usage = u
		}
	}
}

// pairBefore gives the last figure before a run to it.
func (s *segment) pairBefore() {
	taken := -1
	for _, r := range s.runs {
		i := sort.Search(len(s.usages), func(i int) bool { return s.usages[i].record > r.first }) - 1
		if i > taken {
			r.usage, taken = s.usages[i], i
		}
	}
}

// mergeCutRuns joins a run without usage to the next one when both together
// explain that one's output better: a call that fails at once is answered while
// the response still streams, which splits one response into two runs.
func (s *segment) mergeCutRuns() {
	for i := 0; i+1 < len(s.runs); i++ {
		r, next := s.runs[i], s.runs[i+1]
		if r.usage != nil || next.usage == nil {
			continue
		}
		visible := next.usage.usage.Output.V - next.usage.usage.Reasoning.V
		if distance(visible, r.size+next.size) < distance(visible, next.size) {
			r.usage, next.usage, next.within = next.usage, nil, true
		}
	}
}

func distance(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

// planRequests lists the requests of a file in the order of its records.
func (f *facts) planRequests(own int) []*planned {
	segs := segments(f.marks)
	pair(segs)
	var out []*planned
	for _, s := range segs {
		out = append(out, s.requests()...)
		for _, r := range s.runs {
			f.runs = append(f.runs, r.first)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].record < out[j].record })
	for i, p := range out {
		p.inherited = p.record < own
		p.model, p.provider = f.modelFor(p.record)
		p.status = f.statusOf(p, i == len(out)-1)
		p.reasoning = splitReasoning(p)
	}
	decideForgetting(out)
	return out
}

// statusOf tells how a request ended. Items without usage are still an answer,
// unless the turn was interrupted there or the log ends before the usage.
func (f *facts) statusOf(p *planned, last bool) rollout.Status {
	switch {
	case p.usage != nil || p.inherited || !f.envelope:
		return rollout.Answered
	case p.status != "":
		return p.status
	case last:
		return rollout.InFlight
	}
	return rollout.Answered
}

// requests turns the runs of a segment, and the usage nobody claimed, into
// requests.
func (s *segment) requests() []*planned {
	claimed := map[*counter]*planned{}
	var out []*planned
	for i, r := range s.runs {
		switch {
		case r.within:
			out[len(out)-1].runs = append(out[len(out)-1].runs, r)
			out[len(out)-1].done = r.done
			continue
		case r.usage == nil && s.review && r.messages:
			// The result of a review in another thread: no request brought it.
			continue
		}
		p := &planned{record: r.first, line: r.line, kind: rollout.KindTurn, turn: s.turn, asked: r.asked, done: r.done, runs: []*run{r}, input: r.input}
		if s.aborted && i == len(s.runs)-1 {
			p.status = rollout.CutOff
		}
		if r.usage != nil {
			p.usage, p.response = &r.usage.usage, r.usage.response
			claimed[r.usage] = p
		}
		out = append(out, p)
	}
	for _, u := range s.usages {
		if claimed[u] == nil {
			out = append(out, &planned{record: u.record, line: u.line, kind: rollout.KindTurn, turn: s.turn, done: u.at, usage: &u.usage, response: u.response, unrun: true})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].record < out[j].record })
	s.markCompaction(out)
	return out
}

// splitReasoning shares the reasoning tokens of a response among its encrypted
// reasoning items, by the estimate of their sizes that Codex uses.
func splitReasoning(p *planned) []int64 {
	var weights []int64
	var sum int64
	for _, r := range p.runs {
		for _, w := range r.reasoning {
			weights = append(weights, w)
			sum += w
		}
	}
	if p.usage == nil || sum == 0 {
		return nil
	}
	usage, _ := modelUsage(*p.usage)
	if usage.Reasoning == nil {
		return nil
	}
	left := *usage.Reasoning
	out := make([]int64, len(weights))
	for i, w := range weights {
		out[i] = int64(float64(left) * float64(w) / float64(sum))
		left, sum = left-out[i], sum-w
	}
	return out
}

// markCompaction finds the request that wrote the summary of the compaction
// which ends the segment: by its response ID, as the usage without a response
// before a local compaction, or as the answer that became the summary.
func (s *segment) markCompaction(out []*planned) {
	if s.compact == nil || len(out) == 0 {
		return
	}
	last := out[len(out)-1]
	last.after = s.compact
	switch {
	case s.compact.response != "":
		for _, p := range out {
			if p.response == s.compact.response {
				p.kind = rollout.KindCompaction
			}
		}
	case s.compact.message == "":
	case last.unrun:
		last.kind = rollout.KindCompaction
	case len(last.runs) == 1 && last.runs[0].messages && summaryOf(s.compact.message, last.runs[0].hash):
		last.kind = rollout.KindCompaction
	}
}

// preambleLines is how many lines of fixed text may stand before a summary.
const preambleLines = 12

// summaryOf says whether a compaction's message is an answer, possibly behind
// the fixed preamble.
func summaryOf(message string, answer [32]byte) bool {
	for range preambleLines {
		if sha256.Sum256([]byte(message)) == answer {
			return true
		}
		_, rest, found := strings.Cut(message, "\n")
		if !found {
			return false
		}
		message = rest
	}
	return false
}

// modelFor is the model named last before a record; before the first name, the
// first one: a resumed file may name its model after the first usage.
func (f *facts) modelFor(record int) (model, provider string) {
	i := sort.Search(len(f.models), func(i int) bool { return f.models[i].record > record }) - 1
	if i >= 0 {
		model, provider = f.models[i].model, f.models[i].provider
	}
	if model == "" {
		model = f.firstModel
	}
	if provider == "" && len(f.metas) > 0 {
		provider = f.metas[0].Provider.V
	}
	return model, provider
}
