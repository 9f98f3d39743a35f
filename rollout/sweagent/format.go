package sweagent

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "SWE-agent",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers: []string{".traj files of SWE-agent", ".traj.json files of mini-swe-agent"},
			Versions: []string{"1.1.0", "mini 1.15.0"},
			Lacks: []rollout.Lack{
				{What: "sampling settings"},
				{What: "tool definitions", When: "all but mini-swe-agent without tools"},
				{What: "usage per request", When: "SWE-agent: it logs totals of the run"},
				{What: "time stamps", When: "SWE-agent"},
				{What: "answers that were rejected and asked for again", When: "SWE-agent"},
				{What: "what history processors left out", When: "SWE-agent to 0.7"},
			},
			Fidelity: "not measured; SWE-agent 1.0 and mini-swe-agent log the messages of each request",
			Limits:   []string{"requests of SWE-agent have no usage of their own, so nothing is calibrated"},
		},
	}
}
