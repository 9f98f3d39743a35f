package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// conversation is the lines of one agent in file order.
type conversation struct {
	agent      string // "" the main one
	agentType  string
	parentCall string // call that started it, where progress lines tell
	lines      []*line
	records    int
	version    string
	cwd        string
	started    time.Time
	ended      time.Time
	forkedFrom string
	wires      bool // requests are logged by hash
}

// file is everything read from one transcript.
type file struct {
	path     string
	session  string
	convs    []*conversation // order of first appearance
	byAgent  map[string]*conversation
	byUUID   map[string]*line
	blobs    map[string]*line // messages that stand in no transcript line as they were sent
	shapes   map[string]*shape
	problems []rollout.Problem
	folded   map[string]*rollout.Problem
	blocks   blockReader
	seq      int
	aside    int // records that belong to no conversation
	wires    bool
}

// treeTypes are the line types whose content can reach the model or that stand
// in the tree between those.
var treeTypes = map[string]bool{"user": true, "assistant": true, "attachment": true, "system": true, "progress": true}

// bookkeeping are the line types that are known and never sent.
var bookkeeping = map[string]bool{
	"summary": true, "file-history-snapshot": true, "file-history-delta": true, "queue-operation": true,
	"last-prompt": true, "ai-title": true, "custom-title": true, "agent-name": true, "mode": true,
	"permission-mode": true, "atis-latch": true, "bridge-session": true, "pr-link": true, "cost-state": true,
	"fork-context-ref": true, "rewind-pointer": true, "auto-mode-denial": true, "permission-denial": true,
	"tools-used": true, "agent-setting": true, "agent-color": true, "tag": true,
}

// load reads a transcript. Where requests turn out to be logged by hash it is
// read once more, now keeping the form that is hashed.
func load(ctx context.Context, path string) (*file, error) {
	f, err := loadOnce(ctx, path, false)
	if err == nil && f.wires {
		f, err = loadOnce(ctx, path, true)
	}
	return f, err
}

func loadOnce(ctx context.Context, path string, canon bool) (*file, error) {
	r, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &file{
		path: path, byAgent: map[string]*conversation{}, byUUID: map[string]*line{},
		blobs: map[string]*line{}, shapes: map[string]*shape{}, folded: map[string]*rollout.Problem{},
		blocks: blockReader{canon: canon, unknown: map[string]int{}},
	}
	for r.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.record(r.Record(), r.Line())
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	f.problems = r.Problems()
	for _, typ := range slices.Sorted(maps.Keys(f.blocks.unknown)) {
		detail := fmt.Sprintf("content blocks of the unknown type %.40q were kept as their JSON", typ)
		f.problems = append(f.problems, rollout.Problem{File: path, Kind: "unknown-block", Detail: detail, Count: f.blocks.unknown[typ]})
	}
	if len(f.convs) == 0 {
		return nil, fmt.Errorf("%s: %w: no line of a Claude Code conversation", path, logfile.ErrNotLog)
	}
	f.linkParents()
	f.splitInline()
	f.separate()
	f.session = f.sessionID()
	return f, nil
}

func (f *file) record(raw []byte, number int) {
	var rec record
	if raw[0] != '{' || logfile.Decode(raw, &rec) != nil {
		f.fold("bad-record", "lines are JSON but no transcript records; they were skipped", number)
		return
	}
	switch {
	case treeTypes[rec.Type]:
		f.treeLine(&rec, number)
	case rec.Type == "api-request", rec.Type == "api-request-blob", rec.Type == "api-request-shape":
		f.wireLine(&rec, number)
	case bookkeeping[rec.Type], strings.HasPrefix(rec.Type, "artifact-"), strings.HasPrefix(rec.Type, "workflow-"):
		f.aside++
	default:
		f.aside++
		f.fold("unknown-record", fmt.Sprintf("unknown line type %.40q was skipped", rec.Type), number)
	}
	if rec.Session.V != "" {
		f.session = rec.Session.V
	}
}

// fold notes a problem once with the line it was first met on and a count.
func (f *file) fold(kind, detail string, number int) {
	if p, ok := f.folded[kind+detail]; ok {
		p.Count++
		return
	}
	f.folded[kind+detail] = &rollout.Problem{File: f.path, Line: number, Kind: kind, Detail: detail, Count: 1}
}

// foldedProblems lists the folded problems in order of their first line.
func (f *file) foldedProblems() []rollout.Problem {
	var out []rollout.Problem
	for _, p := range f.folded {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b rollout.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Kind+a.Detail, b.Kind+b.Detail)
	})
	return out
}

func (f *file) treeLine(rec *record, number int) {
	if rec.Type == "progress" && rec.Data.V.Type.V == "agent_progress" {
		f.agentProgress(rec, number)
	}
	l := f.newLine(rec, number)
	c := f.named(l.agent)
	c.note(rec, l.time)
	if l.uuid != "" {
		if first, ok := f.byUUID[l.uuid]; ok {
			f.fold("duplicate-uuid", "lines repeat the uuid of an earlier line; the first was kept", number)
			f.laterCopy(first, l)
			return
		}
		f.byUUID[l.uuid] = l
	}
	c.lines = append(c.lines, l)
}

