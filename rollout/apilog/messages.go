package apilog

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// messagesBody is a body of Anthropic Messages or Chat Completions.
type messagesBody struct {
	Model     logfile.Lenient[string]           `json:"model"`
	System    jsontext.Value                    `json:"system"`
	Tools     jsontext.Value                    `json:"tools"`
	Functions jsontext.Value                    `json:"functions"`
	Messages  logfile.Lenient[[]jsontext.Value] `json:"messages"`
	CacheKey  logfile.Lenient[string]           `json:"prompt_cache_key"`
	Metadata  jsontext.Value                    `json:"metadata"`
	MaxTokens logfile.Lenient[int64]            `json:"max_tokens"`
}

// message is a message of either API.
type message struct {
	Role       logfile.Lenient[string]     `json:"role"`
	Content    jsontext.Value              `json:"content"`
	Reasoning  logfile.Lenient[string]     `json:"reasoning"`
	Thought    logfile.Lenient[string]     `json:"reasoning_content"`
	ToolCalls  logfile.Lenient[[]toolCall] `json:"tool_calls"`
	Function   logfile.Lenient[function]   `json:"function_call"`
	ToolCallID logfile.Lenient[string]     `json:"tool_call_id"`
	Name       logfile.Lenient[string]     `json:"name"`
	Refusal    logfile.Lenient[string]     `json:"refusal"`
}

type toolCall struct {
	ID       logfile.Lenient[string]   `json:"id"`
	Function logfile.Lenient[function] `json:"function"`
	Custom   logfile.Lenient[custom]   `json:"custom"`
}

type function struct {
	Name      logfile.Lenient[string] `json:"name"`
	Arguments jsontext.Value          `json:"arguments"`
}

type custom struct {
	Name  logfile.Lenient[string] `json:"name"`
	Input logfile.Lenient[string] `json:"input"`
}

// messagesPayload reads a body of Anthropic Messages or Chat Completions.
func (p *parser) messagesPayload(raw jsontext.Value) payload {
	b := decode[messagesBody](raw)
	p.model = b.Model.V
	out := payload{model: b.Model.V, tools: p.tools(b.Tools), messages: int64(len(b.Messages.V))}
	if b.MaxTokens.OK {
		out.maxTokens = &b.MaxTokens.V
	}
	if len(out.tools) == 0 {
		out.tools = p.tools(b.Functions)
	}
	out.system = p.system(b.System)
	leading := true
	for _, m := range b.Messages.V {
		var head struct {
			Role logfile.Lenient[string] `json:"role"`
		}
		if leading {
			head = decode[struct {
				Role logfile.Lenient[string] `json:"role"`
			}](m)
			leading = head.Role.V == "system" || head.Role.V == "developer"
		}
		if leading {
			out.system = append(out.system[:len(out.system):len(out.system)], p.leadingMessage(m)...)
			continue
		}
		out.conversation = append(out.conversation, p.message(m)...)
	}
	out.session = first(sessionOfUser(b.Metadata), b.CacheKey.V)
	return out
}

// system gives the parts of a system prompt in a field of its own.
func (p *parser) system(raw jsontext.Value) []int32 {
	if len(raw) == 0 {
		return nil
	}
	return p.st.cached("system", raw, func() []int32 {
		p.content(raw, part{kind: rollout.SystemPrompt, role: rollout.RoleSystem})
		return p.take()
	})
}

// leadingMessage is a system message before the conversation.
func (p *parser) leadingMessage(raw jsontext.Value) []int32 {
	return p.st.cached("leading", raw, func() []int32 {
		m := decode[message](raw)
		p.content(m.Content, part{kind: rollout.SystemPrompt, role: roleOf(m.Role.V)})
		return p.take()
	})
}

func (p *parser) message(raw jsontext.Value) []int32 {
	return p.st.cached("message", raw, func() []int32 {
		p.addMessage(decode[message](raw))
		return p.take()
	})
}

func (p *parser) addMessage(m message) {
	role := roleOf(m.Role.V)
	switch role {
	case rollout.RoleTool:
		p.resultContent(m.Content, part{kind: rollout.ToolResult, role: role, callID: m.ToolCallID.V, tool: m.Name.V})
		return
	case rollout.RoleAssistant:
		p.add(part{kind: rollout.Reasoning, role: role}, first(m.Thought.V, m.Reasoning.V))
	case rollout.RoleSystem, rollout.RoleDeveloper:
		// Behind the first prompt it is the client that speaks.
		p.content(m.Content, part{kind: rollout.Reminder, role: role})
		return
	}
	p.content(m.Content, part{role: role})
	if m.Refusal.V != "" {
		p.text(part{role: role}, m.Refusal.V)
	}
	for _, c := range m.ToolCalls.V {
		call := part{kind: rollout.ToolCall, role: rollout.RoleAssistant, callID: c.ID.V, tool: first(c.Function.V.Name.V, c.Custom.V.Name.V)}
		if c.Custom.OK {
			p.add(call, c.Custom.V.Input.V)
			continue
		}
		p.add(call, arguments(c.Function.V.Arguments))
	}
	if f := m.Function.V; f.Name.V != "" {
		p.add(part{kind: rollout.ToolCall, role: rollout.RoleAssistant, tool: f.Name.V}, arguments(f.Arguments))
	}
}
