package atif

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// near is how close two steps without usage must be to come from one response:
// parallel calls are logged within milliseconds, a new response takes longer.
const near = 100 * time.Millisecond

// turn is a run of steps that belong together: one response of the model, or one
// step of anything else.
type turn struct {
	steps []step
	model bool // the steps are a response
}

// turnsOf puts the steps of one response together.
func turnsOf(d *document, steps []step) []turn {
	var out []turn
	for _, s := range steps {
		isCall := s.isCall()
		if n := len(out); isCall && n > 0 && out[n-1].model && continues(d.Agent.V.Name.V, out[n-1].steps, s) {
			out[n-1].steps = append(out[n-1].steps, s)
			continue
		}
		out = append(out, turn{steps: []step{s}, model: isCall})
	}
	return out
}

// isCall says whether a model call made the step.
func (s *step) isCall() bool {
	return s.Source.V == "agent" && !s.Copied.V && !(s.LLMCalls.OK && s.LLMCalls.V == 0)
}

// continues says whether a step is a further fragment of the response that steps
// are of. Equal metrics say so; without any, nearly equal times do, and a step
// without a call that the agent did not stop at.
func continues(agent string, steps []step, s step) bool {
	last := steps[len(steps)-1]
	if last.Extra.V.Sidechain.V != s.Extra.V.Sidechain.V {
		return false
	}
	if a, b := last.Extra.V.ResponseID.V, s.Extra.V.ResponseID.V; a != "" && b != "" {
		return a == b
	}
	if last.Metrics.V.told() || s.Metrics.V.told() {
		return last.Metrics.V.told() && s.Metrics.V.told() && slices.Equal(last.rawMetrics, s.rawMetrics)
	}
	if last.LLMCalls.OK || s.LLMCalls.OK {
		return false
	}
	return nearby(last, s) || stopsWithoutCall[agent] && len(last.Calls.V) == 0
}

// stopsWithoutCall are agents that end their turn at a response without a tool
// call: what follows such a step belongs to the same response.
var stopsWithoutCall = map[string]bool{"codex": true, claudeAgent: true}

func nearby(a, b step) bool {
	from, to := parseTime(a.Time.V), parseTime(b.Time.V)
	return !from.IsZero() && !to.IsZero() && to.Sub(from).Abs() <= near
}

func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1970 && t.Year() < 10000 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// decode reads a step. One that is no object is odd.
func (n numbered) decode() (step, bool) {
	s := step{line: n.line}
	if len(n.raw) == 0 || n.raw[0] != '{' || logfile.Unmarshal(n.raw, &s) != nil {
		return s, false
	}
	if s.Metrics.OK {
		var only struct {
			Metrics jsontext.Value `json:"metrics"`
		}
		_ = logfile.Unmarshal(n.raw, &only)
		if only.Metrics.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil {
			s.rawMetrics = only.Metrics
		}
	}
	return s, true
}

func decodeAll(raw []numbered) (steps []step, odd []int) {
	for _, n := range raw {
		s, ok := n.decode()
		if !ok {
			odd = append(odd, n.line)
			continue
		}
		steps = append(steps, s)
	}
	return steps, odd
}
