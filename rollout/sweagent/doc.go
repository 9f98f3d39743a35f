// Package sweagent reads the trajectories of SWE-agent (.traj) and of
// mini-swe-agent (.traj.json): one JSON document per run.
//
// A SWE-agent step holds the messages that were sent (query), those that stood
// there after it (messages, 1.0) or neither (to 0.7: the history is what was
// sent, as far as is known). History processors shorten old results in some
// queries: those change their text and stay the same items. In
// mini-swe-agent the messages before an answer are its payload.
//
// SWE-agent logs usage for the whole run alone. A command that stands in the
// text of an answer is a call without an item of its own. The last result is
// never sent and is left out. Request.Messages is the number of messages.
package sweagent

// Name is the log format, as in rollout.Session.Source.
const Name = "swe-agent"
