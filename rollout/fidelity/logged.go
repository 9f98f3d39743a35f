package fidelity

import (
	"slices"

	"github.com/fclog/fclog/rollout"
)

// class is what a body can tell of a part's kind: whether a text in the user's
// place was typed or injected is not on the wire.
type class string

const (
	toolsClass     class = "tool definitions"
	systemClass    class = "system prompt"
	inputClass     class = "input text"
	assistantClass class = "assistant text"
	reasoningClass class = "reasoning"
	callClass      class = "tool call"
	resultClass    class = "tool result"
	imageClass     class = "image"
)

func (p Part) class() class {
	switch p.Kind {
	case rollout.ToolDefinitions:
		return toolsClass
	case rollout.SystemPrompt:
		return systemClass
	case rollout.AssistantText:
		return assistantClass
	case rollout.Reasoning:
		return reasoningClass
	case rollout.ToolCall:
		return callClass
	case rollout.ToolResult:
		return resultClass
	case rollout.Image:
		return imageClass
	}
	return inputClass
}

// excuses says which parts a phrase of Session.Missing can be about. Phrases that
// are not here excuse nothing.
type excuse struct {
	phrase string
	class  class
	system bool // only parts of role system or developer
	only   rollout.RequestKind
}

var excuses = []excuse{
	{"tool definitions", toolsClass, false, ""},
	{"built-in tool definitions", toolsClass, false, ""},
	{"system prompt", systemClass, false, ""},
	{"system prompt", inputClass, true, ""},
	{"project context", inputClass, false, ""},
	{"reminders", inputClass, false, ""},
	{"reasoning text", reasoningClass, false, ""},
	{"compaction prompt", inputClass, false, rollout.KindCompaction},
	{"compaction request", inputClass, false, rollout.KindCompaction},
}

// excused reports whether the session says that its log does not hold parts like
// this one.
func excused(s *rollout.Session, r rollout.Request, p Part) bool {
	return slices.ContainsFunc(excuses, func(e excuse) bool {
		switch {
		case e.class != p.class(), e.only != "" && e.only != r.Kind:
			return false
		case e.system && p.Role != rollout.RoleSystem && p.Role != rollout.RoleDeveloper:
			return false
		}
		return slices.Contains(s.Missing, e.phrase)
	})
}
