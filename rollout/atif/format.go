package atif

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "ATIF",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers: []string{"trajectory.json of a Harbor trial, with its continuation files", "result.json beside it, for fclog compare"},
			Places:   "in the agent folder of each trial of a Harbor job",
			Versions: []string{"1.2", "1.5", "1.7"},
			Lacks: []rollout.Lack{
				{What: "reminders"},
				{What: "compaction request"},
				{What: "exact request borders"},
				{What: "system prompt", When: "producers that log none"},
				{What: "tool definitions", When: "producers that log none"},
				{What: "usage per request", When: "producers that log totals alone"},
				{What: "images", When: "images given by path"},
			},
			Fidelity: "not measured: it is a conversion of another log, which is read instead where it lies in the same trial",
			Limits: []string{
				"the number of requests is an estimate where steps have no metrics",
				"a step may be part of a response, or stand for several calls",
			},
		},
	}
}
