package codex

import (
	"fmt"

	"github.com/fclog/fclog/rollout"
)

// abortedText is what Codex sends for a call that got no output.
const abortedText = "aborted"

// call records a tool call whose item has just been added.
func (b *builder) call(u *unit, it *item, s step) {
	id := first(it.CallID.V, it.ID.V)
	if id == "" {
		id = fmt.Sprintf("%s@%d", toolName(it), s.line)
	}
	text := it.call
	args := u.items[0]
	c := rollout.Call{
		Request: b.request, ID: b.uniqueID(id), Tool: toolName(it), ArgsItem: args, ResultItem: -1,
		Inherited: s.record < b.own, Time: s.at, Line: s.line, Args: b.argsText(args, text),
	}
	describe(&c, it, text)
	index := b.b.Call(c)
	b.calls[id] = index
	if !needsOutput(it) {
		b.b.Session.Calls[index].Ran = true
		return
	}
	b.answerable[index] = true
	if b.f.outputs[id] == 0 && b.next < len(b.plan) {
		b.aborted = &unit{}
		b.put(b.aborted, part{text: abortedText, item: rollout.Item{
			Kind: rollout.ToolResult, Role: rollout.RoleTool, Tool: c.Tool, CallID: it.CallID.V, Origin: rollout.Recomputed, Request: -1,
		}})
		b.b.Session.Calls[index].ResultItem = b.aborted.items[0]
	}
}

// argsText is the text of a call's arguments, which mostly is that of its item.
func (b *builder) argsText(item int, text string) rollout.TextID {
	id := b.b.Session.Items[item].Text
	if t := b.b.Session.Texts[id]; !t.Opaque && t.S == text {
		return id
	}
	return b.b.Text(text)
}

// uniqueID numbers the repetitions of an ID.
func (b *builder) uniqueID(id string) string {
	b.used[id]++
	unique := id
	for n := b.used[id]; n > 1; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
		if b.used[unique] == 0 {
			b.used[unique] = 1
			break
		}
	}
	return unique
}

// output ties an output that has just been added to its call. One without a call
// is dropped on the wire.
func (b *builder) output(u *unit, it *item, line int) {
	index, ok := b.calls[it.CallID.V]
	if !ok {
		b.takeOut(u)
		b.b.Problem(rollout.Problem{File: b.f.path, Line: line, Kind: "result-without-call", Detail: "an output answers no logged call; it was not sent"})
		return
	}
	var texts []string
	for _, c := range it.outputs {
		texts = append(texts, c.Text.V)
	}
	o := parseOutput(texts)
	// A script may inject notices under its call's ID; its own result has the header.
	c := &b.b.Session.Calls[index]
	if c.Ran && (b.resulted[index] || !o.header) {
		return
	}
	b.resulted[index] = o.header
	settle(c, o)
	c.ResultItem = b.largest(u, c.ResultItem)
	if c.ResultItem < 0 {
		return
	}
	// What was cut only on its way into the history carries the mark there.
	result := b.b.Session.Items[c.ResultItem]
	if result.Origin == rollout.Recomputed && isTruncated(b.b.Session.Texts[result.Text].S, nil) {
		c.Truncated = rollout.Lost
	}
}

// largest is the biggest part of an output: code mode sends a small header of
// its own before the text.
func (b *builder) largest(u *unit, none int) int {
	best, size := none, -1
	for _, i := range u.items {
		if n := b.b.Session.Texts[b.b.Session.Items[i].Text].Bytes; n > size {
			best, size = i, n
		}
	}
	return best
}
