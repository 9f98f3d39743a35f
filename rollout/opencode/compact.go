package opencode

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// summary records a compaction: its call, on a chain of its own because its
// prompt is a transcript that no log holds, and the payload it leaves.
func (r *builder) summary(i int) {
	m := &r.doc.messages[i]
	all := steps(m)
	asked := r.askedFor(i)
	r.compacted = true
	req := r.newRequest(m, 0)
	req.Kind = rollout.KindCompaction
	var parts []*part
	for n := range all {
		parts = append(parts, all[n].parts...)
	}
	r.outcome(&req, m, all[len(all)-1:], 0)
	if failed, _ := m.errored(); failed || m.Finish.V == "" && m.Time.V.Completed.V <= 0 {
		r.step(i, parts, r.compactionCall(req, asked))
		return
	}
	request := r.compactionCall(req, asked)
	tail := r.forget(i, asked)
	r.step(i, parts, request)
	for _, j := range tail {
		r.again(j)
	}
}

// compactionCall records the call. Before there were compaction messages it went
// out as the conversation with one more line; since then as a transcript.
func (r *builder) compactionCall(req rollout.Request, asked int) int {
	if asked < 0 {
		r.before(req.Time)
		return r.chain.Request(req)
	}
	return r.b.Chain().Request(req)
}

// askedFor finds the user message that asked for a summary; -1 in versions that
// had none.
func (r *builder) askedFor(i int) int {
	parent := r.doc.messages[i].ParentID.V
	for j := i - 1; j >= 0; j-- {
		m := &r.doc.messages[j]
		if m.Role.V == "user" && (parent == "" || m.ID.V == parent) && compaction(m) != nil {
			return j
		}
	}
	return -1
}

func compaction(m *message) *part {
	at := slices.IndexFunc(m.parts, func(p part) bool { return p.Type.V == partCompaction })
	if at < 0 {
		return nil
	}
	return &m.parts[at]
}

// forget takes out of the payload what summary i stands for and returns the
// messages of the kept tail, which follow the summary.
func (r *builder) forget(i, asked int) []int {
	from := i
	if asked >= 0 {
		if from = r.tailStart(asked); from < 0 {
			from = asked
		}
	}
	var tail []int
	for j := range i {
		switch {
		case j == asked:
		case j < from:
			r.dropAll(j)
		case j < asked:
			tail = append(tail, j)
		}
	}
	return tail
}

// tailStart is the index of the first message a compaction keeps; -1 none.
func (r *builder) tailStart(asked int) int {
	start := compaction(&r.doc.messages[asked]).TailStart.V
	if start == "" {
		return -1
	}
	return slices.IndexFunc(r.doc.messages[:asked], func(m message) bool { return m.ID.V == start })
}

func (r *builder) dropAll(i int) {
	for _, p := range r.placed[i] {
		r.drop(p)
	}
}

func (r *builder) drop(p *placed) {
	if p.entry != nil {
		r.chain.Remove(p.entry)
		p.entry = nil
	}
}

// again moves what stands of a message to the end of the payload.
func (r *builder) again(i int) {
	for _, p := range r.placed[i] {
		if p.entry == nil {
			continue
		}
		text, tokens := p.entry.Text, r.s.Items[p.item].Tokens
		if text != r.s.Items[p.item].Text {
			tokens = nil
		}
		r.chain.Remove(p.entry)
		p.entry = r.chain.AddText(p.slot, p.item, text, tokens)
	}
}
