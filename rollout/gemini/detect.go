package gemini

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// Detect tells whether the first records of a file are a Gemini CLI chat: it
// begins with the session's header, which names session and project, has no ID
// of its own and, where it holds the messages, only such of known types.
func Detect(head [][]byte) bool {
	if len(head) == 0 {
		return false
	}
	var h struct {
		ID          jsontext.Value                    `json:"id"`
		SessionID   text                              `json:"sessionId"`
		ProjectHash text                              `json:"projectHash"`
		StartTime   text                              `json:"startTime"`
		Messages    logfile.Lenient[[]jsontext.Value] `json:"messages"`
	}
	if logfile.Unmarshal(head[0], &h) != nil || h.ID != nil || h.SessionID.V == "" || !h.ProjectHash.OK {
		return false
	}
	if len(h.Messages.V) == 0 {
		return h.Messages.OK || h.StartTime.OK
	}
	var m struct {
		Type text `json:"type"`
	}
	return logfile.Unmarshal(h.Messages.V[0], &m) == nil && slices.Contains(types, m.Type.V)
}

// types are the kinds of message a chat knows.
var types = []string{"user", "gemini", "info", "error", "warning"}
