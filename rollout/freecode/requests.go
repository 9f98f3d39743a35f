package freecode

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// request records a model call with the conversation as it stands.
func (r *reader) request(e *event) {
	if r.started != "" && r.started == e.TurnID {
		r.september, r.conv.countArgs = true, true
	}
	fresh, attempt := r.place(e)
	r.settle(fresh)
	if fresh {
		r.run++
		r.border(e)
	}
	r.arrivals(e, fresh)
	r.prune(e)
	pieces := int64(len(r.conv.pieces)) + 1
	index := r.conv.chain.Request(rollout.Request{
		Kind: rollout.KindTurn, Run: max(r.run, 1), Attempt: attempt, Base: -1, Time: at(e.Timestamp),
		Provider: e.Provider, Model: modelName(e), Status: rollout.CutOff,
		Messages: &pieces, PromptChars: e.PromptChars, Line: e.line,
	})
	r.conv.sent()
	r.compact = false
	r.requests = append(r.requests, requestInfo{turnID: e.TurnID, count: value(e.MessageCount), chars: value(e.PromptChars)})
	r.open = append(r.open, &openTurn{index: index, turnID: e.TurnID, ts: e.Timestamp})
	r.turn = nil
	if e.MessageCount != nil && *e.MessageCount != r.conv.count+1 {
		r.miscounts++
	}
	r.before = measured{prompt: e.PromptChars, known: r.conv.chars, gaps: r.conv.gaps}
}

// place tells whether a request starts a run, and which attempt it is. A run
// starts with turn-0, unless the request repeats a turn-0 that failed.
func (r *reader) place(e *event) (fresh bool, attempt int) {
	n := len(r.requests)
	if n == 0 {
		return true, 1
	}
	last := r.requests[n-1]
	failed := r.b.Session.Requests[n-1].Status == rollout.Errored
	same := last.turnID == e.TurnID && failed
	if e.TurnID == "turn-0" {
		same = same && (r.compact || last.count == value(e.MessageCount) && last.chars == value(e.PromptChars))
		if !same {
			return true, 1
		}
	}
	if same {
		return false, r.b.Session.Requests[n-1].Attempt + 1
	}
	return false, 1
}

// border is the start of a run: older builds load the conversation anew.
func (r *reader) border(e *event) {
	r.manualCompaction(e)
	if len(r.conv.pieces) == 0 {
		return
	}
	if !r.september {
		r.conv.reload(true)
		return
	}
	// Newer builds may keep the loaded conversation; messageCount tells.
	arriving := max(1, r.join.waiting(e.Timestamp))
	if e.MessageCount != nil && *e.MessageCount-1 == r.conv.reloadedCount()+arriving && r.conv.count != r.conv.reloadedCount() {
		r.conv.reload(false)
	}
}

// arrivals adds what was stored since the last response: prompts, steered
// messages, images. A run without a stored prompt has one that is not known.
func (r *reader) arrivals(e *event, fresh bool) {
	prompt := false
	for _, m := range r.join.before(e.Timestamp) {
		if m.Role != "user" {
			r.conv.addHistory(m)
			continue
		}
		r.conv.addUser(m, e.Model)
		r.noticed(plainText(m))
		delete(r.steered, m.ID)
		prompt = prompt || !carriesImage(m)
	}
	if !prompt && fresh {
		r.rememberedPrompt(e)
	}
	for id := range r.steered {
		r.unknownUser()
		delete(r.steered, id)
	}
}

func (r *reader) rememberedPrompt(e *event) {
	if text, ok := r.join.remembered("user", 0, e.Timestamp, unknownChars); ok {
		r.conv.addUserText(text)
		return
	}
	r.unknownUser()
}

func (r *reader) unknownUser() {
	r.gapUsers++
	r.conv.addUnknownUser()
}

func plainText(m *message) string {
	text := ""
	for i := range m.Parts {
		text += m.Parts[i].Content
	}
	return text
}

func (r *reader) steer(e *event) { r.steered[e.MessageID] = true }

// measured is what the request before sent, to tell what changed since.
type measured struct {
	prompt *int64 // promptChars as logged
	known  int64  // characters of the conversation
	gaps   int
}

// prune applies history pruning. The budget can be set by a flag that no file
// records, so promptChars decides where FreeCode's rule does not explain it.
func (r *reader) prune(e *event) {
	candidates := r.conv.candidates()
	if len(candidates) == 0 {
		return
	}
	n := r.conv.pruneCount(candidates)
	if n == 0 {
		return
	}
	if r.before.prompt != nil && e.PromptChars != nil && r.before.gaps == r.conv.gaps {
		n = r.pruneByChars(candidates, n, *e.PromptChars-*r.before.prompt-(r.conv.chars-r.before.known))
	}
	for _, p := range candidates[:n] {
		r.conv.prune(p)
	}
}

// blockNoise is by how much the todo list and reminders may change between two
// requests, in characters, before another explanation is looked for.
const blockNoise = 4000

