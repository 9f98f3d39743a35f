package atif

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// walk turns the steps of one trajectory into a session.
type walk struct {
	f     *file
	d     *document
	b     *rollout.Builder
	main  *rollout.Chain
	chain *rollout.Chain // of the current step: a Claude sub-agent's steps stand among the others

	steps    []step
	counting counting
	calls    map[string]int // index of the latest call by the log's ID
	used     map[string]bool
	children map[string]int // index of the call whose result names a sub-agent's trajectory
	agent    bool           // a step of the agent was seen
	images   bool           // an image was met whose data is not there
	system   bool           // the system prompt is there
	fitted   int            // requests told apart without usage
	once     sums           // usage, each response once
	every    sums           // usage, each step
	folded   map[string]int // index of a folded problem
}

func newWalk(f *file, d *document) *walk {
	b := rollout.NewBuilder(Name)
	b.Session.File = f.path
	w := &walk{f: f, d: d, b: b, main: b.Chain(), calls: map[string]int{}, used: map[string]bool{}, children: map[string]int{}, folded: map[string]int{}}
	w.chain = w.main
	var odd []int
	w.steps, odd = decodeAll(d.steps)
	for _, line := range odd {
		w.fold("bad-record", line, "a step is no JSON object; it was skipped")
	}
	w.counting = countingOf(d, w.steps)
	return w
}

func (w *walk) run() {
	s := w.b.Session
	s.AgentVersion, s.Records = w.d.Agent.V.Version.V, len(w.d.steps)
	s.CWD = first(w.d.Agent.V.Extra.V.CWD.V, w.d.Extra.V.WorkingDir.V)
	if dirs := w.d.Agent.V.Extra.V.CWDs.V; s.CWD == "" && len(dirs) > 0 {
		s.CWD = dirs[0]
	}
	w.preamble()
	for _, t := range turnsOf(w.d, w.steps) {
		if w.f.ctx.Err() != nil {
			return
		}
		w.turn(t)
	}
	w.unanswered()
	w.totals()
	w.missing()
}

// preamble adds what the head of the document holds of every payload.
func (w *walk) preamble() {
	for _, raw := range w.d.Agent.V.Tools.V {
		text, err := logfile.Compact(raw)
		if err != nil {
			continue
		}
		w.main.Add(rollout.SlotTools, w.b.Item(rollout.Item{
			Kind: rollout.ToolDefinitions, Role: rollout.RoleSystem, Tool: toolName(raw), Origin: rollout.Logged, Request: -1, Text: w.b.Text(text),
		}))
	}
	if prompt := w.d.Extra.V.SystemPrompt.V; prompt != "" {
		w.system = true
		w.main.Add(rollout.SlotSystem, w.b.Item(rollout.Item{Kind: rollout.SystemPrompt, Role: rollout.RoleSystem, Origin: rollout.Logged, Request: -1, Text: w.b.Text(prompt)}))
	}
}

// toolName is the name in a tool definition, in the forms of all providers.
func toolName(raw []byte) string {
	var t struct {
		Name     logfile.Lenient[string] `json:"name"`
		Function logfile.Lenient[struct {
			Name logfile.Lenient[string] `json:"name"`
		}] `json:"function"`
	}
	_ = logfile.Unmarshal(raw, &t)
	return first(t.Name.V, t.Function.V.Name.V)
}

// turn adds a response, or a step of anything else.
func (w *walk) turn(t turn) {
	w.pickChain(&t.steps[0])
	request := -1
	if t.model {
		request = w.request(t)
	}
	var made [][]int
	for i := range t.steps {
		s := &t.steps[i]
		w.clock(s)
		made = append(made, w.content(s, request))
	}
	// The results of a response follow all of it.
	for i := range t.steps {
		w.results(&t.steps[i], made[i])
	}
}

// pickChain starts a chain of its own for each sub-agent whose steps Claude Code
// logs among those of the session.
func (w *walk) pickChain(s *step) {
	switch {
	case !s.Extra.V.Sidechain.V:
		w.chain = w.main
	case s.Source.V == "user" && len(s.Observation.V.Results.V) == 0, w.chain == w.main:
		w.chain = w.b.Chain()
	}
}

