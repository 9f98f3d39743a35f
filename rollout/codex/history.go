package codex

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// forgetReasoning drops the reasoning of finished turns.
func (b *builder) forgetReasoning() {
	kept := b.history[:0]
	for _, u := range b.history {
		if u.reasoning {
			b.takeOut(u)
			continue
		}
		kept = append(kept, u)
	}
	b.history = kept
}

// rollBack cuts the history before the n-th last prompt, with the injected
// messages right above it.
func (b *builder) rollBack(turns int64) {
	at := len(b.history)
	for turns > 0 {
		i := at - 1
		for i >= 0 && !b.history[i].prompt {
			i--
		}
		if i < 0 {
			break
		}
		at = i
		turns--
	}
	for at > 0 && at < len(b.history) && b.history[at-1].context {
		at--
	}
	for _, u := range b.history[at:] {
		b.takeOut(u)
	}
	b.history = b.history[:at]
}

// compact replaces the history at a compacted record.
func (b *builder) compact(c compaction, n, line int) {
	b.estimateCompaction(n, line)
	author := b.compactionRequest()
	b.request = -1
	if c.History.OK {
		b.replaceHistory(c, author)
	} else {
		b.rebuildHistory(c, author)
	}
	b.restoreBase()
}

// restoreBase lets the coming requests carry the base prompt again when it was
// sent as a message that the compaction dropped.
func (b *builder) restoreBase() {
	if b.base == nil || !b.baseSent {
		return
	}
	for _, u := range b.history {
		for _, i := range u.items {
			if it := b.b.Session.Items[i]; it.Kind == rollout.SystemPrompt && it.Label == "" {
				return
			}
		}
	}
	b.base, b.baseSent = b.chain.Add(rollout.SlotSystem, b.base.Item), false
}

// compactionRequest is the request that wrote the summary; -1 when none is known.
func (b *builder) compactionRequest() int {
	if b.next == 0 {
		return -1
	}
	if i := b.started[b.next-1]; b.b.Session.Requests[i].Kind == rollout.KindCompaction {
		return i
	}
	return -1
}

// estimateCompaction notes a compaction whose request has no usage in the log,
// as those on the server have none before token_usage_record: it read about what
// the request before it left.
func (b *builder) estimateCompaction(n, line int) {
	if b.compactionRequest() >= 0 || b.next == 0 || n < b.own {
		return
	}
	r := b.b.Session.Requests[b.started[b.next-1]]
	var usage rollout.Usage
	if r.Usage.Input != nil && r.Usage.Output != nil {
		input := *r.Usage.Input + *r.Usage.Output
		usage.Input = &input
	}
	b.saw.unbilled = true
	b.b.Session.OtherBilled = append(b.b.Session.OtherBilled, rollout.OtherBilled{
		Kind: "compaction", Time: b.f.times[n], Provider: r.Provider, Model: r.Model,
		Usage: usage, Estimate: true, Line: line,
	})
}

// replaceHistory makes the history exactly the logged list. Items that stood in
// it before keep their identity and get a new span.
func (b *builder) replaceHistory(c compaction, author int) {
	old := b.history
	b.history = nil
	known := map[unitKey][]*unit{}
	for _, u := range old {
		known[u.key] = append(known[u.key], u)
		b.takeOut(u)
	}
	for _, it := range c.items {
		s, ok := sideOf(it)
		if !ok || s == sideNone {
			continue
		}
		parts := b.parts(it)
		if same := known[keyOf(it, parts)]; len(same) > 0 {
			known[same[0].key] = same[1:]
			b.putBack(same[0])
			continue
		}
		b.newUnit(it, s, author, parts, c.Message.V)
	}
}

// putBack lets the coming requests carry a unit again, at the end.
func (b *builder) putBack(u *unit) {
	u.entries = nil
	for _, i := range u.items {
		u.entries = append(u.entries, b.chain.Add(rollout.SlotConversation, i))
	}
	b.history = append(b.history, u)
}

// newUnit adds what a compaction brought in: its summary, or context rendered
// anew.
func (b *builder) newUnit(it *item, s side, author int, parts []part, summary string) {
	u := b.unit(it, s, -1, parts)
	for k, i := range u.items {
		target := &b.b.Session.Items[i]
		if target.Kind == rollout.UserText && isSummary(parts[k].text, summary) {
			target.Kind, target.Label = rollout.Summary, "compaction"
			u.prompt = false
		}
		if target.Kind == rollout.Summary {
			target.Request = author
		}
	}
	b.history = append(b.history, u)
}

// isSummary compares with the compaction's message, which may lack the preamble.
func isSummary(text, message string) bool {
	return strings.TrimSpace(message) != "" && strings.Contains(text, strings.TrimSpace(message))
}

// keptPromptBytes is how much of the user's messages a local compaction keeps:
// 20,000 tokens at four bytes.
const keptPromptBytes = 20_000 * bytesPerToken

// rebuildHistory is the local compaction of versions that did not log its
// result: initial context, the latest user messages, the summary.
func (b *builder) rebuildHistory(c compaction, author int) {
	initial, prompts := b.splitHistory()
	left := int64(keptPromptBytes)
	from := len(prompts)
	for from > 0 && left > 0 {
		from--
		left -= int64(len(prompts[from].text))
	}
	for _, u := range b.history {
		b.takeOut(u)
	}
	b.history = nil
	for _, u := range initial {
		b.putBack(u)
	}
	for i, u := range prompts[from:] {
		b.putBack(u)
		if i == 0 && left < 0 {
			b.shorten(u, int64(len(u.text))+left)
		}
	}
	u := &unit{text: c.Message.V, key: keyOf(&item{}, []part{{text: c.Message.V}})}
	b.put(u, part{text: c.Message.V, item: rollout.Item{
		Kind: rollout.Summary, Role: rollout.RoleUser, Label: "compaction", Origin: rollout.Logged, Request: author,
	}})
	b.history = append(b.history, u)
}

// splitHistory finds the context before the first prompt, and the prompts.
func (b *builder) splitHistory() (initial, prompts []*unit) {
	for _, u := range b.history {
		switch {
		case u.prompt:
			prompts = append(prompts, u)
		case u.context && len(prompts) == 0:
			initial = append(initial, u)
		}
	}
	return initial, prompts
}

// shorten cuts the text of a prompt that only partly fits.
func (b *builder) shorten(u *unit, budget int64) {
	for _, e := range u.entries {
		text := b.b.Session.Texts[e.Text]
		if cut, did := cutMiddle(text.S, max(budget, 0)); did && !text.Opaque {
			b.chain.Replace(e, b.b.Text(cut), nil)
			return
		}
	}
}
