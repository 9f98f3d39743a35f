package fleet

import (
	"cmp"
	"slices"
)

// mostStrata is how many values of one kind are shown; the others are added up.
const mostStrata = 12

// others stands for the strata that are not shown by themselves.
const others = "others"

// band is how long a session is, by its own requests.
func band(requests int64) string {
	switch {
	case requests < 10:
		return "1-9 requests"
	case requests < 30:
		return "10-29 requests"
	case requests < 100:
		return "30-99 requests"
	}
	return "100+ requests"
}

// dimension is one way to divide sessions; "" leaves a session out.
type dimension struct {
	name string
	of   func(slim) string
}

func dimensions() []dimension {
	return []dimension{
		{"agent", func(r slim) string { return r.source }},
		{"version", func(r slim) string {
			if r.version == "" {
				return ""
			}
			return r.source + " " + r.version
		}},
		{"model", func(r slim) string { return r.model }},
		{"length", func(r slim) string { return band(r.requests) }},
		{"task", func(r slim) string { return r.task[:min(8, len(r.task))] }},
	}
}

// strataOf divides sessions with usage by each dimension, the strata of most input
// first. Tasks count where some task has several sessions.
func strataOf(rows []slim) []Stratum {
	out := []Stratum{}
	for _, d := range dimensions() {
		groups := map[string][]slim{}
		repeated := false
		for _, r := range rows {
			if r.saved == nil || r.input == nil {
				continue
			}
			if v := d.of(r); v != "" {
				groups[v] = append(groups[v], r)
				repeated = repeated || len(groups[v]) > 1
			}
		}
		if d.name == "task" && !repeated {
			continue
		}
		out = append(out, inOrder(d.name, groups)...)
	}
	return out
}

// inOrder makes strata of groups, the ones of most input by themselves.
func inOrder(by string, groups map[string][]slim) []Stratum {
	input := map[string]int64{}
	var values []string
	for v, rows := range groups {
		values = append(values, v)
		for _, r := range rows {
			input[v] += *r.input
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(input[b], input[a]), cmp.Compare(a, b)) })
	var out []Stratum
	var rest []slim
	for i, v := range values {
		if i < mostStrata || len(values) == mostStrata+1 {
			out = append(out, stratumOf(by, v, groups[v]))
			continue
		}
		rest = append(rest, groups[v]...)
	}
	if len(rest) > 0 {
		out = append(out, stratumOf(by, others, rest))
	}
	return out
}

func stratumOf(by, value string, rows []slim) Stratum {
	s := Stratum{By: by, Value: value, Sessions: int64(len(rows))}
	for _, r := range rows {
		s.Input += *r.input
		s.Saving += *r.saved
		s.Losers += r.loses()
	}
	if s.Input > 0 {
		s.Share = float64(s.Saving) / float64(s.Input)
	}
	s.Interval = savedOf(rows, tokensOf)
	return s
}
