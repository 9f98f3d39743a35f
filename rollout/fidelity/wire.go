package fidelity

import (
	"fmt"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// IsWire reports whether the first records of a file are of a wire summary.
func IsWire(head [][]byte) bool {
	if len(head) == 0 {
		return false
	}
	var r wireRecord
	if logfile.Unmarshal(head[0], &r) != nil || len(r.Parts) == 0 {
		return false
	}
	p := r.Parts[0]
	return len(p.SHA256) == 64 && (p.Slot != "" || p.Where != "")
}

// ReadWire reads a wire summary, compressed or not: one line per request in the
// order they were sent, its parts as {slot or where, kind, role, name or tool,
// call_id or callId, chars, tokens, sha256}.
func ReadWire(path string) ([]Request, error) {
	r, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []Request
	for r.Next() {
		var rec wireRecord
		if err := logfile.Unmarshal(r.Record(), &rec); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, r.Line(), err)
		}
		out = append(out, rec.request(len(out)))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if problems := r.Problems(); len(problems) > 0 {
		return nil, fmt.Errorf("%s:%d: %s", path, problems[0].Line, problems[0].Detail)
	}
	return out, nil
}

// wireRecord is a line of a wire summary in either form.
type wireRecord struct {
	TS        string     `json:"ts"`
	Timestamp int64      `json:"timestamp"` // ms
	Thread    string     `json:"thread"`
	Session   string     `json:"session"`
	EventLine int        `json:"eventLine"`
	Status    int        `json:"status"`
	Model     string     `json:"model"`
	Path      string     `json:"path"`
	Usage     *wireUsage `json:"usage"`
	Error     *struct {
		Status int `json:"status"`
	} `json:"error"`
	Parts []wirePart `json:"parts"`
}

type wirePart struct {
	Slot    string `json:"slot"`
	Where   string `json:"where"`
	Kind    string `json:"kind"`
	Role    string `json:"role"`
	Name    string `json:"name"`
	Tool    string `json:"tool"`
	CallID  string `json:"call_id"`
	CallID2 string `json:"callId"`
	Chars   int64  `json:"chars"`
	Tokens  int64  `json:"tokens"`
	SHA256  string `json:"sha256"`
}

func (r wireRecord) request(index int) Request {
	out := Request{Index: index, Thread: r.Thread, LogLine: r.EventLine, Status: r.Status, Model: r.Model, Usage: r.Usage.usage()}
	if out.Thread == "" {
		out.Thread = r.Session
	}
	if r.Timestamp != 0 {
		out.Time = time.UnixMilli(r.Timestamp)
	} else if t, err := time.Parse(time.RFC3339Nano, r.TS); err == nil {
		out.Time = t
	}
	if r.Error != nil {
		out.Status = r.Error.Status
	}
	if model, _, ok := strings.Cut(after(r.Path, "/models/"), ":"); ok && out.Model == "" {
		out.Model = model
	}
	out.Failed = r.Error != nil || out.Status >= 400
	for _, p := range r.Parts {
		out.Parts = append(out.Parts, p.part())
	}
	return out
}

func after(s, mark string) string {
	_, rest, _ := strings.Cut(s, mark)
	return rest
}

func (p wirePart) part() Part {
	out := Part{Kind: p.kind(), Role: role(p.Role), Name: p.Name + p.Tool, CallID: p.CallID + p.CallID2, Chars: p.Chars, Tokens: p.Tokens, SHA256: p.SHA256}
	switch out.Kind {
	case rollout.ToolDefinitions:
		out.Slot = Tools
	case rollout.SystemPrompt:
		out.Slot = System
	default:
		out.Slot = Messages
	}
	out.Opaque = out.Kind == rollout.Image || p.Kind == "reasoning/encrypted"
	return out
}

func role(s string) rollout.Role {
	if s == "model" {
		return rollout.RoleAssistant
	}
	return rollout.Role(s)
}

// kind is the kind of a part in fclog's words.
func (p wirePart) kind() rollout.ItemKind {
	switch {
	case p.Slot == "tools" || p.Where == "tool_def" || p.Kind == "additional_tools":
		return rollout.ToolDefinitions
	case p.Slot == "system" || p.Where == "system":
		return rollout.SystemPrompt
	case strings.Contains(p.Kind, "image"):
		return rollout.Image
	case strings.Contains(p.Kind, "reasoning"), p.Kind == "thinking", p.Kind == "redacted_thinking":
		return rollout.Reasoning
	case strings.HasPrefix(p.Kind, "tool_result"), strings.Contains(p.Kind, "_output"), p.Kind == "functionResponse":
		if !strings.HasPrefix(p.Kind, "message/") {
			return rollout.ToolResult
		}
	case strings.HasSuffix(p.Kind, "_call"), p.Kind == "tool_use", p.Kind == "functionCall":
		return rollout.ToolCall
	}
	switch role(p.Role) {
	case rollout.RoleAssistant:
		return rollout.AssistantText
	case rollout.RoleSystem, rollout.RoleDeveloper:
		return rollout.Reminder
	}
	return rollout.UserText
}

// wireUsage is the usage of a response in the words of four providers.
type wireUsage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Details    *struct {
		Cached *int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Prompt        *int64 `json:"prompt_tokens"`
	Completion    *int64 `json:"completion_tokens"`
	PromptDetails *struct {
		Cached *int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	GeminiInput    *int64 `json:"promptTokenCount"`
	GeminiCached   *int64 `json:"cachedContentTokenCount"`
	GeminiOutput   *int64 `json:"candidatesTokenCount"`
	GeminiThoughts *int64 `json:"thoughtsTokenCount"`
}

// usage makes input inclusive of the cache and output inclusive of reasoning.
func (u *wireUsage) usage() rollout.Usage {
	switch {
	case u == nil:
		return rollout.Usage{}
	case u.CacheRead != nil || u.CacheWrite != nil:
		return rollout.Usage{Input: sum(u.Input, u.CacheRead, u.CacheWrite), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
	case u.GeminiInput != nil:
		return rollout.Usage{Input: u.GeminiInput, CacheRead: u.GeminiCached, Output: sum(u.GeminiOutput, u.GeminiThoughts)}
	case u.Prompt != nil:
		out := rollout.Usage{Input: u.Prompt, Output: u.Completion}
		if u.PromptDetails != nil {
			out.CacheRead = u.PromptDetails.Cached
		}
		return out
	}
	out := rollout.Usage{Input: u.Input, Output: u.Output}
	if u.Details != nil {
		out.CacheRead = u.Details.Cached
	}
	return out
}

// sum adds what is known; nil when nothing is.
func sum(values ...*int64) *int64 {
	var out *int64
	for _, v := range values {
		if v != nil {
			n := *v
			if out != nil {
				n += *out
			}
			out = &n
		}
	}
	return out
}
