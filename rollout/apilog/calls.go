package apilog

import (
	"strconv"

	"github.com/fclog/fclog/rollout"
)

// call adds the tool call of an item. x is the call of the model that asked for
// it; nil where it stands in a history without its response.
func (b *builder) call(item int, id int32, request int, x *exchange) {
	pt := b.r.st.parts[id]
	logged := pt.callID
	if logged == "" {
		logged = "call"
	}
	c := rollout.Call{Request: request, ID: b.unique(logged), Tool: pt.tool, Args: b.text(pt.text), ArgsItem: item, ResultItem: -1}
	if x != nil {
		c.Time, c.Line = x.end, x.line
		if c.Time.IsZero() {
			c.Time = x.start
		}
	}
	describeCall(&c, b.r.st.string(id))
	b.watch.asks(&c)
	b.calls[logged] = b.b.Call(c)
}

// unique makes an ID that occurs again one of its own.
func (b *builder) unique(id string) string {
	b.ids[id]++
	if n := b.ids[id]; n > 1 {
		next := id + "#" + strconv.Itoa(n)
		if b.ids[next] == 0 {
			b.ids[next]++
			return next
		}
		return b.unique(id)
	}
	return id
}

// answered ties a result to its call. A result of several parts is tied by its
// first.
func (b *builder) answered(item int, id int32) {
	pt := b.r.st.parts[id]
	at, ok := b.calls[pt.callID]
	if !ok || pt.callID == "" {
		if pt.kind == rollout.ToolResult {
			b.r.fold("result-without-call", 0, "a body holds the result of a call that it does not hold")
		}
		return
	}
	c := &b.b.Session.Calls[at]
	if c.ResultItem >= 0 {
		return
	}
	c.ResultItem, c.Ran = item, true
	if pt.outcome != notTold {
		bad := pt.outcome == failed
		c.Failed = &bad
	}
	b.watch.answers(c, b.r.st.string(id))
}
