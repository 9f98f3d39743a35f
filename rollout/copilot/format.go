package copilot

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "Copilot CLI",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers: []string{"events.jsonl of a session folder, also as a flat file", "the JSON document of 2025"},
			Versions: []string{"1.0.34", "1.0.102"},
			Lacks: []rollout.Lack{
				{What: "tool definitions"},
				{What: "system prompt", When: "the document of 2025"},
				{What: "usage of requests", When: "versions that log output alone, and the document of 2025"},
				{What: "texts of failed calls", When: "sessions with failed calls"},
				{What: "results as sent", When: "the document of 2025 without its history"},
				{What: "requests", When: "sub-agents of whose work only totals are logged"},
				{What: "image bytes", When: "sessions with images"},
				{What: "compaction request", When: "compacted sessions"},
			},
			Limits: []string{
				"the text around a compaction's summary is not known",
				"a failed call's result is a short form of what the model saw",
			},
		},
	}
}
