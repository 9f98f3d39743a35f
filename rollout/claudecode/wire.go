package claudecode

import (
	"crypto/sha256"
	"encoding/hex"
	"github.com/fclog/fclog/rollout/logfile"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
)

// Newer versions log every request: a shape (system prompt and tools), and the
// list of its messages by hash. A hash names a logged blob or a message that
// the transcript's own lines make up.

// wireRequest is one api-request line.
type wireRequest struct {
	seq    int
	number int
	time   time.Time
	id     string
	base   string // request whose first keep messages this one repeats; "" none
	keep   int
	tail   []string
	shape  string
	source string
	model  string
}

// shape is the system prompt and tool definitions of requests.
type shape struct {
	system []string
	tools  []toolDefinition
}

// wireState is what the rebuild knows of requests logged by hash.
type wireState struct {
	requests []*wireRequest
	byID     map[string]*wireRequest
	answers  map[string]*response
	messages map[string]*wireMessage
	chains   map[string]*wireChain

	boundaries []*line // compactions not passed yet
}

// wireMessage is a message by its hash: transcript lines, a response or a blob.
type wireMessage struct {
	lines    []*line
	response *response
}

// wireChain is a chain as its last request left it.
type wireChain struct {
	st      *state
	last    *wireRequest
	failed  bool
	hashes  []string
	entries [][]*rollout.Entry
}

func (f *file) wireLine(rec *record, number int) {
	f.wires = true
	f.seq++
	switch rec.Type {
	case "api-request-shape":
		f.shapes[rec.ShapeHash.V] = newShape(&rec.Shape.V)
	case "api-request-blob":
		l := &line{seq: f.seq, number: number, typ: "user", agent: rec.Agent.V, time: parseTime(rec.Time.V)}
		f.message(l, &rec.Message.V)
		dropCanon(l.blocks)
		f.blobs[rec.Hash.V] = l
	case "api-request":
		c := f.named(rec.Agent.V)
		c.wires = true
		c.note(rec, parseTime(rec.Time.V))
		c.lines = append(c.lines, &line{seq: f.seq, number: number, typ: rec.Type, wire: &wireRequest{
			seq: f.seq, number: number, time: parseTime(rec.Time.V), id: rec.ID.V, base: rec.Base.V, keep: rec.Keep.V, tail: rec.Tail.V,
			shape: rec.ShapeHash.V, source: rec.QuerySource.V, model: rec.Params.V.Model.V,
		}})
	}
}

func newShape(r *requestShape) *shape {
	s := &shape{}
	for _, raw := range r.System {
		var br blockReader
		s.system = append(s.system, br.block(raw).text)
	}
	for _, raw := range r.Tools {
		var named struct {
			Name logfile.Lenient[string] `json:"name"`
		}
		unmarshal(raw, &named)
		s.tools = append(s.tools, toolDefinition{named.Name.V, compact(raw)})
	}
	return s
}

// wireRequests lists the conversation's requests logged by hash and prepares
// the look-up of messages.
func (rb *rebuild) wireRequests() []*wireRequest {
	w := &wireState{byID: map[string]*wireRequest{}, answers: map[string]*response{}, messages: map[string]*wireMessage{}, chains: map[string]*wireChain{}}
	rb.wire = w
	if !rb.conv.wires {
		return nil
	}
	for _, l := range rb.conv.lines {
		if l.wire != nil {
			w.requests = append(w.requests, l.wire)
			w.byID[l.wire.id] = l.wire
		}
	}
	for _, r := range rb.responses {
		if r.ref != "" {
			w.answers[r.ref] = r
		}
		w.messages[responseHash(r)] = &wireMessage{response: r}
	}
	rb.registerUserMessages()
	for _, l := range rb.conv.lines {
		dropCanon(l.blocks)
		if l.compact != nil {
			w.boundaries = append(w.boundaries, l)
		}
		if l.typ == "attachment" {
			for _, b := range l.blocks {
				rb.context[b.text] = l.label
			}
		}
	}
	return w.requests
}

// dropCanon frees the form that was needed for hashing.
func dropCanon(blocks []block) {
	for i := range blocks {
		blocks[i].canon = ""
		dropCanon(blocks[i].parts)
	}
}

func responseHash(r *response) string {
	var canon []string
	for _, b := range r.blocks {
		canon = append(canon, b.canon)
	}
	return messageHash("["+strings.Join(canon, ",")+"]", "assistant")
}

func messageHash(content, role string) string {
	sum := sha256.Sum256([]byte(`{"content":` + content + `,"role":"` + role + `"}`))
	return hex.EncodeToString(sum[:])
}

// longestRun bounds how many adjacent user lines are tried as one message.
const longestRun = 32

