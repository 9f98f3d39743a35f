package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fclog/fclog/internal/tokens"
)

const (
	sessionID = "7d1c3f60-52a8-4b0e-9c41-2e6b8a90d3f5"
	provider  = "minimax"
	model     = "MiniMax-M3"
	// framing is what the simulated provider adds to each part of a message.
	framing = 4
	// cacheBlock is the unit in which the simulated provider caches a prefix.
	cacheBlock = 128
	// cacheLife is how long it keeps one.
	cacheLife = 5 * time.Minute
	// nudgeAfter and nudgeEvery are FreeCode's: a reminder after 3 turns without
	// a change of the to-do list, at most every 5.
	nudgeAfter, nudgeEvery = 3, 5
)

const nudge = `<system-reminder>
The to-do list has not been brought up to date for a while. If a step is done, mark it; if the plan has changed, change the list. Do not mention this reminder to the person.
</system-reminder>`

// call is one tool call the script makes; the project answers it.
type call struct {
	tool string
	args string // compact JSON
}

// step is one response of the model.
type step struct {
	say   string
	calls []call
	fails string // an attempt that fails first, with this error
	think int    // characters of reasoning, which FreeCode does not keep
}

// run is one prompt and what the agent does about it.
type run struct {
	pause  time.Duration // since the run before
	prompt string
	steps  []step
}

// part is one separately sent part of a request.
type part struct {
	kind string
	id   string // call ID; a change breaks the cached prefix as a change of text does
	text string
}

// stored is one line of messages.jsonl.
type stored struct {
	id    string
	role  string
	text  string
	tool  string
	args  string
	reply string
	at    int64
	usage map[string]int64
}

// session is the simulated agent.
type session struct {
	project *project
	tokens  *tokens.Tokens
	random  *rand.Rand
	now     time.Time
	events  []string
	store   []stored

	cutID    string   // the newest call whose result was cut
	messages [][]part // the conversation, one entry per message
	todo     string
	idle     int // turns since the last todowrite
	nudged   int // turns since the last nudge
	last     []part
	lastAt   time.Time
}

// simulate plays the script; plain has the agent read files without line numbers.
func simulate(plain bool) []file {
	s := &session{
		project: newProject(),
		tokens:  tokens.New(),
		random:  rand.New(rand.NewPCG(1, 2)),
		now:     time.Date(2026, time.August, 18, 8, 2, 11, 0, time.UTC),
		nudged:  nudgeEvery,
	}
	s.project.plain = plain
	for _, r := range script() {
		s.run(r)
	}
	return s.files()
}

// run plays one prompt: the conversation is loaded from the store, as FreeCode
// does at the start of every run.
func (s *session) run(r run) {
	s.now = s.now.Add(r.pause)
	s.reload()
	s.store = append(s.store, stored{id: s.uuid(), role: "user", text: r.prompt, at: s.now.UnixMilli()})
	s.messages = append(s.messages, []part{{kind: "text", text: r.prompt}})
	s.wait(900)
	for turn, step := range r.steps {
		s.step(fmt.Sprintf("turn-%d", turn), step)
	}
}

// reload makes every stored line a message of its own, with a new call ID.
func (s *session) reload() {
	s.messages = nil
	for _, m := range s.store {
		parts := []part{{kind: "text", text: m.text}}
		if m.tool != "" {
			id := "tool-" + m.id + "-0"
			parts = []part{{"call", id, m.args}, {"result", id, m.reply}}
		}
		s.messages = append(s.messages, parts)
	}
}

// step plays one request and what its response asks for.
func (s *session) step(turn string, st step) {
	for i := range st.calls {
		st.calls[i].args = strings.ReplaceAll(st.calls[i].args, lastCut, s.cutID)
	}
	parts := s.payload()
	if st.fails != "" {
		s.request(turn, parts)
		s.wait(1400)
		s.event("model.error", turn, "provider", provider, "model", model, "duration_ms", 1400, "kind", "provider", "error", st.fails)
		s.wait(1000)
	}
	s.request(turn, parts)
	usage := s.usage(parts, st)
	s.respond(turn, st, usage)

	message := s.keepText(st, usage)
	results := make([]part, 0, len(st.calls))
	for i, c := range st.calls {
		id := fmt.Sprintf("call_%012x", s.random.Uint64()>>16)
		reply := s.call(turn, c, id)
		line := stored{id: s.uuid(), role: "assistant", tool: c.tool, args: c.args, reply: reply, at: s.now.UnixMilli()}
		if i == 0 && st.say == "" {
			line.usage = usage
		}
		s.store = append(s.store, line)
		message = append(message, part{"call", id, c.args})
		results = append(results, part{"result", id, reply})
	}
	s.messages = append(s.messages, append(message, results...))
}

