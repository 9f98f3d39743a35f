package claudecode

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// rebuild turns one conversation into a session.
type rebuild struct {
	f         *file
	conv      *conversation
	b         *rollout.Builder
	s         *rollout.Session
	responses []*response
	of        map[*line]*response
	branch    map[*line]*line   // abandoned prompt a line stands under
	states    map[*line]*state  // by abandoned prompt; nil key: the living conversation
	results   map[string]*line  // first result line of each call
	calls     map[string]int    // index of the call with this ID
	context   map[string]string // attachment type by text, for messages logged by hash
	blobs     map[*line][]int   // items of messages logged by hash
	used      map[string]bool   // call IDs given out
	handles   []string          // of truncated outputs so far
	polled    map[string]string // what the last look at a task's output file brought
	ended     map[string]bool   // tasks whose end was notified
	run       int
	wire      *wireState

	seenSystem bool // requests name their system prompt and tools
}

// state is one chain while it is built.
type state struct {
	chain    *rollout.Chain
	entries  map[*line][]*rollout.Entry // of every placed line; empty for what is not sent
	answered map[*response][]*rollout.Entry
	open     []string         // calls whose result is not placed yet
	results  []*clearable     // placed tool results, oldest first
	system   []*rollout.Entry // system prompt in force
	tools    []*rollout.Entry // tool definitions in force
	last     *response
	total    *int64 // input of the last request
	added    int    // rough tokens added since the last request
}

func newRebuild(f *file, c *conversation) *rebuild {
	b := rollout.NewBuilder(Name)
	rb := &rebuild{
		f: f, conv: c, b: b, s: b.Session, branch: c.branches(),
		states: map[*line]*state{}, results: map[string]*line{}, calls: map[string]int{}, run: 1,
		blobs: map[*line][]int{}, context: map[string]string{}, used: map[string]bool{}, polled: map[string]string{}, ended: map[string]bool{},
	}
	rb.responses, rb.of = c.responses()
	for _, l := range c.lines {
		for _, blk := range l.blocks {
			if _, ok := rb.results[blk.id]; blk.typ == "tool_result" && !ok {
				rb.results[blk.id] = l
			}
		}
	}
	rb.describe()
	rb.states[nil] = newState(b.Chain())
	return rb
}

func newState(chain *rollout.Chain) *state {
	return &state{chain: chain, entries: map[*line][]*rollout.Entry{}, answered: map[*response][]*rollout.Entry{}}
}

// requests records every request in the order of the log.
func (rb *rebuild) requests() {
	wires := rb.wireRequests()
	for _, r := range rb.responses {
		if r.ref != "" && rb.wire.byID[r.ref] != nil {
			continue
		}
		for len(wires) > 0 && wires[0].seq < r.first.seq {
			rb.recordWire(wires[0])
			wires = wires[1:]
		}
		rb.record(r)
	}
	for _, w := range wires {
		rb.recordWire(w)
	}
}

// record records the request that r answers: what its ancestors added since the
// last one, then the request, then what the response added.
func (rb *rebuild) record(r *response) {
	st := rb.state(rb.branch[r.first])
	added, rooted := path(r.first, func(l *line) bool { _, ok := st.entries[l]; return ok })
	rb.restart(st, added, rooted)
	rb.dropReplaced(st, r)
	batch := rb.withResults(st, added, r.first.seq)
	usage := r.usage.convert()
	begins := st.chain.Count() > 0 && slices.ContainsFunc(batch, (*line).startsRun)
	rb.placeAll(st, batch)
	if begins {
		rb.run++
		rb.detectResume(st, r, usage)
	}
	rb.detectClearing(st, r, usage)
	r.request = st.chain.Request(rb.request(r, usage))
	rb.answer(st, r)
	st.last, st.total, st.added = r, usage.Input, 0
}

func (rb *rebuild) request(r *response, usage rollout.Usage) rollout.Request {
	if r.usage == nil {
		rb.f.fold("response-without-usage", "responses carry no usage", r.first.number)
	} else if r.usage.impossible() {
		rb.b.Problem(rollout.Problem{File: rb.f.path, Line: r.first.number, Kind: "usage-inconsistent", Detail: "a token count is negative or impossibly large; it was left out"})
	}
	return rollout.Request{
		ID: r.id, Kind: rb.kind(), Run: rb.run, Attempt: 1, Inherited: r.inherited, Base: -1,
		Time: r.first.time, Provider: provider(r.model), Model: r.model, Status: rollout.Answered,
		Usage: usage, OutputFinal: r.outputFinal(usage.Output), Line: r.first.number,
	}
}

