package apilog

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// responsesBody is a body of OpenAI Responses.
type responsesBody struct {
	Model        logfile.Lenient[string] `json:"model"`
	Instructions jsontext.Value          `json:"instructions"`
	Tools        jsontext.Value          `json:"tools"`
	Input        jsontext.Value          `json:"input"`
	CacheKey     logfile.Lenient[string] `json:"prompt_cache_key"`
	Previous     logfile.Lenient[string] `json:"previous_response_id"`
	Conversation jsontext.Value          `json:"conversation"`
	Metadata     jsontext.Value          `json:"metadata"`
	MaxTokens    logfile.Lenient[int64]  `json:"max_output_tokens"`
}

// responseItem is an item of the input or output of Responses.
type responseItem struct {
	Type      logfile.Lenient[string]           `json:"type"`
	ID        logfile.Lenient[string]           `json:"id"`
	Role      logfile.Lenient[string]           `json:"role"`
	Content   jsontext.Value                    `json:"content"`
	Summary   logfile.Lenient[[]jsontext.Value] `json:"summary"`
	Encrypted logfile.Lenient[string]           `json:"encrypted_content"`
	CallID    logfile.Lenient[string]           `json:"call_id"`
	Name      logfile.Lenient[string]           `json:"name"`
	Arguments jsontext.Value                    `json:"arguments"`
	Input     jsontext.Value                    `json:"input"`
	Action    jsontext.Value                    `json:"action"`
	Output    jsontext.Value                    `json:"output"`
}

// reference is the label of a part that is only named: its ID stands as call ID
// until the item is found among the responses.
const reference = "item_reference"

func (p *parser) responsesPayload(raw jsontext.Value) payload {
	b := decode[responsesBody](raw)
	p.model = b.Model.V
	out := payload{model: b.Model.V, tools: p.tools(b.Tools), system: p.system(b.Instructions), previous: b.Previous.V}
	if b.MaxTokens.OK {
		out.maxTokens = &b.MaxTokens.V
	}
	if b.Input.Kind() == '"' {
		p.text(part{role: rollout.RoleUser}, str(b.Input))
		out.conversation, out.messages = p.take(), 1
	} else {
		for _, it := range decode[[]jsontext.Value](b.Input) {
			out.conversation = append(out.conversation, p.item(it)...)
			out.messages++
		}
	}
	conversation := first(str(b.Conversation), decode[struct {
		ID logfile.Lenient[string] `json:"id"`
	}](b.Conversation).ID.V)
	if conversation != "" && out.previous == "" {
		out.previous = conversationPrefix + conversation
	}
	for _, id := range out.conversation {
		out.references = out.references || p.st.parts[id].label == reference
	}
	out.session = first(conversation, b.CacheKey.V)
	return out
}

// conversationPrefix keeps IDs of conversations apart from those of responses.
const conversationPrefix = "conversation "

func (p *parser) item(raw jsontext.Value) []int32 {
	return p.st.cached("item", raw, func() []int32 {
		p.addItem(raw, decode[responseItem](raw))
		return p.take()
	})
}

func (p *parser) addItem(raw jsontext.Value, it responseItem) {
	switch t := it.Type.V; {
	case t == "message" || t == "" && it.Role.OK:
		p.content(it.Content, part{role: roleOf(it.Role.V)})
	case t == "reasoning":
		p.reasoning(it)
	case t == reference || t == "" && it.ID.OK:
		p.out = append(p.out, p.st.part(part{kind: rollout.UserText, label: reference, callID: it.ID.V, text: -1}))
	case strings.HasPrefix(t, "compaction") || t == "context_compaction":
		p.opaque(part{kind: rollout.Summary, role: rollout.RoleAssistant, label: "compaction"}, first(it.Encrypted.V, compact(raw)))
	case strings.HasSuffix(t, "_call_output"):
		p.resultContent(it.Output, part{kind: rollout.ToolResult, role: rollout.RoleTool, callID: it.CallID.V})
	case strings.HasSuffix(t, "_call"):
		p.callItem(it)
	default:
		role := roleOf(it.Role.V)
		p.foreign(raw, t, part{kind: foreignKind(t), role: role})
	}
}

// foreignKind is the kind of an item whose JSON is all that is known.
func foreignKind(itemType string) rollout.ItemKind {
	switch itemType {
	case "additional_tools", "tool_search_output", "mcp_list_tools":
		return rollout.ToolDefinitions
	case "agent_message":
		return rollout.UserText
	}
	return rollout.Reminder
}

// reasoning gives the readable summary, the readable text and the encrypted
// text, which are sent beside each other.
func (p *parser) reasoning(it responseItem) {
	base := part{kind: rollout.Reasoning, role: rollout.RoleAssistant}
	for _, s := range it.Summary.V {
		summary := base
		summary.label = "summary"
		p.block(s, summary)
	}
	p.content(it.Content, base)
	base.label = "encrypted"
	p.opaque(base, it.Encrypted.V)
}

// callItem is a call of a function, of a custom tool, or of a tool of the API.
func (p *parser) callItem(it responseItem) {
	call := part{kind: rollout.ToolCall, role: rollout.RoleAssistant, tool: it.Name.V, callID: first(it.CallID.V, it.ID.V)}
	if call.tool == "" {
		call.tool = strings.TrimSuffix(it.Type.V, "_call")
	}
	switch {
	case len(it.Arguments) > 0:
		p.add(call, arguments(it.Arguments))
	case len(it.Input) > 0:
		p.add(call, first(str(it.Input), compact(it.Input)))
	case len(it.Action) > 0:
		p.add(call, compact(it.Action))
	default:
		p.add(call, "")
	}
}
