package gemini

import (
	"strconv"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/conversation"
	"github.com/fclog/fclog/rollout/logfile"
)

// chat rebuilds the requests of one file.
type chat struct {
	b      *rollout.Builder
	path   string
	folded map[string]int

	index    *index                     // of list; nil: to be made
	list     []*entry                   // the conversation now
	sent     *conversation.Conversation // what stands in the chain
	requests map[string]int             // by message ID
	calls    map[string]*call           // by logged call ID; the newest
	asked    map[asked]*call            // the newest
	ids      map[string]bool            // call IDs given out
	handles  map[string]string          // what a later call can go back to: path to handle
	tasks    []*task                    // background work under way
	polls    map[string]string          // by task: what the last look at it brought
	summed   map[rollout.TextID]bool
	said     map[said]int // item of a text of an answer

	run      int
	prompted bool // a prompt came since the last request
}

func newChat(path string) *chat {
	b := rollout.NewBuilder(Name)
	return &chat{
		b: b, sent: conversation.New(b, b.Chain()), path: path, folded: map[string]int{},
		requests: map[string]int{}, calls: map[string]*call{}, asked: map[asked]*call{}, ids: map[string]bool{},
		handles: map[string]string{}, polls: map[string]string{}, summed: map[rollout.TextID]bool{}, said: map[said]int{},
	}
}

// answer takes in a model message: the request it answers, or none where it only
// restates history.
func (c *chat) answer(e *entry) {
	if known, ok := c.requests[e.ID.V]; ok && e.ID.V != "" {
		e.request = known
		return
	}
	if !e.Tokens.OK {
		if e.Content.Kind() == '[' && !e.Model.OK {
			return
		}
		if n := len(c.list); n > 0 && c.list[n-1].request >= 0 {
			e.request, e.joined = c.list[n-1].request, true
			return
		}
	}
	e.request = c.request(rollout.Request{
		ID: e.ID.V, Time: at(e.Timestamp), Model: e.Model.V, Status: rollout.Answered, OutputFinal: e.Tokens.OK, Line: e.line,
	})
	if e.ID.V != "" {
		c.requests[e.ID.V] = e.request
	}
	c.usage(e)
	c.reasoning(e)
}

// request records a request that carries the list as it stands.
func (c *chat) request(r rollout.Request) int {
	c.sent.Set(c.payload())
	if c.prompted || c.run == 0 {
		c.run++
	}
	c.prompted = false
	r.Kind, r.Run, r.Attempt, r.Base, r.Provider = rollout.KindTurn, c.run, 1, -1, "google"
	n := contents(c.sent.Pieces())
	r.Messages = &n
	return c.sent.Chain().Request(r)
}

// complete adds what a later record of an answer tells of its request.
func (c *chat) complete(e *entry, before *message) {
	r := &c.b.Session.Requests[e.request]
	if r.Model == "" {
		r.Model = e.Model.V
	}
	if e.Tokens.OK && (!before.Tokens.OK || e.Tokens.V != before.Tokens.V) {
		r.OutputFinal = true
		c.usage(e)
	}
	if !before.Thoughts.OK || len(before.Thoughts.V) == 0 {
		c.reasoning(e)
	}
}

// failure is a request whose answer was an error of the API. Retries before it
// are not logged.
func (c *chat) failure(e *entry) {
	var said strings.Builder
	for _, p := range parts(e.Content) {
		said.WriteString(p.Text.V)
	}
	if !strings.HasPrefix(strings.TrimSpace(strings.TrimLeft(said.String(), "✕ ")), "[API Error") {
		return
	}
	c.request(rollout.Request{ID: e.ID.V, Time: at(e.Timestamp), Status: rollout.Errored, Line: e.line})
}

// usage sets what a response reports. The prompt count includes what was cached;
// thoughts are beside the candidates; tool is the prompt of server-side tools.
func (c *chat) usage(e *entry) {
	if !e.Tokens.OK {
		return
	}
	t, odd := &e.Tokens.V, false
	count := func(n logfile.Lenient[int64]) int64 {
		odd = odd || n.Odd || n.V < 0 || n.V > rollout.MaxTokens/4
		return n.V
	}
	input, output := count(t.Input)+count(t.Tool), count(t.Output)+count(t.Thoughts)
	cached := count(t.Cached)
	if odd {
		c.fold("bad-number", e.line, "a token count is no number, negative or impossibly large; the usage was left out")
		c.b.Session.Requests[e.request].OutputFinal = false
		return
	}
	u := &c.b.Session.Requests[e.request].Usage
	*u = rollout.Usage{}
	if t.Input.OK {
		u.Input = &input
	}
	if t.Output.OK || t.Thoughts.OK {
		u.Output = &output
	}
	if t.Thoughts.OK {
		u.Reasoning = &t.Thoughts.V
	}
	if t.Cached.OK && cached <= input {
		u.CacheRead = &t.Cached.V
	}
	if cached > input || t.Total.OK && t.Total.V != input+output {
		c.fold("usage-inconsistent", e.line, "the token counts of a response do not add up to its total, or more was cached than sent")
	}
}

// reasoning notes the summaries of a response's reasoning. They are never sent.
func (c *chat) reasoning(e *entry) {
	var lines []string
	for _, raw := range e.Thoughts.V {
		var t thought
		if logfile.Unmarshal(raw, &t) != nil {
			continue
		}
		if line := strings.TrimSpace(t.Subject.V + "\n" + t.Description.V); line != "" {
			lines = append(lines, line)
		}
	}
	u := c.b.Session.Requests[e.request].Usage
	if len(lines) == 0 && (u.Reasoning == nil || *u.Reasoning == 0) {
		return
	}
	it := rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Label: "summary", Origin: rollout.Logged,
		Request: e.request, Text: c.b.Text(strings.Join(lines, "\n\n")), Tokens: u.Reasoning}
	c.b.Item(it)
}

// fold notes a problem once and counts its repeats.
func (c *chat) fold(kind string, line int, detail string) {
	if i, ok := c.folded[kind+detail]; ok {
		c.b.Session.Problems[i].Count++
		return
	}
	c.folded[kind+detail] = len(c.b.Session.Problems)
	c.b.Problem(rollout.Problem{File: c.path, Line: line, Kind: kind, Detail: detail})
}

// time widens the session's stretch of time.
func (c *chat) time(stamp text) {
	t, s := at(stamp), c.b.Session
	if t.IsZero() {
		return
	}
	if s.Started.IsZero() || t.Before(s.Started) {
		s.Started = t
	}
	if t.After(s.Ended) {
		s.Ended = t
	}
}

// describe takes what a header or an update tells of the session.
func (c *chat) describe(h *header) {
	s := c.b.Session
	c.time(h.StartTime)
	c.time(h.LastUpdated)
	if s.ID == "" {
		s.ID = h.SessionID.V
	}
	for _, raw := range h.Directories.V {
		var dir string
		if s.CWD == "" && logfile.Unmarshal(raw, &dir) == nil {
			s.CWD = dir
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
