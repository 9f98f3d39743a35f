package opencode

import (
	"strings"

	"github.com/fclog/fclog/internal/images"
	"github.com/fclog/fclog/rollout"
)

// Lines that OpenCode sends in place of parts without a text of their own.
const (
	compactionLine = "What did we do so far?"
	subtaskLine    = "The following tool was executed by the user"
)

// user adds what a user message puts into the payload.
func (r *builder) user(i int) {
	m := &r.doc.messages[i]
	r.extraSystem(m.System.V)
	for j := range m.parts {
		p := &m.parts[j]
		switch p.Type.V {
		case partText:
			r.userText(i, p)
		case partFile:
			r.userFile(i, p)
		case partCompaction:
			r.line(i, compactionLine, "compaction")
		case partSubtask:
			r.line(i, subtaskLine, "subtask")
		default:
			r.unknownPart(p, m.line)
		}
	}
}

// extraSystem is the system text a client sent with a message; it counts until
// the next user message.
func (r *builder) extraSystem(s string) {
	if s == r.systemAt {
		return
	}
	if r.system != nil {
		r.chain.Remove(r.system)
		r.system = nil
	}
	if r.systemAt = s; s != "" {
		r.system = r.chain.Add(rollout.SlotSystem, r.item(rollout.Item{Kind: rollout.SystemPrompt, Role: rollout.RoleSystem, Label: "message"}, s))
	}
}

func (r *builder) item(it rollout.Item, text string) int {
	it.Text = r.b.Text(text)
	it.Request = -1
	if it.Origin == "" {
		it.Origin = rollout.Logged
	}
	return r.b.Item(it)
}

func (r *builder) userText(i int, p *part) {
	if p.Ignored.V || p.Text.V == "" {
		return
	}
	kind, label := rollout.UserText, ""
	if p.Synthetic.V {
		kind, label = rollout.Reminder, "synthetic"
	}
	r.add(i, rollout.SlotConversation, r.item(rollout.Item{Kind: kind, Role: rollout.RoleUser, Label: label}, p.Text.V))
}

func (r *builder) line(i int, text, label string) {
	r.add(i, rollout.SlotConversation, r.item(rollout.Item{Kind: rollout.Reminder, Role: rollout.RoleUser, Label: label, Origin: rollout.Recomputed}, text))
}

// userFile adds an attached file that is sent as such: text files and folders
// are not, synthetic parts hold their content.
func (r *builder) userFile(i int, p *part) {
	if p.Mime.V == "text/plain" || p.Mime.V == "application/x-directory" {
		return
	}
	if item, ok := r.media(p.Mime.V, p.URL.V, rollout.Item{Role: rollout.RoleUser, Request: -1}); ok {
		r.add(i, rollout.SlotConversation, item)
	}
}

// media adds an item for data that stands in the log as a data URL.
func (r *builder) media(mime, url string, it rollout.Item) (item int, ok bool) {
	_, data, ok := strings.Cut(url, ",")
	if !strings.HasPrefix(url, "data:") || !ok {
		r.unloggedFiles = true
		return 0, false
	}
	it.Kind, it.Origin, it.Label = rollout.Image, rollout.Logged, mime
	it.Text = r.b.OpaqueText(data)
	if tokens, ok := images.Tokens(r.imageModel(), data); ok {
		it.Tokens = &tokens
	}
	return r.b.Item(it), true
}

// imageModel is the model that the next request most likely goes to.
func (r *builder) imageModel() string {
	if r.model != "" {
		_, model, _ := strings.Cut(r.model, "/")
		return model
	}
	for _, m := range r.doc.messages {
		if _, model := m.messageInfo.model(); model != "" {
			return model
		}
	}
	return ""
}
