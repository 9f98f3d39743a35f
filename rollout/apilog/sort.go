package apilog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// thread is a conversation: calls whose histories continue each other.
type thread struct {
	calls []*exchange
	last  *exchange
	tools bool // its calls offer tools
	side  bool // beside the work of an agent: a title, a summary, a check
	group *group
	kind  rollout.RequestKind
}

// group is the threads of one session. The first is the main one.
type group struct {
	id        string // of the agent or the envelope; "" none
	trace     string
	file      bool
	threads   []*thread
	parent    *group
	callID    string // call of the parent that started it
	agent     string
	subAgent  string
	firstText string
}

// sorter finds the thread of each call, in order of time.
type sorter struct {
	r       *reader
	groups  []*group
	threads []*thread
	placed  []*exchange
	through map[int32]*thread // last thread whose history runs through a node
	calls   []started         // calls of agents, for the texts they pass on
	anyTool bool
	holds   map[*thread]map[string]bool // call IDs in a thread's last history
}

// recentMany bounds how far back the file is searched for what a new history
// goes on with: without IDs a file of many small conversations has no end of
// candidates.
const recentMany = 256

func recent[T any](list []T) []T { return list[max(0, len(list)-recentMany):] }

// started is a tool call that may have started a sub-agent.
type started struct {
	thread *thread
	callID string
	args   string
	agent  bool // by its name it does
}

// sort gives the sessions of the file.
func (r *reader) sort() []*group {
	s := &sorter{r: r, through: map[int32]*thread{}, holds: map[*thread]map[string]bool{}}
	for _, x := range r.exchanges {
		s.anyTool = s.anyTool || x.lists.tools != 0
	}
	for _, x := range r.exchanges {
		s.place(x)
	}
	s.placeSides()
	return s.ordered()
}

// place puts a call into the thread it continues, or starts one.
func (s *sorter) place(x *exchange) {
	side := s.anyTool && x.lists.tools == 0
	t := s.continued(x, side)
	if t == nil {
		t = &thread{tools: x.lists.tools != 0, side: side}
		s.threads = append(s.threads, t)
		if !side {
			s.join(t, x)
		}
	}
	t.calls, t.last = append(t.calls, x), x
	s.placed = append(s.placed, x)
	s.mark(x, t)
}

// mark notes the path of a history and the calls that a response made.
func (s *sorter) mark(x *exchange, t *thread) {
	for n := x.lists.core; n != 0; n = s.r.st.nodes[n].parent {
		if s.through[n] == t {
			break
		}
		s.through[n] = t
	}
	delete(s.holds, t)
	for _, id := range x.outputs {
		if pt := s.r.st.parts[id]; pt.kind == rollout.ToolCall {
			if args := s.r.st.string(id); len(args) > 40 {
				s.calls = append(s.calls, started{t, pt.callID, args, toolClasses[toolKey(pt.tool)] == rollout.AgentTool})
			}
		}
	}
}

// continued finds the thread whose history a call goes on with: the longest
// common beginning decides, or, where history was edited, the tool calls that
// both hold.
func (s *sorter) continued(x *exchange, side bool) *thread {
	n := x.lists.core
	for n != 0 && !s.fits(s.through[n], x, side) {
		n = s.r.st.nodes[n].parent
	}
	if n != 0 {
		t := s.through[n]
		common, whole := s.r.st.nodes[n].depth, s.r.st.nodes[t.last.lists.core].depth
		if 2*common >= whole && (common > 0) {
			return t
		}
	}
	if side || x.lists.core == 0 {
		return s.empty(x, side)
	}
	if t := s.sharing(x); t != nil {
		return t
	}
	return s.compacted(x)
}

// empty gives calls whose messages were not logged to the thread of their
// session or trace.
func (s *sorter) empty(x *exchange, side bool) *thread {
	if x.lists.core != 0 {
		return nil
	}
	for _, t := range slices.Backward(s.threads) {
		if t.last.lists.core == 0 && t.side == side && sameHints(t.last, x) {
			return t
		}
	}
	return nil
}

