package sweagent

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// item is one output item of a Responses API response.
type item struct {
	Type    text           `json:"type"`
	CallID  text           `json:"call_id"`
	Name    text           `json:"name"`
	Args    jsontext.Value `json:"arguments"`
	Content jsontext.Value `json:"content"`
}

// items are the output items of a message that is a whole response.
func items(m *message) []item {
	if m.Object.V != "response" || m.ItemText.Kind() != '[' {
		return nil
	}
	var raws []jsontext.Value
	if logfile.Unmarshal(m.ItemText, &raws) != nil {
		return nil
	}
	var out []item
	for _, raw := range raws {
		var it item
		if logfile.Unmarshal(raw, &it) == nil {
			out = append(out, it)
		}
	}
	return out
}

// unfold gives a whole response the content of its messages, so that it reads
// like any other answer.
func unfold(m *message) {
	for _, it := range items(m) {
		if it.Type.V == "message" && m.Content == nil {
			m.Content = it.Content
		}
	}
}
