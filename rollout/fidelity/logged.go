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

// excuse is a phrase of Session.Missing and the parts it can be about. Phrases that
// are not in excuses excuse nothing.
type excuse struct {
	phrase string
	class  class
	scope  scope
}

// scope narrows which parts of a class are meant.
type scope int

const (
	everywhere scope = iota
	harness          // only parts of role system or developer
	lastAsked        // only the last part of a compaction request: what asks for the summary
)

var excuses = []excuse{
	{"tool definitions", toolsClass, everywhere},
	{"built-in tool definitions", toolsClass, everywhere},
	{"system prompt", systemClass, everywhere},
	{"system prompt", inputClass, harness},
	{"project context", inputClass, everywhere},
	{"reminders", inputClass, everywhere},
	{"user text", inputClass, everywhere},
	{"compaction summary", inputClass, everywhere},
	{"assistant text", assistantClass, everywhere},
	{"reasoning text", reasoningClass, everywhere},
	{"compaction prompt", inputClass, lastAsked},
	{"compaction request", inputClass, lastAsked},
}

// excused reports whether the session says that its log does not hold parts like
// this one of a request.
func excused(s *rollout.Session, r rollout.Request, p Part, last bool) bool {
	return slices.ContainsFunc(excuses, func(e excuse) bool {
		switch {
		case e.class != p.class(), e.scope == harness && !p.harness():
			return false
		case e.scope == lastAsked && !(last && r.Kind == rollout.KindCompaction):
			return false
		}
		return slices.Contains(s.Missing, e.phrase)
	})
}

func (p Part) harness() bool { return p.Role == rollout.RoleSystem || p.Role == rollout.RoleDeveloper }

// alike reports whether a rebuilt part can stand for a sent one of another text.
// Some agents send the system prompt as a message.
func alike(rebuilt, sent Part) bool {
	x, y := rebuilt.class(), sent.class()
	switch {
	case x == systemClass && y == inputClass:
		return sent.harness()
	case x == inputClass && y == systemClass:
		return rebuilt.harness()
	}
	return x == y
}

// framesUnlogged reports whether the log lacks what goes out with every request,
// so that the unlogged tokens are a figure of their own.
func framesUnlogged(s *rollout.Session) bool {
	return slices.Contains(s.Missing, "system prompt") || slices.Contains(s.Missing, "tool definitions")
}
