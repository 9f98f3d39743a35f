package apilog

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// opening is how an injected text begins, and what it is.
type opening struct {
	start string
	kind  rollout.ItemKind
}

// openings of texts that clients put into user messages, in the words of the
// clients that write them.
var openings = []opening{
	{"<system-reminder>", rollout.Reminder},
	{"<task-notification>", rollout.Reminder},
	{"<system_reminder>", rollout.Reminder},
	{"<environment_context>", rollout.ProjectContext},
	{"<environment_details>", rollout.ProjectContext},
	{"<permissions instructions>", rollout.ProjectContext},
	{"<user_instructions>", rollout.ProjectContext},
	{"<session_context>", rollout.ProjectContext},
	{"# AGENTS.md instructions", rollout.ProjectContext},
	{"This is the Gemini CLI. We are setting up the context", rollout.ProjectContext},
	{"This session is being continued from a previous conversation", rollout.Summary},
	{"Another language model started to solve this problem", rollout.Summary},
	{"The conversation history before this point was compacted", rollout.Summary},
	{"The following is a summary of a branch", rollout.Summary},
	{"<state_snapshot>", rollout.Summary},
	{"<conversation_summary>", rollout.Summary},
	{"<conversation-summary>", rollout.Summary},
}

// injected tells a text that a client put into a user message.
func injected(s string) (rollout.ItemKind, bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	for _, o := range openings {
		if strings.HasPrefix(s, o.start) {
			return o.kind, true
		}
	}
	return "", false
}

// textKind is the kind of a text sent under a role.
func textKind(role rollout.Role, s string) rollout.ItemKind {
	switch role {
	case rollout.RoleAssistant:
		return rollout.AssistantText
	case rollout.RoleTool:
		return rollout.ToolResult
	}
	if kind, ok := injected(s); ok {
		return kind
	}
	if role == rollout.RoleSystem || role == rollout.RoleDeveloper {
		return rollout.SystemPrompt
	}
	return rollout.UserText
}

// roleOf puts an API's role into the common vocabulary.
func roleOf(role string) rollout.Role {
	switch role {
	case "assistant", "model", "ai":
		return rollout.RoleAssistant
	case "system":
		return rollout.RoleSystem
	case "developer":
		return rollout.RoleDeveloper
	case "tool", "function":
		return rollout.RoleTool
	}
	return rollout.RoleUser
}