// registerUserMessages hashes user lines alone and joined with the neighbours
// between the same two responses, as the agent joins them.
func (rb *rebuild) registerUserMessages() {
	var run []*line
	var current *response
	for _, l := range rb.conv.lines {
		if r := rb.of[l]; r != nil && r != current {
			rb.registerRun(run)
			run, current = nil, r
		}
		if l.typ == "user" && len(l.blocks) > 0 {
			run = append(run, l)
		}
	}
	rb.registerRun(run)
}

func (rb *rebuild) registerRun(run []*line) {
	for i := range run {
		rb.registerFrom(run[i:min(len(run), i+longestRun)])
	}
}

// registerFrom hashes the first line, the first two, the first three …
func (rb *rebuild) registerFrom(lines []*line) {
	if l := lines[0]; l.stringBody {
		rb.register(messageHash(l.blocks[0].canon, "user"), lines[:1])
	}
	sum := sha256.New()
	sum.Write([]byte(`{"content":[`))
	for n, l := range lines {
		for i, b := range l.blocks {
			if n+i > 0 {
				sum.Write([]byte(","))
			}
			if l.stringBody {
				b.canon = `{"text":` + b.canon + `,"type":"text"}`
			}
			sum.Write([]byte(b.canon))
		}
		rb.register(closed(sum), lines[:n+1])
	}
}

// closed is the hash of the message when the content ends here; the running hash
// goes on.
func closed(sum hash.Hash) string {
	cloner, ok := sum.(hash.Cloner)
	if !ok {
		return ""
	}
	end, err := cloner.Clone()
	if err != nil {
		return ""
	}
	end.Write([]byte(`],"role":"user"}`))
	return hex.EncodeToString(end.Sum(nil))
}

func (rb *rebuild) register(hash string, lines []*line) {
	if _, ok := rb.wire.messages[hash]; !ok {
		rb.wire.messages[hash] = &wireMessage{lines: slices.Clone(lines)}
	}
}

// hashesOf rebuilds the message list of a request from the first base on.
func (w *wireState) hashesOf(req *wireRequest) []string {
	line := []*wireRequest{req}
	met := map[*wireRequest]bool{req: true}
	for base := w.byID[req.base]; base != nil && !met[base]; base = w.byID[base.base] {
		met[base] = true
		line = append(line, base)
	}
	var list []string
	for _, r := range slices.Backward(line) {
		if r.base == "" {
			list = nil
		}
		list = append(list[:min(max(r.keep, 0), len(list))], r.tail...)
	}
	return list
}

// recordWire records a request that says itself what it carried.
func (rb *rebuild) recordWire(req *wireRequest) {
	answer := rb.wire.answers[req.id]
	c := rb.wireChain(req, answer)
	rb.passBoundaries(c, req)
	keep, tail := req.keep, req.tail
	if c.last == nil || req.base != c.last.id {
		list := rb.wire.hashesOf(req)
		keep = commonPrefix(c.hashes, list)
		tail = list[keep:]
	}
	keep = min(max(keep, 0), len(c.hashes))
	retry := c.failed && keep == len(c.hashes) && len(tail) == 0
	rb.useShape(c.st, req)
	rb.truncate(c, keep)
	for _, hash := range tail {
		rb.addMessage(c, hash)
	}
	rb.recordWireRequest(c, req, answer, retry)
}

// passBoundaries notes the compactions before a request: their own requests are
// logged in no form.
func (rb *rebuild) passBoundaries(c *wireChain, req *wireRequest) {
	for w := rb.wire; len(w.boundaries) > 0 && w.boundaries[0].seq < req.seq; w.boundaries = w.boundaries[1:] {
		from := slices.Index(rb.conv.lines, w.boundaries[0])
		added := rb.conv.lines[from:]
		if end := slices.IndexFunc(added, func(l *line) bool { return l.wire == req }); end >= 0 {
			added = added[:end]
		}
		rb.compactionRequest(c.st, added, 0)
	}
}

