package opencode

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "OpenCode",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes, Carrier: Carrier,
		About: rollout.About{
			Carriers: []string{"the SQLite database, copied before it is read", "the storage tree of JSON files of older versions", "the JSON of opencode export"},
			Versions: []string{"1.18.33"},
			Lacks: []rollout.Lack{
				{What: "system prompt"},
				{What: "tool definitions"},
				{What: "title request"},
				{What: "compaction request", When: "compacted sessions"},
				{What: "reminders", When: "sessions in which some were sent"},
				{What: "attached files", When: "attachments of which only the name is logged"},
			},
			Limits: []string{"rules that changed between versions (pruning, compaction) are those of the versions seen"},
		},
	}
}
