package measure

import (
	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// Measured is what Measure found out about a session. Its slices run parallel to
// those of the session.
type Measured struct {
	Encoding    string // tokenizer behind every raw count
	Public      bool   // it is the own tokenizer of every model of the session
	Items       []Size
	Spans       []SpanSize
	Requests    []RequestSize
	Calls       []CallFacts
	Calibration []Calibration // by model, then kind, then fit
}

// Size is the size of one text as an item carries it, in raw tokens.
type Size struct {
	Tokens       *int64 // nil: no words and no known size
	PrefixTokens int64  // tokens that its line-number prefixes add
	PrefixLines  int64  // lines with such a prefix
}

// SpanSize is the size of a span and how many requests paid for it.
type SpanSize struct {
	Size
	Requests int64 // requests that carried it, those on a base included, inherited ones not
}

// RequestSize is what one request carried. Counted is in raw tokens, the others in
// the provider's. Input = Calibrated + Framing + Unlogged, exactly; all three are
// nil where the log holds no usage.
type RequestSize struct {
	Counted    int64  // Σ raw tokens of the spans alive at it and at its base
	Calibrated *int64 // Counted as the provider counts
	Framing    *int64 // tokens of messages that belong to no text
	Unlogged   *int64 // the rest, negative where the log holds more than was sent
	// Constant is what of Unlogged goes out with every turn of the chain; of a turn
	// without usage all that is known of Unlogged. Nil: nothing tells.
	Constant *Constant
}

// CallFacts is what the arguments of a call tell beyond the call itself.
type CallFacts struct {
	ArgsHash       string        // SHA-256, hex, of tool ":" arguments as sent
	ArgsKey        string        // SHA-256, hex, of tool ":" canonical arguments
	OutputKind     compress.Kind // shell calls only; "" otherwise
	BatchSize      int64         // calls of the same response, this one included
	RepeatOf       int           // index of the first call with the same tool and arguments as sent (FreeCode's repeatedCalls); -1 none
	StrictRepeatOf int           // index of the latest equal call with nothing in between that could change its result; -1 none
}

// Measure sizes a session that has passed rollout.Check. Each distinct text is
// counted once.
func Measure(s *rollout.Session, t *tokens.Tokens) *Measured {
	m := &Measured{}
	m.Encoding, m.Public = encodingOf(s)
	texts := newTexts(s, t, m.Encoding)
	m.Items, m.Spans = texts.sizes(s)
	m.Calibration = calibrate(s, m)
	sizeReasoning(s, m)
	weights := carriers(s)
	for i, sp := range s.Spans {
		m.Spans[i].Requests = weights.between(sp.Chain, sp.First, sp.Last)
	}
	m.Requests = sumRequests(s, m)
	for i, c := range constants(s, m, m.Requests) {
		m.Requests[i].Constant = c
	}
	m.Calls = measureCalls(s)
	return m
}

// encodingOf returns the encoding of the model that answered most requests, and
// whether it is the own one of every model that answered any.
func encodingOf(s *rollout.Session) (encoding string, public bool) {
	answered := map[string]int{}
	public = true
	for _, r := range s.Requests {
		if r.Status != rollout.Answered || r.Inherited {
			continue
		}
		name, own := tokens.EncodingFor(r.Model)
		answered[name]++
		public = public && own
	}
	encoding = tokens.O200K
	if answered[tokens.CL100K] > answered[tokens.O200K] {
		encoding = tokens.CL100K
	}
	return encoding, public && len(answered) == 1
}
