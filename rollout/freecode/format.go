package freecode

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "FreeCode",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers:    []string{"events.jsonl of a rollout session, with messages.jsonl, meta.json and memory.json of the message store"},
			Unversioned: true,
			Lacks: []rollout.Lack{
				{What: "system prompt"},
				{What: "tool definitions"},
				{What: "project context"},
				{What: "reminders"},
				{What: "reasoning text"},
				{What: "user text", When: "no message store beside the events"},
				{What: "assistant text", When: "no message store beside the events, or one that was compacted"},
				{What: "compaction request", When: "compacted sessions"},
				{What: "compaction summary", When: "compacted sessions without a message store"},
				{What: "requests", When: "sessions that ended before the first"},
			},
			Limits: []string{"a compaction rewrites the message store: what was said before it is left in no file"},
		},
	}
}
