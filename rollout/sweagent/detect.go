package sweagent

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// Detect tells whether the first record of a file is a trajectory: of
// mini-swe-agent by the name of its format, of SWE-agent by its steps beside a
// history, or by a history whose messages name their agent.
func Detect(head [][]byte) bool {
	if len(head) == 0 {
		return false
	}
	var d struct {
		Format     text                              `json:"trajectory_format"`
		Messages   logfile.Lenient[[]jsontext.Value] `json:"messages"`
		Trajectory logfile.Lenient[[]jsontext.Value] `json:"trajectory"`
		Attempts   logfile.Lenient[[]jsontext.Value] `json:"attempts"`
		History    logfile.Lenient[[]jsontext.Value] `json:"history"`
	}
	if logfile.Unmarshal(head[0], &d) != nil {
		return false
	}
	switch {
	case strings.HasPrefix(d.Format.V, "mini-swe-agent"):
		return d.Messages.OK
	case d.Trajectory.OK && (d.History.OK || d.Attempts.OK):
		return len(d.Trajectory.V) == 0 || isStep(d.Trajectory.V[0])
	case len(d.History.V) > 0:
		var m struct {
			Role  text `json:"role"`
			Agent text `json:"agent"`
		}
		return logfile.Unmarshal(d.History.V[0], &m) == nil && m.Role.V != "" && m.Agent.V != ""
	}
	return false
}

func isStep(raw jsontext.Value) bool {
	var s struct {
		Action      text `json:"action"`
		Observation text `json:"observation"`
	}
	return logfile.Unmarshal(raw, &s) == nil && (s.Action.OK || s.Observation.OK)
}