// kind is warm-up for the short side conversations that some versions start to
// fill the cache.
func (rb *rebuild) kind() rollout.RequestKind {
	if rb.conv.agent != "" && len(rb.conv.lines) > 0 {
		if blocks := rb.conv.lines[0].blocks; len(blocks) == 1 && blocks[0].text == "Warmup" {
			return rollout.KindWarmUp
		}
	}
	return rollout.KindTurn
}

func provider(model string) string {
	if len(model) >= 6 && model[:6] == "claude" {
		return "anthropic"
	}
	return ""
}

// answer makes the items of a response and lets them ride from the next request on.
func (rb *rebuild) answer(st *state, r *response) {
	rb.makeResponseItems(r)
	entries := make([]*rollout.Entry, 0, len(r.items))
	for i, item := range r.items {
		entries = append(entries, st.chain.Add(rollout.SlotConversation, item))
		if b := r.blocks[i]; b.typ == "tool_use" {
			st.open = append(st.open, b.id)
		}
	}
	st.answered[r] = entries
	for _, l := range r.lines {
		st.entries[l] = nil
	}
}

// state returns the chain an abandoned prompt began, or the living one.
func (rb *rebuild) state(prompt *line) *state {
	if st, ok := rb.states[prompt]; ok {
		return st
	}
	var above *line
	if prompt.parent != nil {
		above = rb.branch[prompt.parent]
	}
	st := rb.fork(rb.state(above), prompt)
	rb.states[prompt] = st
	return st
}

// fork starts a chain for the branch that prompt begins, with what stood before
// it. When the log reaches an abandoned branch its trunk mostly ends there; where
// it went on, what came later is left out.
func (rb *rebuild) fork(from *state, prompt *line) *state {
	before, _ := path(prompt, func(*line) bool { return false })
	keep := map[*rollout.Entry]bool{}
	calls := map[string]bool{}
	seen := map[*line]bool{}
	for _, l := range before {
		seen[l] = true
		if r := rb.of[l]; r != nil {
			for _, e := range from.answered[r] {
				keep[e] = true
			}
			for _, b := range r.blocks {
				calls[b.id] = calls[b.id] || b.typ == "tool_use"
			}
		}
	}
	for l, entries := range from.entries {
		if seen[l] || answersOneOf(l, calls) {
			seen[l] = true
			for _, e := range entries {
				keep[e] = true
			}
		}
	}
	for _, e := range append(slices.Clone(from.system), from.tools...) {
		keep[e] = true
	}
	return from.copied(keep, seen)
}

func answersOneOf(l *line, calls map[string]bool) bool {
	return slices.ContainsFunc(l.blocks, func(b block) bool { return b.typ == "tool_result" && calls[b.id] })
}

// copied is a new state on a forked chain with the entries to keep.
func (st *state) copied(keep map[*rollout.Entry]bool, seen map[*line]bool) *state {
	var entries []*rollout.Entry
	for _, e := range st.chain.Alive() {
		if keep[e] {
			entries = append(entries, e)
		}
	}
	chain, copies := st.chain.Fork(entries)
	twin := map[*rollout.Entry]*rollout.Entry{}
	for i, e := range entries {
		twin[e] = copies[i]
	}
	translate := func(es []*rollout.Entry) []*rollout.Entry {
		var out []*rollout.Entry
		for _, e := range es {
			if t := twin[e]; t != nil {
				out = append(out, t)
			}
		}
		return out
	}
	next := newState(chain)
	next.open = slices.Clone(st.open)
	next.system, next.tools = translate(st.system), translate(st.tools)
	for l, es := range st.entries {
		if seen[l] {
			next.entries[l] = translate(es)
		}
	}
	for r, es := range st.answered {
		if kept := translate(es); len(kept) > 0 {
			next.answered[r] = kept
		}
	}
	for _, c := range st.results {
		if t := twin[c.entry]; t != nil {
			next.results = append(next.results, &clearable{entry: t, item: c.item, chars: c.chars, cleared: c.cleared})
		}
	}
	return next
}