func sameHints(a, b *exchange) bool {
	return a.session == b.session && a.subAgent == b.subAgent && (a.session != "" || a.trace == b.trace)
}

// fits says whether a call may belong to a thread at all.
func (s *sorter) fits(t *thread, x *exchange, side bool) bool {
	if t == nil || t.side != side {
		return false
	}
	if t.last.session != "" && x.session != "" && t.last.session != x.session || t.last.subAgent != x.subAgent {
		return false
	}
	return t.last.lists.tools == x.lists.tools || t.last.lists.system == x.lists.system || s.similarTools(t.last, x)
}

// similarTools tells tool sets of which one grew out of the other.
func (s *sorter) similarTools(a, b *exchange) bool {
	names := map[string]bool{}
	for _, id := range s.r.st.partsOf(a.lists.tools) {
		names[s.r.st.parts[id].tool] = true
	}
	list := s.r.st.partsOf(b.lists.tools)
	common := 0
	for _, id := range list {
		if names[s.r.st.parts[id].tool] {
			common++
		}
	}
	return 2*common > max(len(names), len(list))
}

// sharing finds the thread that holds tool calls of this history: it was
// shortened or edited, and call IDs are unique.
func (s *sorter) sharing(x *exchange) *thread {
	own := map[string]bool{}
	for _, id := range s.r.st.partsOf(x.lists.core) {
		if pt := s.r.st.parts[id]; pt.kind == rollout.ToolCall && pt.callID != "" {
			own[pt.callID] = true
		}
	}
	if len(own) == 0 {
		return nil
	}
	for _, t := range slices.Backward(recent(s.threads)) {
		if !s.fits(t, x, false) || t.last.lists.system != x.lists.system {
			continue
		}
		for id := range s.callsIn(t) {
			if own[id] {
				return t
			}
		}
	}
	return nil
}

func (s *sorter) callsIn(t *thread) map[string]bool {
	if have, ok := s.holds[t]; ok {
		return have
	}
	have := map[string]bool{}
	for _, id := range append(s.r.st.partsOf(t.last.lists.core), t.last.outputs...) {
		if pt := s.r.st.parts[id]; pt.kind == rollout.ToolCall && pt.callID != "" {
			have[pt.callID] = true
		}
	}
	s.holds[t] = have
	return have
}

// summaryChars is the least length of a response that a new history must hold to
// be its continuation.
const summaryChars = 60

// compacted finds the thread that a short new history goes on with: it has the
// same system prompt and tools, and begins with a text that a response brought,
// or with one that says it is a summary. Under an ID of the session the same
// prompt and tools are enough.
func (s *sorter) compacted(x *exchange) *thread {
	said := s.summariser(s.opening(x), x)
	summary := slices.ContainsFunc(s.head(x), func(id int32) bool { return s.r.st.parts[id].kind == rollout.Summary })
	for _, t := range slices.Backward(recent(s.threads)) {
		same := t.last.lists.system == x.lists.system && t.last.lists.tools == x.lists.tools
		if t.side || !same || !s.fits(t, x, false) {
			continue
		}
		if said != nil {
			said.summary = true
			return t
		}
		if summary || x.session != "" && x.session == t.last.session && s.mainOf(t) && s.starter(x) == nil {
			return t
		}
	}
	return nil
}

// mainOf tells the thread an ID of a session stands for first.
func (s *sorter) mainOf(t *thread) bool {
	return t.group != nil && t.group.threads[0] == t && t.group.parent == nil
}

// head is the first parts of a history.
func (s *sorter) head(x *exchange) []int32 {
	parts := s.r.st.partsOf(x.lists.conversation)
	return parts[:min(len(parts), 5)]
}

// opening is the text a history begins with.
func (s *sorter) opening(x *exchange) string {
	var b strings.Builder
	for _, id := range s.head(x) {
		b.WriteString(s.r.st.string(id))
		b.WriteByte('\n')
	}
	return b.String()
}