func (s *session) keepText(st step, usage map[string]int64) []part {
	if st.say == "" {
		return nil
	}
	s.store = append(s.store, stored{id: s.uuid(), role: "assistant", text: st.say, at: s.now.UnixMilli(), usage: usage})
	return []part{{kind: "text", text: st.say}}
}

// payload is everything the next request sends, in order.
func (s *session) payload() []part {
	parts := []part{{kind: "tools", text: toolDefinitions()}, {kind: "system", text: s.project.file("system.txt")}}
	if s.todo != "" {
		parts = append(parts, part{kind: "system", text: "Current to-do list:\n" + s.todo})
	}
	if s.todo != "" && s.idle >= nudgeAfter && s.nudged >= nudgeEvery {
		parts = append(parts, part{kind: "system", text: nudge})
		s.nudged = 0
	}
	s.idle++
	s.nudged++
	parts = append(parts, part{kind: "text", text: s.project.context()})
	for _, m := range s.messages {
		parts = append(parts, m...)
	}
	return parts
}

// usage is what the simulated provider reports: all parts in o200k_base tokens
// and a constant per part of a message; as cached what the last request began with too.
func (s *session) usage(parts []part, st step) map[string]int64 {
	input, cached, same := int64(0), int64(0), s.now.Sub(s.lastAt) < cacheLife
	for i, p := range parts {
		n := s.tokens.Count(tokens.O200K, p.text)
		if p.kind != "tools" && p.kind != "system" {
			n += framing
		}
		input += n
		if same = same && i < len(s.last) && s.last[i] == p; same {
			cached += n
		}
	}
	output := s.tokens.Count(tokens.O200K, st.say) + int64(st.think/4)
	for _, c := range st.calls {
		output += s.tokens.Count(tokens.O200K, c.args) + 12
	}
	s.last, s.lastAt = parts, s.now
	return map[string]int64{
		"inputTokens":           input,
		"outputTokens":          output,
		"cacheReadInputTokens":  cached / cacheBlock * cacheBlock,
		"cacheWriteInputTokens": 0,
	}
}

func (s *session) request(turn string, parts []part) {
	chars := 0
	for _, p := range parts {
		if p.kind != "tools" && p.kind != "call" {
			chars += utf8.RuneCountInString(p.text) // no text is outside the basic plane
		}
	}
	s.event("model.request", turn, "provider", provider, "model", model,
		"messageCount", len(s.messages)+1, "toolCount", len(toolNames), "promptChars", chars, "streamed", true)
}

func (s *session) respond(turn string, st step, usage map[string]int64) {
	first := 600 + s.random.IntN(900)
	s.wait(first)
	s.event("model.first_token", turn, "ttft_ms", first)
	rest := int(usage["outputTokens"]) * 14
	s.wait(rest)
	names := []string{}
	for _, c := range st.calls {
		names = append(names, c.tool)
	}
	s.event("model.response", turn, "provider", provider, "model", model, "duration_ms", first+rest, "ttft_ms", first,
		"inputTokens", usage["inputTokens"], "outputTokens", usage["outputTokens"],
		"cacheReadTokens", usage["cacheReadInputTokens"], "cacheWriteTokens", usage["cacheWriteInputTokens"],
		"toolCalls", names, "textChars", len(st.say), "thinkingChars", st.think)
	s.event("turn.started", turn)
}

// call runs one tool call and returns the copy of its result that the model
// gets; the log has the whole.
func (s *session) call(turn string, c call, id string) string {
	s.wait(40)
	s.event("function.call", turn, "tool", c.tool, "args", json.RawMessage(c.args))
	output, took := s.project.answer(c, id)
	s.wait(took)
	s.event("function.output", turn, "tool", c.tool, "output", output, "duration_ms", took)
	if c.tool == "todowrite" {
		s.todo, s.idle = output, 0
	}
	reply := cut(output, id)
	if reply != output {
		s.cutID = id
	}
	return reply
}

// cut is FreeCode's cut of a result for the model: 24 000 characters of head and
// 6 000 of tail, at line breaks. The invented texts are plain ASCII.
func cut(text, id string) string {
	if len(text) <= 30_000 {
		return text
	}
	head := text[:strings.LastIndexByte(text[:24_001], '\n')]
	tail := text[len(text)-6_000:]
	tail = tail[strings.IndexByte(tail, '\n')+1:]
	return fmt.Sprintf("%s\n\n... [truncated %d chars total — use the `output` tool with id=%q (offset, limit, or pattern) to read the omitted middle] ...\n\n%s", head, len(text), id, tail)
}

func (s *session) wait(ms int) { s.now = s.now.Add(time.Duration(ms) * time.Millisecond) }
