package sweagent

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

type (
	text   = logfile.Lenient[string]
	number = logfile.Lenient[int64]
	amount = logfile.Lenient[float64]
	list   = logfile.Lenient[[]jsontext.Value]
)

// document is a file of either program.
type document struct {
	trajectory
	Attempts    list                  `json:"attempts"`
	Environment text                  `json:"environment"`
	Format      text                  `json:"trajectory_format"`
	InstanceID  text                  `json:"instance_id"`
	Messages    list                  `json:"messages"`
	Info        logfile.Lenient[info] `json:"info"`
}

// trajectory is one attempt of SWE-agent.
type trajectory struct {
	Steps   list           `json:"trajectory"`
	History list           `json:"history"`
	Replay  jsontext.Value `json:"replay_config"`
}

type info struct {
	ExitStatus  text                     `json:"exit_status"`
	Version     text                     `json:"swe_agent_version"`
	MiniVersion text                     `json:"mini_version"`
	Stats       logfile.Lenient[stats]   `json:"model_stats"`
	Config      logfile.Lenient[miniSet] `json:"config"`
}

// stats is what a run counted as a whole.
type stats struct {
	Cost     amount `json:"instance_cost"`
	Sent     number `json:"tokens_sent"`
	Received number `json:"tokens_received"`
	Calls    number `json:"api_calls"`
}

// miniSet is the configuration of mini-swe-agent.
type miniSet struct {
	Model struct {
		Name text `json:"model_name"`
	} `json:"model"`
	Environment struct {
		CWD text `json:"cwd"`
	} `json:"environment"`
}

// step is one answered call of SWE-agent and what came of it.
type step struct {
	Action      text           `json:"action"`
	Observation text           `json:"observation"`
	Response    text           `json:"response"`
	State       jsontext.Value `json:"state"`
	Seconds     amount         `json:"execution_time"`
	Query       list           `json:"query"`
	Messages    list           `json:"messages"`
}

// message is one message of a query, a history or mini-swe-agent's list.
type message struct {
	Role     text                   `json:"role"`
	Content  jsontext.Value         `json:"content"`
	Kind     text                   `json:"message_type"`
	Demo     logfile.Lenient[bool]  `json:"is_demo"`
	Agent    text                   `json:"agent"`
	Action   text                   `json:"action"`
	Calls    list                   `json:"tool_calls"`
	CallIDs  list                   `json:"tool_call_ids"`
	CallID   text                   `json:"tool_call_id"`
	Thinking list                   `json:"thinking_blocks"`
	Extra    logfile.Lenient[extra] `json:"extra"`
	Type     text                   `json:"type"`    // Responses API: function_call_output
	ItemID   text                   `json:"call_id"` // and the call it answers
	ItemText jsontext.Value         `json:"output"`  // its text; of a response its items
	Object   text                   `json:"object"`  // Responses API: response
	whole    response               // itself, where it is a whole response
	sent     string                 // what of it is sent, to compare
}

// extra is what mini-swe-agent keeps beside a message.
type extra struct {
	Response  jsontext.Value `json:"response"`
	Cost      amount         `json:"cost"`
	Raw       text           `json:"raw_output"`
	Code      number         `json:"returncode"`
	Timestamp amount         `json:"timestamp"`
	Interrupt text           `json:"interrupt_type"`
}

// toolCall is a call in an answer.
type toolCall struct {
	ID       text `json:"id"`
	Function struct {
		Name text           `json:"name"`
		Args jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// response is a whole API response, in either of OpenAI's forms.
type response struct {
	ID      text   `json:"id"`
	Model   text   `json:"model"`
	Created amount `json:"created"`
	At      amount `json:"created_at"`
	Choices logfile.Lenient[[]struct {
		Message struct {
			Reasoning text `json:"reasoning"`
			Content   text `json:"reasoning_content"`
		} `json:"message"`
	}] `json:"choices"`
	Usage logfile.Lenient[usage] `json:"usage"`
}

type usage struct {
	Prompt        number                   `json:"prompt_tokens"`
	Completion    number                   `json:"completion_tokens"`
	PromptDetails logfile.Lenient[details] `json:"prompt_tokens_details"`
	OutDetails    logfile.Lenient[details] `json:"completion_tokens_details"`
	Input         number                   `json:"input_tokens"`
	Output        number                   `json:"output_tokens"`
	InputDetails  logfile.Lenient[details] `json:"input_tokens_details"`
	OutputDetails logfile.Lenient[details] `json:"output_tokens_details"`
	Cost          amount                   `json:"cost"`
}

type details struct {
	Cached    number `json:"cached_tokens"`
	Written   number `json:"cache_creation_tokens"`
	Reasoning number `json:"reasoning_tokens"`
}

// messages decodes a list; what cannot be read is left out.
func messages(l []jsontext.Value) []message {
	out := make([]message, 0, len(l))
	for _, raw := range l {
		m := message{}
		if logfile.Unmarshal(raw, &m) == nil {
			if m.Object.V == "response" && logfile.Unmarshal(raw, &m.whole) != nil {
				m.whole = response{}
			}
			unfold(&m)
			m.sent = sign(&m)
			out = append(out, m)
		}
	}
	return out
}

// part is one part of a content.
type part struct {
	Type  text `json:"type"`
	Text  text `json:"text"`
	Image struct {
		URL text `json:"url"`
	} `json:"image_url"`
}

// parts decodes a content: a string or a list of parts.
func parts(raw jsontext.Value) []part {
	switch raw.Kind() {
	case '"':
		var s string
		if logfile.Unmarshal(raw, &s) == nil {
			return []part{{Text: text{V: s, OK: true}}}
		}
	case '[':
		var l []jsontext.Value
		if logfile.Unmarshal(raw, &l) != nil {
			return nil
		}
		var out []part
		for _, v := range l {
			var p part
			if logfile.Unmarshal(v, &p) == nil {
				out = append(out, p)
			}
		}
		return out
	}
	return nil
}

// words joins the texts of a content.
func words(raw jsontext.Value) string {
	var b strings.Builder
	for _, p := range parts(raw) {
		b.WriteString(p.Text.V)
	}
	return b.String()
}

// argsText is the arguments of a call as they are sent: the JSON within the
// string, or the string where it holds none.
func argsText(raw jsontext.Value) string {
	var s string
	if raw.Kind() == '"' && logfile.Unmarshal(raw, &s) == nil {
		raw = jsontext.Value(s)
	}
	if c, err := logfile.Compact(raw); err == nil {
		return c
	}
	return s
}
