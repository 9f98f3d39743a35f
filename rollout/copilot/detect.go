package copilot

import (
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// Name is the format's name, as in Session.Source.
const Name = "copilot-cli"

// Detect tells whether the first record is Copilot CLI's session.start, or the
// whole document of its legacy form.
func Detect(head [][]byte) bool {
	return len(head) > 0 && (isStart(head[0]) || isLegacy(head[0]))
}

func isStart(raw []byte) bool {
	var e struct {
		Type str `json:"type"`
		Data logfile.Lenient[struct {
			Producer str `json:"producer"`
			Version  str `json:"copilotVersion"`
		}] `json:"data"`
	}
	if logfile.Unmarshal(raw, &e) != nil || e.Type.V != "session.start" {
		return false
	}
	return e.Data.V.Producer.V == "copilot-agent" || e.Data.V.Version.OK
}

// isLegacy looks at the kinds of four members; a document may be large.
func isLegacy(raw []byte) bool {
	var d struct {
		ID       jsontext.Value `json:"sessionId"`
		Start    jsontext.Value `json:"startTime"`
		Messages jsontext.Value `json:"chatMessages"`
		Timeline jsontext.Value `json:"timeline"`
	}
	return logfile.Unmarshal(raw, &d) == nil &&
		d.ID.Kind() == '"' && d.Start.Kind() == '"' && d.Messages.Kind() == '[' && d.Timeline.Kind() == '['
}

// Companions is nil: sub-agents stand in the file of their session.
func Companions(string) []string { return nil }

// Depends is nil: the file holds all that is read.
func Depends(string) []string { return nil }

// Homes lists the folders where Copilot CLI keeps its sessions.
func Homes(getenv func(string) string) []string {
	root := getenv("COPILOT_HOME")
	if root == "" {
		home := getenv("HOME")
		if home == "" {
			home = getenv("USERPROFILE")
		}
		if home == "" {
			return nil
		}
		root = filepath.Join(home, ".copilot")
	}
	return []string{filepath.Join(root, "session-state"), filepath.Join(root, "history-session-state")}
}
