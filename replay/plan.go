package replay

import "github.com/fclog/fclog/rollout"

// Plan is what a variant would have changed in one session. Indexes are those of
// the recording's session. The zero Plan changes nothing.
type Plan struct {
	Edits     []Edit
	Removals  []Removal
	Additions []Addition
	Extras    []Extra
	Fixes     []CacheFix

	Unsupported string   // why this log cannot support the variant; "" it can
	Warnings    []string // what the reader of the estimate must know, one sentence each
}

// Edit replaces or drops the text of a span from a request on. Several edits of
// one span must differ in From; each holds until the next.
type Edit struct {
	Span  int
	From  int    // request number of the span's chain, First <= From <= Last
	Text  string // what is sent instead
	Drop  bool   // nothing is sent instead; Text is ""
	Call  int    // call whose result it is; -1 none: for evidence and reports
	Lossy bool   // the model could miss what was cut
	Why   string // short and stable: log-middle, line-numbers, repeat …
}

// Early says whether the edit was in force before the span was first sent, so
// that no cached prefix breaks.
func (e Edit) Early(s *rollout.Session) bool { return e.From == s.Spans[e.Span].First }

// Removal takes a request out. What its response produced and its results stay in
// later requests unless the plan drops their spans too.
type Removal struct {
	Request int
	Certain bool  // also removed at the low end of the range
	Moved   int64 // output tokens that another response produces instead (provider tokens)
	Why     string
}

// Addition is text that requests of a chain carry on top of what was recorded.
type Addition struct {
	Chain    int
	First    int // request number, inclusive
	Last     int // inclusive
	Position int64
	Kind     rollout.ItemKind
	Text     string
	Tokens   *int64 // raw tokens where only a size is known; nil: count Text
	Why      string
}

// Extra is a request that the variant would have made in addition, right after a
// recorded one. It carries the payload of that request and More on top.
type Extra struct {
	After  int   // request index
	More   int64 // raw tokens on top of that payload
	Output int64 // output tokens it produces
	Why    string
}

// CacheFix says that a recorded cache break of a request would not have happened:
// its cached prefix reaches as far as the payloads agree.
type CacheFix struct {
	Request int
	Why     string
}
