package codex

import (
	"github.com/zeebo/xxh3"

	"github.com/fclog/fclog/rollout"
)

// unit is one response item standing in the history.
type unit struct {
	entries   []*rollout.Entry
	items     []int
	key       unitKey
	text      string // of a prompt, for the rebuild of a local compaction
	prompt    bool   // what a person wrote
	context   bool   // an injected message
	reasoning bool
}

// builder replays the records of a file into a session.
type builder struct {
	f               *facts
	own             int    // first record that is not copied
	model, provider string // in force at the end
	b               *rollout.Builder
	chain           *rollout.Chain

	plan     []*planned
	next     int         // next request of the plan
	started  map[int]int // request by its index in the plan
	runs     map[int]int // request by first record of a run; -1 none made it
	run      int         // turns with requests so far
	turn     int         // the plan's turn of that run
	request  int         // whose response the output items belong to; -1 none
	reasoned map[int]int // reasoning items seen by request
	byPlan   map[int]*planned

	history      []*unit
	aborted      *unit          // output that stands in for one a call never got
	base         *rollout.Entry // system prompt from the metadata
	baseText     string
	baseSent     bool           // it is sent as a message and counts there
	calls        map[string]int // call by its ID in the log
	used         map[string]int // how often an ID was used
	answerable   map[int]bool
	resulted     map[int]bool // the output item of a call carries its result
	historyBytes int64        // largest output that enters the history whole
	saw          sightings
}

// sightings are what the log held at least once.
type sightings struct {
	system, tools, allTools, encrypted, webSearch, compaction, opaqueSummary, unbilled bool
}

func newBuilder(f *facts, own int) *builder {
	b := &builder{
		f: f, own: own, b: rollout.NewBuilder(Name), request: -1, turn: -1,
		started: map[int]int{}, runs: map[int]int{}, reasoned: map[int]int{}, byPlan: map[int]*planned{},
		calls: map[string]int{}, used: map[string]int{}, answerable: map[int]bool{}, resulted: map[int]bool{},
		historyBytes: defaultHistoryBytes,
	}
	b.model, b.provider = f.modelFor(f.records)
	b.chain = b.b.Chain()
	b.plan = f.planRequests(own)
	for _, first := range f.runs {
		b.runs[first] = -1
	}
	for i, p := range b.plan {
		for _, r := range p.runs {
			b.runs[r.first] = i
		}
	}
	b.head()
	b.foreignUsage()
	return b
}

// foreignUsage sets usage of other threads beside the session's own. What stands
// in copied history is in its own log.
func (b *builder) foreignUsage() {
	for _, c := range uniqueResponses(b.f.foreign) {
		if c.record < b.own {
			continue
		}
		u, _ := modelUsage(c.usage)
		model, provider := b.f.modelFor(c.record)
		b.b.Session.OtherBilled = append(b.b.Session.OtherBilled, rollout.OtherBilled{
			Kind: "other thread", Time: c.at, Provider: provider, Model: model, Usage: u, Line: c.line,
		})
	}
}

// startRequests records the requests whose payload is complete before record n.
func (b *builder) startRequests(n int) {
	for b.next < len(b.plan) && b.plan[b.next].record <= n {
		b.startRequest(b.next)
		b.next++
	}
	if p, ok := b.runs[n]; ok {
		b.request = -1
		if p >= 0 {
			b.request = b.started[p]
		}
	}
}

func (b *builder) startRequest(i int) {
	p := b.plan[i]
	if p.turn != b.turn {
		b.turn = p.turn
		b.run++
	}
	if p.forget {
		b.forgetReasoning()
	}
	messages := int64(len(b.history))
	r := rollout.Request{
		ID: p.response, Kind: p.kind, Run: b.run, Attempt: 1, Inherited: p.inherited, Base: -1,
		Time: p.asked, Provider: p.provider, Model: p.model, Status: p.status,
		Subscription: b.f.plan != "", Messages: &messages, Line: p.line,
	}
	if r.Time.IsZero() {
		r.Time = p.done
	}
	if ms := p.done.Sub(p.asked).Milliseconds(); !p.inherited && !p.asked.IsZero() && !p.done.IsZero() && ms >= 0 {
		r.DurationMS = &ms
	}
	b.usage(&r, p)
	b.started[i] = b.chain.Request(r)
	b.byPlan[b.started[i]] = p
	if p.kind == rollout.KindCompaction {
		b.saw.compaction = true
	}
}

// usage fills the figures of a request and says when there are none.
func (b *builder) usage(r *rollout.Request, p *planned) {
	if p.usage == nil {
		if !p.inherited && b.f.envelope {
			b.b.Problem(rollout.Problem{
				File: b.f.path, Line: p.line, Kind: "response-without-usage",
				Detail: "a response is logged but no usage for it: the turn was interrupted or the figure was lost",
			})
		}
		return
	}
	u, consistent := modelUsage(*p.usage)
	r.Usage, r.OutputFinal = u, u.Output != nil
	if !consistent {
		b.b.Problem(rollout.Problem{File: b.f.path, Line: p.line, Kind: "usage-inconsistent", Detail: "a token count is negative, impossibly large or larger than the whole it is part of; it was left out"})
	}
	if p.unrun && !p.inherited && p.kind == rollout.KindTurn {
		b.b.Problem(rollout.Problem{File: b.f.path, Line: p.line, Kind: "usage-without-response", Detail: "usage is logged but no response for it; the request counts"})
	}
}