// laterCopy keeps the usage of a repeated line: the last copy may be the one
// with the final figure.
func (f *file) laterCopy(first, again *line) {
	if first.typ != "assistant" || first.msgID != again.msgID || again.usage == nil {
		return
	}
	if first.usage == nil || again.usage.Output.V >= first.usage.Output.V {
		first.usage, first.model = again.usage, again.model
	}
	if again.stop != "" {
		first.stop = again.stop
	}
}

func (f *file) named(agent string) *conversation {
	c, ok := f.byAgent[agent]
	if !ok {
		c = &conversation{agent: agent}
		f.byAgent[agent] = c
		f.convs = append(f.convs, c)
	}
	return c
}

func (c *conversation) note(rec *record, t time.Time) {
	c.records++
	if rec.Version.V != "" {
		c.version = rec.Version.V
	}
	if c.cwd == "" {
		c.cwd = rec.CWD.V
	}
	if rec.AgentType.V != "" {
		c.agentType = rec.AgentType.V
	}
	if rec.ForkedFrom.V.Session.V != "" {
		c.forkedFrom = rec.ForkedFrom.V.Session.V
	}
	c.span(t)
}

func (c *conversation) span(t time.Time) {
	if t.IsZero() {
		return
	}
	if c.started.IsZero() || t.Before(c.started) {
		c.started = t
	}
	if t.After(c.ended) {
		c.ended = t
	}
}

func (f *file) newLine(rec *record, number int) *line {
	f.seq++
	l := &line{
		seq: f.seq, number: number, typ: rec.Type, sub: rec.Subtype.V,
		uuid: rec.UUID.V, parentID: rec.Parent.V, session: rec.Session.V, agent: rec.Agent.V,
		sidechain: rec.Sidechain.V, meta: rec.Meta.V, summary: rec.Summary.V,
		hidden: rec.Invisible.V && !rec.Summary.V, apiError: rec.APIError.V,
		inherited: rec.ForkedFrom.V.Session.V != "", time: parseTime(rec.Time.V),
		requestID: rec.RequestID.V, requestRef: rec.RequestRef.V, result: rec.ToolResult.V,
	}
	if l.time.IsZero() && (rec.Time.Odd || rec.Time.OK) {
		f.fold("bad-time", "records have no valid time stamp; what depends on time does not count them", number)
	}
	switch rec.Type {
	case "user", "assistant":
		f.message(l, &rec.Message.V)
	case "attachment":
		f.attachment(l, rec)
	case "system":
		f.system(l, rec)
	}
	return l
}

func (f *file) message(l *line, m *message) {
	if m.Model.V != "" && m.Model.V != synthetic {
		f.blocks.model = m.Model.V
	}
	l.msgID, l.model, l.role, l.stop = m.ID.V, m.Model.V, m.Role.V, m.StopReason.V
	if m.Usage.OK {
		usage := m.Usage.V
		l.usage = &usage
	}
	l.blocks, l.stringBody = f.blocks.content(m.Content)
}

// system keeps what a system line says about the context. The output of a local
// command was most likely sent as user text.
func (f *file) system(l *line, rec *record) {
	switch rec.Subtype.V {
	case "compact_boundary":
		meta := rec.Compact.V
		l.compact = &meta
	case "microcompact_boundary":
		meta := rec.Micro.V
		l.micro = &meta
	case "local_command":
		if rec.Content.V != "" {
			l.blocks = []block{{typ: "text", text: rec.Content.V}}
		}
	}
}

// agentProgress takes a sub-agent's message out of a progress line. These copies
// have no parents: their order is the conversation.
func (f *file) agentProgress(rec *record, number int) {
	p := rec.Data.V.Message.V
	agent := rec.Data.V.Agent.V
	if agent == "" || (p.Type != "user" && p.Type != "assistant") {
		return
	}
	f.seq++
	l := &line{
		seq: f.seq, number: number, typ: p.Type, uuid: p.UUID.V, session: rec.Session.V, agent: agent,
		sidechain: true, time: parseTime(p.Time.V), requestID: p.RequestID.V,
	}
	f.message(l, &p.Message.V)
	c := f.named(progressKey + agent)
	c.agent = agent
	c.note(rec, l.time)
	c.parentCall = rec.ParentTool.V
	if l.uuid != "" {
		key := progressKey + agent + l.uuid
		if first, ok := f.byUUID[key]; ok {
			f.laterCopy(first, l)
			return
		}
		f.byUUID[key] = l
	}
	if n := len(c.lines); n > 0 {
		l.parent = c.lines[n-1]
	}
	c.lines = append(c.lines, l)
}