func commonPrefix(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (rb *rebuild) recordWireRequest(c *wireChain, req *wireRequest, answer *response, retry bool) {
	out := rollout.Request{
		Kind: wireKind(req.source, rb.kind()), Run: rb.run, Attempt: 1, Base: -1, Time: req.time,
		Provider: provider(req.model), Model: req.model, Status: rollout.Errored, Line: req.number, Messages: count(c.hashes),
	}
	if retry {
		out.Attempt = rb.s.Requests[len(rb.s.Requests)-1].Attempt + 1
	}
	if answer != nil {
		usage := answer.usage.convert()
		got := rb.request(answer, usage)
		got.Kind, got.Attempt, got.Time, got.Line, got.Messages = out.Kind, out.Attempt, out.Time, out.Line, out.Messages
		got.DurationMS = answer.tookSince(req.time)
		out = got
	} else if req == rb.wire.requests[len(rb.wire.requests)-1] && rb.lastSeq() == req.seq {
		out.Status = rollout.InFlight
	}
	index := c.st.chain.Request(out)
	c.last, c.failed = req, answer == nil
	if answer != nil && answer.request < 0 {
		answer.request = index
		rb.makeResponseItems(answer)
		c.st.last = answer
	}
}

func count(hashes []string) *int64 {
	n := int64(len(hashes))
	return &n
}

func (rb *rebuild) lastSeq() int { return rb.conv.lines[len(rb.conv.lines)-1].seq }

// wireChain finds the chain of a request. Requests for other ends than the
// conversation itself run on chains of their own.
func (rb *rebuild) wireChain(req *wireRequest, answer *response) *wireChain {
	key := ""
	if answer == nil && wireKind(req.source, rollout.KindTurn) != rollout.KindTurn {
		key = req.source
	}
	c, ok := rb.wire.chains[key]
	if !ok {
		c = &wireChain{st: rb.states[nil]}
		if key != "" {
			c.st = newState(rb.b.Chain())
		}
		rb.clearConversation(c.st)
		rb.wire.chains[key] = c
	}
	return c
}

func wireKind(source string, own rollout.RequestKind) rollout.RequestKind {
	switch {
	case source == "", source == "sdk", strings.HasPrefix(source, "repl_main_thread"), strings.HasPrefix(source, "agent:"):
		return own
	case strings.Contains(source, "compact"):
		return rollout.KindCompaction
	case strings.Contains(source, "title"):
		return rollout.KindTitle
	}
	return rollout.KindHelper
}

func (rb *rebuild) useShape(st *state, req *wireRequest) {
	sh := rb.f.shapes[req.shape]
	if sh == nil {
		rb.f.fold("missing-shape", "requests name a system prompt and tools that are not in the file", req.number)
		return
	}
	rb.seenSystem = true
	st.tools = rb.exchange(st, rollout.SlotTools, st.tools, rb.toolItems(sh.tools))
	st.system = rb.exchange(st, rollout.SlotSystem, st.system, rb.systemItems(sh.system))
}

func (rb *rebuild) truncate(c *wireChain, keep int) {
	for _, entries := range c.entries[keep:] {
		removeAll(c.st.chain, entries)
	}
	c.hashes, c.entries = c.hashes[:keep], c.entries[:keep]
}

// addMessage lets the message with this hash ride from the next request on.
func (rb *rebuild) addMessage(c *wireChain, hash string) {
	var entries []*rollout.Entry
	for _, item := range rb.messageItems(c, hash) {
		entries = append(entries, c.st.chain.Add(rollout.SlotConversation, item))
	}
	c.hashes = append(c.hashes, hash)
	c.entries = append(c.entries, entries)
}

func (rb *rebuild) messageItems(c *wireChain, hash string) []int {
	if b := rb.f.blobs[hash]; b != nil {
		return rb.blobItems(c, b)
	}
	m := rb.wire.messages[hash]
	switch {
	case m == nil:
		rb.f.fold("unresolved-message", "requests carry messages that stand nowhere in the file", 0)
		return nil
	case m.response != nil:
		if m.response.request < 0 {
			rb.makeResponseItems(m.response)
		}
		return m.response.items
	}
	var items []int
	for _, l := range m.lines {
		rb.nextRun(c, l)
		rb.makeItems(l)
		items = append(items, l.items...)
	}
	return items
}

func (rb *rebuild) nextRun(c *wireChain, l *line) {
	if l.items == nil && l.startsRun() && c.st.chain.Count() > 0 {
		rb.run++
	}
}

// blobItems makes the items of a logged message.
func (rb *rebuild) blobItems(c *wireChain, l *line) []int {
	if items, ok := rb.blobs[l]; ok {
		return items
	}
	if l.role == "user" && !l.has("tool_result") && c.st.chain.Count() > 0 {
		rb.run++
	}
	items := rb.blockItems(l, l.blocks)
	for _, item := range items {
		rb.contextKind(l, &rb.s.Items[item])
	}
	rb.blobs[l] = items
	return items
}

// contextKind names injected context after the attachment with the same text.
func (rb *rebuild) contextKind(l *line, it *rollout.Item) {
	if it.Kind != rollout.UserText && it.Kind != rollout.Reminder {
		return
	}
	text := rb.s.Texts[it.Text].S
	if label, ok := rb.context[text]; ok {
		it.Kind, it.Label = attachmentKind(label, text)
		return
	}
	if l.role == "system" {
		it.Kind, it.Label = rollout.Reminder, "system-message"
		if strings.HasPrefix(text, "# Environment") {
			it.Kind = rollout.ProjectContext
		}
	}
}
