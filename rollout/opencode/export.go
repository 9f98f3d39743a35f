package opencode

import (
	"github.com/go-json-experiment/json/jsontext"
)

// exported is the document that `opencode export` prints.
type exported struct {
	Info     jsontext.Value   `json:"info"`
	Messages []jsontext.Value `json:"messages"`
}

type exportedMessage struct {
	Info  jsontext.Value   `json:"info"`
	Parts []jsontext.Value `json:"parts"`
}

// parseExport reads one exported session; false if it is none.
func parseExport(raw []byte, line int) (*document, bool) {
	e, ok := decode[exported](raw)
	if !ok {
		return nil, false
	}
	info, ok := decode[sessionInfo](e.Info)
	if !ok || !isSessionID(info.ID.V) {
		return nil, false
	}
	d := &document{info: info, line: line, records: 1}
	for _, raw := range e.Messages {
		d.addExported(raw, line)
	}
	return d, true
}

func (d *document) addExported(raw []byte, line int) {
	m, ok := decode[exportedMessage](raw)
	if !ok {
		d.fault("bad-record", "a message is no object; it was skipped", line)
		return
	}
	msg := d.message(m.Info, "", line)
	if msg == nil {
		return
	}
	for _, raw := range m.Parts {
		d.part(msg, raw, "", line)
	}
}

// message adds a message. id is what the carrier calls it; "" takes its own.
func (d *document) message(raw []byte, id string, line int) *message {
	d.records++
	info, ok := decode[messageInfo](raw)
	if !ok {
		d.fault("bad-record", "a message is no object; it was skipped", line)
		return nil
	}
	if id != "" {
		info.ID = text{V: id, OK: true}
	}
	d.messages = append(d.messages, message{messageInfo: info, line: line})
	return &d.messages[len(d.messages)-1]
}

// part adds a part to a message.
func (d *document) part(m *message, raw []byte, id string, line int) {
	d.records++
	p, ok := decode[part](raw)
	if !ok {
		d.fault("bad-record", "a part is no object; it was skipped", line)
		return
	}
	if id != "" {
		p.ID = text{V: id, OK: true}
	}
	m.parts = append(m.parts, p)
}

func (d *document) fault(kind, detail string, line int) {
	d.problems = append(d.problems, fault{kind, detail, line})
}
