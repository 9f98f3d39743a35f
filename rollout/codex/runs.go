package codex

import "time"

// run is a stretch of output-side items: what one response brought.
type run struct {
	first, last int // records
	line        int
	asked       time.Time // last input before it
	done        time.Time // last item of it
	size        int64     // estimated tokens of its visible text
	input       int64     // estimated tokens of input since the run before
	web         bool      // it searched the web
	messages    bool      // nothing but assistant messages
	hash        [32]byte  // of its last assistant message
	reasoning   []int64   // sizes of its encrypted reasoning items
	usage       *counter
	within      bool // rest of the response that the run before it began
}

// segment is a part of a turn without a compaction in it: each usage figure in
// it belongs to a run in it.
type segment struct {
	turn    int // 1, 2, 3 …
	opens   bool
	runs    []*run
	usages  []*counter
	compact *mark // the compaction that ends it
	aborted bool
	review  bool
}

// segmenter cuts the marks of a file into segments and runs.
type segmenter struct {
	out   []*segment
	cur   *segment
	run   *run
	asked time.Time
	input int64
	open  bool // between the start and the end of a turn
}

func segments(marks []mark) []*segment {
	s := &segmenter{}
	s.begin(true)
	for i := range marks {
		s.add(&marks[i])
	}
	return s.out
}

func (s *segmenter) begin(opens bool) {
	turn := 1
	if s.cur != nil {
		turn = s.cur.turn
		if opens {
			turn++
		}
	}
	s.cur = &segment{turn: turn, opens: opens}
	s.out = append(s.out, s.cur)
	s.run = nil
}

// newTurn starts a turn unless the current one has not had an answer yet: the
// marks of one prompt come in several orders.
func (s *segmenter) newTurn() {
	if len(s.cur.runs) > 0 || len(s.cur.usages) > 0 || !s.cur.opens {
		s.begin(true)
	}
}

func (s *segmenter) add(m *mark) {
	if m.kind != markOutput && m.kind != markUsage && !m.at.IsZero() {
		s.asked = m.at
	}
	switch m.kind {
	case markOutput:
		s.output(m)
	case markInput:
		s.run = nil
		s.input += m.size
	case markContext:
		s.run = nil
	case markUsage:
		s.cur.usages = append(s.cur.usages, &counter{record: m.record, line: m.line, at: m.at, usage: m.usage, response: m.response})
	case markCompact:
		s.cur.compact = m
		s.begin(false)
	case markTurn:
		s.open = true
		s.newTurn()
	case markUser:
		// Inside a turn the user may add to the prompt; that starts no turn.
		if !s.open {
			s.newTurn()
		}
	case markEnd:
		s.open = false
	case markAbort:
		s.open = false
		s.cur.aborted = true
	case markReview:
		s.cur.review = true
	}
}

func (s *segmenter) output(m *mark) {
	if s.run == nil {
		s.run = &run{first: m.record, line: m.line, asked: s.asked, input: s.input, messages: true}
		s.input = 0
		s.cur.runs = append(s.cur.runs, s.run)
	}
	r := s.run
	r.last, r.done = m.record, m.at
	r.size += m.size
	r.web = r.web || m.web
	if m.encrypted > 0 {
		r.reasoning = append(r.reasoning, m.encrypted)
	}
	r.messages = r.messages && m.assistant
	if m.assistant {
		r.hash = m.hash
	}
}
