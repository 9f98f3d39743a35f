package codex

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "Codex",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers: []string{"rollout-*.jsonl, also compressed"},
			Versions: []string{"0.57.0", "0.58.0", "0.104.0", "0.115.0", "0.145.0", "0.171.0"},
			Lacks: []rollout.Lack{
				{What: "tool definitions", When: "all but code mode"},
				{What: "built-in tool definitions", When: "sessions that log only the tools added to them"},
				{What: "system prompt", When: "versions before base instructions were logged"},
				{What: "reasoning text", When: "models that send it encrypted"},
				{What: "web search results", When: "sessions that searched the web"},
				{What: "compaction prompt", When: "compacted sessions"},
				{What: "compaction summary text", When: "compactions made on the server"},
				{What: "usage of compaction requests", When: "compactions made on the server"},
				{What: "usage", When: "files of before September 2025"},
			},
			Limits: []string{
				"failed attempts are not logged, only the retry that was answered",
				"whether the plan tool was on is taken from its use; the base prompt follows from that",
			},
		},
	}
}
