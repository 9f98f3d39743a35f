package gemini

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "Gemini CLI",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers:    []string{"session-*.jsonl in chats, which grows", "session-*.json, one document (to early 2026)"},
			Versions:    []string{"0.61.0"},
			Unversioned: true,
			Lacks: []rollout.Lack{
				{What: "system prompt"},
				{What: "tool definitions"},
				{What: "reasoning text"},
				{What: "calls for routing, loop checks, compression and retries"},
				{What: "sampling settings"},
			},
			Limits: []string{"an answer whose counts are missing is no request of its own"},
		},
	}
}