func (b *builder) step(s step) {
	switch {
	case s.meta != nil:
		b.meta(*s.meta)
	case s.item != nil:
		b.item(s.item, s)
	case s.policy != nil:
		if l, ok := s.policy.historyBytes(); ok {
			b.historyBytes = l
		}
	case s.compaction != nil:
		b.compact(*s.compaction, s.record, s.line)
	case s.event != nil:
		b.event(*s.event)
	}
}

// meta takes the system prompt and the host's tools from the file's own
// metadata. It may be written again; copies of ancestors' metadata change nothing.
func (b *builder) meta(m meta) {
	if m.ID.V != b.f.metas[0].ID.V {
		return
	}
	if text, edited := b.promptSent(m.Base.V); text != "" && text != b.baseText {
		b.setBase(text, edited)
	}
	if !b.saw.tools {
		for _, raw := range m.Tools.V {
			b.saw.tools = true
			it := b.b.Item(rollout.Item{Kind: rollout.ToolDefinitions, Role: rollout.RoleSystem, Label: "dynamic_tools", Origin: rollout.Logged, Request: -1, Text: b.b.Text(compactOr(raw, ""))})
			b.chain.Add(rollout.SlotTools, it)
		}
	}
}

func (b *builder) setBase(text string, edited bool) {
	b.saw.system, b.baseText = true, text
	id := b.b.Text(text)
	if b.base != nil {
		b.chain.Replace(b.base, id, nil)
		return
	}
	origin := rollout.Logged
	if edited {
		origin = rollout.Inferred
	}
	it := b.b.Item(rollout.Item{Kind: rollout.SystemPrompt, Role: rollout.RoleSystem, Origin: origin, Request: -1, Text: id})
	b.base = b.chain.Add(rollout.SlotSystem, it)
}

func (b *builder) event(e event) {
	switch e.Type.V {
	case "thread_rolled_back":
		b.rollBack(e.NumTurns.V)
	case "mcp_tool_call_end", "exec_command_end", "dynamic_tool_call_response":
		c, ok := b.calls[e.CallID.V]
		if !ok || !e.Duration.OK {
			return
		}
		ms := e.Duration.V.Secs.V*1000 + e.Duration.V.Nanos.V/1_000_000
		if ms >= 0 {
			b.b.Session.Calls[c].DurationMS = &ms
		}
	}
}

// item adds a response item to the history.
func (b *builder) item(it *item, at step) {
	s, known := sideOf(it)
	if !known || s == sideNone {
		return
	}
	request := -1
	if s == sideOutput {
		request = b.request
	}
	u := b.unit(it, s, request, b.parts(it))
	switch {
	case isOutput(it):
		b.output(u, it, at.line)
	case s == sideOutput && it.Type.V != "message" && it.Type.V != "reasoning":
		b.call(u, it, at)
	}
	if request >= 0 && b.b.Session.Requests[request].Kind == rollout.KindCompaction {
		// The answer of a compaction becomes the summary; it never goes out as it is.
		b.takeOut(u)
		return
	}
	if len(u.entries) > 0 || len(u.items) == 0 {
		b.history = append(b.history, u)
	}
	if b.aborted != nil {
		b.history, b.aborted = append(b.history, b.aborted), nil
	}
}

// part is one separately sent piece of a response item.
type part struct {
	item   rollout.Item
	sealed sealed // data without words; nothing when text
	text   string
}

// unit turns a response item into items of the session and puts them at the end
// of the chain.
func (b *builder) unit(it *item, s side, request int, parts []part) *unit {
	u := &unit{reasoning: it.Type.V == "reasoning"}
	u.prompt = isUserPrompt(it)
	u.context = it.Type.V == "message" && s == sideInput && !u.prompt
	if u.prompt {
		u.text = joinText(it.Content.V)
	}
	u.key = keyOf(it, parts)
	for _, p := range parts {
		p.item.CallID = it.CallID.V
		p.item.Request = request
		b.put(u, p)
	}
	return u
}

// unitKey is a hash of an item's type, role, call and texts. A compaction
// keeps items without naming them.
type unitKey = xxh3.Uint128

func keyOf(it *item, parts []part) unitKey {
	var buf [512]byte
	key := buf[:0]
	for _, s := range []string{it.Type.V, it.Role.V, it.CallID.V} {
		key = append(append(key, s...), 0xFF) // stands in no text
	}
	for _, p := range parts {
		sum := xxh3.HashString128(p.text).Bytes()
		key = append(append(key, sum[:]...), p.sealed.hash[:]...)
	}
	return xxh3.Hash128(key)
}

func (b *builder) put(u *unit, p part) {
	if p.sealed.bytes > 0 {
		p.item.Text = b.b.OpaqueSum(p.sealed.hash, p.sealed.chars, p.sealed.bytes)
	} else {
		p.item.Text = b.b.Text(p.text)
	}
	index := b.b.Item(p.item)
	u.items = append(u.items, index)
	u.entries = append(u.entries, b.chain.Add(rollout.SlotConversation, index))
}

// takeOut removes a unit from all coming requests.
func (b *builder) takeOut(u *unit) {
	for _, e := range u.entries {
		b.chain.Remove(e)
	}
	u.entries = nil
}
