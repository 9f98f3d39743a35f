package pi

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "pi",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers:    []string{"session files of versions 1 to 3, JSON Lines"},
			Versions:    []string{"0.73.1"},
			Unversioned: true,
			Lacks: []rollout.Lack{
				{What: "system prompt"},
				{What: "tool definitions"},
				{What: "project context"},
				{What: "compaction request", When: "compacted sessions"},
			},
			Limits: []string{"what extensions change in a request on its way is not logged"},
		},
	}
}
