package claudecode

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "Claude Code",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers: []string{"SESSION.jsonl of a project folder", "agent-ID.jsonl of sub-agents, beside it or in SESSION/subagents"},
			Versions: []string{"1.0.95", "2.0.0", "2.0.77", "2.1.1", "2.1.15", "2.1.16", "2.1.37", "2.1.39", "2.1.44", "2.1.174", "2.1.220", "2.1.332"},
			Lacks: []rollout.Lack{
				{What: "system prompt", When: "versions without prompt snapshots or logged requests"},
				{What: "tool definitions", When: "versions without prompt snapshots or logged requests"},
				{What: "project context", When: "versions that do not log requests"},
				{What: "reminders", When: "versions that log neither attachments nor requests"},
				{What: "helper requests", When: "versions that do not log requests"},
				{What: "billing header of the system prompt", When: "versions that log requests"},
				{What: "reasoning text", When: "reasoning of which only the signature is logged"},
				{What: "compaction request", When: "compacted sessions of versions that do not log requests"},
			},
			Limits: []string{
				"the output of many responses is a snapshot from the start of the stream; sums say so",
				"reminders inside tool results are not logged by versions to 2.0",
			},
		},
	}
}
