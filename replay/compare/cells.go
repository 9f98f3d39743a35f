package compare

// arms is the number of sides of an A/B; index 0 is the baseline, 1 the candidate.
const arms = 2

// run is what one trial, or a tally of several, used. Nil means unknown.
type run struct {
	n             float64 // trials it stands for
	requests      *float64
	tokens        *float64
	input         *float64
	uncached      *float64
	cacheRead     *float64
	cacheWrite    *float64
	output        *float64
	cost          *float64 // of fully priced trials
	repeatedCalls *float64
	passed        *float64 // how many of the n
	score         *float64
}

// cell is all runs of one task, by arm.
type cell [arms][]run

// size is the number of trials of an arm.
func (c cell) size(arm int) float64 {
	var n float64
	for _, r := range c[arm] {
		n += r.n
	}
	return n
}

func runOf(t Trial) run {
	r := run{
		n: 1, requests: float(t.Requests), tokens: float(t.Tokens()), input: float(t.Input), uncached: float(t.Uncached),
		cacheRead: float(t.CacheRead), cacheWrite: float(t.CacheWrite), output: float(t.Output),
		repeatedCalls: float(t.RepeatedCalls), score: t.Score,
	}
	if t.NoUsage > 0 {
		r.input, r.uncached, r.cacheRead, r.cacheWrite, r.output = nil, nil, nil, nil, nil
	}
	if t.Priced() {
		r.cost = t.CostUSD
	}
	if t.Passed != nil {
		r.passed = new(float64)
		if *t.Passed {
			*r.passed = 1
		}
	}
	return r
}

func float(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return new(float64(*v))
}

// metric is a figure of an arm: the sum over tasks of the mean of num, by that of den.
type metric struct {
	name string
	num  func(run) *float64
	den  func(run) *float64 // nil: per trial
	// difference compares by candidate - baseline, for what may be 0, else by the
	// log of the ratio.
	difference bool
}

func requestsOf(r run) *float64 { return r.requests }
func tokensOf(r run) *float64   { return r.tokens }

func metrics() []metric {
	return []metric{
		{name: "tokens", num: tokensOf},
		{name: "requests", num: requestsOf},
		{name: "tokens_per_request", num: tokensOf, den: requestsOf},
		{name: "input_tokens", num: func(r run) *float64 { return r.input }},
		{name: "uncached_input_tokens", num: func(r run) *float64 { return r.uncached }},
		{name: "cache_read_tokens", num: func(r run) *float64 { return r.cacheRead }},
		{name: "cache_write_tokens", num: func(r run) *float64 { return r.cacheWrite }},
		{name: "output_tokens", num: func(r run) *float64 { return r.output }},
		{name: "cost_usd", num: func(r run) *float64 { return r.cost }},
		{name: "repeated_calls", num: func(r run) *float64 { return r.repeatedCalls }, difference: true},
		{name: "pass_rate", num: func(r run) *float64 { return r.passed }, difference: true},
		{name: "score", num: func(r run) *float64 { return r.score }, difference: true},
	}
}

// point is a run as a metric sees it: num and den of n trials.
type point struct{ n, num, den float64 }

// strata are the points of the tasks where both arms have some, by task, then arm.
type strata [][arms][]point

func (m metric) strata(cells []cell) strata {
	var out strata
	for _, c := range cells {
		var s [arms][]point
		for arm := range c {
			s[arm] = m.points(c[arm])
		}
		if len(s[0]) > 0 && len(s[1]) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (m metric) points(runs []run) []point {
	var out []point
	for _, r := range runs {
		num := m.num(r)
		p := point{n: r.n, den: r.n}
		if m.den != nil {
			den := m.den(r)
			if den == nil {
				continue
			}
			p.den = *den
		}
		if num == nil {
			continue
		}
		p.num = *num
		out = append(out, p)
	}
	return out
}

// align leaves tokens and requests only to runs that have both, so that the two
// factors multiply to the whole. Where no task has both in both arms each keeps
// what it has. It returns how many runs lost a figure.
func align(cells []cell) int {
	if len((metric{num: tokensOf, den: requestsOf}).strata(cells)) == 0 {
		return 0
	}
	lost := 0
	for _, c := range cells {
		for arm := range c {
			for i := range c[arm] {
				r := &c[arm][i]
				if (r.tokens == nil) != (r.requests == nil) {
					r.tokens, r.requests = nil, nil
					lost++
				}
			}
		}
	}
	return lost
}
