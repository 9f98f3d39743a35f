// Package apilog reads logs of whole request bodies: what a proxy, a gateway or
// an instrumented client recorded of calls to a model. Nothing is rebuilt here:
// the payload of every request stands in the log, system prompt and tool
// definitions included, so a session read by this package is the yardstick for
// those that other formats rebuild.
//
// The way of a record: an envelope (who logged it) gives an exchange, its body
// (which API) becomes a list of parts, equal parts are interned, and the lists
// are paths of one tree, so that a history sent five hundred times is stored
// once. Then exchanges are sorted into sessions and chains, by the IDs they carry
// or else by how their histories continue each other, and built.
package apilog

// Name is the name of the format.
const Name = "api-log"
