// Package replay re-runs recorded sessions under changed policies, on paper.
//
// A variant turns a session into a Plan: texts replaced or dropped from a request
// on, requests removed or added, text added. One engine prices every plan over the
// session's spans. What it returns is the static saving: exact arithmetic under the
// assumption that the model behaves exactly as recorded. What could eat it, extra
// requests that make up for what was cut, is a separate estimate with its evidence
// and is never mixed in.
package replay
