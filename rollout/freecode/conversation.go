package freecode

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
)

// pieceKind says what a piece of the conversation is.
type pieceKind int

const (
	userPiece pieceKind = iota
	imageNotice
	imagePiece
	textPiece
	callPiece
	resultPiece
)

// unknownChars marks a piece whose text stands in no file.
const unknownChars = -1

// unknownStoredID has the length of a reloaded call ID; it stands in markers
// whose ID is lost with the stored message.
const unknownStoredID = "tool-00000000-0000-0000-0000-000000000000-0"

// imageNoticePattern is the text FreeCode puts before a tool's image.
var imageNoticePattern = regexp.MustCompile(`^(Image from the tool call above:|\d+ images from the tool calls above:)`)

// piece is one separately framed part of the conversation: a text, a call, a
// result or an image. A piece whose text is not logged has no entry.
type piece struct {
	kind    pieceKind
	entry   *rollout.Entry
	text    rollout.TextID // as it stands in the store, never the pruned form
	chars   int64          // as promptChars counts it; unknownChars if not logged
	message int            // number of the message it is sent in
	turn    *turn          // response that brought it; nil for user pieces
	slot    *slot          // call that a call or result piece belongs to
	id      string         // stored message ID; "" unknown
	part    int            // index of the part in that message
	pruned  bool
	loaded  bool // it was loaded from the store since it was made
}

// conversation is what the next request will carry, in FreeCode's terms.
type conversation struct {
	b     *rollout.Builder
	chain *rollout.Chain

	pieces    []*piece
	unsent    []*piece // results no request has carried yet
	count     int64    // messages it holds, as messageCount counts them less the project context
	messages  int      // number of the last message; gaps after removals
	assistant int      // number of the newest assistant message
	countArgs bool     // promptChars counts call arguments (since September 2026)
	gaps      int      // how often a piece of unknown length came or went
	lostIDs   int      // markers written without knowing the ID they name

	chars int64 // sum over pieces of known length, markers as markers
	kept  int64 // characters of results not pruned

	summary *rollout.Entry
	budget  int64 // characters of results a request may hold
}

func newConversation(b *rollout.Builder) *conversation {
	return &conversation{b: b, chain: b.Chain(), budget: resultBudget}
}

// add puts a piece at the end; item -1 stands for a text that is not logged.
func (c *conversation) add(p *piece, item int) {
	if item >= 0 {
		p.entry = c.chain.Add(rollout.SlotConversation, item)
		p.text = c.b.Session.Items[item].Text
	}
	if n := len(c.pieces); n == 0 || c.pieces[n-1].message != p.message {
		c.count++
	}
	c.pieces = append(c.pieces, p)
	c.account(p, 1)
	if p.kind == resultPiece {
		c.unsent = append(c.unsent, p)
	}
}

// account adds a piece to the sums, or takes it out with sign -1.
func (c *conversation) account(p *piece, sign int64) {
	if p.chars == unknownChars {
		c.gaps++
		return
	}
	if p.pruned {
		c.chars += sign * units(c.b.Session.Texts[p.entry.Text].S)
		return
	}
	c.chars += sign * p.chars
	if p.kind == resultPiece {
		c.kept += sign * p.chars
	}
}

// remove drops the pieces that drop selects.
func (c *conversation) remove(drop func(*piece) bool) {
	gone := map[*piece]bool{}
	c.pieces = slices.DeleteFunc(c.pieces, func(p *piece) bool {
		if !drop(p) {
			return false
		}
		c.account(p, -1)
		if p.entry != nil {
			c.chain.Remove(p.entry)
		}
		gone[p] = true
		return true
	})
	c.unsent = slices.DeleteFunc(c.unsent, func(p *piece) bool { return gone[p] })
	c.recount()
}

// nextMessage starts a message; assistant says whose.
func (c *conversation) nextMessage(assistant bool) int {
	c.messages++
	if assistant {
		c.assistant = c.messages
	}
	return c.messages
}

// addUser adds a stored user message, each part a piece of its own.
func (c *conversation) addUser(m *message, model string) {
	number := c.nextMessage(false)
	kind, itemKind := userPiece, rollout.UserText
	if carriesImage(m) {
		kind, itemKind = imageNotice, rollout.Reminder
	}
	switch m.Synthetic {
	case "auto_poke", "task_notification":
		itemKind = rollout.Reminder
	case "branch_summary":
		itemKind = rollout.Summary
	}
	for i := range m.Parts {
		part := &m.Parts[i]
		p := &piece{kind: kind, message: number, id: m.ID, part: i}
		it := rollout.Item{Kind: itemKind, Role: rollout.RoleUser, Label: m.Synthetic, Origin: rollout.Logged, Request: -1}
		switch part.Type {
		case "image":
			p.kind, p.chars = imagePiece, units(part.Data)
			it.Kind, it.Label = rollout.Image, ""
			it.Text = c.b.OpaqueText(part.Data)
			if n, ok := images.Tokens(model, part.Data); ok {
				it.Tokens = &n
			}
		case "text", "code":
			if part.Content == "" {
				continue
			}
			p.chars = units(part.Content)
			it.Text = c.b.Text(part.text())
		default:
			continue
		}
		c.add(p, c.b.Item(it))
	}
}