// dropReplaced takes a response out again that the next one replaces: both
// begin at the same line (a fallback after a broken stream).
func (rb *rebuild) dropReplaced(st *state, r *response) {
	last := st.last
	if last == nil || last.first.parent == nil || last.first.parent != r.first.parent {
		return
	}
	for _, e := range st.answered[last] {
		st.chain.Remove(e)
	}
	delete(st.answered, last)
	for _, b := range last.blocks {
		st.open = slices.DeleteFunc(st.open, func(id string) bool { return id == b.id })
	}
}

// withResults adds the results that a plain walk misses (of parallel calls each
// hangs beside the path) and puts all results in front, in the order they came:
// the provider wants them right behind the calls.
func (rb *rebuild) withResults(st *state, added []*line, before int) []*line {
	var results []*line
	isResult := map[*line]bool{}
	var still []string
	for _, id := range st.open {
		l := rb.results[id]
		if l == nil {
			continue
		}
		if l.seq > before {
			still = append(still, id)
			continue
		}
		if _, placed := st.entries[l]; !placed && !isResult[l] {
			isResult[l] = true
			results = append(results, l)
		}
	}
	st.open = still
	slices.SortFunc(results, func(a, b *line) int { return a.seq - b.seq })
	for _, l := range added {
		if !isResult[l] {
			results = append(results, l)
		}
	}
	return results
}

// placeAll lets the lines ride from the next request on.
func (rb *rebuild) placeAll(st *state, lines []*line) {
	for _, l := range lines {
		rb.place(st, l)
	}
}

func (rb *rebuild) place(st *state, l *line) {
	if _, placed := st.entries[l]; placed {
		return
	}
	st.entries[l] = nil
	switch {
	case l.snapshot != nil:
		rb.useSnapshot(st, l.snapshot)
	case l.micro != nil:
		rb.microcompact(st, l.micro)
	case rb.of[l] != nil || l.hidden || l.apiError:
	default:
		rb.placeItems(st, l)
	}
}

func (rb *rebuild) placeItems(st *state, l *line) {
	rb.makeItems(l)
	for _, item := range l.items {
		e := st.chain.Add(rollout.SlotConversation, item)
		st.entries[l] = append(st.entries[l], e)
		text := rb.s.Texts[rb.s.Items[item].Text]
		st.added += roughTokens(text.Chars)
		if rb.s.Items[item].Kind == rollout.ToolResult && !text.Opaque {
			st.results = append(st.results, &clearable{entry: e, item: item, chars: text.Chars})
		}
	}
}

// useSnapshot puts a logged system prompt and tool definitions in force.
func (rb *rebuild) useSnapshot(st *state, snap *snapshot) {
	if len(snap.system) > 0 {
		st.system = rb.exchange(st, rollout.SlotSystem, st.system, rb.systemItems(snap.system))
	}
	if len(snap.tools) > 0 {
		st.tools = rb.exchange(st, rollout.SlotTools, st.tools, rb.toolItems(snap.tools))
	}
}

// exchange replaces entries by others and keeps the part at the front that stays
// the same, so that its spans go on.
func (rb *rebuild) exchange(st *state, slot rollout.Slot, old []*rollout.Entry, items []rollout.Item) []*rollout.Entry {
	same := 0
	for same < len(old) && same < len(items) && old[same].Text == items[same].Text {
		same++
	}
	for _, e := range old[same:] {
		st.chain.Remove(e)
	}
	out := slices.Clone(old[:same])
	for _, it := range items[same:] {
		out = append(out, st.chain.Add(slot, rb.b.Item(it)))
	}
	return out
}

func (rb *rebuild) systemItems(texts []string) []rollout.Item {
	items := make([]rollout.Item, 0, len(texts))
	for _, text := range texts {
		items = append(items, rollout.Item{Kind: rollout.SystemPrompt, Role: rollout.RoleSystem, Origin: rollout.Logged, Request: -1, Text: rb.b.Text(text)})
	}
	return items
}

func (rb *rebuild) toolItems(tools []toolDefinition) []rollout.Item {
	items := make([]rollout.Item, 0, len(tools))
	for _, t := range tools {
		items = append(items, rollout.Item{Kind: rollout.ToolDefinitions, Role: rollout.RoleSystem, Tool: t.name, Origin: rollout.Logged, Request: -1, Text: rb.b.Text(t.text)})
	}
	return items
}
