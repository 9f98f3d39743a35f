// Package atif reads ATIF trajectories: the one document per run that the Harbor
// evaluation harness makes of an agent's own log, or that an agent writes itself.
//
// A step of the agent is one model call by the specification and a fragment of
// one in practice. Adjacent steps with equal metrics are one response; without
// metrics, steps at nearly the same time are, and the number of requests is an
// estimate that the session's problems name. Copied context is history, not a call.
//
// Producers disagree on what prompt_tokens holds: with or without cache reads,
// with or without cache writes. Usage here is inclusive of both, as everywhere in
// the model. Totals of final_metrics are kept as Session.Reported; they replace
// nothing. A sub-agent's embedded trajectory is a session of its own. A
// continuation file is one too: it continues its first file and counts only what
// it does not copy.
//
// What converters add (invented messages, the [stdout] copy, [metadata] and
// extra) is no payload.
package atif

// Name is the name of this log format, Session.Source.
const Name = "atif"
