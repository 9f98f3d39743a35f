package claudecode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// attachment is context the client injected, in any of its types.
type attachment struct {
	Type    string                      `json:"type"`
	Content jsontext.Value              `json:"content"`
	Prompt  jsontext.Value              `json:"prompt"`
	Text    logfile.Lenient[string]     `json:"text"`
	Lines   logfile.Lenient[[]string]   `json:"addedLines"`
	Names   logfile.Lenient[[]string]   `json:"addedNames"`
	Blocks  logfile.Lenient[[]string]   `json:"addedBlocks"`
	Files   logfile.Lenient[[]fileText] `json:"files"`
	File    logfile.Lenient[fileText]   `json:"file"`
	Render  logfile.Lenient[[]rendered] `json:"rendered"`
	Role    logfile.Lenient[string]     `json:"renderedRole"`

	SystemPrompt logfile.Lenient[[]string]       `json:"systemPrompt"`
	Tools        logfile.Lenient[[]snapshotTool] `json:"tools"`
}

type fileText struct {
	Content logfile.Lenient[string] `json:"content"`
}

type fileContent struct {
	Content logfile.Lenient[string]   `json:"content"`
	File    logfile.Lenient[fileText] `json:"file"`
}

type rendered struct {
	Content jsontext.Value `json:"content"`
}

type snapshotTool struct {
	Name   logfile.Lenient[string] `json:"name"`
	Schema jsontext.Value          `json:"schema"`
}

// snapshot is the system prompt and the tool definitions in force.
type snapshot struct {
	system []string
	tools  []toolDefinition
}

type toolDefinition struct{ name, text string }

// notSent are attachment types that never reach the model.
var notSent = map[string]bool{
	"command_permissions": true, "credential_org": true, "bash_output_audience_note": true,
	"deferred_tools_record": true, "thinking_stripped": true, "thinking_drop": true,
}

// contextTypes are attachments that describe the project and its surroundings.
var contextTypes = map[string]bool{
	"instructions": true, "session_context": true, "environment": true, "opened_file_in_ide": true,
}

func (f *file) attachment(l *line, rec *record) {
	a := &rec.Attachment.V
	l.label, l.role = a.Type, "user"
	if role := rec.RenderRole.V + a.Role.V; role != "" {
		l.role = role
	}
	if a.Type == "prompt_snapshot" {
		l.snapshot = newSnapshot(a)
		return
	}
	if notSent[a.Type] {
		return
	}
	for _, r := range append(rec.Rendered.V, a.Render.V...) {
		blocks, _ := f.blocks.content(r.Content)
		l.blocks = append(l.blocks, blocks...)
	}
	if len(l.blocks) == 0 {
		l.blocks = f.plainAttachment(a)
	}
}

func newSnapshot(a *attachment) *snapshot {
	s := &snapshot{system: a.SystemPrompt.V}
	for _, t := range a.Tools.V {
		if text := compact(t.Schema); text != "" {
			s.tools = append(s.tools, toolDefinition{t.Name.V, text})
		}
	}
	return s
}

// plainAttachment estimates what was sent of an attachment whose rendered text
// is not logged.
func (f *file) plainAttachment(a *attachment) []block {
	if a.Type == "queued_command" {
		blocks, _ := f.blocks.content(a.Prompt)
		return blocks
	}
	text := a.text()
	if blank(text) {
		return nil
	}
	return []block{{typ: "text", text: text}}
}

func (a *attachment) text() string {
	switch a.Type {
	case "deferred_tools_delta":
		return strings.Join(a.Names.V, "\n")
	case "hook_success":
		return contentText(a.Content)
	case "instructions":
		var parts []string
		for _, file := range a.Files.V {
			parts = append(parts, file.Content.V)
		}
		return strings.Join(parts, "\n\n")
	case "file":
		return a.fileText()
	}
	parts := append(append([]string(nil), a.Lines.V...), a.Blocks.V...)
	for _, s := range []string{a.Text.V, contentText(a.Content)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

func (a *attachment) fileText() string {
	var c fileContent
	if a.Content.Kind() == '{' && logfile.Decode(a.Content, &c) == nil {
		return c.Content.V + c.File.V.Content.V
	}
	return contentText(a.Content) + a.File.V.Content.V
}

// contentText is the text of a content member: a string, a list of strings, or
// data (a to-do list), which is rendered much like its JSON.
func contentText(raw jsontext.Value) string {
	switch raw.Kind() {
	case '"':
		var s string
		if logfile.Decode(raw, &s) == nil {
			return s
		}
	case '[':
		var list []string
		if logfile.Decode(raw, &list) == nil {
			return strings.Join(list, "\n")
		}
		if string(raw) != "[]" {
			return compact(raw)
		}
	case '{':
		return compact(raw)
	}
	return ""
}
