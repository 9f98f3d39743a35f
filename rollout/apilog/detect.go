package apilog

import (
	"bytes"
)

// Detect tells whether the first records of a file are calls of a model with
// their bodies. Every envelope has members of its own; a bare body is told by
// what no transcript of an agent has beside its messages. Most records must be
// calls; rows of a trace that are none do not speak against it.
func Detect(head [][]byte) bool {
	calls, others := 0, 0
	for _, raw := range head {
		m := decode[members](raw)
		switch recognise(m) {
		case foreign:
			others++
		case observation:
		case otlp:
			if bytes.Contains(raw, []byte(`"gen_ai.`)) || bytes.Contains(raw, []byte(`"llm.`)) {
				calls++
			}
		default:
			calls++
		}
	}
	return calls > 0 && calls > others
}

// Homes is nil: a proxy or gateway writes where its user says. The exception is
// claude-trace, which writes into the project it runs in.
func Homes(func(string) string) []string { return nil }

// Companions is nil: a log of calls stands alone.
func Companions(string) []string { return nil }

// Depends is nil: a log of calls stands alone.
func Depends(string) []string { return nil }
