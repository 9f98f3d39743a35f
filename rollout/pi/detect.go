package pi

import (
	"path/filepath"

	"github.com/fclog/fclog/rollout/logfile"
)

// Name is the format's name, as in Session.Source.
const Name = "pi"

// Detect tells whether the first records of a file are a pi session: other
// agents begin with a session record too, so one message must follow.
func Detect(head [][]byte) bool {
	if len(head) == 0 || !isHeader(head[0]) {
		return false
	}
	for _, raw := range head[1:] {
		if isMessage(raw) {
			return true
		}
	}
	return false
}

func isHeader(raw []byte) bool {
	var h struct {
		Type      logfile.Lenient[string] `json:"type"`
		ID        logfile.Lenient[string] `json:"id"`
		Timestamp logfile.Lenient[string] `json:"timestamp"`
		CWD       logfile.Lenient[string] `json:"cwd"`
	}
	return logfile.Unmarshal(raw, &h) == nil && h.Type.V == "session" && h.ID.V != "" && h.Timestamp.OK && h.CWD.OK
}

func isMessage(raw []byte) bool {
	var e struct {
		Type    logfile.Lenient[string] `json:"type"`
		Message logfile.Lenient[struct {
			Role logfile.Lenient[string] `json:"role"`
		}] `json:"message"`
	}
	return logfile.Unmarshal(raw, &e) == nil && e.Type.V == "message" && e.Message.V.Role.V != ""
}

// Companions is nil: every pi session is a single file of its own.
func Companions(string) []string { return nil }

// Depends is nil: the file holds all that is read.
func Depends(string) []string { return nil }

// Homes lists the folders where pi keeps its sessions.
func Homes(getenv func(string) string) []string {
	var out []string
	if dir := getenv("PI_CODING_AGENT_SESSION_DIR"); dir != "" {
		out = append(out, dir)
	}
	if dir := getenv("PI_CODING_AGENT_DIR"); dir != "" {
		return append(out, filepath.Join(dir, "sessions"))
	}
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return out
	}
	return append(out, filepath.Join(home, ".pi", "agent", "sessions"))
}