// summariser finds the call whose response a history begins with.
func (s *sorter) summariser(opening string, x *exchange) *exchange {
	for _, c := range slices.Backward(recent(s.placed)) {
		for _, id := range c.outputs {
			pt := s.r.st.parts[id]
			if said := strings.TrimSpace(summaryText(s.r.st.string(id))); pt.kind == rollout.AssistantText && len(said) >= summaryChars && strings.Contains(opening, said) {
				return c
			}
		}
	}
	return nil
}

var (
	analysis   = regexp.MustCompile(`(?s)<analysis>.*?</analysis>`)
	summaryTag = regexp.MustCompile(`(?s)<(summary|state_snapshot|conversation_summary)>(.*?)</(?:summary|state_snapshot|conversation_summary)>`)
)

// summaryText is what clients keep of the response to their request for a
// summary: without its analysis, and without its tags.
func summaryText(said string) string {
	said = analysis.ReplaceAllString(said, "")
	if m := summaryTag.FindStringSubmatch(said); m != nil {
		return m[2]
	}
	return said
}

// join finds the session of a new thread: the one its ID names, that of the agent
// which started it, or a new one.
func (s *sorter) join(t *thread, x *exchange) {
	from := s.starter(x)
	g := s.known(x)
	switch {
	case from != nil && from.thread.group != nil && (g == nil || from.agent || s.otherAgent(g, x)):
		g = s.group(x)
		g.parent, g.callID = from.thread.group, from.callID
	case g != nil && s.otherAgent(g, x):
		parent := g
		g = s.group(x)
		g.parent, g.callID = parent, x.startedBy
	case g == nil:
		g = s.group(x)
	}
	t.group = g
	g.threads = append(g.threads, t)
}

func (s *sorter) group(x *exchange) *group {
	g := &group{id: x.session, trace: x.trace, file: x.ofFile, agent: x.agent, subAgent: x.subAgent}
	s.groups = append(s.groups, g)
	return g
}

// known is the session that the IDs of a call name, its main one.
func (s *sorter) known(x *exchange) *group {
	for _, g := range s.groups {
		if g.parent != nil {
			continue
		}
		if x.session != "" && g.id == x.session || x.session == "" && g.id == "" && x.trace != "" && g.trace == x.trace {
			return g
		}
	}
	return nil
}

// otherAgent tells a sub-agent within a session by its system prompt or tools.
func (s *sorter) otherAgent(g *group, x *exchange) bool {
	if x.subAgent != g.subAgent {
		return true
	}
	if len(g.threads) == 0 {
		return false
	}
	main := g.threads[0].last
	return main.lists.system != x.lists.system && main.lists.tools != x.lists.tools
}

// starter finds the call whose arguments hold the first text of a history: the
// task of a sub-agent.
func (s *sorter) starter(x *exchange) *started {
	task := s.task(x)
	if len(task) < 20 {
		return nil
	}
	quoted := quote(task)
	for _, c := range slices.Backward(recent(s.calls)) {
		if strings.Contains(c.args, quoted) {
			return &c
		}
	}
	return nil
}

// task is the last text of the user before an answer.
func (s *sorter) task(x *exchange) string {
	task := ""
	for _, id := range s.r.st.partsOf(x.lists.core) {
		switch s.r.st.parts[id].kind {
		case rollout.UserText:
			task = s.r.st.string(id)
		case rollout.ProjectContext, rollout.Reminder, rollout.SystemPrompt:
		default:
			return strings.TrimSpace(task)
		}
	}
	return strings.TrimSpace(task)
}

// ordered gives the sessions, parents before their children.
func (s *sorter) ordered() []*group {
	var out []*group
	var visit func(g *group, depth int)
	visit = func(parent *group, depth int) {
		for _, g := range s.groups {
			if g.parent == parent && len(g.threads) > 0 && depth < maxDepth {
				out = append(out, g)
				visit(g, depth+1)
			}
		}
	}
	visit(nil, 0)
	return out
}