func (w *walk) request(t turn) int {
	s := &t.steps[0]
	m := s.Metrics.V
	usage, odd := w.counting.usage(m)
	if odd {
		w.fold("usage-inconsistent", s.line, "a figure of a step's metrics is impossible or a part exceeds its whole; it was left out")
	}
	if m.told() {
		w.once.add(m)
	} else {
		w.fitted++
	}
	for _, each := range t.steps {
		w.every.add(each.Metrics.V)
		if each.LLMCalls.V > 1 {
			w.fold("folded-calls", each.line, "a step stands for several model calls; they count as one request whose usage is their sum")
		}
	}
	provider, model := splitModel(first(s.Model.V, w.d.Agent.V.Model.V))
	cost := usd(m.Cost)
	if m.Cost.OK && cost == nil {
		w.fold("bad-number", s.line, "a cost is impossible; it was left out")
	}
	w.agent = true
	return w.chain.Request(rollout.Request{
		ID: s.Extra.V.ResponseID.V, Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Time: parseTime(s.Time.V),
		Provider: provider, Model: model, Status: rollout.Answered, Usage: usage, LoggedUSD: cost, Line: s.line,
		OutputFinal: usage.Output != nil && w.d.Agent.V.Name.V != claudeAgent,
	})
}

// splitModel takes the provider off names such as openai/gpt-5.2.
func splitModel(name string) (provider, model string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func (w *walk) clock(s *step) {
	t := parseTime(s.Time.V)
	if t.IsZero() {
		return
	}
	session := w.b.Session
	if session.Started.IsZero() || t.Before(session.Started) {
		session.Started = t
	}
	if t.After(session.Ended) {
		session.Ended = t
	}
}

// content adds what a step says and the calls it makes, and returns the calls.
func (w *walk) content(s *step, request int) []int {
	if s.Source.V != "agent" {
		w.message(s)
		return nil
	}
	if text := s.Reasoning.V; text != "" && text != "null" {
		w.add(rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Request: request, Text: w.b.Text(text)})
	}
	texts, _ := w.parts(s.Message)
	for _, text := range texts {
		if text != "" && !invented(s, text) {
			w.add(rollout.Item{Kind: rollout.AssistantText, Role: rollout.RoleAssistant, Request: request, Text: w.b.Text(text)})
		}
	}
	var made []int
	for _, c := range s.Calls.V {
		if !c.OK {
			w.fold("bad-record", s.line, "a tool call is no JSON object; it was skipped")
			continue
		}
		made = append(made, w.call(s, c.V, request))
	}
	return made
}

// add puts an item into the conversation. Text that stands in the log as sent is
// the rule.
func (w *walk) add(it rollout.Item) int {
	if it.Origin == "" {
		it.Origin = rollout.Logged
	}
	i := w.b.Item(it)
	w.chain.Add(rollout.SlotConversation, i)
	return i
}

// invented says whether a message was put in by a converter for a step that only
// calls a tool.
func invented(s *step, text string) bool {
	return slices.ContainsFunc(s.Calls.V, func(c logfile.Lenient[toolCall]) bool {
		return text == "Executed "+c.V.Name.V+" "+c.V.ID.V
	})
}

// message adds a step of the user or of the system.
func (w *walk) message(s *step) {
	texts, images := w.parts(s.Message)
	role := rollout.RoleUser
	if s.Source.V == "system" {
		role = rollout.RoleSystem
	} else if s.Source.V != "user" {
		w.fold("unknown-record", s.line, "a step has a source that is not known; it was taken for one of the user")
	}
	for _, text := range texts {
		if text == "" {
			// Codex images become an empty step.
			w.images = w.images || w.d.Agent.V.Name.V == "codex"
			continue
		}
		kind, label := w.classify(role, text)
		slot := rollout.SlotConversation
		if kind == rollout.SystemPrompt {
			slot, w.system = rollout.SlotSystem, true
		}
		w.chain.Add(slot, w.b.Item(rollout.Item{Kind: kind, Role: role, Label: label, Origin: rollout.Logged, Request: -1, Text: w.b.Text(text)}))
	}
	for range images {
		w.images = true
	}
}

// markers are the texts that agents put at the start of what they inject.
var markers = []struct {
	start string
	kind  rollout.ItemKind
	label string
}{
	{"# AGENTS.md instructions", rollout.ProjectContext, "agents_md"},
	{"<user_instructions>", rollout.ProjectContext, "agents_md"},
	{"<environment_context>", rollout.ProjectContext, "environment_context"},
	{"<skills_instructions>", rollout.ProjectContext, "skills"},
	{"<permissions instructions>", rollout.Reminder, "permissions"},
	{"<collaboration_mode>", rollout.Reminder, "collaboration_mode"},
	{"<system-reminder>", rollout.Reminder, ""},
	{"<SYSTEM-REMINDER>", rollout.Reminder, ""},
	{"This session is being continued from a previous conversation", rollout.Summary, ""},
}

