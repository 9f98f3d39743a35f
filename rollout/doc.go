// Package rollout is the model in the middle of fclog: what one recorded
// session of a coding agent sent to its model, request by request.
//
// A session is a list of requests, a list of items and the spans that tie them.
// An item is one piece of content (a prompt, a tool result, a tool call's
// arguments …); a span says that requests First to Last of one chain carried it
// with one text at one position. The payload of a request is the spans alive at
// it, in order of position. Nothing is stored per request and item, so a session
// whose requests add up to 58 million tokens costs what its distinct text costs.
//
// The sub-packages each read one agent's log format into this model with a
// Builder. Check walks every cross reference once after reading; the rest of
// the program trusts the model and does not know the formats.
package rollout
