package claudecode

import (
	"fmt"
	"github.com/fclog/fclog/rollout/logfile"
	"time"
	"unicode/utf8"

	"github.com/fclog/fclog/rollout"
)

// synthetic is the model of messages the client wrote itself.
const synthetic = "<synthetic>"

// response is one API response: all the lines that carry its blocks.
type response struct {
	id        string // shared by the copies of it in other files
	requestID string // "" not logged
	ref       string // ID of the api-request it answers; "" not logged
	first     *line
	lines     []*line
	usage     *rawUsage // of the copy with the largest output
	model     string
	stop      bool // a copy names why it stopped
	inherited bool
	request   int // index in the session; -1 before it is recorded
	blocks    []block
	items     []int // one per block
}

// isResponse says whether the line is part of an API response; synthetic
// messages and API errors are not.
func (l *line) isResponse() bool {
	return l.typ == "assistant" && l.model != synthetic && !l.apiError
}

// responses groups the lines of a conversation in order of first appearance.
// The key is the message ID with the request ID; a line without request ID joins
// its message (redaction and gateways drop it).
func (c *conversation) responses() ([]*response, map[*line]*response) {
	var order []*response
	byKey, byMessage := map[string]*response{}, map[string]*response{}
	of := map[*line]*response{}
	for _, l := range c.lines {
		if !l.isResponse() {
			continue
		}
		r := byKey[l.responseKey()]
		if same := byMessage[l.msgID]; r == nil && same != nil && (l.requestID == "" || same.requestID == "") {
			r = same
		}
		if r == nil {
			r = &response{first: l, request: -1}
			order = append(order, r)
		}
		byKey[l.responseKey()] = r
		if l.msgID != "" {
			byMessage[l.msgID] = r
		}
		r.add(l)
		of[l] = r
	}
	return order, of
}

func (l *line) responseKey() string {
	switch {
	case l.msgID == "":
		return fmt.Sprintf("line %d", l.seq)
	case l.requestID == "":
		return l.msgID
	}
	return l.msgID + "+" + l.requestID
}

// add takes a line in. The whole usage of the copy with the largest output
// counts, the later one on ties: after a fallback in the middle of a stream the
// copies differ in model and cache fields too.
func (r *response) add(l *line) {
	r.lines = append(r.lines, l)
	if l.requestRef != "" {
		r.ref = l.requestRef
	}
	if r.id == "" || l.requestID != "" {
		r.id, r.requestID = l.shareID(), l.requestID
	}
	if r.model == "" {
		r.model = l.model
	}
	if l.usage != nil && (r.usage == nil || l.usage.Output.V >= r.usage.Output.V) {
		r.usage, r.model = l.usage, l.model
	}
	r.stop = r.stop || l.stop != ""
	r.inherited = r.inherited || l.inherited
	for _, b := range l.blocks {
		if !r.holds(b) {
			r.blocks = append(r.blocks, b)
		}
	}
}

// shareID names the response in every file that holds a copy. Without a request
// ID only copies within one session are known to be the same.
func (l *line) shareID() string {
	switch {
	case l.msgID == "":
		return l.uuid + "@" + l.session
	case l.requestID == "":
		return l.msgID + "@" + l.session
	}
	return l.msgID + "+" + l.requestID
}

// holds finds a block that an earlier line already brought: re-appended lines
// come under new uuids.
func (r *response) holds(b block) bool {
	for _, have := range r.blocks {
		if have.typ == b.typ && have.id == b.id && have.text == b.text && sameOpaque(have.opaque, b.opaque) {
			return true
		}
	}
	return false
}

func sameOpaque(a, b *opaque) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.hash == b.hash
}

// tookSince is the time in milliseconds until the last block was written.
func (r *response) tookSince(start time.Time) *int64 {
	end := r.lines[len(r.lines)-1].time
	if start.IsZero() || end.Before(start) {
		return nil
	}
	ms := end.Sub(start).Milliseconds()
	return &ms
}

// visibleChars is the size of the output that can be read.
func (r *response) visibleChars() int {
	n := 0
	for _, b := range r.blocks {
		n += utf8.RuneCountInString(b.text)
	}
	return n
}

// Output below this share of the visible characters, at this many characters a
// token, is a snapshot taken while the answer was still coming.
const (
	finalShare    = 0.6
	charsPerToken = 3.6
)

func (r *response) outputFinal(output *int64) bool {
	if output == nil {
		return false
	}
	return r.stop || float64(*output) >= finalShare*float64(r.visibleChars())/charsPerToken
}

// tokens returns a reported count, nil when it is absent or impossible.
func tokens(v logfile.Lenient[int64]) *int64 {
	if !v.OK || v.V < 0 || v.V > rollout.MaxTokens {
		return nil
	}
	n := v.V
	return &n
}

func (u *rawUsage) impossible() bool {
	for _, v := range []logfile.Lenient[int64]{u.Input, u.CacheCreation, u.CacheRead, u.Output, u.Lifetimes.V.FiveMinutes, u.Lifetimes.V.OneHour, u.Details.V.Thinking} {
		if v.OK && (v.V < 0 || v.V > rollout.MaxTokens) {
			return true
		}
	}
	return false
}

// convert brings usage into inclusive form: input_tokens leaves out everything
// cached. Cache writes stand as one figure, by lifetime, or both.
func (u *rawUsage) convert() rollout.Usage {
	if u == nil {
		return rollout.Usage{}
	}
	out := rollout.Usage{
		CacheRead:    tokens(u.CacheRead),
		CacheWrite:   tokens(u.CacheCreation),
		CacheWrite5m: tokens(u.Lifetimes.V.FiveMinutes),
		CacheWrite1h: tokens(u.Lifetimes.V.OneHour),
		Output:       tokens(u.Output),
		Reasoning:    tokens(u.Details.V.Thinking),
	}
	if byLifetime := value(out.CacheWrite5m) + value(out.CacheWrite1h); value(out.CacheWrite) < byLifetime {
		out.CacheWrite = &byLifetime
	}
	if input := tokens(u.Input); input != nil {
		sum := *input + value(out.CacheRead) + value(out.CacheWrite)
		out.Input = &sum
	} else {
		out.CacheRead, out.CacheWrite, out.CacheWrite5m, out.CacheWrite1h = nil, nil, nil, nil
	}
	if out.Reasoning != nil && (out.Output == nil || *out.Reasoning > *out.Output) {
		out.Reasoning = nil
	}
	return out
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}
