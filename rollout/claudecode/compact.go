package claudecode

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// restart empties the conversation where the path to a response begins anew: at
// a compaction, or at a prompt without a parent.
func (rb *rebuild) restart(st *state, added []*line, rooted bool) {
	at := lastCompaction(added)
	if at < 0 && (!rooted || st.chain.Count() == 0) {
		return
	}
	if at < 0 {
		rb.clearConversation(st)
		return
	}
	if st.chain.Count() > 0 || added[at].compact != nil {
		rb.compactionRequest(st, added, at)
	}
	kept := rb.preserved(added, at)
	rb.clearConversation(st)
	for _, l := range added[:at] {
		st.entries[l] = nil
	}
	rb.placeCompacted(st, added[at:], kept)
}

// lastCompaction is the index of the newest boundary, or of a summary that has
// none (old files); -1 without compaction.
func lastCompaction(lines []*line) int {
	at := -1
	summarised := true
	for i, l := range lines {
		switch {
		case l.compact != nil:
			at, summarised = i, false
		case l.summary && summarised:
			at = i
		case l.summary:
			summarised = true
		}
	}
	return at
}

// clearConversation takes everything out but system prompt and tools.
func (rb *rebuild) clearConversation(st *state) {
	for _, entries := range st.entries {
		removeAll(st.chain, entries)
	}
	for _, entries := range st.answered {
		removeAll(st.chain, entries)
	}
	placed := st.entries
	st.entries = map[*line][]*rollout.Entry{}
	for l := range placed {
		st.entries[l] = nil
	}
	st.answered = map[*response][]*rollout.Entry{}
	st.open, st.results, st.total, st.last = nil, nil, nil, nil
}

func removeAll(chain *rollout.Chain, entries []*rollout.Entry) {
	for _, e := range entries {
		chain.Remove(e)
	}
}

// placeCompacted places what follows a boundary: the older lines that stay come
// directly behind their anchor, the summary.
func (rb *rebuild) placeCompacted(st *state, added []*line, kept keptLines) {
	for _, l := range added {
		rb.place(st, l)
		if len(kept.lines) > 0 && (l.uuid == kept.anchor || (kept.anchor == "" && l.summary)) {
			rb.placeAgain(st, kept.lines)
			kept.lines = nil
		}
	}
	rb.placeAgain(st, kept.lines)
}

func (rb *rebuild) placeAgain(st *state, lines []*line) {
	for _, l := range lines {
		if r := rb.of[l]; r != nil {
			rb.answerAgain(st, r, lines)
			continue
		}
		delete(st.entries, l)
		rb.place(st, l)
	}
}

// answerAgain places a response that a compaction kept, all blocks together.
func (rb *rebuild) answerAgain(st *state, r *response, kept []*line) {
	if _, done := st.answered[r]; done || r.request < 0 {
		return
	}
	for i, item := range r.items {
		if blockKept(r, r.blocks[i], kept) {
			st.answered[r] = append(st.answered[r], st.chain.Add(rollout.SlotConversation, item))
		}
	}
}

func blockKept(r *response, b block, kept []*line) bool {
	return slices.ContainsFunc(r.lines, func(l *line) bool {
		return slices.Contains(kept, l) && slices.ContainsFunc(l.blocks, func(have block) bool {
			return have.typ == b.typ && have.id == b.id && have.text == b.text
		})
	})
}

// keptLines are older lines that stay in the context after a compaction.
type keptLines struct {
	anchor string
	lines  []*line
}

func (rb *rebuild) preserved(added []*line, at int) keptLines {
	if at < 0 || added[at].compact == nil {
		return keptLines{}
	}
	meta := added[at].compact
	if m := meta.Messages.V; meta.Messages.OK {
		uuids := m.All
		if len(uuids) == 0 {
			uuids = m.UUIDs
		}
		return keptLines{m.Anchor, rb.linesOf(uuids)}
	}
	if seg := meta.Segment.V; meta.Segment.OK {
		return keptLines{seg.Anchor, rb.segmentLines(seg)}
	}
	return keptLines{}
}

// own finds a line of this conversation.
func (rb *rebuild) own(uuid string) *line {
	if l := rb.f.byUUID[uuid]; l != nil && l.conv == rb.conv {
		return l
	}
	return nil
}

func (rb *rebuild) linesOf(uuids []string) []*line {
	var lines []*line
	for _, id := range uuids {
		if l := rb.own(id); l != nil && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

// segmentLines is the path from head to tail with the results that hang beside it.
func (rb *rebuild) segmentLines(seg segment) []*line {
	tail, head := rb.own(seg.Tail), rb.own(seg.Head)
	if tail == nil || head == nil {
		return nil
	}
	inside, _ := path(tail, func(l *line) bool { return l == head })
	lines := append([]*line{head}, inside...)
	if tail != head {
		lines = append(lines, tail)
	}
	for _, l := range slices.Clone(lines) {
		for _, b := range l.blocks {
			if result := rb.results[b.id]; b.typ == "tool_use" && result != nil && !slices.Contains(lines, result) {
				lines = append(lines, result)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b *line) int { return a.seq - b.seq })
	return lines
}

// compactionRequest notes the request that wrote the summary. The log never
// holds it: its input was about the size of the context before, its output the
// summary.
func (rb *rebuild) compactionRequest(st *state, added []*line, at int) {
	l := added[at]
	other := rollout.OtherBilled{Kind: "compaction", Time: l.time, Estimate: true, Line: l.number}
	if st.last != nil {
		other.Model, other.Provider = st.last.model, provider(st.last.model)
	}
	if l.compact != nil {
		other.Usage.Input = tokens(l.compact.PreTokens)
	}
	if i := slices.IndexFunc(added, func(l *line) bool { return l.summary }); i >= 0 && len(added[i].blocks) > 0 {
		output := int64(roughTokens(len([]rune(added[i].blocks[0].text))))
		other.Usage.Output = &output
	}
	rb.s.OtherBilled = append(rb.s.OtherBilled, other)
}
