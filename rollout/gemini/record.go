package gemini

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// text is a member that should be a string.
type text = logfile.Lenient[string]

// record is one object of a chat file: a header, a message, an update or a
// rewind, told apart by the members it has.
type record struct {
	message
	Set      logfile.Lenient[header] `json:"$set"`
	RewindTo text                    `json:"$rewindTo"`
	header
}

// header describes the session; an update merges into it.
type header struct {
	SessionID   text                              `json:"sessionId"`
	ProjectHash text                              `json:"projectHash"`
	StartTime   text                              `json:"startTime"`
	LastUpdated text                              `json:"lastUpdated"`
	Kind        text                              `json:"kind"`
	Directories logfile.Lenient[[]jsontext.Value] `json:"directories"`
	Messages    logfile.Lenient[[]jsontext.Value] `json:"messages"`
}

// message is one entry of the conversation.
type message struct {
	ID        text                              `json:"id"`
	Timestamp text                              `json:"timestamp"`
	Type      text                              `json:"type"`
	Content   jsontext.Value                    `json:"content"`
	Thoughts  logfile.Lenient[[]jsontext.Value] `json:"thoughts"`
	Tokens    logfile.Lenient[tokens]           `json:"tokens"`
	Model     text                              `json:"model"`
	ToolCalls logfile.Lenient[[]jsontext.Value] `json:"toolCalls"`
}

// thought is a summary of a stretch of reasoning.
type thought struct {
	Subject     text `json:"subject"`
	Description text `json:"description"`
}

// tokens is the usage of one response, under the recorder's names.
type tokens struct {
	Input    logfile.Lenient[int64] `json:"input"`
	Output   logfile.Lenient[int64] `json:"output"`
	Cached   logfile.Lenient[int64] `json:"cached"`
	Thoughts logfile.Lenient[int64] `json:"thoughts"`
	Tool     logfile.Lenient[int64] `json:"tool"`
	Total    logfile.Lenient[int64] `json:"total"`
}

// toolCall is a call with what came of it.
type toolCall struct {
	ID        text           `json:"id"`
	Name      text           `json:"name"`
	Args      jsontext.Value `json:"args"`
	Result    jsontext.Value `json:"result"`
	Status    text           `json:"status"`
	Timestamp text           `json:"timestamp"`
	AgentID   text           `json:"agentId"`
}

// part is one part of a Gemini content.
type part struct {
	Text     text                              `json:"text"`
	Thought  logfile.Lenient[bool]             `json:"thought"`
	Call     logfile.Lenient[functionCall]     `json:"functionCall"`
	Response logfile.Lenient[functionResponse] `json:"functionResponse"`
	Inline   logfile.Lenient[blob]             `json:"inlineData"`
}

type functionCall struct {
	ID   text           `json:"id"`
	Name text           `json:"name"`
	Args jsontext.Value `json:"args"`
}

type functionResponse struct {
	ID       text                              `json:"id"`
	Name     text                              `json:"name"`
	Response jsontext.Value                    `json:"response"`
	Parts    logfile.Lenient[[]jsontext.Value] `json:"parts"`
}

// blob is data that is no text.
type blob struct {
	MimeType text `json:"mimeType"`
	Data     text `json:"data"`
}

// parts decodes a content: a string, a part, or a list of either.
func parts(raw jsontext.Value) []part {
	switch raw.Kind() {
	case '"':
		var s string
		if logfile.Unmarshal(raw, &s) != nil || s == "" {
			return nil
		}
		return []part{{Text: text{V: s, OK: true}}}
	case '{':
		var p part
		if logfile.Unmarshal(raw, &p) != nil {
			return nil
		}
		return []part{p}
	case '[':
		var list []jsontext.Value
		if logfile.Unmarshal(raw, &list) != nil {
			return nil
		}
		var out []part
		for _, v := range list {
			if v.Kind() != '[' {
				out = append(out, parts(v)...)
			}
		}
		return out
	}
	return nil
}

// responseText is what the model sees of a function response: the output or the
// error where it is one text, else the whole object.
func responseText(raw jsontext.Value) string {
	if raw.Kind() == '"' {
		var s string
		if logfile.Unmarshal(raw, &s) == nil {
			return s
		}
	}
	var members map[string]jsontext.Value
	if raw.Kind() == '{' && logfile.Unmarshal(raw, &members) == nil && len(members) == 1 {
		for _, name := range []string{"output", "error"} {
			var s string
			if v, ok := members[name]; ok && v.Kind() == '"' && logfile.Unmarshal(v, &s) == nil {
				return s
			}
		}
	}
	return compact(raw)
}

// compact is a JSON value as it is sent.
func compact(raw jsontext.Value) string {
	if len(raw) == 0 {
		return ""
	}
	s, err := logfile.Compact(raw)
	if err != nil {
		return ""
	}
	return s
}

// at reads a time stamp; zero if there is none.
func at(s text) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s.V)
	if err != nil {
		return time.Time{}
	}
	return t
}
