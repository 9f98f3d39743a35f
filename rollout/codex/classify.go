package codex

import (
	"strings"

	"github.com/fclog/fclog/rollout"
)

// class is what an element of a message is.
type class struct {
	kind  rollout.ItemKind
	label string
	human bool // a person wrote it
}

// marker is a text that Codex puts at the start of what it injects.
type marker struct {
	start string
	class class
}

var markers = []marker{
	{"# AGENTS.md instructions", class{kind: rollout.ProjectContext, label: "agents_md"}},
	{"<user_instructions>", class{kind: rollout.ProjectContext, label: "agents_md"}},
	{"<environment_context>", class{kind: rollout.ProjectContext, label: "environment_context"}},
	{"<skills_instructions>", class{kind: rollout.ProjectContext, label: "skills"}},
	{"<apps_instructions>", class{kind: rollout.ProjectContext, label: "apps"}},
	{"<plugins_instructions>", class{kind: rollout.ProjectContext, label: "plugins"}},
	{"<recommended_plugins>", class{kind: rollout.ProjectContext, label: "plugins"}},
	{"<skill>", class{kind: rollout.ProjectContext, label: "skill"}},
	{"<permissions instructions>", class{kind: rollout.Reminder, label: "permissions"}},
	{"<collaboration_mode>", class{kind: rollout.Reminder, label: "collaboration_mode"}},
	{"<personality_spec>", class{kind: rollout.Reminder, label: "personality_spec"}},
	{"<model_switch>", class{kind: rollout.SystemPrompt, label: "model_switch"}},
	{"<multi_agent_mode>", class{kind: rollout.Reminder, label: "multi_agent_mode"}},
	{"<multi_agent_role>", class{kind: rollout.Reminder, label: "multi_agent_role"}},
	{"<subagent_notification>", class{kind: rollout.Reminder, label: "subagent_notification"}},
	{"<turn_aborted>", class{kind: rollout.Reminder, label: "turn_aborted"}},
	{"<user_shell_command>", class{kind: rollout.Reminder, label: "user_shell_command"}},
	{"<user_action>", class{kind: rollout.Reminder, label: "user_action"}},
	{"<context_window>", class{kind: rollout.Reminder, label: "context_window"}},
	{"<codex_internal_context", class{kind: rollout.Reminder, label: "internal_context"}},
	{"<realtime_conversation>", class{kind: rollout.Reminder, label: "realtime_conversation"}},
}

// kindPrefixes classify the labels that newer builds give every element.
var kindPrefixes = []marker{
	{"user.", class{kind: rollout.UserText, human: true}},
	{"model.base_instructions", class{kind: rollout.SystemPrompt}},
	{"agents_md.", class{kind: rollout.ProjectContext, label: "agents_md"}},
	{"environments.", class{kind: rollout.ProjectContext, label: "environment_context"}},
	{"host_skills.", class{kind: rollout.ProjectContext, label: "skills"}},
	{"skills.", class{kind: rollout.ProjectContext, label: "skills"}},
	{"permissions.", class{kind: rollout.Reminder, label: "permissions"}},
	{"collaboration_mode.", class{kind: rollout.Reminder, label: "collaboration_mode"}},
	{"multi_agent.role", class{kind: rollout.Reminder, label: "multi_agent_role"}},
	{"multi_agent.mode", class{kind: rollout.Reminder, label: "multi_agent_mode"}},
}

// classifyPart tells what element i of a message is: by its label when the log
// has one for every element, else by the marker at the start of its text, else
// by the role.
func classifyPart(it *item, i int) class {
	if it.Role.V == "assistant" {
		return class{kind: rollout.AssistantText, label: it.Phase.V}
	}
	if kinds := it.Pass.V.Kinds.V; len(kinds) == len(it.Content.V) && kinds[i] != "unknown" && kinds[i] != "" {
		return classifyLabel(kinds[i])
	}
	text := strings.TrimLeft(it.Content.V[i].V.Text.V, " \t\r\n")
	if c, ok := match(markers, text); ok {
		return c
	}
	if tag := enclosingTag(text); tag != "" || it.Role.V != "user" {
		return class{kind: rollout.Reminder, label: tag}
	}
	return class{kind: rollout.UserText, human: true}
}

// enclosingTag is the name of a tag like <snake_case> around a whole text: the
// form of what newer builds inject and no marker names yet.
func enclosingTag(text string) string {
	name, _, found := strings.Cut(text, ">")
	tag, open := strings.CutPrefix(name, "<")
	if !found || !open || !strings.Contains(tag, "_") || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	if !strings.HasSuffix(strings.TrimSpace(text), "</"+tag+">") {
		return ""
	}
	return tag
}

func classifyLabel(label string) class {
	if c, ok := match(kindPrefixes, label); ok {
		return c
	}
	return class{kind: rollout.Reminder, label: label}
}

func match(table []marker, text string) (class, bool) {
	for _, m := range table {
		if strings.HasPrefix(text, m.start) {
			return m.class, true
		}
	}
	return class{}, false
}

func roleOf(role string) rollout.Role {
	switch r := rollout.Role(role); r {
	case rollout.RoleAssistant, rollout.RoleDeveloper, rollout.RoleSystem:
		return r
	}
	return rollout.RoleUser
}
