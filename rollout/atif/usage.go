package atif

import (
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// metrics is the usage of a step as its producer counts.
type metrics struct {
	Prompt     logfile.Lenient[int64]        `json:"prompt_tokens"`
	Completion logfile.Lenient[int64]        `json:"completion_tokens"`
	Cached     logfile.Lenient[int64]        `json:"cached_tokens"`
	Cost       logfile.Lenient[float64]      `json:"cost_usd"`
	Extra      logfile.Lenient[metricsExtra] `json:"extra"`
}

type metricsExtra struct {
	Creation   logfile.Lenient[int64]     `json:"cache_creation_input_tokens"` // Claude Code converter
	Lifetimes  logfile.Lenient[lifetimes] `json:"cache_creation"`
	Write      logfile.Lenient[int64]     `json:"cache_write_tokens"` // serf
	Write1h    logfile.Lenient[int64]     `json:"cache_write_1h_tokens"`
	Reasoning  logfile.Lenient[int64]     `json:"reasoning_tokens"`
	RawUsage   logfile.Lenient[rawUsage]  `json:"raw_usage"`
	LastOutput logfile.Lenient[int64]     `json:"reasoning_output_tokens"`
}

type lifetimes struct {
	M5 logfile.Lenient[int64] `json:"ephemeral_5m_input_tokens"`
	H1 logfile.Lenient[int64] `json:"ephemeral_1h_input_tokens"`
}

// rawUsage is a provider's own record.
type rawUsage struct {
	Input     logfile.Lenient[int64]     `json:"input_tokens"`
	Lifetimes logfile.Lenient[lifetimes] `json:"cache_creation"`
}

// finalMetrics is the totals of a trajectory.
type finalMetrics struct {
	Prompt     logfile.Lenient[int64]      `json:"total_prompt_tokens"`
	Completion logfile.Lenient[int64]      `json:"total_completion_tokens"`
	Cached     logfile.Lenient[int64]      `json:"total_cached_tokens"`
	Cost       logfile.Lenient[float64]    `json:"total_cost_usd"`
	Extra      logfile.Lenient[finalExtra] `json:"extra"`
}

type finalExtra struct {
	Reasoning logfile.Lenient[int64] `json:"reasoning_output_tokens"`
	Creation  logfile.Lenient[int64] `json:"total_cache_creation_input_tokens"`
}

// counting is what prompt_tokens of a producer leaves out.
type counting struct {
	reads  bool // cache reads are not in it
	writes bool // cache writes are not in it
}

// claudeAgent is the producer whose converter leaves cache writes out of the
// prompt and gives the output as the stream began.
const claudeAgent = "claude-code"

// countingOf tells how a trajectory counts: one where cached tokens exceed the
// prompt anywhere, or where the prompt is the provider's uncached input, counts
// without cache.
func countingOf(d *document, steps []step) counting {
	if f := d.Final.V; f.Cached.OK && f.Prompt.OK && f.Cached.V > f.Prompt.V {
		return counting{reads: true, writes: true}
	}
	for _, s := range steps {
		m := s.Metrics.V
		if m.Cached.OK && m.Prompt.OK && m.Cached.V > m.Prompt.V {
			return counting{reads: true, writes: true}
		}
		raw := m.Extra.V.RawUsage.V.Input
		if raw.OK && m.Prompt.OK && raw.V == m.Prompt.V && m.Cached.V+m.Extra.V.Write.V > 0 {
			return counting{reads: true, writes: true}
		}
	}
	return counting{writes: d.Agent.V.Name.V == claudeAgent}
}

// told says whether a step has usage: a call without any input is none.
func (m metrics) told() bool { return m.Prompt.V > 0 || m.Completion.V > 0 || m.Cached.V > 0 }

// usage turns a producer's figures into inclusive ones. The second result says
// that some figure was impossible and left out.
func (c counting) usage(m metrics) (rollout.Usage, bool) {
	if !m.told() {
		return rollout.Usage{}, false
	}
	v := figures{}
	e := m.Extra.V
	u := rollout.Usage{
		CacheRead: v.take(m.Cached), Output: v.take(m.Completion),
		CacheWrite: v.take(either(e.Creation, e.Write)), Reasoning: v.take(either(e.Reasoning, e.LastOutput)),
	}
	life := e.Lifetimes.V
	if e.RawUsage.V.Lifetimes.OK {
		life = e.RawUsage.V.Lifetimes.V
	}
	u.CacheWrite5m, u.CacheWrite1h = v.take(life.M5), v.take(life.H1)
	u.Input = c.inclusive(v.take(m.Prompt), u.CacheRead, u.CacheWrite)
	return u, v.settle(&u) || v.odd
}

func (c counting) inclusive(prompt, read, write *int64) *int64 {
	if prompt == nil {
		return nil
	}
	sum := *prompt
	if c.reads && read != nil {
		sum += *read
	}
	if c.writes && write != nil {
		sum += *write
	}
	return &sum
}

// reported turns the totals of a trajectory into inclusive ones. Where the input
// leaves out cache writes and the totals do not give them, it is unknown.
func (c counting) reported(f finalMetrics) (rollout.Reported, bool) {
	v := figures{}
	u := rollout.Usage{
		CacheRead: v.take(f.Cached), Output: v.take(f.Completion),
		CacheWrite: v.take(f.Extra.V.Creation), Reasoning: v.take(f.Extra.V.Reasoning),
	}
	if !c.writes || u.CacheWrite != nil {
		u.Input = c.inclusive(v.take(f.Prompt), u.CacheRead, u.CacheWrite)
	}
	odd := v.settle(&u) || v.odd
	r := rollout.Reported{Usage: u, CostUSD: usd(f.Cost)}
	return r, odd || f.Cost.OK && r.CostUSD == nil
}

func either(a, b logfile.Lenient[int64]) logfile.Lenient[int64] {
	if a.OK {
		return a
	}
	return b
}

// figures takes counts and remembers whether one was impossible.
type figures struct{ odd bool }

func (v *figures) take(n logfile.Lenient[int64]) *int64 {
	if !n.OK {
		v.odd = v.odd || n.Odd
		return nil
	}
	if n.V < 0 || n.V > rollout.MaxTokens/4 {
		v.odd = true
		return nil
	}
	return &n.V
}

// settle leaves out parts that exceed their whole; true if there were any.
func (v *figures) settle(u *rollout.Usage) bool {
	bad := false
	if u.Input != nil && value(u.CacheRead)+value(u.CacheWrite) > *u.Input {
		u.CacheWrite, bad = nil, true
		if value(u.CacheRead) > *u.Input {
			u.CacheRead = nil
		}
	}
	if u.CacheWrite == nil || value(u.CacheWrite5m)+value(u.CacheWrite1h) > *u.CacheWrite {
		u.CacheWrite5m, u.CacheWrite1h = nil, nil
	}
	if u.Output != nil && value(u.Reasoning) > *u.Output {
		u.Reasoning, bad = nil, true
	}
	return bad
}

func usd(v logfile.Lenient[float64]) *float64 {
	if !v.OK || !(v.V >= 0 && v.V <= rollout.MaxUSD) {
		return nil
	}
	return &v.V
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// sums is the raw figures of steps or totals, as their producer counts.
type sums struct{ prompt, completion, cached int64 }

func (s *sums) add(m metrics) {
	s.prompt += bounded(m.Prompt.V)
	s.completion += bounded(m.Completion.V)
	s.cached += bounded(m.Cached.V)
}

func (s *sums) plus(o sums) {
	s.prompt, s.completion, s.cached = s.prompt+o.prompt, s.completion+o.completion, s.cached+o.cached
}

// agrees says whether totals are these sums; what they do not give is no
// disagreement.
func (s sums) agrees(f finalMetrics) bool {
	same := func(n logfile.Lenient[int64], sum int64) bool { return !n.OK || n.V == sum }
	return same(f.Prompt, s.prompt) && same(f.Completion, s.completion) && same(f.Cached, s.cached)
}

func bounded(n int64) int64 {
	if n < 0 || n > rollout.MaxTokens {
		return 0
	}
	return n
}