// carriesImage tells the message that hands a tool's image over from a prompt.
func carriesImage(m *message) bool {
	if len(m.Parts) < 2 || m.Synthetic != "" || m.Parts[0].Type != "text" {
		return false
	}
	return imageNoticePattern.MatchString(m.Parts[0].Content) && m.Parts[1].Type == "image"
}

// addUserText adds a prompt that is known as plain text only.
func (c *conversation) addUserText(text string) {
	it := rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: c.b.Text(text)}
	c.add(&piece{kind: userPiece, message: c.nextMessage(false), chars: units(text)}, c.b.Item(it))
}

// addUnknownUser counts a user message whose text stands nowhere.
func (c *conversation) addUnknownUser() {
	c.add(&piece{kind: userPiece, message: c.nextMessage(false), chars: unknownChars}, -1)
}

// addHistory adds a stored assistant message that no response of this log
// brought: history copied from another session, or the rest of a broken stream.
func (c *conversation) addHistory(m *message) {
	number := c.nextMessage(true)
	for i := range m.Parts {
		part := &m.Parts[i]
		p := &piece{kind: textPiece, message: number, id: m.ID, part: i}
		it := rollout.Item{Kind: rollout.AssistantText, Role: rollout.RoleAssistant, Origin: rollout.Logged, Request: -1}
		switch {
		case part.Type == "tool":
			c.addStoredCall(m, i, number)
		case part.Content != "":
			p.chars = units(part.Content)
			it.Text = c.b.Text(part.text())
			c.add(p, c.b.Item(it))
		}
	}
}

func (c *conversation) addStoredCall(m *message, i, number int) {
	part := &m.Parts[i]
	id := reloadedID(m.ID, i)
	args := compactArgs(part.Tool.Args)
	it := rollout.Item{
		Kind: rollout.ToolCall, Role: rollout.RoleAssistant, Tool: part.Tool.Name, CallID: id,
		Origin: rollout.Logged, Request: -1, Text: c.b.Text(args),
	}
	c.add(&piece{kind: callPiece, message: number, chars: c.argChars(args), id: m.ID, part: i}, c.b.Item(it))
	if part.Result == nil {
		return
	}
	it.Kind, it.Role, it.Text = rollout.ToolResult, rollout.RoleTool, c.b.Text(*part.Result)
	c.add(&piece{kind: resultPiece, message: number, chars: units(*part.Result), id: m.ID, part: i}, c.b.Item(it))
}

// argChars is what promptChars counts for a call's arguments.
func (c *conversation) argChars(args string) int64 {
	if !c.countArgs {
		return 0
	}
	return units(args)
}

// reloadedID is the call ID FreeCode makes up when it loads a stored message.
func reloadedID(messageID string, part int) string {
	return fmt.Sprintf("tool-%s-%d", messageID, part)
}

// reload puts the conversation into the form it has after loading it from the
// store: every stored line a message of its own, so that the calls of one
// response follow each other with their results between them, and calls without
// a result gone. newRun tells that FreeCode does so for a new run.
func (c *conversation) reload(newRun bool) {
	c.forget(newRun)
	c.remove(func(p *piece) bool { return p.kind == callPiece && p.slot != nil && p.slot.result == nil })
	messages, assistant := 0, 0
	ordered := make([]*piece, 0, len(c.pieces))
	for i := 0; i < len(c.pieces); {
		group := c.sameMessage(i)
		i += len(group)
		serial := serialise(group)
		c.reorder(group, serial)
		ordered = append(ordered, serial...)
		for j, p := range serial {
			if j == 0 || p.kind == callPiece || p.kind == textPiece {
				messages++
			}
			if p.kind == textPiece || p.kind == callPiece || p.kind == resultPiece {
				assistant = messages
			}
			p.message, p.loaded = messages, true
		}
	}
	c.pieces, c.messages, c.assistant = ordered, messages, assistant
	c.recount()
}

// sameMessage is the run of pieces from i on that were sent as one message.
func (c *conversation) sameMessage(i int) []*piece {
	j := i + 1
	for j < len(c.pieces) && c.pieces[j].message == c.pieces[i].message {
		j++
	}
	return c.pieces[i:j]
}

// serialise puts each result behind its call.
func serialise(group []*piece) []*piece {
	results := map[*slot]*piece{}
	for _, p := range group {
		if p.kind == resultPiece && p.slot != nil {
			results[p.slot] = p
		}
	}
	if len(results) == 0 {
		return group
	}
	out := make([]*piece, 0, len(group))
	for _, p := range group {
		if p.kind == resultPiece && p.slot != nil {
			continue
		}
		out = append(out, p)
		if r := results[p.slot]; p.kind == callPiece && p.slot != nil && r != nil {
			out = append(out, r)
			delete(results, p.slot)
		}
	}
	for _, p := range group {
		if p.kind == resultPiece && results[p.slot] == p {
			out = append(out, p)
		}
	}
	return out
}

