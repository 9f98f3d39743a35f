// Package fidelity holds the payloads that readers rebuild from an agent's log
// beside the payloads that were really sent.
//
// What was sent comes from request bodies (FromSessions, of sessions the api-log
// reader read) or from a wire summary: one line per request with the SHA-256 of
// every part (ReadWire). Compare pairs the requests of both sides and compares
// their parts.
//
// Requests are paired by what identifies them (response ID, log line, usage, time,
// order), never by what they carry: a part that got lost cannot choose the request
// it is measured against.
//
// # What counts as logged
//
// A part that was sent counts as logged, so that the rebuilt payload must hold it,
// unless all of this is true:
//
//   - it is of a kind that the session's Missing list says the log does not hold,
//   - the rebuilt payload has no part of its own in that place (then it is a wrong
//     part, not an unlogged one),
//   - its text stands nowhere in the log files (Held), as a string or as JSON.
//
// The last two rules make a reader that overlooks content fail although its Missing
// list would excuse it. Parts count with the tokens of the side that was sent. A
// part that both sides hold, but in another order, is not matched.
package fidelity