// progressKey tells conversations found in progress lines from those whose own
// lines stand in the file.
const progressKey = "progress:"

// linkParents finds each line's parent. A parent that is not in the file (lost
// lines, checkpoints that start in the middle) becomes the nearest earlier line.
func (f *file) linkParents() {
	for _, c := range f.convs {
		var previous *line
		for _, l := range c.lines {
			if l.parentID != "" && l.parent == nil {
				parent, ok := f.byUUID[l.parentID]
				if !ok && previous != nil {
					f.fold("missing-parent", "parents of lines are not in the file; the line before was taken", l.number)
					parent = previous
				}
				l.parent = parent
			}
			if l.wire == nil {
				previous = l
			}
		}
	}
	f.breakCycles()
}

// longestCycle bounds the search for a cycle: those that were seen close over a
// few lines.
const longestCycle = 10000

// breakCycles cuts a parent that points forward in the file and leads back.
func (f *file) breakCycles() {
	for _, c := range f.convs {
		for _, l := range c.lines {
			if l.parent == nil || l.parent.seq < l.seq {
				continue
			}
			p := l.parent
			for n := 0; p != nil && p != l && n < longestCycle; n++ {
				p = p.parent
			}
			if p != nil {
				f.fold("parent-cycle", "parents of lines form a circle; it was cut at its first line", l.number)
				l.parent = nil
			}
		}
	}
}

// splitInline takes side chains without an agent ID (up to 2.0.0) out of the
// main conversation: several interleave, each is the lines under one root.
func (f *file) splitInline() {
	main, ok := f.byAgent[""]
	if !ok || !slices.ContainsFunc(main.lines, func(l *line) bool { return l.sidechain }) {
		return
	}
	roots := map[*line]*line{}
	sides := map[*line]*conversation{}
	var own []*line
	var last *line
	for _, l := range main.lines {
		if !l.sidechain {
			own = append(own, l)
			continue
		}
		root := sideRoot(l, roots, last)
		last = l
		c, ok := sides[root]
		if !ok {
			c = &conversation{agent: rootName(root), version: main.version, cwd: main.cwd}
			sides[root] = c
			f.convs = append(f.convs, c)
		}
		c.records++
		c.span(l.time)
		c.lines = append(c.lines, l)
	}
	main.records -= len(main.lines) - len(own)
	main.lines = own
}

// separate keeps each walk inside its conversation: a parent in another one (the
// call that started a side chain) gives way to the line before.
func (f *file) separate() {
	for _, c := range f.convs {
		for _, l := range c.lines {
			l.conv = c
		}
	}
	for _, c := range f.convs {
		var previous *line
		for _, l := range c.lines {
			if l.parent != nil && l.parent.conv != c {
				l.parent = previous
			}
			if l.wire == nil {
				previous = l
			}
		}
	}
}

// sideRoot is the first line of the side chain l belongs to. A line whose parent
// is lost joins the side chain before it.
func sideRoot(l *line, roots map[*line]*line, last *line) *line {
	root := l
	switch {
	case l.parent != nil && l.parent.sidechain && roots[l.parent] != nil:
		root = roots[l.parent]
	case l.parent == nil && l.parentID != "" && last != nil:
		root = roots[last]
	}
	if root == l {
		l.parent = nil
	}
	roots[l] = root
	return root
}

func rootName(root *line) string {
	if root.uuid != "" {
		return root.uuid
	}
	return fmt.Sprintf("record-%d", root.seq)
}

// sessionID prefers the ID the file is named after: copied lines keep another.
func (f *file) sessionID() string {
	name := stem(f.path)
	for _, c := range f.convs {
		for _, l := range c.lines {
			if l.session == name {
				return name
			}
		}
	}
	if f.session != "" {
		return f.session
	}
	return name
}

// stem is the file name without its extensions.
func stem(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".jsonl")
	return name
}

// hasPrefix says whether the line's text starts with one of the prefixes.
func (l *line) hasPrefix(prefixes ...string) bool {
	if len(l.blocks) == 0 {
		return false
	}
	text := l.blocks[0].text
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

func (l *line) has(typ string) bool {
	return slices.ContainsFunc(l.blocks, func(b block) bool { return b.typ == typ })
}

// humanPrompt follows the rule of the format: a user line that was typed.
func (l *line) humanPrompt() bool {
	if l.typ != "user" || l.meta || l.summary || l.hidden || l.has("tool_result") || len(l.blocks) == 0 {
		return false
	}
	return !l.hasPrefix("<task-notification>", "<local-command-", "<command-name>", "<bash-input>", "<bash-stdout>", "[Request interrupted by user")
}

// startsRun says whether the line makes the agent start again after it stopped.
func (l *line) startsRun() bool {
	return l.humanPrompt() || (l.typ == "user" && l.hasPrefix("<task-notification>", "<command-name>"))
}

// blank says whether there is nothing to send.
func blank(s string) bool { return len(bytes.TrimSpace([]byte(s))) == 0 }