// pruneByChars chooses how many candidates were replaced so that the change of
// promptChars left over is smallest; the rule's own number wins within the noise.
func (r *reader) pruneByChars(candidates []*piece, rule int, unexplained int64) int {
	left := make([]int64, len(candidates)+1)
	left[0] = unexplained
	for i, p := range candidates {
		id, _ := r.conv.handle(p)
		left[i+1] = left[i] + p.chars - units(prunedMarker(p.chars, id))
	}
	if abs(left[rule]) <= blockNoise {
		return rule
	}
	best := rule
	for n := range left {
		if abs(left[n]) < abs(left[best]) {
			best = n
		}
	}
	if best != rule {
		r.fold("other-budget", 0, "old tool results were left out by another rule than FreeCode's default; how many is taken from the logged size of the request")
	}
	return best
}

func abs(n int64) int64 { return max(n, -n) }

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// take removes the open request an answer belongs to: the one of the same turn
// that was sent when the answer says, else the oldest.
func (r *reader) take(e *event) (*openTurn, bool) {
	best := -1
	sentAt := e.Timestamp - value(e.DurationMS)
	for i, o := range r.open {
		if o.turnID != e.TurnID {
			continue
		}
		if best < 0 || abs(o.ts-sentAt) < abs(r.open[best].ts-sentAt) {
			best = i
		}
	}
	if best < 0 && len(r.open) > 0 {
		best = 0
	}
	if best < 0 {
		return nil, false
	}
	o := r.open[best]
	r.open = slices.Delete(r.open, best, best+1)
	return o, true
}

func (r *reader) firstToken(e *event) {
	for _, o := range slices.Backward(r.open) {
		if o.turnID == e.TurnID {
			r.b.Session.Requests[o.index].TTFTMS = e.TTFTMS
			return
		}
	}
}

// failed is the end of an attempt by an error. What it says of the first token
// is the error's own chunk, no latency.
func (r *reader) failed(e *event) {
	o, ok := r.take(e)
	if !ok {
		r.fold("error-without-request", e.line, "a model error has no open request")
		return
	}
	req := &r.b.Session.Requests[o.index]
	req.Status, req.DurationMS, req.TTFTMS = rollout.Errored, e.DurationMS, nil
}

// response ends a request and opens the turn of what it brought.
func (r *reader) response(e *event) {
	r.settle(false)
	t := &turn{request: -1, turnID: e.TurnID, time: e.Timestamp, textChars: max(0, e.TextChars)}
	for _, name := range e.ToolCalls {
		t.slots = append(t.slots, &slot{tool: name, call: -1})
	}
	if o, ok := r.take(e); ok {
		t.request = o.index
		r.answer(&r.b.Session.Requests[o.index], e)
	} else {
		r.fold("response-without-request", e.line, "a model response has no open request; its usage is in no total")
	}
	r.joinTurn(e, t)
	r.turn = t
}

func (r *reader) answer(req *rollout.Request, e *event) {
	req.Status, req.DurationMS = rollout.Answered, e.DurationMS
	req.Usage = r.usage(e)
	req.OutputFinal = req.Usage.Output != nil
	if e.Input == nil && e.Output == nil {
		r.fold("response-without-usage", e.line, "a model response carries no usage")
	}
	req.Subscription = e.AuthMode == "oauth"
	if e.TTFTMS != nil {
		req.TTFTMS = e.TTFTMS
	}
	if name := modelName(e); name != "" {
		req.Model = name
	}
	if e.Provider != "" {
		req.Provider = e.Provider
	}
}

// joinTurn looks the response's lines up in the store.
func (r *reader) joinTurn(e *event, t *turn) {
	skipped, found := r.join.response(e, t)
	for _, m := range skipped {
		if m.Role == "user" {
			r.conv.addUser(m, e.Model)
		} else {
			r.conv.addHistory(m)
		}
	}
	if found || t.textChars == 0 && len(t.slots) == 0 {
		return
	}
	r.lostTurns++
}

// compacted is a compaction inside a run.
func (r *reader) compacted(e *event) {
	r.settle(false)
	r.compact = true
	r.compactNow(e)
}

// summaryDelay is how long after writing a summary its event may come, in
// milliseconds.
const summaryDelay = 1000

// compactNow drops the older turns and takes over the summary. The summarising
// call was billed, but nothing of it is logged.
func (r *reader) compactNow(e *event) {
	r.b.Session.OtherBilled = append(r.b.Session.OtherBilled, rollout.OtherBilled{
		Kind: "compaction", Time: at(e.Timestamp), Provider: e.Provider, Model: modelName(e), Estimate: true, Line: e.line,
	})
	r.conv.compact()
	r.conv.reload(false)
	all := r.store.memory.Summaries
	placed := r.summaries
	for r.summaries < len(all) && all[r.summaries].CreatedAt <= e.Timestamp+summaryDelay {
		r.summaries++
	}
	if r.summaries > placed {
		r.conv.setSummary(all[r.summaries-1].Content)
	}
}

// manualCompaction finds a compaction that older builds logged nowhere: a new
// summary between two runs.
func (r *reader) manualCompaction(e *event) {
	all := r.store.memory.Summaries
	if r.summaries >= len(all) || all[r.summaries].CreatedAt > e.Timestamp || len(r.requests) == 0 {
		return
	}
	r.compactNow(e)
}