// classify tells what a text of the user or the system is. A system step before
// anything of the agent is the system prompt, unless the document has that apart.
func (w *walk) classify(role rollout.Role, text string) (rollout.ItemKind, string) {
	start := strings.TrimLeft(text, " \t\r\n")
	for _, m := range markers {
		if strings.HasPrefix(start, m.start) {
			return m.kind, m.label
		}
	}
	switch {
	case role != rollout.RoleSystem:
		return rollout.UserText, ""
	case !w.agent && !w.system:
		return rollout.SystemPrompt, ""
	}
	return rollout.Reminder, ""
}

// parts are the texts of a message or a result, and how many images stand in it
// by their path alone.
func (w *walk) parts(raw jsontext.Value) (texts []string, images int) {
	switch raw.Kind() {
	case '"':
		var text string
		_ = logfile.Unmarshal(raw, &text)
		return []string{text}, 0
	case '[':
		var list []logfile.Lenient[part]
		_ = logfile.Unmarshal(raw, &list)
		for _, p := range list {
			if p.V.Type.V == "image" {
				images++
			} else if p.V.Text.OK {
				texts = append(texts, p.V.Text.V)
			}
		}
	case '{', '0', 't', 'f':
		if text, err := logfile.Compact(raw); err == nil {
			texts = append(texts, text)
		}
	}
	return texts, images
}

// totals keeps what the document says of the run as a whole and holds it against
// the sum of its requests.
func (w *walk) totals() {
	if !w.d.Final.OK {
		return
	}
	f := w.d.Final.V
	r, odd := w.counting.reported(f)
	if odd {
		w.fold("usage-inconsistent", w.d.line, "a figure of final_metrics is impossible or a part exceeds its whole; it was left out")
	}
	if u := r.Usage; value(u.Input)+value(u.Output)+value(u.CacheRead) == 0 && r.CostUSD == nil {
		return
	}
	r.Line = w.d.line
	w.b.Session.Reported = append(w.b.Session.Reported, r)
	if w.once == (sums{}) {
		return
	}
	all := w.once
	all.plus(sumsOf(w.d.children))
	switch {
	case w.once.agrees(f), all.agrees(f):
	case w.every.agrees(f):
		w.fold("totals-disagree", w.d.line, "final_metrics adds up the usage of a response once for every step it was split into; here it counts once")
	default:
		w.fold("totals-disagree", w.d.line, fmt.Sprintf("final_metrics gives %d prompt, %d cached and %d completion tokens, the steps add up to %d, %d and %d",
			f.Prompt.V, f.Cached.V, f.Completion.V, w.once.prompt, w.once.cached, w.once.completion))
	}
}

// sumsOf is the usage of embedded trajectories, as their steps give it.
func sumsOf(children []*document) sums {
	var all sums
	for _, d := range children {
		steps, _ := decodeAll(d.steps)
		for _, t := range turnsOf(d, steps) {
			if t.model {
				all.add(t.steps[0].Metrics.V)
			}
		}
		all.plus(sumsOf(d.children))
	}
	return all
}

// missing lists what the trajectory does not hold.
func (w *walk) missing() {
	s := w.b.Session
	if !w.system {
		s.Missing = append(s.Missing, "system prompt")
	}
	if len(w.d.Agent.V.Tools.V) == 0 {
		s.Missing = append(s.Missing, "tool definitions")
	}
	s.Missing = append(s.Missing, "reminders", "compaction request", "exact request borders")
	if w.images {
		s.Missing = append(s.Missing, "images")
	}
	if w.fitted == 0 {
		return
	}
	if w.once == (sums{}) {
		s.Missing = append(s.Missing, "usage per request")
	}
	w.b.Problem(rollout.Problem{File: w.f.path, Line: w.d.line, Kind: "requests-estimated", Count: w.fitted,
		Detail: "steps without usage were taken for one model call each, those within 100 ms of each other for one together: the number of requests is an estimate"})
}

// fold notes a problem once for all places it occurs at.
func (w *walk) fold(kind string, line int, detail string) {
	key := kind + "\x00" + detail
	if i, ok := w.folded[key]; ok {
		w.b.Session.Problems[i].Count++
		return
	}
	w.folded[key] = len(w.b.Session.Problems)
	w.b.Problem(rollout.Problem{File: w.f.path, Line: line, Kind: kind, Detail: detail})
}