func (c *conversation) reorder(before, after []*piece) {
	if slices.Equal(before, after) {
		return
	}
	var entries []*rollout.Entry
	for _, p := range after {
		if p.entry != nil {
			entries = append(entries, p.entry)
		}
	}
	c.chain.Reorder(entries)
}

// forget takes results out of FreeCode's record of what was sent and pruned. The
// record goes by call ID, so loading a result for the first time, under its new
// ID, makes it unsent; the start of a run (all) empties the record.
func (c *conversation) forget(all bool) {
	unsent := map[*piece]bool{}
	for _, p := range c.unsent {
		unsent[p] = true
	}
	c.unsent = c.unsent[:0]
	for _, p := range c.pieces {
		if p.kind != resultPiece || !all && p.loaded && !unsent[p] {
			continue
		}
		c.restore(p)
		c.unsent = append(c.unsent, p)
	}
}

func (c *conversation) restore(p *piece) {
	if !p.pruned {
		return
	}
	c.account(p, -1)
	p.pruned = false
	c.chain.Replace(p.entry, p.text, nil)
	c.account(p, 1)
}

// candidates are the results that pruning may replace, largest first; equal ones
// in the order of the conversation.
func (c *conversation) candidates() []*piece {
	var out []*piece
	for _, p := range c.unsent {
		if !p.pruned && p.chars != unknownChars && p.message != c.assistant {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(x, y *piece) int { return cmp.Compare(y.chars, x.chars) })
	return out
}

// pruneCount is how many of the candidates FreeCode's rule replaces: until what
// is kept fits the budget, a marker counting as nothing.
func (c *conversation) pruneCount(candidates []*piece) int {
	kept, n := c.kept, 0
	for n < len(candidates) && kept > c.budget {
		kept -= candidates[n].chars
		n++
	}
	return n
}

func (c *conversation) prune(p *piece) {
	id, known := c.handle(p)
	if !known {
		c.lostIDs++
	}
	marker := prunedMarker(p.chars, id)
	c.account(p, -1)
	p.pruned = true
	c.chain.Replace(p.entry, c.b.Text(marker), nil)
	c.account(p, 1)
}

// handle is the call ID a marker names: that of the stored message once it was
// loaded, else the one of the run.
func (c *conversation) handle(p *piece) (id string, known bool) {
	loaded := p.loaded || p.slot == nil
	switch {
	case loaded && p.id != "":
		return reloadedID(p.id, p.part), true
	case loaded:
		return unknownStoredID, false
	case p.slot.realID != "":
		return p.slot.realID, true
	}
	return unknownCallID, false
}

// sent marks all results as carried by a request.
func (c *conversation) sent() { c.unsent = c.unsent[:0] }

// compact drops what a compaction takes away: everything before the last two
// user turns.
func (c *conversation) compact() {
	cutAt, turns := 0, 0
	for i := len(c.pieces) - 1; i >= 0 && turns < 2; i-- {
		if c.pieces[i].kind == userPiece && (i == 0 || c.pieces[i-1].message != c.pieces[i].message) {
			cutAt = i
			turns++
		}
	}
	if turns < 2 {
		return
	}
	gone := map[*piece]bool{}
	for _, p := range c.pieces[:cutAt] {
		gone[p] = true
	}
	c.remove(func(p *piece) bool { return gone[p] })
}

// setSummary replaces the summary that the system prompt carries.
func (c *conversation) setSummary(content string) {
	if c.summary != nil {
		c.chars -= units(c.b.Session.Texts[c.summary.Text].S)
		c.chain.Remove(c.summary)
	}
	text := "Compacted session summary:\n" + content
	c.chars += units(text)
	c.summary = c.chain.Add(rollout.SlotSystem, c.b.Item(rollout.Item{
		Kind: rollout.Summary, Role: rollout.RoleSystem, Origin: rollout.Logged, Request: -1, Text: c.b.Text(text),
	}))
}

// rewind drops everything behind the stored message with the given ID and tells
// whether it stands in the conversation.
func (c *conversation) rewind(id string) bool {
	at := -1
	for i, p := range c.pieces {
		if id != "" && p.id == id {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	gone := map[*piece]bool{}
	for _, p := range c.pieces[at+1:] {
		gone[p] = true
	}
	c.remove(func(p *piece) bool { return gone[p] })
	return true
}

// recount counts the messages after pieces were removed or regrouped.
func (c *conversation) recount() {
	n, last := int64(0), 0
	for _, p := range c.pieces {
		if p.message != last {
			n++
		}
		last = p.message
	}
	c.count = n
}

// reloadedCount is what count would be after a reload: a message for each text
// and each answered call of the assistant's, and the user's as they are.
func (c *conversation) reloadedCount() int64 {
	n, last := int64(0), 0
	for _, p := range c.pieces {
		switch p.kind {
		case textPiece, resultPiece:
			n++
		case userPiece, imageNotice, imagePiece:
			if p.message != last {
				n++
			}
		}
		last = p.message
	}
	return n
}
